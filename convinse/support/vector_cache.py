"""The cache of what models make of texts, such as embeddings: one packed file a model, read through a memory map, appended to
under a lock.

A file is a header and records of equal size, little-endian:

- header: magic, format version, dimension d, length of the model id, model id in UTF-8, zeros, CRC-32 of all before;
  its length is a multiple of 64;
- record: the 16-byte BLAKE2b hash of the text, d numbers, CRC-32 of both, zeros up to a multiple of 16 bytes.

The numbers are float16, or float32 where the model id says so.

Nothing is ever changed in place. A writer that is killed leaves at most a part of a record at the end, which readers
do not count and the next writer overwrites; a record whose checksum is wrong counts as unknown and is written again when it
is put again, and of two records of one text the later one counts. Readers lock too, since a map of a file that
somebody shortens is no place to read from.
"""

from __future__ import annotations

import hashlib
import os
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import numpy as np

from .checksums import crc32
from .errors import CacheError, one_line
from .locks import LOCK_EX, LOCK_SH, LOCK_UN, flock
from .recent_vectors import RecentVectors
from .record_file import RecordFile
from .shared_store import SharedStore

_MAGIC = b"cvnsvecs"
_FORMAT = 1
_HEAD = struct.Struct("<8sIII")  # magic, format version, dimension, length of the model id
_KEY = 16
EVIDENCES_KEPT = 12_000  # embeddings, in memory: 9 MB in 384 dimensions


