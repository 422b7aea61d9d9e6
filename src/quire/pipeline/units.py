"""Units of code: the definition within a chunk that a query is about.

A chunk may hold several definitions, or a part of one. A reader wants the one that the query names,
or whose words it shares, under its own name and with its own first line. If the query names several
of them, or none stands out, the class or the module around them is shown by its declarations.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from textwrap import dedent, indent

from quire.core.types import WHOLE, Chunk, Entity, Outline, Unit
from quire.store.index import analyzer

CONTAINERS = frozenset({"class", "interface", "type", "module"})
DEFINITIONS = CONTAINERS | {"function", "method"}
MAX_MEMBERS = 40
"""How many declarations of a class or module are listed."""
GAP = "..."
OVERLOAD = "overload"
"""Part of the decorator of a declaration that another definition implements."""

QUALIFIED, EXACT, WORDS = 3, 2, 1
"""How a query names a definition: by its qualified name, by its name, or by the words in it."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_DOTTED = re.compile(r"(?<!\w)[^\W\d]\w*+(?:\.[^\W\d]\w*+)+")
_COMMENT = re.compile(r"\s*(?:#(?!\[|define)|//|/\*|\*|--|;;)")
_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|#\s*include\b|use\s|using\s|package\s|require\b"
    r"|(?:const|let|var)\s.*=\s*require\(|if\s+(?:\w+\.)?TYPE_CHECKING\s*:|__future__)"
)
_DOCSTRING = re.compile(r"\s*[rRuU]?(\"\"\"|''').*?\1[ \t]*;?", re.DOTALL)
_OPEN, _CLOSE = re.compile(r"[(\[{]"), re.compile(r"[)\]}]")


def find_unit(outline: Outline, chunk: Chunk, query: str) -> Unit:
    """Return the unit of a chunk of code that a query is about."""
    source = _Source(outline, chunk)
    members = _named(source.definitions, query.replace(chunk.path, " "))
    if not members:
        best = _by_words(source, query)
        return source.unit(best)
    if len({member.qualified for member in members}) == 1:
        return source.unit(_without_overloads(members)[0])
    return source.unit(source.around(members), members)


class _Source:
    """A chunk and the definitions that it holds, all or in part."""

    def __init__(self, outline: Outline, chunk: Chunk) -> None:
        self.outline, self.chunk = outline, chunk
        self.definitions = [
            entity
            for entity in outline.entities[1:]
            if entity.kind in DEFINITIONS and entity.start < chunk.end and entity.end > chunk.start
        ]
        self._bytes = chunk.text.encode()

    def around(self, entities: Sequence[Entity]) -> Entity:
        """Return the innermost entity that contains all of some others."""
        start, end = min(e.start for e in entities), max(e.end for e in entities)
        best = self.outline.entities[WHOLE]
        for entity in self.definitions:
            if entity.kind in CONTAINERS and entity.start <= start and end <= entity.end:
                best = entity
        return best

    def leaves(self) -> list[Entity]:
        """Return the definitions that hold no other one of this chunk."""
        parents = {id(self.outline.entities[e.parent]) for e in self.definitions if e.parent}
        return [entity for entity in self.definitions if id(entity) not in parents]

    def text(self, entity: Entity) -> str:
        """Return the part of an entity that the chunk holds, from the beginning of its line."""
        start = max(0, entity.start - self.chunk.start)
        line = self._bytes.rfind(b"\n", 0, start) + 1
        start = line if not self._bytes[line:start].strip() else start
        end = max(start, entity.end - self.chunk.start)
        return dedent(self._bytes[start:end].decode(errors="ignore")).strip("\n")

    def unit(self, entity: Entity, shown: Collection[Entity] = ()) -> Unit:
        """Return a unit with its texts; members in `shown` are shown whole in its outline."""
        chunk, outlined = self.chunk, ""
        begins = chunk.start <= entity.start < chunk.end
        complete = begins and entity.end <= chunk.end
        if entity is self.outline.entities[WHOLE]:
            text, line = _without_preamble(chunk)
            members = self._members(entity, shown)
            if members and (self.definitions or not text):
                outlined = self._outlined(entity, members, shown)
                first = min((e for e in self.definitions), key=lambda e: e.start, default=None)
                line = self._line(first) if first is not None else members[0].lines[0]
                text = outlined
            return Unit(entity, line, text or chunk.text.strip("\n"), outlined)
        text = self.text(entity)
        if not begins:
            text = f"{entity.signature}\n{indent(GAP, '    ')}\n{indent(text, '    ')}"
        if entity.kind in CONTAINERS and (members := self._members(entity, shown)):
            outlined = self._outlined(entity, members, shown)
            text = text if complete else outlined
        return Unit(entity, self._line(entity), text, outlined)

    def _line(self, entity: Entity) -> int:
        """Return the line of a definition itself, without the comments above it."""
        chunk = self.chunk
        if not chunk.lines[0] or not chunk.start <= entity.start < chunk.end:
            return entity.lines[0]
        for number, line in enumerate(self.text(entity).split("\n")):
            if line.strip() and not _COMMENT.match(line):
                return entity.lines[0] + number
        return entity.lines[0]

    def _members(self, entity: Entity, shown: Collection[Entity]) -> list[Entity]:
        """Return the members of a class or module, those to show and of the chunk first."""
        entities = self.outline.entities
        members = [
            other
            for other in entities[1:]
            if other.kind in DEFINITIONS
            and other.parent is not None
            and entities[other.parent] is entity
        ]
        here = {id(other) for other in self.definitions}
        first = {id(other) for other in shown}
        members.sort(key=lambda other: (id(other) not in first, id(other) not in here))
        return members[:MAX_MEMBERS]

    def _outlined(
        self, entity: Entity, members: Sequence[Entity], shown: Collection[Entity]
    ) -> str:
        """Return the declaration of a class or module and those of its members."""
        whole = {id(other) for other in shown}
        margin = "    " if entity.signature else ""
        lines = [entity.signature] if entity.signature else []
        for member in members:
            text = self.text(member) if id(member) in whole else member.signature or member.name
            lines.append(indent(text, margin))
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
    inner = [
        entity
        for entity in named
        if not any(_contains(entity, other) and ranks[id(other)] for other in named)
    ]
    best = max(ranks[id(entity)] for entity in inner)
    return [entity for entity in inner if ranks[id(entity)] == best]


