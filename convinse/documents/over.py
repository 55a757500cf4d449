"""The index of files that are asked about, as by `ask --over` and `Pipeline(over=...)`: in the user's cache, by their paths."""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..config import Config
from ..support.checksums import users_cache
from ..support.errors import ConfigError
from ..wikipedia.stored_pages import Embedding
from .index import FILE, settings_over
from .update import Updated, update
from .vectors import add_vectors, embedding_of

LOGGER = logging.getLogger(__name__)
MODEL = "snapshot:model"
MOST_WAITED_FOR = 20_000  # passages that are embedded before a single question is answered: 45 s on two cores


class Indexed(NamedTuple):
    """An index that was brought up to date with the files at and below some paths."""

    folder: Path
    paths: list[Path]
    embedding: Embedding
    done: Updated

    def add_vectors(self, quiet: bool = True) -> None:
        """Make the vectors that are missing, unless they are so many that a question would wait for long."""
        missing = self.done.without_vectors
        if 0 < missing <= MOST_WAITED_FOR:
            add_vectors(self.folder, self.embedding, quiet)
        elif missing:
            LOGGER.warning(
                "%s passages have no vectors yet, and only their words are searched; convinse index %s --output DIR makes "
                "the vectors, then ask --over DIR",
                f"{missing:,}",
                shlex.join(map(str, self.paths)),
            )


def index_over(paths: list[Path], model: str | None = None, quiet: bool = True) -> tuple[Path, Indexed | None]:
    """Return the folder of the index of files and folders, brought up to date; or that of an index that is named itself."""
    paths = [path.expanduser() for path in paths]
    if len(paths) == 1 and is_index(paths[0]):
        return paths[0], None
    cache = users_cache()
    if cache is None:
        raise ConfigError("--over: no cache folder; make an index with convinse index, and name its folder")
    names = "\0".join(str(path.resolve()) for path in paths)
    folder = cache / "documents" / hashlib.sha256(names.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    embedding = embedding_of(model or MODEL)
    return folder, Indexed(folder, paths, embedding, update(folder, paths, embedding, quiet, words_first=True))


def is_index(path: Path) -> bool:
    """Return True for the folder of an index."""
    return os.path.isfile(path / FILE)  # noqa: PTH113 - Path.is_file fails in a folder that may not be read


def config_over(config: Config, over: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> Config:
    """Return a configuration that answers from files alone, the index of which is brought up to date first.

    Raises:
        DataError: a path does not exist, or none of its files can be read.
    """
    paths = [Path(path) for path in ([over] if isinstance(over, str | os.PathLike) else over)]
    if not paths:
        raise ConfigError("over: it names no file; give a file, a folder or a list of them")
    folder, indexed = index_over(paths, config.evs_bi_encoder)
    if indexed is not None:
        indexed.add_vectors()
    return msgspec.structs.replace(config, **settings_over(folder), name=paths[0].resolve().name)
