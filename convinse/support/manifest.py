"""The manifest of a built folder: its format, and the sizes and checksums of its files, compared at opening."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from .errors import IndexFileError, one_line
from .files import sha256

MANIFEST = "manifest.json"


class FileRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """Checksums of a file: `sha256` over all of it, where a folder has that, `sample` over the blocks that opening reads."""

    size: int
    sha256: str = ""
    sample: str = ""


class Manifest(msgspec.Struct, kw_only=True):
    """What a folder says of itself; `build_id` depends on its content and the format only."""

    format: int
    build_id: str
    files: dict[str, FileRecord]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(record.size for record in self.files.values())


M = TypeVar("M", bound=Manifest)


class Checks(NamedTuple):
    """How the files of a kind of folder are checked.

    remedy: what to do about a damaged one; blocks: of a large file that opening reads; whole: files up to this size are
    read whole; every_byte: whether there is a checksum of all bytes, too; block_bytes: of a block.
    """

    remedy: str
    blocks: int
    whole: int
    every_byte: bool = False
    block_bytes: int = 1 << 14

    def record(self, path: Path) -> FileRecord:
        """Measure a file that was just written."""
        return FileRecord(path.stat().st_size, sha256(path) if self.every_byte else "", self._sample(path))

    def check(self, folder: Path, files: dict[str, FileRecord], every_byte: bool = False) -> None:
        """Compare the files of a folder with what its manifest says: their sizes and samples, or every byte.

        Raises:
            IndexFileError: a file is missing, truncated or altered; the message names it.
        """
        for name, expected in files.items():
            path = folder / name
            try:
                size = path.stat().st_size
                if size != expected.size:
                    raise IndexFileError(f"{path}: {size} bytes where the manifest says {expected.size}; {self.remedy}")
                same = sha256(path) == expected.sha256 if every_byte else self._sample(path) == expected.sample
            except OSError as error:
                raise IndexFileError(f"{path}: cannot be read: {one_line(error)}; {self.remedy}") from None
            if not same:
                raise IndexFileError(f"{path}: altered since it was built; {self.remedy}")

    def _sample(self, path: Path) -> str:
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


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a folder that is whole."""
    (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")


def read_manifest(folder: Path, kind: type[M], version: int, remedy: str, missing: str) -> M:
    """The manifest of a folder.

    Args:
        folder: the folder.
        kind: of the manifest, a struct.
        version: the `format` that is read.
        remedy: what to do about a damaged one.
        missing: what to say where there is none; `{}` stands for the reason.

    Raises:
        IndexFileError: there is none, it is damaged, or of another format.
    """
    file = folder / MANIFEST
    try:
        data = file.read_bytes()
    except OSError as error:
        raise IndexFileError(f"{folder}: {missing.format(one_line(error))}") from None
    try:
        written = msgspec.json.decode(data)["format"]
        if written == version:
            return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise IndexFileError(f"{file}: damaged ({one_line(error)}); {remedy}") from None
    raise IndexFileError(f"{file}: format {written}, this version reads format {version}; {remedy}")
