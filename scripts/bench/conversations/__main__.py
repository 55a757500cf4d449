"""Real conversations over wikidata-27k: every question understanding module, gold and predicted history, and speed.

    bash run.sh bench conversations
    bash run.sh bench conversations --only kb --failures 50
    bash run.sh bench conversations --config lexical.yml --work DIR

The conversations are those of convquestions/val_wd27k: of its 32 versions a group two, which together have each wording
once. Gold texts count as the date or the number that they hold, a bare year as any date in it; "P@1 label" also counts
answers that have the gold label under another id, for the published ids are often wrong. The data lies in ../shared/data or
CONVINSE_DATA; the figures of the measured parts go to results/bench/conversations.json, with what each of them should be.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from bench.conversations import speed
from bench.conversations.data import build_sources, read_conversations
from bench.conversations.failures import draw_failures, failure_text
from bench.conversations.quality import MODULES, Quality, measure, table, table_of_losses
from bench.rerank.data import shared_data
from bench.rerank.measures import Bound
from convinse.config import load_config
from convinse.question_understanding.base import QuestionUnderstanding
from convinse.records.evidence import DEFAULT_SOURCES, Conversation
from convinse.support.errors import ConvinseError
from convinse.support.files import replacing
from convinse.support.registry import find_module

OUTPUT = Path("results/bench/conversations.json")
FAILURES = Path("results/bench/conversations-failures.txt")
SOURCES = {"kb": "kb", "all": DEFAULT_SOURCES}  # part -> sources
PARTS = (*SOURCES, "speed")
QUICK_GROUPS, QUICK_TURNS = 5, 100


class Work(NamedTuple):
    """What the parts measure with: the configuration's name, the keys that are replaced, data, a temporary folder."""

    config: str
    overrides: dict[str, str]
    data: Path
    folder: Path
    conversations: list[Conversation]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--config", default="wikidata-27k.yml", metavar="NAME", help="its stages (default: %(default)s)"
    )
    parser.add_argument("--only", default=",".join(PARTS), metavar="PART", help=f"of {','.join(PARTS)} (default: all)")
    parser.add_argument(
        "--modules", default=",".join(MODULES), metavar="NAME", help="QU modules beside the config's own"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="the first N groups (10 turns each, of 46)")
    parser.add_argument("--turns", type=int, metavar="N", help=f"of the speed part (default: {speed.FULL})")
    parser.add_argument("--quick", action="store_true", help="few groups and turns; the figures say little")
    parser.add_argument(
        "--work", type=Path, metavar="DIR", help="keep the built sources here (default: a temporary folder)"
    )
    parser.add_argument("--failures", type=int, default=0, metavar="N", help=f"write N failed turns to {FAILURES}")
    parser.add_argument("--one-hop-failures", action="store_true", help="draw them from the one-hop turns")
    options = parser.parse_args(arguments)
    parts = options.only.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"--only: unknown part '{unknown[0]}'; valid: {', '.join(PARTS)}")
    for key in ("limit", "turns"):
        if (given := getattr(options, key)) is not None and given < 1:
            parser.error(f"--{key}: at least 1")
    if options.failures and not set(parts) & set(SOURCES):
        parser.error("--failures: needs one of the parts kb and all")
    os.environ.update(HF_HUB_OFFLINE="1")
    logging.basicConfig(format="%(message)s")
    logging.getLogger("convinse").setLevel(logging.INFO)
    try:
        run(options, [part for part in PARTS if part in parts])
    except ConvinseError as error:
        raise SystemExit(f"bench: {error}") from None


def run(options: argparse.Namespace, parts: Sequence[str]) -> None:
    """Build the sources, measure, print and write."""
    data = shared_data()
    console = Console(width=150)
    modules = options.modules.split(",")
    for module in (load_config(options.config).qu, *modules):  # a wrong name shows before anything is built
        find_module("qu", module, QuestionUnderstanding)
    bounds: list[Bound] = []
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="convinse-") as name:
        folder = Path(name)
        work = _prepare(options, data, folder)
        for part in parts:
            start = time.perf_counter()
            if part == "speed":
                turns = options.turns or (QUICK_TURNS if options.quick else speed.FULL)
                asked = speed.gather(work.conversations, data, turns)
                found = speed.measure(work.config, work.overrides, asked, folder / "speed")
                console.print(speed.table(found))
                figures[part], new = found, speed.bounds(found)
            else:
                quality = measure(work.config, work.overrides, work.conversations, SOURCES[part], modules)
                console.print(table(quality))
                console.print(table_of_losses(quality))
                figures[part], new = quality.record(), quality.bounds()
                if options.failures and part == next(one for one in parts if one in SOURCES):
                    _write_failures(quality, options.failures, options.one_hop_failures)
            bounds += new
            print(f"{part}: {time.perf_counter() - start:.1f} seconds", file=sys.stderr)
    failed = [str(bound) for bound in bounds if bound.failed]
    console.print("all bounds kept" if not failed else "\n".join(["missed:", *failed]))
    written = {
        "config": options.config, "cores": os.cpu_count(), "machine": platform.machine(),
        "python": platform.python_version(), "conversations": len(work.conversations), **figures,
        "bounds": {bound.what: {"value": bound.value, "bound": bound.bound} for bound in bounds},
        "failed_bounds": failed,
    }  # fmt: skip
    with replacing(OUTPUT) as temporary:
        temporary.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    print(OUTPUT)


def _prepare(options: argparse.Namespace, data: Path, folder: Path) -> Work:
    kept = options.work or folder / "sources"
    kept.mkdir(parents=True, exist_ok=True)
    print(f"knowledge base and pages of wikidata-27k in {kept} ...", file=sys.stderr)
    sources = build_sources(data, kept)
    overrides = {
        "kb_path": str(sources.kb),
        "ers_wikipedia_dump": str(sources.pages),
        "ers_cache_path": str(folder / "cache"),  # of this run only: older results may be of older code
    }
    groups = options.limit or (QUICK_GROUPS if options.quick else None)
    return Work(options.config, overrides, data, folder, read_conversations(data, groups))


def _write_failures(quality: Quality, number: int, one_hop: bool) -> None:
    drawn = draw_failures(quality.answered, number, one_hop)
    texts = [failure_text(place, *one) for place, one in enumerate(drawn, 1)]
    with replacing(FAILURES) as temporary:
        head = f"{quality.sources}, {quality.default}, gold history: {len(texts)} failed turns; * has a gold answer\n\n"
        temporary.write_text(head + "\n".join(texts), encoding="utf-8")
    print(FAILURES)


if __name__ == "__main__":
    main()
