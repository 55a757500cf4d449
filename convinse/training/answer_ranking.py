"""Training of the ranking of answers on turns with evidences and known answers, by distant supervision.

A candidate is right if it is a gold answer; if none is, "none of these" is right. Nothing is random: the same turns give the same
weights.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from ..config import Config
from ..encoder.checkpoint import HEADS, folder_id, model_path
from ..heterogeneous_answering.extractive import ExtractiveAnswering
from ..heterogeneous_answering.features import Features, QuestionFeatures
from ..heterogeneous_answering.question import NO, YES, questions_of
from ..heterogeneous_answering.ranking import FILE, NAMES, YES_NO_FILE, YES_NO_NAMES, AnswerRanking
from ..heterogeneous_answering.yes_no import YesNoFeatures
from ..records.conversation import Turn
from ..records.evidence import Entity, Evidence, question_items
from ..records.literals import is_item
from ..scoring.convqa import calibration_error, is_answer
from ..support.errors import DataError
from ..support.logit import NONE, Logit
from ..support.progress import tracked
from .conversations import grouped_turns
from .logit import Choice, fit, with_none
from .objective import Measures, shown
from .trainer import model_card, output_of, table_of, write_folder

LOGGER = logging.getLogger(__name__)

_AT_ONCE = 20  # turns that are read together
_PARTS = 5  # of a cross-validation
_STRENGTHS = (1.0, 3.0, 10.0, 30.0)  # of the regularisation
# these can only speak for a candidate: few questions of one kind must not turn them round
RISING = ("read", "computed", "fit", "score", "covered", "subjects", "best", "timely")
# what tells questions without an answer: on held-out ConvMix and on questions without an answer the others added nothing
_OF_NONE = (f"{NONE} score", f"{NONE} surest")
IsRight = Callable[[Entity, Sequence[Entity]], bool]


class ChoiceSet(NamedTuple):
    """The questions of a data set; those for yes or no (`yes_no`) choose between "yes" and none."""

    name: str
    choices: list[Choice]
    yes_no: list[Choice]


def train_ranking(ha: ExtractiveAnswering, sources: Sequence[str]) -> Path:
    """Learn the ranking of the configured reader's answers from the train part; returns the folder, for `ha_ranker`.

    Every question counts a second time with answers that are not items. Of `ha_training` only `output` is used.
    """
    config = ha.config
    output = output_of(config, "ha")
    turns = [(group, turn.copy()) for group, turn in grouped_turns(config, "train", sources, ha.resources)]
    without_items = [(group, changed) for group, turn in turns if (changed := unlinked(turn)) is not None]
    sets = [
        choices_of(name, ha, tracked(part, f"reading, {name}", "questions"), is_answer)
        for name, part in (("train", turns), ("train, names", without_items))
    ]
    if not any(choice.right.any() for choice in sets[0].choices):
        raise DataError(
            "train ha: no candidate of the train part is a gold answer; is it retrieved from these sources?"
        )
    return write_ranking([item for item in sets if item.choices], config, output)


def write_ranking(
    sets: Sequence[ChoiceSet],
    config: Config,
    output: Path,
    sections: Mapping[str, str] = MappingProxyType({}),
    none_sets: Sequence[ChoiceSet] = (),
) -> Path:
    """Learn a ranking from sets and write it, with a card (which gets the `sections`) and its cross-validated figures.

    How probable it is that no candidate is right is learned from `none_sets` if there are any.
    """
    l2, rows = best_strength(sets)
    model = folder_id(Path(model_path(config.ha_model)), HEADS) if config.ha_model else ""
    ranking = train_weights(sets, l2, none_sets)
    weights = {name: weight for name, (weight,) in ranking.candidates.weights.items()}
    strongest = sorted(Features._fields, key=lambda name: -abs(weights[name]))
    table = table_of("part", rows, digits=3)
    effects = table_of("feature", {name: {"weight": weights[name]} for name in strongest}, digits=3)
    about = f"""