def _rank(entity: Entity, names: set[str], dotted: Sequence[str], words: set[str]) -> int:
    qualified = entity.qualified
    if "." in qualified and any(f".{name}".endswith(f".{qualified}") for name in dotted):
        return QUALIFIED
    if entity.name in names:
        return EXACT
    forms = analyzer.tokenize(entity.name)
    parts = set(forms[1:] or forms)
    return WORDS if parts and parts <= words else 0


def _contains(entity: Entity, other: Entity) -> bool:
    return entity is not other and entity.start <= other.start and other.end <= entity.end


def _without_overloads(members: Sequence[Entity]) -> list[Entity]:
    implemented = [
        member for member in members if not any(OVERLOAD in name for name in member.decorators)
    ]
    return implemented or list(members)


def _by_words(source: _Source, query: str) -> Entity:
    """Return the definition that shares most words with a query, or what contains them all.

    A word counts less if several definitions hold it.
    """
    chunk = source.chunk
    around = source.outline.innermost(chunk.start, chunk.end)
    leaves = [leaf for leaf in source.leaves() if leaf is around or around.start <= leaf.start]
    if not leaves or around in leaves:
        return around
    words = set(analyzer.tokenize(query.replace(chunk.path, " "))) - analyzer.STOPS
    texts = [f"{leaf.qualified}\n{source.text(leaf)}".lower() for leaf in leaves]
    scores = [0] * len(leaves)
    for word in words:
        holding = [at for at, text in enumerate(texts) if word in text]
        for at in holding:
            scores[at] += 1000 // len(holding)
    best = max(range(len(leaves)), key=lambda at: scores[at])
    return leaves[best] if scores[best] and scores.count(scores[best]) == 1 else around


# --- what precedes the definitions of a file -----------------------------------------------------


def _without_preamble(chunk: Chunk) -> tuple[str, int]:
    """Return a chunk's text without licence, docstring and imports at its top, and its line."""
    text, at = chunk.text, 0
    if chunk.start == 0 and (doc := _DOCSTRING.match(_blank_comments(text))):
        at = doc.end()
    lines = text[at:].split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        if line.strip() and not _COMMENT.match(line) and not _IMPORT.match(line):
            break
        depth = _depth(line) if _IMPORT.match(line) else 0
        while depth > 0 and number + 1 < len(lines):
            number += 1
            depth += _depth(lines[number])
        number += 1
    rest = "\n".join(lines[number:]).strip("\n")
    first = chunk.lines[0] + text.count("\n", 0, at) + number if chunk.lines[0] else 0
    return rest, first if rest else chunk.lines[0]


def _blank_comments(text: str) -> str:
    """Replace comments at the top of a text by blanks, so that offsets stay."""
    position = 0
    for line in text.split("\n"):
        if line.strip() and not _COMMENT.match(line):
            break
        position += len(line) + 1
    return re.sub(r"[^\n]", " ", text[:position]) + text[position:]


def _depth(line: str) -> int:
    return len(_OPEN.findall(line)) - len(_CLOSE.findall(line))
