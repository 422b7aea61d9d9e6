"""Which settings of a project can send, run, read or write something outside it.

Each setting is declared safe or sensitive where it stands (`core.types.settings`); this module says
what each declaration means for a value. What a user is asked to trust is a `Proposal`: the
sensitive settings of a project with their effects, and a fingerprint of everything that decides
about them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from quire.config.places import SettingsFile, doubts
from quire.config.settings import DEFAULT_STORE, SECTIONS, Config
from quire.config.trust import TrustRecord
from quire.core import hashing, servers
from quire.core.types import settings as declared
from quire.system import platform
from quire.system.entry_points import find_plugins

VERSION = 1
"""Of the fingerprint."""
NO_PROVIDER = "none"
LOCAL_PROVIDERS = frozenset({"local", "semantic", "mcp", NO_PROVIDER})
"""Providers that use no network of their own; `mcp` asks the client that is connected anyway."""
NETWORK_PROVIDERS = frozenset({"http", "llm"})
PLUGIN_PROVIDER = "plugin"
"""Runs a package that the user installed, which may use the network. A name in none of the sets is
refused by whoever opens the provider."""
PGVECTOR = "pgvector"
"""The index of vectors that is in the store's own database."""
LOCAL_SOURCES = frozenset({"folder", "jsonl", "sqlite"})
"""Sources of documents that are files; any other may use the network."""
NETWORK_SOURCES = frozenset({"postgresql", "bucket"})
PROVIDER = "provider"
MODEL_FILES = (
    "model.onnx",
    "tokenizer.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "query_prefix.txt",
)
"""The files of a model folder that decide what is run."""


@dataclass(frozen=True, slots=True)
class SensitiveSetting:
    """A setting of a project that counts only if the project is trusted."""

    section: str
    """Empty for a setting at the top of the file."""
    key: str
    value: Any
    effect: str
    """What it does, for a person."""
    target: str = ""
    """The path that it leads to, with all links resolved."""

    @property
    def name(self) -> str:
        """The name in quire.toml."""
        return f"[{self.section}] {self.key}" if self.section else self.key


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a user trusts with a project."""

    root: Path
    file: Path | None
    settings: tuple[SensitiveSetting, ...]
    fingerprint: str
    owners: tuple[int, ...] = ()
    """Other users to whom the settings, or the markers of the project, belong."""
    writable: bool = False
    """Whether other users can write the settings."""

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the settings may not be what the user wrote."""
        return doubts(self.owners, writable=self.writable)

    @property
    def needed(self) -> bool:
        """Whether there is anything to trust."""
        return bool(self.settings or self.owners or self.writable)

    def is_accepted(self, record: TrustRecord | None) -> bool:
        """Return whether a record covers all of this."""
        return (
            record is not None
            and record.fingerprint == self.fingerprint
            and set(self.owners) <= set(record.owners)
            and (record.writable or not self.writable)
        )


def propose(wanted: Config, file: SettingsFile | None, store: Path | str) -> Proposal:
    """Say what must be trusted for the settings of a project to count.

    Args:
        wanted: The settings as the project's file has them.
        file: The project's file, if it has one.
        store: The store that is used in the end, which the caller may have named.
    """
    settings = find(wanted, {} if file is None else file.table, store)
    content = None if file is None else hashing.digest_bytes(file.content)
    references = tuple(
        (setting.name, setting.target, _model_digest(wanted.root, setting))
        for setting in settings
        if setting.target
    )
    return Proposal(
        wanted.root,
        None if file is None else file.path,
        settings,
        hashing.identifier("trust", VERSION, content, references),
        owners=() if file is None else file.owners,
        writable=file is not None and file.writable,
    )


