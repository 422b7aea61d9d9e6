"""Verify receipts.

Nothing is taken on trust: hashes are computed again, sums added up again, tokens counted again,
proofs followed to their root again. Anyone can compute hashes, though. Only two things bind a text
to its sources: rendering it again from the texts in the store, and the signature of a known key.
The result says which of the two was done, what was checked besides, and what was not and why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from quire.core import hashing, merkle
from quire.core.protocols import Counter
from quire.core.types import Chunk, Rebuilt, Verification
from quire.errors import QuireError
from quire.receipts import checks
from quire.receipts.canonical import plain
from quire.receipts.parts import EXCLUDED, PROOFS, all_decisions
from quire.receipts.receipt import PIPELINE, is_brought
from quire.receipts.schema import read
from quire.receipts.signing import UNSIGNED, SignatureCheck

NO_CONTEXT = "the context: none was given"
NO_STORE = "the texts of the sources: there is no store to compare with"
NO_RESULTS = "the texts of the sources: the caller brought them, and they were not passed"
NO_ACCESS = "who may read the sources: the caller brought them, and Quire checked nobody's access"
OTHER_NAMES = (
    "the page as a whole: rendered again it is not the same, since names or outlines around its "
    "pieces have changed in the store; the signature vouches for it"
)
NO_RANKING = "why these pieces: the caller brought them with their scores"
PART_NAMES = {
    EXCLUDED: "the decisions on what was left out",
    PROOFS: "the proofs of the sources",
}
RANKING = (
    "why these pieces (the query's vector, scores, candidates that were left out, failures): "
    "`quire replay` runs the request again"
)


@dataclass(frozen=True, slots=True)
class StoreEvidence:
    """What a store says about a receipt, for one viewer."""

    chunks: Mapping[str, Chunk]
    """The chunks that the receipt names, as far as the viewer may read them."""
    state: str
    """The root of what the viewer reads now."""
    content: str
    """The root of the content alone."""
    viewer_hash: str
    rebuild: Callable[[Mapping[str, Any], Mapping[str, Chunk]], Rebuilt]
    """Makes the context of a receipt again from its chunks."""
    damaged: tuple[str, ...] = ()
    """The paths of those of the chunks that are not as they were written."""
    name: str = "the store"
    """What the texts are compared with."""
    moved: str = "the state: this viewer reads another one here than the receipt was made from"
    """Says that it is in another state."""
    missing: str = (
        "this store does not have this piece: it has changed since, or the receipt is of another "
        "store"
    )
    """Says that it lacks a piece."""


@dataclass(slots=True)
class _Findings:
    """What was found so far."""

    problems: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    rendered: bool = False


def verify(
    receipt: Mapping[str, Any],
    counter: Counter,
    *,
    context: str | None = None,
    store: StoreEvidence | None = None,
    signature: SignatureCheck = UNSIGNED,
) -> Verification:
    """Check a receipt, against its context, a store and a signature if they are given."""
    findings = _Findings()
    try:
        data = read(receipt)
        if data["pipeline"] > PIPELINE:
            findings.problems.append(
                f"a newer Quire made it: version {data['pipeline']} of the pipeline, this is "
                f"{PIPELINE}; upgrade Quire"
            )
        _check_itself(findings, receipt, data)
        _check_context(findings, data, counter, context)
        _check_signature(findings, signature)
        if store is None:
            findings.not_checked.append(NO_RESULTS if is_brought(data) else NO_STORE)
        else:
            _check_store(findings, data, counter, context, store, trusted=signature.trusted)
        _name_recorded(findings, data)
    except QuireError as error:
        findings.problems.append(str(error))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        findings.problems.append(f"the receipt is malformed: {type(error).__name__} {error}")
    return Verification(
        problems=tuple(findings.problems),
        checked=tuple(findings.checked),
        not_checked=tuple(findings.not_checked),
        signature=signature.status,
        key=signature.key,
        binds=not findings.problems and (findings.rendered or signature.trusted),
    )


def _check_itself(findings: _Findings, receipt: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """Check the receipt against itself."""
    before = len(findings.problems)
    findings.problems += [
        *checks.check_hashes(receipt),
        *checks.check_sums(data),
        *checks.check_sources(data),
        *checks.check_decisions(data),
        *checks.check_written_form(data),
        *checks.check_proofs(data),
    ]
    if len(findings.problems) == before:
        proofs = (
            "" if data[PROOFS] is None else f"; {_count(data['sources'], 'proof')} up to the root"
        )
        findings.checked.append(f"form, hashes, sums and decisions{proofs}")
    for name, what in PART_NAMES.items():
        if data[name] is None:
            count = data["parts"][name]["count"]
            findings.not_checked.append(
                f"{what} ({count}): the receipt has only their hash; `assemble --parts` writes them"
            )


def _check_context(
    findings: _Findings, data: Mapping[str, Any], counter: Counter, context: str | None
) -> None:
    """Check a context against the hash and the number of tokens in the receipt."""
    if context is None:
        findings.not_checked.append(NO_CONTEXT)
        return
    before = len(findings.problems)
    if hashing.text_hash(context).hex() != data["text_hash"]:
        findings.problems.append("the context was altered: its hash does not match")
    if counter.name != data["counter"]:
        findings.problems.append(
            f"counted with {counter.name}, but the receipt says {data['counter']}"
        )
    elif (counted := counter.count(context)) != data["tokens"]:
        findings.problems.append(
            f"the context has {counted} tokens, but the receipt says {data['tokens']}"
        )
    if len(findings.problems) == before:
        findings.checked.append(f"the context: its hash and its {data['tokens']} tokens")


def _check_signature(findings: _Findings, signature: SignatureCheck) -> None:
    if signature.problem:
        findings.problems.append(signature.problem)
    elif signature.trusted:
        findings.checked.append(signature.sentence)
    else:
        findings.not_checked.append(f"who made it: {signature.sentence}")


def _check_store(
    findings: _Findings,
    data: Mapping[str, Any],
    counter: Counter,
    context: str | None,
    store: StoreEvidence,
    *,
    trusted: bool,
) -> None:
    """Check a receipt against a store.

    A store changes. If it no longer has what a receipt names, nothing shows that the receipt was
    ever true, unless a known key signed it.
    """
    before = len(findings.problems)
    unlike = findings.not_checked if trusted else findings.problems
    if store.viewer_hash != data["viewer_hash"]:
        unlike.append("it was made for another viewer than the one who reads here")
    moved = store.state != data["view_root"]
    if moved:
        findings.not_checked.append(store.moved)
    elif store.content != data["content_root"]:
        findings.problems.append("its roots are not of one state")
    gone = unlike if moved else findings.problems
    chunks: dict[str, Chunk] = {}
    for source in data["sources"]:
        chunk = store.chunks.get(source["chunk_id"])
        if chunk is None:
            _report_missing(findings, source["path"], store, gone, moved=moved)
        elif merkle.chunk_leaf(chunk)[1] != checks.leaf_of(source):
            gone.append(_name_changed(source, chunk, store, trusted=trusted and moved))
        else:
            chunks[chunk.id] = chunk
    if len(findings.problems) > before or len(chunks) < len(data["sources"]):
        findings.not_checked.append("the page was not rendered again: see above")
        return
    _check_dropped(findings, data, store, moved=moved)
    pieces = _count(data["sources"], "piece")
    if data["pipeline"] != PIPELINE:
        findings.checked.append(f"{store.name}: the texts of {pieces}")
        findings.not_checked.append(
            f"the page was not rendered again: version {data['pipeline']} of the pipeline made it, "
            f"this is version {PIPELINE}"
        )
        return
    _check_page(findings, data, counter, context, store=store, chunks=chunks, trusted=trusted)


def _check_page(
    findings: _Findings,
    data: Mapping[str, Any],
    counter: Counter,
    context: str | None,
    *,
    store: StoreEvidence,
    chunks: Mapping[str, Chunk],
    trusted: bool,
) -> None:
    """Compare a receipt and its context with the page that is rendered again."""
    rebuilt, moved = store.rebuild(data, chunks), store.state != data["view_root"]
    findings.problems += rebuilt.altered
    if rebuilt.own_words:
        findings.not_checked.append(
            f"words of the page that come from no source: {', '.join(rebuilt.own_words)}"
        )
    wrong = list(_compare(data, counter, context, rebuilt))
    if wrong:
        # A name or an outline around the pieces may have changed since; their texts have not.
        if moved and trusted and not rebuilt.from_chunks:
            pieces = _count(data["sources"], "piece")
            findings.checked.append(f"{store.name}: the texts of {pieces}")
            findings.not_checked.append(OTHER_NAMES)
        else:
            findings.problems += wrong
        return
    findings.rendered = True
    pieces = _count(data["sources"], "piece")
    findings.checked.append(
        f"{store.name}: the texts of {pieces}, and every byte of the page rendered from them"
        + ("" if moved else "; the state")
    )


def _report_missing(
    findings: _Findings, path: str, store: StoreEvidence, gone: list[str], *, moved: bool
) -> None:
    """Report a piece that the store does not give out."""
    if path in store.damaged:
        findings.problems.append(f"{path}: this piece is damaged in the store; run `quire doctor`")
    elif moved:
        gone.append(f"{path}: {store.missing}")
    else:
        gone.append(f"{path}: {store.name} claims to be unchanged, but this piece is gone")


def _name_changed(
    source: Mapping[str, Any], chunk: Chunk, store: StoreEvidence, *, trusted: bool
) -> str:
    """Say how a piece differs from the receipt; its id vouches for its text."""
    (first, last), (now, _) = source["lines"], chunk.lines
    if first != now:
        return (
            f"{source['path']}:{first}-{last}: {store.name} has this text at line {now}; the file "
            "has changed since" + ("" if trusted else ", or the receipt was altered")
        )
    return f"{source['path']}: chunk {chunk.id} in {store.name} is not the one in the receipt"


def _check_dropped(
    findings: _Findings, data: Mapping[str, Any], store: StoreEvidence, *, moved: bool
) -> None:
    """Compare the candidates that were left out with the store."""
    elsewhere = 0
    for decision in all_decisions(data):
        chunk = store.chunks.get(decision["chunk_id"])
        if chunk is None:
            if not moved:
                findings.problems.append(
                    f"{decision['path']}: there is a decision on a piece that is not in the store"
                )
        elif moved and chunk.path == decision["path"] and [*chunk.lines] != decision["lines"]:
            elsewhere += 1
        elif (chunk.path, [*chunk.lines]) != (decision["path"], decision["lines"]):
            findings.problems.append(
                f"{decision['path']}: the decision is on a piece of {chunk.path}:{chunk.lines[0]}"
            )
    if elsewhere:
        findings.not_checked.append(
            f"the lines of {elsewhere} of the candidates that were left out: their files have "
            "changed since"
        )


def _compare(
    data: Mapping[str, Any], counter: Counter, context: str | None, rebuilt: Rebuilt
) -> list[str]:
    """Compare a receipt and its context with what was made again of the same pieces."""
    problems: list[str] = []
    if context is not None and context != rebuilt.text:
        where = checks.first_difference(context, rebuilt.text)
        problems.append(f"the context does not follow from its sources: {where}")
    if hashing.text_hash(rebuilt.text).hex() != data["text_hash"]:
        problems.append("text_hash is not of the text that follows from the sources")
    elif counter.name == data["counter"] and counter.count(rebuilt.text) != data["tokens"]:
        problems.append("tokens is not the number of tokens of the text")
    bare = [
        {name: source[name] for name in source if name != "chunk"} for source in data["sources"]
    ]
    for name, given, follows in (
        ("sources", bare, plain(rebuilt.sources)),
        ("decisions", data["decisions"], plain(rebuilt.decisions)),
    ):
        if given != follows:
            problems.append(f"{name}: {_first_unlike(given, follows)}")
    return problems


def _first_unlike(given: list[dict[str, Any]], follows: list[dict[str, Any]]) -> str:
    for one, other in zip(given, follows, strict=True):
        for name in other:
            if one[name] != other[name]:
                value = f"{one[name]!r}"[:60]
                text = f"{name} of {one['path']} is {value}, but its sources give {other[name]!r}"
                return text[:240]
    return "they are not in the order that follows"


def _name_recorded(findings: _Findings, data: Mapping[str, Any]) -> None:
    """Name what is taken from the receipt because it cannot be computed again here."""
    if is_brought(data):
        findings.not_checked += [NO_ACCESS, NO_RANKING]
    else:
        findings.not_checked.append(RANKING)
    for name, of in (("judge", "verdicts"), ("writer", "summaries"), ("reranker", "reranks")):
        if data[of]:
            findings.not_checked.append(
                f"the {of} of the {name} {data[name]!r}: taken from the receipt ({len(data[of])})"
            )


def _count(items: list[Any], name: str) -> str:
    return f"{len(items)} {name}{'' if len(items) == 1 else 's'}"
