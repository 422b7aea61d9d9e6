"""The layers of settings: the user's file, the project's, the environment, and arguments."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from quire.config import places, sensitive, trust
from quire.config.places import SettingsFile
from quire.config.sensitive import Proposal
from quire.config.settings import DEFAULT_STORE, FILE, SECTIONS, Config, stand_in
from quire.core import servers, toml
from quire.core.types import AccessRule, SourceSettings
from quire.errors import ConfigError
from quire.system import platform

ARGUMENTS = "settings"
"""How an error calls the settings that a caller passed."""
VARIABLE = "QUIRE_STORE"


def load(
    start: Path | None = None,
    *,
    store: Path | str | None = None,
    space: str | None = None,
    viewer: str | None = None,
    arguments: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Load the settings that apply in a directory.

    `arguments` holds settings that a caller passes, by section; they count before all others.
    """
    env = os.environ if environment is None else environment
    root, notes = places.find_root(_directory(start), env)
    own, chosen = _load_own(root, env)
    named = _store_of(env) if store is None else parse_store(str(store))
    config = _apply_project(own, chosen, named, env)
    config = _apply_arguments(_apply_environment(config, env), arguments or {})
    config = config if named is None else _with_store(config, named)
    config = replace(
        config,
        own_store=named is None,
        space=space or config.space,
        viewer=viewer if viewer is not None else config.viewer,
        notes=(*notes, *_unreadable(env), *config.notes),
    )
    audit = sensitive.leads_outside(root, root / config.audit.file)
    return replace(config, audit_outside=audit is not None)


def _unreadable(env: Mapping[str, str]) -> tuple[str, ...]:
    folder = places.unreadable_folder(env)
    if folder is None:
        return ()
    return (f"{folder} cannot be read, so no settings of yours count: check its permissions",)


def propose(start: Path | None = None, *, environment: Mapping[str, str] | None = None) -> Proposal:
    """Say what must be trusted for all settings of the project at a path to count."""
    env = os.environ if environment is None else environment
    root = places.nearest_root(_directory(start))
    own, _ = _load_own(root, env)
    proposal = _propose(own, _store_of(env), _project_file(root))[1]
    owners = {*proposal.owners, *(places.marker_owners(root) or ())}
    return replace(proposal, owners=tuple(sorted(owners)))


def project_root(start: Path) -> Path:
    """Return the root of the project that a directory belongs to; see `places.find_root`."""
    return places.find_root(start, os.environ)[0]


def project_of(folder: Path) -> Path | None:
    """Return the root of the project that a directory belongs to; None: it belongs to none."""
    root = project_root(folder)
    return None if places.marker_owners(root) is None else root


def snapshot(settings: Config) -> object:
    """Return a value that differs once the settings of a project must be loaded again."""
    file = settings.root / FILE
    stamps: list[tuple[int, ...] | None] = []
    for path in (file, *sensitive.model_files(settings)):
        try:
            status = path.stat()
            stamps.append((status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns))
        except (OSError, ValueError):
            stamps.append(None)
    try:
        content, _ = platform.read_regular(file, places.MAX_BYTES)
    except OSError:
        content = None
    # A link may have been put in the place of a source since the settings were loaded.
    targets = sensitive.source_targets(settings)
    return content, tuple(stamps), targets, trust.content(settings.root, os.environ)


def _directory(start: Path | None) -> Path:
    start = (start or Path.cwd()).resolve()
    return start if start.is_dir() else start.parent


def _load_own(root: Path, env: Mapping[str, str]) -> tuple[Config, Mapping[str, Any]]:
    """Return the defaults with the user's own settings, and the table that these come from."""
    config = Config(root=root, store=root / DEFAULT_STORE)
    path = places.user_file(env)
    if path is None:
        return config, {}
    file = places.read(path)
    places.refuse_doubtful(file, f"make it yours alone with `chown` and `chmod go-w {path}`")
    return _apply_table(config, path, file.table), file.table


def _project_file(root: Path) -> SettingsFile | None:
    path = root / FILE
    return places.read(path) if path.is_file() else None


def _propose(
    own: Config, store: Path | str | None, file: SettingsFile | None
) -> tuple[Config, Proposal]:
    """Return the settings as the project wants them, and what must be trusted for that."""
    wanted = own if file is None else _apply_table(own, file.path, file.table)
    wanted = replace(wanted, file=None if file is None else file.path)
    return wanted, sensitive.propose(wanted, file, store or wanted.location)


def _apply_project(
    own: Config, chosen: Mapping[str, Any], store: Path | str | None, env: Mapping[str, str]
) -> Config:
    """Apply the project's file, as far as it counts."""
    file = _project_file(own.root)
    wanted, proposal = _propose(own, store, file)
    if not proposal.needed:
        return wanted
    record = trust.find(own.root, env)
    if proposal.is_accepted(record):
        return wanted
    if file is not None:
        places.refuse_doubtful(
            file,
            f"make it yours alone with `chown` and `chmod go-w {file.path}`, or accept it as "
            f"it is: `quire trust --accept-owner {own.root}`",
        )
    config = sensitive.without(wanted, own, chosen, proposal)
    # Installed commands name the default store, too, so that naming it is no sign of consent.
    if (store or config.location) == own.root / DEFAULT_STORE:
        _refuse_outside(own.root, own.root / DEFAULT_STORE)
    told = sensitive.note(proposal, changed=record is not None)
    return replace(config, notes=(told,) if told else ())


def _refuse_outside(root: Path, store: Path) -> None:
    target = sensitive.leads_outside(root, store)
    if target is not None:
        raise ConfigError(
            f"leads to {target}, outside this project, which is not trusted",
            place=str(store),
            hint=f"run `quire trust {root}` to allow it, or name another store",
        )


