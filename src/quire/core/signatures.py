"""Names and declarations of code: what a name means, and how a long declaration is shortened."""

from __future__ import annotations

from collections.abc import Iterator

LINE = 200
"""A declaration in a list of several has at most so many characters."""
_OPEN, _CLOSE = "([{", ")]}"


def shorten_signature(signature: str, limit: int = LINE) -> str:
    """Return a declaration with as many of its first parameters as fit, and the number of others.

    `def open(self, path: str, … 4 more) -> File`: no parameter is cut in the middle.
    """
    if len(signature) <= limit:
        return signature
    start = signature.find("(")
    parameters, end = _parameters(signature, start + 1) if start >= 0 else ([], 0)
    if len(parameters) < 2 or not end:
        cut = signature.rfind(" ", 0, limit)
        return signature[: cut if cut > 0 else limit].rstrip(" ,…") + "…"
    head, tail = signature[: start + 1], signature[end:]
    room = limit - len(head) - len(tail) - len(", … 00 more")
    shown = 1
    while shown < len(parameters) and len(", ".join(parameters[: shown + 1])) <= room:
        shown += 1
    left = len(parameters) - shown
    listed = [*parameters[:shown], *([f"… {left} more"] if left else [])]
    return f"{head}{', '.join(listed)}{tail}"


def ends_with_name(name: str, qualified: str) -> bool:
    """Tell whether a dotted name ends with the qualified name of a definition.

    What stands before the last dot may be a variable that is called as its class is: `reply.send`
    and `http_reply.send` are names of `Reply.send` and `HttpReply.send`.
    """
    *owners, last = qualified.split(".")
    *others, member = name.split(".")[-len(owners) - 1 :]
    return member == last and [*map(_fold, others)] == [*map(_fold, owners)]


def _fold(name: str) -> str:
    return name.replace("_", "").casefold()


def closing_place(text: str, start: int) -> int:
    """Return the place behind the bracket that closes what is open at a place; 0 if none does."""
    depth = 1
    for place, char in _outside_strings(text, start, len(text)):
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
            if not depth:
                return place + 1
    return 0


def _parameters(signature: str, start: int) -> tuple[list[str], int]:
    """Return the parameters of a declaration, and where the bracket behind them is."""
    end = closing_place(signature, start) - 1
    if end < start:
        return [], 0
    parameters, depth, begin = [], 0, start
    for place, char in _outside_strings(signature, start, end):
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif char == "," and not depth:
            parameters.append(signature[begin:place].strip())
            begin = place + 1
    parameters.append(signature[begin:end].strip())
    return [parameter for parameter in parameters if parameter], end


def _outside_strings(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the characters of code that are in no string literal, with their places."""
    quote = ""
    for place in range(start, end):
        char = text[place]
        if quote:
            quote = "" if char == quote and text[place - 1] != "\\" else quote
        elif char in "\"'`":
            quote = char
        else:
            yield place, char
