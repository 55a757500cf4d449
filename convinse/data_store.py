"""Knowledge bases, dumps, indexes and models by their content: in a shared folder or an object store, from which a machine fetches what it lacks.

A store has a folder for each: `ID/files/...` and `ID/contents.json`, which is written last and holds size and SHA-256 of each file. The id is a
hash of those, so that what is named by it never changes.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from .config import STORE
from .support.checksums import sha256, users_cache
from .support.errors import (
    ConfigError,
    ConvinseError,
    DataError,
    DependencyError,
    FetchError,
    NetworkError,
    OutputError,
    one_line,
)
from .support.files import replacing, writing_to
from .support.jsonlines import JSON_ERRORS
from .support.manifest import MANIFEST
from .support.progress import progress
from .support.web import offline

LOGGER = logging.getLogger(__name__)
_CONTENTS, _FILES = "contents.json", "files"
_ID = re.compile(r"[0-9a-f]{16}")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what a disk that takes no more says
_LARGEST_CONTENTS = 1 << 24  # bytes
_LOCAL = ("file", "local", "memory")


class StoredFile(msgspec.Struct, frozen=True):
    """Size and SHA-256 of a file."""

    size: int
    sha256: str


class StoredData(msgspec.Struct, frozen=True):
    """What a store has under an id. `build_id`: of a built folder; `files`: by their paths in it, or by `""` where it is a single file."""

    id: str
    name: str
    build_id: str
    files: dict[str, StoredFile]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files.values())


class DataStore:
    """A shared folder or object store.

    Args:
        url: a folder, or what fsspec takes: `file://`, `s3://`, `gs://` and others, some of which need a package of their own.

    Raises:
        ConfigError: there is no such kind of store.
        DependencyError: a package is missing; the text names it.
        NetworkError: requests are forbidden.
    """

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError:
            raise DependencyError("data needs the package fsspec; install it: pip install 'convinse[ray]'") from None
        self._url = url
        kind = url.partition("://")[0] if "://" in url else "file"
        if offline() and kind not in _LOCAL:
            raise NetworkError(f"{url}: not asked, as CONVINSE_OFFLINE is set; unset it to allow requests")
        try:
            self._system, self._root = fsspec.core.url_to_fs(url)
        except ImportError as error:
            raise DependencyError(f"{url}: {one_line(error)}") from None
        except ValueError as error:
            raise ConfigError(
                f"{url}: {one_line(error)}; give a folder, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER"
            ) from None

    def push(self, path: Path, quiet: bool = True) -> StoredData:
        """Put a folder or a file into the store; files that are there with their size stay.

        Raises:
            DataError: there is no such folder or file, or it is empty.
            NetworkError: the store cannot be written.
        """
        stored = _measured(path)
        with self._asking(), progress(f"pushing {path.name}", stored.size >> 20, "MB", quiet) as advance:
            sent = 0
            for name, file in stored.files.items():
                target = self._place(stored.id, name)
                if not (self._system.exists(target) and self._system.size(target) == file.size):
                    self._system.makedirs(target.rpartition("/")[0], exist_ok=True)
                    self._system.put_file(str(path / name if name else path), target)
                before, sent = sent, sent + file.size
                advance((sent >> 20) - (before >> 20))
            self._system.pipe_file(
                f"{self._root}/{stored.id}/{_CONTENTS}", msgspec.json.encode(stored, order="deterministic")
            )
        return stored

    def list(self) -> list[StoredData]:
        """What is in the store, by name."""
        with self._asking():
            folders = self._system.ls(self._root, detail=False) if self._system.exists(self._root) else []
            ids = [str(folder).rstrip("/").rpartition("/")[2] for folder in folders]
            known = [self._read(id) for id in ids if self._system.exists(f"{self._root}/{id}/{_CONTENTS}")]
        return sorted(known, key=lambda stored: (stored.name, stored.id))

    def pull(self, wanted: str, output: Path, quiet: bool = True, compare: bool = True) -> bool:
        """Fetch what has an id, or a build id, unless it is there already; processes of a node that want the same fetch it once.

        Args:
            wanted: the id.
            output: the folder or file; it takes its place when it is whole and every file has its SHA-256.
            quiet: show no progress.
            compare: read what is at `output` already, to tell whether it is the same.

        Returns:
            Whether it was fetched.

        Raises:
            DataError: the store has no such id, or a damaged file.
            NetworkError: the store cannot be read.
            OutputError: `output` is something else already, or cannot be written, or its disk has no room for it.
        """
        with writing_to(output):
            output.parent.mkdir(parents=True, exist_ok=True)
            lock = (output.parent / f".{output.name}.pull").open("a")
        with lock:
            flock(lock, LOCK_EX)
            if output.exists() and not compare:
                return False
            stored = self._find(wanted)
            if output.exists():
                if _measured(output).files != stored.files:
                    raise OutputError(f"{output}: is something else than {wanted}; give another place, or remove it")
                return False
            _require_room(output, stored.size)
            with (
                replacing(output) as temporary,
                progress(f"pulling {stored.name}", stored.size >> 20, "MB", quiet) as advance,
            ):
                fetched = 0
                for name, file in stored.files.items():
                    self._fetch(stored.id, name, file, temporary / name if name else temporary)
                    before, fetched = fetched, fetched + file.size
                    advance((fetched >> 20) - (before >> 20))
        return True

    def _fetch(self, id: str, name: str, file: StoredFile, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self._asking():
                self._system.get_file(self._place(id, name), str(target))
        except NetworkError as error:
            cause = error.__cause__
            if isinstance(cause, OSError) and cause.errno in _FULL:  # it is the disk here that refuses
                raise cause from None
            raise
        with target.open("rb") as fetched:
            os.fsync(fetched.fileno())  # or a folder may be in its place before what is in it
        if target.stat().st_size != file.size or sha256(target) != file.sha256:
            raise DataError(
                f"{self._url}: {id}/{name or _FILES}: is damaged; remove it from the store and push it again"
            )

    def _find(self, wanted: str) -> StoredData:
        """What has an id, which is looked up, or a build id, for which all is looked through."""
        with self._asking():
            if _ID.fullmatch(wanted) and self._system.exists(f"{self._root}/{wanted}/{_CONTENTS}"):
                return self._read(wanted)
        for stored in self.list():
            if wanted and wanted == stored.build_id:
                return stored
        raise DataError(
            f"{self._url}: has nothing with the id '{wanted}'; convinse data list {self._url} shows what there is"
        )

    def _read(self, id: str) -> StoredData:
        place = f"{self._root}/{id}/{_CONTENTS}"
        if self._system.size(place) > _LARGEST_CONTENTS:
            raise DataError(f"{self._url}: {id}/{_CONTENTS}: is too large for a table of contents")
        try:
            stored = msgspec.json.decode(self._system.cat_file(place), type=StoredData)
        except JSON_ERRORS as error:
            raise DataError(f"{self._url}: {id}/{_CONTENTS}: {one_line(error)}; remove it and push again") from None
        if stored.id != id or id != _id_of(stored.files) or not all(map(_is_inside, stored.files)):
            raise DataError(f"{self._url}: {id}/{_CONTENTS}: is not what its name says; remove it and push again")
        return stored

    def _place(self, id: str, name: str) -> str:
        return f"{self._root}/{id}/{_FILES}/{name}" if name else f"{self._root}/{id}/{_FILES}/data"

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except (DataError, OutputError):
            raise
        except Exception as error:  # what the libraries of stores raise has no common class
            raise NetworkError(f"{self._url}: {one_line(error)}; check the address and your rights") from error


def stored_path(name: str, store: str | None) -> str:
    """Where `store:ID` lies on this machine, in the user's cache folder; it is fetched there where it is not.

    Args:
        name: as a configuration gives it.
        store: where it is fetched from.

    Raises:
        FetchError: it cannot be fetched, or not be kept; the text says why.
    """
    id, folder = name.removeprefix(STORE), users_cache()
    if folder is None:
        raise FetchError(f"{name}: there is no place to keep it; set XDG_CACHE_HOME to a folder")
    path = folder / "data" / id
    if not path.exists():
        try:
            if store is None:
                raise ConfigError("no store is named; set data_store")
            LOGGER.info("%s: fetching from %s into %s", name, store, path)
            DataStore(store).pull(id, path, compare=False)
        except ConvinseError as error:
            raise FetchError(f"{name}: {one_line(error)}") from error
    return str(path)


def _require_room(path: Path, size: int) -> None:
    """Raise `OutputError` where a disk has no room for so many bytes."""
    free = shutil.disk_usage(path.parent).free
    if free < size:
        raise OutputError(
            f"{path}: needs {size / 10**6:,.1f} MB, and its disk has {free / 10**6:,.1f} MB left; make room there, or take "
            "another disk (XDG_CACHE_HOME names the folder of what is fetched by itself)"
        )


def _measured(path: Path) -> StoredData:
    """A folder or a file, as a store would have it."""
    if path.is_dir():
        names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
    else:
        names = [""] if path.is_file() else []
    if not names:
        raise DataError(f"{path}: no such file, and no folder that has one")
    paths = {name: path / name if name else path for name in names}
    files = {name: StoredFile(file.stat().st_size, sha256(file)) for name, file in paths.items()}
    return StoredData(_id_of(files), path.resolve().name, _build_id(path), files)


def _id_of(files: dict[str, StoredFile]) -> str:
    return hashlib.sha256(msgspec.json.encode(files, order="sorted")).hexdigest()[:16]


def _build_id(path: Path) -> str:
    """The build id in the manifest of a built folder; empty where there is none."""
    try:
        manifest: Any = msgspec.json.decode((path / MANIFEST).read_bytes())
    except (OSError, *JSON_ERRORS):
        return ""
    build_id = manifest.get("build_id") if isinstance(manifest, dict) else None
    return build_id if isinstance(build_id, str) else ""


def _is_inside(name: str) -> bool:
    """Whether the path of a stored file stays where it is put."""
    path = PurePosixPath(name)
    return (
        not name
        or not (path.is_absolute() or ".." in path.parts or "\0" in name or str(path) in (".", ""))
        and str(path) == name
    )
