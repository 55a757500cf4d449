"""Commands of the knowledge base: build, update, grow, info, search, serve."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import Commands, add_address, add_set, configured, languages, size
from .output import print_json, printable, say_next
from .tables import console, print_pairs

if TYPE_CHECKING:
    import numpy as np

    from ..knowledge_base.index import KnowledgeBase

_FIRST_FACTS = 20  # shown by kb search


def add(commands: Commands) -> None:
    """Add `kb build|update|grow|info|search|serve`."""
    commands = commands.group("kb", "build, change, inspect, query or serve an embedded knowledge base")

    sub = commands.add("build", _kb_build, "build the index of a Wikidata JSON dump")
    sub.add_argument("dump", metavar="DUMP", help="one entity a line: .json, .gz, .bz2 or .zst")
    sub.add_argument("--output", required=True, metavar="DIR", help="the index; an older one there is replaced")
    sub.add_argument("--memory", type=size, default="4GB", metavar="SIZE", help="such as 512MB (default 4GB)")
    sub.add_argument("--language", type=languages, default="en", metavar="CODE",
                     help="of the labels; several by comma, the preferred first (default en; mul always follows)")  # fmt: skip

    sub = commands.add("update", _kb_update, "entity documents into an index that is there, in place of older ones")
    sub.add_argument("folder", metavar="DIR")
    sub.add_argument(
        "changes", metavar="DUMP", help="as for 'kb build', or an answer of Special:EntityData or wbgetentities"
    )
    sub.add_argument("--memory", type=size, default="4GB", metavar="SIZE", help="as for 'kb build'")

    sub = commands.add("grow", _kb_grow, "keep what live questions fetched as a knowledge base")
    sub.add_argument("folder", metavar="DIR", help="the index; an older one there is replaced by one that has more")
    sub.add_argument("--from", dest="config", default="live", metavar="CONFIG",
                     help="the configuration that was asked with (default live: live.yml), whose cache is read")  # fmt: skip
    add_set(sub)

    sub = commands.add("info", _kb_info, "what an index holds")
    sub.add_argument("folder", metavar="DIR")

    sub = commands.add("search", _kb_search, "the items of a question, and the facts around them")
    sub.add_argument("folder", metavar="DIR")
    sub.add_argument("question", metavar="QUESTION")
    sub.add_argument("--json", action="store_true", help="all of it as one JSON object, as /search_space answers")

    sub = commands.add("serve", _kb_serve, "serve an index over the CLOCQ HTTP API until Ctrl-C")
    sub.add_argument("folder", metavar="DIR")
    add_address(sub, 7777)


def _kb_build(options: argparse.Namespace) -> int:
    from ..knowledge_base.build import build

    output = Path(options.output)
    build(Path(options.dump), output, memory=options.memory, languages=options.language, quiet=options.quiet)
    _print_kb(options.output)
    say_next(f"ask --set kb_path={output} --sources kb 'QUESTION'", "or name it in kb_path")
    return 0


def _kb_update(options: argparse.Namespace) -> int:
    from ..config import resolve
    from ..knowledge_base.update import update

    folder = resolve(options.folder)
    _print_kb(options.folder, update(folder, Path(options.changes), memory=options.memory, quiet=options.quiet))
    return 0


def _kb_grow(options: argparse.Namespace) -> int:
    from ..config import SNAPSHOT
    from ..knowledge_base.grow import grow
    from ..resources import Resources

    options.config = "live.yml" if options.config == "live" else options.config
    config = configured(options)
    with Resources(config) as resources, _opened(SNAPSHOT + "kb") as at_hand:
        grow(Path(options.folder), resources.cache, config.ers_wikidata_api, at_hand, options.quiet)
    _print_kb(options.folder)
    return 0


def _kb_info(options: argparse.Namespace) -> int:
    _print_kb(options.folder)
    return 0


def _opened(folder: str) -> closing[KnowledgeBase]:
    from ..config import resolve
    from ..knowledge_base.index import KnowledgeBase

    return closing(KnowledgeBase(resolve(folder)))


def _print_kb(name: str, done: Mapping[str, int] | None = None) -> None:
    with _opened(name) as kb:
        folder, manifest = kb.path, kb.manifest
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    pairs = {
        **{name: f"{number:,}" for name, number in (done or {}).items()},
        "items": f"{manifest.items:,}",
        "properties": f"{manifest.properties:,}",
        "facts": f"{manifest.facts:,}",
        "size": f"{size / 10**6:,.1f} MB ({size / max(manifest.facts, 1):.0f} bytes a fact)",
        "languages": ", ".join(manifest.languages),
        "build id": manifest.build_id,
        "format": str(manifest.format),
    }
    print_pairs(str(folder), pairs)


def _kb_search(options: argparse.Namespace) -> int:
    from ..config import ClocqParams, Config
    from ..knowledge_base.clocq_api import search_space_answer
    from ..knowledge_base.search_space import SearchSpace
    from ..records.facts import fact_text

    with _opened(options.folder) as kb:
        linked_facts, entities = SearchSpace(kb, ClocqParams(), Config().clocq_p).search(options.question)
        descriptions = [kb.description(entity["item"]["id"]) for entity in entities]
    facts = [fact for fact, _ in linked_facts]
    if options.json:
        print_json(search_space_answer(facts, entities))
        return 0
    if not entities:
        print("no item of the knowledge base found in the question")
        return 0
    from rich.markup import escape
    from rich.table import Table

    table = Table("word", "rank", "score", "item", "label", "description")
    for entity, description in zip(entities, descriptions, strict=True):
        item = entity["item"]
        words = entity["question_word"], str(entity["rank"]), f"{entity['score']:.3f}", item["id"], item["label"]
        table.add_row(*(escape(printable(text)) for text in (*words, description)))
    console().print(table)
    for fact in facts[:_FIRST_FACTS]:
        print(f"  {fact_text(fact)}")
    print(f"{len(facts)} facts" + (f", the first {_FIRST_FACTS} shown" if len(facts) > _FIRST_FACTS else ""))
    return 0


def _kb_serve(options: argparse.Namespace) -> int:
    from ..config import SNAPSHOT, Config
    from ..resources import Resources
    from ..serving.app import run
    from ..serving.clocq import create_app

    with _opened(options.folder) as kb, Resources(Config(ers_use_cache=False), kb=kb) as resources:

        def embed(texts: Sequence[str]) -> np.ndarray:  # the model is loaded when a relation is first to be linked
            return resources.embeddings(SNAPSHOT + "model", "the embedded model").bi_encoder.embed(texts)

        run(
            create_app(kb, embed, (options.host, *options.allow_host)), options.host, options.port,
            lambda address: print(f"{kb.path}: the CLOCQ API is at {address} (Ctrl-C ends it)", flush=True),
        )  # fmt: skip
    return 0
