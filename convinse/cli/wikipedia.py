"""Commands of Wikipedia dumps: build, add, remove, import-pickle, info."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import Commands
from .output import say_next
from .tables import print_pairs

if TYPE_CHECKING:
    from ..wikipedia.build import Changed


def add(commands: Commands) -> None:
    """Add `wikipedia build|add|remove|import-pickle|info`."""
    commands = commands.group("wikipedia", "build, change, import or inspect a Wikipedia dump")

    sub = commands.add("build", _wikipedia_build, "the evidences of saved HTML pages into a dump")
    sub.add_argument("pages", metavar="PAGES", help="JSON lines with title, url, qid and html; plain or .gz")
    sub.add_argument("--output", required=True, metavar="FILE", help="the dump; an older one there is replaced")
    sub.add_argument("--titles", metavar="TSV", help="title and item of other pages, for links; plain or .gz")
    sub.add_argument(
        "--vectors", metavar="MODEL", help="let evidences be found by this bi-encoder, too, such as snapshot:model"
    )

    sub = commands.add("add", _wikipedia_add, "saved HTML pages into a dump, in place of older ones of their items")
    sub.add_argument("file", metavar="FILE", help="a dump that 'wikipedia build' wrote")
    sub.add_argument("pages", metavar="PAGES", help="as for 'wikipedia build'")
    sub.add_argument(
        "--vectors", metavar="MODEL", help="the bi-encoder that the dump was built with (default: the embedded one)"
    )

    sub = commands.add("remove", _wikipedia_remove, "pages out of a dump")
    sub.add_argument("file", metavar="FILE")
    sub.add_argument("pages", metavar="TITLE_OR_ITEM", nargs="+", help="such as 'James Cameron' or Q42574")

    sub = commands.add("import-pickle", _wikipedia_import, "CONVINSE's pickle dump into the project's own format")
    sub.add_argument("file", metavar="FILE", help="item id -> list of evidences; plain or .gz; nothing in it is run")
    sub.add_argument("--output", required=True, metavar="FILE", help="the dump; an older one there is replaced")

    sub = commands.add("info", _wikipedia_info, "what a dump holds")
    sub.add_argument("file", metavar="FILE")


def _wikipedia_build(options: argparse.Namespace) -> int:
    from ..documents.vectors import embedding_of
    from ..wikipedia.build import build

    output, titles = Path(options.output), Path(options.titles) if options.titles else None
    embedding = None if options.vectors is None else embedding_of(options.vectors)
    start = time.monotonic()
    built = build(Path(options.pages), output, titles, embedding=embedding, quiet=options.quiet)
    _print_dump(output, _skipped(built), time.monotonic() - start)
    return 0


def _wikipedia_add(options: argparse.Namespace) -> int:
    from ..config import SNAPSHOT, resolve
    from ..documents.vectors import embedding_of
    from ..wikipedia.changes import add_pages
    from ..wikipedia.dump import WikipediaDump

    path, model = resolve(options.file), options.vectors
    with closing(WikipediaDump(path)) as dump:
        if dump.vectors_of:
            model = model or SNAPSHOT + "model"
    changed = add_pages(path, Path(options.pages), embedding_of(model) if model else None, options.quiet)
    done = {name: number for name in ("added", "replaced") if (number := getattr(changed, name))}
    _print_dump(path, {**done, "linked anew": changed.linked, **_skipped(changed)})
    return 0


def _wikipedia_remove(options: argparse.Namespace) -> int:
    from ..config import resolve
    from ..wikipedia.changes import remove_pages

    path = resolve(options.file)
    changed = remove_pages(path, options.pages)
    _print_dump(path, {"removed": changed.removed, "linked anew": changed.linked})
    return 0


def _wikipedia_import(options: argparse.Namespace) -> int:
    from ..wikipedia.pickle_import import import_pickle

    output = Path(options.output)
    start = time.monotonic()
    done = import_pickle(Path(options.file), output, quiet=options.quiet)
    counts = {"skipped items without evidences": done.skipped, "skipped bad evidences": done.bad}
    _print_dump(output, counts, time.monotonic() - start)
    return 0


def _wikipedia_info(options: argparse.Namespace) -> int:
    from ..config import resolve

    _print_dump(resolve(options.file))
    return 0


def _skipped(done: Changed) -> dict[str, int]:
    return {
        "skipped pages without an item": done.skipped,
        "skipped bad lines": done.bad,
        "skipped second pages of an item": done.repeated,
    }


def _print_dump(path: Path, done: Mapping[str, int] | None = None, seconds: float | None = None) -> None:
    """Print the counts of a dump and of a command; `seconds` are of a command that made the dump."""
    from ..records.evidence import SOURCES
    from ..wikipedia.dump import WikipediaDump

    with closing(WikipediaDump(path)) as dump:
        counts, build_id = dump.counts, dump.build_id
    sources = [source for source in SOURCES if source != "kb" or counts.get(source)]
    numbers = {"pages": counts["pages"], **{f"{source} evidences": counts.get(source, 0) for source in sources}}
    pairs = {name: f"{number:,}" for name, number in {**numbers, **(done or {})}.items()}
    pairs |= {"size": f"{path.stat().st_size / 10**6:,.1f} MB", "build id": build_id}
    print_pairs(str(path), pairs if seconds is None else {**pairs, "seconds": f"{seconds:.1f}"})
    if seconds is not None:
        say_next(f"ask --set ers_wikipedia_dump={path} 'QUESTION'", "or name it in ers_wikipedia_dump")
