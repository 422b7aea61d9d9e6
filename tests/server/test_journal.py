"""What worker processes share: whose receipts are kept, how many, and where."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from quire.config import Config
from quire.core.types import ALL
from quire.errors import ConfigError, StoreDamagedError
from quire.server import journal
from quire.server.jobs import Jobs
from quire.server.journal import Journal, journal_file
from tests.conftest import LONG_AGO


def context(number: int) -> Any:
    receipt = {
        "hash": f"{number:064}",
        "request": {"query": "x" * 500},
        "recipe": {"name": "agent"},
    }
    return SimpleNamespace(
        receipt=receipt, text=f"Text {number}" + "x" * 400, tokens=5, available=9
    )


def test_a_busy_viewer_evicts_nobody_elses_receipts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "MAX_RECEIPTS", 5)
    monkeypatch.setattr(journal, "_PRUNE_EVERY", 4)
    kept = Journal(tmp_path / "store.db-service")
    kept.keep_receipt("quiet", context(0), [], LONG_AGO)
    for number in range(1, 60):
        kept.keep_receipt("busy", context(number), [], LONG_AGO + number)
    assert [each["id"] for each in kept.receipts("quiet")] == [f"{0:064}"]
    names = [int(each["id"]) for each in kept.receipts("busy")]
    assert names == [*range(59, 59 - len(names), -1)], "the newest"
    assert len(names) <= 5 + 4
    kept.close()


def test_a_journal_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """It had an index of all receipts by time, and did not know what was asked for."""
    path = tmp_path / "store.db-service"
    first = Journal(path)
    first.keep_receipt("v", context(1), [], LONG_AGO)
    first.rows("CREATE INDEX receipts_at ON receipts (at)")
    first.rows("ALTER TABLE receipts DROP COLUMN about")
    first.close()
    again = Journal(path)
    assert again.receipt("v", f"{1:064}")
    again.keep_receipt("v", context(2), [], LONG_AGO + 1)
    listed = again.receipts("v")
    assert [(each["recipe"], each["tokens"]) for each in listed] == [("agent", 5), (None, None)]
    assert len(listed[0]["query"]) == journal.MAX_QUERY
    again.close()


def test_beside_a_file_and_in_the_users_folder_for_a_server(tmp_path: Path) -> None:
    file = Config(root=tmp_path, store=tmp_path / ".quire" / "store.db")
    assert journal_file(file, {}) == tmp_path / ".quire" / "store.db-service"
    server = Config(
        root=tmp_path, store=tmp_path / ".quire" / "server-1", server="postgresql://db/quire"
    )
    found = journal_file(server, {"XDG_STATE_HOME": "/state"})
    assert found.parent == Path("/state/quire/services")
    assert journal_file(server, {"HOME": "/me"}).parent == Path("/me/.local/state/quire/services")
    with pytest.raises(ConfigError, match="XDG_STATE_HOME"):
        journal_file(server, {})


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot keep receipts"):
        Journal(tmp_path / "file" / "x.db")


def fill(kept: Journal, count: int) -> None:
    for number in range(count):
        kept.keep_receipt("ann", context(number), (), number)


def test_receipts_over_the_limit_are_pruned_the_oldest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_PRUNE_EVERY", 2)
    kept = Journal(tmp_path / "store.db-service", max_bytes=10_000)
    fill(kept, 41)
    numbers = [int(each["id"]) for each in kept.receipts("ann")]
    assert numbers == [*range(40, 40 - len(numbers), -1)], "the newest stay"
    assert 3 <= len(numbers) <= 12
    kept.close()


def test_without_a_limit_all_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_PRUNE_EVERY", 2)
    kept = Journal(tmp_path / "store.db-service", max_bytes=ALL)
    fill(kept, 41)
    assert len(kept.receipts("ann")) == 41
    kept.close()


def test_pruning_gives_the_room_back(tmp_path: Path) -> None:
    kept = Journal(tmp_path / "store.db-service", max_bytes=ALL)
    fill(kept, 400)
    kept.close()
    before = kept.path.stat().st_size
    kept = Journal(tmp_path / "store.db-service", max_bytes=10_000)
    kept.prune(at=0)
    assert 1 <= len(kept.receipts("ann")) <= 10
    kept.close()
    assert kept.path.stat().st_size < before // 4


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("there", [True, False])
def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path, *, there: bool) -> None:
    """Git keeps links, so a cloned project can bring one along."""
    outside = tmp_path / "outside.db"
    if there:
        with closing(sqlite3.connect(outside)) as database:
            database.execute("CREATE TABLE theirs (a)")
    before = outside.read_bytes() if there else None
    (tmp_path / "store.db-service").symlink_to(outside)
    with pytest.raises(ConfigError, match="is a link"):
        Journal(tmp_path / "store.db-service")
    assert (outside.read_bytes() if outside.exists() else None) == before


@pytest.mark.parametrize(
    "program",
    [
        "CREATE TRIGGER evil AFTER INSERT ON receipts BEGIN DELETE FROM receipts; END",
        "CREATE VIEW evil AS SELECT * FROM receipts",
    ],
)
def test_a_file_with_programs_is_refused(tmp_path: Path, program: str) -> None:
    path = tmp_path / "store.db-service"
    Journal(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute(program)
    with pytest.raises(ConfigError, match="triggers or views"):
        Journal(path)


FORGED_JOBS = (
    ("1", "1e300"),
    ("1", "'soon'"),
    ("99999999999999999999", "1e300"),
    ("-1", "1e300"),
    ("'x'", "0"),
)


@pytest.mark.parametrize(("pid", "beat"), FORGED_JOBS)
def test_a_job_that_nobody_runs_keeps_nothing_waiting(tmp_path: Path, pid: str, beat: str) -> None:
    """A file that came with a project says what it likes, of processes and of the future."""
    kept = Journal(tmp_path / "store.db-service")
    jobs = Jobs(SimpleNamespace(root=lambda: tmp_path, index=lambda *_, **__: {}), kept)  # type: ignore[arg-type]  # what a job needs of it
    kept.rows(
        "INSERT INTO jobs (id, at, pid, beat, state, request) "
        f"VALUES ('evil', 1, {pid}, {beat}, 'running', '{{}}')"
    )
    assert jobs.get("evil")["state"] == "failed"
    submitted = jobs.submit([], {}, LONG_AGO)
    assert submitted["id"] != "evil"
    jobs.stop(10)
    kept.close()


@pytest.mark.parametrize("forged", ["not JSON", "[" * 99_999, "3"], ids=lambda text: text[:8])
def test_rows_that_no_service_wrote_are_told(tmp_path: Path, forged: str) -> None:
    kept = Journal(tmp_path / "store.db-service")
    kept.keep_receipt("ann", context(1), (), LONG_AGO)
    kept.rows("UPDATE receipts SET receipt = ?, about = ?, chunks = ?", forged, forged, forged)
    kept.rows("INSERT INTO jobs VALUES ('evil', 1, 1, 1, 'failed', 0, ?, ?, ?, '')", *[forged] * 3)
    jobs = Jobs(SimpleNamespace(root=lambda: tmp_path), kept)  # type: ignore[arg-type]  # see above
    for ask in (
        lambda: kept.receipts("ann"),
        lambda: kept.receipt("ann", f"{1:064}"),
        jobs.list,
    ):
        with pytest.raises(StoreDamagedError, match="own file"):
            ask()
    kept.close()


def test_a_write_with_a_key_reads_no_answers_of_others(tmp_path: Path) -> None:
    """A day of answers may be many: old ones are found by their time, without reading the others."""
    with closing(Journal(tmp_path / "service.db")) as kept:
        plans = kept.rows(f"EXPLAIN QUERY PLAN {journal._DELETE_OLD_ANSWERS}", 0)
        assert [plan[-1].split(" USING ")[0] for plan in plans] == ["SEARCH answers"]
        kept.begin_answer("caller", "old", "request", 0)
        kept.begin_answer("caller", "new", "request", journal.KEPT_ANSWERS + 1)
        assert kept.rows("SELECT key FROM answers") == [("new",)]
