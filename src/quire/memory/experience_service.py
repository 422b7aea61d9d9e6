"""How does what was tried become experience, and experience a principle?"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quire.core.protocols import View
from quire.core.types import (
    OPEN,
    Document,
    Experience,
    Filter,
    ImportResult,
    Record,
    Skipped,
    Value,
    Viewer,
    WriteTask,
    Written,
)
from quire.errors import InputError
from quire.memory import experiences, postmortem_files, postmortems, principles, vocabulary
from quire.memory.authoring import Noting, meant, put, refuse_others, refuse_secrets, signed
from quire.memory.postmortems import Page
from quire.store.access import Rules, canonical

ANY = "*"


@dataclass(frozen=True, slots=True)
class _Clustered:
    """A value with what it is made of."""

    value: Value
    members: tuple[Record, ...]
    order: WriteTask
    """What its text may be written of."""


class Learning(Noting):
    """Experiences and values of an open store."""

    # --- experiences ---------------------------------------------------------------------------

    def start_experience(
        self,
        goal: str,
        *,
        at: int,
        domain: str,
        strategy: str = vocabulary.UNSTATED,
        hypothesis: str = "",
        action: str = "",
        prediction: str = "",
        share: Sequence[str] = (),
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
    ) -> Written[Experience]:
        """Begin to record an attempt. `at`: seconds since 1970."""
        told = {
            "goal": goal,
            "domain": domain,
            "strategy": strategy,
            "hypothesis": hypothesis,
            "action": action,
            "prediction": prediction,
        }
        with self._noting(viewer) as (writer, view):
            self._check(told, allow_secret=allow_secret)
            author, acl = signed(view.viewer, share)
            made = experiences.start(told, at=at, author=author, acl=acl)
            if view.records([made.id]):
                raise InputError(f"this experience is started already: {made.id}")
            written = [experiences.document(made, self._cut)]
            put(writer, written)
        return Written(made, self._embed_now(viewer, written))

    def update_experience(
        self,
        name: str,
        *,
        at: int,
        goal: str | None = None,
        domain: str | None = None,
        strategy: str | None = None,
        hypothesis: str | None = None,
        action: str | None = None,
        prediction: str | None = None,
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
    ) -> Written[Experience]:
        """Go on with an open experience; a new hypothesis, action or prediction counts as a try."""
        told = {
            "goal": goal,
            "domain": domain,
            "strategy": strategy,
            "hypothesis": hypothesis,
            "action": action,
            "prediction": prediction,
        }
        given = {key: text for key, text in told.items() if text is not None}
        with self._noting(viewer) as (writer, view):
            self._check(given, allow_secret=allow_secret)
            made = experiences.update(_changeable(view, name), given, at=at)
            written = [experiences.document(made, self._cut)]
            put(writer, written)
        return Written(made, self._embed_now(viewer, written))

    def resolve_experience(
        self,
        name: str,
        outcome: str,
        *,
        at: int,
        result: str = "",
        surprise: str = "",
        root_cause: str = "",
        lesson: str = "",
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
    ) -> Written[Experience]:
        """End an open experience: `confirmed`, `falsified` or `abandoned`."""
        told = {"result": result, "surprise": surprise, "root_cause": root_cause, "lesson": lesson}
        with self._noting(viewer) as (writer, view):
            self._check(told, allow_secret=allow_secret)
            made = experiences.resolve(_changeable(view, name), outcome, told, at=at)
            written = [experiences.document(made, self._cut)]
            put(writer, written)
        return Written(made, self._embed_now(viewer, written))

    def experiences(
        self,
        *,
        domain: str | None = None,
        strategy: str | None = None,
        outcome: str | None = None,
        viewer: Viewer | str | None = None,
    ) -> list[Experience]:
        """List experiences, the oldest first."""
        if outcome not in {None, OPEN, *experiences.OUTCOMES}:
            known = ", ".join((OPEN, *experiences.OUTCOMES))
            raise InputError(f"there is no outcome {outcome!r}: use {known}")
        glob = experiences.path(domain or ANY, strategy or ANY, outcome or ANY, ANY)
        where = Filter(kinds=(experiences.KIND,), paths=(glob,))
        with self._view(viewer) as view:
            vocabulary.check_attempt(domain, strategy, self.config.learn)
            found = map(experiences.experience_of, view.listing(where))
            return sorted(found, key=lambda one: (one.started or 0, one.id))

    def experience(self, name: str, viewer: Viewer | str | None = None) -> Experience:
        """Give one experience by its id."""
        with self._view(viewer) as view:
            return _there(view, name)

    def import_postmortems(
        self,
        folder: str | os.PathLike[str],
        *,
        share: Sequence[str] = (),
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
    ) -> ImportResult:
        """Make a falsified experience of each post-mortem (Markdown) in a folder.

        A page that says what an imported one says is left alone; one that has changed replaces
        what was made of it before.
        """
        settings = self.config.ingest
        settings = replace(settings, secrets=settings.secrets or allow_secret)
        place = Path(folder).resolve()
        met = list(postmortem_files.pages(place, settings))
        with self._noting(viewer) as (writer, view):
            author, acl = signed(view.viewer, share)
            known = [one for one in _all(view) if one.source and one.author == author]
            before = {one.id: one for one in known}
            held = {one.digest: one for one in known}
            made: dict[str, Experience] = {}
            skipped: list[Skipped] = []
            for path, found in met:
                source = f"{self._spoken_of(place)}/{path}"
                read = _imported(found, source, author, acl)
                if isinstance(read, Experience):
                    again = made.get(read.digest)
                    old = held.get(read.digest)
                    if again is not None:
                        read = Skipped(path, f"says the same as {again.source}")
                    elif old is not None:
                        read = replace(old, acl=acl) if share else old
                if isinstance(read, Skipped):
                    skipped.append(read)
                else:
                    made[read.digest] = read
            changed = [one for one in made.values() if before.get(one.id) != one]
            written = [experiences.document(one, self._cut) for one in changed]
            put(writer, written)
        added = sum(one.id not in before for one in changed)
        return ImportResult(
            added,
            len(changed) - added,
            len(made) - len(changed),
            tuple(skipped),
            self._embed_now(viewer, written),
        )

    # --- values --------------------------------------------------------------------------------

    def values(self, *, axis: str | None = None, viewer: Viewer | str | None = None) -> list[Value]:
        """List the values that were last made, by axis, the largest first."""
        if axis not in {None, *experiences.AXES}:
            raise InputError(f"there is no axis {axis!r}: use {', '.join(experiences.AXES)}")
        with self._view(viewer) as view:
            found = _held(view).values()
        return _in_order(one for one in found if axis in {None, one.axis})

    def refresh_values(self, viewer: Viewer | str | None = None) -> Written[tuple[Value, ...]]:
        """Make all values anew from the resolved experiences that the viewer may read."""
        self._settle(self.root())
        with self._view(viewer) as view:
            clustered, notes = self._clustered(view)
            made, more = self._worded(clustered, _held(view))
        with self._noting(viewer) as (writer, view):
            old = view.listing(Filter(kinds=(principles.KIND,)))
            kept = {document.record.id for _, document in made}
            writer.remove([record.id for record in old if record.id not in kept])
            put(writer, (document for _, document in made))
        notes += [*more, *self._embed_now(viewer, (document for _, document in made))]
        return Written(tuple(_in_order(value for value, _ in made)), tuple(notes))

    def _worded(
        self, found: Sequence[_Clustered], held: Mapping[str, Value]
    ) -> tuple[list[tuple[Value, Document]], list[str]]:
        """Let the writer word values, if there is one; what it has worded before stays."""
        texts: dict[str, str] = {}
        notes: list[str] = []
        writer = self._text_writer() if found else None
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
            (value, principles.document(value, each.members, self._cut))
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
        listed = self.store.rules(self.config.space)
        rules = Rules([rule for each in listed.values() for rule in each], self.access_default())
        found: dict[str, list[Record]] = {}
        for record in records:
            found.setdefault(canonical(rules.audience(record)), []).append(record)
        return [found[reach] for reach in sorted(found)]

    # --- what both need ------------------------------------------------------------------------

    def _check(self, told: Mapping[str, str], *, allow_secret: bool) -> None:
        vocabulary.check_attempt(told.get("domain"), told.get("strategy"), self.config.learn)
        refuse_secrets(
            ((name.replace("_", " "), told[name]) for name in experiences.SAID if name in told),
            allow=allow_secret,
        )


def _held(view: View) -> dict[str, Value]:
    return {
        record.id: principles.value_of(record, view.chunks_of(record.id), view.links([record.id]))
        for record in view.listing(Filter(kinds=(principles.KIND,)))
    }


def _all(view: View) -> list[Experience]:
    listed = view.listing(Filter(kinds=(experiences.KIND,)))
    return [experiences.experience_of(record) for record in listed]


def _there(view: View, name: str) -> Experience:
    return experiences.experience_of(meant(view, experiences.KIND, name, "quire experience list"))


def _changeable(view: View, name: str) -> Experience:
    found = _there(view, name)
    refuse_others(view.viewer, "experience", found.id, found.author)
    return found


def _imported(
    found: Page | Skipped, source: str, author: str | None, acl: tuple[str, ...] | None
) -> Experience | Skipped:
    if isinstance(found, Skipped):
        return found
    read = postmortems.read(found, source, author=author, acl=acl)
    return Skipped(found.path, read) if isinstance(read, str) else read


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


def _in_order(found: Iterable[Value]) -> list[Value]:
    places = {axis: place for place, axis in enumerate(experiences.AXES)}
    return sorted(found, key=lambda one: (places[one.axis], -one.size, one.id))
