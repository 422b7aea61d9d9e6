"""The principles of an open store: what experiences with the same readers have in common.

Specification 4 calls them values; so do the command `quire values` and the pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from quire.core.protocols import View
from quire.core.types import OPEN, Document, Filter, Principle, Record, Viewer, WriteTask, Written
from quire.errors import InputError
from quire.memory import experiences, principles
from quire.memory.authoring import Authoring, put
from quire.store.access import Rules, canonical


@dataclass(frozen=True, slots=True)
class _Clustered:
    """A value with what it is made of."""

    value: Principle
    members: tuple[Record, ...]
    order: WriteTask
    """What its text may be written of."""


class Principles:
    """The principles (values) of an open store."""

    def __init__(self, authoring: Authoring) -> None:
        self._authoring = authoring
        self._project = authoring.project

    def refresh(self, *, viewer: Viewer | str | None = None) -> Written[tuple[Principle, ...]]:
        """Derive all principles again from the resolved experiences that the viewer may read."""
        self._project.settle(self._project.root())
        with self._project.view(viewer) as view:
            clustered, notes = self._clustered(view)
            made, more = self._worded(clustered, _held(view))
        with self._authoring.transaction(viewer) as (writer, view):
            old = view.listing(Filter(kinds=(principles.KIND,)))
            kept = {document.record.id for _, document in made}
            writer.remove([record.id for record in old if record.id not in kept])
            put(writer, (document for _, document in made))
        notes += [*more, *self._authoring.embed_written(viewer, (document for _, document in made))]
        return Written(tuple(_in_order(value for value, _ in made)), tuple(notes))

    def _worded(
        self, found: Sequence[_Clustered], held: Mapping[str, Principle]
    ) -> tuple[list[tuple[Principle, Document]], list[str]]:
        """Let the writer word values, if there is one; what it has worded before stays."""
        texts: dict[str, str] = {}
        notes: list[str] = []
        writer = self._project.text_writer() if found else None
        if writer is not None:
            texts = {
                each.value.id: held[each.value.id].text
                for each in found
                if each.value.id in held and held[each.value.id].worded_by == writer.name
            }
            wanted = [each for each in found if each.value.id not in texts]
            for each, made in zip(
                wanted, writer.write([each.order for each in wanted]), strict=True
            ):
                if made.text:
                    texts[each.value.id] = made.text
                else:
                    notes.append(f"a value keeps the words of a member: {made.reason}")
        worded = [
            replace(each.value, text=texts[each.value.id], worded_by=writer.name)
            if writer is not None and each.value.id in texts
            else each.value
            for each in found
        ]
        return [
            (value, principles.document(value, each.members, self._authoring.split))
            for value, each in zip(worded, found, strict=True)
        ], sorted(set(notes))

    def _clustered(self, view: View) -> tuple[list[_Clustered], list[str]]:
        records = [
            record
            for record in view.listing(Filter(kinds=(experiences.KIND,)))
            if record.attrs["outcome"] != OPEN
        ]
        made: list[_Clustered] = []
        notes: list[str] = []
        bare: set[str] = set()
        for readable in self._by_access(records):
            alike = sorted(readable, key=_newest)[: principles.MOST]
            if len(alike) < len(readable):
                notes.append(
                    f"of {len(readable)} experiences the newest {len(alike)} were compared"
                )
            told = {record.id: experiences.experience_of(record) for record in alike}
            kept = {record.id: record for record in alike}
            for axis in experiences.AXES:
                vectors = _vectors(view, alike, axis)
                bare |= {name for name, vector in vectors.items() if vector is None}
                near = principles.clusters({k: v for k, v in vectors.items() if v is not None})
                for cluster in near:
                    value = principles.value(axis, cluster, told)
                    members = tuple(kept[name] for name in value.members)
                    made.append(_Clustered(value, members, principles.order(axis, cluster, told)))
        if bare:
            notes.append(
                f"{len(bare)} of {len(records)} resolved experiences lack vectors and were left "
                "out: run `quire index` first"
            )
        if len(records) < principles.FEWEST:
            notes.append(
                f"too few experiences for values: {len(records)} resolved, at least "
                f"{principles.FEWEST} that are alike are needed"
            )
        elif not made:
            notes.append("no values: no experiences with the same readers lie close together")
        return made, notes

    def _by_access(self, records: Sequence[Record]) -> list[list[Record]]:
        """Put together what the same people may read: nothing of one goes into another's values."""
        listed = self._project.store.rules(self._project.config.space)
        rules = Rules(
            [rule for each in listed.values() for rule in each], self._project.access_default()
        )
        found: dict[str, list[Record]] = {}
        for record in records:
            found.setdefault(canonical(rules.audience(record)), []).append(record)
        return [found[reach] for reach in sorted(found)]

    # Last in the class: below it `list` would no longer mean the type.
    def list(
        self, *, axis: str | None = None, viewer: Viewer | str | None = None
    ) -> list[Principle]:
        """List the principles as last refreshed, by axis, the largest first."""
        if axis not in {None, *experiences.AXES}:
            raise InputError(f"there is no axis {axis!r}: use {', '.join(experiences.AXES)}")
        with self._project.view(viewer) as view:
            found = _held(view).values()
        return _in_order(one for one in found if axis in {None, one.axis})


def _held(view: View) -> dict[str, Principle]:
    return {
        record.id: principles.value_of(record, view.chunks_of(record.id), view.links([record.id]))
        for record in view.listing(Filter(kinds=(principles.KIND,)))
    }


def _vectors(view: View, records: Sequence[Record], axis: str) -> dict[str, bytes | None]:
    """Give each experience that speaks on an axis its vector there; None: it has none yet."""
    kind = experiences.chunk_kind(axis)
    found: dict[str, bytes | None] = {}
    for record in records:
        ids = [chunk.id for chunk in view.chunks_of(record.id) if chunk.kind == kind]
        if ids:
            vectors = view.vectors(ids)
            whole = len(vectors) == len(ids)
            found[record.id] = principles.joined([vectors[name] for name in ids]) if whole else None
    return found


def _newest(record: Record) -> tuple[int, str]:
    return -(record.modified or 0), record.id


def _in_order(found: Iterable[Principle]) -> list[Principle]:
    places = {axis: place for place, axis in enumerate(experiences.AXES)}
    return sorted(found, key=lambda one: (places[one.axis], -one.size, one.id))
