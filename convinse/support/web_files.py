"""Files that are named by a path or by a URL: those of a URL are fetched for as long as they are read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from .errors import DataError, ScoringError
from .web import WebSession

_DEADLINE = 3600.0  # seconds for a file without an interruption


@contextmanager
def local_files(*names: str) -> Iterator[list[Path]]:
    """The paths of files, in the order of their names; errors inside of the block name the URL, not the copy.

    Raises:
        NetworkError: a URL cannot be fetched.
        OutputError: the folder for temporary files cannot hold it.
    """
    urls = {}
    with tempfile.TemporaryDirectory(prefix="convinse-") as folder, closing(WebSession(deadline=_DEADLINE)) as session:
        paths = []
        for number, name in enumerate(names):
            if not name.lower().startswith(("http://", "https://")):
                paths.append(Path(name))
                continue
            path = Path(folder, str(number), _file_name(name))
            path.parent.mkdir()
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


def _file_name(url: str) -> str:
    """The last part of a URL's path, whose ending may say how a file is packed."""
    return PurePosixPath(unquote(urlsplit(url).path).replace("\0", "")).name[-100:] or "file"
