"""The command index, and `--over` of the commands that ask."""

from __future__ import annotations

import argparse
import logging
import shlex
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..support.errors import ConfigError
from .arguments import Commands, configured
from .output import program, say_next
from .tables import print_pairs, print_rows

if TYPE_CHECKING:
    from ..config import Config
    from ..documents.index import ListedFile
    from ..documents.over import Indexed
    from ..documents.update import Updated

LOGGER = logging.getLogger(__name__)
_LIVE = "live.yml"
_FAULTS_SHOWN = 20  # unreadable files that are named: a screen of lines; the others are counted


def add(commands: Commands) -> None:
    """Add `index` and `files`."""
    sub = commands.add(
        "index", _index, "files and folders to ask about into an index, which is brought up to date if it exists",
        "what was read is kept, run the command again to go on",
    )  # fmt: skip
    sub.add_argument("paths", nargs="+", metavar="PATH", help="files and folders")
    sub.add_argument("--output", required=True, metavar="DIR", help="the folder of the index")
    files = commands.add("files", _files, "what is read of files and folders, and what is not", "nothing is lost")
    files.add_argument("paths", nargs="+", metavar="PATH", help="files and folders, or the index of some")
    sub.add_argument(
        "--vectors", default="snapshot:model", metavar="MODEL", help="the bi-encoder (default %(default)s)"
    )


_OVER = "ask about these files and folders, or the index of some, in place of what is configured; may be repeated"


def add_over(parser: argparse.ArgumentParser, text: str = _OVER) -> None:
    """Add `--over`, with this help text, `--with-kb` and `--live`, which `configured_over` reads."""
    parser.add_argument("--over", action="append", default=[], metavar="PATH", help=text)
    parser.add_argument(
        "--with-kb", action="store_true",
        help="with --over: ask the configured knowledge base and pages, too, in the same ranking",
    )  # fmt: skip
    parser.add_argument(
        "--live", dest="config", action="store_const", const=_LIVE, default=argparse.SUPPRESS,
        help="ask Wikidata and Wikipedia: the same as --config live.yml",
    )  # fmt: skip


def configured_over(options: argparse.Namespace) -> Config:
    """Return the configuration, over the documents of `--over` if there are any; their index is brought up to date first."""
    config, indexed = _config_and_index(options)
    if indexed is not None:
        indexed.add_vectors(options.quiet)
    return config


@contextmanager
def watched_over(options: argparse.Namespace) -> Iterator[Config]:
    """Yield the configuration as `configured_over`; the files are watched while the block runs, and vectors come meanwhile."""
    config, indexed = _config_and_index(options)
    if indexed is None:
        yield config
        return
    from ..documents.watcher import Watcher

    with Watcher(indexed.folder, indexed.paths, indexed.embedding):
        yield config


def _config_and_index(options: argparse.Namespace) -> tuple[Config, Indexed | None]:
    options.over = [*options.over, *getattr(options, "paths", ())]
    if not options.over:
        if options.with_kb:
            raise ConfigError("--with-kb belongs to --over PATH; give that, too")
        return configured(options), None
    from ..documents.index import settings_over
    from ..documents.over import index_over

    paths = [Path(path).expanduser() for path in options.over]
    folder, indexed = index_over(paths, configured(options).evs_bi_encoder, options.quiet)
    if indexed is not None:
        _report(indexed.done)
        _tell_left_out(indexed.done, options.over)
    settings: dict[str, Any] = settings_over(folder)
    if options.with_kb or options.config == _LIVE:
        settings = {"ers_documents": str(folder)}
    return configured(options, **settings, name=paths[0].resolve().name), indexed


def files_over(options: argparse.Namespace) -> list[Path]:
    """Return the files and folders of `--over`; empty if it names an index, which does not say where its files are."""
    from ..documents.over import is_index

    named = dict.fromkeys([*options.over, *getattr(options, "paths", ())])
    paths = [Path(path).expanduser().resolve() for path in named]
    return [] if len(paths) == 1 and is_index(paths[0]) else paths


def _tell_left_out(done: Updated, paths: list[str]) -> None:
    """Say in one line what of the files was not read, if anything: answers are from the rest."""
    from ..documents.files import counted_reason

    parts = [
        counted_reason(number, reason)
        for reason, number in sorted(done.left_out.items())
        if "hidden" not in reason and "proofs" not in reason
    ]
    if done.faults:
        parts.insert(0, f"{len(done.faults):,} that cannot be read")
    if done.in_part:
        parts.append(f"{done.in_part:,} in part")
    if parts:
        shown = " ".join(map(shlex.quote, paths))
        LOGGER.warning(
            "%s read; not read: %s (%s files %s lists them)",
            "1 file is" if done.counts["pages"] == 1 else f"{done.counts['pages']:,} files are",
            ", ".join(parts),
            program(),
            shown,
        )


def _read(file: ListedFile) -> str:
    from ..documents.index import amounts

    return "" if file.fault else f"{file.title}: {amounts(file.counts) or 'nothing'}"


def _files(options: argparse.Namespace) -> int:
    from ..documents.index import DocumentIndex
    from ..documents.over import index_over

    folder, indexed = index_over([Path(path) for path in options.paths], quiet=options.quiet)
    with closing(DocumentIndex(folder)) as index:
        rows = [(file.name, _read(file), file.fault or file.left_out) for file in index.files()]
    print_rows(None, ("file", "read", "not read"), rows)
    if indexed is not None and indexed.done.left_out:
        print_pairs(None, {why: f"{number:,}" for why, number in sorted(indexed.done.left_out.items())})
    return 0


def update_index(folder: Path, paths: list[Path], model: str, quiet: bool) -> Updated:
    """Make an index, or bring it up to date: the words, then the vectors in parts."""
    from ..documents.update import update
    from ..documents.vectors import add_vectors, embedding_of

    embedding = embedding_of(model)
    done = update(folder, paths, embedding, quiet, words_first=True)
    add_vectors(folder, embedding, quiet)
    return done


def _index(options: argparse.Namespace) -> int:
    done = update_index(Path(options.output), [Path(path) for path in options.paths], options.vectors, options.quiet)
    _report(done)
    files = {"added": done.added, "changed": done.changed, "removed": done.removed, "unchanged": done.unchanged}
    left_out = {f"left out, {why}": number for why, number in sorted(done.left_out.items())}
    counts = {f"{source} evidences": done.counts[source] for source in ("text", "table", "info")}
    shown: dict[str, Any] = {**files, "not read": len(done.faults), **left_out, **counts}
    print_pairs(options.output, {name: f"{number:,}" for name, number in shown.items()})
    say_next(f"ask --over {options.output} 'QUESTION'")
    return 0


def _report(done: Updated) -> None:
    for name, fault in list(done.faults.items())[:_FAULTS_SHOWN]:
        LOGGER.warning("%s: %s", name, fault)
    if len(done.faults) > _FAULTS_SHOWN:
        LOGGER.warning("%d more files cannot be read", len(done.faults) - _FAULTS_SHOWN)
