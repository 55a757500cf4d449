"""What of the history a question needs, by the rewrites that people made of it: every module, and weights learnt from rewrites.

    bash run.sh bench history [--full]
    bash run.sh bench history --only items

The conversations are the embedded ones (train and test part, over the knowledge base that ships) and CANARD's (dev, over
wikidata-27k): all, and those whose article the knowledge base has. Earlier turns count with their gold answers. What belongs to
a question are the content words that its rewrite adds and an earlier turn has ("words"), and the items talked about that the
rewrite names and the question does not ("items"). "learnt" are weights for the features of `history` that are fitted on
rewrites of both sets, each counting alike; questions are measured by weights that saw nothing of their article or
conversation. The shipped weights were trained on the embedded train part, by its answers. Intervals are of 95 %, by
resampling articles and conversations. "answers" is the end measure: the embedded conversations, answered without a model behind
the question.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from convinse.config import load_config
from convinse.language.text import Words
from convinse.pipeline import Pipeline
from convinse.question_understanding.base import QuestionUnderstanding, understand
from convinse.question_understanding.history import answer_text
from convinse.question_understanding.history_features import FeatureReader, Features
from convinse.question_understanding.history_weights import FILE, HistoryWeights, Origin, weights_bytes
from convinse.question_understanding.trained_history import TrainedHistory
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import DEFAULT_SOURCES
from convinse.resources import Resources
from convinse.stage import build
from convinse.support.progress import progress
from convinse.support.registry import find_module
from convinse.training.history import Examples, RuleRecorder, best_threshold, examined_turns, fit_weights, measure
from recipes.embedded.wikidata import knowledge_base
from recipes.rewritten import Rewritten, added_items, added_words, canard_conversations, embedded

from .harness import Bench, Figures, Spec, run

MODULES = ("nc_init", "nc_prev", "nc_init_prev", "nc_all", "slots", "history")
TRAIN, TEST, CANARD, KNOWN = "embedded train", "embedded test", "canard", "canard, article known"
LEARNT_OF = (TRAIN, KNOWN)
FOLDS, RESAMPLES, SEED = 5, 1000, 22
L2 = 10.0  # of the learnt weights; from 1 to 30 nothing changes
WORDS = {
    "precision": ("precision", "{:.3f}"), "recall": ("recall", "{:.3f}"), "F1 (95 %)": ("f1", "{:.3f}"), "turns right": ("parts_right", "{:.3f}"), "turns reach": ("parts_reach", "{:.3f}"),
    "whether at all": ("decided", "{:.3f}"),
}  # fmt: skip
ITEMS = {
    "precision": ("precision", "{:.3f}"), "recall": ("recall", "{:.3f}"), "F1": ("f1", "{:.3f}"), "F2": ("f2", "{:.3f}"),
    "first": ("first", "{:.3f}"), "MAP": ("map", "{:.3f}"), "MAP less shipped's": ("map_gain", "{:+.3f}"), "loss": ("loss", "{:.3f}"),
    "loss less shipped's": ("loss_gain", "{:+.3f}"),
}  # fmt: skip
ANSWERS = {
    "P@1": ("p_at_1", "{:.3f}"), "MRR": ("mrr", "{:.3f}"), "Hit@5": ("h_at_5", "{:.3f}"), "presence": ("answer_presence", "{:.3f}"),
    "better": ("better", "{}"), "worse": ("worse", "{}"),
}  # fmt: skip
SHIPPED, LEARNT = "shipped weights", "learnt"


class RewrittenSet(NamedTuple):
    """Conversations, and the knowledge base and models that they are understood with."""

    resources: Resources
    conversations: list[Rewritten]


class Needs(NamedTuple):
    """Of one question: words that it needs of its history, that were taken, and both; parts of turns that were taken, and those
    of them that hold a word that it needs; needed words in the parts that were taken."""

    needed: int
    taken: int
    both: int
    parts: int
    right_parts: int
    reached: int


class Interval(NamedTuple):
    """A measure, and the middle 95 % of what it is when whole groups of questions are drawn anew; as text with these in brackets."""

    value: float
    low: float
    high: float

    def __format__(self, form: str) -> str:
        return f"{self.value:{form}} ({self.low:{form}} to {self.high:{form}})"


class ItemTable(NamedTuple):
    """What was talked about before the questions of a set, a row each.

    features: [n, f]; wanted: [n] bool, whether the rewrite names it; question: [n] places of the questions; groups: of the
    questions; systems: what is taken without weights, [n] bool each.
    """

    features: np.ndarray
    wanted: np.ndarray
    question: np.ndarray
    groups: list[str]
    systems: dict[str, np.ndarray]

    @property
    def folds(self) -> np.ndarray:
        """[n] numbers of the parts that are measured together; a group is in one."""
        numbers: np.ndarray = np.array([zlib.crc32(group.encode()) % FOLDS for group in self.groups], int)[
            self.question
        ]
        return numbers


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


# -- words -------------------------------------------------------------------------------------------------------------


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


def taken_words(module: str, rewritten: RewrittenSet) -> tuple[list[Needs], list[str]]:
    """Of each question with a history what it needs and what the module takes, and its group."""
    config = rewritten.resources.config
    understanding = build(find_module("qu", module, QuestionUnderstanding), config, rewritten.resources)
    language = rewritten.resources.language.words
    needs, of_groups = [], []
    for own in rewritten.conversations:
        turns = understood(understanding, own.conversation)
        for place, turn in enumerate(turns[1:], 1):
            needs.append(needs_of(turn, turns[:place], language))
            of_groups.append(own.group)
    return needs, of_groups


def understood(module: QuestionUnderstanding, conversation: Conversation) -> list[Turn]:
    """The turns of a conversation with what a module makes of them; the conversation stays as it is."""
    turns: list[Turn] = [{**turn} for turn in conversation["questions"]]
    for number in range(len(turns)):
        understand(module, [{**conversation, "questions": turns}], number, use_gold_answers=True)
    return turns


def needs_of(turn: Turn, history: Sequence[Turn], language: Words) -> Needs:
    """What the rewrite of a turn takes of its history, beside what its understanding took."""
    stems = language.stems
    said = {word for earlier in history for word in stems(f"{earlier['question']} {answer_text(earlier)}")}
    needed = said & added_words(turn["question"], completed(turn), language)
    used = turn["history_used"]
    taken = {word for part in used for word in stems(part["text"])} - set(stems(turn["question"]))
    parts = {(part["turn"], part["part"]) for part in used}
    by_number = {earlier["turn"]: earlier for earlier in history}
    texts = [
        set(stems(by_number[number]["question"] if part == "question" else answer_text(by_number[number])))
        for number, part in parts
    ]
    reached = needed & set().union(*texts)
    return Needs(
        len(needed),
        len(taken),
        len(needed & taken),
        len(parts),
        sum(bool(needed & text) for text in texts),
        len(reached),
    )


def completed(turn: Turn) -> str:
    """The rewrite of a turn."""
    text: str = turn["completed"]  # type: ignore[typeddict-item]
    return text


def word_figures(needs: Sequence[Needs], groups: Sequence[str]) -> Figures:
    """Precision, recall and F1 over all words, with the interval of F1; the other figures of `WORDS`."""
    rows = np.array(needs, np.float64).reshape(-1, len(Needs._fields))
    needed, taken, both, parts, right, reached = rows.sum(axis=0).tolist()
    return {
        "precision": both / max(1.0, taken), "recall": both / max(1.0, needed),
        "f1": interval(groups, lambda chosen: _f1(*rows[chosen, :3].sum(axis=0).tolist())),
        "parts_right": right / max(1.0, parts), "parts_reach": reached / max(1.0, needed),
        "decided": float(((rows[:, 0] > 0) == (rows[:, 1] > 0)).mean()) if len(rows) else 0.0,
    }  # fmt: skip


def _f1(needed: float, taken: float, both: float) -> float:
    return 2 * both / max(1.0, needed + taken)


def interval(groups: Sequence[str], value: Callable[[np.ndarray], float]) -> Interval:
    """A measure of questions with its interval; `value` takes the places of the questions that count, some several times."""
    places: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    own = [np.array(group) for group in places.values()]
    if not own:
        return Interval(0.0, 0.0, 0.0)
    chance = np.random.default_rng(SEED)
    draws = [np.concatenate([own[at] for at in chance.integers(len(own), size=len(own))]) for _ in range(RESAMPLES)]
    low, high = np.percentile([value(draw) for draw in draws], (2.5, 97.5)).tolist()
    return Interval(value(np.arange(len(groups))), low, high)


# -- items -------------------------------------------------------------------------------------------------------------


def items_part(bench: Bench) -> Figures:
    """What is taken of the items talked about: without weights, by the shipped weights, and by learnt ones."""
    tables = item_tables(bench)
    shipped = _module(bench.state[TRAIN]).weights
    groups: dict[Any, Figures] = {}
    for name, table in tables.items():
        likely = np.array(shipped.probabilities(table.features))
        learnt, threshold = cross_validated(name, tables, shipped.encoder)
        rows = {system: choice_figures(chosen, table.wanted) for system, chosen in table.systems.items()}
        rows[SHIPPED] = choice_figures(likely >= shipped.threshold, table.wanted) | ranking_figures(likely, table)
        rows[LEARNT] = choice_figures(learnt >= threshold, table.wanted) | ranking_figures(learnt, table, likely)
        groups[name, str(len(table.groups)), f"{len(table.wanted)}, {table.wanted.sum()}"] = rows
    title = "items talked about that a rewrite names"
    bench.compare(title, ("set", "n", "items, named", "taken by"), ITEMS, groups)
    bench.console.print(
        "first: the likeliest item is named, of questions with a named one; MAP and loss: over questions and items"
    )
    return {
        name: {"questions": int(questions), "items": items, **rows} for (name, questions, items), rows in groups.items()
    }


def item_tables(bench: Bench) -> dict[str, ItemTable]:
    """The tables of the sets whose topics the knowledge base has."""
    tables = {}
    for name, rewritten in bench.state.items():
        if name != CANARD:
            with progress(name, len(rewritten.conversations), "conversations") as advance:
                tables[name] = item_table(rewritten, advance)
    return tables


def item_table(rewritten: RewrittenSet, advance: Callable[[int], None]) -> ItemTable:
    """What was talked about before the questions of a set; questions before which nothing was have no row."""
    module = _module(rewritten)
    reader = FeatureReader(module.kb, module.embedder, module.language)
    rules = RuleRecorder(module.config, module.resources)
    features: list[Features] = []
    wanted: list[bool] = []
    by_rules: list[bool] = []
    by_history: list[bool] = []
    question: list[int] = []
    groups: list[str] = []
    for own in rewritten.conversations:
        answered = understood(module, own.conversation)
        for examined, turn in zip(examined_turns(reader, rules, own.conversation), answered, strict=True):
            if not examined.referents:
                continue
            named = added_items(examined.referents, turn["question"], completed(turn), module.language.words)
            representation = turn["representation"]
            taken = {item["id"] for item in (*representation["entities"], *representation["context"])}
            features += examined.features
            wanted += [referent.id in named for referent in examined.referents]
            by_rules += examined.by_rules
            by_history += [referent.id in taken for referent in examined.referents]
            question += [len(groups)] * len(examined.referents)
            groups.append(own.group)
        advance(1)
    values = np.array(features, np.float64).reshape(-1, len(Features._fields))
    column = {name: values[:, place] > 0 for place, name in enumerate(Features._fields)}
    systems = {
        "all": np.ones(len(values), bool), "first topic": column["first_topic"],
        "turn before": column["answered_last"] | column["asked_last"], "slots": np.array(by_rules, bool),
        "history": np.array(by_history, bool),
    }  # fmt: skip
    return ItemTable(values, np.array(wanted, bool), np.array(question, int), groups, systems)


def _module(rewritten: RewrittenSet) -> TrainedHistory:
    return TrainedHistory(rewritten.resources.config, rewritten.resources)


def cross_validated(name: str, tables: Mapping[str, ItemTable], encoder: str) -> tuple[np.ndarray, np.ndarray]:
    """[n] probabilities and [n] thresholds for the items of a set, by weights learnt from all other folds and sets."""
    folds = tables[name].folds
    likely, threshold = np.zeros(len(folds)), np.zeros(len(folds))
    for fold in range(FOLDS) if name in LEARNT_OF else (None,):
        own = np.ones(len(folds), bool) if fold is None else folds == fold
        if own.any():
            seen = {of: (np.ones(len(tables[of].wanted), bool) if of != name else ~own) for of in LEARNT_OF}
            weights = learn(tables, seen, encoder)
            likely[own] = weights.probabilities(tables[name].features[own])
            threshold[own] = weights.threshold
    return likely, threshold


def learn(tables: Mapping[str, ItemTable], seen: Mapping[str, np.ndarray], encoder: str) -> HistoryWeights:
    """Weights fitted on the seen items of some sets, the smaller of which are repeated; the threshold is that of the highest F2."""
    most = max(int(own.sum()) for own in seen.values())
    times = {name: max(1, round(most / max(1, int(own.sum())))) for name, own in seen.items()}
    features = np.concatenate([np.tile(tables[name].features[own], (times[name], 1)) for name, own in seen.items()])
    wanted = np.concatenate([np.tile(tables[name].wanted[own], times[name]) for name, own in seen.items()])
    questions = sum(len(set(tables[name].question[own].tolist())) for name, own in seen.items())
    origin = Origin("rewrites", "rewrites", "several", questions, L2)
    weights = fit_weights(Examples(features, wanted, wanted, questions), encoder, origin)
    threshold = best_threshold(np.array(weights.probabilities(features)), wanted)
    return msgspec.structs.replace(weights, threshold=threshold)


def choice_figures(chosen: np.ndarray, wanted: np.ndarray) -> Figures:
    """Precision, recall, F1 and F2 of [n] choices."""
    figures = measure(chosen, wanted)
    both = figures["precision"] + figures["recall"]
    return {**figures, "f1": 2 * figures["precision"] * figures["recall"] / both if both else 0.0}


def ranking_figures(likely: np.ndarray, table: ItemTable, others: np.ndarray | None = None) -> Figures:
    """How well [n] probabilities rank the items of each question and how sure they are; with `others`, the gain over those."""
    own = per_question(likely, table)
    figures: Figures = dict(zip(("first", "map", "loss"), np.nanmean(own, axis=0).tolist(), strict=True))
    if others is not None:
        gains = own - per_question(others, table)
        figures["map_gain"] = interval(table.groups, lambda chosen: float(np.nanmean(gains[chosen, 1])))
        figures["loss_gain"] = interval(table.groups, lambda chosen: float(np.nanmean(gains[chosen, 2])))
    return figures


def per_question(likely: np.ndarray, table: ItemTable) -> np.ndarray:
    """[questions, 3]: whether the likeliest item is wanted, average precision (both NaN where none is), mean log loss."""
    rows = np.full((len(table.groups), 3), np.nan)
    for place in range(len(table.groups)):
        own = table.question == place
        chances, wanted = likely[own], table.wanted[own]
        order = np.argsort(-chances, kind="stable")
        right = wanted[order]
        if right.any():
            precision = np.cumsum(right) / np.arange(1, len(right) + 1)
            rows[place, :2] = right[0], precision[right].mean()
        rows[place, 2] = -np.log(np.clip(np.where(wanted, chances, 1 - chances), 1e-12, None)).mean()
    return rows


# -- answers -----------------------------------------------------------------------------------------------------------


def answers_part(bench: Bench) -> Figures:
    """Answers of the embedded conversations with each set of weights; the learnt ones know the rewrites of the train part."""
    tables = item_tables(bench)
    encoder = _module(bench.state[TRAIN]).weights.encoder
    learnt = learn(tables, {name: np.ones(len(tables[name].wanted), bool) for name in LEARNT_OF}, encoder)
    folder = bench.work / "learnt"
    folder.mkdir(exist_ok=True)
    (folder / FILE).write_bytes(weights_bytes(learnt))
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
