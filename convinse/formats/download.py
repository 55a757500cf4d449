"""Public data sets from their official addresses, checked against the published sums (`downloads.json`); files named by a URL."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urljoin

import msgspec

from ..support.checksums import hexdigest
from ..support.errors import ConfigError, DataError, ScoringError, nearest, one_line
from ..support.files import replacing
from ..support.progress import progress
from ..support.web import WebSession

TABLE = Path(__file__).with_name("downloads.json")
_DEADLINE = 6 * 3600.0  # seconds for a file


class File(msgspec.Struct, frozen=True):
    """A file of a data set: the name to save it as, its address, and its sums and size if they are published."""

    name: str
    url: str
    md5: str = ""
    sha256: str = ""
    size: int = 0

    def fault(self, path: Path) -> str:
        """Return the difference of a file from the published one, or an empty text."""
        try:
            for name, published in (("sha256", self.sha256), ("md5", self.md5)):  # MD5 tells damage, not malice
                digest = hexdigest(path, hashlib.new(name, usedforsecurity=False)) if published else ""
                if digest != published:
                    return f"the {name.upper()} sum {digest}, not {published}"
            size = path.stat().st_size
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {one_line(error)}") from None
        return f"{size} bytes, not {self.size}" if self.size and size != self.size else ""


def collections() -> dict[str, list[File]]:
    """Return the files of all data sets by name."""
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, list[File]])


def find_collection(name: str) -> list[File]:
    """Return the files of a data set. Raises `ConfigError` that suggests the nearest name."""
    table = collections()
    if name not in table:
        raise ConfigError(f"unknown data set '{name}'; {nearest(name, list(table))}")
    return table[name]


def download(
    files: Iterable[File], folder: Path, mirror: str | None = None, quiet: bool = False
) -> Iterator[tuple[Path, bool, bool]]:
    """Fetch the missing files one after the other; a file appears when it is whole and right.

    Yields each file, whether it is new, and whether it was checked by a published sum. Raises `DataError`.

    Args:
        files: see `find_collection`.
        folder: for the files; made if missing. A right file there is not fetched again.
        mirror: the address of a folder with the files under their `name`.
        quiet: no progress.
    """
    remedy = "run the command again, or name another host with --mirror"
    with closing(WebSession(deadline=_DEADLINE, remedy=remedy)) as session:
        for file in files:
            path = folder / file.name
            is_new = not path.exists()
            if is_new:
                address = urljoin(f"{mirror.rstrip('/')}/", file.name) if mirror else file.url
                with replacing(path) as temporary, progress(file.name, file.size or None, "bytes", quiet) as advance:
                    session.download(address, temporary, advance)
                    if fault := file.fault(temporary):
                        raise DataError(f"{path}: {address} gave a file with {fault}")
            elif fault := file.fault(path):
                raise DataError(f"{path}: is there already with {fault}; move it away to fetch it anew")
            yield path, is_new, bool(file.sha256 or file.md5)


@contextmanager
def local_files(*names: str) -> Iterator[list[Path]]:
    """Yield the paths of files that are named by a path or a URL; copies of URLs exist while the block runs.

    Errors inside of the block name the URL, not the copy.
    """
    urls = {}
    with tempfile.TemporaryDirectory(prefix="convinse-") as folder, closing(WebSession(deadline=_DEADLINE)) as session:
        paths = []
        for number, name in enumerate(names):
            if not name.lower().startswith(("http://", "https://")):
                paths.append(Path(name))
                continue
            path = Path(folder, str(number))
            session.download(name, path)
            urls[str(path)] = name
            paths.append(path)
        try:
            yield paths
        except (DataError, ScoringError) as error:
            text = str(error)
            for copy, url in urls.items():
                text = text.replace(copy, url)
            raise type(error)(text) from error.__cause__
