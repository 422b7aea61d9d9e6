"""Questions in a language over notes in it, alone and beside English code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import quire
from quire.core import languages
from quire.core.types import OWNER, Roots, Status
from quire.indexing.language_notes import language_notes

from .samples import DENSE_SAMPLES, SAMPLES, Sample

QUESTIONS = [
    (code, question, answer)
    for code, sample in SAMPLES.items()
    for question, answer in sample.questions
]
DENSE_QUESTIONS = [
    (code, question, answer)
    for code, sample in DENSE_SAMPLES.items()
    for question, answer in sample.questions
]
ENGLISH = (
    "The invoices are sent at the end of each month, and whoever has not paid gets a reminder.",
    "The old houses at the square were repaired and are no longer for rent.",
    "The gardener waters the flowers every morning, unless it rains.",
)
CODE = (
    'def send_invoices(month):\n    """Send the invoices of a month."""\n    return month.send()\n'
)


def write(folder: Path, notes: tuple[str, ...], prefix: str = "note") -> None:
    for number, note in enumerate(notes):
        (folder / f"{prefix}{number}.md").write_text(f"{note}\n", encoding="utf-8")


def ranking(folder: Path, question: str) -> list[str]:
    with quire.open(folder) as opened:
        opened.index(embed=False)
        return [candidate.path for candidate in opened.search(question, viewer=OWNER)]


@pytest.mark.parametrize(("code", "question", "answer"), QUESTIONS)
def test_an_inflected_question_finds_the_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, question: str, answer: int
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        write(folder, SAMPLES[code].notes)
    assert ranking(one, question)[0] == f"note{answer}.md"
    monkeypatch.setattr(languages, "detect_language", lambda _: "")
    unstemmed = ranking(other, question)
    assert not unstemmed or unstemmed[0] != f"note{answer}.md"


@pytest.mark.parametrize(("code", "question", "answer"), DENSE_QUESTIONS)
def test_a_question_without_blanks_finds_the_note(
    tmp_path: Path, code: str, question: str, answer: int
) -> None:
    write(tmp_path, DENSE_SAMPLES[code].notes)
    assert ranking(tmp_path, question)[0] == f"note{answer}.md"


@pytest.mark.parametrize(("code", "question", "answer"), [*QUESTIONS, *DENSE_QUESTIONS])
def test_a_question_finds_the_note_beside_english_and_others(
    tmp_path: Path, code: str, question: str, answer: int
) -> None:
    samples: dict[str, Sample] = {**SAMPLES, **DENSE_SAMPLES}
    for other in {"de", "ja", "ru", code}:
        write(tmp_path, samples[other].notes, f"{other}-")
    write(tmp_path, ENGLISH, "english")
    (tmp_path / "invoices.py").write_text(CODE)
    assert ranking(tmp_path, question)[0] == f"{code}-{answer}.md"


@pytest.mark.parametrize(
    ("question", "answer"),
    [("sending an invoice", "invoices.py"), ("the rented house", "english1.md")],
)
def test_an_english_question_finds_english_text_beside_others(
    tmp_path: Path, question: str, answer: str
) -> None:
    for code in ("de", "nl", "sv", "ja"):
        write(tmp_path, {**SAMPLES, **DENSE_SAMPLES}[code].notes, f"{code}-")
    write(tmp_path, ENGLISH, "english")
    (tmp_path / "invoices.py").write_text(CODE)
    assert ranking(tmp_path, question)[0] == answer


def test_a_note_that_is_rewritten_in_another_language_is_stemmed_anew(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    shared = "# Plan\n\nRenovierung Haus\n\n"
    with quire.open(tmp_path) as opened:
        note.write_text(f"{shared}{' '.join(ENGLISH)}\n")
        opened.index(embed=False)
        assert not opened.search("Häuser", viewer=OWNER)
        note.write_text(f"{shared}{' '.join(SAMPLES['de'].notes)}\n")
        opened.index(embed=False)
        assert [found.path for found in opened.search("Häusern", viewer=OWNER)] == ["note.md"]
        assert not opened.doctor()
        note.write_text(f"{shared}{' '.join(ENGLISH)}\n")
        opened.index(embed=False)
        assert not opened.search("Häusern", viewer=OWNER)
        assert not opened.doctor()


def test_status_counts_the_languages_that_a_viewer_may_read(tmp_path: Path) -> None:
    (tmp_path / "quire.toml").write_text('[access]\n"de-*" = "alice"\n')
    write(tmp_path, SAMPLES["de"].notes, "de-")
    write(tmp_path, DENSE_SAMPLES["ja"].notes[:1], "ja-")
    write(tmp_path, ENGLISH)
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        assert dict(opened.status("alice").languages) == {"de": 3, "ja": 1}
        assert dict(opened.status("bob").languages) == {"ja": 1}


def test_a_note_says_that_the_model_is_english_if_most_of_the_text_is_not() -> None:
    model = "quire-en-2@0/384"
    status = Status(Roots("", ""), 4, 4, 4, 0, model, 0, languages={"de": 3})
    assert "3 of 4 chunks are not English (German)" in language_notes(status)[0]
    assert not language_notes(replace(status, languages={"de": 2}))
    assert not language_notes(replace(status, model="multilingual-e5@0/384"))
    assert not language_notes(replace(status, model=None))


def test_what_a_viewer_may_not_read_changes_no_word_of_a_question(tmp_path: Path) -> None:
    (tmp_path / "quire.toml").write_text('[access]\n"geheim/**" = "alice"\n')
    write(tmp_path, ENGLISH)
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        before = opened.search("the house", viewer="bob")
        (tmp_path / "geheim").mkdir()
        write(tmp_path / "geheim", SAMPLES["de"].notes)
        opened.index(embed=False)
        assert opened.search("the house", viewer="bob") == before
        assert opened.search("altes Haus", viewer="alice")[0].path == "geheim/note1.md"


def test_a_question_in_a_language_in_which_nothing_is_written_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "gate.md").write_text("# Gate\n\nThe gate is opened by the guard at nine.\n")
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        question = "Wann wird das Tor von der Wache geöffnet?"
        page = opened.assemble(question, allow_empty=True)
        english = opened.assemble("When is the gate opened by the guard?")
    assert any("the question is in German" in note for note in page.notes)
    assert not any("question is in" in note for note in english.notes)
    (tmp_path / "tor.md").write_text("# Tor\n\nDas Tor wird um neun von der Wache geöffnet.\n")
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        found = opened.assemble(question)
    assert not any("question is in" in note for note in found.notes)
