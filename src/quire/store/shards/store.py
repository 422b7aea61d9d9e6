"""A store whose spaces are split over shards.

A write is one: each shard prepares its part, the catalog commits which versions belong together,
then the shards commit. Whoever reads opens the shards in the versions that the catalog names; if a
process ended between the commits, the next one makes the missing ones from the catalog's log first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TypeVar

from quire.core.types import MAIN, OWNER, AccessRule, HitCount, Problem, Reembedding, Stamp, Viewer
from quire.errors import (
    InputError,
    QuireError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
)
from quire.store.shards.catalog import Catalog, CatalogView, Manifest
from quire.store.shards.contract import RESTORE, Shards
from quire.store.shards.export import ShardedExport
from quire.store.shards.part_write import CALLS
from quire.store.shards.view import ShardedView
from quire.store.shards.views import Views
from quire.store.shards.writer import ShardedWrite, ShardedWriter

PAUSES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
"""How long a reader waits for a commit that is under way, in seconds, before it looks after it."""
ROUNDS = 50
"""So often a reader tries to open all shards in one state."""

Opened = TypeVar("Opened")


class _UndoneError(Exception):
    """A look at what would be written is over."""


class ShardedStore:
    """A store over several shards: many readers, one writer, each write whole or absent."""

    def __init__(self, catalog: Catalog, shards: Shards, wait: float) -> None:
        self._catalog = catalog
        self._shards = shards
        self._wait = wait
        self._writes = threading.Lock()
        self._writing_thread: int | None = None
        self._searches = HitCount()
        self._search_lock = threading.Lock()
        self._uses = 0
        self._closed = False
        self._use_lock = threading.Lock()

    # --- reading ------------------------------------------------------------------------------

    @contextmanager
    def view(self, viewer: Viewer, space: str = MAIN) -> Iterator[ShardedView]:
        """Open a snapshot for a viewer."""
        with self._in_use(), ExitStack() as stack:
            opened = self._in_one_state(space, lambda: self._open_views(stack, viewer, space))
            catalog, part, parts = opened
            view = ShardedView(
                catalog,
                part,
                model=catalog.model(),
                count=self._shards.count,
                ask=parts.ask,
                told=self._count_search,
            )
            try:
                yield view
            finally:
                view.close()
            parts.close()

    def _open_views(
        self, stack: ExitStack, viewer: Viewer, space: str
    ) -> tuple[CatalogView, Viewer, Views] | None:
        """Open a view of each shard; None if they do not show one state."""
        with ExitStack() as own:
            known = own.enter_context(self._catalog.view(viewer, space))
            assert isinstance(known, CatalogView), "that is the type of its views"
            views = Views(self._shards, viewer, space, known.manifest(self._shards.count))
            own.callback(views.forget)
            if not views.open():
                return None
            if views.viewer != known.viewer:  # the groups are in the shards
                second = own.enter_context(self._catalog.view(views.viewer, space))
                assert isinstance(second, CatalogView), "as above"
                if second.manifest(self._shards.count) != known.manifest(self._shards.count):
                    return None
                known = second
            stack.push(own.pop_all())
            return known, views.viewer, views
        raise AssertionError("nothing is suppressed")

    @contextmanager
    def export(self, space: str = MAIN) -> Iterator[ShardedExport]:
        """Open a snapshot of all that a space holds, to be copied."""
        with self._in_use(), ExitStack() as stack:
            export = self._in_one_state(space, lambda: self._open_exports(stack, space))
            try:
                yield export
            finally:
                export.close()

    def _open_exports(self, stack: ExitStack, space: str) -> ShardedExport | None:
        with ExitStack() as own:
            catalog = own.enter_context(self._catalog.export(space))
            manifest = self._catalog.manifest_of(catalog)
            opened = self._call_all("open_export", space)
            numbers = [number for number, _ in opened]

            def close() -> None:
                with suppress(QuireError):
                    self._shards.call(
                        [(shard, "close_export", (number,)) for shard, number in enumerate(numbers)]
                    )

            own.callback(close)
            if tuple(version for _, version in opened) != manifest.shards:
                return None
            stack.push(own.pop_all())
            return ShardedExport(catalog, self._shards, numbers, catalog.state().model)
        raise AssertionError("nothing is suppressed")

    def _in_one_state(self, space: str, attempt: Callable[[], Opened | None]) -> Opened:
        """Return what an attempt opens in one state of all shards.

        Between the commit of the catalog and those of the shards it cannot. If that lasts, their
        writer is gone, and the shards are brought up to the catalog.
        """
        for number in range(ROUNDS):
            opened = attempt()
            if opened is not None:
                return opened
            time.sleep(PAUSES[min(number, len(PAUSES) - 1)])
            if number >= len(PAUSES):
                self._catch_up(space)
        raise StoreBusyError(
            "the shards are written too often to be read in one state",
            place=self._catalog.path.parent.as_posix(),
            hint="try again when less is written",
        )

    def _catch_up(self, space: str) -> None:
        """Wait for the writer, or do what it did not finish."""
        if self._catalog.read_only:
            raise StoreError(
                "a write was not finished, and the files cannot be written",
                place=self._catalog.path.parent.as_posix(),
                hint="let somebody open the store who may write it",
            )
        with self.write(space):
            pass

    # --- writing ------------------------------------------------------------------------------

    @contextmanager
    def write(self, space: str = MAIN) -> Iterator[ShardedWriter]:
        """Open the write transaction; wait for another writer, then give up."""
        with self._in_use(), self._alone():
            with self._catalog.writing(space) as catalog:
                manifest = catalog.manifest
                try:
                    self._begin(space, manifest, catalog.logged)
                    catalog.begin_log()
                    write = ShardedWrite(catalog, self._shards)
                    writer = ShardedWriter(write)
                    try:
                        yield writer
                    finally:
                        writer.close()
                    write.prepare()
                except BaseException:
                    self._roll_back()
                    raise
            self._commit(space)

    def _begin(
        self,
        space: str,
        manifest: Manifest,
        logged: Callable[[int], list[tuple[str, tuple[Any, ...]]]],
    ) -> None:
        """Begin in all shards; one that lacks the last write makes it first."""
        versions = self._call_all("begin", space)
        for shard, (version, wanted) in enumerate(zip(versions, manifest.shards, strict=True)):
            if version == wanted:
                continue
            calls = logged(shard)
            if version != manifest.before[shard] or wanted != manifest.version or not calls:
                raise StoreDamagedError(
                    f"it is of write {version}, and the catalog names write {wanted}",
                    place=self._name(shard),
                    hint=RESTORE,
                )
            for name, args in calls:
                if name not in CALLS:
                    raise StoreDamagedError(
                        "a write that was not finished cannot be read", place=self._name(shard)
                    )
                with suppress(InputError):  # it was refused the first time as well
                    self._shards.call([(shard, "change", (name, *args))])
            self._shards.call([(shard, "change", ("prepare", wanted))])
            self._shards.call([(shard, "commit", ())])
            self._shards.call([(shard, "begin", (space,))])

    def _commit(self, space: str) -> None:
        """Commit in all shards; what fails is made again from the log."""
        try:
            self._call_all("commit")
        except QuireError as error:
            self._roll_back()
            try:
                with self._catalog.writing(space) as catalog:
                    self._begin(space, catalog.manifest, catalog.logged)
            except StoreFullError as again:
                raise StoreFullError(
                    "the disk is full; the write is kept, but not all shards have it yet",
                    place=again.place,
                    hint="free some space and run any command on this store: it finishes the write",
                ) from error
            except QuireError as again:
                raise StoreError(
                    f"the write is kept, but not all shards have it yet: {again}",
                    hint="run any command on this store again: it finishes the write",
                ) from error
            finally:
                self._roll_back()

    def _roll_back(self) -> None:
        with suppress(QuireError):
            self._call_all("roll_back")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other thread writes; the catalog keeps other processes out."""
        place = str(self._catalog.path.parent)
        if self._writing_thread == threading.get_ident():
            raise StoreBusyError(
                "this thread is already writing to this store",
                place=place,
                hint="end the open write first",
            )
        if not self._writes.acquire(timeout=self._wait):
            raise StoreBusyError(
                "another thread is writing to this store",
                place=place,
                hint="try again when it is done",
            )
        self._writing_thread = threading.get_ident()
        try:
            yield
        finally:
            self._writing_thread = None
            self._writes.release()

    # --- the rest of the contract -------------------------------------------------------------

    def spaces(self) -> tuple[str, ...]:
        """Return the names of the spaces, sorted."""
        return self._catalog.spaces()

    def model(self, space: str = MAIN) -> str | None:
        """Return the model of the space's vectors, or None if it has none."""
        return self._catalog.model(space)

    def reembedding(self, space: str = MAIN) -> Reembedding | None:
        """Return how many chunks have a waiting vector, or None if there is none."""
        with self._in_use():
            answers = self._call_all("waiting", space)
        model = next((model for model, _, _ in answers if model is not None), None)
        if model is None:
            return None
        vectors = sum(vectors for _, vectors, _ in answers)
        return Reembedding(model, vectors, sum(chunks for _, _, chunks in answers))

    def missing_vectors(
        self, space: str = MAIN, waiting_for: str | None = None
    ) -> Iterator[list[tuple[str, str]]]:
        """Yield the texts without a vector, in batches of (key, text to embed)."""
        seen: set[str] = set()
        if self._closed:
            raise InputError("the store is closed", hint="open it again")
        for shard in range(self._shards.count):
            (number,) = self._shards.call([(shard, "open_missing", (space, waiting_for))])
            try:
                while batches := self._shards.call([(shard, "next_of_list", (number, 1))])[0]:
                    batch = [(key, text) for key, text in batches[0] if key not in seen]
                    seen.update(key for key, _ in batch)
                    if batch:
                        yield batch
            finally:
                with suppress(QuireError):
                    self._shards.call([(shard, "close_list", (number,))])

    def stamps(self, space: str = MAIN, under: str = "") -> dict[str, Stamp]:
        """Return the recorded states of files, by path."""
        return self._catalog.stamps(space, under)

    def rules(self, space: str = MAIN) -> dict[str, tuple[AccessRule, ...]]:
        """Return the access rules by origin."""
        rules: dict[str, tuple[AccessRule, ...]]
        with self._in_use():
            (rules,) = self._shards.call([(0, "rules", (space,))])
        return rules

    def groups(self, space: str = MAIN) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the groups and their members by origin."""
        groups: dict[str, dict[str, tuple[str, ...]]]
        with self._in_use():
            (groups,) = self._shards.call([(0, "groups", (space,))])
        return groups

    def note(self, key: str, space: str = MAIN) -> str | None:
        """Return a setting of the space, or None if it is not set."""
        return self._catalog.note(key, space)

    def merge(self, space: str = MAIN) -> None:
        """Merge small writes; no result changes."""
        with self.write(space) as writer:
            writer.merge()

    def old_vectors(self, space: str = MAIN) -> int:
        """Return how many vectors of texts are kept that are gone."""
        if space not in self.spaces():
            return 0
        return len(self._old_vectors(space))

    def prune_vectors(self, keep: int, space: str = MAIN) -> int:
        """Delete vectors of texts that are gone, the oldest first, but for `keep` of them."""
        if space not in self.spaces():
            return 0
        old = self._old_vectors(space)
        if len(old) <= keep:
            return 0
        with self.write(space) as writer:
            writer.forget_vectors(old[len(old) - keep :] if keep else [])
        return len(old) - len(self._old_vectors(space))

    def _old_vectors(self, space: str) -> list[tuple[str, str]]:
        """Return key and hash of the vectors that no chunk of any shard uses, the oldest first."""
        with self.view(OWNER, space) as view:
            return view.old_vectors()

    def shrink(self) -> None:
        """Give the room of what was deleted back to the file system."""
        with self._in_use(), self._alone():
            self._catalog.shrink()
            self._call_all("shrink")

    def purge(self, ids: Sequence[str], space: str = MAIN) -> int:
        """Remove records so that no byte of them is left in the files."""
        with self.write(space) as writer:
            removed = writer.erase(ids)
        with self._alone():
            self._catalog.forget_log()
            self._catalog.purge([])
            self._call_all("rewrite")
        return removed

    def check(self, *, repair: bool = False) -> list[Problem]:
        """Check each shard, then that they belong together."""
        names = self.spaces()
        for name in names:
            self._catch_up(name)
        with self._alone(), self._catalog.locked():
            problems: list[Problem] = []
            for shard, found in enumerate(
                self._shards.call(
                    [(shard, "check", (repair,)) for shard in range(self._shards.count)]
                )
            ):
                problems += [
                    Problem(each.check, f"{self._name(shard)}: {each.detail}", each.repaired)
                    for each in found
                ]
        with self._alone():
            for name in names:
                problems += self._check_trees(name, repair=repair)
        return problems

    def _check_trees(self, space: str, *, repair: bool) -> list[Problem]:
        """Compare the trees of the catalog with those that follow from the leaves."""
        problems: list[Problem] = []
        with suppress(_UndoneError), self._catalog.writing(space) as catalog:
            try:
                self._begin(space, catalog.manifest, catalog.logged)
                write = ShardedWrite(catalog, self._shards)
                before = catalog.hashes()
                catalog.discard_trees()
                places = {place for _, found in write.ask("all_buckets") for place in found}
                write.fold(places)
                if catalog.hashes() != before:
                    detail = "the hashes over all shards do not match what they hold"
                    problems.append(Problem("root", detail, repaired=repair))
            finally:
                self._roll_back()
            if not (repair and problems):
                raise _UndoneError
            catalog.transaction.changed = True
        return problems

    def processes(self) -> list[int]:
        """Return the numbers of the processes that have the shards open."""
        numbers: list[int] = self._call_all("process")
        return numbers

    def index_problem(self, space: str = MAIN) -> str | None:  # noqa: ARG002 - there is no index
        """Return nothing: the vectors are in the shards."""
        with self._in_use():
            return None

    @property
    def search_count(self) -> HitCount:
        """How many semantic searches there were, and how many the caches answered."""
        return self._searches

    def _count_search(self, hit: bool) -> None:
        with self._search_lock:
            self._searches = self._searches.plus(hit)

    def close(self) -> None:
        """Close the store; what is open is closed when it ends."""
        with self._use_lock:
            self._closed = True
            in_use = self._uses > 0
        self._catalog.close()
        if not in_use:
            self._shards.close()

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Keep the shards open until the end of a block, also if the store is closed before."""
        with self._use_lock:
            if self._closed:
                raise InputError("the store is closed", hint="open it again")
            self._uses += 1
        try:
            yield
        finally:
            self._end_use()

    def _end_use(self) -> None:
        with self._use_lock:
            self._uses -= 1
            is_last = self._closed and not self._uses
        if is_last:
            self._shards.close()

    def _call_all(self, name: str, *args: Any) -> list[Any]:
        return self._shards.call([(shard, name, args) for shard in range(self._shards.count)])

    def _name(self, shard: int) -> str:
        return f"shard {shard + 1} of {self._shards.count}"
