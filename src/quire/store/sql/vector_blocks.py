"""The tables `vector_slot` and `vector_block`: which vectors exist, and where they are stored.

Vectors occupy slots in the order in which they were written, 1,024 to a block, each with its sign
code. Slots are only ever appended; when vectors are to be forgotten, all are rewritten and the
epoch is incremented. So the arrays that a reader has in memory stay valid for its epoch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from quire.core import hashing
from quire.errors import InputError, StoreError
from quire.store import access
from quire.store.damage import damaged
from quire.store.index import vectors
from quire.store.index.columns import ACCESS, DEAD, NO_SLOT, SLOT
from quire.store.index.vector_arrays import VectorArrays
from quire.store.index.vectors import Codes, Matrix
from quire.store.sql import rows
from quire.store.sql.connection import Connection
from quire.store.sql.transaction import Space, Transaction

BLOCK = 1024


def put(
    transaction: Transaction,
    model: str,
    by_key: Mapping[str, bytes],
    chunk_ids: Collection[str] | None = None,
) -> None:
    """Store the vectors of chunks that lack one; the first vectors set the space's model.

    A vector is stored for the access classes of those chunks (`chunk_ids`, or all of its text):
    that a text was embedded for others must not show, or a guess at what they hold could be
    checked.
    """
    if not by_key:
        return
    if chunk_ids is not None:
        access.refuse_string(chunk_ids)
        chunk_ids = frozenset(chunk_ids)
    space = transaction.space
    before = space.model, space.dims
    _accept(transaction, model, by_key)
    added: list[bytes] = []
    stored = False
    for name in sorted(by_key):
        places = _Places(transaction, bytes.fromhex(name))
        classes = {
            _class_of(transaction, chunk_key)
            for chunk_key, chunk_id in places.chunks
            if chunk_ids is None or chunk_id.hex() in chunk_ids
        }
        missing = classes - places.slots.keys()
        _store(transaction, added, places, by_key[name], missing)
        stored = stored or bool(missing)
    if not stored:
        space.model, space.dims = before
    _append(transaction, added)


def serve(transaction: Transaction, model: str, wanted: Iterable[tuple[bytes, int, bytes]]) -> None:
    """Store vectors (key, access class, vector) where chunks of that class lack one."""
    added: list[bytes] = []
    for key, class_id, data in wanted:
        places = _Places(transaction, key)
        classes = {_class_of(transaction, chunk_key) for chunk_key, _ in places.chunks}
        if class_id in classes - places.slots.keys():
            _accept(transaction, model, {key.hex(): data})
            _store(transaction, added, places, data, {class_id})
    _append(transaction, added)


def delete_all(transaction: Transaction) -> None:
    """Delete all vectors and the model."""
    if transaction.space.model is None:
        return
    for table in ("vector_slot", "vector_block"):
        transaction.connection.execute(
            f"DELETE FROM {table} WHERE space = ?",
            (transaction.space.id,),
        )
    transaction.trees.clear_vectors()
    transaction.draft.set_all(SLOT, NO_SLOT)
    transaction.space.model, transaction.space.dims, transaction.space.slots = None, 0, 0
    transaction.space.epoch += 1
    transaction.changed = True


def count_old(table: npt.NDArray[np.int32], space: Space) -> int:
    """Return how many vectors are stored that no chunk uses, from the columns of all rows."""
    slots = table[SLOT][table[ACCESS] != DEAD]
    return space.slots - int(np.unique(slots[slots >= 0]).size)


def compact(transaction: Transaction, keep: int | Collection[int] = 0) -> int:
    """Delete the vectors that no chunk uses any more; return their number.

    The newest `keep` of them stay, or those in the slots that it names.
    """
    space = transaction.space
    known = transaction.connection.rows(
        "SELECT v.key, v.class, v.slot, EXISTS (SELECT 1 FROM chunk c "
        f"JOIN {rows.CHUNK_RECORD} "
        "WHERE c.space = v.space AND c.vector_key = v.key AND r.class = v.class) "
        "FROM vector_slot v WHERE v.space = ? ORDER BY v.slot, v.class",
        (space.id,),
    )
    slots = {slot: False for _, _, slot, _ in known}
    for _, _, slot, used in known:
        slots[slot] = slots[slot] or bool(used)
    unused = [slot for slot, used in slots.items() if not used]  # the oldest first
    if isinstance(keep, int):
        kept = frozenset(unused[len(unused) - keep :] if keep else ())
    else:
        kept = frozenset(keep)
    orphans = sum(not used and slot not in kept for _, _, slot, used in known)
    if not orphans:
        return 0
    matrix, _ = read_all(transaction.connection, space)
    living = [
        (key, class_id, matrix[slot].tobytes())
        for key, class_id, slot, used in known
        if used or slot in kept
    ]
    model, dims = space.model, space.dims
    delete_all(transaction)
    if living:
        space.model, space.dims = model, dims
        added: list[bytes] = []
        for key, class_id, data in living:
            _store(transaction, added, _Places(transaction, key), data, {class_id})
        _append(transaction, added)
    return orphans


def move(transaction: Transaction, chunk_key: int, chunk_id: bytes, old: int, new: int) -> None:
    """Take a chunk's vector along to another access class, unless that has its own.

    It then serves all chunks of the same text there: a class has a vector for a text, or none.
    """
    space = transaction.space.id
    (key,) = transaction.connection.rows(
        "SELECT vector_key FROM chunk WHERE space = ? AND key = ?", (space, chunk_key)
    )[0]
    by_class = {
        class_id: (slot, vector)
        for class_id, slot, vector in transaction.connection.rows(
            "SELECT class, slot, hash FROM vector_slot WHERE space = ? AND key = ?", (space, key)
        )
    }
    slot, vector = by_class.get(new) or by_class.get(old) or (NO_SLOT, None)
    served = [(chunk_key, chunk_id)]
    if old in by_class and new not in by_class:
        transaction.connection.execute(
            "INSERT INTO vector_slot (space, key, class, slot, hash) VALUES (?, ?, ?, ?, ?)",
            (space, key, new, slot, vector),
        )
        served = [
            chunk
            for chunk in _chunks_with(transaction, key)
            if _class_of(transaction, chunk[0]) == new
        ]
    for served_key, served_id in served:
        transaction.draft.set(rows.row_of(served_key), SLOT, slot)
        transaction.trees.set(new, served_id, _content(transaction, new, served_id), vector)


def read_blocks(
    connection: Connection, space: int, slot: int
) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the blocks from a slot on: the first slot of a block, its vectors, its codes."""
    for block, vector_data, code_data in connection.stream(
        "SELECT block, vectors, codes FROM vector_block "
        "WHERE space = ? AND block >= ? ORDER BY block",
        (space, slot // BLOCK),
    ):
        yield block * BLOCK, vector_data, code_data


def count_bytes(connection: Connection, space: int) -> int:
    """Return the size of all vectors."""
    ((stored,),) = connection.rows(
        "SELECT coalesce(sum(length(vectors)), 0) FROM vector_block WHERE space = ?", (space,)
    )
    return int(stored)


def read_slots(connection: Connection, space: Space, slots: npt.NDArray[np.int64]) -> Matrix:
    """Return the vectors in some slots, which are in ascending order."""
    dims = space.dims
    found = connection.rows(
        "SELECT v.value, "
        "substr(b.vectors, CAST((v.value - v.value / ?2 * ?2) * ?3 + 1 AS INTEGER), "
        "CAST(?3 AS INTEGER)) "
        "FROM carray(?1) v CROSS JOIN vector_block b "
        "ON b.space = ?4 AND b.block = v.value / ?2 ORDER BY v.value",
        (connection.array(slots), BLOCK, dims, space.id),
    )
    if len(found) != slots.size or any(len(data) != dims for _, data in found):
        raise damaged("vectors are missing")
    return np.frombuffer(b"".join(data for _, data in found), np.int8).reshape(-1, dims)


def read_all(connection: Connection, space: Space) -> tuple[Matrix, Codes]:
    """Return all vectors of a space with their codes, without any cache."""
    return read_arrays(VectorArrays(), connection, space)


def read_arrays(arrays: VectorArrays, connection: Connection, space: Space) -> tuple[Matrix, Codes]:
    """Return all vectors of a space with their codes, as far as they are known already."""
    load = partial(read_blocks, connection, space.id)
    stored = partial(count_bytes, connection, space.id)
    return arrays.read(space.epoch, space.slots, space.dims, load, stored)


def _accept(transaction: Transaction, model: str, by_key: Mapping[str, bytes]) -> None:
    """Refuse vectors that do not fit the space, and set its model."""
    space = transaction.space
    space.dims = check_vectors(model, by_key, space.model, space.dims)
    space.model = model


def check_vectors(model: str, by_key: Mapping[str, bytes], known: str | None, dims: int = 0) -> int:
    """Refuse vectors that do not fit those of a known model; return their dimensions."""
    if known not in {None, model}:
        raise StoreError(
            f"the store holds vectors of {known}, these are of {model}",
            value=model,
            hint="embed everything again with `quire index --reembed`",
        )
    dims = dims or len(next(iter(by_key.values()), b""))
    for name, data in by_key.items():
        check_vector(name, data, dims)
    return dims


def check_vector(name: str, data: bytes, dims: int) -> None:
    """Refuse a vector with another number of dimensions, or one that is too long."""
    place = f"vector {name}"
    if not rows.ID.fullmatch(name):
        raise InputError(f"the vector key {name!r} must have 32 hexadecimal digits", value=name)
    if len(data) != dims or dims == 0:
        raise InputError(f"expected {max(1, dims)} dimensions, not {len(data)}", place=place)
    if not vectors.has_exact_products(data):
        raise InputError("its norm is too large", place=place, hint="scale its numbers down")


def _chunks_with(transaction: Transaction, key: bytes) -> list[tuple[int, bytes]]:
    """Return key and id of the chunks whose text has this vector key."""
    chunks = transaction.connection.rows(
        "SELECT key, id FROM chunk WHERE space = ? AND vector_key = ?", (transaction.space.id, key)
    )
    return [(chunk_key, chunk_id) for chunk_key, chunk_id in chunks]


def _class_of(transaction: Transaction, chunk_key: int) -> int:
    return int(transaction.draft.table[ACCESS, rows.row_of(chunk_key)])


def _content(transaction: Transaction, class_id: int, chunk_id: bytes) -> bytes:
    leaf = transaction.trees.leaf(class_id, chunk_id)
    if leaf is None:
        raise damaged(f"chunk {chunk_id.hex()} has no leaf")
    return leaf[0]


class _Places:
    """Where a vector belongs, read once: each question is a round trip to a server."""

    def __init__(self, transaction: Transaction, key: bytes) -> None:
        self.key = key
        self.chunks = _chunks_with(transaction, key)
        """Key and id of the chunks whose text has this vector key."""
        self.slots: dict[int, tuple[int, bytes]] = {
            class_id: (slot, vector)
            for class_id, slot, vector in transaction.connection.rows(
                "SELECT class, slot, hash FROM vector_slot WHERE space = ? AND key = ?",
                (transaction.space.id, key),
            )
        }
        """Slot and hash of the vectors that access classes have already."""


def _store(
    transaction: Transaction,
    added: list[bytes],
    places: _Places,
    data: bytes,
    classes: Collection[int],
) -> None:
    """Store a vector for some access classes; equal vectors share a slot."""
    if not classes:
        return
    space, key, vector = transaction.space, places.key, hashing.digest_bytes(data)
    known = next((slot for slot, stored in places.slots.values() if stored == vector), None)
    slot = space.slots + len(added) if known is None else known
    if known is None:
        added.append(data)
    transaction.connection.executemany(
        "INSERT INTO vector_slot (space, key, class, slot, hash) VALUES (?, ?, ?, ?, ?)",
        [(space.id, key, class_id, slot, vector) for class_id in sorted(classes)],
    )
    for chunk_key, chunk_id in places.chunks:
        class_id = _class_of(transaction, chunk_key)
        if class_id in classes:
            content = _content(transaction, class_id, chunk_id)
            transaction.draft.set(rows.row_of(chunk_key), SLOT, slot)
            transaction.trees.set(class_id, chunk_id, content, vector)


def _append(transaction: Transaction, added: Sequence[bytes]) -> None:
    """Write vectors into the next slots."""
    if not added:
        return
    space = transaction.space
    matrix = np.frombuffer(b"".join(added), np.int8).reshape(-1, space.dims)
    codes = vectors.sign_codes(matrix)
    done = 0
    while done < matrix.shape[0]:
        block, used = divmod(space.slots + done, BLOCK)
        part = slice(done, done + BLOCK - used)
        transaction.connection.execute(
            "INSERT INTO vector_block (space, block, vectors, codes) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (space, block) DO UPDATE SET "
            "vectors = CAST(vector_block.vectors || excluded.vectors AS BLOB), "
            "codes = CAST(vector_block.codes || excluded.codes AS BLOB)",
            (space.id, block, matrix[part].tobytes(), codes[part].astype("<u8").tobytes()),
        )
        done += BLOCK - used
    space.slots += len(added)
    transaction.changed = True
