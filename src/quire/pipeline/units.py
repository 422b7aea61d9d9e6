"""Units of code: the definition within a chunk that a query is about.

A chunk may hold several definitions, or a part of one. A reader wants the one that the query names,
or whose words it shares, under its own name and with its own first line. If the query names several
of them, or none stands out, the class or the module around them is shown by its declarations. What
stands in the chunk comes before what contains it and begins elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from textwrap import dedent, indent

from quire.core.comments import count_leading_comments
from quire.core.paths import without_path
from quire.core.signatures import ends_with_name, shorten_signature
from quire.core.types import DECLARED, WHOLE, Chunk, Entity, Outline, Unit
from quire.pipeline.preamble import find_docstring, without_preamble
from quire.rendering.code_item import below_declaration, declared_line, holds_declaration
from quire.rendering.left_out import left_out, margin_of
from quire.store.index import analyzer

MODULE = "module"
CONTAINERS = frozenset({"class", "interface", "type", MODULE})
CALLABLES = frozenset({"function", "method"})
DEFINITIONS = CONTAINERS | CALLABLES
MAX_MEMBERS = 40
"""How many declarations of a class or module are listed."""
BARE = 2
"""A class of which a chunk holds no more than so many lines is shown by its declarations."""
MARGIN = "    "
OVERLOAD = "overload"
"""Part of the decorator of a declaration that another definition implements."""

FEW = 2
"""Names are a few words among others of a query if they are less than this part, a half."""
QUALIFIED, EXACT, WORDS = 3, 2, 1
"""How a query names a definition: by its qualified name, by its name, or by the words in it."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_PLAIN = re.compile(r"(?<![\w.`])[^\W\d]\w*+(?!\(|`|\.\w)")
"""A word of a sentence: neither a part of a dotted name, nor called, nor marked as code."""
_MARKED = re.compile(r"_|[^\W_A-Z][A-Z]")
"""A name that is no word: with an underscore, or a capital letter inside."""
_DOTTED = re.compile(r"(?<!\w)[^\W\d]\w*+(?:\.[^\W\d]\w*+)+")


def find_unit(outline: Outline, chunk: Chunk, query: str) -> Unit:
    """Return the unit of a chunk of code that a query is about.

    What holds hardly more than a part of a function is that: its parts stand together on a page.
    """
    source = _Source(outline, chunk)
    unit = _find_unit(source, query)
    if unit.entity.kind in CALLABLES and not unit.others:
        return unit
    part = source.part_of_function()
    return unit if part is None else source.unit(part)


def _find_unit(source: _Source, query: str) -> Unit:
    chunk = source.chunk
    question = without_path(query, chunk.path)
    members = source.without_outer(_named(source.definitions, question))
    if not members or _is_in_passing(members, question):
        likely = _by_words(source, question)
        if not any(member is likely for member in members):
            return source.guess(likely)
    if len({member.qualified for member in members}) == 1:
        return source.unit(_without_overloads(members)[0])
    return source.several(members)


class _Source:
    """A chunk and the definitions that it holds, all or in part."""

    def __init__(self, outline: Outline, chunk: Chunk) -> None:
        self.outline, self.chunk = outline, chunk
        self.definitions = [
            entity
            for entity in outline.entities[1:]
            if entity.kind in DEFINITIONS and entity.start < chunk.end and entity.end > chunk.start
        ]
        self.language = str(outline.entities[WHOLE].attrs.get("language", ""))
        self._bytes = chunk.text.encode()

    def without_outer(self, members: Sequence[Entity]) -> list[Entity]:
        """Leave out what begins elsewhere and contains a definition of this chunk."""
        return [
            member
            for member in members
            if member.start >= self.chunk.start
            or not any(_contains(member, other) for other in self.definitions)
        ]

    def guess(self, entity: Entity) -> Unit:
        """Return a unit that is shown with the lines around it, which the query may be about."""
        chunk, unit = self.chunk, self.unit(entity)
        text, first = without_preamble(chunk)
        if not text and (docstring := find_docstring(chunk)) is not None:
            # Imports say nothing of a module; what it says of itself does.
            text, first = docstring
            lines = (first, first + text.count("\n")) if first else (0, 0)
            return replace(unit, source=text, lines=lines, line=first)
        text = (text or chunk.text).strip("\n")
        if unit.outline and entity.parent is not None and text.count("\n") < BARE:
            return unit  # its declaration alone says little
        around = self.outline.innermost(chunk.start, chunk.end)
        start = chunk.end - len(text.encode())
        inside = [e for e in self.definitions if e.start >= chunk.start and e.end > start]
        if not all(e is around or _contains(around, e) for e in inside):
            around = self.around(inside)  # lines of one are not shown under the name of another
        others = _without_overloads([e for e in self._children(around) if e.end > start])
        if not others and (
            around.kind in CALLABLES or (around is entity and self._goes_on(entity))
        ):
            return unit
        if others == [entity] and self.text(entity).strip() == dedent(text).strip():
            return unit
        lines = (first, first + text.count("\n")) if first else (0, 0)
        source = self._with_end(dedent(text), around if not others else others[-1])
        if others and around.parent is not None and chunk.start <= around.start < chunk.end:
            others = [around]  # whose declaration stands above those of its members
        if others and around.parent is None and not self._is_mostly(text, others):
            unit, others = self._module(around, ()), []
        if not others and around.parent is None:
            unit = replace(unit, line=first)
        return replace(unit, source=source, lines=lines, others=tuple(map(self.filled, others)))

    def part_of_function(self) -> Entity | None:
        """Return the function of which the chunk holds a part and hardly anything else."""
        for entity in self.definitions:
            start, end = entity.start - self.chunk.start, entity.end - self.chunk.start
            if entity.kind not in CALLABLES or (start >= 0 and end <= len(self._bytes)):
                continue
            around = self._bytes[: max(0, start)] + b"\n" + self._bytes[end:]
            if sum(bool(line.strip()) for line in around.split(b"\n")) <= BARE:
                return entity
        return None

    def _is_mostly(self, text: str, entities: Sequence[Entity]) -> bool:
        """Tell whether at least half of the lines of a text are those of some definitions."""
        own = sum(_count_lines(self.text(entity)) for entity in entities)
        return 2 * own >= _count_lines(text)

    def several(self, members: Sequence[Entity]) -> Unit:
        """Return the unit of several definitions: what contains them, shown by their lines."""
        unit = self.unit(self.around(members), members)
        parts: list[str] = []
        end = 0
        for member in _without_overloads(members):
            start = member.start - self.chunk.start
            between = self._bytes[end:start].strip() if parts else b""
            if between:
                parts.append(left_out(self.language, between.count(b"\n") + 1))
            parts.append(self.unit(member).source)
            end = member.end - self.chunk.start
        first, last = self.chunk.lines
        lines = (
            (max(first, members[0].lines[0]), min(last, members[-1].lines[1])) if first else (0, 0)
        )
        return replace(
            unit,
            source="\n\n".join(parts),
            lines=lines,
            others=tuple(members),
        )

    def around(self, entities: Sequence[Entity]) -> Entity:
        """Return the innermost entity that contains all of some others."""
        start, end = min(e.start for e in entities), max(e.end for e in entities)
        best = self.outline.entities[WHOLE]
        for entity in self.definitions:
            if entity.kind in CONTAINERS and entity.start <= start and end <= entity.end:
                best = entity
        return best

    def filled(self, entity: Entity) -> Entity:
        """Return what a group is there for: the one type that a module holds, or itself."""
        while entity.kind == MODULE:
            members = [
                member for member in self.outline.entities[1:] if self._is_in(member, entity)
            ]
            if len(members) != 1 or members[0].kind not in CONTAINERS:
                break
            (entity,) = members
        return entity

    def leaves(self) -> list[Entity]:
        """Return the definitions that hold no other one of this chunk, each once.

        What a function defines for itself is a part of it, where the chunk holds all of it.
        """
        parents = {id(self.outline.entities[e.parent]) for e in self.definitions if e.parent}
        inner = (entity for entity in self.definitions if id(entity) not in parents)
        return list({id(leaf): leaf for leaf in map(self.whole_function, inner)}.values())

    def whole_function(self, entity: Entity) -> Entity:
        """Return the outermost function around a definition of which the chunk holds everything."""
        whole = entity
        while entity.parent is not None:
            entity = self.outline.entities[entity.parent]
            if entity.start < self.chunk.start or entity.end > self.chunk.end:
                break
            whole = entity if entity.kind in CALLABLES else whole
        return whole

    def text(self, entity: Entity) -> str:
        """Return the part of an entity that the chunk holds, from the beginning of its line."""
        start = max(0, entity.start - self.chunk.start)
        line = self._bytes.rfind(b"\n", 0, start) + 1
        start = line if not self._bytes[line:start].strip() else start
        end = max(start, entity.end - self.chunk.start)
        return dedent(self._bytes[start:end].decode(errors="ignore")).strip("\n")

    def unit(self, entity: Entity, shown: Collection[Entity] = ()) -> Unit:
        """Return a unit with its texts; members in `shown` are shown whole in its outline."""
        if entity is self.outline.entities[WHOLE]:
            return self._module(entity, shown)
        chunk, outlined, lines = self.chunk, "", (0, 0)
        begins = holds_declaration(chunk, entity) or chunk.start <= entity.start < chunk.end
        text = source = self._with_end(self.text(entity), entity)
        if not begins:
            lines = (chunk.lines[0], min(chunk.lines[1], entity.lines[1]))
            text = below_declaration(text, entity, self.language, chunk.lines[0])
            source = text if entity.kind in CALLABLES or self._goes_on(entity) else source
        if entity.kind in CONTAINERS and (members := self._members(entity, shown)):
            outlined = self._outlined(entity, members, shown)
            text = text if begins and entity.end <= chunk.end else outlined
            if begins and len(source.split("\n")) <= BARE:
                source = text  # its declaration alone says little
        return Unit(entity, self._line(entity), text, outlined, source, lines)

    def _goes_on(self, entity: Entity) -> bool:
        """Tell whether the chunk holds lines of a class alone, and neither it nor a member begins.

        They are a part of its docstring, or fields: without its declaration nobody reads whose.
        """
        chunk = self.chunk
        if entity.kind not in CONTAINERS or not entity.signature:
            return False
        begin = [each for each in self.definitions if each.start >= chunk.start]
        return not begin and not holds_declaration(chunk, entity)

    def _module(self, entity: Entity, shown: Collection[Entity]) -> Unit:
        outlined = ""
        text, line = without_preamble(self.chunk)
        source = text or self.chunk.text.strip("\n")
        members = self._members(entity, shown)
        if members and (self.definitions or not text):
            outlined = text = self._outlined(entity, members, shown)
            first = min((e for e in self.definitions), key=lambda e: e.start, default=None)
            line = self._line(first) if first is not None else members[0].lines[0]
        return Unit(entity, line, text or source, outlined, source)

    def _with_end(self, text: str, entity: Entity) -> str:
        """Return a text with a mark at its end, if the definition goes on in the next chunk."""
        left = entity.lines[1] - self.chunk.lines[1]
        if entity.end <= self.chunk.end or left <= 0:
            return text
        begins = self.chunk.start <= entity.start
        if entity.signature and begins and declared_line(entity) > self.chunk.lines[1] > 0:
            # The chunk holds nothing but the comment above it, or the beginning of that.
            above = declared_line(entity) - self.chunk.lines[1]
            left -= above
            if above > 1:
                margin = margin_of(text.rpartition("\n")[2]) or " "
                text = f"{text}\n{left_out(self.language, above - 1, margin)}"
            text = f"{text}\n{shorten_signature(entity.signature)}"
            return f"{text}\n{left_out(self.language, left, MARGIN)}" if left > 0 else text
        if entity.kind not in CALLABLES:
            return text
        last = text.rstrip().rpartition("\n")[2]
        # Below a declaration of several lines, whose last one has no margin, stands the body.
        return f"{text}\n{left_out(self.language, left, margin_of(last) or MARGIN)}"

    def _children(self, entity: Entity) -> list[Entity]:
        """Return the definitions of the chunk that are members of an entity, in their order."""
        return [each for each in self.definitions if self._is_in(each, entity)]

    def _is_in(self, member: Entity, entity: Entity) -> bool:
        entities = self.outline.entities
        return member.parent is not None and entities[member.parent] is entity

    def _line(self, entity: Entity) -> int:
        """Return the line of a definition itself, without the comments above it."""
        chunk = self.chunk
        is_known = DECLARED in entity.attrs
        if is_known or not chunk.lines[0] or not chunk.start <= entity.start < chunk.end:
            return declared_line(entity)
        return entity.lines[0] + count_leading_comments(self.text(entity))

    def _members(self, entity: Entity, shown: Collection[Entity]) -> list[Entity]:
        """Return the members of a class or module, those to show and of the chunk first."""
        entities = self.outline.entities
        members = [
            other
            for other in entities[1:]
            if other.kind in DEFINITIONS and self._is_in(other, entity)
        ]
        members = _without_overloads(members)
        here = {id(other) for other in self.definitions}
        first = {id(other) for other in shown}
        members.sort(key=lambda other: (id(other) not in first, id(other) not in here))
        return members[:MAX_MEMBERS]

    def _outlined(
        self, entity: Entity, members: Sequence[Entity], shown: Collection[Entity]
    ) -> str:
        """Return the declaration of a class or module and those of its members."""
        whole = {id(other) for other in shown}
        margin = MARGIN if entity.signature else ""
        lines = [shorten_signature(entity.signature)] if entity.signature else []
        for member in members:
            declared = shorten_signature(member.signature) or member.name
            lines.append(indent(self.text(member) if id(member) in whole else declared, margin))
        return "\n".join(dict.fromkeys(lines))


# --- which definition ----------------------------------------------------------------------------


def _named(definitions: Sequence[Entity], query: str) -> list[Entity]:
    """Return the definitions that a query names best; a member before what contains it."""
    names = set(_IDENTIFIER.findall(query))
    dotted = _DOTTED.findall(query)
    own = {entity.name for entity in definitions}
    words = set(analyzer.tokenize(" ".join(sorted(names - own)))) - analyzer.STOPS
    ranks = {id(entity): _rank(entity, names, dotted, words) for entity in definitions}
    named = [entity for entity in definitions if ranks[id(entity)]]
    if not named:
        return []
    inner = _innermost(named)
    best = max(ranks[id(entity)] for entity in inner)
    return [entity for entity in inner if ranks[id(entity)] == best]


def _is_in_passing(members: Sequence[Entity], query: str) -> bool:
    """Tell whether a sentence has the names of definitions as words among many others.

    "Why does unread data stop a connection from being used again" need not be about `data`.
    """
    words = set(_PLAIN.findall(query))
    marked = set(_IDENTIFIER.findall(query)) - words
    names = {member.name for member in members}
    if not marked.isdisjoint(names) or any(map(_MARKED.search, names)):
        return False
    if words.isdisjoint(analyzer.STOP_WORDS):
        return False  # no sentence: keywords, which are all meant
    asked = set(analyzer.content_words(query))
    return FEW * len(asked.intersection(analyzer.tokenize(" ".join(names)))) < len(asked)


def _rank(entity: Entity, names: set[str], dotted: Sequence[str], words: set[str]) -> int:
    qualified = entity.qualified
    if "." in qualified and any(ends_with_name(name, qualified) for name in dotted):
        return QUALIFIED
    if entity.name in names:
        return EXACT
    forms = analyzer.tokenize(entity.name)
    parts = set(forms[1:] or forms)
    return WORDS if parts and parts <= words else 0


def _innermost(entities: Sequence[Entity]) -> list[Entity]:
    """Return the entities that contain none of the others, in their order."""
    order = sorted(range(len(entities)), key=lambda at: (entities[at].start, -entities[at].end))
    inner: list[int] = []
    first_end: int | None = None  # of those that begin later
    for at in reversed(order):
        end = entities[at].end
        if first_end is None or end < first_end:
            inner.append(at)
        first_end = end if first_end is None else min(first_end, end)
    return [entities[at] for at in sorted(inner)]


def _contains(entity: Entity, other: Entity) -> bool:
    return entity is not other and entity.start <= other.start and other.end <= entity.end


def _without_overloads(members: Sequence[Entity]) -> list[Entity]:
    """Leave out the declarations that one of the other definitions implements."""
    implemented = {member.qualified for member in members if not is_overload(member)}
    return [
        member
        for member in members
        if member.qualified not in implemented or not is_overload(member)
    ]


def is_overload(entity: Entity) -> bool:
    """Tell whether a declaration is one that another definition implements."""
    return any(OVERLOAD in name for name in entity.decorators)


def _by_words(source: _Source, query: str) -> Entity:
    """Return the definition that shares most words with a query, or what contains them all.

    A word counts less if several definitions hold it.
    """
    chunk = source.chunk
    around = source.outline.innermost(chunk.start, chunk.end)
    leaves = [leaf for leaf in source.leaves() if leaf is around or around.start <= leaf.start]
    if not leaves or around in leaves:
        return around
    words = set(analyzer.tokenize(query)) - analyzer.STOPS
    texts = [f"{leaf.qualified}\n{source.text(leaf)}".lower() for leaf in leaves]
    scores = [0] * len(leaves)
    for word in words:
        holding = [at for at, text in enumerate(texts) if word in text]
        for at in holding:
            scores[at] += 1000 // len(holding)
    best = max(range(len(leaves)), key=lambda at: scores[at])
    return leaves[best] if scores[best] and scores.count(scores[best]) == 1 else around


def _count_lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.split("\n"))
