"""A space that is split over several stores: its shards.

Records are spread by the leading byte of the hash of their id, each with all that belongs to it.
`store` asks all shards and joins their answers, so that they are those of one store with the same
content; `part` is what answers in a shard; `catalog` holds what concerns the whole: which version
of each shard belongs to the last write, the roots, notes and stamps. How a shard is reached is
behind `contract`: in this process (`local`) or in actors of a Ray cluster (`on_ray`).
"""

from __future__ import annotations

from pathlib import Path

from quire.core import servers
from quire.errors import InputError, MissingExtraError, NoStoreError, StoreDamagedError, StoreError
from quire.store.shards.catalog import Catalog
from quire.store.shards.contract import RESTORE, ShardFile
from quire.store.shards.local import LocalShards
from quire.store.shards.store import ShardedStore

CATALOG = "catalog.db"
SHARD = "shard-{:03}.db"


def open_folder(folder: Path, *, create: bool, wait: float) -> ShardedStore:
    """Open the sharded store in a folder, with all shards in this process."""
    catalog = open_catalog(folder, create=create, wait=wait)
    try:
        shards = LocalShards(_files(folder, catalog), wait)
    except BaseException:
        catalog.close()
        raise
    return ShardedStore(catalog, shards, wait)


def open_on_ray(url: str, *, create: bool, wait: float) -> ShardedStore:
    """Open the sharded store that a URL names, with its shards in actors of a Ray cluster."""
    address, folder = servers.parse_ray(url)
    catalog = open_catalog(Path(folder), create=create, wait=wait)
    try:
        try:
            from quire.store.shards.on_ray import RayShards
        except ImportError as error:
            raise MissingExtraError(
                f"Ray is not installed ({error})", hint="pip install 'quire-context[ray]'"
            ) from error
        shards = RayShards(_files(Path(folder), catalog), address, wait)
    except BaseException:
        catalog.close()
        raise
    return ShardedStore(catalog, shards, wait)


def open_catalog(folder: Path, *, create: bool, wait: float) -> Catalog:
    """Open the catalog in a folder, or create it for as many shards as the folder's name says."""
    if folder.exists() and not folder.is_dir():
        raise StoreError(
            "a store in shards is a folder, and this is a file",
            place=str(folder),
            hint="name another place with {store}",
        )
    file = folder / CATALOG
    _refuse_link(file)
    if not file.exists() and (folder / SHARD.format(0)).exists():
        raise StoreDamagedError(
            "the catalog of the shards is missing", place=str(file), hint=RESTORE
        )
    if not create and not file.exists():
        raise NoStoreError(
            f"no store at {folder}",
            value=str(folder),
            hint="create one with `quire index`, or name another with {store}",
        )
    count = servers.shards_in_name(folder.name)
    if not (1 <= count <= servers.MAX_SHARDS or file.exists()):
        raise InputError(
            f"a store cannot have {count} shards, as the name {folder.name} says",
            value=folder.name,
            hint=f"name it NAME.N{servers.SHARDED}, where N is 1 to {servers.MAX_SHARDS}",
        )
    return Catalog(file, create=create, wait=wait, count=count)


def _files(folder: Path, catalog: Catalog) -> list[ShardFile]:
    """Return the files of the shards; those that hold something must be there."""
    files = [
        ShardFile(folder / SHARD.format(number), number, catalog.count, catalog.id)
        for number in range(catalog.count)
    ]
    for file in files:
        _refuse_link(file.path)
    for number in sorted(catalog.written()):
        if not files[number].path.exists():
            raise StoreDamagedError(
                "the file of a shard is missing", place=str(files[number].path), hint=RESTORE
            )
    return files


def _refuse_link(file: Path) -> None:
    """Refuse a link: a project can come with one, which leads to a store of somebody else."""
    if file.is_symlink():
        raise StoreError(
            "a file of a store in shards is a link, which is not followed",
            place=str(file),
            hint="put the folder itself where the files are to be",
        )
