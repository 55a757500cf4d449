"""The items talked about before questions: which of them the rewrite names, and what is taken by rules and by weights."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from convinse.question_understanding.history_features import FeatureReader, ReferentFeatures
from convinse.question_understanding.history_weights import HistoryWeights, Origin
from convinse.question_understanding.trained_history import TrainedHistory
from convinse.training.history import Examples, RuleRecorder, best_threshold, examined_turns, fit_weights, measure
from recipes.rewritten import added_items

from ..harness import Figures
from .words import RewrittenSet, completed, interval, understood

FOLDS = 5
L2 = 10.0  # of the learnt weights; from 1 to 30 nothing changes
ALL, FIRST, LAST, SLOTS = "all", "first topic", "turn before", "slots"


class ItemTable(NamedTuple):
    """What was talked about before the questions of a set, a row for each item.

    Attributes:
        features: [n, f].
        wanted: [n] bool, whether the rewrite names it.
        ids: of the items, n.
        question: [n] places of the questions.
        turns: of each question the places of its conversation and of its turn there.
        groups: of the questions; what is learnt of a group is not measured on it.
        systems: what is taken without weights, [n] bool each.
    """

    features: np.ndarray
    wanted: np.ndarray
    ids: list[str]
    question: np.ndarray
    turns: list[tuple[int, int]]
    groups: list[str]
    systems: dict[str, np.ndarray]

    @property
    def folds(self) -> np.ndarray:
        """[n] numbers of the folds that the items are in."""
        of_questions: np.ndarray = np.array([fold_of(group) for group in self.groups], int)
        return np.take(of_questions, self.question)


def fold_of(group: str) -> int:
    """The fold of a group, by its name alone."""
    return zlib.crc32(group.encode()) % FOLDS


def item_table(rewritten: RewrittenSet, advance: Callable[[int], None]) -> ItemTable:
    """What was talked about before the questions of a set; questions before which nothing was have no row."""
    module = shipped_module(rewritten)
    reader = FeatureReader(module.kb, module.embedder, module.language)
    rules = RuleRecorder(module.config, module.resources)
    features: list[ReferentFeatures] = []
    wanted: list[bool] = []
    by_rules: list[bool] = []
    ids: list[str] = []
    question: list[int] = []
    turns: list[tuple[int, int]] = []
    for number, own in enumerate(rewritten.conversations):
        given = own.conversation["questions"]
        for place, examined in enumerate(examined_turns(reader, rules, own.conversation)):
            if not examined.referents:
                continue
            rewrite = completed(given[place])
            named = added_items(examined.referents, given[place]["question"], rewrite, module.language.words)
            features += examined.features
            ids += [referent.id for referent in examined.referents]
            wanted += [referent.id in named for referent in examined.referents]
            by_rules += examined.by_rules
            question += [len(turns)] * len(examined.referents)
            turns.append((number, place))
        advance(1)
    values = np.array(features, np.float64).reshape(-1, len(ReferentFeatures._fields))
    column = {name: values[:, place] > 0 for place, name in enumerate(ReferentFeatures._fields)}
    systems = {
        ALL: np.ones(len(values), bool), FIRST: column["first_topic"], LAST: column["answered_last"] | column["asked_last"],
        SLOTS: np.array(by_rules, bool),
    }  # fmt: skip
    groups = [rewritten.conversations[number].group for number, _ in turns]
    return ItemTable(values, np.array(wanted, bool), ids, np.array(question, int), turns, groups, systems)


def shipped_module(rewritten: RewrittenSet) -> TrainedHistory:
    """`qu: history` with the weights of the configuration."""
    return TrainedHistory(rewritten.resources.config, rewritten.resources)


def taken_items(rewritten: RewrittenSet, table: ItemTable, weights: Sequence[HistoryWeights]) -> np.ndarray:
    """[n] bool: what `qu: history` takes of the items, of each fold with weights of its own."""
    modules = []
    for own_weights in weights:
        module = shipped_module(rewritten)
        module.weights = own_weights
        modules.append(module)
    taken = []
    for own in rewritten.conversations:
        turns = understood(modules[fold_of(own.group)], own.conversation)
        about = [(*turn["representation"]["entities"], *turn["representation"]["context"]) for turn in turns]
        taken.append([{item["id"] for item in items} for items in about])
    places = [table.turns[at] for at in table.question]
    return np.array([own in taken[number][turn] for own, (number, turn) in zip(table.ids, places, strict=True)], bool)


def learnt_weights(
    name: str, tables: Mapping[str, ItemTable], learnt_of: Sequence[str], encoder: str
) -> list[HistoryWeights]:
    """Weights for each fold of a set, of all items of the sets to learn of but those of that set's fold."""
    weights = []
    for fold in range(FOLDS):
        seen = {
            of: tables[of].folds != fold if of == name else np.ones(len(tables[of].wanted), bool) for of in learnt_of
        }
        weights.append(learn(tables, seen, encoder))
    return weights


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


def probabilities(table: ItemTable, weights: Sequence[HistoryWeights]) -> np.ndarray:
    """[n] floats: those of the weights of each item's fold."""
    likely = np.zeros(len(table.wanted))
    for fold, own in enumerate(weights):
        rows = table.folds == fold
        likely[rows] = own.probabilities(table.features[rows])
    return likely


def choice_figures(table: ItemTable, chosen: np.ndarray, others: np.ndarray | None = None) -> Figures:
    """Precision, recall and F1 of [n] choices; with `others`, the gain of F1 over theirs."""
    precision, recall, _ = measure(chosen, table.wanted).values()
    counts = _counts(table, chosen)
    figures: Figures = {"precision": precision, "recall": recall, "f1": _f1(counts)}
    if others is not None:
        theirs = _counts(table, others)
        figures["f1_gain"] = interval(table.groups, lambda drawn: _f1(counts[drawn]) - _f1(theirs[drawn]))
    return figures


def _counts(table: ItemTable, chosen: np.ndarray) -> np.ndarray:
    """[questions, 2]: items that are chosen and wanted, and the sum of those that are chosen and those that are wanted."""
    columns = (chosen & table.wanted, chosen.astype(int) + table.wanted)
    return np.stack([np.bincount(table.question, column, len(table.turns)) for column in columns], axis=1)


def _f1(counts: np.ndarray) -> float:
    both, total = (float(count) for count in counts.sum(axis=0))
    return 2 * both / max(1.0, total)


def ranking_figures(table: ItemTable, likely: np.ndarray, others: np.ndarray | None = None) -> Figures:
    """How well [n] probabilities rank the items of each question and how sure they are; with `others`, the gain over those."""
    own = per_question(table, likely)
    figures: Figures = {name: _mean(own[:, place]) for place, name in enumerate(("first", "map", "loss"))}
    if others is not None:
        gains = own - per_question(table, others)
        figures["map_gain"] = interval(table.groups, lambda drawn: _mean(gains[drawn, 1]))
        figures["loss_gain"] = interval(table.groups, lambda drawn: _mean(gains[drawn, 2]))
    return figures


def _mean(values: np.ndarray) -> float:
    """The mean of what is no NaN; 0 of nothing."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else 0.0


def per_question(table: ItemTable, likely: np.ndarray) -> np.ndarray:
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