A conditional logit over {len(Features._fields)} features of a candidate and {len(QuestionFeatures._fields)} of a question (`{FILE}`), which
gives each candidate a probability, and "none of these" one; and one over {len(YesNoFeatures._fields)} features of a question for yes or no
(`{YES_NO_FILE}`). Learned over the reader `{model or "none"}`. For `ha_ranker`."""
    measured = {
        "Validation": f"Cross-validated over whole conversations, regularisation {l2:g}.\n\n{table}",
        "Weights": f"Of the standardised features (see the docstring of `features.Features`).\n\n{effects}",
    }
    card = model_card("Which candidate answers a question", about, {**measured, **sections}, {})
    write_folder(output, ranking.write, card, rows)
    for name, row in rows.items():
        LOGGER.info("ranking of answers: %s: %s", name, shown(row))
    LOGGER.info("%s: the ranking; name it in ha_ranker", output)
    return output


def best_strength(sets: Sequence[ChoiceSet]) -> tuple[float, dict[str, Measures]]:
    """Return the strength of regularisation with the best cross-validated loss, and the measures of each set with it."""
    named = {item.name: item.choices for item in sets if item.choices}
    figures = {}
    for strength in _STRENGTHS:
        likely = cross_validated(list(named.values()), strength, NAMES, RISING)
        figures[strength] = {
            name: judged(choices, chances) for (name, choices), chances in zip(named.items(), likely, strict=True)
        }
    best = min(figures, key=lambda strength: float(np.mean([row["log_loss"] for row in figures[strength].values()])))
    rows = figures[best]
    yes_no = {item.name: item.yes_no for item in sets if item.yes_no}
    likely = cross_validated(list(yes_no.values()), best, YES_NO_NAMES, YesNoFeatures._fields)
    for (name, choices), chances in zip(yes_no.items(), likely, strict=True):
        right = [bool(chance[0] > chance[1]) == bool(choice.right[0])
                 for choice, chance in zip(choices, chances, strict=True)]  # fmt: skip
        rows[f"{name}, yes or no"] = {**dict.fromkeys(next(iter(rows.values())), 0.0),
                                      "questions": float(len(right)), "p_at_1": float(np.mean(right))}  # fmt: skip
    return best, rows


# -- examples ----------------------------------------------------------------------------------------------------------


def choices_of(name: str, ha: ExtractiveAnswering, turns: Iterable[tuple[str, Turn]], is_right: IsRight) -> ChoiceSet:
    """Return the choices of turns with evidences, each with its group."""
    learned = ChoiceSet(name, [], [])
    copies = ((group, turn.copy()) for group, turn in turns)  # the turns lose their evidences
    while batch := list(islice(copies, _AT_ONCE)):
        questions = questions_of([turn for _, turn in batch], ha.resources)
        read = iter(ha.read([question for question in questions if question.expected.kind != "yesno"]))
        for question, (group, turn) in zip(questions, batch, strict=True):
            if question.expected.kind != "yesno":
                candidates, rows, of_question = ha.measure(question, next(read))
                right = [is_right(candidate.entity, turn["answers"]) for candidate in candidates]
                features = np.array(rows, np.float64).reshape(-1, len(Features._fields))
                learned.choices.append(Choice(features, np.array(of_question), np.array(right, bool), 1.0, group))
            elif answers := {answer["id"] for answer in turn["answers"]} & {YES["id"], NO["id"]}:
                verdict, _ = ha.decide(question)
                features = np.array([verdict])
                learned.yes_no.append(Choice(features, np.empty(0), np.array([YES["id"] in answers]), 1.0, group))
    return learned


def unlinked(turn: Turn) -> Turn | None:
    """Return a turn as if its gold answers were not items; None if only facts name them.

    Half of the other items are unknown, too, else a name without an item would always be right. Facts with unknown items are
    left out, other evidences lose their ids. Gold answers are the names that the evidences have for them.
    """
    gold = {answer["id"] for answer in turn["answers"] if is_item(answer["id"])}
    topics = {item["id"] for item in question_items(turn["top_evidences"])}
    unknown = gold - topics
    if not unknown:
        return None
    mentioned = {entity["id"] for evidence in turn["top_evidences"] for entity in evidence["wikidata_entities"]}
    unknown |= {name for name in mentioned - topics if is_item(name) and crc32(name.encode()) % 2}
    evidences = [_unlinked(evidence, unknown) for evidence in turn["top_evidences"]]
    named = [evidence for evidence in turn["top_evidences"] if "fact" not in evidence]
    names: set[str] = set()
    for evidence in named:
        names.update(surface for surface, name in evidence["disambiguations"] if name in gold - topics)
    if not names:
        return None
    return {
        **turn,
        "top_evidences": [evidence for evidence in evidences if evidence is not None],
        "answers": [{"id": name, "label": name} for name in sorted(names)],
    }


def _unlinked(evidence: Evidence, unknown: AbstractSet[str]) -> Evidence | None:
    if unknown.isdisjoint(entity["id"] for entity in evidence["wikidata_entities"]):
        return evidence
    if "fact" in evidence:
        return None
    changed = copy.deepcopy(evidence)
    changed["disambiguations"] = [pair for pair in changed["disambiguations"] if pair[1] not in unknown]
    changed["mentions"] = [mention for mention in changed["mentions"] if mention["id"] not in unknown]
    cells: list[Any] = [*changed.get("row", {}).get("cells", ()), *changed.get("attribute", {}).get("values", ())]
    for holder in (changed, *cells):
        key = "wikidata_entities" if holder is changed else "entities"
        holder[key] = [entity for entity in holder[key] if entity["id"] not in unknown]
    return changed


# -- learning ----------------------------------------------------------------------------------------------------------


def weighted(sets: Sequence[Sequence[Choice]]) -> list[Choice]:
    """Return the choices of all sets, weighted so that a set counts as much as the square root of its size."""
    return [
        choice._replace(weight=choice.weight * weight)
        for choices, weight in zip(sets, _set_weights(sets), strict=True)
        for choice in choices
    ]


def _set_weights(sets: Sequence[Sequence[Choice]]) -> list[float]:
    largest = max(map(len, sets)) ** 0.5
    return [largest / len(choices) ** 0.5 if choices else 0.0 for choices in sets]


def cross_validated(
    sets: Sequence[Sequence[Choice]], l2: float, names: Sequence[str], rising: Sequence[str] = ()
) -> list[list[np.ndarray]]:
    """Return the probabilities of each set and choice by weights that were learned without the choices of its part.

    Choices of a group are in the same part, whatever set they are in. If nothing is left to learn from, all
    are equally likely.
    """
    likely: list[list[np.ndarray]] = [[np.empty(0)] * len(choices) for choices in sets]
    for part in range(_PARTS):
        train = [[choice for choice in choices if _part(choice.group) != part] for choices in sets]
        logit = fit(weighted(list(filter(None, train))), l2, names, rising) if any(train) else None
        for choices, chances in zip(sets, likely, strict=True):
            for place, choice in enumerate(choices):
                if _part(choice.group) == part:
                    number = len(choice.candidates) + 1
                    equal = np.full(number, 1 / number)
                    chances[place] = equal if logit is None else logit.probabilities(choice.candidates, choice.question)
    return likely


def _part(group: str) -> int:
    return crc32(group.encode()) % _PARTS


def judged(choices: Sequence[Choice], likely: Sequence[np.ndarray]) -> Measures:
    """Measure P@1, Hit@5, calibration error and loss of questions by the probabilities of candidates and of "none"."""
    right, hits, top, losses = [], [], [], []
    for choice, chances in zip(choices, likely, strict=True):
        order = np.argsort(-chances[:-1], kind="stable")
        ranked = choice.right[order]
        right.append(bool(ranked[:1].any()))
        hits.append(bool(ranked[:5].any()))
        top.append(float(chances[order[0]]) if len(order) else 0.0)
        likelihood = chances[:-1][choice.right].sum()
        if not choice.right.any():
            likelihood += chances[-1]
        losses.append(-np.log(max(1e-12, float(likelihood))))
    return {
        "questions": float(len(choices)),
        "p_at_1": float(np.mean(right)),
        "h_at_5": float(np.mean(hits)),
        "calibration_error": calibration_error(top, right),
        "log_loss": float(np.mean(losses)),
    }


def train_weights(sets: Sequence[ChoiceSet], l2: float, none_sets: Sequence[ChoiceSet] = ()) -> AnswerRanking:
    """Learn the ranking from sets, with a strength of regularisation; see `write_ranking`."""
    choices = [item.choices for item in sets]
    counts: dict[str, dict[str, int | float]] = {
        item.name: {
            "questions": len(item.choices),
            "answered": sum(bool(choice.right.any()) for choice in item.choices),
            "weight": round(weight, 3),
        }
        for item, weight in zip(sets, _set_weights(choices), strict=True)
    }
    ranking = fit(weighted(choices), l2, NAMES, RISING, counts)
    if none_sets:
        ranking = with_none(ranking, weighted([item.choices for item in none_sets]), l2, _OF_NONE)
    yes_no_sets = [item.yes_no for item in sets if item.yes_no]
    counts = {item.name: {"questions": len(item.yes_no)} for item in sets}
    if len({bool(choice.right[0]) for verdicts in yes_no_sets for choice in verdicts}) > 1:
        yes_no = fit(weighted(yes_no_sets), l2, YES_NO_NAMES, YesNoFeatures._fields, counts)
    else:  # no questions for yes or no, or all have one answer: each feature counts as it is
        weights = {name: [float(name != NONE)] for name in YES_NO_NAMES}
        yes_no = Logit(features={}, weights=weights, trained_on=counts)
    return AnswerRanking(ranking, yes_no)
