"""Training of the ranking of answers on turns with evidences and known answers, by distant supervision.

A candidate is right when it is a gold answer; where none is, "none" is right. Nothing is random: the same turns give the
same weights.
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
from ..encoder.checkpoint import HEADS, folder_id
from ..heterogeneous_answering.answer_weights import FILE, FORMAT, AnswerWeights, TrainingSet
from ..heterogeneous_answering.candidate_features import Circumstances, Features
from ..heterogeneous_answering.extractive import ExtractiveAnswering
from ..heterogeneous_answering.question import AskedQuestion
from ..heterogeneous_answering.yes_no import NO, YES, YesNoFeatures, yes_or_no
from ..records.conversation import Turn
from ..records.evidence import Entity, Evidence, question_items
from ..records.literals import is_item
from ..resources import model_path
from ..scoring.convqa import calibration_error, is_answer
from ..support.errors import DataError
from ..support.weights import FeatureWeight, model_bytes
from .choices import Choice, Fitted, Scale, fit, offered_pair
from .conversations import grouped_turns
from .learning import Measures, shown
from .trainer import model_card, output_of, write_folder

LOGGER = logging.getLogger(__name__)

_AT_ONCE = 20  # turns that are read together
_DIGITS = 6  # of what is written
_STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0)  # of the regularisation
_THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)  # of `ha_abstain_below` that the card tells of
# what can only speak for a candidate: few questions of one kind must not turn it round
_RISING = frozenset(
    "read voted stated ordered fit suits kind score first support sources asked rest_asked covered subjects near best offered renamed known facts_voted facts_score".split()
)
# What facts state for "yes" counts as it is. What words and a model say is learned where no fact states anything; it can only speak
# for "yes", and counts as it is where few questions tell.
_TOLD = tuple(map(YesNoFeatures._fields.index, ("worded", "read")))
_AS_TOLD = tuple(range(len(_TOLD))), (1.0,) * len(_TOLD)
_OFFERED = tuple(map(Features._fields.index, ("echoes", "offered")))
_OF_TYPE = Features._fields.index("fit")
RISING = tuple(place for place, name in enumerate(Features._fields) if name in _RISING)
IsRight = Callable[[Entity, Sequence[Entity]], bool]


_WIDTH = len(_TOLD)
_AS_THEY_ARE = Fitted(
    np.ones(_WIDTH), np.zeros(0), 0.0, Scale(np.zeros(_WIDTH), np.ones(_WIDTH)), Scale(np.zeros(0), np.ones(0))
)


class ChoiceSet(NamedTuple):
    """The questions of a data set; those for yes or no (`yes_no`) choose between "yes" and none."""

    name: str
    choices: list[Choice]
    yes_no: list[Choice]


def train_ranking(ha: ExtractiveAnswering, sources: Sequence[str]) -> Path:
    """Learn the ranking of the configured reader's answers from the train part; returns the folder, for `ha_ranker`.

    The questions count also as they would be with answers that are no items, and with two answers to choose from. Of
    `ha_training` only `output` counts.
    """
    config = ha.config
    output = output_of(config, "ha")
    turns: list[tuple[str, Turn]] = [
        (group, turn.copy()) for group, turn in grouped_turns(config, "train", sources, ha.resources)
    ]
    asked = choices_of("train", ha, turns, is_answer)
    nameless = ((group, own) for group, turn in turns if (own := unlinked(turn)) is not None)
    sets = [asked, choices_of("train, names", ha, nameless, is_answer), offering(asked)]
    if not any(choice.right.any() for choice in asked.choices):
        raise DataError(
            "train ha: no candidate of the train part is a gold answer; is it retrieved from these sources?"
        )
    return write_ranking([own for own in sets if own.choices], config, output)


def write_ranking(
    sets: Sequence[ChoiceSet], config: Config, output: Path, sections: Mapping[str, str] = MappingProxyType({})
) -> Path:
    """Learn a ranking from sets and write it, with a card and a record of its cross-validated figures."""
    named = {own.name: own.choices for own in sets if own.choices}
    l2, rows = _strength(named, RISING)
    told = {own.name: choices for own in sets if (choices := _told(own.yes_no))}
    yes_no_l2 = _strength(told, *_AS_TOLD)[0] if told else 1.0
    model = folder_id(Path(model_path(config.ha_model)).expanduser(), HEADS) if config.ha_model else ""
    weights = train_weights(sets, l2, yes_no_l2, model)
    table = _table(("part", *next(iter(rows.values()))), rows)
    below = _table(("part", "below", *_BELOW), _thresholds(named, l2))
    strongest = sorted(weights.features, key=lambda feature: -abs(feature.weight))
    effects = _table(("feature", "weight"), {own.name: {"weight": own.weight} for own in strongest})
    about = f"""
