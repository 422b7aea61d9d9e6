"""The memories of an open store: add, correct, supersede, forget, export, import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from quire.core import chunking, hashing
from quire.core.protocols import View, Writer
from quire.core.types import Document, Filter, ImportResult, Memory, Viewer, Written
from quire.errors import InputError
from quire.memory import memories, memory_lines, vocabulary
from quire.memory.authoring import (
    Authoring,
    find_record,
    moment,
    put_documents,
    refuse_others,
    refuse_secrets,
    sign,
)
from quire.store.access import access_list

ALREADY_KNOWN = "this is remembered already"
TOLD = "memories_private"
"""The note that the owner was told who may read their memories."""
NOW_PRIVATE = (
    "only you can read this memory, unless you name others with `share`; {count} older ones can be "
    "read by whoever the access rules allow (export them, set `share` to [], and import them again "
    "to change that)"
)


class Memories:
    """The memories of an open store."""

    def __init__(self, authoring: Authoring) -> None:
        self._authoring = authoring
        self._project = authoring.project

    def add(
        self,
        content: str,
        *,
        category: str = memory_lines.DEFAULT_CATEGORY,
        importance: float = memory_lines.DEFAULT_IMPORTANCE,
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
        thousandths = memories.to_thousandths(importance)
        with self._authoring.transaction(viewer) as (writer, view):
            self._check_category(category)
            author, acl = sign(view.viewer, share, private=True)
            older = [] if supersedes is None else [_find_changeable(view, supersedes)]
            before = {old.id: old for old in older}
            for old in older:
                if share and acl != old.acl:
                    raise InputError(
                        f"memory {old.id} and the one that supersedes it have the same readers",
                        field="share",
                        value=share,
                        hint="leave out {share}",
                    )
                acl = old.acl
            memory = memories.make_memory(
                content,
                category=category,
                importance=thousandths,
                created=at,
                author=author,
                acl=acl,
                supersedes=older[0].id if older else None,
            )
            known = _read(view, [memory.id])
            if known:
                return Written(known[0], (ALREADY_KNOWN,))  # theirs: the author is in the id
            notes = self._tell_private(writer, view, author, share)
            if not older and (same := _find_same(view, memory)) is not None:
                return self._repeat(writer, same, thousandths, at, notes)
            after = memories.link_chains({**before, memory.id: memory})
            written = self._write(writer, memories.find_changed(before, after))
        embedded = self._authoring.embed_written(viewer, written)
        return Written(after[memory.id], (*notes, *embedded))

    def _repeat(
        self, writer: Writer, same: Memory, importance: int, at: int, notes: tuple[str, ...]
    ) -> Written[Memory]:
        """Strengthen a memory that is there; its text stays, and so do its chunks and vectors."""
        if same.repeated == at:  # the same call once more
            return Written(same, (ALREADY_KNOWN,))
        repeated = memories.repeat(same, importance, at)
        self._write(writer, [repeated])
        return Written(
            repeated, (*notes, f"this was remembered before: {repeated.count} times now")
        )

    def _tell_private(
        self, writer: Writer, view: View, author: str | None, share: Sequence[str]
    ) -> tuple[str, ...]:
        """Tell the owner once that memories from before are open to others, and new ones not."""
        project = self._project
        if author is not None or share or project.store.note(TOLD, project.config.space):
            return ()
        writer.set_note(TOLD, "1")
        where = Filter(kinds=(memories.KIND,))
        count = sum(item.author is None and item.acl is None for item in view.listing(where))
        return (NOW_PRIVATE.format(count=count),) if count else ()

    def get(self, memory_id: str, *, viewer: Viewer | str | None = None) -> Memory:
        """Return one memory by its id, or by an unambiguous beginning of it."""
        with self._project.view(viewer) as view:
            memory = _visible(view.viewer, _find(view, memory_id))
        self._project.audit.disclose(view.viewer, "memories", records=[memory.id])
        return memory

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
            raise InputError("nothing to edit", hint="set {content}, {category} or {importance}")
        refuse_secrets([("memory", content or "")], allow=allow_secret)
        with self._authoring.transaction(viewer) as (writer, view):
            if category is not None:
                self._check_category(category)
            old = _find_changeable(view, memory_id)
            edited = replace(
                old,
                content=old.content
                if content is None
                else chunking.require_text("memory", content),
                category=old.category if category is None else category,
                importance=old.importance
                if importance is None
                else memories.to_thousandths(importance),
                edited=max(at, old.created),
            )
            written = self._write(writer, [edited])
        return Written(edited, self._authoring.embed_written(viewer, written))

    def forget(self, memory_id: str, *, viewer: Viewer | str | None = None) -> Written[Memory]:
        """Delete a memory; an older one that only it superseded is current again."""
        with self._authoring.transaction(viewer) as (writer, view):
            forgotten = _find(view, memory_id)
            refuse_others(view.viewer, "memory", forgotten.id, forgotten.author)
            before = _read_chain(view, forgotten)
            after = memories.remove_from_chain(before, forgotten.id)
            changed = memories.find_changed(before, after)
            writer.remove([forgotten.id])
            written = self._write(writer, changed)
        current = [memory.id for memory in changed if memory.superseded_by is None]
        revived = [name for name in current if name in before and before[name].superseded_by]
        notes = tuple(f"memory {name} is current again" for name in revived)
        return Written(forgotten, (*notes, *self._authoring.embed_written(viewer, written)))

    def export(self, *, viewer: Viewer | str | None = None) -> list[Memory]:
        """Return all memories, superseded ones included, as `import_lines` takes them."""
        readable = self.list(history=True, viewer=viewer)
        ids = {memory.id for memory in readable}
        return [
            memory if memory.supersedes in ids else replace(memory, supersedes=None)
            for memory in readable
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
        lines = memory_lines.parse(text, at=at)
        refuse_secrets(
            ((f"memory in line {line.number}", line.memory.content) for line in lines),
            allow=allow_secret,
        )
        with self._authoring.transaction(viewer) as (writer, view):
            for line in lines:
                self._check_category(line.memory.category, line.number)
            before = {memory.id: memory for memory in _read_all(view)}
            _refuse_other_kinds(view, lines)
            imported = _adopt(view.viewer, lines, before, share)
            after = memories.link_chains({**before, **imported})
            changed = memories.find_changed(before, after)
            for memory in changed:
                if memory.id in before:
                    refuse_others(view.viewer, "memory", memory.id, before[memory.id].author)
            written = self._write(writer, changed)
        added = sum(memory.id not in before for memory in changed)
        edited = sum(memory.id in before and memory.id in imported for memory in changed)
        return ImportResult(
            added,
            edited,
            len(imported) - added - edited,
            (),
            self._authoring.embed_written(viewer, written),
        )

    def _check_category(self, category: str, line: int | None = None) -> None:
        names = vocabulary.extend_names(
            "categories", vocabulary.CATEGORIES, self._project.config.learn.categories
        )
        try:
            vocabulary.check_name("category", category, names, "categories")
        except InputError as error:
            if line is None:
                raise
            raise error.within(f"line {line}") from None

    def _write(self, writer: Writer, changed: Iterable[Memory]) -> list[Document]:
        written = [memories.to_document(memory, self._authoring.split) for memory in changed]
        put_documents(writer, written)
        return written

    # Last in the class: below it `list` would no longer mean the type.
    def list(
        self,
        *,
        category: str | None = None,
        history: bool = False,
        shared_only: bool = False,
        viewer: Viewer | str | None = None,
    ) -> list[Memory]:
        """List the current memories, oldest first; with `history` also the superseded ones.

        With `shared_only`, without those that other users keep for themselves.
        """
        with self._project.view(viewer) as view:
            if category is not None:
                self._check_category(category)
            readable = [
                _visible(view.viewer, memory) for memory in _read_all(view, shared_only=shared_only)
            ]
        listed = [
            memory
            for memory in memories.sort_by_age(readable)
            if (history or memory.superseded_by is None) and category in {None, memory.category}
        ]
        self._project.audit.disclose(
            view.viewer, "memories", records=[memory.id for memory in listed]
        )
        return listed


def _visible(viewer: Viewer, memory: Memory) -> Memory:
    """Return a memory as a viewer is shown it: of its readers only what concerns them."""
    return replace(memory, acl=viewer.shown(memory.acl, memory.author))


def _read(view: View, ids: Sequence[str]) -> list[Memory]:
    return [
        memories.from_record(record, view.chunks_of(record.id))
        for record in view.records(ids)
        if record.kind == memories.KIND
    ]


def _read_all(view: View, *, shared_only: bool = False) -> list[Memory]:
    return [
        memories.from_record(record, view.chunks_of(record.id))
        for record in view.listing(Filter(kinds=(memories.KIND,), shared_only=shared_only))
    ]


def _find_same(view: View, memory: Memory) -> Memory | None:
    """Return the oldest current memory with the same text, category, author and readers."""
    title = chunking.first_words(memory.content)
    alike = [
        memories.from_record(record, view.chunks_of(record.id))
        for record in view.listing(Filter(kinds=(memories.KIND,)))
        if (record.author, record.acl, record.title) == (memory.author, memory.acl, title)
    ]
    same = [each for each in alike if memories.is_repeated(each, memory.content, memory.category)]
    return next(iter(memories.sort_by_age(same)), None)


def _find(view: View, name: str) -> Memory:
    record = find_record(view, memories.KIND, name, "quire memory list --history")
    return memories.from_record(record, view.chunks_of(record.id))


def _find_changeable(view: View, name: str) -> Memory:
    memory = _find(view, name)
    refuse_others(view.viewer, "memory", memory.id, memory.author)
    if memory.superseded_by is not None:
        raise InputError(
            f"memory {memory.id} is superseded by {memory.superseded_by}",
            value=memory.id,
            hint="change that one instead",
        )
    return memory


def _read_chain(view: View, memory: Memory) -> dict[str, Memory]:
    """Read all memories that a memory supersedes or is superseded by, at any distance."""
    chain = {memory.id: memory}
    for direction in ("supersedes", "superseded_by"):
        name = getattr(memory, direction)
        while name is not None and name not in chain:
            neighbors = _read(view, [name])
            chain |= {neighbor.id: neighbor for neighbor in neighbors}
            name = getattr(neighbors[0], direction) if neighbors else None
    return chain


def _refuse_other_kinds(view: View, lines: Sequence[memory_lines.Line]) -> None:
    """Refuse an id of something else than a memory: it would be overwritten."""
    for line in lines:
        for record in view.records([line.memory.id]):
            if record.kind != memories.KIND:
                raise InputError(
                    f"{record.id} is the id of a {record.kind}",
                    field="id",
                    value=record.id,
                    place=f"line {line.number}",
                )


def _adopt(
    viewer: Viewer,
    lines: Sequence[memory_lines.Line],
    known: dict[str, Memory],
    share: Sequence[str],
) -> dict[str, Memory]:
    """Return imported memories with their ids, author and access, by id."""
    author, acl = sign(viewer, share, private=True)
    new_ids: dict[str, str] = {}
    imported: list[tuple[int, Memory]] = []
    for line in lines:
        memory = line.memory
        if viewer.owner:
            own = memory.acl if memory.acl is None else access_list(memory.acl)
            memory = replace(memory, acl=acl if share else own)
        elif memory.id in known and _is_same(memory, known[memory.id]):
            memory = known[memory.id]
        else:
            name = memory.id
            if name and (name not in known or known[name].author != author):
                # The id may be that of a memory which they cannot see: never overwrite it.
                name = hashing.identifier("memory", "import", author, name)
            memory = replace(memory, id=name, author=author, acl=acl)
        if not memory.id:
            memory = replace(memory, id=_make_id(memory))
        if line.memory.id:
            new_ids[line.memory.id] = memory.id
        imported.append((line.number, memory))
    return {
        memory.id: replace(memory, supersedes=_resolve_superseded(number, memory, new_ids, known))
        for number, memory in imported
    }


def _resolve_superseded(
    number: int, memory: Memory, new_ids: dict[str, str], known: dict[str, Memory]
) -> str | None:
    older = memory.supersedes
    if older is None or older in new_ids:
        return None if older is None else new_ids[older]
    if older not in known:
        raise InputError(
            f"{older} is neither in this file nor in the store",
            field="supersedes",
            value=older,
            place=f"line {number}",
        )
    return older


def _is_same(imported: Memory, known: Memory) -> bool:
    """Return whether an imported memory equals a known one, whoever wrote it."""
    fields = (
        "content", "category", "importance", "created", "edited", "supersedes", "count", "repeated",
    )  # fmt: skip
    return all(getattr(imported, name) == getattr(known, name) for name in fields)


def _make_id(memory: Memory) -> str:
    return memories.make_memory(
        memory.content,
        category=memory.category,
        importance=memory.importance,
        created=memory.created,
        author=memory.author,
        acl=memory.acl,
        supersedes=memory.supersedes,
    ).id