def _apply_table(config: Config, path: Path, table: Mapping[str, Any]) -> Config:
    known = ("store", "space", "viewer", *SECTIONS, "sources", "access", "groups")
    for key in table:
        if key not in known:
            toml.reject_key(str(path), key, known)
    changes: dict[str, Any] = {}
    if "store" in table:
        named = toml.read_text(f"{path}: store", table["store"])
        _refuse_unknown_scheme(named, str(path))
        place = named if servers.is_server(named) else path.parent / _expand_home(named)
        config = _with_store(config, place)
    for key in ("space", "viewer"):
        if key in table:
            changes[key] = toml.read_text(f"{path}: {key}", table[key])
    changes |= _read_sections(config, path, table)
    if "sources" in table:
        changes["sources"] = {
            **config.sources,
            **{
                name: _read_source(f"{path}: [sources.{name}]", source)
                for name, source in toml.read_table(f"{path}: [sources]", table["sources"]).items()
            },
        }
    if "access" in table:
        changes |= _read_access(path, table["access"])
    if "groups" in table:
        changes["groups"] = _read_groups(path, table["groups"])
    return replace(config, **changes)


def _read_sections(config: Config, path: Path, table: Mapping[str, Any]) -> dict[str, Any]:
    changes = {
        key: toml.fill(f"{path}: [{key}]", getattr(config, key), table[key])
        for key in SECTIONS
        if key in table
    }
    if "folder" in table.get("embed", {}):  # like a store, it lies beside the file that names it
        folder = str(path.parent / _expand_home(changes["embed"].folder))
        changes["embed"] = replace(changes["embed"], folder=folder)
    if "file" in table.get("audit", {}):
        log = _expand_home(changes["audit"].file)
        changes["audit"] = replace(changes["audit"], file=log)
    return changes


def _read_source(place: str, table: Any) -> SourceSettings:
    source = toml.fill(place, SourceSettings(), table)
    return replace(source, location=_expand_home(source.location))


def _expand_home(named: str) -> str:
    """Return a path of a settings file with a leading `~` as the user's home, as shells have it."""
    return os.path.expanduser(named)  # noqa: PTH111 - a user who is unknown stays as written


def _read_access(path: Path, table: Any) -> dict[str, Any]:
    rules: list[AccessRule] = []
    changes: dict[str, Any] = {}
    for glob, principals in toml.read_table(f"{path}: [access]", table).items():
        readers = toml.read_names(f"{path}: [access] {glob!r}", principals)
        if glob == "default":
            changes["access_default"] = readers
        else:
            rules.append(AccessRule(glob, readers))
    return {**changes, "rules": tuple(rules)}


def _read_groups(path: Path, table: Any) -> dict[str, tuple[str, ...]]:
    return {
        name: toml.read_names(f"{path}: [groups] {name}", users)
        for name, users in toml.read_table(f"{path}: [groups]", table).items()
    }


def _store_of(env: Mapping[str, str]) -> Path | str | None:
    return parse_store(env[VARIABLE], VARIABLE) if env.get(VARIABLE) else None


def parse_store(text: str, place: str = "") -> Path | str:
    """Return the store that a caller names: a file, or the URL of a server.

    `place` is what an error calls the place where the name stands.
    """
    _refuse_unknown_scheme(text, place)
    return text if servers.is_server(text) else Path(text).absolute()


def _refuse_unknown_scheme(text: str, place: str) -> None:
    scheme = servers.unknown_scheme(text)
    if scheme:  # not the whole of it: it may hold a password
        raise ConfigError(
            f"no store is opened by a URL that begins with {scheme}",
            field="store",
            value=scheme,
            allowed=servers.FORMS,
            place=place,
        )


def _with_store(config: Config, place: Path | str) -> Config:
    if isinstance(place, Path):
        return replace(config, store=place, server="")
    return replace(config, store=stand_in(config.root, place), server=place)


def _apply_environment(config: Config, env: Mapping[str, str]) -> Config:
    changes: dict[str, Any] = {}
    for key in ("space", "viewer"):
        if env.get(f"QUIRE_{key.upper()}"):
            changes[key] = env[f"QUIRE_{key.upper()}"]
    for section in SECTIONS:
        settings = getattr(config, section)
        values = {
            item.name: _parse_variable(variable, str(item.type), env[variable])
            for item in fields(settings)
            if (variable := f"QUIRE_{section.upper()}_{item.name.upper()}") in env
        }
        if values:
            changes[section] = replace(settings, **values)
    return replace(config, **changes)


def _apply_arguments(config: Config, arguments: Mapping[str, Any]) -> Config:
    table = toml.as_table(ARGUMENTS, arguments)
    for key in table:
        if key not in SECTIONS:
            toml.reject_key(ARGUMENTS, key, SECTIONS)
    sections = {
        key: toml.fill(f"{ARGUMENTS}: {key}", getattr(config, key), table[key]) for key in table
    }
    return replace(config, arguments=table, **sections)


def _parse_variable(variable: str, kind: str, text: str) -> Any:
    value: Any = text
    if kind == "tuple[str, ...]":
        value = [part.strip() for part in text.split(",") if part.strip()]
    elif kind == "bool":
        value = {"1": True, "true": True, "0": False, "false": False}.get(text.lower(), text)
    elif kind in {"int", "float", "Limit"}:
        try:
            value = float(text) if kind == "float" else int(text)
        except ValueError:
            value = text
    return toml.check_value(variable, kind, value)
