"""The manifest of a built folder: its format, and the sizes and checksums of its files, compared when they are opened or used."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from .block_sums import BLOCK, BlockFile, CheckedArray, require_together, sums_of
from .errors import IndexFileError, one_line, remedy_of
from .files import recover, sha256, state_of
from .full_text import FullText
from .jsonlines import JSON_ERRORS

if TYPE_CHECKING:
    import numpy as np

MANIFEST = "manifest.json"
BLOCK_SUMS = "checksums"  # the file of the checksums: uint32, those of all blocks, in the order of the manifest
_SEAL = re.compile(rb'"checksum": ?"[^"]*"')
_EMPTY = b'"checksum": "' + b"0" * 32 + b'"'


class FileRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a file: its size, and `sha256` over all of it, where a folder has that.

    sample: of folders of an earlier version, a checksum over the blocks that opening reads.
    """

    size: int
    sha256: str = ""
    sample: str = ""


class Manifest(msgspec.Struct, kw_only=True):
    """What a folder says of itself; `build_id` depends on its content and the format only.

    block_sums: the file of the checksums; folders of an earlier version have none. checksum: of the manifest itself.
    """

    format: int
    build_id: str
    files: dict[str, FileRecord]
    block_sums: FileRecord | None = None
    checksum: str = ""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(record.size for record in self.files.values())


M = TypeVar("M", bound=Manifest)


