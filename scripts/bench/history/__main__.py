"""What of the history a question needs, by the rewrites that people made of it: every module, and weights learnt from rewrites.

    bash run.sh bench history [--full]
    bash run.sh bench history --only items

The conversations are the embedded ones (train and test part, over the knowledge base that ships) and CANARD's (dev, over
wikidata-27k): all, and those whose article the knowledge base has. Earlier turns count with their gold answers. What belongs to
a question are the content words that its rewrite adds and an earlier turn has ("words"), and the items talked about that the
rewrite names and the question does not ("items"). "Learnt" are weights for the features of `history` that are fitted on
rewrites of both sets, each counting alike; questions are measured by weights that saw nothing of their article or
conversation. The shipped weights were trained on the embedded train part, by what leads to its answers. Intervals are of 95 %,
by resampling articles and conversations. "answers" is the end measure: the embedded conversations, answered by `lexical.yml`
with each module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from convinse.config import load_config
from convinse.pipeline import Pipeline
from convinse.question_understanding.history_weights import FILE
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import DEFAULT_SOURCES
from convinse.resources import Resources
from convinse.support.progress import progress
from convinse.support.weights import model_bytes
from recipes.embedded.wikidata import knowledge_base
from recipes.rewritten import canard_conversations, embedded

from ..harness import Bench, Figures, Spec, run
from .items import (
    FOLDS,
    ItemTable,
    choice_figures,
    item_table,
    learn,
    learnt_weights,
    probabilities,
    ranking_figures,
    shipped_module,
    taken_items,
)  # fmt: skip
from .words import RewrittenSet, taken_words, word_figures

MODULES = ("nc_init", "nc_prev", "nc_init_prev", "nc_all", "slots", "history")
TRAIN, TEST, CANARD, KNOWN = "embedded train", "embedded test", "canard", "canard, article known"
LEARNT_OF = (TRAIN, KNOWN)
SHIPPED, LEARNT = "history", "history, learnt"
WORDS = {
    "precision": ("precision", "{:.3f}"), "recall": ("recall", "{:.3f}"), "F1 (95 %)": ("f1", "{:.3f}"),
    "turns right": ("parts_right", "{:.3f}"), "turns reach": ("parts_reach", "{:.3f}"), "whether at all": ("decided", "{:.3f}"),
}  # fmt: skip
ITEMS = {
    "precision": ("precision", "{:.3f}"), "recall": ("recall", "{:.3f}"), "F1": ("f1", "{:.3f}"),
    "first": ("first", "{:.3f}"), "MAP": ("map", "{:.3f}"), "loss": ("loss", "{:.3f}"),
}  # fmt: skip
GAINS = {
    "F1": ("f1_gain", "{:+.3f}"), "MAP": ("map_gain", "{:+.3f}"), "loss": ("loss_gain", "{:+.3f}"),
}  # fmt: skip
ANSWERS = {
    "P@1": ("p_at_1", "{:.3f}"), "MRR": ("mrr", "{:.3f}"), "Hit@5": ("h_at_5", "{:.3f}"), "presence": ("answer_presence", "{:.3f}"),
    "better": ("better", "{}"), "worse": ("worse", "{}"),
}  # fmt: skip


class HistorySize(NamedTuple):
    """How many conversations of each set are taken."""

    conversations: int | None = None


def prepare(bench: Bench) -> dict[str, RewrittenSet]:
    """The sets of conversations by their names."""
    shared = {"qu": "history", "ers_cache_path": str(bench.work / "cache")}
    shipped = Resources(load_config("lexical.yml", **shared))
    kb = knowledge_base(bench.folder, bench.kept)
    wikidata = Resources(load_config("lexical.yml", **shared), kb=kb)
    canard = list(canard_conversations(bench.folder, kb, wikidata.linker))[: bench.size.conversations]
    return {
        TRAIN: RewrittenSet(shipped, embedded("train")[: bench.size.conversations]),
        TEST: RewrittenSet(shipped, embedded("test")[: bench.size.conversations]),
        CANARD: RewrittenSet(wikidata, canard),
        KNOWN: RewrittenSet(wikidata, [own for own in canard if own.known]),
    }


def words_part(bench: Bench) -> Figures:
    """What the modules take of the history, by words, by turns, and whether they take anything."""
    groups: dict[Any, Figures] = {}
    figures: Figures = {}
    for name, rewritten in bench.state.items():
        rows: Figures = {}
        with progress(name, len(MODULES), "modules") as advance:
            for module in MODULES:
                needs, of_groups = taken_words(module, rewritten)
                rows[module] = word_figures(needs, of_groups)
                advance(1)
        own = {"questions": len(needs), "need_history": sum(need.needed > 0 for need in needs) / max(1, len(needs))}
        groups[name, str(len(needs)), f"{own['need_history']:.0%}"] = rows
        figures[name] = {**own, **rows}
    bench.compare("words of the history that a rewrite adds", ("set", "n", "need", "module"), WORDS, groups)
    bench.console.print(
        "turns right: questions and answers taken that hold a needed word; turns reach: needed words in them; "
        "whether at all: questions for which words are taken just where some are needed"
    )
    return figures


def items_part(bench: Bench) -> Figures:
    """What is taken of the items talked about: without weights, by `history` with the shipped weights, and with learnt ones."""
    tables = item_tables(bench)
    shipped = [shipped_module(bench.state[TRAIN]).weights] * FOLDS
    groups: dict[Any, Figures] = {}
    for name, table in tables.items():
        learnt = learnt_weights(name, tables, LEARNT_OF, shipped[0].encoder)
        likely = [probabilities(table, weights) for weights in (shipped, learnt)]
        taken = [taken_items(bench.state[name], table, weights) for weights in (shipped, learnt)]
        rows = {system: choice_figures(table, chosen) for system, chosen in table.systems.items()}
        rows[SHIPPED] = choice_figures(table, taken[0]) | ranking_figures(table, likely[0])
        rows[LEARNT] = choice_figures(table, taken[1], taken[0]) | ranking_figures(table, likely[1], likely[0])
        groups[name, str(len(table.groups)), f"{len(table.wanted)}, {table.wanted.sum()}"] = rows
    title = "items talked about that a rewrite names"
    bench.compare(title, ("set", "n", "items, named", "taken by"), ITEMS, groups)
    bench.console.print(
        "first: the likeliest item is named, of questions with a named one; MAP, log loss: means over questions"
    )
    gains = {name: rows[LEARNT] for (name, *_), rows in groups.items()}
    bench.compare(f"gain of {LEARNT} over {SHIPPED} (95 %)", ("set",), GAINS, {(): gains})
    return {name: {"questions": int(n), "items": items, **rows} for (name, n, items), rows in groups.items()}


def item_tables(bench: Bench) -> dict[str, ItemTable]:
    """The tables of the sets whose topics the knowledge base has."""
    tables = {}
    for name, rewritten in bench.state.items():
        if name != CANARD:
            with progress(name, len(rewritten.conversations), "conversations") as advance:
                tables[name] = item_table(rewritten, advance)
    return tables


def answers_part(bench: Bench) -> Figures:
    """Answers of the embedded conversations with each set of weights; the learnt ones know the rewrites of the train part."""
    tables = item_tables(bench)
    encoder = shipped_module(bench.state[TRAIN]).weights.encoder
    learnt = learn(tables, {name: np.ones(len(tables[name].wanted), bool) for name in LEARNT_OF}, encoder)
    folder = bench.work / "learnt"
    folder.mkdir(exist_ok=True)
    (folder / FILE).write_bytes(model_bytes(learnt))
    modules = {"slots": {"qu": "slots"}, SHIPPED: {"qu": "history"}, LEARNT: {"qu": "history", "qu_model": str(folder)}}
    groups: dict[Any, Figures] = {}
    for part in ("train", "dev", "test"):
        conversations = [own.conversation for own in embedded(part)[: bench.size.conversations]]
        for history, use_gold in (("gold", True), ("predicted", False)):
            runs = {name: _answered(bench, keys, conversations, use_gold) for name, keys in modules.items()}
            rows = {name: _answer_figures(turns, runs[SHIPPED]) for name, turns in runs.items()}
            groups[part, history, str(len(runs[SHIPPED]))] = rows
    bench.compare("answers of lexical.yml", ("part", "history", "n", "weights"), ANSWERS, groups)
    return {f"{part}, {history}": {"questions": int(n), **rows} for (part, history, n), rows in groups.items()}


def _answered(bench: Bench, keys: dict[str, str], conversations: list[Conversation], use_gold: bool) -> list[Turn]:
    with Pipeline(load_config("lexical.yml", ers_cache_path=str(bench.work / "cache"), **keys)) as pipeline:
        answered = list(pipeline.run(conversations, DEFAULT_SOURCES, use_gold))
    return [turn for conversation in answered for turn in conversation["questions"]]


def _answer_figures(turns: Sequence[Turn], shipped: Sequence[Turn]) -> Figures:
    names = ("p_at_1", "mrr", "h_at_5", "answer_presence")
    figures: Figures = {name: float(np.mean([turn[name] for turn in turns])) for name in names}  # type: ignore[literal-required]
    gains = [turn["p_at_1"] - other["p_at_1"] for turn, other in zip(turns, shipped, strict=True)]
    return {**figures, "better": sum(gain > 0 for gain in gains), "worse": sum(gain < 0 for gain in gains)}


SPEC = Spec(
    "history", __doc__, {"words": words_part, "items": items_part, "answers": answers_part},
    (HistorySize(3), HistorySize(), HistorySize()), prepare=prepare,
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
