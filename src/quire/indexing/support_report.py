"""What a bug report needs, without anything that the user wrote.

Versions, the names of settings that are not the default, counts, and the names of failed checks.
No text, path, viewer, address, key or name of the user's own choice is in it: of a setting only its
name is told, of an error only its type, of a problem only the check.
"""

from __future__ import annotations

import platform
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from importlib import metadata
from typing import Any

from quire._version import __version__
from quire.config.settings import SECTIONS, Config
from quire.core.types import Problem, Status
from quire.core.types.settings import DERIVED, TRUST
from quire.embed.model_files import SHIPPED_NAME

DISTRIBUTIONS = (
    "quire-context-model",
    "apsw",
    "numpy",
    "onnxruntime",
    "simsimd",
    "splintr-rs",
    "tree-sitter",
    "mcp",
    "starlette",
)
"""The packages whose version a report names: one for each extra, and those that everything uses."""

NAMES = {"rules": "access", "access_default": "access.default"}
"""How quire.toml calls settings that have another name in `Config`."""


@dataclass(frozen=True, slots=True)
class SupportReport:
    """What `quire doctor --report` prints."""

    quire: str
    python: str
    system: str
    packages: Mapping[str, str]
    """The versions of installed packages; those that are not installed are left out."""
    settings: Sequence[str]
    """The names of settings that are not the default."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What the store holds; empty if it cannot be opened."""
    model: str = ""
    """The embedding model: `none`, `shipped` or `other`."""
    problems: Mapping[str, int] = field(default_factory=dict)
    """How many problems each failed check found."""
    error: str = ""
    """The type of the error that kept the store from being opened."""


def make_report(
    settings: Config | None,
    status: Status | None = None,
    problems: Sequence[Problem] = (),
    error: str = "",
) -> SupportReport:
    """Make the report of a project; without a status, of a store that cannot be opened."""
    return SupportReport(
        quire=__version__,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        system=f"{sys.platform} {platform.machine()}",
        packages=_versions(),
        settings=_changed(settings) if settings else (),
        counts=_counts(settings, status),
        model=_model(status),
        problems=dict(sorted(Counter(problem.check for problem in problems).items())),
        error=error,
    )


def _versions() -> dict[str, str]:
    versions = {}
    for name in DISTRIBUTIONS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _changed(settings: Config) -> tuple[str, ...]:
    """Return the names of the settings that are not the default, in the order of the sections."""
    top = [
        NAMES.get(item.name, item.name)
        for item in fields(Config)
        if item.name not in SECTIONS
        and item.metadata.get(TRUST) != DERIVED[TRUST]
        and item.name != "store"
        and getattr(settings, item.name) != _default(item)
    ]
    inner = [
        f"{section}.{item.name}"
        for section in SECTIONS
        for item in fields(getattr(settings, section))
        if getattr(getattr(settings, section), item.name) != _default(item)
    ]
    return (*top, *inner)


def _default(item: Any) -> Any:
    return item.default if item.default_factory is MISSING else item.default_factory()


def _counts(settings: Config | None, status: Status | None) -> dict[str, int]:
    if status is None:
        return {}
    counts = {
        "records": status.records,
        "chunks": status.chunks,
        "vectors": status.vectors,
        "chunks without a vector": status.missing_vectors,
        "languages": len(status.languages),
        "bytes": status.bytes,
    }
    if settings is not None:
        counts |= {"access rules": len(settings.rules), "groups": len(settings.groups)}
    return counts


def _model(status: Status | None) -> str:
    if status is None:
        return ""
    if status.model is None:
        return "none"
    return "shipped" if status.model.partition("@")[0] == SHIPPED_NAME else "other"