class Checks(NamedTuple):
    """How the files of a kind of folder are checked.

    remedy: what to do about a damaged one; whole: files up to this size are compared at opening; every_byte: whether
    there is a SHA-256 of all bytes, too; blocks, block_bytes: what `sample` is over.
    """

    remedy: str
    blocks: int
    whole: int
    every_byte: bool = False
    block_bytes: int = 1 << 14

    def measure(self, folder: Path, names: Iterable[str]) -> tuple[dict[str, FileRecord], FileRecord]:
        """Measure files that were just written, and write their checksums: their records, and that of the checksums."""
        import numpy as np

        records, sums = {}, []
        for name in names:
            path = folder / name
            records[name] = FileRecord(path.stat().st_size, sha256(path) if self.every_byte else "")
            sums += sums_of(path)
        (folder / BLOCK_SUMS).write_bytes(np.array(sums, "<u4").tobytes())
        return records, FileRecord(4 * len(sums), sha256(folder / BLOCK_SUMS))

    def sample(self, path: Path) -> str:
        """A checksum over a small file, or over evenly spread blocks of a large one."""
        size = path.stat().st_size
        digest = hashlib.blake2b(str(size).encode(), digest_size=16)
        with path.open("rb") as file:
            if size <= self.whole:
                digest.update(file.read())
            else:
                for number in range(self.blocks):
                    file.seek((size - self.block_bytes) * number // (self.blocks - 1))
                    digest.update(file.read(self.block_bytes))
        return digest.hexdigest()


class BuiltFolder:
    """The files of a built folder: their sizes and the small ones are compared with the manifest when it is opened.

    Args:
        folder: with a manifest.
        manifest: the manifest.
        checks: of this kind of folder.
        compare: whether to compare now; `faults` does so by itself.

    Raises:
        IndexFileError: a file is missing, truncated or altered; the message names it.
    """

    def __init__(self, folder: Path, manifest: Manifest, checks: Checks, compare: bool = True) -> None:
        self._folder, self._manifest, self._checks = folder, manifest, checks
        self._files: dict[str, BlockFile] = {}
        self._lock = threading.Lock()
        self._state = state_of(folder / MANIFEST)
        if manifest.block_sums is not None:
            self._read_sums(manifest.block_sums)
        if compare:
            for name in manifest.files:
                self._check_size(name)
                if manifest.block_sums is None:
                    self._check_sample(name)
                elif manifest.files[name].size <= checks.whole:
                    self._files[name].require_all()
                    self._files[name].close()
                else:
                    self._files[name].open()

    def _read_sums(self, record: FileRecord) -> None:
        import numpy as np

        path = self._folder / BLOCK_SUMS
        try:
            data = path.read_bytes()
        except OSError as error:
            raise IndexFileError(
                f"{path}: cannot be read: {one_line(error)}; {remedy_of(error, self._checks.remedy)}"
            ) from None
        if hashlib.sha256(data).hexdigest() != record.sha256:
            raise IndexFileError(f"{path}: altered since it was built; {self._checks.remedy}")
        sums, first = np.frombuffer(data, "<u4"), 0
        for name, entry in self._manifest.files.items():
            end = first - (-entry.size // BLOCK)
            self._files[name] = BlockFile(self._folder / name, entry.size, sums[first:end], self._checks.remedy)
            first = end

    def file(self, name: str) -> BlockFile:
        """A file to read pieces of; it is open."""
        if name not in self._files:
            size = self._manifest.files[name].size
            self._files[name] = BlockFile(self._folder / name, size, (), self._checks.remedy)
        return self._files[name].open()

    def array(self, name: str, kind: str) -> Any:
        """A file as an array; where it is large, each block of it is compared before it is used."""
        import numpy as np

        path = self._folder / name
        try:
            if not path.stat().st_size:  # an empty file cannot be mapped
                return np.empty(0, kind)
            values: np.ndarray = np.memmap(path, kind, "r").view(np.ndarray)
        except (OSError, ValueError) as error:
            raise IndexFileError(
                f"{path}: cannot be opened: {one_line(error)}; {remedy_of(error, self._checks.remedy)}"
            ) from None
        file = self._files.get(name)
        return values if file is None or not file.pending else CheckedArray(values, file)

    def full_text(self, name: str) -> FullText:
        """The full-text index in a folder of it; its files are compared first, whole or where they are very large by samples.

        Raises:
            IndexFileError: one is altered; or it is of another build, which has taken the place of this one.
        """
        files = [file for path, file in self._files.items() if path.startswith(f"{name}/")]
        with self._lock:
            try:
                require_together(files)
                engine = FullText(self._folder / name)
            except IndexFileError:
                self._require_same()
                raise
            self._require_same()
            for file in files:
                file.close()
        return engine

    def _require_same(self) -> None:
        if state_of(self._folder / MANIFEST) != self._state:
            raise IndexFileError(f"{self._folder}: another build has taken its place since; open it again")

    def close(self) -> None:
        """Close what is open; the next use opens it again."""
        for file in self._files.values():
            file.close()

    def faults(self) -> Iterator[tuple[Path, str]]:
        """Each file, every byte of it compared, and what is wrong with it; an empty text where nothing is."""
        for name, record in self._manifest.files.items():
            path = self._folder / name
            try:
                self._check_size(name)
                if self._manifest.block_sums is not None:
                    self._files[name].require_all()
                elif record.sha256 and sha256(path) != record.sha256:
                    raise IndexFileError(f"{path}: altered since it was built; {self._checks.remedy}")
                else:
                    self._check_sample(name)
                yield path, ""
            except IndexFileError as error:
                yield path, str(error)

    def _check_size(self, name: str) -> None:
        path, expected = self._folder / name, self._manifest.files[name].size
        try:
            size = path.stat().st_size
        except OSError as error:
            raise IndexFileError(
                f"{path}: cannot be read: {one_line(error)}; {remedy_of(error, self._checks.remedy)}"
            ) from None
        if size != expected:
            raise IndexFileError(f"{path}: {size} bytes where the manifest says {expected}; {self._checks.remedy}")

    def _check_sample(self, name: str) -> None:
        path = self._folder / name
        try:
            same = self._checks.sample(path) == self._manifest.files[name].sample
        except OSError as error:
            raise IndexFileError(
                f"{path}: cannot be read: {one_line(error)}; {remedy_of(error, self._checks.remedy)}"
            ) from None
        if not same:
            raise IndexFileError(f"{path}: altered since it was built; {self._checks.remedy}")


def sealed(data: bytes) -> bytes:
    """JSON with a key `checksum`, whose value becomes the checksum of all the text but itself."""
    data = _SEAL.sub(_EMPTY, data, count=1)
    return data.replace(_EMPTY, _EMPTY.replace(b"0" * 32, _seal(data)), 1)


def seal_is_whole(data: bytes) -> bool:
    """Whether a text is as `sealed` has made it."""
    return sealed(data) == data and _SEAL.search(data) is not None


def _seal(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).hexdigest().encode()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a folder that is whole."""
    data = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    (folder / MANIFEST).write_bytes(sealed(data))


def read_manifest(folder: Path, kind: type[M], version: int | None, remedy: str, missing: str) -> M:
    """The manifest of a folder.

    Args:
        folder: the folder.
        kind: of the manifest, a struct.
        version: the `format` that is read; None for any.
        remedy: what to do about a damaged one.
        missing: what to say where there is none; `{}` stands for the reason.

    Raises:
        IndexFileError: there is none, it is damaged, or of another format.
    """
    file = folder / MANIFEST
    recover(folder)
    try:
        data = file.read_bytes()
    except PermissionError as error:
        raise IndexFileError(f"{file}: cannot be read: {one_line(error)}; {remedy_of(error, remedy)}") from None
    except OSError as error:
        raise IndexFileError(f"{folder}: {missing.format(one_line(error))}") from None
    try:
        written = msgspec.json.decode(data)["format"]
        if version in (written, None):
            manifest = msgspec.json.decode(data, type=kind)
            if (manifest.block_sums or manifest.checksum) and not seal_is_whole(data):
                raise IndexFileError(f"{file}: altered since it was built; {remedy}")
            return manifest
    except (*JSON_ERRORS, KeyError, TypeError) as error:
        raise IndexFileError(f"{file}: damaged ({one_line(error)}); {remedy}") from None
    raise IndexFileError(f"{file}: format {written}, this version reads format {version}; {remedy}")
