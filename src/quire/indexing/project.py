"""An open store with its settings and the directory that it is about.

`Project` owns what has a lifetime (the store, the embedder, the text writer) and hands out views of
the store. Every view and every write starts from the settings as they are on disk: an access right
that was revoked in quire.toml must not outlive the next question.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from copy import copy
from dataclasses import replace
from pathlib import Path

from quire import config, rules
from quire._version import __version__
from quire.config import Config, user_cache
from quire.config.consents import Consents
from quire.config.sensitive import LOCAL_SOURCES
from quire.config.user_cache import CacheFile
from quire.core import globs, hashing, stored_json
from quire.core.guard import OWN
from quire.core.paths import is_under
from quire.core.protocols import Embedder, Judge, Store, TextWriter, View, Writer
from quire.core.types import (
    OWNER,
    OWNER_NAME,
    PUBLIC,
    DiskUse,
    IngestSettings,
    Problem,
    Reembedding,
    Status,
    Viewer,
)
from quire.core.types.blocks import IMPORTED, VAULT_FOLDERS
from quire.embed import open_by_name, open_embedder
from quire.embed.model_files import SHIPPED_NAME, is_outdated
from quire.errors import (
    ConfigError,
    EmbedError,
    EndpointError,
    InputError,
    MissingExtraError,
    NoStoreError,
    StoreBusyError,
)
from quire.indexing import cache_use
from quire.indexing.audit import AuditLog
from quire.indexing.cache_use import CacheUseLog
from quire.indexing.copy_store import forget_copy, why_incomplete
from quire.indexing.git_history import get_branch
from quire.indexing.language_notes import language_notes
from quire.indexing.plugins import NO_PARTS, OwnParts, open_reranker
from quire.ingest.paths import resolve_paths
from quire.llm.writer import open_writer
from quire.ranking import OwnReranker
from quire.rules.verdict_file import VerdictFile
from quire.store import is_name, open_store
from quire.store.access import access_list, refuse_string
from quire.system import platform, retry

EMBEDDED_BY = "embedded_by"
"""The note with the embed settings that the vectors were made under."""
REEMBED_FOR = "reembed_for"
"""The note with the embed settings that all vectors are being made again under; empty: none are."""
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
_ENDING = re.compile(r"[.][a-z0-9]{1,16}")
"""Of the names of imported files."""
USE_FILE = "use.jsonl"
VERDICT_FILE = f"verdicts-{__version__}.jsonl"
"""Another version may judge otherwise under the same name."""
SERVICE = "-service"
"""The end of the name of the file that the HTTP service keeps beside a store."""
STORE_FILES = ("-wal", "-shm", "-journal", SERVICE, f"{SERVICE}-wal", f"{SERVICE}-shm")
"""The ends of the names of files that SQLite and the HTTP service keep beside a store."""


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


def refuse_bad_paths(start: str, store: str | None, paths: Sequence[str]) -> None:
    """Refuse paths that a store which does not exist yet could not index."""
    settings = config.load(Path(start), store=store)
    if settings.server:
        return  # whether it holds a store is not known before it is asked
    if paths and not os.path.exists(settings.store):  # noqa: PTH110 - which never raises
        resolve_paths(settings.root, paths)


class Project:
    """An open store with its settings and the directory that it is about."""

    def __init__(self, settings: Config, *, create: bool = True, own: OwnParts = NO_PARTS) -> None:
        self.config = settings
        self.own = own
        self.store: Store = open_store(settings.location, create=create, vectors=settings.vectors)
        self.notes = _restrict(settings)
        """What the user should know: what was changed on opening, and what is incomplete."""
        self.audit = AuditLog(lambda: self.config, self.resolve_viewer)
        self.cache_use = CacheUseLog(self._cache_file(USE_FILE, cache_use.MAX_BYTES))
        self.consents = Consents(settings.store, os.environ)
        self._verdicts = VerdictFile(self._cache_file(VERDICT_FILE, settings.judge.cache_bytes))
        self._opening = threading.Lock()
        self._embedder: Embedder | None = None
        self._former: Embedder | None = None
        self._writer: TextWriter | None = None
        self._reranker: OwnReranker | None = None
        self._settings: object = None
        self._shared: Project | None = None
        self._reader: Viewer | str | None = None
        try:
            # A store that is found in its project is about that project, whatever it says itself.
            self._home = None if settings.own_store else _project_of(settings)
            if not create:
                self._refuse_unknown_space()
            self._load_settings_of(self.root())
            incomplete = why_incomplete(self.store, settings.space)
            self.notes += (incomplete,) if incomplete else ()
        except BaseException:
            self.store.close()
            raise

    def close(self) -> None:
        """Close the store and the models."""
        with self._opening:
            self._close_embedder()
            self._close_writer()
        self.store.close()

    def for_viewer(self, viewer: Viewer | str) -> Project:
        """Return the same open project with another default viewer; it is closed with this one."""
        self.resolve_viewer(viewer)
        bound = copy(self)
        bound._shared = self._shared or self  # noqa: SLF001 - of the same class
        bound._reader = viewer  # noqa: SLF001 - of the same class
        bound.audit = AuditLog(lambda: bound.config, bound.resolve_viewer)
        return bound

    def embedder(self) -> Embedder | None:
        """Return the configured embedder, loaded by the first caller; None if there is none."""
        if self.own.embedder is not None:
            return self.own.embedder
        if self._shared is not None:
            return self._shared.embedder()
        with self._opening:
            if self._embedder is None:
                self._embedder = open_embedder(self.config.embed, self.config.plugins.disable)
            return self._embedder

    def embed_settings_key(self) -> str:
        """Return the settings that decide over vectors, as the store notes them."""
        settings = self.config.embed
        return f"{settings.provider} {settings.folder} {settings.url} {settings.model}"

    def is_reembedding(self) -> bool:
        """Return whether all vectors are to be made again: the old ones answer until then."""
        space = self.config.space
        model = self.store.model(space)
        if model is None:
            return False
        asked = self.store.note(REEMBED_FOR, space) == self.embed_settings_key()
        return asked or is_outdated(self.config.embed, model)

    def reembedding(self) -> Reembedding | None:
        """Return how far the vectors are that will replace all others; None: there are none."""
        if not self.is_reembedding():
            return None
        settings = self.config.embed
        with self.view(OWNER) as view:
            coverage = view.coverage()
        model = settings.folder or settings.model or SHIPPED_NAME
        waiting = self.store.reembedding(self.config.space)
        waiting = waiting or Reembedding(model, 0, coverage.chunks)
        answers = coverage.model is None or self.why_words_alone(coverage.model) is None
        return replace(waiting, old_answer=answers)

    def former_embedder(self, model: str) -> Embedder | None:
        """Return the embedder of vectors that others replace, if it can still be opened."""
        if self._shared is not None:
            return self._shared.former_embedder(model)
        with self._opening:
            if self._former is None or self._former.model != model:
                self._former = open_by_name(model, self.config.embed)
            return self._former

    def why_words_alone(self, model: str) -> str | None:
        """Say why vectors of a model cannot answer until others replace them; None: they can."""
        current = (self._shared or self)._embedder  # noqa: SLF001 - of the same class
        if current is not None and current.model == model:
            return None
        settings_changed = self.store.note(EMBEDDED_BY, self.config.space) not in {
            None,
            self.embed_settings_key(),
        }
        outdated = is_outdated(self.config.embed, model)
        if not outdated and not (settings_changed and self.is_reembedding()):
            return None
        if self.former_embedder(model) is not None:
            return None
        return (
            f"words alone answer: the model of the vectors, {model}, is not installed any more; "
            "`quire index` makes them again (`--background`: in another process)"
        )

    def text_writer(self) -> TextWriter | None:
        """Return the configured text writer, opened by the first caller; None if there is none."""
        if self.own.writer is not None:
            return self.own.writer
        if self._shared is not None:
            return self._shared.text_writer()
        with self._opening:
            if self._writer is None:
                self._writer = open_writer(self.config.writer)
            return self._writer

    def reranker(self) -> OwnReranker | None:
        """Return the reranker, loaded by the first caller; None if there is none."""
        if self.own.reranker is not None:
            return self.own.reranker
        with self._opening:
            if self._reranker is None:
                self._reranker = open_reranker(self.config.rerank, self.config.plugins.disable)
            return self._reranker

    def open_judge(self) -> Judge:
        """Return the caller's own judge, or open the configured one."""
        if self.own.judge is not None:
            return self.own.judge
        return rules.open_judge(self.config.judge, self.embedder)

    def _close_embedder(self) -> None:
        if self._embedder is not None and self._shared is None:
            self._embedder.close()
            self._embedder = None
        if self._former is not None and self._shared is None:
            self._former.close()
            self._former = None

    def _close_writer(self) -> None:
        if self._writer is not None and self._shared is None:
            self._writer.close()
            self._writer = None

    def verdict_file(self) -> VerdictFile | None:
        """Return where verdicts are kept between processes.

        None with a client or the caller's own as the judge: its name does not say which model or
        user answers.
        """
        return None if self.config.judge.provider in {"mcp", OWN} else self._verdicts

    def _cache_file(self, name: str, max_bytes: int) -> CacheFile:
        store = self.config.store
        return CacheFile(user_cache.folder_of(store, os.environ), store, name, max_bytes)

    # --- views ---------------------------------------------------------------------------------

    def view(self, viewer: Viewer | str | None = None) -> AbstractContextManager[View]:
        """Open a view of what a viewer may read, under the settings as they are now."""
        resolved = self.resolve_viewer(viewer)
        self.refresh()
        return self.store.view(resolved, self.config.space)

    def resolve_viewer(self, viewer: Viewer | str | None) -> Viewer:
        """Return the viewer that an argument means; None is the configured one, or the owner."""
        named = viewer if viewer is not None else self._reader
        named = named if named is not None else self.config.viewer
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

        def read() -> tuple[Status, bool]:
            with self.view(viewer) as view:
                return view.status(), view.viewer.owner

        status, is_owner = retry.again(read)
        status = replace(status, notes=(*status.notes, *language_notes(status)))
        if not is_owner:
            return status
        branch = get_branch(self.store, self.config.space)
        return replace(status, branch=branch, disk=self._disk_use(), reembedding=self.reembedding())

    def _disk_use(self) -> DiskUse:
        return DiskUse(
            old_vectors=self.store.old_vectors(self.config.space),
            audit_log=self.audit.count_bytes(),
            verdicts=self._verdicts.count_bytes(),
        )

    def prune(self, keep: int = 0) -> int:
        """Delete vectors of texts that are gone but for the newest; return how many there were.

        The room is given back to the file system.
        """
        pruned = self.store.prune_vectors(keep, self.config.space)
        with suppress(StoreBusyError):  # somebody reads: the room is used for what comes next
            self.store.shrink()
        return pruned

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
        if incomplete := why_incomplete(self.store, self.config.space):
            if repair:
                forget_copy(self.store, self.config.space)
            problems.append(Problem("copy", incomplete, repaired=repair))
        stored = self.store.model(self.config.space)
        try:
            embedder = self.embedder()
            model = None if embedder is None else embedder.model
        except (EmbedError, EndpointError) as error:
            return [*problems, Problem("model", str(error))]
        except MissingExtraError as error:
            return problems if stored is None else [*problems, Problem("model", str(error))]
        if model is not None and stored not in {None, model}:
            way = (
                "run `quire index`, which replaces them when all are made"
                if self.is_reembedding()
                else "run `quire index --reembed`, or set [embed] back"
            )
            detail = (
                f"the store holds vectors of {stored}, but the configured model is {model}; {way}"
            )
            problems.append(Problem("model", detail))
        return problems

    # --- directory and settings ----------------------------------------------------------------

    def root(self) -> Path:
        """Return the directory that the space's paths are relative to."""
        recorded = self.store.note(ROOT, self.config.space)
        if recorded is None or self.config.own_store:
            return self.config.root
        home = self._home
        return Path(recorded) if home is None or self._is_vouched(recorded, home) else home

    def is_about(self, root: Path) -> bool:
        """Return whether the space's files are those below a directory.

        They are those of another one if that one exists and the store does not lie in this one,
        so that it was not copied or moved along; a link into another project is not inside.
        """
        recorded = self.store.note(ROOT, self.config.space)
        if recorded is None or recorded == str(root):
            return True
        if self._unvouched_root() is not None:
            return False
        if not os.path.isdir(recorded):  # noqa: PTH112 - which never raises, whatever it says
            return True
        if self.config.server:
            return False
        return self.config.store.resolve().is_relative_to(root.resolve())

    def _is_vouched(self, recorded: str, home: Path) -> bool:
        """Tell whether a store may be about a directory: in its own project, or by its user."""
        with suppress(OSError, ValueError, RuntimeError):
            if Path(recorded).resolve().is_relative_to(home.resolve()):
                return True
        return self.consents.has(self._root_fact(recorded))

    def _root_fact(self, root: str) -> Mapping[str, str]:
        return {"fact": ROOT, "space": self.config.space, "root": root}

    def _unvouched_root(self) -> str | None:
        """Return the directory that a store in a project claims to be about without being there.

        None if there is no doubt: a store at the usual place is about the project that it lies in.
        """
        recorded, home = self.store.note(ROOT, self.config.space), self._home
        if recorded is None or home is None or self._is_vouched(recorded, home):
            return None
        is_usual = self.config.store.resolve() == (home / config.DEFAULT_STORE).resolve()
        return None if is_usual else recorded

    def existing_root(self) -> Path:
        """Return the root, which must exist: indexing another one would empty the store."""
        root = self.root()
        if (claimed := self._unvouched_root()) is not None:
            raise InputError(
                f"{self.config.store_name} lies in {root}, but says that it is about {claimed}, "
                "outside of it; whoever wrote that may have been somebody else",
                value=claimed,
                hint="if it is yours, move it out of the project",
            )
        if not root.is_dir():
            raise InputError(
                f"{root}, the directory that {self.config.store_name} is about, does not exist",
                value=str(root),
                hint="restore it, or use another {store} or {space}; if it was moved, move the "
                f"store into it as {config.DEFAULT_STORE}",
            )
        return root

    def ingest_settings(self, root: Path) -> IngestSettings:
        """Return the ingest settings; files that are in the store in another form are ignored.

        These are pages that were imported and what sources read, beside Quire's own files.
        """
        settings, store = self.config.ingest, self.config.store
        files: tuple[str, ...] = (
            globs.path_glob(config.FILE),
            *self._imported_pages(),
            *self._source_files(root),
        )
        if store.is_relative_to(root):
            own = store.relative_to(root).as_posix()
            files += tuple(globs.path_glob(f"{own}{end}") for end in ("", *STORE_FILES))
        without = (*settings.without, *self.config.plugins.disable)
        return replace(settings, ignore=(*settings.ignore, *files), without=without)

    def _imported_pages(self) -> Iterator[str]:
        """Yield globs of the files that the store has as blocks."""
        stored = stored_json.read_object(self.store.note(IMPORTED, self.config.space))
        folders = {prefix: folder for prefix, folder in stored.items() if _is_imported(folder)}
        pages = [folder["page"] for folder in folders.values()]
        found = retry.read(self.store, self.config.space, lambda view: view.records(pages))
        there = {record.id for record in found}
        for prefix, folder in folders.items():
            if folder["page"] in there:  # else its blocks were deleted
                start = globs.path_glob(prefix.rstrip("/")) if prefix else ""
                yield from (f"{start}/**/*{_any_case(end)}" for end in folder["endings"])
                yield from (f"{start}/**/{name}" for name in VAULT_FOLDERS)

    def _source_files(self, root: Path) -> Iterator[str]:
        """Yield globs of the files that sources read: as files, more readers might see them."""
        for source in self.config.sources.values():
            if source.type in LOCAL_SOURCES and source.location:
                place = os.path.relpath(root / source.location, root)
                if place != os.curdir and not place.startswith(os.pardir):
                    yield globs.path_glob(Path(place).as_posix())

    def access_default(self) -> tuple[str, ...]:
        """Return who may read what no rule matches; empty: the owner alone."""
        recorded = self.store.note(DEFAULT_ACCESS, self.config.space)
        return (PUBLIC,) if recorded is None else stored_json.read_texts(recorded) or ()

    def settle(self, root: Path) -> None:
        """Make a directory the one that the space is about, and its access rules effective."""
        self.refresh()
        recorded = self.store.note(ROOT, self.config.space)
        if not self.is_about(root):
            raise InputError(
                f"{self.config.store_name} is about {recorded}, not about {root}",
                value=str(root),
                hint="use another {store} or {space} for it",
            )
        if recorded != str(root):
            home = self._home or _project_of(self.config)
            if home is not None and not root.is_relative_to(home):
                self.consents.add(self._root_fact(str(root)))
            retry.write(
                self.store, self.config.space, lambda writer: writer.set_note(ROOT, str(root))
            )
        self._sync_access()

    def refresh(self) -> None:
        """Reload quire.toml if it was edited, or if the project is trusted or not any more."""
        old, now = self.config, config.snapshot(self.config)
        if now == self._settings:
            return
        self.config = replace(
            config.load(
                old.root,
                store=None if old.own_store else old.location,
                arguments=old.arguments,
            ),
            store=old.store,
            server=old.server,
            own_store=old.own_store,
            space=old.space,
            viewer=old.viewer,
        )
        with self._opening:
            if self.config.rerank != old.rerank or self.config.plugins != old.plugins:
                self._reranker = None
            if self.config.embed != old.embed or self.config.plugins != old.plugins:
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

        def change(writer: Writer) -> None:
            writer.set_default(wanted.access_default)
            writer.set_rules(CONFIG, wanted.rules)
            writer.set_groups(CONFIG, wanted.groups)
            writer.set_note(ACCESS, named)
            writer.set_note(DEFAULT_ACCESS, json.dumps(access_list(wanted.access_default)))

        try:
            retry.write(self.store, space, change)
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
        filled = retry.read(self.store, space, lambda view: view.status().records > 0)
        rules, groups = self.store.rules(space), self.store.groups(space)
        if not filled and not any(rules.values()) and not any(groups.values()):
            raise NoStoreError(
                f"{self.config.store_name} has no space {space!r}",
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
                store=self.config.location,
                space=self.config.space,
                viewer=self.config.viewer,
                arguments=self.config.arguments,
            )
        self._settings = config.snapshot(self.config)
        if self.config.file is not None and self._is_home():
            self._sync_access()


