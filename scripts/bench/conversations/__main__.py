"""Real conversations over wikidata-27k: every question understanding module, gold and predicted history.

    bash run.sh bench conversations
    bash run.sh bench conversations --config lexical.yml --work DIR

The conversations are those of convquestions/val_wd27k: of its 32 versions a group two, which together have each wording
once; by default of 15 groups, with --full of all 46. Gold texts count as the date or the number that they hold, a bare year
as any date in it; "P@1 label" also counts answers that have the gold label under another id, for the published ids are often
wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from convinse.config import Config, load_config
from convinse.pipeline import Pipeline
from convinse.question_understanding.base import QuestionUnderstanding
from convinse.records.conversation import Conversation
from convinse.records.evidence import DEFAULT_SOURCES
from convinse.support.progress import progress
from convinse.support.registry import find_module

from ..candidates import build_sources
from ..harness import Bench, Figures, Spec, note, run
from .turns import SUBSETS, figures, read_conversations, turns_of

MODULES: dict[str, dict[str, str | None]] = {
    **{name: {"qu": name} for name in ("nc_all", "nc_init", "nc_prev", "nc_init_prev", "slots")},
    "slots, no qu_rewriter": {"qu": "slots", "qu_rewriter": None},
}
HISTORIES = {"gold": True, "predicted": False}  # history -> whether earlier turns count with their gold answers
COLUMNS = {
    "turns": ("turns", "{}"), "presence": ("answer_presence", "{:.1%}"), "P@1": ("p_at_1", "{:.1%}"),
    "MRR": ("mrr", "{:.1%}"), "Hit@5": ("h_at_5", "{:.1%}"), "P@1 label": ("p_at_1_label", "{:.1%}"),
}  # fmt: skip
Runs = dict[str, dict[str, dict[str, Figures]]]  # history -> module -> subset of the turns -> figures


class Work(NamedTuple):
    """What the parts measure with: the configuration's name, the keys that are replaced, the conversations."""

    config: str
    overrides: dict[str, str]
    conversations: list[Conversation]


def load(work: Work, module: str | None = None) -> Config:
    """The configuration over the bench's sources; `module` replaces its question understanding."""
    return load_config(work.config, **work.overrides, **(MODULES.get(module, {"qu": module}) if module else {}))


def measure(work: Work, sources: str) -> tuple[str, Runs, list[Conversation]]:
    """Answer all conversations with every module; retrieval, scoring and answering are shared by all of them.

    Returns:
        The module that the configuration names, the figures, the conversations as that module answers them with gold
        history.
    """
    default = load(work)
    runs: Runs = {history: {} for history in HISTORIES}
    with Pipeline(default) as shared:
        for module in [default.qu, *(name for name in MODULES if name != default.qu)]:
            pipeline = Pipeline(load(work, module), ers=shared.ers, ha=shared.ha, resources=shared.resources)
            for history, use_gold in HISTORIES.items():
                with progress(f"{sources}, {module}, {history}", len(work.conversations), "conversations") as advance:
                    answered = list(answers(pipeline, work.conversations, sources, use_gold, advance))
                runs[history][module] = {subset: figures(turns_of(answered, subset)) for subset in SUBSETS}
                if module == default.qu and use_gold:
                    of_default = answered
            pipeline.qu.store_cache()
    return default.qu, runs, of_default


def answers(
    pipeline: Pipeline, conversations: Sequence[Conversation], sources: str, use_gold: bool, advance: Any
) -> Iterator[Conversation]:
    """The answered conversations, as many at once as the pipeline likes."""
    step = pipeline.conversations_at_once
    for place in range(0, len(conversations), step):
        done = pipeline.run(conversations[place : place + step], sources, use_gold)
        yield from done
        advance(len(done))


def quality_part(bench: Bench, sources: str, name: str) -> Figures:
    """All modules over one combination of sources."""
    work = bench.state
    default, runs, answered = measure(work, sources)
    turns = turns_of(answered)
    with_pages = sum(any(e["source"] != "kb" for e in turn["top_evidences"]) for turn in turns)
    rows = {
        history: {(module, subset): own for module, subsets in modules.items() for subset, own in subsets.items()}
        for history, modules in runs.items()
    }
    title = f"{name}: {with_pages} of {len(turns)} turns of {default} (default) have evidences of pages"
    bench.compare(title, ("history", "module", "subset"), COLUMNS, rows)
    return {"config": work.config, "conversations": len(work.conversations), "runs": runs}


class Size(NamedTuple):
    groups: int | None = None


def prepare(bench: Bench) -> Work:
    options = bench.options
    for module in (load_config(options.config).qu, *(str(own["qu"]) for own in MODULES.values())):
        find_module("qu", module, QuestionUnderstanding)
    note(f"knowledge base and pages of wikidata-27k in {bench.kept} ...")
    # the cache is of this run only: older results may be of older code
    overrides = {**build_sources(bench.folder, bench.kept), "ers_cache_path": str(bench.work / "cache")}
    return Work(options.config, overrides, read_conversations(bench.folder, bench.size.groups))


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", default="wikidata-27k.yml", metavar="NAME", help="its stages (default: %(default)s)"
    )


SPEC = Spec(
    "conversations", __doc__,
    {
        "kb": partial(quality_part, sources="kb", name="kb"),
        "all": partial(quality_part, sources=DEFAULT_SOURCES, name="all"),
    },
    (Size(1), Size(15), Size()), options=_options, prepare=prepare,
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
