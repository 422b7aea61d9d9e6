"""Where are the vectors?

Vectors stand in slots, in the order in which they came, 1,024 to a block, each with its sign
code. Slots are only ever appended; when vectors are to be forgotten, all are written anew and
the epoch moves on. So what a reader has in memory stays right for as long as its epoch lasts.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

import numpy as np

from quire import hashes
from quire.errors import InputError, StoreDamagedError, StoreError
from quire.store import vectors
from quire.store.sqlite import rows
from quire.store.sqlite.change import Change
from quire.store.sqlite.columns import ACCESS, NO_SLOT, SLOT
from quire.store.sqlite.database import REPAIR, Connection
from quire.store.vectors import Codes, Matrix

BLOCK = 1024


def put(change: Change, model: str, wanted: Mapping[str, bytes]) -> None:
    """Keep vectors by their key; the first ones set the space's model."""
    if not wanted:
        return
    _accept(change, model, wanted)
    space = change.space
    added: list[bytes] = []
    for name in sorted(wanted):
        key, data = bytes.fromhex(name), wanted[name]
        if not change.connection.row(
            "SELECT 1 FROM vector_slot WHERE space = ? AND key = ?", (space.id, key)
        ):
            _place(change, key, hashes.digest_bytes(data), space.slots + len(added))
            added.append(data)
    if added:
        _append(change.connection, space.id, space.slots, space.dims, added)
        space.slots += len(added)
        change.changed = True


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
        "SELECT v.slot, v.key, EXISTS (SELECT 1 FROM chunk c WHERE c.space = v.space "
        "AND c.vector_key = v.key) FROM vector_slot v WHERE v.space = ? ORDER BY v.slot",
        (space.id,),
    )
    orphans = sum(not used for _, _, used in known)
    if not orphans:
        return 0
    matrix, _ = Slots().read(change.connection, space.id, space.epoch, space.slots, space.dims)
    kept = {key.hex(): matrix[slot].tobytes() for slot, key, used in known if used}
    model = space.model
    drop(change)
    if model is not None:
        put(change, model, kept)
    return orphans


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


def _place(change: Change, key: bytes, vector: bytes, slot: int) -> None:
    change.connection.execute(
        "INSERT INTO vector_slot (space, key, slot, hash) VALUES (?, ?, ?, ?)",
        (change.space.id, key, slot, vector),
    )
    for place, chunk_id in change.connection.rows(
        "SELECT key, id FROM chunk WHERE space = ? AND vector_key = ?", (change.space.id, key)
    ):
        row = rows.row_of(place)
        held = int(change.draft.table[ACCESS, row])
        leaf = change.trees.leaf(held, chunk_id)
        assert leaf is not None, "a chunk without a leaf"
        change.draft.set(row, SLOT, slot)
        change.trees.set(held, chunk_id, leaf[0], vector)


def _append(
    connection: Connection, space: int, slots: int, dims: int, data: Sequence[bytes]
) -> None:
    """Write vectors into the slots from `slots` on."""
    matrix = np.frombuffer(b"".join(data), np.int8).reshape(-1, dims)
    codes = vectors.encode(matrix)
    done = 0
    while done < matrix.shape[0]:
        block, used = divmod(slots + done, BLOCK)
        part = slice(done, done + BLOCK - used)
        connection.execute(
            "INSERT INTO vector_block (space, block, vectors, codes) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (space, block) DO UPDATE SET "
            "vectors = CAST(vectors || excluded.vectors AS BLOB), "
            "codes = CAST(codes || excluded.codes AS BLOB)",
            (space, block, matrix[part].tobytes(), codes[part].astype("<u8").tobytes()),
        )
        done += BLOCK - used


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