def find(
    wanted: Config, table: Mapping[str, Any], store: Path | str
) -> tuple[SensitiveSetting, ...]:
    """List the sensitive settings that a project's table sets, in the order of their declaration.

    The default store is listed as well if a link leads it out of the project.
    """
    used = isinstance(store, str) or leads_outside(wanted.root, store) is not None
    found = []
    for item in fields(Config):
        if item.name in SECTIONS:
            section, given = getattr(wanted, item.name), table.get(item.name, {})
            found += [
                _describe(wanted, item.name, part.name, _rule(part), getattr(section, part.name))
                for part in fields(section)
                if part.name in given
            ]
        elif item.name in table and (_rule(item) != _name(declared.STORE_PART) or used):
            value = getattr(wanted, item.name)
            if item.name == "store" and wanted.server:
                value = wanted.store_name  # without its password: it is shown to the user
            found.append(_describe(wanted, "", item.name, _rule(item), value))
    default = wanted.root / DEFAULT_STORE
    if default in {store, wanted.store} and "store" not in table:
        found.append(_describe(wanted, "", "store", _name(declared.STORE_FILE), default))
    return tuple(setting for setting in found if setting.effect)


def without(wanted: Config, own: Config, chosen: Mapping[str, Any], proposal: Proposal) -> Config:
    """Return a project's settings with the sensitive ones as in the user's own settings.

    A provider that is ignored is not replaced by the default one, which nobody asked for: unless
    the user's own file chooses one (`chosen`), there is none.
    """
    for setting in proposal.settings:
        if setting.key == "store" and not setting.section:
            wanted = replace(wanted, store=own.store, server=own.server)
            continue
        if not setting.section:
            wanted = replace(wanted, **{setting.key: getattr(own, setting.key)})
            continue
        value = getattr(getattr(own, setting.section), setting.key)
        if setting.key == PROVIDER and PROVIDER not in chosen.get(setting.section, {}):
            value = NO_PROVIDER
        section = replace(getattr(wanted, setting.section), **{setting.key: value})
        wanted = replace(wanted, **{setting.section: section})
    return wanted


def note(proposal: Proposal, *, changed: bool) -> str:
    """Word which settings are ignored, and what to do."""
    if not proposal.settings:
        return ""
    sections: dict[str, list[str]] = {}
    for setting in proposal.settings:
        sections.setdefault(setting.section, []).append(setting.key)
    names = " and ".join(
        f"[{section}] {', '.join(keys)}" if section else ", ".join(keys)
        for section, keys in sections.items()
    )
    off = [section for section, keys in sections.items() if PROVIDER in keys]
    state = "has changed since it was trusted" if changed else "is not trusted"
    consequence = f"ignored ({', '.join(f'[{name}]' for name in off)} off)" if off else "ignored"
    return (
        f"quire.toml sets {names}; this project {state}, so that is {consequence}: run "
        "`quire trust` to allow it"
    )


def leads_outside(root: Path, path: Path) -> Path | None:
    """Return where a path leads if that is outside a project; None: it stays inside."""
    try:
        real = Path(os.path.realpath(path))
        return None if real.is_relative_to(os.path.realpath(root)) else real
    except ValueError:  # not a path at all: whoever opens it says so
        return None
    except OSError:
        return path


# --- what each declaration means ---------------------------------------------------------------


def _rule(item: Any) -> str:
    rule: str = item.metadata[declared.TRUST]
    return rule


def _name(rule: declared.Declared) -> str:
    return rule[declared.TRUST]


def _describe(wanted: Config, section: str, key: str, rule: str, value: Any) -> SensitiveSetting:
    effect, target = _RULES[rule](wanted.root, value)
    return SensitiveSetting(section, key, value, effect, target)


def _safe(_: Path, __: Any) -> tuple[str, str]:
    return "", ""


def _provider(_: Path, value: Any) -> tuple[str, str]:
    if value == PLUGIN_PROVIDER:
        return "gives texts of this project to an installed plug-in", ""
    return ("asks a service over the network" if value in NETWORK_PROVIDERS else ""), ""


def _address(_: Path, value: Any) -> tuple[str, str]:
    return f"sends texts of this project to {value}", ""


def _vectors(_: Path, value: Any) -> tuple[str, str]:
    if value in {"", PGVECTOR}:
        return "", ""
    place = servers.public_name(value) if servers.is_qdrant(value) else value
    return f"sends vectors of this project's texts to {place}", ""


def _key(_: Path, value: Any) -> tuple[str, str]:
    return f"sends the content of the environment variable {value}", ""


def _endpoint(_: Path, __: Any) -> tuple[str, str]:
    return "changes how the service is asked", ""


