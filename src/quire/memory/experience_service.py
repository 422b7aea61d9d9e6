"""The experiences of an open store: what was tried, and how it ended."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from quire.core.protocols import View, Writer
from quire.core.types import (
    OPEN,
    Document,
    Experience,
    Filter,
    ImportResult,
    Skipped,
    Viewer,
    Written,
)
from quire.errors import InputError, unknown
from quire.memory import experiences, vocabulary
from quire.memory.authoring import (
    Authoring,
    find_record,
    missing_record,
    moment,
    put_documents,
    refuse_others,
    refuse_secrets,
    sign,
)

if TYPE_CHECKING:
    from quire.memory.postmortems import Page

ANY = "*"
LISTED_BY = "quire experience list"


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
        values = {
            "goal": goal,
            "domain": domain,
            "strategy": strategy,
            "hypothesis": hypothesis,
            "action": action,
            "prediction": prediction,
        }
        with self._authoring.transaction(viewer) as (writer, view):
            self._check(values, allow_secret=allow_secret)
            author, acl = sign(view.viewer, share)
            experience = experiences.start(values, at=at, author=author, acl=acl)
            if view.records([experience.id]):
                raise InputError(f"this experience was already started: {experience.id}")
            written = self._put(writer, experience)
        return Written(experience, self._authoring.embed_written(viewer, written))

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
        values = {
            "goal": goal,
            "domain": domain,
            "strategy": strategy,
            "hypothesis": hypothesis,
            "action": action,
            "prediction": prediction,
        }
        changes = {key: text for key, text in values.items() if text is not None}
        with self._authoring.transaction(viewer) as (writer, view):
            self._check(changes, allow_secret=allow_secret)
            experience = experiences.update(_find_changeable(view, experience_id), changes, at=at)
            written = self._put(writer, experience)
        return Written(experience, self._authoring.embed_written(viewer, written))

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
        values = {
            "result": result,
            "surprise": surprise,
            "root_cause": root_cause,
            "lesson": lesson,
        }
        with self._authoring.transaction(viewer) as (writer, view):
            self._check(values, allow_secret=allow_secret)
            old = _find_changeable(view, experience_id)
            experience = experiences.resolve(old, outcome, values, at=at)
            written = self._put(writer, experience)
        return Written(experience, self._authoring.embed_written(viewer, written))

    def _put(self, writer: Writer, experience: Experience) -> list[Document]:
        written = [experiences.to_document(experience, self._authoring.split)]
        put_documents(writer, written)
        return written

    def get(
        self,
        experience_id: str,
        *,
        shared_only: bool = False,
        viewer: Viewer | str | None = None,
    ) -> Experience:
        """Return one experience by its id, or by an unambiguous beginning of it."""
        with self._project.view(viewer) as view:
            experience = _visible(view.viewer, _find(view, experience_id))
            if shared_only and view.unshared([experience.id]):
                raise missing_record(experiences.KIND, experience_id, LISTED_BY)
        self._project.audit.disclose(view.viewer, "experiences", records=[experience.id])
        return experience

    def import_postmortems(
        self,
        folder: str | os.PathLike[str],
        *,
        share: Sequence[str] = (),
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
    ) -> ImportResult:
        """Import each post-mortem (Markdown) of a folder as a falsified experience.

        A page with the content of an imported one is left alone; one that has changed replaces what
        was imported from it before.
        """
        from quire.memory import postmortem_files  # late: only an import reads post-mortems

        settings = self._project.config.ingest
        settings = replace(settings, secrets=settings.secrets or allow_secret)
        root = Path(folder).resolve()
        pages = list(postmortem_files.read_pages(root, settings))
        with self._authoring.transaction(viewer) as (writer, view):
            author, acl = sign(view.viewer, share)
            known = [old for old in _read_all(view) if old.source and old.author == author]
            before = {old.id: old for old in known}
            by_digest = {old.digest: old for old in known}
            imported: dict[str, Experience] = {}
            skipped: list[Skipped] = []
            for path, page in pages:
                source = f"{self._authoring.display_name(root)}/{path}"
                parsed = _parse(page, source, author, acl)
                if isinstance(parsed, Experience):
                    twin = imported.get(parsed.digest)
                    old = by_digest.get(parsed.digest)
                    if twin is not None:
                        parsed = Skipped(path, f"has the same content as {twin.source}")
                    elif old is not None:
                        parsed = replace(old, acl=acl) if share else old
                if isinstance(parsed, Skipped):
                    skipped.append(parsed)
                else:
                    imported[parsed.digest] = parsed
            changed = [new for new in imported.values() if before.get(new.id) != new]
            written = [experiences.to_document(new, self._authoring.split) for new in changed]
            put_documents(writer, written)
        added = sum(new.id not in before for new in changed)
        return ImportResult(
            added,
            len(changed) - added,
            len(imported) - len(changed),
            tuple(skipped),
            self._authoring.embed_written(viewer, written),
        )

    def _check(self, values: Mapping[str, str], *, allow_secret: bool) -> None:
        learn = self._project.config.learn
        vocabulary.check_attempt(values.get("domain"), values.get("strategy"), learn)
        texts = ((name, values[name]) for name in experiences.TEXT_FIELDS if name in values)
        refuse_secrets(((name.replace("_", " "), text) for name, text in texts), allow=allow_secret)

    # Last in the class: below it `list` would no longer mean the type.
    def list(
        self,
        *,
        domain: str | None = None,
        strategy: str | None = None,
        outcome: str | None = None,
        shared_only: bool = False,
        viewer: Viewer | str | None = None,
    ) -> list[Experience]:
        """List experiences, oldest first; with `shared_only` not what others keep to themselves."""
        outcomes = (OPEN, *experiences.OUTCOMES)
        if outcome is not None and outcome not in outcomes:
            raise unknown("outcome", outcome, outcomes, field="outcome")
        glob = experiences.path_of(domain or ANY, strategy or ANY, outcome or ANY, ANY)
        where = Filter(kinds=(experiences.KIND,), paths=(glob,), shared_only=shared_only)
        with self._project.view(viewer) as view:
            vocabulary.check_attempt(domain, strategy, self._project.config.learn)
            listed = [
                _visible(view.viewer, experiences.from_record(record))
                for record in view.listing(where)
            ]
        self._project.audit.disclose(view.viewer, "experiences", records=[one.id for one in listed])
        return sorted(listed, key=lambda experience: (experience.started or 0, experience.id))


def _visible(viewer: Viewer, experience: Experience) -> Experience:
    """Return an experience as a viewer is shown it: of its readers only what concerns them."""
    return replace(experience, acl=viewer.shown(experience.acl, experience.author))


def _read_all(view: View) -> list[Experience]:
    listed = view.listing(Filter(kinds=(experiences.KIND,)))
    return [experiences.from_record(record) for record in listed]


def _find(view: View, name: str) -> Experience:
    return experiences.from_record(find_record(view, experiences.KIND, name, LISTED_BY))


def _find_changeable(view: View, name: str) -> Experience:
    experience = _find(view, name)
    refuse_others(view.viewer, "experience", experience.id, experience.author)
    return experience


def _parse(
    page: Page | Skipped, source: str, author: str | None, acl: tuple[str, ...] | None
) -> Experience | Skipped:
    from quire.memory import postmortems  # late, as above

    if isinstance(page, Skipped):
        return page
    parsed = postmortems.parse_page(page, source, author=author, acl=acl)
    return Skipped(page.path, parsed) if isinstance(parsed, str) else parsed
