"""The experiences of an open store: what was tried, and how it ended."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from quire.core.protocols import View
from quire.core.types import (
    OPEN,
    Experience,
    Filter,
    ImportResult,
    Skipped,
    Viewer,
    Written,
)
from quire.errors import InputError
from quire.memory import experiences, postmortem_files, postmortems, vocabulary
from quire.memory.authoring import (
    Authoring,
    meant,
    moment,
    put,
    refuse_others,
    refuse_secrets,
    signed,
)
from quire.memory.postmortems import Page

ANY = "*"


class Experiences:
    """The experiences of an open store."""

    def __init__(self, authoring: Authoring) -> None:
        self._authoring = authoring
        self._project = authoring.project

    def start(
        self,
        goal: str,
        *,
        domain: str,
        strategy: str = vocabulary.UNSTATED,
        hypothesis: str = "",
        action: str = "",
        prediction: str = "",
        share: Sequence[str] = (),
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
        at: int | None = None,
    ) -> Written[Experience]:
        """Start recording an attempt to reach a goal."""
        at = moment(at)
        told = {
            "goal": goal,
            "domain": domain,
            "strategy": strategy,
            "hypothesis": hypothesis,
            "action": action,
            "prediction": prediction,
        }
        with self._authoring.transaction(viewer) as (writer, view):
            self._check(told, allow_secret=allow_secret)
            author, acl = signed(view.viewer, share)
            made = experiences.start(told, at=at, author=author, acl=acl)
            if view.records([made.id]):
                raise InputError(f"this experience is started already: {made.id}")
            written = [experiences.document(made, self._authoring.split)]
            put(writer, written)
        return Written(made, self._authoring.embed_written(viewer, written))

    def update(
        self,
        experience_id: str,
        *,
        goal: str | None = None,
        domain: str | None = None,
        strategy: str | None = None,
        hypothesis: str | None = None,
        action: str | None = None,
        prediction: str | None = None,
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
        at: int | None = None,
    ) -> Written[Experience]:
        """Continue an open experience; a new hypothesis, action or prediction is an iteration."""
        at = moment(at)
        told = {
            "goal": goal,
            "domain": domain,
            "strategy": strategy,
            "hypothesis": hypothesis,
            "action": action,
            "prediction": prediction,
        }
        given = {key: text for key, text in told.items() if text is not None}
        with self._authoring.transaction(viewer) as (writer, view):
            self._check(given, allow_secret=allow_secret)
            made = experiences.update(_changeable(view, experience_id), given, at=at)
            written = [experiences.document(made, self._authoring.split)]
            put(writer, written)
        return Written(made, self._authoring.embed_written(viewer, written))

    def resolve(
        self,
        experience_id: str,
        outcome: str,
        *,
        result: str = "",
        surprise: str = "",
        root_cause: str = "",
        lesson: str = "",
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
        at: int | None = None,
    ) -> Written[Experience]:
        """End an open experience as `confirmed`, `falsified` or `abandoned`."""
        at = moment(at)
        told = {"result": result, "surprise": surprise, "root_cause": root_cause, "lesson": lesson}
        with self._authoring.transaction(viewer) as (writer, view):
            self._check(told, allow_secret=allow_secret)
            made = experiences.resolve(_changeable(view, experience_id), outcome, told, at=at)
            written = [experiences.document(made, self._authoring.split)]
            put(writer, written)
        return Written(made, self._authoring.embed_written(viewer, written))

    def get(self, experience_id: str, *, viewer: Viewer | str | None = None) -> Experience:
        """Return one experience by its id, or by an unambiguous beginning of it."""
        with self._project.view(viewer) as view:
            return _there(view, experience_id)

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
        settings = self._project.config.ingest
        settings = replace(settings, secrets=settings.secrets or allow_secret)
        place = Path(folder).resolve()
        met = list(postmortem_files.pages(place, settings))
        with self._authoring.transaction(viewer) as (writer, view):
            author, acl = signed(view.viewer, share)
            known = [one for one in _all(view) if one.source and one.author == author]
            before = {one.id: one for one in known}
            held = {one.digest: one for one in known}
            made: dict[str, Experience] = {}
            skipped: list[Skipped] = []
            for path, found in met:
                source = f"{self._authoring.display_name(place)}/{path}"
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
            written = [experiences.document(one, self._authoring.split) for one in changed]
            put(writer, written)
        added = sum(one.id not in before for one in changed)
        return ImportResult(
            added,
            len(changed) - added,
            len(made) - len(changed),
            tuple(skipped),
            self._authoring.embed_written(viewer, written),
        )

    def _check(self, told: Mapping[str, str], *, allow_secret: bool) -> None:
        vocabulary.check_attempt(
            told.get("domain"), told.get("strategy"), self._project.config.learn
        )
        refuse_secrets(
            ((name.replace("_", " "), told[name]) for name in experiences.SAID if name in told),
            allow=allow_secret,
        )

    # Last in the class: below it `list` would no longer mean the type.
    def list(
        self,
        *,
        domain: str | None = None,
        strategy: str | None = None,
        outcome: str | None = None,
        viewer: Viewer | str | None = None,
    ) -> list[Experience]:
        """List experiences, oldest first."""
        if outcome not in {None, OPEN, *experiences.OUTCOMES}:
            known = ", ".join((OPEN, *experiences.OUTCOMES))
            raise InputError(f"there is no outcome {outcome!r}: use {known}")
        glob = experiences.path(domain or ANY, strategy or ANY, outcome or ANY, ANY)
        where = Filter(kinds=(experiences.KIND,), paths=(glob,))
        with self._project.view(viewer) as view:
            vocabulary.check_attempt(domain, strategy, self._project.config.learn)
            found = map(experiences.experience_of, view.listing(where))
            return sorted(found, key=lambda one: (one.started or 0, one.id))


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
