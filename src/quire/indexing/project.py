"""Which store is open, under which settings, about which directory?

What can be done with an open store beside asking it: see what is in it, say who may read it, check
it, purge it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from quire import config
from quire.config import Config
from quire.core import globs, hashing
from quire.core.paths import is_under
from quire.core.protocols import Embedder, Store, TextWriter, View
from quire.core.types import (
    NO_FILTER,
    OWNER,
    OWNER_NAME,
    PUBLIC,
    AccessRule,
    Chunk,
    Filter,
    IngestSettings,
    Problem,
    Proof,
    Record,
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
from quire.indexing import files as indexing_files
from quire.indexing import git_history
from quire.ingest.paths import relative_paths
from quire.llm.writer import open_writer
from quire.pipeline import notes
from quire.store import is_name, open_store
from quire.store.access import access_list, refuse_text

COMMAND = "command"
CONFIG = "config"
INDEXED_AT = "indexed_at"
ACCESS = "access"
"""The note that names those rules of quire.toml that are in force."""
DEFAULT_ACCESS = "access_default"
"""The note that says who may read what no rule matches."""
ROOT = "root"
"""The note that keeps the directory that a space was indexed from."""
NO_OWNER = f"{OWNER_NAME!r} is no viewer: name none, and you read as the owner"


def viewer_name(text: str) -> str:
    """Refuse what cannot be the name of a viewer."""
    if not is_name(text):
        raise InputError(
            f"{text!r} is no viewer: give a user's name, without an @ before it, and without "
            "colons, commas or spaces"
        )
    if text == OWNER_NAME:
        raise InputError(NO_OWNER)
    return text


class Project:
    """An open store with its settings and the directory that it is about."""

    def __init__(self, settings: Config, *, create: bool = True) -> None:
        self.config = settings
        self.store: Store = open_store(settings.store, create=create)
        self._embedder: Embedder | None = None
        self._writer: TextWriter | None = None
        try:
            if not create:
                self._refuse_unknown()
            self._move_in(self.root())
        except BaseException:
            self.store.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store and let go of the model."""
        if self._embedder is not None:
            self._embedder.close()
            self._embedder = None
        self._dismiss()
        self.store.close()

    def _dismiss(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def embedder(self) -> Embedder | None:
        """Give the configured embedder, loaded when it is first needed."""
        if self._embedder is None:
            self._embedder = open_embedder(self.config.embed)
        return self._embedder

    def _text_writer(self) -> TextWriter | None:
        """Give the model that writes, opened when it is first needed; None: none is set."""
        if self._writer is None:
            self._writer = open_writer(self.config.writer)
        return self._writer

    def status(self, viewer: Viewer | str | None = None) -> Status:
        """Tell what the store holds, as far as a viewer may know."""
        with self._view(viewer) as view:
            return view.status()

    def indexed_at(self) -> int | None:
        """Tell when `index` last ran to its end, in seconds since 1970."""
        at = self.store.note(INDEXED_AT, self.config.space)
        return None if at is None else int(at)

    def history(self) -> tuple[str, int] | None:
        """Tell up to which commit of git the store goes, and how many it holds."""
        return git_history.held(self.store, self.config.space)

    def stale(self) -> dict[str, int]:
        """Count the files that are new, changed or gone since the last `index`."""
        root = self._directory()
        return indexing_files.stale(
            self.store, self.config.space, root, self._ingest_settings(root)
        )

    def records(
        self, where: Filter = NO_FILTER, viewer: Viewer | str | None = None
    ) -> list[Record]:
        """List what was ingested."""
        notes.check(where)
        with self._view(viewer) as view:
            return list(view.listing(where))

    def pieces(self, path: str | None = None, viewer: Viewer | str | None = None) -> list[Chunk]:
        """Fetch the pieces of one path, or of everything, in reading order."""
        with self._view(viewer) as view:
            return [
                chunk
                for record in view.listing()
                if path is None or record.path == path
                for chunk in view.chunks_of(record.id)
            ]

    def text_of(self, name: str, viewer: Viewer | str | None = None) -> str:
        """Give the text of a piece, or of a whole record, by its id."""
        with self._view(viewer) as view:
            found = view.chunks([name]) or (view.chunks_of(name) if view.records([name]) else ())
        if not found:
            raise InputError(f"nothing here has the id {name!r}: search for it, ids change")
        return "".join(chunk.text for chunk in found)

    def prove(self, chunk_id: str, viewer: Viewer | str | None = None) -> Proof:
        """Show that a chunk is under the viewer's content root."""
        with self._view(viewer) as view:
            return view.prove(chunk_id)

    def purge(self, paths: Sequence[str | os.PathLike[str]]) -> list[str]:
        """Delete files from the store for good; gives the paths that were deleted."""
        under = relative_paths(self.root(), paths, must_exist=False)
        with self._view(OWNER) as view:
            found = [
                record
                for record in view.listing()
                if any(is_under(record.path, part) for part in under)
            ]
        self.store.purge([record.id for record in found], self.config.space)
        return [record.path for record in found]

    def path_of(self, path: str | os.PathLike[str]) -> str:
        """Give the path under which the store holds a file, be it there or not."""
        (found,) = relative_paths(self.root(), [path], must_exist=False)
        return found

    def still_there(self, paths: Sequence[str]) -> list[str]:
        """Tell which of these paths of the space exist on disk."""
        root = self.root()
        return [path for path in paths if os.path.lexists(root / path)]

    def doctor(self, *, repair: bool = False) -> list[Problem]:
        """Check the file, the roots and the model; repair what can be derived again."""
        problems = self.store.check(repair=repair)
        held = self.store.model(self.config.space)
        try:
            embedder = self.embedder()
            model = None if embedder is None else embedder.model
        except (EmbedError, EndpointError) as error:
            return [*problems, Problem("model", str(error))]
        except MissingExtraError as error:
            return problems if held is None else [*problems, Problem("model", str(error))]
        if model is not None and held not in {None, model}:
            detail = (
                f"the store holds vectors of {held}, the configured model is {model}; "
                "run `quire index --reembed`, or set [embed] back"
            )
            problems.append(Problem("model", detail))
        return problems

    def rules(self) -> dict[str, tuple[AccessRule, ...]]:
        """Tell the access rules: those of quire.toml, then those given by command."""
        return self.store.rules(self.config.space)

    def groups(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Tell the groups: those of quire.toml, then those given by command."""
        return self.store.groups(self.config.space)

    def access_default(self) -> tuple[str, ...]:
        """Tell who may read what no rule matches; nobody named: the owner alone."""
        held = self.store.note(DEFAULT_ACCESS, self.config.space)
        return (PUBLIC,) if held is None else tuple(json.loads(held))

    def notes_on(self, rules: Iterable[AccessRule]) -> list[str]:
        """Tell which of some access rules no file in the store falls under."""
        listed = tuple(rules)
        return notes.on_rules(listed, [one.path for one in self.records(viewer=OWNER)])

    def set_rules(self, rules: Sequence[AccessRule]) -> None:
        """Replace the access rules that were given by command; effective at once."""
        with self.store.write(self.config.space) as writer:
            writer.set_rules(COMMAND, rules)

    def set_groups(self, groups: Mapping[str, Sequence[str]]) -> None:
        """Replace the groups that were given by command; effective at once."""
        with self.store.write(self.config.space) as writer:
            writer.set_groups(COMMAND, groups)

    def _sync_access(self) -> None:
        """Let the rules of quire.toml take effect, if they are not in force already."""
        space, wanted = self.config.space, self.config
        rules = tuple((rule.glob, rule.principals) for rule in wanted.rules)
        named = hashing.identifier("access", wanted.access_default, rules, wanted.groups)
        told = self.store.note(DEFAULT_ACCESS, space) is not None
        if told and self.store.note(ACCESS, space) == named:
            return  # who only reads must not wait for a writer
        try:
            with self.store.write(space) as writer:
                writer.set_default(wanted.access_default)
                writer.set_rules(CONFIG, wanted.rules)
                writer.set_groups(CONFIG, wanted.groups)
                writer.set_note(ACCESS, named)
                writer.set_note(DEFAULT_ACCESS, json.dumps(access_list(wanted.access_default)))
        except InputError as error:
            raise ConfigError(f"{wanted.file or 'the settings'}: [access] {error}") from error

    def root(self) -> Path:
        """Tell which directory the space's paths are relative to."""
        held = self.store.note(ROOT, self.config.space)
        return self.config.root if held is None or self.config.own_store else Path(held)

    def _directory(self) -> Path:
        """Give the root, which must be there: another would push out all that the store holds."""
        root = self.root()
        if not root.is_dir():
            raise InputError(
                f"{root}, the directory that {self.config.store} is about, is not there: bring it "
                "back, or use another --store or --space; if it was moved, move the store into it "
                f"as {config.DEFAULT_STORE}"
            )
        return root

    def _refuse_unknown(self) -> None:
        """Refuse a space that nothing was ever put into: its name may be misspelt."""
        space = self.config.space
        if self.store.note(ROOT, space) is not None:
            return
        with self.store.view(OWNER, space) as view:
            filled = view.status().records > 0
        if not filled and not any(self.rules().values()) and not any(self.groups().values()):
            raise NoStoreError(
                f"{self.config.store} has no space {space!r}: check its name, or make it with "
                "`quire index --space NAME`"
            )

    def _is_home(self) -> bool:
        """Tell whether the settings at hand are those of the indexed directory itself."""
        return self.store.note(ROOT, self.config.space) == str(self.config.root)

    def _move_in(self, root: Path) -> None:
        """Take over the settings of the directory that the store is about."""
        if root != self.config.root and root.is_dir():
            self.config = config.load(
                root,
                store=self.config.store,
                space=self.config.space,
                viewer=self.config.viewer,
            )
        self._settings = self._settings_text()
        if self.config.file is not None and self._is_home():
            self._sync_access()

    def _refresh(self) -> None:
        """Take up what was edited: a right taken back must not outlive the next question."""
        text, held = self._settings_text(), self.config
        if text == self._settings:
            return
        self.config = replace(
            config.load(held.root),
            store=held.store,
            own_store=held.own_store,
            space=held.space,
            viewer=held.viewer,
        )
        if self._embedder is not None and self.config.embed != held.embed:
            self._embedder.close()
            self._embedder = None
        if self.config.writer != held.writer:
            self._dismiss()
        if self.config.file is not None and self._is_home():
            self._sync_access()
        self._settings = text  # only now: what was refused is refused again, until it is mended

    def _settings_text(self) -> bytes | None:
        try:
            return (self.config.root / config.FILE).read_bytes()
        except OSError:
            return None

    def _settle(self, root: Path) -> None:
        """Make a directory the one that the space is about, if it is not yet."""
        self._refresh()
        held = self.store.note(ROOT, self.config.space)
        if held != str(root):
            inside = self.config.store.is_relative_to(root)  # then it was copied or moved along
            if held is not None and Path(held).is_dir() and not inside:
                raise InputError(
                    f"{self.config.store} is about {held}, not about {root}; "
                    "use another --store or --space for it"
                )
            with self.store.write(self.config.space) as writer:
                writer.set_note(ROOT, str(root))
        self._sync_access()

    def _ingest_settings(self, root: Path) -> IngestSettings:
        """Add to what is ignored: the store must not index itself."""
        settings, store = self.config.ingest, self.config.store
        if not store.is_relative_to(root):
            return settings
        own = store.relative_to(root).as_posix()
        files = tuple(globs.literal(f"{own}{end}") for end in ("", "-wal", "-shm", "-journal"))
        return replace(settings, ignore=(*settings.ignore, *files))

    def _viewer(self, viewer: Viewer | str | None) -> Viewer:
        asked = self.config.viewer if viewer is None else viewer
        if asked is None:
            return OWNER
        found = Viewer(viewer_name(asked)) if isinstance(asked, str) else asked
        if not isinstance(found, Viewer):
            raise InputError(f"{found!r} is no viewer: give a user's name, or a Viewer")
        for names in (found.groups, found.links):
            refuse_text(names)
        if found.name == OWNER_NAME and not found.owner:
            raise InputError(NO_OWNER)
        return found

    def _view(self, viewer: Viewer | str | None = None) -> AbstractContextManager[View]:
        asked = self._viewer(viewer)
        self._refresh()
        return self.store.view(asked, self.config.space)
