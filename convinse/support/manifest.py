"""The manifest of a built folder: its kind, its build id, and the size and SHA-256 of each of its files.

Opening a folder compares the manifest and the sizes of the files; `verify` reads all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from .checksums import sha256
from .errors import ConvinseError, IndexFileError, one_line, remedy_of
from .files import recover, replacing
from .jsonlines import JSON_ERRORS

if TYPE_CHECKING:
    import numpy as np

MANIFEST = "manifest.json"
FOLDER_FORMAT = 1  # of the manifests of models and results
BY_HAND = f"or delete {MANIFEST} if the change is yours"  # a part of remedies


class FileRecord(msgspec.Struct, frozen=True):
    """The size and the SHA-256 of a file."""

    size: int
    sha256: str


class Manifest(msgspec.Struct, kw_only=True):
    """The manifest of a folder: its `build_id` depends on its content and the format only, `checksum` is of the manifest."""

    kind: str
    format: int
    build_id: str
    files: dict[str, FileRecord]
    checksum: str = ""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(record.size for record in self.files.values())


M = TypeVar("M", bound=Manifest)


def measure(folder: Path, names: Iterable[str]) -> dict[str, FileRecord]:
    """Return the records of files of a folder."""
    return {name: FileRecord((folder / name).stat().st_size, sha256(folder / name)) for name in names}


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a folder that is whole. Raises `OutputError`: it cannot be written."""
    manifest.checksum = _checksum(msgspec.to_builtins(manifest))
    with replacing(folder / MANIFEST) as temporary:
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")


def seal(folder: Path, kind: str, names: Iterable[str] | None = None) -> None:
    """Write the manifest of a folder of models or results, by default of all files but Markdown, which is for people to read and to edit."""
    if names is None:
        paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.suffix != ".md")
        names = (path.as_posix() for path in paths if path.name[0] != "." and path.as_posix() != MANIFEST)
    files = measure(folder, sorted(names))
    build_id = hashlib.sha256(msgspec.json.encode(files)).hexdigest()[:16]
    write_manifest(folder, Manifest(kind=kind, format=FOLDER_FORMAT, build_id=build_id, files=files))


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(content | {"checksum": ""}, order="sorted")).hexdigest()


def map_array(path: Path, kind: str, remedy: str) -> np.ndarray:
    """Map a file of numbers into memory. Raises `IndexFileError`: it cannot be opened."""
    import numpy as np

    try:
        if not path.stat().st_size:  # an empty file cannot be mapped
            return np.empty(0, kind)
        return np.memmap(path, kind, "r").view(np.ndarray)
    except (OSError, ValueError) as error:
        raise IndexFileError(f"{path}: cannot be opened: {one_line(error)}; {remedy_of(error, remedy)}") from None


def has_kind(folder: Path, kind: str) -> bool:
    """Return False if a folder has no manifest, or says that it is of another kind; a damaged manifest says nothing."""
    try:
        content = msgspec.json.decode((folder / MANIFEST).read_bytes())
    except OSError:
        return False
    except JSON_ERRORS:
        return True
    return not isinstance(content, dict) or content.get("kind", kind) == kind


def read_manifest(folder: Path, kind: type[M], version: int, remedy: str, missing: str) -> M:
    """Read the manifest of a folder, of a format `version`, as a `kind` of manifest. Raises `IndexFileError`: it is missing or damaged.

    `remedy` is what to do about a damaged one, `missing` the message for a missing one, in which `{}` stands for the reason.
    """
    file = folder / MANIFEST
    recover(folder)
    try:
        content = msgspec.json.decode(file.read_bytes())
        if content["format"] != version:
            raise IndexFileError(f"{file}: format {content['format']}, this version reads format {version}; {remedy}")
        return msgspec.convert(content, kind)
    except PermissionError as error:
        raise IndexFileError(f"{file}: cannot be read: {one_line(error)}; {remedy_of(error, remedy)}") from None
    except OSError as error:
        raise IndexFileError(f"{folder}: {missing.format(one_line(error))}") from None
    except (*JSON_ERRORS, KeyError, TypeError) as error:
        raise IndexFileError(f"{file}: damaged ({one_line(error)}); {remedy}") from None


def recorded_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as the manifest of its folder has it; a file that the manifest lacks, or has with another size, is read."""
    try:
        manifest = msgspec.json.decode((path.parent / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, *JSON_ERRORS):
        return sha256(path)
    record = manifest.files.get(path.name)
    return record.sha256 if record is not None and record.size == path.stat().st_size else sha256(path)


def check_folder(
    folder: Path, error: type[ConvinseError], where: str = "", remedy: str = "", *, reads_files: bool = False
) -> None:
    """Compare the sizes of a folder's files with its manifest, if it has one, and with `reads_files` every byte.

    `where` and `remedy` begin and end the text of an `error`.
    """
    if (folder / MANIFEST).exists():
        for path, fault in faults(folder, remedy, reads_files=reads_files):
            if fault:
                raise error(f"{where}{path}: {fault}")


def faults(
    folder: Path, remedy: str = "make or copy it again", *, reads_files: bool = True
) -> Iterator[tuple[Path, str]]:
    """Yield each file of a folder with a manifest, and what is wrong with it, empty for a sound one; without `reads_files` by its size."""
    file = folder / MANIFEST
    try:
        content = msgspec.json.decode(file.read_bytes())
        manifest = msgspec.convert(content, Manifest)
    except (OSError, *JSON_ERRORS) as error:
        yield file, f"damaged ({one_line(error)}); {remedy}"
        return
    altered = f"altered since it was built; {remedy}"
    yield file, "" if manifest.checksum == _checksum(content) else altered
    for name, record in manifest.files.items():
        path = folder / name
        try:
            size = path.stat().st_size
            if size != record.size:
                yield path, f"{size} bytes where the manifest says {record.size}; {remedy}"
            else:
                yield path, "" if not reads_files or sha256(path) == record.sha256 else altered
        except OSError as error:
            yield path, f"cannot be read: {one_line(error)}; {remedy_of(error, remedy)}"
