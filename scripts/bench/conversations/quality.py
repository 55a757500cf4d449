"""The answers of every question understanding module, with gold and with predicted answers of earlier turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from convinse.config import Config, load_config
from convinse.pipeline import Pipeline
from convinse.records.conversation import Conversation
from convinse.support.progress import progress

from ..harness import Bench, Bound
from .turns import SUBSETS, Figures, figures, losses, turns_of

MODULES = ("nc_all", "nc_init", "nc_prev", "nc_init_prev", "slots", "history")
HISTORIES = {"gold": True, "predicted": False}  # history -> whether earlier turns count with their gold answers
# what the default module should reach on one-hop turns
PRESENCE, P_AT_1 = 0.90, {"gold": 0.45, "predicted": 0.35}


class Run(NamedTuple):
    """A module's answers with one kind of history, by subset."""

    module: str
    history: str
    figures: dict[str, Figures]


@dataclass
class Quality:
    """What was measured over one combination of sources.

    Attributes:
        answered: the conversations as the default module answered them with gold history.
    """

    sources: str  # such as `kb`
    default: str  # the module that the configuration names
    runs: list[Run] = field(default_factory=list)  # in the order of the table
    answered: list[Conversation] = field(default_factory=list)

    def bounds(self) -> list[Bound]:
        """What the default module should reach on one-hop turns, and the naive modules should not."""
        bounds = []
        hop = {(run.module, run.history): run.figures["one_hop"] for run in self.runs}
        for history, least in P_AT_1.items():
            own = hop.get((self.default, history))
            if own is None:
                continue
            if history == "gold":
                bounds.append(Bound(f"{self.sources}, {history}: answer presence", own.answer_presence, PRESENCE))
            bounds.append(Bound(f"{self.sources}, {history}: P@1", own.p_at_1, least))
            naive = [f.p_at_1 for (module, other), f in hop.items() if other == history and module[:3] == "nc_"]
            if naive:
                bounds.append(
                    Bound(f"{self.sources}, {history}: P@1 above the best nc_*", own.p_at_1, max(naive) + 1e-9)
                )
        return bounds

    @property
    def turns_with_pages(self) -> int:
        """How many turns of `answered` have an evidence that is no fact: the pages are of few items."""
        return sum(any(e["source"] != "kb" for e in turn["top_evidences"]) for turn in turns_of(self.answered))

    def record(self) -> dict[str, Any]:
        """What goes to the file."""
        turns = turns_of(self.answered)
        return {
            "runs": [
                {
                    "module": run.module,
                    "history": run.history,
                    **{subset: values._asdict() for subset, values in run.figures.items()},
                }
                for run in self.runs
            ],
            "default_gold_by_turn": {
                place: figures([turn for turn in turns if turn["turn"] == place])._asdict()
                for place in sorted({turn["turn"] for turn in turns})
            },
            "default_gold_turns_with_pages": self.turns_with_pages,
            "default_gold_lost": {subset: dict(losses(turns_of(self.answered, subset))) for subset in SUBSETS},
        }


def load(name: str, overrides: dict[str, str], module: str | None = None) -> Config:
    """The configuration `name` over the bench's sources; `module` replaces its question understanding."""
    return load_config(name, **overrides, **({"qu": module} if module else {}))


def measure(
    name: str, overrides: dict[str, str], conversations: Sequence[Conversation], sources: str, modules: Iterable[str]
) -> Quality:
    """Answer all conversations with every module; retrieval, scoring and answering are shared by all of them."""
    default = load(name, overrides)
    quality = Quality(sources, default.qu)
    with Pipeline(default) as shared:
        for module in [*(name for name in modules if name != default.qu), default.qu]:
            pipeline = Pipeline(load(name, overrides, module), ers=shared.ers, ha=shared.ha)
            for history, use_gold in HISTORIES.items():
                answered = _answer(pipeline, conversations, sources, use_gold, f"{sources}, {module}, {history}")
                by_subset = {subset: figures(turns_of(answered, subset)) for subset in SUBSETS}
                quality.runs.append(Run(module, history, by_subset))
                if module == default.qu and use_gold:
                    quality.answered = answered
            pipeline.qu.store_cache()
    return quality


def _answer(
    pipeline: Pipeline, conversations: Sequence[Conversation], sources: str, use_gold: bool, title: str
) -> list[Conversation]:
    step = pipeline.conversations_at_once
    answered: list[Conversation] = []
    with progress(title, len(conversations), "conversations") as advance:
        for place in range(0, len(conversations), step):
            done = pipeline.run(conversations[place : place + step], sources, use_gold)
            answered += done
            advance(len(done))
    return answered


def show(bench: Bench, quality: Quality) -> None:
    """A row a module and history, all turns beside the one-hop turns; where the default module's turns are lost."""
    first = quality.runs[0].figures
    groups = []
    for history in HISTORIES:
        rows = []
        for run in (run for run in quality.runs if run.history == history):
            name = f"{run.module} (default)" if run.module == quality.default else run.module
            rows.append([name, *(f"{value:.1%}".rstrip("%") for f in run.figures.values() for value in f[1:])])
        groups.append(((history,), rows))
    title = (
        f"{quality.sources}: {first['all'].turns} turns | the {first['one_hop'].turns} one-hop turns of them; shares in %; "
        f"{quality.turns_with_pages} turns of the default with evidences of pages"
    )
    bench.show_groups(
        title, ("history", "module", *("presence", "P@1", "MRR", "Hit@5", "P@1 label") * len(SUBSETS)), groups, 2
    )
    counts = {subset: losses(turns_of(quality.answered, subset)) for subset in SUBSETS}
    lost = [(reason, str(number), str(counts["one_hop"][reason])) for reason, number in counts["all"].most_common()]
    lost.append(("together", *(str(sum(counts[subset].values())) for subset in SUBSETS)))
    bench.show(f"{quality.sources}, {quality.default}, gold: failures", ("lost", *SUBSETS), lost)
