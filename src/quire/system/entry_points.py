"""Installed plug-ins: which packages offer something to Quire, and loading it.

A package offers a plug-in by an entry point in one of `GROUPS`. Nothing is imported before it is
needed. Only packages count that are installed for this Python, or lie in a folder that PYTHONPATH
names: a project's folder may be on the path, and what lies in it was not installed by the user.
"""

from __future__ import annotations

import os
import site
import sys
import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quire.core import guard
from quire.errors import PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = ("collectors", "embedders", "formats", "readers", "rerankers", "sources")
"""What a package may offer; the group of its entry point is `quire.` and one of these."""
PREFIX = "quire."
VARIABLE = "QUIRE_PLUGINS"
"""With the value 0, no plug-in is loaded."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """Something that an installed package offers."""

    group: str
    name: str
    distribution: str
    version: str
    target: str
    """The object that it names: `package.module:attribute`."""

    @property
    def key(self) -> str:
        """What tells it apart from others."""
        return f"{self.group}:{self.name}"

    @property
    def package(self) -> str:
        """The package and its version."""
        return f"{self.distribution} {self.version}"

    @property
    def described(self) -> str:
        """What an error calls it."""
        return f"the plug-in {self.key} of {self.package}"


@dataclass(frozen=True, slots=True)
class PluginState:
    """A plug-in, and whether it can be used."""

    plugin: Plugin
    state: str
    """`loaded`, `disabled` or `failed`."""
    reason: str = ""
    """Why it is not loaded."""


def are_off() -> bool:
    """Tell whether the environment switches all plug-ins off."""
    return os.environ.get(VARIABLE) == "0"


def find_plugins(group: str = "") -> tuple[Plugin, ...]:
    """List the installed plug-ins of a group, or of all, by group, name and package."""
    return tuple(plugin for plugin in _find_all() if group in {"", plugin.group})


def is_disabled(plugin: Plugin, disabled: Collection[str]) -> bool:
    """Tell whether settings disable a plug-in: by its name, its key or its package."""
    return not {plugin.name, plugin.key, plugin.distribution}.isdisjoint(disabled)


def get_plugin(group: str, name: str, disabled: Collection[str] = ()) -> Plugin | None:
    """Return the plug-in of a name that may be used; None if there is none.

    Raises:
        PluginError: Several packages offer it.
    """
    found = [] if are_off() else [each for each in find_plugins(group) if each.name == name]
    found = [plugin for plugin in found if not is_disabled(plugin, disabled)]
    if len(found) > 1:
        packages = ", ".join(plugin.package for plugin in found)
        raise PluginError(
            f"several packages offer {found[0].key}: {packages}",
            hint="name all but one in [plugins] disable",
        )
    return found[0] if found else None


def load_plugin(plugin: Plugin) -> Any:
    """Import what a plug-in names, once; `PluginError` if that fails, each time."""
    with _LOCK:
        if plugin not in _LOADED:
            try:
                _LOADED[plugin] = guard.call(plugin.described, _entry_points()[plugin].load)
            except PluginError as error:
                _LOADED[plugin] = error
        loaded = _LOADED[plugin]
    if isinstance(loaded, PluginError):
        raise loaded.with_traceback(None)  # else each use would add its frames
    return loaded


def require_plugin(group: str, name: str, disabled: Collection[str] = ()) -> tuple[Plugin, Any]:
    """Return a plug-in and what it names; `PluginError` says why there is none."""
    plugin = get_plugin(group, name, disabled)
    if plugin is None:
        raise PluginError(_why_missing(group, name, disabled), value=name)
    return plugin, load_plugin(plugin)


def _why_missing(group: str, name: str, disabled: Collection[str]) -> str:
    installed = [plugin for plugin in find_plugins(group) if plugin.name == name]
    if not installed:
        return f"no installed package offers {group}:{name}"
    if are_off():
        return f"{installed[0].described} is off: {VARIABLE} is 0"
    named = sorted({installed[0].name, installed[0].key, installed[0].distribution} & {*disabled})
    return f"{installed[0].described} is disabled: [plugins] disable names {', '.join(named)}"


def inspect_plugins(disabled: Collection[str] = ()) -> list[PluginState]:
    """Load every plug-in that is not disabled, and say of each what became of it."""
    states = []
    for plugin in find_plugins():
        try:
            require_plugin(plugin.group, plugin.name, disabled)
            states.append(PluginState(plugin, "loaded"))
        except PluginError as error:
            off = are_off() or is_disabled(plugin, disabled)
            states.append(PluginState(plugin, "disabled" if off else "failed", str(error)))
    return states


def forget_plugins() -> None:
    """Look again at what is installed."""
    _entry_points.cache_clear()
    _find_all.cache_clear()
    _LOADED.clear()


_LOADED: dict[Plugin, Any] = {}
_LOCK = threading.RLock()


@cache
def _find_all() -> tuple[Plugin, ...]:
    return tuple(
        sorted(_entry_points(), key=lambda each: (each.group, each.name, each.distribution))
    )


@cache
def _entry_points() -> dict[Plugin, EntryPoint]:
    from importlib.metadata import distributions  # late: it is slow to import

    found: dict[Plugin, EntryPoint] = {}
    names: set[str] = set()
    for distribution in distributions(path=[*_trusted_folders()]):
        name = str(distribution.metadata["Name"])
        if name in names:  # shadowed by one earlier on the path
            continue
        names.add(name)
        for entry in distribution.entry_points:
            group = entry.group.removeprefix(PREFIX)
            if entry.group.startswith(PREFIX) and group in GROUPS:
                plugin = Plugin(group, entry.name, name, str(distribution.version), entry.value)
                found[plugin] = entry
    return found


def _trusted_folders() -> Iterator[str]:
    """Yield the folders of the path that packages are installed in, in its order."""
    named = {*filter(os.path.isabs, os.environ.get("PYTHONPATH", "").split(os.pathsep))}
    users = site.getusersitepackages() if site.ENABLE_USER_SITE else None
    prefixes = [Path(place).resolve() for place in (sys.prefix, sys.base_prefix, users) if place]
    for folder in sys.path:
        path = Path(folder)
        if folder in named or (
            path.is_absolute()
            and path.name in {"site-packages", "dist-packages"}
            and any(path.resolve().is_relative_to(prefix) for prefix in prefixes)
        ):
            yield folder
