"""How does a client get contexts, and see why they are as they are?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from quire.core import serialize
from quire.core.dates import parse_filter
from quire.core.types.options import BY_SETTING, name_options
from quire.mcp import schemas
from quire.mcp.limits import BUDGET
from quire.mcp.session import Answer, Given, Session, Step

if TYPE_CHECKING:
    from quire.core.types import Context, Failure, Filter, Options
    from quire.pipeline.why_not import WhyNot

AGENT = "agent"
SITUATION = "situation"


def assemble(asker: Session, given: Given, step: Step) -> Answer:
    """Assemble a context for a task or a question."""
    step("opening the store")
    quire = asker.quire()
    step("assembling")
    options, notes = _options(given)
    return _context(asker, quire.assemble(given["query"], **options), notes)


def premortem(asker: Session, given: Given, step: Step) -> Answer:
    """Tell what went wrong before in a domain."""
    step("opening the store")
    quire = asker.quire()
    step("assembling")
    more, notes = _budget(given)
    more |= {name: given[name] for name in ("limit", "model") if name in given}
    made = quire.agent.premortem(given["domain"], given.get("strategy"), **more)
    return _context(asker, made, notes)


def explain(asker: Session, given: Given, step: Step) -> Answer:
    """Tell of each candidate whether it is in, and why; or why a place is not."""
    step("opening the store")
    quire = asker.quire()
    step("assembling")
    options, notes = _options(given)
    made = quire.assemble(given["query"], **options)
    missed: list[WhyNot] = []
    if "path" in given:
        step("trying what would let it in")
        path = quire.documents.path_of(given["path"])
        missed = quire.why_not(given["query"], path, given.get("line"), **options)
    pieces = [
        {
            "path": one.path,
            "lines": list(one.lines),
            "inside": one.inside,
            "step": one.step,
            "reason": one.reason,
            "lets_in": [f"{_setting(each.setting)} = {each.value}" for each in one.relaxed],
            "checked": one.checked,
        }
        for one in missed
    ]
    ranked = sorted(made.decisions, key=lambda one: (-one.score, one.path, one.chunk_id))
    decisions = [
        {
            "path": one.path,
            "lines": list(one.lines),
            "verdict": one.verdict,
            "step": one.step,
            "reason": one.reason,
            "tokens": one.tokens,
            "score": one.score,
            "signals": dict(sorted(one.signals.items())),
        }
        for one in ranked
    ]
    told = {
        "decisions": decisions,
        "pieces": pieces,
        "tokens": made.tokens,
        "available": made.available,
        **_remarks(made.failed, [*notes, *made.notes]),
    }
    return Answer(told, "decisions")


def search(asker: Session, given: Given, step: Step) -> Answer:
    """Find what answers a question best."""
    step("opening the store")
    quire = asker.quire()
    step("searching")
    found = quire.search(given["query"], k=given.get("k", 10), where=_where(given))
    plain = serialize.to_plain(found)
    results = [
        {
            **{name: one[name] for name in ("path", "lines", "title", "text", "score", "signals")},
            "uri": source_uri(one["id"]),
        }
        for one in plain["results"]
    ]
    told = {"results": results, "state_root": found.state_root, "exact": found.exact}
    return Answer({**told, **_remarks(found.failed, found.notes)}, "results")


def verify(asker: Session, given: Given, step: Step) -> Answer:
    """Check a receipt, and its context, against the store."""
    receipt, context = given["receipt"], given.get("context")
    if isinstance(receipt, str):
        kept = asker.find(receipt)
        receipt, context = kept.receipt, kept.text if context is None else context
    step("opening the store")
    quire = asker.quire()
    step("verifying")
    wrong = quire.verify(receipt, context)
    return Answer({"holds": not wrong, "differences": wrong, "notes": []}, "differences")


def source_uri(name: str) -> str:
    """Name the resource that is the text of a piece or a record."""
    return f"quire://source/{name}"


def receipt_uri(name: str) -> str:
    """Name the resource that is a receipt."""
    return f"quire://receipt/{name}"


def context_uri(name: str) -> str:
    """Name the resource that is a context."""
    return f"quire://context/{name}"


def _context(asker: Session, made: Context, notes: Sequence[str]) -> Answer:
    name = asker.keep(made)
    told = {
        "text": made.text,
        "tokens": made.tokens,
        "available": made.available,
        "omitted": made.omitted,
        "sources": [
            {
                "path": one.path,
                "lines": list(one.lines),
                "section": one.section,
                "tokens": one.tokens,
                "uri": source_uri(one.chunk_id),
            }
            for one in made.sources
        ],
        "receipt": name,
        "receipt_uri": receipt_uri(name),
        "context_uri": context_uri(name),
        **_remarks(made.failed, [*notes, *made.notes]),
    }
    lines = [
        *(f"FAILED: {one.source}: {one.reason}" for one in made.failed),
        *(f"note: {note}" for note in told["notes"]),
        *(() if made.sources else ("nothing found" if not made.decisions else "nothing fits",)),
        f"{made.tokens} of {made.available} tokens; receipt {name}",
    ]
    return Answer(told, "sources", "text", "\n".join(lines))


def _remarks(failed: Iterable[Failure], notes: Iterable[str]) -> dict[str, Any]:
    told = [{"source": one.source, "reason": one.reason} for one in failed]
    named = [
        name_options(note, lambda option: f"`{schemas.argument_name(option.name)}`")
        for note in notes
    ]
    return {"failed": told, "notes": named}


def _setting(name: str) -> str:
    """Return what a client gives to change a setting: an argument of a tool where there is one."""
    option = BY_SETTING.get(name)
    return name if option is None or option.tool is None else schemas.argument_name(option.name)


def _options(given: Given) -> tuple[Options, list[str]]:
    lowered, notes = _budget(given)
    options = {
        "recipe": SITUATION if SITUATION in given else AGENT,
        **schemas.context_options(given),
        **lowered,
        # A context is all that is sent: the window, and what is kept free of it, are the client's.
        "reserve": {},
        "allow_empty": True,
    }
    return options, notes  # type: ignore[return-value]  # the names are those of Options


def _budget(given: Given) -> tuple[dict[str, Any], list[str]]:
    """Say what a context may have; nothing where the recipe decides."""
    if "max_tokens" not in given:
        return {}, []
    asked = given["max_tokens"]
    if asked <= BUDGET:
        return {"budget": asked}, []
    told = f"max_tokens is lowered from {asked} to {BUDGET}, the most that one answer has"
    return {"budget": BUDGET}, [told]


def _where(given: Given) -> Filter:
    kinds, paths = tuple(given.get("kinds", ())), tuple(given.get("paths", ()))
    return parse_filter(kinds, paths, given.get("since"), given.get("until"))