def _project_of(settings: Config) -> Path | None:
    """Return the project that the file of a store lies in; None: it lies in none."""
    return None if settings.server else config.project_of(settings.store.resolve().parent)


def _is_imported(folder: object) -> bool:
    """Tell whether a note says which files of a folder are in the store as blocks."""
    return (
        isinstance(folder, dict)
        and stored_json.is_text(folder.get("page"))
        and stored_json.is_texts(folder.get("endings"))
        and all(map(_ENDING.fullmatch, folder["endings"]))
    )


def _any_case(ending: str) -> str:
    """Return a glob for the ending of a name, in capital letters or not."""
    return "".join(f"[{each}{each.upper()}]" if each.isalpha() else each for each in ending)


def _restrict(settings: Config) -> tuple[str, ...]:
    """Take an existing store from other users of the system; stores of earlier versions were open.

    A folder is restricted only if it is Quire's own.
    """
    store = settings.store
    if settings.server:
        with suppress(OSError):  # a folder that cannot be written is no reason not to read
            platform.make_private_folder(store.parent)
            if not any(store.parent.iterdir()):
                platform.create_new(store.parent / ".gitignore", b"*\n")
            platform.create_private(store)
        return ()
    files = [store, *(store.with_name(store.name + end) for end in STORE_FILES)]
    opened = [file for file in files if platform.restrict(file)]
    if store.parent.name == config.DEFAULT_STORE.parent.name:
        platform.restrict(store.parent)
    if not opened:
        return ()
    return (f"{store} could be read by other users of this system; only you can now",)
