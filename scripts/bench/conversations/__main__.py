"""Real conversations over wikidata-27k: every question understanding module, gold and predicted history, and speed.

    bash run.sh bench conversations
    bash run.sh bench conversations --config lexical.yml --work DIR

The conversations are those of convquestions/val_wd27k: of its 32 versions a group two, which together have each wording
once; by default of 15 groups, with --full of all 46. Gold texts count as the date or the number that they hold, a bare year
as any date in it; "P@1 label" also counts answers that have the gold label under another id, for the published ids are often
wrong. The data lies in ../shared/data or CONVINSE_DATA.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import NamedTuple

from convinse.config import load_config
from convinse.question_understanding.base import QuestionUnderstanding
from convinse.records.conversation import Conversation
from convinse.records.evidence import DEFAULT_SOURCES
from convinse.support.registry import find_module

from ..candidates import build_sources
from ..harness import Bench, Spec, note, run
from .quality import MODULES, quality_part
from .speed import FULL, speed_part
from .turns import read_conversations


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
    return Work(options.config, overrides, read_conversations(bench.folder, bench.size.groups))


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", default="wikidata-27k.yml", metavar="NAME", help="its stages (default: %(default)s)"
    )
    parser.add_argument(
        "--modules", type=lambda text: text.split(","), default=list(MODULES), metavar="NAME",
        help=f"QU modules beside the config's own (default: {','.join(MODULES)})",
    )  # fmt: skip


SPEC = Spec(
    "conversations", __doc__,
    {
        "kb": partial(quality_part, sources="kb", name="kb"),
        "all": partial(quality_part, sources=DEFAULT_SOURCES, name="all"),
        "speed": speed_part,
    },
    (Size(1, 10), Size(15, 200), Size()), options=_options, prepare=prepare,
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
