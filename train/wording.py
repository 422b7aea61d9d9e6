"""Questions in other words than the source's, made by rule from descriptions and headings."""

from __future__ import annotations

import random
import re

STOP = frozenset(
    re.findall(
        r"\w+",
        "a an the of to in for on with and or is are be this that it its as by from at given "
        "if not",
    )
)
NAMES = {
    "python": "python",
    "go": "golang",
    "java": "java",
    "javascript": "javascript",
    "typescript": "typescript",
    "rust": "rust",
    "c": "c",
    "cpp": "c++",
    "csharp": "c#",
    "ruby": "ruby",
    "php": "php",
    "kotlin": "kotlin",
    "swift": "swift",
    "scala": "scala",
    "shell": "bash",
}
GROUPS = """
delete, remove, erase, drop; create, make, build, construct; get, fetch, retrieve, obtain, look up
read, load; write, save, store, dump; check, verify, test, determine; compute, calculate, work out
convert, turn, change; parse, interpret; find, search for, locate, look for; start, launch, begin
stop, end, terminate; send, submit; return, give back; directory, folder; file, document
string, text; list, array, sequence; dict, dictionary, map, mapping, hash; function, method, routine
error, exception, failure; raise, throw; argument, parameter, option; connection, socket, link
request, call; response, reply, answer; credentials, password, login, authorization
authentication, logging in; token, key, secret; user, account; idle, unused
timeout, time limit, deadline; retry, try again; concurrent, parallel, simultaneous; thread, worker
queue, buffer; wait, block; split, divide, break up; join, combine, merge, concatenate
sort, order, arrange; filter, select, pick; unique, distinct; duplicate, repeated; copy, clone
replace, substitute; update, modify, change; add, insert, append; initialize, set up
configure, set up; configuration, settings; log, record; print, show, display; format, render
validate, check; ensure, make sure; number, count, amount; maximum, largest, highest
minimum, smallest, lowest; average, mean; random, arbitrary; image, picture; url, link, address
path, location; host, server, machine; encode, serialize; decode, deserialize, unpack
compress, zip, shrink; encrypt, scramble; cache, remember, memoize; lock, guard; schedule, plan
task, job; execute, run; invoke, call, trigger; callback, handler, hook; event, signal
subscribe, listen; iterate over, loop over, go through; recursive, nested; default, fallback
previous, earlier; database, db; row, record; column, field; package, library, module
install, set up; version, release; dependency, requirement; environment, env; date, day
duration, length; equal, the same; empty, blank; missing, absent; invalid, bad, wrong
deprecated, obsolete; supported, allowed; optional, not required; close, shut, release
attach, connect; detach, disconnect; permission, access right; size, length; color, colour
child, descendant; parent, ancestor; node, vertex; graph, network; matrix, grid; distance, gap
angle, rotation; crop, cut; resize, scale; transform, change
"""
SYNONYMS: dict[str, list[str]] = {}
for _group in re.split(r"[;\n]", GROUPS.strip()):
    _terms = [term.strip() for term in _group.split(",")]
    for _term in _terms:
        if " " not in _term:  # several words are put in for one, never the other way round
            SYNONYMS.setdefault(_term, []).extend(other for other in _terms if other != _term)


def other_words(text: str, rng: random.Random, share: float = 0.5) -> str:
    """Replace words that have others of the same meaning, each with the given probability."""

    def replace(found: re.Match[str]) -> str:
        choices = SYNONYMS.get(found[0].lower())
        return rng.choice(choices) if choices and rng.random() < share else found[0]

    return re.sub(r"[A-Za-z]+", replace, text)


def web_query(sentence: str, language: str, name: str, rng: random.Random) -> str:
    """Turn a description into what somebody types into a search box."""
    words = re.sub(r"[`\"'.:;,(){}\[\]]+", " ", sentence).lower().split()
    draw = rng.random()
    if draw < 0.35:
        words = [word for word in words if word not in STOP or rng.random() < 0.3]
    elif draw < 0.45 and len(name.split()) >= 2:
        words = name.split()
    words = words[: rng.randint(6, 14)]
    text = " ".join(words)
    if rng.random() < 0.5:
        text = other_words(text, rng)
    text = re.sub(r"^(returns?|gets?) (the )?", "get ", text) if rng.random() < 0.4 else text
    if rng.random() < 0.2:
        text = f"how to {text}"
    spoken = NAMES.get(language, language)
    draw = rng.random()
    if draw < 0.35:
        return f"{spoken} {text}"
    if draw < 0.55:
        return f"{text} in {spoken}"
    return f"{text} {spoken}" if draw < 0.65 else text


HOW = re.compile(r"^(?:how to |how do i |howto )?(\w+)ing\b(.*)$", re.IGNORECASE)


def heading_question(title: str, heading: str, rng: random.Random) -> str:
    """Turn a heading, with the title of its page, into a question or a search."""
    heading = re.sub(r"[`*#]|\{[^}]*\}", "", heading).strip()
    if heading.endswith("?"):
        return heading if rng.random() < 0.7 else f"{title}: {heading}"
    draw = rng.random()
    found = HOW.match(heading)
    if found and draw < 0.4:
        return f"how do I go about {heading[0].lower()}{heading[1:]} with {title}?"
    if draw < 0.2:
        return f"What does the documentation of {title} say about {heading.lower()}?"
    if draw < 0.45:
        return other_words(f"{heading} {title}", rng, 0.7).lower()
    return f"{title}: {heading}" if draw < 0.75 else f"{heading} {title}"


def traceback(frames: list[tuple[str, int, str, str]], error: str, language: str) -> str:
    """Return a stack trace with frames of (path, line, function, code), the innermost last."""
    if language == "python":
        lines = ["Traceback (most recent call last):"]
        for path, line, name, code in frames:
            lines += [f'  File "{path}", line {line}, in {name}', f"    {code.strip()}"]
        return "\n".join([*lines, error])
    if language == "java":
        lines = [f'Exception in thread "main" {error}']
        return "\n".join([*lines, *(f"\tat {n}({p}:{no})" for p, no, n, _ in reversed(frames))])
    if language in {"javascript", "typescript"}:
        return "\n".join([error, *(f"    at {n} ({p}:{no}:5)" for p, no, n, _ in reversed(frames))])
    lines = [f"{n}()\n\t{p}:{no}" for p, no, n, _ in reversed(frames)]
    return "\n".join([f"panic: {error}", *lines])
