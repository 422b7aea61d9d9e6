"""The memories of an open store: add, correct, supersede, forget, export, import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from quire.core import chunking, hashing
from quire.core.protocols import View, Writer
from quire.core.types import Document, Filter, ImportResult, Memory, Viewer, Written
from quire.errors import InputError
from quire.memory import jsonl, memories, vocabulary
from quire.memory.authoring import (
    Authoring,
    meant,
    moment,
    put,
    refuse_others,
    refuse_secrets,
    signed,
)
from quire.store.access import access_list

KNOWN = "this is remembered already"


class Memories:
    """The memories of an open store."""

    def __init__(self, authoring: Authoring) -> None:
        self._authoring = authoring
        self._project = authoring.project

    def add(
        self,
        content: str,
        *,
        category: str = jsonl.DEFAULT_CATEGORY,
        importance: float = jsonl.DEFAULT_IMPORTANCE,
        supersedes: str | None = None,
        share: Sequence[str] = (),
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
        at: int | None = None,
    ) -> Written[Memory]:
        """Add a memory; the one that it supersedes is no longer current.

        Args:
            content: The text to remember.
            category: `fact`, `preference`, `decision`, `error` or one of [learn] categories.
            importance: From 0 to 1.
            supersedes: The id of the memory that this one replaces.
            share: Who may read it: names, `@group`, `public` or `owner`.
            viewer: Who writes it; None for the configured viewer, or the owner.
            allow_secret: Accept text that looks like a key or a token.
            at: The time of writing in seconds since 1970; None for now.
        """
        at = moment(at)
        refuse_secrets([("memory", content)], allow=allow_secret)
        worth = memories.thousandths(importance)
        with self._authoring.transaction(viewer) as (writer, view):
            self._check_category(category)
            author, acl = signed(view.viewer, share)
            older = [] if supersedes is None else [_changeable(view, supersedes)]
            before = {old.id: old for old in older}
            for old in older:
                if share and acl != old.acl:
                    raise InputError(
                        f"memory {old.id} and what supersedes it have the same readers: "
                        "leave out `share`"
                    )
                acl = old.acl
            made = memories.new(
                content,
                category=category,
                importance=worth,
                created=at,
                author=author,
                acl=acl,
                supersedes=older[0].id if older else None,
            )
            known = _found(view, [made.id])
            if known:
                return Written(known[0], (KNOWN,))
            after = memories.chained({**before, made.id: made})
            written = self._keep(writer, memories.differing(before, after))
        return Written(after[made.id], self._authoring.embed_written(viewer, written))

    def get(self, memory_id: str, *, viewer: Viewer | str | None = None) -> Memory:
        """Return one memory by its id, or by an unambiguous beginning of it."""
        with self._project.view(viewer) as view:
            return _there(view, memory_id)

    def edit(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        category: str | None = None,
        importance: float | None = None,
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
        at: int | None = None,
    ) -> Written[Memory]:
        """Correct a memory; it keeps its id and its creation time."""
        at = moment(at)
        if content is None and category is None and importance is None:
            raise InputError("nothing to edit: give a content, a category or an importance")
        refuse_secrets([("memory", content or "")], allow=allow_secret)
        with self._authoring.transaction(viewer) as (writer, view):
            if category is not None:
                self._check_category(category)
            old = _changeable(view, memory_id)
            made = replace(
                old,
                content=old.content
                if content is None
                else chunking.require_text("memory", content),
                category=old.category if category is None else category,
                importance=old.importance
                if importance is None
                else memories.thousandths(importance),
                edited=max(at, old.created),
            )
            written = self._keep(writer, [made])
        return Written(made, self._authoring.embed_written(viewer, written))

    def forget(self, memory_id: str, *, viewer: Viewer | str | None = None) -> Written[Memory]:
        """Delete a memory; an older one that only it superseded is current again."""
        with self._authoring.transaction(viewer) as (writer, view):
            gone = _there(view, memory_id)
            refuse_others(view.viewer, "memory", gone.id, gone.author)
            before = _chain(view, gone)
            after = memories.without(before, gone.id)
            changed = memories.differing(before, after)
            writer.remove([gone.id])
            written = self._keep(writer, changed)
        again = [one.id for one in changed if one.superseded_by is None and one.id in before]
        revived = [one for one in again if before[one].superseded_by is not None]
        notes = tuple(f"memory {one} is current again" for one in revived)
        return Written(gone, (*notes, *self._authoring.embed_written(viewer, written)))

    def export(self, *, viewer: Viewer | str | None = None) -> list[Memory]:
        """Return all memories, superseded ones included, as `import_lines` takes them."""
        found = self.list(history=True, viewer=viewer)
        there = {memory.id for memory in found}
        return [
            memory if memory.supersedes in there else replace(memory, supersedes=None)
            for memory in found
        ]

    def import_lines(
        self,
        text: str,
        *,
        share: Sequence[str] = (),
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
        at: int | None = None,
    ) -> ImportResult:
        """Import memories from JSON lines, as `quire memory export` prints them; all or nothing.

        For the owner, ids, authors and access stay as they are; anyone else becomes the author.
        """
        at = moment(at)
        found = jsonl.parse(text, at=at)
        refuse_secrets(
            ((f"memory in line {one.number}", one.memory.content) for one in found),
            allow=allow_secret,
        )
        with self._authoring.transaction(viewer) as (writer, view):
            for one in found:
                self._check_category(one.memory.category, one.number)
            before = {memory.id: memory for memory in _all(view)}
            _refuse_strangers(view, found)
            taken = _taken_in(view.viewer, found, before, share)
            after = memories.chained({**before, **taken})
            changed = memories.differing(before, after)
            for memory in changed:
                if memory.id in before:
                    refuse_others(view.viewer, "memory", memory.id, before[memory.id].author)
            written = self._keep(writer, changed)
        added = sum(memory.id not in before for memory in changed)
        altered = sum(memory.id in before and memory.id in taken for memory in changed)
        return ImportResult(
            added,
            altered,
            len(taken) - added - altered,
            (),
            self._authoring.embed_written(viewer, written),
        )

    def _check_category(self, category: str, line: int | None = None) -> None:
        known = vocabulary.known(
            "categories", vocabulary.CATEGORIES, self._project.config.learn.categories
        )
        try:
            vocabulary.check("category", category, known, "categories")
        except InputError as error:
            raise InputError(f"line {line}: {error}" if line else str(error)) from None

    def _keep(self, writer: Writer, changed: Iterable[Memory]) -> list[Document]:
        written = [memories.document(memory, self._authoring.split) for memory in changed]
        put(writer, written)
        return written

    # Last in the class: below it `list` would no longer mean the type.
    def list(
        self,
        *,
        category: str | None = None,
        history: bool = False,
        viewer: Viewer | str | None = None,
    ) -> list[Memory]:
        """List the current memories, oldest first; with `history` also the superseded ones."""
        with self._project.view(viewer) as view:
            if category is not None:
                self._check_category(category)
            found = _all(view)
        return [
            memory
            for memory in memories.ordered(found)
            if (history or memory.superseded_by is None) and category in {None, memory.category}
        ]


def _found(view: View, ids: Sequence[str]) -> list[Memory]:
    return [
        memories.memory_of(record, view.chunks_of(record.id))
        for record in view.records(ids)
        if record.kind == memories.KIND
    ]


def _all(view: View) -> list[Memory]:
    return [
        memories.memory_of(record, view.chunks_of(record.id))
        for record in view.listing(Filter(kinds=(memories.KIND,)))
    ]


def _there(view: View, name: str) -> Memory:
    record = meant(view, memories.KIND, name, "quire memory list --history")
    return memories.memory_of(record, view.chunks_of(record.id))


def _changeable(view: View, name: str) -> Memory:
    found = _there(view, name)
    refuse_others(view.viewer, "memory", found.id, found.author)
    if found.superseded_by is not None:
        raise InputError(
            f"memory {found.id} is superseded by {found.superseded_by}: change that one instead"
        )
    return found


def _chain(view: View, memory: Memory) -> dict[str, Memory]:
    """Give all memories that a memory supersedes or is superseded by, at any distance."""
    chain = {memory.id: memory}
    for neighbour in ("supersedes", "superseded_by"):
        name = getattr(memory, neighbour)
        while name is not None and name not in chain:
            found = _found(view, [name])
            chain |= {one.id: one for one in found}
            name = getattr(found[0], neighbour) if found else None
    return chain


def _refuse_strangers(view: View, found: Sequence[jsonl.Line]) -> None:
    """Refuse an id under which something else than a memory is kept: it would be overwritten."""
    for line in found:
        for record in view.records([line.memory.id]):
            if record.kind != memories.KIND:
                raise InputError(f"line {line.number}: {record.id} is the id of a {record.kind}")


def _taken_in(
    viewer: Viewer, found: Sequence[jsonl.Line], known: dict[str, Memory], share: Sequence[str]
) -> dict[str, Memory]:
    """Give imported memories their ids, author and access."""
    author, acl = signed(viewer, share)
    named: dict[str, str] = {}
    taken: list[tuple[int, Memory]] = []
    for line in found:
        memory = line.memory
        if viewer.owner:
            own = memory.acl if memory.acl is None else access_list(memory.acl)
            memory = replace(memory, acl=acl if share else own)
        elif memory.id in known and _same(memory, known[memory.id]):
            memory = known[memory.id]
        else:
            name = memory.id
            if name and (name not in known or known[name].author != author):
                # An id that is not theirs may be someone else's, unseen: it is never taken over.
                name = hashing.identifier("memory", "import", author, name)
            memory = replace(memory, id=name, author=author, acl=acl)
        if not memory.id:
            memory = replace(memory, id=_named(memory))
        if line.memory.id:
            named[line.memory.id] = memory.id
        taken.append((line.number, memory))
    return {
        memory.id: replace(memory, supersedes=_renamed(number, memory, named, known))
        for number, memory in taken
    }


def _renamed(
    number: int, memory: Memory, named: dict[str, str], known: dict[str, Memory]
) -> str | None:
    older = memory.supersedes
    if older is None or older in named:
        return None if older is None else named[older]
    if older not in known:
        raise InputError(
            f"line {number}: it supersedes {older}, which is neither in this file nor in the store"
        )
    return older


def _same(imported: Memory, known: Memory) -> bool:
    """Tell whether a line says what is there already, whoever wrote it."""
    plain = ("content", "category", "importance", "created", "edited", "supersedes")
    return all(getattr(imported, name) == getattr(known, name) for name in plain)


def _named(memory: Memory) -> str:
    return memories.new(
        memory.content,
        category=memory.category,
        importance=memory.importance,
        created=memory.created,
        author=memory.author,
        acl=memory.acl,
        supersedes=memory.supersedes,
    ).id
