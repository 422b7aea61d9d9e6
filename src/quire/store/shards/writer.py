"""The writer of a sharded store: which shard gets what, and what others must be told of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from quire.core.types import AccessRule, Chunk, Event, Link, Outline, Record, Stamp
from quire.errors import InputError
from quire.store import access
from quire.store.shards.catalog import CatalogWrite
from quire.store.shards.contract import Shards, shard_of
from quire.store.shards.part_write import Effect, Leaf, Need, Supply
from quire.store.sql import vector_blocks
from quire.store.sql.writer import SqlWriter

Ask = Callable[[Sequence[tuple[int, str, tuple[Any, ...]]]], list[Any]]


class ShardedWrite:
    """The open write transactions of all shards and of the catalog."""

    def __init__(self, catalog: CatalogWrite, shards: Shards) -> None:
        self.catalog = catalog
        self._shards = shards
        self.count = shards.count
        self._touched: set[int] = set()
        self._expected: tuple[bool, bool] | None = None
        self.model: str | None = None
        self.dims = 0
        self.waiting_model: str | None = None
        self.waiting_dims = 0
        self.learn()

    def ask(self, name: str, *args: Any, but: int | None = None) -> list[tuple[int, Any]]:
        """Ask all shards something that changes nothing."""
        asked = [shard for shard in range(self.count) if shard != but]
        answers = self._shards.call([(shard, "change", (name, *args)) for shard in asked])
        return list(zip(asked, answers, strict=True))

    def change(self, shard: int, name: str, *args: Any) -> Effect:
        """Make a change in a shard."""
        self.catalog.log(shard, name, args)
        self._touched.add(shard)
        effect: Effect = self._shards.call([(shard, "change", (name, *args))])[0]
        return effect

    def change_all(self, name: str, *args: Any) -> list[Effect]:
        """Make a change in all shards."""
        return [self.change(shard, name, *args) for shard in range(self.count)]

    def learn(self) -> None:
        """Ask the shards of whose models their vectors are."""
        states = [state for _, state in self.ask("state")]
        self.model, self.dims = next(((m, d) for m, d, _, _ in states if m is not None), (None, 0))
        self.waiting_model, self.waiting_dims = next(
            ((m, d) for _, _, m, d in states if m is not None), (None, 0)
        )
        expected = self.model is not None, self.waiting_model is not None
        if expected != self._expected and any(expected):
            self.change_all("expect", *expected)
        self._expected = expected

    def prepare(self) -> None:
        """Write everything but the commits: what readers will see is decided in the catalog."""
        version = self.catalog.manifest.version + 1
        found = self._shards.call(
            [(shard, "change", ("prepare", version)) for shard in range(self.count)]
        )
        changed = [shard for shard, touched in enumerate(found) if touched is not None]
        self.fold({place for touched in found if touched for place in touched})
        self.learn_model()
        self.catalog.finish(changed, self.model)

    def learn_model(self) -> None:
        """Ask for the model of the vectors as it will be."""
        states = [state for _, state in self.ask("state")]
        self.model = next((model for model, *_ in states if model is not None), None)

    def fold(self, places: Collection[tuple[str, int]]) -> None:
        """Hash buckets of the whole again from the leaves in all shards."""
        ordered = sorted(places)
        if not ordered:
            return
        gathered = [leaves for _, leaves in self.ask("buckets", ordered)]
        whole: dict[tuple[str, int], list[Leaf]] = {}
        for place, *parts in zip(ordered, *gathered, strict=True):
            by_key = {leaf[0]: leaf for part in parts for leaf in part}
            whole[place] = [by_key[key] for key in sorted(by_key)]
        self.catalog.fold(whole)

    # --- vectors, which belong to the texts of all shards -------------------------------------

    def follow(self, shard: int, effect: Effect) -> None:
        """Give a shard what others have for its chunks, and others what its chunks brought."""
        if effect.lacking and self.model is not None:
            self._supply({shard: effect.lacking})
        if effect.brought and self.model is not None:
            for other in range(self.count):
                if other != shard:
                    self.change(other, "adopt", self.model, effect.brought)
        if effect.unmade and self.waiting_model is not None:
            made: dict[str, bytes] = {}
            for _, found in self.ask("find_waiting", effect.unmade, but=shard):
                made |= found
            if made:
                self.change(shard, "put_waiting_vectors", self.waiting_model, made)

    def reconcile(self) -> None:
        """Give every shard the vectors that others have for the readers of its chunks."""
        if self.model is not None:
            self._supply({shard: needs for shard, needs in self.ask("lacking") if needs})

    def _supply(self, lacking: Mapping[int, Iterable[Need]]) -> None:
        wanted = sorted({need for needs in lacking.values() for need in needs})
        if not wanted:
            return
        found: dict[Need, Supply] = {}
        for _, supplies in self.ask("find_vectors", wanted):
            for supply in supplies:
                found.setdefault(supply[:2], supply)
        for shard, needs in sorted(lacking.items()):
            own = [found[need] for need in sorted(set(needs)) if need in found]
            if own:
                self.change(shard, "adopt", self.model, own)


class ShardedWriter:
    """One write transaction on a space that is split over shards."""

    def __init__(self, write: ShardedWrite) -> None:
        self._open: ShardedWrite | None = write
        self._beside = SqlWriter(write.catalog.transaction)
        """Writes what is in the catalog: stamps and notes."""

    @property
    def _write(self) -> ShardedWrite:
        if self._open is None:
            raise InputError("the writer is closed", hint="open another with `write()`")
        return self._open

    def close(self) -> None:
        """Refuse all further calls."""
        self._open = None
        self._beside.close()

    def _group(self, ids: Iterable[str]) -> list[tuple[int, list[str]]]:
        count = self._write.count
        groups: dict[int, list[str]] = {}
        for record_id in ids:
            groups.setdefault(shard_of(record_id, count), []).append(record_id)
        return sorted(groups.items())

    def put(
        self,
        record: Record,
        chunks: Sequence[Chunk],
        links: Sequence[Link] = (),
        outline: Outline | None = None,
    ) -> bool:
        """Add a record with its chunks, outgoing links and outline, or replace it."""
        shard = shard_of(record.id, self._write.count)
        effect = self._write.change(shard, "put", record, tuple(chunks), tuple(links), outline)
        self._write.follow(shard, effect)
        return bool(effect.result)

    def update(self, record: Record) -> bool:
        """Replace what is said of a record, but not its chunks, links and outline."""
        shard = shard_of(record.id, self._write.count)
        effect = self._write.change(shard, "update", record)
        self._write.follow(shard, effect)
        return bool(effect.result)

    def set_modified(self, times: Mapping[str, int | None]) -> None:
        """Set the modification times of records; absent ones are skipped."""
        for shard, ids in self._group(times):
            self._write.change(shard, "set_modified", {name: times[name] for name in ids})

    def remove(self, ids: Iterable[str]) -> int:
        """Remove records with all that belongs to them; return how many existed."""
        return sum(
            self._write.change(shard, "remove", tuple(own)).result
            for shard, own in self._group(ids)
        )

    def put_vectors(
        self, model: str, vectors: Mapping[str, bytes], chunks: Collection[str] | None = None
    ) -> None:
        """Store vectors by their key, for all chunks of their texts or for the readers of some."""
        write = self._write
        if not vectors:
            return
        if chunks is not None:
            access.refuse_string(chunks)
            chunks = frozenset(chunks)
        write.learn()
        vector_blocks.check_vectors(model, vectors, write.model, write.dims)
        keys = sorted(vectors)
        needs: frozenset[Need] | None = None
        if chunks is not None:
            answers = write.ask("audiences_of", keys, tuple(chunks))
            needs = frozenset(need for _, found in answers for need in found)
        for shard, held in write.ask("held_keys", keys):
            own = {key: vectors[key] for key in held}
            wanted = None if needs is None else sorted(need for need in needs if need[0] in own)
            if own and wanted != []:
                write.change(shard, "put_vectors", model, own, wanted)
        write.learn()

    def drop_vectors(self) -> None:
        """Delete all vectors and the model."""
        self._write.change_all("drop_vectors")
        self._write.catalog.clear_vectors()
        self._write.learn()

    def put_waiting_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors that will replace all others; no search sees them before."""
        write = self._write
        write.learn()
        dims = write.waiting_dims if write.waiting_model == model else 0
        dims = dims or len(next(iter(vectors.values()), b""))
        for name, data in vectors.items():
            vector_blocks.check_vector(name, data, dims)
        held = dict(write.ask("held_keys", sorted(vectors)))
        for shard, keys in held.items():
            write.change(shard, "put_waiting_vectors", model, {key: vectors[key] for key in keys})
        write.learn()

    def switch_vectors(self, model: str) -> bool:
        """Replace all vectors by the waiting ones of a model, if no text lacks one."""
        write = self._write
        if any(lacks for _, lacks in write.ask("lacks_waiting", model)):
            return False
        write.change_all("switch_vectors", model)
        write.catalog.clear_vectors()
        write.learn()
        return True

    def drop_waiting_vectors(self) -> None:
        """Delete the vectors that wait."""
        self._write.change_all("drop_waiting_vectors")
        self._write.learn()

    def put_events(self, events: Iterable[Event]) -> None:
        """Add events; a repeated event is stored once."""
        count = self._write.count
        groups: dict[int, list[Event]] = {}
        for event in events:
            groups.setdefault(shard_of(event.record_id, count), []).append(event)
        for shard, own in sorted(groups.items()):
            self._write.change(shard, "put_events", tuple(own))

    def set_rules(self, origin: str, rules: Sequence[AccessRule]) -> None:
        """Replace the access rules of one origin (`config`, then `command`) with effect now."""
        self._set("set_rules", origin, tuple(rules))

    def set_groups(self, origin: str, groups: Mapping[str, Sequence[str]]) -> None:
        """Replace the groups of one origin."""
        for users in groups.values():
            access.refuse_string(users)
        self._write.change_all("set_groups", origin, groups)

    def set_default(self, acl: tuple[str, ...]) -> None:
        """Set who may read what no rule matches."""
        access.refuse_string(acl)
        self._set("set_default", tuple(acl))

    def _set(self, name: str, *args: Any) -> None:
        if any(effect.result for effect in self._write.change_all(name, *args)):
            self._write.reconcile()

    def merge(self) -> None:
        """Merge small writes, and delete unused vectors, waiting ones included."""
        self._write.change_all("merge")

    def forget_vectors(self, kept: Sequence[tuple[str, str]]) -> None:
        """Delete the vectors that no chunk uses but for some, by key and hash."""
        self._write.change_all("forget_vectors", tuple(kept))

    def erase(self, ids: Sequence[str]) -> int:
        """Remove records with their stamps, and everything that was merely kept."""
        groups = dict(self._group(ids))
        self._write.catalog.unstamp(ids)
        shards = range(self._write.count)
        return sum(
            self._write.change(shard, "erase", tuple(groups.get(shard, ()))).result
            for shard in shards
        )

    def stamp(self, stamps: Iterable[Stamp]) -> None:
        """Record the state of files."""
        self._beside.stamp(stamps)

    def unstamp(self, paths: Iterable[str]) -> None:
        """Forget the state of files."""
        self._beside.unstamp(paths)

    def set_note(self, key: str, value: str | None) -> None:
        """Store a setting of the space that is not part of its state; None deletes it."""
        self._beside.set_note(key, value)
