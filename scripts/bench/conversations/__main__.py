"""Real conversations over wikidata-27k: every question understanding module, gold and predicted history, and speed.

    bash run.sh bench conversations
    bash run.sh bench conversations --parts kb --failures 50
    bash run.sh bench conversations --config lexical.yml --work DIR

The conversations are those of convquestions/val_wd27k: of its 32 versions a group two, which together have each wording
once; by default of 15 groups, with --full of all 46. Gold texts count as the date or the number that they hold, a bare year
as any date in it; "P@1 label" also counts answers that have the gold label under another id, for the published ids are often
wrong. The data lies in ../shared/data or CONVINSE_DATA.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

from convinse.config import load_config
from convinse.question_understanding.base import QuestionUnderstanding
from convinse.records.conversation import Conversation
from convinse.records.evidence import DEFAULT_SOURCES
from convinse.support.files import replacing
from convinse.support.registry import find_module

from ..candidates import build_sources
from ..harness import Bench, Figures, Spec, note, positive, run
from .quality import MODULES, Quality, measure, show
from .speed import FULL, speed_part
from .turns import draw_failures, failure_text, read_conversations

SOURCES = {"kb": "kb", "all": DEFAULT_SOURCES}  # part -> sources


class Size(NamedTuple):
    """Groups of conversations (None: all), and turns of the part on speed."""

    groups: int | None = None
    turns: int = FULL


class Work(NamedTuple):
    """What the parts measure with: the configuration's name, the keys that are replaced, the conversations."""

    config: str
    overrides: dict[str, str]
    conversations: list[Conversation]


def prepare(bench: Bench) -> Work:
    """Build the sources."""
    options = bench.options
    for module in (load_config(options.config).qu, *options.modules):  # a wrong name shows before anything is built
        find_module("qu", module, QuestionUnderstanding)
    note(f"knowledge base and pages of wikidata-27k in {bench.kept} ...")
    # the cache is of this run only: older results may be of older code
    overrides = {**build_sources(bench.folder, bench.kept), "ers_cache_path": str(bench.work / "cache")}
    return Work(options.config, overrides, read_conversations(bench.folder, options.limit or bench.size.groups))


def quality_part(bench: Bench, part: str) -> Figures:
    """All modules over one combination of sources."""
    options, work = bench.options, bench.state
    quality = measure(work.config, work.overrides, work.conversations, SOURCES[part], options.modules)
    show(bench, quality)
    bench.bounds += quality.bounds()
    if options.failures and part == next(name for name in SOURCES if name in options.parts):
        _write_failures(bench, quality)
    return {"config": options.config, "conversations": len(work.conversations), **quality.record()}


def _write_failures(bench: Bench, quality: Quality) -> None:
    drawn = draw_failures(quality.answered, bench.options.failures, bench.options.one_hop_failures)
    texts = [failure_text(place, *failure) for place, failure in enumerate(drawn, 1)]
    path = bench.options.output.with_name("conversations-failures.txt")
    with replacing(path) as temporary:
        head = f"{quality.sources}, {quality.default}, gold history: {len(texts)} failed turns; * has a gold answer\n\n"
        temporary.write_text(head + "\n".join(texts), encoding="utf-8")
    print(path)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", default="wikidata-27k.yml", metavar="NAME", help="its stages (default: %(default)s)"
    )
    parser.add_argument(
        "--modules", type=lambda text: text.split(","), default=list(MODULES), metavar="NAME",
        help=f"QU modules beside the config's own (default: {','.join(MODULES)})",
    )  # fmt: skip
    parser.add_argument("--limit", type=positive, metavar="N", help="the first N groups (10 turns each, of 46)")
    parser.add_argument("--turns", type=positive, metavar="N", help="of the speed part")
    parser.add_argument("--failures", type=int, default=0, metavar="N", help="write N failed turns beside the figures")
    parser.add_argument("--one-hop-failures", action="store_true", help="draw them from the one-hop turns")


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if options.failures and not set(options.parts) & set(SOURCES):
        parser.error("--failures: needs one of the parts kb and all")


SPEC = Spec(
    "conversations", __doc__,
    {**{part: lambda bench, part=part: quality_part(bench, part) for part in SOURCES}, "speed": speed_part},
    (Size(1, 10), Size(15, 200), Size()), options=_options, check=_check, prepare=prepare,
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
