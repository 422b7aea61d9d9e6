"""The text of an item of code on a page: the lines of a definition, or its declaration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import indent

from quire.core.signatures import shorten_signature
from quire.core.types import DECLARED, Candidate, Chunk, Entity, RenderSpec
from quire.rendering.cut_code import find_declaration, mark_cut, shorten_comment, whole_lines
from quire.rendering.entity_text import capped, entity_of, first_line, truncate
from quire.rendering.escape import code_span, escape_line, escape_place
from quire.rendering.left_out import comment, continued, is_left_out, left_out, margin_of

MAX_NAMES = 4
"""So many definitions of an item are named, the others counted."""
CALLABLES = ("function", "method")
TYPES = ("class", "interface", "type")
MARGIN = "    "
MAX_SIGNATURE = 400
"""A part of a definition is shown below at most so many characters of its declaration."""
PYTHON = "python"
_TYPE = re.compile(
    r"(?<![\w.])(?:class|struct|enum|union|trait|impl|interface|protocol|record|object|extension"
    r"|actor|module|namespace|mod)(?![\w.])"
)
"""What a language calls a type: its declaration says it."""
_SPELLED = {"mod": "Module"}
_PROPERTY = re.compile(r"\bproperty\b|cached_property\b|\.(?:setter|getter|deleter)\b")
_BLANK_LINE = re.compile(r"(?<=\S)[ \t]*\n[ \t]*\n")
_ANNOTATION = re.compile(r"\s*+(?:@|#?\[)")
_CLOSING = re.compile(r"[)\]}]")
_DOCSTRING = re.compile(r"\s*[rRuU]?(\"\"\"|''').*?\1[ \t]*", re.DOTALL)


def code_kind(entity: Entity) -> str:
    """Return what a definition is called, as its own declaration has it.

    A property is none of the methods that are called, an `impl` of Rust and a `struct` no class.
    """
    if any(_PROPERTY.search(name) for name in entity.decorators):
        return "Property"
    if entity.kind in TYPES:
        declared = entity.signature.partition("(")[0].partition("{")[0]
        named = re.search(rf"(?<!\w){re.escape(entity.name)}(?!\w)", declared)
        if named is not None:  # behind the name, Go says `struct`; the rest may speak of anything
            behind = _TYPE.match(declared[named.end() :].lstrip())
            declared = f"{declared[: named.start()]}{behind[0] if behind else ''}"
        words = (word[0] for word in _TYPE.finditer(declared) if word[0] != entity.name)
        # What has no such word is an object of a class without a name.
        word = next(words, "field" if entity.kind == "class" else entity.kind)
        return _SPELLED.get(word, word.capitalize())
    return entity.kind.capitalize()


def code_label(candidate: Candidate, spec: RenderSpec, *, cut: bool = False) -> str:
    """Return what the lines of an item of code are: the names of definitions, and their place.

    The lines are named where they are not those of one whole definition; if they are cut, the first
    of them.
    """
    unit, entity = candidate.unit, entity_of(candidate)
    place = code_span(code_place(candidate, spec))
    if unit is None or not _has_lines(candidate, spec):
        return f"**{code_kind(entity)}** {_named(entity)} in {place}"
    by_name: dict[str, Entity] = {}
    for each in unit.others or (entity,):
        by_name.setdefault(each.qualified, each)  # a type, before what is implemented for it
    shown = list(by_name.values())
    kinds = list(dict.fromkeys(map(code_kind, shown)))
    kind = kinds[0] if len(kinds) == 1 else "Definition"
    names = ", ".join(map(_named, shown[:MAX_NAMES]))
    more = f" and {len(shown) - MAX_NAMES} more" if shown[MAX_NAMES:] else ""
    first, last = unit.lines
    lines = f"line {first}" if first == last else f"lines {first}–{last}"  # noqa: RUF001 - a range
    lines = f"from line {first}" if cut else lines
    label = f"**{_plural(kind) if len(shown) > 1 else kind}** {names}{more}"
    return f"{label} ({lines}) in {place}" if first else f"{label} in {place}"


def code_place(candidate: Candidate, spec: RenderSpec) -> str:
    """Return the path of an item of code and its line, escaped.

    That of one definition is the line of its declaration, that of several the first that is shown.
    """
    unit, line = candidate.unit, first_line(candidate)
    if unit is not None and unit.others and _has_lines(candidate, spec):
        (one, *more) = unit.others
        line = unit.lines[0] if more else declared_line(one)
    return f"{escape_place(candidate.chunk.path, 0)}:{line}"


def code_lines(candidate: Candidate) -> tuple[int, int]:
    """Return the first and the last line of the definitions that an item of code shows."""
    entity, unit = entity_of(candidate), candidate.unit
    if unit is not None and unit.lines[0] and (unit.others or entity.parent is None):
        return unit.lines
    is_part = candidate.entity is not None and entity.parent is not None
    return first_line(candidate), entity.lines[1] if is_part else candidate.chunk.lines[1]


def _has_lines(candidate: Candidate, spec: RenderSpec) -> bool:
    """Tell whether an item shows other lines than those of one whole definition."""
    unit = candidate.unit
    return unit is not None and spec.content and bool(unit.lines[0] or unit.others)


def _named(entity: Entity) -> str:
    return code_span(escape_line(entity.qualified))


def _plural(kind: str) -> str:
    if kind.endswith("y"):
        return f"{kind[:-1]}ies"
    return f"{kind}es" if kind.endswith("s") else f"{kind}s"


def code_text(candidate: Candidate, spec: RenderSpec) -> str:
    """Return the lines of a unit of code, or its declaration and docstring."""
    unit, entity = candidate.unit, entity_of(candidate)
    if unit is None:
        return capped(candidate.chunk.text, spec.cap)
    language = candidate.language
    if spec.content:
        return cut_code(unit.source or unit.text, spec.cap, candidate)
    if entity.parent is None:
        return cut_code(unit.outline or unit.text, spec.cap, candidate)
    if unit.outline:
        members = unit.outline.partition("\n")[2]
        declared = declared_lines(unit.text, entity, language, marked=False)
        return f"{declared}\n{members}"
    return declared_lines(unit.text, entity, language) or cut_code(unit.text, spec.cap, candidate)


def is_part(candidate: Candidate) -> bool:
    """Tell whether a candidate shows lines of one function that its chunk does not hold whole."""
    unit, chunk = candidate.unit, candidate.chunk
    if unit is None or unit.others or unit.entity.kind not in CALLABLES:
        return False
    return unit.entity.start < chunk.start or unit.entity.end > chunk.end


def shown_entity(candidate: Candidate) -> Entity:
    """Return the definition whose declaration leads what an item of code shows.

    A class that is shown whole is no method of it, though one of them was found.
    """
    unit = candidate.unit
    if unit is not None and len(unit.others) == 1:
        return unit.others[0]
    return entity_of(candidate)


def declared_line(entity: Entity) -> int:
    """Return the line of a definition below the comments that stand above it."""
    return int(entity.attrs.get(DECLARED, entity.lines[0]))


def holds_declaration(chunk: Chunk, entity: Entity) -> bool:
    """Tell whether a chunk holds the declaration of a definition, if not all comments above it.

    It may begin below the annotations, which are the first lines of a declaration.
    """
    first, last = chunk.lines
    line = declared_line(entity)
    if not first or line > last or first <= line:
        return bool(first) and line <= last
    if not entity.decorators or entity.start >= chunk.start:
        return False
    begin, end = find_declaration(chunk.text, entity.signature)
    above = chunk.text[:begin].split("\n")
    return end > 0 and all(_ANNOTATION.match(each) for each in above if each.strip())


def below_declaration(text: str, entity: Entity, language: str, line: int) -> str:
    """Return a part of a definition, from a line on, below its declaration or below its name."""
    signature = shorten_signature(entity.signature, MAX_SIGNATURE)
    if not signature or signature.endswith("…"):
        named = f"{entity.qualified} {continued(line, text if language == PYTHON else '')}"
        return f"{comment(language, named)}\n{text}"
    end = ":" if language == PYTHON else ""
    mark = comment(language, continued(line, text if language == PYTHON else ""))
    return f"{signature}{end}\n{indent(f'{mark}{chr(10)}{text}', MARGIN)}"


def joined_parts(candidates: Sequence[Candidate]) -> str:
    """Return the lines of one function that several chunks hold, its declaration first, once.

    A mark stands where lines between them, or behind them, are left out.
    """
    entity, language = entity_of(candidates[0]), candidates[0].language
    texts: list[str] = []
    marks: list[str] = []
    end = -1
    for chunk in (candidate.chunk for candidate in candidates):
        if chunk.start == end:
            texts[-1] += _within(entity, chunk)
        else:
            texts.append(_within(entity, chunk))
            marks.append(continued(chunk.lines[0]))
        end = chunk.end
    margin = _common_margin(texts)
    parts = [
        "\n".join(line.removeprefix(margin) for line in text.strip("\n").split("\n"))
        for text in texts
    ]
    body = parts[0]
    for mark, part in zip(marks[1:], parts[1:], strict=True):
        body += f"\n{comment(language, mark, margin_of(part))}\n{part}"
    last = candidates[-1].chunk
    left = entity.lines[1] - last.lines[1]
    if entity.end > last.end and left > 0:
        inner = margin_of(body.rpartition("\n")[2]) or MARGIN
        body += f"\n{left_out(language, left, inner)}"
    first = candidates[0].chunk
    if first.start > entity.start and not holds_declaration(first, entity):
        return below_declaration(body, entity, language, first.lines[0])
    return body


def _common_margin(texts: Sequence[str]) -> str:
    """Return the blanks before the lines of the parts of a function; the first may be deep.

    Lines of a literal text may stand further left. They keep their place.
    """
    first = margin_of(texts[0])
    lines = [line for text in texts for line in text.split("\n") if line.strip()]
    margins = (margin_of(line) for line in lines if line[0] in " \t" or _CLOSING.match(line))
    return min((each for each in margins if first.startswith(each)), key=len, default=first)


def join_cut_parts(texts: Sequence[str], candidates: Sequence[Candidate]) -> str:
    """Return the texts of parts of one function, some of them cut, below one declaration."""
    entity, language = entity_of(candidates[0]), candidates[0].language
    declaration = below_declaration("", entity, language, 0).split("\n")[0]
    outer = margin_of(_within(entity, candidates[0].chunk))
    margin = "" if holds_declaration(candidates[0].chunk, entity) else MARGIN
    lines: list[str] = []
    for text, candidate in zip(texts, candidates, strict=True):
        part = text.split("\n")
        if lines:
            if part[0] == declaration:
                part = _without_declaration(part, candidate.chunk, outer, margin)
            # What is left out before this part, its own mark says.
            lines = lines[:-1] if is_left_out(lines[-1]) else lines
            if lines[-1:] == [declaration] and holds_declaration(candidate.chunk, entity):
                lines.pop()  # it stood for this part, below the comment
        lines += part
    return "\n".join(lines)


def _without_declaration(part: Sequence[str], chunk: Chunk, outer: str, margin: str) -> list[str]:
    """Return the lines of a part without the declaration above it, set in as in the file.

    `outer` is the margin of the first part, which is left out; `margin` is what it got instead.
    """
    lines = [line.removeprefix(MARGIN) for line in part[1:]]
    margins = {line.strip(): margin_of(line) for line in reversed(chunk.text.split("\n"))}
    code = next((line for line in lines[1:] if line.strip() in margins), "")
    missing = (
        margins[code.strip()].removeprefix(outer).removesuffix(margin_of(code)) if code else ""
    )
    missing = f"{margin}{missing}"
    lines = [f"{missing}{line}" if line.strip() else line for line in lines]
    if len(lines) > 1:
        lines[0] = f"{margin_of(lines[1])}{lines[0].lstrip()}"
    return lines


def _within(entity: Entity, chunk: Chunk) -> str:
    """Return what a chunk holds of an entity, from the beginning of its line."""
    data = chunk.text.encode()
    start = max(0, entity.start - chunk.start)
    line = data.rfind(b"\n", 0, start) + 1
    start = line if not data[line:start].strip() else start
    return data[start : max(start, entity.end - chunk.start)].decode(errors="ignore")


def cut_code(text: str, cap: int, candidate: Candidate) -> str:
    """Return the beginning of code of at most so many characters, and how many lines are left."""
    if len(truncate(text, cap)) == len(text):
        return text
    text = shorten_comment(text, candidate.language, cap)
    short = truncate(text, cap)
    short = whole_lines(text, short, shown_entity(candidate).signature)
    return mark_cut(text, short, candidate.language)


def declared_lines(source: str, entity: Entity, language: str = "", *, marked: bool = True) -> str:
    """Return the lines of a definition down to the first paragraph of its docstring.

    A mark stands for what follows. The signature is the same text on one line; where it is not
    found, it is returned itself.
    """
    whole, source = source, shorten_comment(source, language)
    end = find_declaration(source, entity.signature)[1]
    if not end:
        return entity.signature
    rest = source[end:]
    line_end = rest.find("\n")
    if line_end < 0:
        return source
    above = whole.count("\n") - source.count("\n")
    docstring = _DOCSTRING.match(rest, line_end + 1)
    paragraph = _BLANK_LINE.search(rest, line_end + 1, docstring.end()) if docstring else None
    if paragraph is not None:
        end += paragraph.start()
    else:
        end += docstring.end() if docstring else line_end
    body = source[end:].strip("\n")
    if not body or (paragraph is None and "\n" not in body):
        return source  # a mark would take the place of the one line that is left
    declared = source[:end].rstrip()
    if paragraph is not None and docstring is not None:
        declared += f" …{docstring[1]}"
    if not marked:
        return declared
    first, last = entity.lines
    left = last - first - above - source.count("\n", 0, end) if first else body.count("\n") + 1
    mark = left_out(language, max(1, left), margin_of(body))
    is_whole = left <= body.count("\n") + 1 and paragraph is None
    if is_whole and len(body.strip()) <= len(mark.strip()):
        return source  # the mark would take as much room
    return f"{declared}\n{mark}"