def _model_folder(root: Path, value: Any) -> tuple[str, str]:
    path = root / str(value)
    try:
        target = os.path.realpath(path)
    except (OSError, ValueError):  # whoever opens it says what is wrong with it
        target = str(path)
    return f"loads and runs the model in {target}", target


def _output_file(root: Path, value: Any) -> tuple[str, str]:
    target = leads_outside(root, root / value)
    return ("", "") if target is None else (f"writes to {target}", str(target))


def _store_file(root: Path, value: Any) -> tuple[str, str]:
    if isinstance(value, str):
        return "sends all texts to this server and reads them from there", ""
    target = leads_outside(root, value)
    return ("", "") if target is None else (f"reads and writes {target}", str(target))


def _store_part(_: Path, __: Any) -> tuple[str, str]:
    return "chooses what is read of a store outside the project", ""


def _protection(_: Path, value: Any) -> tuple[str, str]:
    return ("also indexes secrets" if value else ""), ""


def _retention(_: Path, __: Any) -> tuple[str, str]:
    return "decides how much of the log is kept", ""


def _is_known(source_type: str) -> bool:
    if source_type in LOCAL_SOURCES or source_type in NETWORK_SOURCES:
        return True
    return any(plugin.name == source_type for plugin in find_plugins("sources"))


def _sources(root: Path, value: Any) -> tuple[str, str]:
    """Say which sources reach outside a project; without trust, none of its sources counts."""
    effects, targets = [], []
    for name in sorted(value):
        source = value[name]
        if not _is_known(source.type):
            continue  # nothing can open it: `quire sync` says so
        if source.type not in LOCAL_SOURCES:
            key = f", with the environment variable {source.dsn_env}" if source.dsn_env else ""
            place = servers.without_passwords(source.location) or source.type
            effects.append(f"{name} asks {place} over the network{key}")
        elif (target := leads_outside(root, root / source.location)) is not None:
            effects.append(f"{name} reads {target}")
            targets.append(str(target))
    return "; ".join(effects), ", ".join(targets)


_RULES: Mapping[str, Callable[[Path, Any], tuple[str, str]]] = {
    _name(declared.SAFE): _safe,
    _name(declared.PROVIDER): _provider,
    _name(declared.ADDRESS): _address,
    _name(declared.VECTORS): _vectors,
    _name(declared.KEY): _key,
    _name(declared.ENDPOINT): _endpoint,
    _name(declared.MODEL_FOLDER): _model_folder,
    _name(declared.OUTPUT_FILE): _output_file,
    _name(declared.STORE_FILE): _store_file,
    _name(declared.STORE_PART): _store_part,
    _name(declared.PROTECTION): _protection,
    _name(declared.RETENTION): _retention,
    _name(declared.SOURCES): _sources,
}
"""By declaration: what a value does, empty if it is harmless, and the path that it leads to."""


def source_targets(settings: Config) -> tuple[Path | None, ...]:
    """Return where the sources that are files lead now, if that is outside the project."""
    return tuple(
        leads_outside(settings.root, settings.root / source.location)
        for _, source in sorted(settings.sources.items())
        if source.type in LOCAL_SOURCES
    )


def model_files(settings: Config) -> list[Path]:
    """Return the files of a model that lies inside the project."""
    folder = settings.embed.folder
    if folder is None or leads_outside(settings.root, settings.root / folder) is not None:
        return []
    return [settings.root / folder / name for name in MODEL_FILES]


def _model_digest(root: Path, setting: SensitiveSetting) -> tuple[bytes | None, ...]:
    """Hash a model that lies inside the project: whoever changes the project could change it."""
    if (setting.section, setting.key) != ("embed", "folder"):
        return ()
    if leads_outside(root, Path(setting.target)) is not None:
        return ()
    digests = [_file_digest(Path(setting.target, name)) for name in MODEL_FILES]
    if digests[-1] is None:  # the last file came later: who trusted a folder without one still does
        del digests[-1]
    return tuple(digests)


def _file_digest(file: Path) -> bytes | None:
    try:
        return hashing.digest_bytes(platform.read_regular(file)[0])
    except (OSError, ValueError):
        return None