class VectorCache:
    """Vectors of texts, found again by text; processes may share the file.

    Nothing is opened before the first use, and a closed cache opens again. Threads may share an object; a forked
    process opens the file for itself.

    Args:
        path: the cache folder (`ers_cache_path`), whose file is `vectors/{hash of the model id}.vectors`. With None
            the vectors stay in the memory of the process and are lost with it. With a `SharedStore` they lie there.
        model_id: the model that makes the vectors; whatever changes them belongs into it.
        dimension: the length of a vector.
        most: vectors that are kept with `path=None`; then those used longest ago go, so callers hold on to what they have
            just put. With so many, the embedded conversations have 4 % more evidences embedded than without a limit.
        precision: of the numbers: half is enough for embeddings; float32 gives back exactly what a model computed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | SharedStore | None,
        model_id: str,
        dimension: int,
        most: int = EVIDENCES_KEPT,
        precision: Literal["float16", "float32"] = "float16",
    ) -> None:
        model = (model_id if precision == "float16" else f"{model_id}/{precision}").encode("utf-8", "surrogatepass")
        name = f"{hashlib.blake2b(model, digest_size=12).hexdigest()}.vectors"
        self._shared: SharedStore | None = None
        self._path: Path | None = None
        if isinstance(path, SharedStore):
            self._shared = path
        elif path is not None:
            self._path = Path(path).expanduser() / "vectors" / name
        self._dimension = dimension
        self._precision, self._numbers = precision, np.dtype(precision).newbyteorder("<")
        self._recent = RecentVectors(dimension, self._numbers, most if path is None else 0)
        head = _HEAD.pack(_MAGIC, _FORMAT, dimension, len(model)) + model
        head += bytes(-(len(head) + 4) % 64)
        self._header = head + struct.pack("<I", crc32(head))
        self._hashed = _KEY + self._numbers.itemsize * dimension  # bytes of a record that its checksum covers
        self._size = -(-(self._hashed + 4) // 16) * 16
        self._lock = threading.RLock()
        self._file: RecordFile | None = None

    def get(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The known vectors of texts.

        Returns:
            The vectors, [n, d], zeros where a text is unknown; and which are known, bool [n].
        """
        if self._shared is not None:
            return self._get_shared(self._shared, texts)
        if self._path is None:
            with self._lock:
                return self._recent.get(self._keys(texts))
        with self._guard("read"):
            if not texts or not self._open(write=False):
                return np.zeros((len(texts), self._dimension), self._numbers), np.zeros(len(texts), bool)
            with self._locked(LOCK_SH) as file:
                self._refresh(file)
                return self._find(file, self._keys(texts))

    def put(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Keep the vectors [n, d] of texts; texts that are known keep the vector they have.

        Raises:
            CacheError: the file cannot be written (it is as before then), or a vector is not finite in the cache's precision.
        """
        if np.shape(vectors) != (len(texts), self._dimension):
            raise ValueError(f"vectors of {len(texts)} texts are {np.shape(vectors)}, not [n, {self._dimension}]")
        if not len(texts):
            return
        with np.errstate(over="ignore"):
            numbers = np.asarray(vectors).astype(self._numbers)
        bad = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
        if len(bad):
            raise CacheError(
                f"the embedding of {texts[bad[0]][:80]!r} is not finite in {self._precision}; the model is broken"
            )
        if self._shared is not None:
            rows = zip(self._shared_keys(texts), numbers, strict=True)
            self._shared.put({key: row.tobytes() for key, row in rows})
            return
        if self._path is None:
            with self._lock:
                self._recent.put(self._keys(texts), numbers)
            return
        with self._guard("written"):
            self._open(write=True)
            with self._locked(LOCK_EX) as file:
                keys = self._keys(texts)
                first = np.sort(np.unique(keys, axis=0, return_index=True)[1])
                self._refresh(file, repair=True)
                first = first[~self._find(file, keys[first])[1]]
                if len(first):
                    self._append(file, self._records(keys[first], numbers[first]))

    def close(self) -> None:
        """Close the file; the next use opens it again. With `path=None` this drops the vectors."""
        with self._lock:
            self._recent.clear()
            if self._file is not None:
                self._file.close()
                self._file = None

    def __len__(self) -> int:
        """The number of records, damaged and repeated ones counted."""
        with self._guard("read"):
            if self._path is None or not self._open(write=False):
                return len(self._recent)
            with self._locked(LOCK_SH) as file:
                self._refresh(file)
                return file.rows

    def __bool__(self) -> bool:
        """An empty cache is a cache."""
        return True

    # --- the server

    def _get_shared(self, store: SharedStore, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        vectors, known = np.zeros((len(texts), self._dimension), self._numbers), np.zeros(len(texts), bool)
        length = self._numbers.itemsize * self._dimension
        for place, content in enumerate(store.get(self._shared_keys(texts), length) if texts else []):
            if content is not None and len(content) == length:
                vectors[place], known[place] = np.frombuffer(content, self._numbers), True
        return vectors, known

    def _shared_keys(self, texts: Sequence[str]) -> list[bytes]:
        return [self._header + key.tobytes() for key in self._keys(texts)]

    # --- the file

    def _open(self, write: bool) -> bool:
        """Open the file, for writing where wanted; False where there is none to read."""
        if self._file is not None and self._file.serves(write):
            return True
        self.close()
        assert self._path is not None
        if write:
            self._path.parent.parent.mkdir(parents=True, exist_ok=True)
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT if write else os.O_RDONLY
        try:
            descriptor = os.open(self._path, flags | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            if write:
                raise
            return False
        self._file = RecordFile(descriptor, write)
        return True

    @contextmanager
    def _locked(self, kind: int) -> Iterator[RecordFile]:
        assert self._file is not None
        descriptor = self._file.descriptor
        flock(descriptor, kind)
        try:
            yield self._file
        finally:
            flock(descriptor, LOCK_UN)

    @contextmanager
    def _guard(self, verb: str) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except (OSError, ValueError) as error:  # a map may raise either
            raise CacheError(
                f"{self._path}: the embedding cache cannot be {verb}: {one_line(error)}; "
                "free the disk, name another folder in ers_cache_path, or set ers_use_cache: false"
            ) from error

    def _refresh(self, file: RecordFile, repair: bool = False) -> None:
        """Check the header and take in the records that the file has by now; a writer repairs the header."""
        header = os.pread(file.descriptor, len(self._header), 0)
        if header != self._header:
            if not self._header.startswith(header):
                raise CacheError(f"{self._path}: {self._fault(header)}; delete it, or name another ers_cache_path")
            if repair:  # its first writer came no further
                self._write(file, self._header, 0)
        content = os.fstat(file.descriptor).st_size - len(self._header)
        file.read(len(self._header), self._size, max(0, content) // self._size)

    def _fault(self, header: bytes) -> str:
        if len(header) < _HEAD.size or not header.startswith(_MAGIC):
            return "not an embedding cache"
        _, version, dimension, _ = _HEAD.unpack_from(header)
        if version != _FORMAT:
            return f"an embedding cache of format {version}, not {_FORMAT}"
        if dimension != self._dimension:
            return f"an embedding cache of vectors of length {dimension}, not {self._dimension}"
        return "an embedding cache of another model, or a damaged one"

    def _append(self, file: RecordFile, records: bytes) -> None:
        end = len(self._header) + file.rows * self._size
        self._write(file, records, end)
        file.read(len(self._header), self._size, (end - len(self._header) + len(records)) // self._size)

    @staticmethod
    def _write(file: RecordFile, content: bytes, start: int) -> None:
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.pwrite(file.descriptor, rest, start + len(content) - len(rest)) :]
        except BaseException:
            with suppress(OSError):
                os.ftruncate(file.descriptor, start)
            raise

    # --- records

    @staticmethod
    def _keys(texts: Sequence[str]) -> np.ndarray:
        """The hashes of texts, [n, 2] 64-bit numbers."""
        hashes = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY).digest() for text in texts]
        return np.frombuffer(b"".join(hashes), "<u8").reshape(len(texts), 2)

    def _records(self, keys: np.ndarray, vectors: np.ndarray) -> bytes:
        table = np.zeros((len(keys), self._size), np.uint8)
        table[:, :_KEY] = keys.view(np.uint8)
        table[:, _KEY : self._hashed] = np.ascontiguousarray(vectors).view(np.uint8)
        table[:, self._hashed : self._hashed + 4] = self._checksums(table).view(np.uint8).reshape(-1, 4)
        return table.tobytes()

    def _checksums(self, table: np.ndarray) -> np.ndarray:
        flat = table.reshape(-1).data
        starts = range(0, len(flat), self._size)
        return np.fromiter((crc32(flat[at : at + self._hashed]) for at in starts), "<u4", len(starts))

    def _find(self, file: RecordFile, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        vectors = np.zeros((len(keys), self._dimension), self._numbers)
        known = np.zeros(len(keys), bool)
        rows = file.find(keys[:, 0])
        places = np.flatnonzero(rows >= 0)
        if len(places):
            table = file.table[rows[places]]  # a copy
            stored = np.ascontiguousarray(table[:, self._hashed : self._hashed + 4]).view("<u4")[:, 0]
            same = (table[:, :_KEY] == np.ascontiguousarray(keys[places]).view(np.uint8)).all(axis=1)
            good = same & (stored == self._checksums(table))
            known[places[good]] = True
            vectors[known] = np.ascontiguousarray(table[good, _KEY : self._hashed]).view(self._numbers)
        return vectors, known


def file_fault(path: Path) -> str:
    """What is wrong with a file of vectors: with its header, or with how many of its records; empty where nothing is.

    Half a record at its end is nothing wrong: a killed writer leaves that, and the next one writes over it.
    """
    try:
        data = np.memmap(path, np.uint8, "r")
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        return f"cannot be read ({one_line(error)})"
    head = data[: _HEAD.size].tobytes()
    if len(head) < _HEAD.size or not head.startswith(_MAGIC):
        return "not an embedding cache; delete it"
    _, _, dimension, length = _HEAD.unpack(head)
    end = -(-(_HEAD.size + length + 4) // 64) * 64
    if crc32(data[: end - 4].tobytes()).to_bytes(4, "little") != data[end - 4 : end].tobytes():
        return "its header is damaged; delete it"
    half = not data[_HEAD.size : _HEAD.size + length].tobytes().endswith(b"/float32")
    hashed = _KEY + dimension * (2 if half else 4)
    size = -(-(hashed + 4) // 16) * 16
    table = data[end : end + (len(data) - end) // size * size].reshape(-1, size)
    sums = np.array([crc32(row[:hashed].tobytes()) for row in table], "<u4")
    bad = (sums.view(np.uint8).reshape(-1, 4) != table[:, hashed : hashed + 4]).any(axis=1) | table[
        :, hashed + 4 :
    ].any(axis=1)
    return (
        f"{int(bad.sum())} of {len(table)} records are damaged; they are made again, or delete it" if bad.any() else ""
    )
