"""An open store with its settings and the directory that it is about.

`Project` owns what has a lifetime (the store, the embedder, the text writer) and hands out views of
the store. Every view and every write starts from the settings as they are on disk: an access right
that was revoked in quire.toml must not outlive the next question.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from quire import config
from quire.config import Config
from quire.core import globs, hashing
from quire.core.paths import is_under
from quire.core.protocols import Embedder, Store, TextWriter, View
from quire.core.types import (
    OWNER,
    OWNER_NAME,
    PUBLIC,
    IngestSettings,
    Problem,
    Status,
    Viewer,
)
from quire.embed import open_embedder
from quire.errors import (
    ConfigError,
    EmbedError,
    EndpointError,
    InputError,
    MissingExtraError,
    NoStoreError,
)
from quire.indexing.audit import AuditLog
from quire.ingest.paths import resolve_paths
from quire.llm.writer import open_writer
from quire.store import is_name, open_store
from quire.store.access import access_list, refuse_string
from quire.system import platform

CONFIG = "config"
"""The origin of the rules and groups that quire.toml states."""
INDEXED_AT = "indexed_at"
"""The note with the time at which `index` last ran to its end."""
ACCESS = "access"
"""The note with the hash of those rules of quire.toml that are in force."""
DEFAULT_ACCESS = "access_default"
"""The note that says who may read what no rule matches."""
ROOT = "root"
"""The note with the directory that a space was indexed from."""
STORE_FILES = ("-wal", "-shm", "-journal")
"""The ends of the names of files that SQLite keeps beside a store."""


def viewer_name(text: str) -> str:
    """Return a viewer's name; raise `InputError` if it cannot be one."""
    if not is_name(text):
        raise InputError(
            f"{text!r} is not a user's name",
            field="viewer",
            value=text,
            hint="leave out the @, colons, commas and spaces",
        )
    if text == OWNER_NAME:
        raise _owner_by_name()
    return text


def _owner_by_name() -> InputError:
    return InputError(
        f"{OWNER_NAME!r} is not a user's name",
        field="viewer",
        value=OWNER_NAME,
        hint="leave out {viewer} to read as the owner",
    )


