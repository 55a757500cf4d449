"""The exceptions of the project.

::

    ConvinseError             one line: what went wrong, where, what to do
    ├── ConfigError           a configuration file or override
    │   ├── NothingToTrainError   a stage cannot be trained as configured
    │   └── UnknownKeyError       a key that is read does not exist; a KeyError, too
    ├── DataError             an input file: conversations, dumps, pages
    ├── ModuleError           a stage module: unknown name, failed import, broken contract
    ├── IndexFileError        a built file (knowledge base, Wikipedia dump) is missing, damaged or too new
    ├── ModelError            a neural model is missing, damaged, of the wrong kind, or computes no numbers
    ├── DependencyError       an optional package is not installed
    ├── ScoringError          predictions and gold answers that cannot be scored together
    ├── NetworkError          a server cannot be asked, or its answer cannot be used
    └── OutputError           a result cannot be written, or another run is writing there

The command line prints the message of a `ConvinseError` on one line and exits with status 1.
"""

from __future__ import annotations

import difflib
from pathlib import Path


class ConvinseError(Exception):
    """Base of all errors that a user can act on; its text is one line.

    >>> try:
    ...     ask("Who directed Titanic?", "tabel", config="lexical.yml")
    ... except ConvinseError as error:
    ...     print(error)
    sources: unknown source 'tabel' in 'tabel'; valid: kb, text, table, info (joined by _)
    """


class ConfigError(ConvinseError):
    """A configuration is wrong; the text names the file, the key and a remedy."""


class NothingToTrainError(ConfigError):
    """A stage that can be trained has nothing to start from; `train all` passes it over."""


class UnknownKeyError(ConfigError, KeyError):
    """A key that the settings lack; the text names the nearest one."""

    def __str__(self) -> str:
        return Exception.__str__(self)  # that of KeyError shows the text in quotes


class DataError(ConvinseError):
    """An input file is wrong; the text names the file and the place in it."""


class ModuleError(ConvinseError):
    """A module named in the configuration cannot be used."""


class IndexFileError(ConvinseError):
    """A built file or folder cannot be opened; the text says how to build it again."""


class ModelError(ConvinseError):
    """A model cannot be used; the text names the configuration key."""


class DependencyError(ConvinseError):
    """An optional package is missing; the text says how to install it."""


class ScoringError(ConvinseError, ValueError):
    """Predictions and gold answers cannot be scored together; the text names the question."""


class NetworkError(ConvinseError):
    """A server cannot be asked, or answers what cannot be used; the text names the host and a remedy, `status` is that of its last answer."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class OutputError(ConvinseError):
    """Results cannot be written."""


def missing_extra(fault: str, extra: str) -> DependencyError:
    """Return the error of a package that is missing, and how to install the extra that has it: the project is on no index."""
    clone = Path(__file__).resolve().parents[2]
    if (clone / "setup.cfg").is_file():
        remedy = f"set CONVINSE_EXTRAS={extra} before bash run.sh, or run pip install '{clone}[{extra}]'"
    else:
        remedy = f"run pip install 'FILE.whl[{extra}]' with the wheel, or the clone, that convinse was installed from"
    return DependencyError(f"{fault}; {remedy}")


def one_line(error: BaseException) -> str:
    """The text of an exception without line breaks, with its type where the text alone says too little."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    bare_key = isinstance(error, KeyError) and not isinstance(error, ConvinseError)
    return text if text and not bare_key else f"{type(error).__name__}: {text}"


def remedy_of(error: BaseException, remedy: str) -> str:
    """Return the remedy for a file that cannot be opened: `remedy`, unless a permission is missing."""
    return "ask its owner for the right to read it" if isinstance(error, PermissionError) else remedy


def unreadable(path: Path, error: OSError) -> DataError:
    """Return the error of an input that cannot be opened, and what to do about it."""
    remedy = "name a file in it" if isinstance(error, IsADirectoryError) else "check the name"
    if isinstance(error, FileNotFoundError) and path.parent.is_dir():
        names = [sibling.name for sibling in path.parent.iterdir()]
        if close := difflib.get_close_matches(path.name, names, n=1, cutoff=0.75):
            remedy = f"did you mean '{path.parent / close[0]}'?"
    return DataError(f"{path}: cannot be read: {error.strerror or one_line(error)}; {remedy_of(error, remedy)}")


def nearest(name: str, valid: list[str], suffix: str = "") -> str:
    """Return a hint: the valid word nearest to `name` without the `suffix` of both, or all words if none is near."""
    words = [word.removesuffix(suffix) for word in valid]
    close = difflib.get_close_matches(name.removesuffix(suffix), words, n=1, cutoff=0.6)
    return f"did you mean '{close[0]}{suffix}'?" if close else f"valid: {', '.join(sorted(valid))}"
