"""The answers of every question understanding module, with gold and with predicted answers of earlier turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from convinse.config import Config, load_config
from convinse.pipeline import Pipeline
from convinse.records.conversation import Conversation
from convinse.support.files import replacing
from convinse.support.progress import progress

from ..harness import Bench, Figures
from .turns import SUBSETS, failures, figures, losses, turns_of

MODULES = ("nc_all", "nc_init", "nc_prev", "nc_init_prev", "slots", "history")
HISTORIES = {"gold": True, "predicted": False}  # history -> whether earlier turns count with their gold answers
# what the default module should reach on one-hop turns
PRESENCE, P_AT_1 = 0.90, {"gold": 0.45, "predicted": 0.35}
COLUMNS = {
    "turns": ("turns", "{}"), "presence": ("answer_presence", "{:.1%}"), "P@1": ("p_at_1", "{:.1%}"),
    "MRR": ("mrr", "{:.1%}"), "Hit@5": ("h_at_5", "{:.1%}"), "P@1 label": ("p_at_1_label", "{:.1%}"),
}  # fmt: skip
Runs = dict[str, dict[str, dict[str, Figures]]]  # history -> module -> subset of the turns -> figures


class Quality(NamedTuple):
    """What was measured over one combination of sources."""

    default: str  # the module that the configuration names
    runs: Runs
    answered: list[Conversation]  # by the default module with gold history


def load(name: str, overrides: dict[str, str], module: str | None = None) -> Config:
    """The configuration `name` over the bench's sources; `module` replaces its question understanding."""
    return load_config(name, **overrides, **({"qu": module} if module else {}))


def measure(
    name: str, overrides: dict[str, str], conversations: Sequence[Conversation], sources: str, modules: Sequence[str]
) -> Quality:
    """Answer all conversations with every module; retrieval, scoring and answering are shared by all of them."""
    default = load(name, overrides)
    quality = Quality(default.qu, {history: {} for history in HISTORIES}, [])
    with Pipeline(default) as shared:
        for module in [*(name for name in modules if name != default.qu), default.qu]:
            pipeline = Pipeline(load(name, overrides, module), ers=shared.ers, ha=shared.ha)
            for history, use_gold in HISTORIES.items():
                with progress(f"{sources}, {module}, {history}", len(conversations), "conversations") as advance:
                    answered = list(answers(pipeline, conversations, sources, use_gold, advance))
                quality.runs[history][module] = {subset: figures(turns_of(answered, subset)) for subset in SUBSETS}
                if module == default.qu and use_gold:
                    quality.answered.extend(answered)
            pipeline.qu.store_cache()
    return quality


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
    """All modules over one combination of sources, and where the turns of the default module are lost."""
    work = bench.state
    quality = measure(work.config, work.overrides, work.conversations, sources, bench.options.modules)
    turns = turns_of(quality.answered)
    with_pages = sum(any(e["source"] != "kb" for e in turn["top_evidences"]) for turn in turns)
    rows = {
        history: {(module, subset): own for module, subsets in modules.items() for subset, own in subsets.items()}
        for history, modules in quality.runs.items()
    }
    title = f"{name}: {with_pages} of {len(turns)} turns of {quality.default} (default) have evidences of pages"
    bench.compare(title, ("history", "module", "subset"), COLUMNS, rows)
    lost = {subset: losses(turns_of(quality.answered, subset)) for subset in SUBSETS}
    reasons = {
        reason: {subset: counts[reason] for subset, counts in lost.items()} for reason, _ in lost["all"].most_common()
    }
    columns = {subset: (subset, "{}") for subset in SUBSETS}
    bench.compare(f"{name}, {quality.default}, gold: failures", ("lost",), columns, {(): reasons})
    want(bench, name, quality.default, quality.runs)
    by_turn = {place: figures([turn for turn in turns if turn["turn"] == place])
               for place in sorted({turn["turn"] for turn in turns})}  # fmt: skip
    path = bench.options.output.with_name(f"conversations-failures-{name}.txt")
    with replacing(path) as temporary:
        temporary.write_text("\n".join(failures(quality.answered)), encoding="utf-8")
    print(path)
    return {
        "config": work.config, "conversations": len(work.conversations), "runs": quality.runs,
        "default_gold_by_turn": by_turn, "default_gold_turns_with_pages": with_pages, "default_gold_lost": lost,
    }  # fmt: skip


def want(bench: Bench, sources: str, default: str, runs: Runs) -> None:
    """What the default module should reach on one-hop turns, and the naive modules should not."""
    for history, least in P_AT_1.items():
        hop = {module: subsets["one_hop"] for module, subsets in runs[history].items()}
        own, what = hop[default], f"{sources}, {history}"
        if history == "gold":
            bench.want(f"{what}: answer presence", own["answer_presence"], PRESENCE)
        bench.want(f"{what}: P@1", own["p_at_1"], least)
        naive = [figures["p_at_1"] for module, figures in hop.items() if module.startswith("nc_")]
        if naive:
            bench.want(f"{what}: P@1 above the best nc_*", own["p_at_1"], max(naive) + 1e-9)
