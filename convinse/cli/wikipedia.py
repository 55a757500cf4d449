"""Commands of Wikipedia dumps: build, add, remove, import-pickle, info."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import Commands
from .output import say_next
from .tables import print_pairs

if TYPE_CHECKING:
    from ..wikipedia.build import BuiltDump
    from ..wikipedia.changes import Changed
    from ..wikipedia.stored_pages import Embedding


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

    sub = commands.add(
        "add", _wikipedia_add, "saved HTML pages into a dump that is there, in place of older ones of their items"
    )
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
    from ..wikipedia.build import build

    output, titles = Path(options.output), Path(options.titles) if options.titles else None
    embedding = None if options.vectors is None else embedding_of(options.vectors)
    built = build(Path(options.pages), output, titles, embedding=embedding, quiet=options.quiet)
    _print_wikipedia(output, _skipped(built), built.seconds)
    say_next(f"ask --set ers_wikipedia_dump={output} 'QUESTION'", "or name it in ers_wikipedia_dump")
    return 0


def _wikipedia_add(options: argparse.Namespace) -> int:
    from contextlib import closing

    from ..config import SNAPSHOT, resolve
    from ..wikipedia.changes import add_pages
    from ..wikipedia.dump import WikipediaDump

    path, model = resolve(options.file), options.vectors
    with closing(WikipediaDump(path)) as dump:
        if dump.vectors_of:
            model = model or SNAPSHOT + "model"
    _print_changed(path, add_pages(path, Path(options.pages), embedding_of(model) if model else None, options.quiet))
    return 0


def _wikipedia_remove(options: argparse.Namespace) -> int:
    from ..config import resolve
    from ..wikipedia.changes import remove_pages

    path = resolve(options.file)
    _print_changed(path, remove_pages(path, options.pages))
    return 0


def _print_changed(path: Path, changed: Changed) -> None:
    names = {"added": changed.added, "replaced": changed.replaced, "removed": changed.removed}
    done = {name: number for name, number in names.items() if number}
    skipped = None if changed.removed else _skipped(changed)
    _print_wikipedia(path, skipped, done={**done, "linked anew": changed.linked})


def _skipped(done: BuiltDump | Changed) -> dict[str, int]:
    return {"pages without an item": done.skipped, "bad lines": done.bad, "second pages of an item": done.repeated}


def embedding_of(model: str) -> Embedding:
    """Return the embedding of evidences by a bi-encoder."""
    from ..encoder.bi_encoder import BiEncoder
    from ..wikipedia.stored_pages import Embedding

    encoder = BiEncoder(model)
    return Embedding(encoder.weights_id, encoder.dimension, encoder.row_form, encoder.embed)


def _wikipedia_import(options: argparse.Namespace) -> int:
    from ..wikipedia.pickle_import import import_pickle

    output = Path(options.output)
    done = import_pickle(Path(options.file), output, quiet=options.quiet)
    _print_wikipedia(output, {"items without evidences": done.empty, "bad evidences": done.bad}, done.seconds)
    say_next(f"ask --set ers_wikipedia_dump={output} 'QUESTION'", "or name it in ers_wikipedia_dump")
    return 0


def _wikipedia_info(options: argparse.Namespace) -> int:
    from ..config import resolve

    _print_wikipedia(resolve(options.file))
    return 0


def _print_wikipedia(
    path: Path, skipped: dict[str, int] | None = None, seconds: float | None = None, done: dict[str, int] | None = None
) -> None:
    from contextlib import closing

    from ..records.evidence import SOURCES
    from ..wikipedia.dump import WikipediaDump

    with closing(WikipediaDump(path)) as dump:
        counts, build_id = dump.counts, dump.build_id
    sources = [source for source in SOURCES if source != "kb" or counts.get(source)]
    pairs = {
        "pages": f"{counts['pages']:,}",
        **{f"{source} evidences": f"{counts.get(source, 0):,}" for source in sources},
        **{name: f"{number:,}" for name, number in (done or {}).items()},
        **{f"skipped {name}": f"{number:,}" for name, number in (skipped or {}).items()},
        "size": f"{path.stat().st_size / 10**6:,.1f} MB",
        "build id": build_id,
    }
    print_pairs(str(path), pairs if seconds is None else {**pairs, "seconds": f"{seconds:.1f}"})
