"""The principles of an open store: what experiences with the same readers have in common.

Specification 4 calls them values; so do the command `quire values` and the pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from quire.core.protocols import View
from quire.core.types import OPEN, Filter, Principle, Record, Viewer, WriteTask, Written
from quire.errors import unknown
from quire.memory import experiences, principles
from quire.memory.authoring import Authoring, effective_rules, put_documents
from quire.store.access import canonical


@dataclass(frozen=True, slots=True)
class _Clustered:
    """A principle with what it is made of."""

    value: Principle
    members: tuple[Record, ...]
    task: WriteTask
    """What a model may word it from."""


class Principles:
    """The principles (values) of an open store."""

    def __init__(self, authoring: Authoring) -> None:
        self._authoring = authoring
        self._project = authoring.project

    def refresh(self, *, viewer: Viewer | str | None = None) -> Written[tuple[Principle, ...]]:
        """Derive all principles again from the resolved experiences that the viewer may read."""
        self._project.settle(self._project.root())
        with self._project.view(viewer) as view:
            clustered, notes = self._cluster(view)
            values, wording_notes = self._word(clustered, _read_stored(view))
        documents = [
            principles.to_document(value, each.members, self._authoring.split)
            for value, each in zip(values, clustered, strict=True)
        ]
        with self._authoring.transaction(viewer) as (writer, view):
            stored = view.listing(Filter(kinds=(principles.KIND,)))
            current = {document.record.id for document in documents}
            writer.remove([record.id for record in stored if record.id not in current])
            put_documents(writer, documents)
        embedding_notes = self._authoring.embed_written(viewer, documents)
        return Written(tuple(_sort(values)), (*notes, *wording_notes, *embedding_notes))

    def _word(
        self, clustered: Sequence[_Clustered], stored: Mapping[str, Principle]
    ) -> tuple[list[Principle], list[str]]:
        """Word principles by the text writer, if there is one; its earlier wordings stay."""
        writer = self._project.text_writer() if clustered else None
        if writer is None:
            return [each.value for each in clustered], []
        texts = {
            each.value.id: stored[each.value.id].text
            for each in clustered
            if each.value.id in stored and stored[each.value.id].worded_by == writer.name
        }
        wanted = [each for each in clustered if each.value.id not in texts]
        notes: set[str] = set()
        results = writer.write([each.task for each in wanted])
        for each, result in zip(wanted, results, strict=True):
            if result.text:
                texts[each.value.id] = result.text
            else:
                notes.add(f"a value keeps the words of a member: {result.reason}")
        return [
            replace(each.value, text=texts[each.value.id], worded_by=writer.name)
            if each.value.id in texts
            else each.value
            for each in clustered
        ], sorted(notes)

    def _cluster(self, view: View) -> tuple[list[_Clustered], list[str]]:
        resolved = [
            record
            for record in view.listing(Filter(kinds=(experiences.KIND,)))
            if record.attrs["outcome"] != OPEN
        ]
        clustered: list[_Clustered] = []
        notes: list[str] = []
        without_vectors: set[str] = set()
        for group in self._group_by_audience(resolved):
            newest = sorted(group, key=_newest_first)[: principles.MAX_COMPARED]
            if len(newest) < len(group):
                notes.append(f"of {len(group)} experiences the newest {len(newest)} were compared")
            members = {record.id: experiences.from_record(record) for record in newest}
            records = {record.id: record for record in newest}
            for axis in experiences.AXES:
                vectors = _read_vectors(view, newest, axis)
                without_vectors |= {name for name, vector in vectors.items() if vector is None}
                embedded = {name: vector for name, vector in vectors.items() if vector is not None}
                for cluster in principles.find_clusters(embedded):
                    value = principles.make_principle(axis, cluster, members)
                    clustered.append(
                        _Clustered(
                            value,
                            tuple(records[name] for name in value.members),
                            principles.make_write_task(axis, cluster, members),
                        )
                    )
        if without_vectors:
            notes.append(
                f"{len(without_vectors)} of {len(resolved)} resolved experiences lack vectors and "
                "were left out: run `quire index` first"
            )
        size = principles.MIN_CLUSTER_SIZE
        if len(resolved) < 2 * size:
            notes.append(
                f"too few experiences for values: {len(resolved)} resolved, at least {2 * size} "
                f"are needed: two groups of {size} that are alike"
            )
        elif not clustered:
            notes.append(
                f"no values: there are no two groups of {size} experiences that are alike and have "
                "the same readers"
            )
        return clustered, notes

    def _group_by_audience(self, records: Sequence[Record]) -> list[list[Record]]:
        """Group records by who may read them: nothing of one group goes into another's values."""
        rules = effective_rules(self._project)
        groups: dict[str, list[Record]] = {}
        for record in records:
            groups.setdefault(canonical(rules.audience(record)), []).append(record)
        return [groups[audience] for audience in sorted(groups)]

    # Last in the class: below it `list` would no longer mean the type.
    def list(
        self, *, axis: str | None = None, viewer: Viewer | str | None = None
    ) -> list[Principle]:
        """List the principles as last refreshed, by axis, the largest first."""
        if axis is not None and axis not in experiences.AXES:
            raise unknown("axis", axis, experiences.AXES, field="axis")
        with self._project.view(viewer) as view:
            stored = _read_stored(view).values()
        listed = _sort(value for value in stored if axis in {None, value.axis})
        self._project.audit.disclose(view.viewer, "values", records=[value.id for value in listed])
        return listed


def _read_stored(view: View) -> dict[str, Principle]:
    return {
        record.id: principles.from_record(
            record, view.chunks_of(record.id), view.links([record.id])
        )
        for record in view.listing(Filter(kinds=(principles.KIND,)))
    }


def _read_vectors(view: View, records: Sequence[Record], axis: str) -> dict[str, bytes | None]:
    """Return the vector on an axis of each experience with text there; None: it has none yet."""
    kind = experiences.chunk_kind(axis)
    means: dict[str, bytes | None] = {}
    for record in records:
        ids = [chunk.id for chunk in view.chunks_of(record.id) if chunk.kind == kind]
        if ids:
            vectors = view.vectors(ids)
            complete = len(vectors) == len(ids)
            means[record.id] = (
                principles.mean_vector([vectors[name] for name in ids]) if complete else None
            )
    return means


def _newest_first(record: Record) -> tuple[int, str]:
    return -(record.modified or 0), record.id


def _sort(values: Iterable[Principle]) -> list[Principle]:
    positions = {axis: position for position, axis in enumerate(experiences.AXES)}
    return sorted(values, key=lambda value: (positions[value.axis], -value.size, value.id))
