"""Replace the secrets in a text by marks that say so: `[redacted: a GitHub token]`.

Lines keep their numbers. What a user allowed stays: by a glob of paths, or by the fingerprint of a
secret, which is told to whoever indexes the file and is kept nowhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from quire.core import hashing
from quire.core.globs import Globs
from quire.core.types import IngestSettings, MetadataValue, Redaction
from quire.ingest.types import ParsedFile, UnreadableFile

if TYPE_CHECKING:
    from quire.ingest.secrets import Secret

FINGERPRINT = "fingerprint:"
FINGERPRINT_LENGTH = 12
MIN_TOKEN = 16
"""No token is shorter; see `secrets.LONG_RUN`."""
MAX_REDACTIONS = 100
"""A text with more secrets is a list of them."""

MARK = "[redacted: "
"""How the mark of a secret begins."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets."""

    text: str
    secrets: tuple[Secret, ...] = ()
    """Where they stood in the text before."""
    found: tuple[Redaction, ...] = ()


def redact(path: str, text: str, settings: IngestSettings) -> Redacted:
    """Take the secrets out of a text.

    Raises:
        UnreadableFile: The text has more secrets than a text that someone wants to read.
    """
    if settings.secrets or is_allowed(path, settings.allow_secrets):
        return Redacted(text)
    from quire.ingest.secrets import find_secrets  # late: it has many patterns

    secrets = _not_allowed(text, find_secrets(text), settings)
    if len(secrets) > MAX_REDACTIONS:
        raise UnreadableFile(
            f"holds {len(secrets)} secrets, the first is {secrets[0].kind}; "
            "`[ingest] allow_secrets` can allow it by its path"
        )
    return Redacted(_replace(text, secrets), tuple(secrets), _describe(path, text, secrets))


def redact_path(path: str, settings: IngestSettings) -> tuple[str, str]:
    """Return a path without tokens, and the reason not to read what it names; empty: none.

    Only formats that say who issued a token count, and passwords in addresses: names of files are
    full of other long values. Each part is taken by itself, so that no folder vanishes.
    """
    is_long = any(len(part) >= MIN_TOKEN for part in path.split("/"))
    if not is_long and not _may_be_address(path):
        return path, ""
    if settings.secrets or is_allowed(path, settings.allow_secrets):
        return path, ""
    from quire.ingest.secrets import find_addresses, find_tokens  # late, as above

    parts, reasons = [path], []
    for find in (find_addresses, find_tokens):
        for at, part in enumerate(parts):
            found = find(part) if len(part) >= MIN_TOKEN else ()
            secrets = _not_allowed(part, found, settings)
            parts[at] = _replace(part, secrets)
            reasons += [f"{secret.kind} ({_fingerprint(part, secret)})" for secret in secrets]
        parts = "/".join(parts).split("/")
    return "/".join(parts), f"its path holds {reasons[0]}; rename it" if reasons else ""


def _may_be_address(path: str) -> bool:
    return ":/" in path and "@" in path


def _not_allowed(text: str, found: Iterable[Secret], settings: IngestSettings) -> list[Secret]:
    """Return the secrets of a text whose fingerprints the user did not allow."""
    allowed = set(settings.allow_secrets)
    return [each for each in found if FINGERPRINT + _fingerprint(text, each) not in allowed]


def _replace(text: str, secrets: Iterable[Secret]) -> str:
    """Return a text with marks in the place of its secrets."""
    parts, end = [], 0
    for secret in secrets:
        parts += [text[end : secret.start], _mark(text, secret)]
        end = secret.end
    return "".join([*parts, text[end:]])


def move_positions(parsed: ParsedFile, redacted: Redacted) -> ParsedFile:
    """Return a parsed file with the redacted text, each position where its text is now."""
    if not redacted.secrets:
        return parsed
    marks = [_mark(parsed.text, secret) for secret in redacted.secrets]
    grown = (
        len(mark) - (secret.end - secret.start)
        for mark, secret in zip(marks, redacted.secrets, strict=True)
    )
    shifts = list(accumulate(grown, initial=0))
    starts = [secret.start for secret in redacted.secrets]

    def move(position: int) -> int:
        before = bisect_right(starts, position - 1)
        if before and position < redacted.secrets[before - 1].end:
            return starts[before - 1] + shifts[before - 1]  # inside of it: where the mark begins
        return position + shifts[before]

    values = {
        parsed.text[secret.start : secret.end]: mark
        for mark, secret in zip(marks, redacted.secrets, strict=True)
    }

    def clean(text: str) -> str:
        for value, mark in values.items():
            text = text.replace(value, mark)
        return text

    return replace(
        parsed,
        text=redacted.text,
        title=clean(parsed.title),
        summary=clean(parsed.summary),
        attrs={name: clean(value) for name, value in parsed.attrs.items()},
        links=tuple(map(clean, parsed.links)),
        spans=tuple(
            replace(span, start=move(span.start), end=move(span.end), title=clean(span.title))
            for span in parsed.spans
        ),
        entities=tuple(
            replace(
                entity,
                name=clean(entity.name),
                start=move(entity.start),
                end=move(entity.end),
                signature=clean(entity.signature),
                summary=clean(entity.summary),
                qualified=clean(entity.qualified),
            )
            for entity in parsed.entities
        ),
        line_map=None
        if parsed.line_map is None
        else tuple((move(position), line) for position, line in parsed.line_map),
    )


def redact_fields(path: str, parsed: ParsedFile, settings: IngestSettings) -> ParsedFile:
    """Take secrets out of what a reader found beside the text: the title in an archive, say."""

    def clean(text: str) -> str:
        return redact(path, text, settings).text

    return replace(
        parsed,
        title=clean(parsed.title),
        summary=clean(parsed.summary),
        author=None if parsed.author is None else clean(parsed.author),
        attrs={name: clean(value) for name, value in parsed.attrs.items()},
        metadata=redact_metadata(path, parsed.metadata, settings),
    )


def redact_metadata(
    path: str, metadata: Mapping[str, MetadataValue], settings: IngestSettings
) -> dict[str, MetadataValue]:
    """Take secrets out of the texts in metadata, and leave out keys that hold a token."""

    def clean(value: MetadataValue) -> MetadataValue:
        if isinstance(value, tuple):
            return tuple(redact(path, item, settings).text for item in value)
        return redact(path, value, settings).text if isinstance(value, str) else value

    return {
        key: clean(value) for key, value in metadata.items() if not redact_path(key, settings)[1]
    }


def _mark(text: str, secret: Secret) -> str:
    """Return what stands in the place of a secret, with as many line breaks."""
    return f"{MARK}{secret.kind}]" + "\n" * text.count("\n", secret.start, secret.end)


def _describe(path: str, text: str, secrets: Iterable[Secret]) -> tuple[Redaction, ...]:
    found = []
    line, offset = 1, 0
    for secret in secrets:
        line += text.count("\n", offset, secret.start)
        offset = secret.start
        found.append(Redaction(path, line, secret.kind, _fingerprint(text, secret)))
    return tuple(found)


def _fingerprint(text: str, secret: Secret) -> str:
    value = text[secret.start : secret.end].encode()
    return hashing.digest_bytes(value).hex()[:FINGERPRINT_LENGTH]


def is_allowed(path: str, allowed: tuple[str, ...]) -> bool:
    """Return whether the secrets of a file are left in by its path."""
    return _path_globs(allowed).match(path)


@lru_cache(maxsize=8)
def _path_globs(allowed: tuple[str, ...]) -> Globs:
    return Globs([pattern for pattern in allowed if not pattern.startswith(FINGERPRINT)])
