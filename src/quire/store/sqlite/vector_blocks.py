"""Where are the vectors?

Vectors stand in slots, in the order in which they came, 1,024 to a block, each with its sign
code. Slots are only ever appended; when vectors are to be forgotten, all are written anew and
the epoch moves on. So what a reader has in memory stays right for as long as its epoch lasts.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from quire.core import hashing
from quire.errors import InputError, StoreDamagedError, StoreError
from quire.store.index import vectors
from quire.store.index.columns import ACCESS, NO_SLOT, SLOT
from quire.store.index.vectors import Codes, Matrix
from quire.store.sqlite import rows
from quire.store.sqlite.database import REPAIR, Connection
from quire.store.sqlite.transaction import Change

BLOCK = 1024


def put(change: Change, model: str, wanted: Mapping[str, bytes]) -> None:
    """Keep vectors for the chunks that want them; the first ones set the space's model.

    A vector is kept for the access classes of those chunks: that a text has been embedded for
    others must not show, or a guess at what they hold could be checked.
    """
    if not wanted:
        return
    space = change.space
    before = space.model, space.dims
    _accept(change, model, wanted)
    added: list[bytes] = []
    kept = False
    for name in sorted(wanted):
        key = bytes.fromhex(name)
        held = {_class_of(change, place) for place, _ in _users(change, key)}
        lacking = held - _kept_for(change, key)
        _keep(change, added, key, wanted[name], lacking)
        kept = kept or bool(lacking)
    if not kept:
        space.model, space.dims = before
    _append(change, added)


def drop(change: Change) -> None:
    """Forget all vectors and the model."""
    if change.space.model is None:
        return
    for table in ("vector_slot", "vector_block"):
        change.connection.execute(
            f"DELETE FROM {table} WHERE space = ?",
            (change.space.id,),
        )
    change.trees.forget_vectors()
    change.draft.set_all(SLOT, NO_SLOT)
    change.space.model, change.space.dims, change.space.slots = None, 0, 0
    change.space.epoch += 1
    change.changed = True


def compact(change: Change) -> int:
    """Forget the vectors that no chunk uses any more; gives how many there were."""
    space = change.space
    known = change.connection.rows(
        "SELECT v.key, v.class, v.slot, EXISTS (SELECT 1 FROM chunk c "
        "JOIN record r ON r.number = c.record "
        "WHERE c.space = v.space AND c.vector_key = v.key AND r.class = v.class) "
        "FROM vector_slot v WHERE v.space = ? ORDER BY v.slot, v.class",
        (space.id,),
    )
    orphans = sum(not used for *_, used in known)
    if not orphans:
        return 0
    matrix, _ = Slots().read(change.connection, space.id, space.epoch, space.slots, space.dims)
    kept = [(key, held, matrix[slot].tobytes()) for key, held, slot, used in known if used]
    model, dims = space.model, space.dims
    drop(change)
    if kept:
        space.model, space.dims = model, dims
        added: list[bytes] = []
        for key, held, data in kept:
            _keep(change, added, key, data, {held})
        _append(change, added)
    return orphans


def move(change: Change, place: int, chunk_id: bytes, old: int, new: int) -> None:
    """Let a chunk take its vector along to another access class, unless that has its own.

    There it serves all chunks of the same text: a class has a vector for a text, or has none.
    """
    space = change.space.id
    (key,) = change.connection.rows("SELECT vector_key FROM chunk WHERE key = ?", (place,))[0]
    found = {
        held: (slot, vector)
        for held, slot, vector in change.connection.rows(
            "SELECT class, slot, hash FROM vector_slot WHERE space = ? AND key = ?", (space, key)
        )
    }
    slot, vector = found.get(new) or found.get(old) or (NO_SLOT, None)
    served = [(place, chunk_id)]
    if old in found and new not in found:
        change.connection.execute(
            "INSERT INTO vector_slot (space, key, class, slot, hash) VALUES (?, ?, ?, ?, ?)",
            (space, key, new, slot, vector),
        )
        served = [user for user in _users(change, key) if _class_of(change, user[0]) == new]
    for each, name in served:
        change.draft.set(rows.row_of(each), SLOT, slot)
        change.trees.set(new, name, _content(change, new, name), vector)


def _accept(change: Change, model: str, wanted: Mapping[str, bytes]) -> None:
    space = change.space
    if space.model not in {None, model}:
        raise StoreError(
            f"the store holds vectors of {space.model}, these are of {model}; "
            "embed everything anew with `quire index --reembed`"
        )
    dims = space.dims or len(next(iter(wanted.values())))
    for name, data in wanted.items():
        if not rows.ID.fullmatch(name):
            raise InputError(f"vector {name!r}: its key must have 32 hexadecimal digits")
        if len(data) != dims or dims == 0:
            raise InputError(f"vector {name} has {len(data)} numbers; {dims} were expected")
        if not vectors.fits(data):
            raise InputError(f"vector {name} is too long: scale its numbers down")
    space.model, space.dims = model, dims


def _users(change: Change, key: bytes) -> list[tuple[int, bytes]]:
    """Give key and id of the chunks whose text a vector stands for."""
    found = change.connection.rows(
        "SELECT key, id FROM chunk WHERE space = ? AND vector_key = ?", (change.space.id, key)
    )
    return [(place, chunk_id) for place, chunk_id in found]


def _class_of(change: Change, place: int) -> int:
    return int(change.draft.table[ACCESS, rows.row_of(place)])


def _content(change: Change, held: int, chunk_id: bytes) -> bytes:
    leaf = change.trees.leaf(held, chunk_id)
    if leaf is None:
        raise StoreDamagedError(f"chunk {chunk_id.hex()} has no leaf: {REPAIR}")
    return leaf[0]


def _kept_for(change: Change, key: bytes) -> set[int]:
    found = change.connection.rows(
        "SELECT class FROM vector_slot WHERE space = ? AND key = ?", (change.space.id, key)
    )
    return {held for (held,) in found}


def _keep(
    change: Change, added: list[bytes], key: bytes, data: bytes, classes: Collection[int]
) -> None:
    """Keep a vector for some access classes; the same one is stored only once."""
    if not classes:
        return
    space, vector = change.space, hashing.digest_bytes(data)
    known = change.connection.row(
        "SELECT slot FROM vector_slot WHERE space = ? AND key = ? AND hash = ?",
        (space.id, key, vector),
    )
    slot = space.slots + len(added) if known is None else known[0]
    if known is None:
        added.append(data)
    change.connection.executemany(
        "INSERT INTO vector_slot (space, key, class, slot, hash) VALUES (?, ?, ?, ?, ?)",
        [(space.id, key, held, slot, vector) for held in sorted(classes)],
    )
    for place, chunk_id in _users(change, key):
        held = _class_of(change, place)
        if held in classes:
            change.draft.set(rows.row_of(place), SLOT, slot)
            change.trees.set(held, chunk_id, _content(change, held, chunk_id), vector)


def _append(change: Change, data: Sequence[bytes]) -> None:
    """Write vectors into the next slots."""
    if not data:
        return
    space = change.space
    matrix = np.frombuffer(b"".join(data), np.int8).reshape(-1, space.dims)
    codes = vectors.encode(matrix)
    done = 0
    while done < matrix.shape[0]:
        block, used = divmod(space.slots + done, BLOCK)
        part = slice(done, done + BLOCK - used)
        change.connection.execute(
            "INSERT INTO vector_block (space, block, vectors, codes) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (space, block) DO UPDATE SET "
            "vectors = CAST(vectors || excluded.vectors AS BLOB), "
            "codes = CAST(codes || excluded.codes AS BLOB)",
            (space.id, block, matrix[part].tobytes(), codes[part].astype("<u8").tobytes()),
        )
        done += BLOCK - used
    space.slots += len(data)
    change.changed = True


class Slots:
    """The vectors of one space in memory; grows with the store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._epoch = -1
        self._count = 0
        self._matrix: Matrix = np.zeros((0, 0), np.int8)
        # The first pass goes over all codes word by word, so they are kept by columns.
        self._codes: Codes = np.zeros((0, 0), np.uint64, "F")

    def read(
        self, connection: Connection, space: int, epoch: int, slots: int, dims: int
    ) -> tuple[Matrix, Codes]:
        """Give vectors and codes of all slots of a snapshot."""
        with self._lock:
            if epoch != self._epoch:
                self._epoch, self._count = epoch, 0
                self._matrix = np.zeros((slots, dims), np.int8)
                self._codes = np.zeros((slots, vectors.code_words(dims)), np.uint64, "F")
            if slots > self._count:
                self._extend(connection, space, slots)
            return self._matrix[:slots], self._codes[:slots]

    def _extend(self, connection: Connection, space: int, slots: int) -> None:
        if slots > self._matrix.shape[0]:
            # Readers of older snapshots keep the old arrays; the shared part is the same.
            room = max(slots, self._matrix.shape[0] * 5 // 4)
            matrix = np.zeros((room, self._matrix.shape[1]), np.int8)
            codes = np.zeros((room, self._codes.shape[1]), np.uint64, "F")
            matrix[: self._count] = self._matrix[: self._count]
            codes[: self._count] = self._codes[: self._count]
            self._matrix, self._codes = matrix, codes
        rows = connection.execute(
            "SELECT block, vectors, codes FROM vector_block "
            "WHERE space = ? AND block >= ? ORDER BY block",
            (space, self._count // BLOCK),
        )
        for block, data, codes in rows:
            start = block * BLOCK
            try:
                part = np.frombuffer(data, np.int8).reshape(-1, self._matrix.shape[1])
                signs = np.frombuffer(codes, "<u8").reshape(-1, self._codes.shape[1])
                self._matrix[start : start + part.shape[0]] = part
                self._codes[start : start + signs.shape[0]] = signs
            except ValueError as error:
                raise StoreDamagedError(f"vectors from {start} on are damaged: {REPAIR}") from error
        self._count = slots