A conditional logit over {len(weights.features)} features of a candidate and {len(weights.nothing)} of a question (`{FILE}`), which
tells how likely each candidate answers the question, and how likely none does; and a logistic regression over {len(weights.yes_no)}
features of a question for yes or no. For `ha_ranker`."""
    own = {
        "Validation": f"Cross-validated over whole conversations, regularisation {l2:g}.\n\n{table}\n\n{_yes_no(told, yes_no_l2)}",
        "Abstention": f"Shares whose best answer is less likely than a threshold (`ha_abstain_below`).\n\n{below}",
        "Weights": "Of the standardised features (the docstring of `candidate_features.Features` tells what they "
        f"mean).\n\n{effects}",
    }
    card = model_card("Which candidate answers a question", about, {**own, **sections}, {})
    write_folder(output, lambda folder: (folder / FILE).write_bytes(model_bytes(weights)), card, rows)
    for name, row in rows.items():
        LOGGER.info("ranking of answers: %s: %s", name, shown(row))
    return output


def _strength(
    sets: Mapping[str, Sequence[Choice]], rising: Sequence[int] = (), towards: Sequence[float] | None = None
) -> tuple[float, dict[str, Measures]]:
    figures = {}
    for strength in _STRENGTHS:
        likely = cross_validated(list(sets.values()), strength, rising, towards)
        figures[strength] = {
            name: judged(own, chances) for (name, own), chances in zip(sets.items(), likely, strict=True)
        }
    best = min(figures, key=lambda strength: float(np.mean([row["log_loss"] for row in figures[strength].values()])))
    return best, figures[best]


def _told(choices: Iterable[Choice]) -> list[Choice]:
    stated = YesNoFeatures._fields.index("stated")
    return [
        choice._replace(candidates=choice.candidates[:, _TOLD])
        for choice in choices
        if not choice.candidates[0, stated]
    ]


def _yes_no(told: Mapping[str, Sequence[Choice]], l2: float) -> str:
    """How many questions for yes or no that no fact decides are answered right, in a sentence."""
    right = number = 0
    for choices, likely in zip(told.values(), cross_validated(list(told.values()), l2, *_AS_TOLD), strict=True):
        number += len(choices)
        right += sum(
            bool(own[0] > own[1]) == bool(choice.right[0]) for choice, own in zip(choices, likely, strict=True)
        )
    return f"Of {number} questions for yes or no that no fact decides {right} are answered right."


_BELOW = ("right", "wrong", "none of the candidates is right")


def _thresholds(sets: Mapping[str, Sequence[Choice]], l2: float) -> dict[str, Measures]:
    """Of each set and threshold the shares of questions whose best answer is less likely, by how they were answered."""
    rows: dict[str, Measures] = {}
    for (name, choices), likely in zip(sets.items(), cross_validated(list(sets.values()), l2, RISING), strict=True):
        tops = np.array([chances[:-1].max(initial=0.0) for chances in likely])
        rights = [choice.right[chances[:-1].argmax()] if len(choice.right) else False
                  for choice, chances in zip(choices, likely, strict=True)]  # fmt: skip
        is_right, absent = np.array(rights, bool), np.array([not choice.right.any() for choice in choices])
        groups = dict(zip(_BELOW, (is_right, ~is_right & ~absent, absent), strict=True))
        for least in _THRESHOLDS:
            rows[f"{name} | {least:g}"] = {
                label: float((tops < least)[group].mean()) if group.any() else 0.0 for label, group in groups.items()
            }
    return rows


def _table(columns: Sequence[str], rows: Mapping[str, Measures]) -> str:
    lines = [f"| {name} | {' | '.join(f'{value:.3f}' for value in row.values())} |" for name, row in rows.items()]
    return "\n".join([f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *lines])


def choices_of(name: str, ha: ExtractiveAnswering, turns: Iterable[tuple[str, Turn]], is_right: IsRight) -> ChoiceSet:
    """What turns teach."""
    learned = ChoiceSet(name, [], [])
    own_turns = ((group, turn.copy()) for group, turn in turns)  # theirs lose their evidences
    while batch := list(islice(own_turns, _AT_ONCE)):
        asked = [AskedQuestion.of(turn, ha.config.sr_delimiter, ha.resources) for _, turn in batch]
        asks_yes_no = [question.expected.kind == "yesno" for question in asked]
        candidates_of = iter(
            ha.found([question for question, skip in zip(asked, asks_yes_no, strict=True) if not skip])
        )
        for question, is_yes_no, (group, turn) in zip(asked, asks_yes_no, batch, strict=True):
            if not is_yes_no:
                candidates = next(candidates_of)
                right = [is_right(candidate.entity, turn["answers"]) for candidate in candidates.given]
                rows = np.array(candidates.features, np.float64).reshape(-1, len(Features._fields))
                learned.choices.append(
                    Choice(rows, np.array(candidates.circumstances), np.array(right, bool), 1.0, group)
                )
            elif answers := {answer["id"] for answer in turn["answers"]} & {YES["id"], NO["id"]}:
                rows = np.array([yes_or_no(question, ha.judge).features])
                learned.yes_no.append(Choice(rows, np.empty(0), np.array([YES["id"] in answers]), 1.0, group))
    return learned


def offering(own: ChoiceSet) -> ChoiceSet:
    """The questions of a set as they would be if each offered a right candidate and a wrong one of its type ("X or Y?")."""
    offered = (offered_pair(choice, _OFFERED, _OF_TYPE) for choice in own.choices)
    return ChoiceSet(f"{own.name}, offers", [choice for choice in offered if choice is not None], [])


def unlinked(turn: Turn) -> Turn | None:
    """A turn as it would be if its gold answers were no items; None where no evidence but facts names one.

    Half of the other items are unknown, too, else a name without an item would always be right. Facts with one of them are left
    out, from other evidences they lose their ids. Gold answers are the names that the evidences have for them.
    """
    gold = {answer["id"] for answer in turn["answers"] if is_item(answer["id"])}
    topics = {item["id"] for item in question_items(turn["top_evidences"])}
    unknown = gold - topics
    if not unknown:
        return None
    mentioned = {entity["id"] for evidence in turn["top_evidences"] for entity in evidence["wikidata_entities"]}
    unknown |= {name for name in mentioned - topics if is_item(name) and crc32(name.encode()) % 2}
    kept = [evidence for own in turn["top_evidences"] if (evidence := _unlinked(own, unknown)) is not None]
    named = [evidence for evidence in turn["top_evidences"] if "fact" not in evidence]
    names = {surface for evidence in named for surface, name in evidence["disambiguations"] if name in gold - topics}
    if not names:
        return None
    return {**turn, "top_evidences": kept, "answers": [{"id": name, "label": name} for name in sorted(names)]}


def _unlinked(evidence: Evidence, unknown: AbstractSet[str]) -> Evidence | None:
    if unknown.isdisjoint(entity["id"] for entity in evidence["wikidata_entities"]):
        return evidence
    if "fact" in evidence:
        return None
    own = copy.deepcopy(evidence)
    own["disambiguations"] = [pair for pair in own["disambiguations"] if pair[1] not in unknown]
    own["mentions"] = [mention for mention in own["mentions"] if mention["id"] not in unknown]
    cells: list[Any] = [*own.get("row", {}).get("cells", ()), *own.get("attribute", {}).get("values", ())]
    for holder in (own, *cells):
        key = "wikidata_entities" if holder is own else "entities"
        holder[key] = [entity for entity in holder[key] if entity["id"] not in unknown]
    return own


def weighted(sets: Sequence[Sequence[Choice]]) -> list[Choice]:
    """The choices of all sets, where each set counts as much as the square root of its size."""
    return [
        choice._replace(weight=choice.weight * weight)
        for own, weight in zip(sets, _set_weights(sets), strict=True)
        for choice in own
    ]


def cross_validated(
    sets: Sequence[Sequence[Choice]],
    l2: float,
    rising: Sequence[int] = (),
    towards: Sequence[float] | None = None,
    parts: int = 5,
) -> list[list[np.ndarray]]:
    """Of each set and choice the probabilities by weights that were learned without the choices of its part.

    Choices of one group are in the same part, whatever set they are in. Where that leaves nothing to learn from, all is equally
    likely.
    """
    likely: list[list[np.ndarray]] = [[np.empty(0)] * len(own) for own in sets]
    for part in range(parts):
        kept = [[choice for choice in own if _part(choice.group, parts) != part] for own in sets]
        fitted = fit(weighted([own for own in kept if own]), l2, rising, towards) if any(kept) else None
        for own, chances in zip(sets, likely, strict=True):
            for place, choice in enumerate(own):
                if _part(choice.group, parts) == part:
                    number = len(choice.candidates) + 1
                    chances[place] = np.full(number, 1 / number) if fitted is None else fitted.probabilities(choice)
    return likely


def _part(group: str, parts: int) -> int:
    return crc32(group.encode()) % parts


def judged(choices: Sequence[Choice], likely: Sequence[np.ndarray]) -> Measures:
    """P@1 and Hit@5 of questions with a right candidate or without, by probabilities of their candidates and of none."""
    right, hits, top = [], [], []
    for choice, chances in zip(choices, likely, strict=True):
        order = np.argsort(-chances[:-1], kind="stable")
        ranked = choice.right[order]
        right.append(bool(ranked[:1].any()))
        hits.append(bool(ranked[:5].any()))
        top.append(float(chances[order[0]]) if len(order) else 0.0)
    return {
        "questions": float(len(choices)),
        "p_at_1": float(np.mean(right)),
        "h_at_5": float(np.mean(hits)),
        "calibration_error": calibration_error(top, right),
        "log_loss": float(
            np.mean([-np.log(max(1e-12, _of_right(c, p))) for c, p in zip(choices, likely, strict=True)])
        ),
    }


def _of_right(choice: Choice, chances: np.ndarray) -> float:
    return float(chances[:-1][choice.right].sum()) if choice.right.any() else float(chances[-1])


def train_weights(sets: Sequence[ChoiceSet], l2: float, yes_no_l2: float, model: str) -> AnswerWeights:
    """The ranking that these sets teach, with the strengths of regularisation of the ranking and of yes or no.

    Where no question for yes or no is left to what no fact decides, or all of them have the same answer, the odds of all that speaks
    for "yes" are multiplied as they are.
    """
    choices = [own.choices for own in sets]
    fitted = fit(weighted(choices), l2, RISING)
    told = [own for own in map(_told, (given.yes_no for given in sets)) if own]
    # else only one would ever be answered
    are_both = len({bool(choice.right[0]) for own in told for choice in own}) > 1
    yes_no = fit(weighted(told), yes_no_l2, *_AS_TOLD) if are_both else _AS_THEY_ARE
    own_words = _named(YesNoFeatures._fields[1:], yes_no.scale, yes_no.candidates)
    return AnswerWeights(
        format=FORMAT,
        model=model,
        features=_named(Features._fields, fitted.scale, fitted.candidates),
        nothing=_named(Circumstances._fields, fitted.question_scale, fitted.question),
        bias=round(fitted.bias, _DIGITS),
        yes_no=[FeatureWeight("stated", 0.0, 1.0, 1.0), *own_words],
        no_bias=round(yes_no.bias, _DIGITS),
        l2=l2,
        trained_on=[
            TrainingSet(
                own.name,
                len(own.choices),
                sum(bool(choice.right.any()) for choice in own.choices),
                round(weight, 3),
                len(own.yes_no),
            )
            for own, weight in zip(sets, _set_weights(choices), strict=True)
        ],
    )


def _set_weights(sets: Sequence[Sequence[Choice]]) -> list[float]:
    largest = max(map(len, sets)) ** 0.5
    return [largest / len(own) ** 0.5 if own else 0.0 for own in sets]


def _named(names: Sequence[str], scale: Scale, weights: np.ndarray) -> list[FeatureWeight]:
    columns = zip(names, scale.mean.tolist(), scale.scale.tolist(), weights.round(_DIGITS).tolist(), strict=True)
    return [FeatureWeight(*column) for column in columns]