class Project:
    """An open store with its settings and the directory that it is about."""

    def __init__(self, settings: Config, *, create: bool = True) -> None:
        self.config = settings
        self.store: Store = open_store(settings.store, create=create)
        self.notes = _restrict(settings)
        """What was changed on opening that the user should know."""
        self.audit = AuditLog(lambda: self.config, self.resolve_viewer)
        self._opening = threading.Lock()
        self._embedder: Embedder | None = None
        self._writer: TextWriter | None = None
        self._settings: object = None
        try:
            if not create:
                self._refuse_unknown_space()
            self._load_settings_of(self.root())
        except BaseException:
            self.store.close()
            raise

    def close(self) -> None:
        """Close the store and the models."""
        with self._opening:
            self._close_embedder()
            self._close_writer()
        self.store.close()

    def embedder(self) -> Embedder | None:
        """Return the configured embedder, loaded by the first caller; None if there is none."""
        with self._opening:
            if self._embedder is None:
                self._embedder = open_embedder(self.config.embed)
            return self._embedder

    def text_writer(self) -> TextWriter | None:
        """Return the configured text writer, opened by the first caller; None if there is none."""
        with self._opening:
            if self._writer is None:
                self._writer = open_writer(self.config.writer)
            return self._writer

    def _close_embedder(self) -> None:
        if self._embedder is not None:
            self._embedder.close()
            self._embedder = None

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    # --- views ---------------------------------------------------------------------------------

    def view(self, viewer: Viewer | str | None = None) -> AbstractContextManager[View]:
        """Open a view of what a viewer may read, under the settings as they are now."""
        resolved = self.resolve_viewer(viewer)
        self.refresh()
        return self.store.view(resolved, self.config.space)

    def resolve_viewer(self, viewer: Viewer | str | None) -> Viewer:
        """Return the viewer that an argument means; None is the configured one, or the owner."""
        named = self.config.viewer if viewer is None else viewer
        if named is None:
            return OWNER
        resolved = Viewer(viewer_name(named)) if isinstance(named, str) else named
        if not isinstance(resolved, Viewer):
            raise InputError(
                f"expected a user's name or a Viewer, not {resolved!r}",
                field="viewer",
                value=resolved,
            )
        for names in (resolved.groups, resolved.links):
            refuse_string(names)
        if resolved.name == OWNER_NAME and not resolved.owner:
            raise _owner_by_name()
        return resolved

    # --- upkeep --------------------------------------------------------------------------------

    def status(self, viewer: Viewer | str | None = None) -> Status:
        """Summarize what the store holds, as far as a viewer may know."""
        with self.view(viewer) as view:
            return view.status()

    def purge(self, paths: Sequence[str | os.PathLike[str]]) -> list[str]:
        """Delete files from the store for good; return the paths that were deleted."""
        under = resolve_paths(self.root(), paths, must_exist=False)
        with self.view(OWNER) as view:
            records = [
                record
                for record in view.listing()
                if any(is_under(record.path, part) for part in under)
            ]
        self.store.purge([record.id for record in records], self.config.space)
        return [record.path for record in records]

    def doctor(self, *, repair: bool = False) -> list[Problem]:
        """Check the file, the roots and the model; repair what can be derived again."""
        problems = self.store.check(repair=repair)
        stored = self.store.model(self.config.space)
        try:
            embedder = self.embedder()
            model = None if embedder is None else embedder.model
        except (EmbedError, EndpointError) as error:
            return [*problems, Problem("model", str(error))]
        except MissingExtraError as error:
            return problems if stored is None else [*problems, Problem("model", str(error))]
        if model is not None and stored not in {None, model}:
            detail = (
                f"the store holds vectors of {stored}, but the configured model is {model}; "
                "run `quire index --reembed`, or set [embed] back"
            )
            problems.append(Problem("model", detail))
        return problems

    # --- directory and settings ----------------------------------------------------------------

    def root(self) -> Path:
        """Return the directory that the space's paths are relative to."""
        recorded = self.store.note(ROOT, self.config.space)
        return self.config.root if recorded is None or self.config.own_store else Path(recorded)

    def existing_root(self) -> Path:
        """Return the root, which must exist: indexing another one would empty the store."""
        root = self.root()
        if not root.is_dir():
            raise InputError(
                f"{root}, the directory that {self.config.store} is about, does not exist",
                value=str(root),
                hint="restore it, or use another {store} or {space}; if it was moved, move the "
                f"store into it as {config.DEFAULT_STORE}",
            )
        return root

    def ingest_settings(self, root: Path) -> IngestSettings:
        """Return the ingest settings, with the store's own files ignored."""
        settings, store = self.config.ingest, self.config.store
        if not store.is_relative_to(root):
            return settings
        own = store.relative_to(root).as_posix()
        files = tuple(globs.path_glob(f"{own}{end}") for end in ("", *STORE_FILES))
        return replace(settings, ignore=(*settings.ignore, *files))

    def access_default(self) -> tuple[str, ...]:
        """Return who may read what no rule matches; empty: the owner alone."""
        recorded = self.store.note(DEFAULT_ACCESS, self.config.space)
        return (PUBLIC,) if recorded is None else tuple(json.loads(recorded))

    def settle(self, root: Path) -> None:
        """Make a directory the one that the space is about, and its access rules effective."""
        self.refresh()
        recorded = self.store.note(ROOT, self.config.space)
        if recorded != str(root):
            inside = self.config.store.is_relative_to(root)  # then it was copied or moved along
            if recorded is not None and Path(recorded).is_dir() and not inside:
                raise InputError(
                    f"{self.config.store} is about {recorded}, not about {root}",
                    value=str(root),
                    hint="use another {store} or {space} for it",
                )
            with self.store.write(self.config.space) as writer:
                writer.set_note(ROOT, str(root))
        self._sync_access()

    def refresh(self) -> None:
        """Reload quire.toml if it was edited, or if the project is trusted or not any more."""
        old, now = self.config, config.snapshot(self.config)
        if now == self._settings:
            return
        self.config = replace(
            config.load(old.root, store=None if old.own_store else old.store),
            store=old.store,
            own_store=old.own_store,
            space=old.space,
            viewer=old.viewer,
        )
        with self._opening:
            if self.config.embed != old.embed:
                self._close_embedder()
            if self.config.writer != old.writer:
                self._close_writer()
        if self.config.file is not None and self._is_home():
            self._sync_access()
        self._settings = now  # only now: settings that were refused are refused again

    def _sync_access(self) -> None:
        """Make the access rules of quire.toml effective, unless they are already."""
        space, wanted = self.config.space, self.config
        rules = tuple((rule.glob, rule.principals) for rule in wanted.rules)
        named = hashing.identifier("access", wanted.access_default, rules, wanted.groups)
        has_default = self.store.note(DEFAULT_ACCESS, space) is not None
        if has_default and self.store.note(ACCESS, space) == named:
            return  # a reader must not wait for a writer
        try:
            with self.store.write(space) as writer:
                writer.set_default(wanted.access_default)
                writer.set_rules(CONFIG, wanted.rules)
                writer.set_groups(CONFIG, wanted.groups)
                writer.set_note(ACCESS, named)
                writer.set_note(DEFAULT_ACCESS, json.dumps(access_list(wanted.access_default)))
        except InputError as error:
            raise ConfigError(
                error.message,
                field=error.field,
                value=error.value,
                allowed=error.allowed,
                hint=error.hint,
                place=f"{wanted.file or 'the settings'}, [access]",
            ) from error

    def _refuse_unknown_space(self) -> None:
        """Refuse a space that nothing was ever put into: its name may be misspelt."""
        space = self.config.space
        if self.store.note(ROOT, space) is not None:
            return
        with self.store.view(OWNER, space) as view:
            filled = view.status().records > 0
        rules, groups = self.store.rules(space), self.store.groups(space)
        if not filled and not any(rules.values()) and not any(groups.values()):
            raise NoStoreError(
                f"{self.config.store} has no space {space!r}",
                field="space",
                value=space,
                hint="check its name, or create it with `quire index --space NAME`",
            )

    def _is_home(self) -> bool:
        """Return whether the current settings are those of the indexed directory itself."""
        return self.store.note(ROOT, self.config.space) == str(self.config.root)

    def _load_settings_of(self, root: Path) -> None:
        """Switch to the settings of the directory that the store is about."""
        if root != self.config.root and root.is_dir():
            self.config = config.load(
                root,
                store=self.config.store,
                space=self.config.space,
                viewer=self.config.viewer,
            )
        self._settings = config.snapshot(self.config)
        if self.config.file is not None and self._is_home():
            self._sync_access()


def _restrict(settings: Config) -> tuple[str, ...]:
    """Take an existing store from other users of the system; stores of earlier versions were open.

    A folder is restricted only if it is Quire's own.
    """
    store = settings.store
    files = [store, *(store.with_name(store.name + end) for end in STORE_FILES)]
    opened = [file for file in files if platform.restrict(file)]
    if store.parent.name == config.DEFAULT_STORE.parent.name:
        platform.restrict(store.parent)
    if not opened:
        return ()
    return (f"{store} could be read by other users of this system; only you can now",)
