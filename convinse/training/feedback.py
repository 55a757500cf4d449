"""Learning the ranking of answers from the ratings of users.

Learning goes on from the configured ranking (`ha_ranker`), and the regularisation is of the change: a few ratings change little.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from ..evidence_retrieval_scoring.base import EvidenceRetrievalScoring, retrieve
from ..heterogeneous_answering.extractive import ExtractiveAnswering
from ..heterogeneous_answering.features import Features, QuestionFeatures
from ..heterogeneous_answering.question import NO, YES
from ..heterogeneous_answering.ranking import FILE, AnswerWeights, TrainingSet
from ..heterogeneous_answering.reader import as_words
from ..heterogeneous_answering.yes_no import YesNoFeatures
from ..language.text import fold
from ..records.conversation import Conversation, Turn
from ..records.evidence import Entity
from ..records.feedback import Feedback, read_feedback
from ..records.written_values import value_at
from ..scoring.convqa import is_answer
from ..stage import build
from ..support.errors import ConfigError, DataError
from ..support.progress import tracked
from ..support.registry import find_module
from ..support.weights import FeatureWeight, model_bytes
from .answer_ranking import RISING, YES_NO_RISING, ChoiceSet, choices_of, cross_validated, judged, named
from .conditional_logit import Fitted, Scale, fit
from .conversations import understand_all
from .objective import Measures, batches, shown
from .trainer import model_card, output_of, table_of, write_folder

LOGGER = logging.getLogger(__name__)

_SET = "feedback"
_STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)  # of the regularisation


def train_on_feedback(ha: ExtractiveAnswering, sources: Sequence[str], path: Path) -> Path:
    """Let the configured ranking learn from a file of feedback; returns the folder, for `ha_ranker`.

    Raises:
        ConfigError: the configured ranking has learned from feedback before.
        DataError: the file has no ratings or is damaged, or learning from it makes no better ranking, cross-validated.
    """
    config, weights = ha.config, ha.ranker
    if any(part.name == _SET for part in weights.trained_on):
        raise ConfigError(
            f"ha_ranker: {config.ha_ranker} has learned from feedback already, which would count twice; name the one before it"
        )
    output = output_of(config, "ha")
    learned = feedback_choices(ha, path, sources)
    if not learned.choices:
        raise DataError(f"train ha: {path}: no rating of a question that the ranking answers; collect more")
    rows = tried(weights, learned)
    best = min(rows, key=lambda strength: rows[strength]["log_loss"])
    if math.isinf(best):
        raise DataError(f"train ha: {path}: {len(learned.choices)} ratings make no better ranking; collect more")
    return _write(output, learn(weights, learned, best), rows, best, path.name)


def tried(weights: AnswerWeights, learned: ChoiceSet) -> dict[float, Measures]:
    """Measure each strength of regularisation, cross-validated over conversations; with infinity nothing changes."""
    prior = prior_of(weights)
    rows = {math.inf: judged(learned.choices, [prior.probabilities(choice) for choice in learned.choices])}
    for strength in _STRENGTHS:
        (likely,) = cross_validated([learned.choices], strength, RISING, prior)
        rows[strength] = judged(learned.choices, likely)
    return rows


def learn(weights: AnswerWeights, learned: ChoiceSet, l2: float) -> AnswerWeights:
    """Return a ranking changed by ratings, with a strength of regularisation."""
    prior = prior_of(weights)
    fitted = fit(learned.choices, l2, RISING, prior)
    verdict = _fitted(weights.yes_no, [], -weights.yes_bias, YesNoFeatures._fields, ())
    if learned.yes_no:
        verdict = fit(learned.yes_no, l2, YES_NO_RISING, verdict)
    answered = sum(bool(choice.right.any()) and not choice.is_open for choice in learned.choices)
    return msgspec.structs.replace(
        weights,
        features=named(Features._fields, fitted.scale, fitted.candidates),
        nothing=named(QuestionFeatures._fields, fitted.question_scale, fitted.question),
        bias=fitted.bias,
        yes_no=named(YesNoFeatures._fields, verdict.scale, verdict.candidates),
        yes_bias=-verdict.bias,
        l2=l2,
        trained_on=[*weights.trained_on, TrainingSet(_SET, len(learned.choices), answered, 1.0, len(learned.yes_no))],
    )


def prior_of(weights: AnswerWeights) -> Fitted:
    """Return a written ranking as a prior to learn from."""
    return _fitted(weights.features, weights.nothing, weights.bias, Features._fields, QuestionFeatures._fields)


def _fitted(
    features: Sequence[FeatureWeight], nothing: Sequence[FeatureWeight], bias: float,
    names: Sequence[str], question_names: Sequence[str],
) -> Fitted:  # fmt: skip
    columns = []
    for weights, expected in ((features, names), (nothing, question_names)):
        by_name = {weight.name: weight for weight in weights}
        rows = [by_name.get(name, FeatureWeight(name, 0.0, 1.0, 0.0)) for name in expected]
        columns.append(np.array([(row.mean, row.scale, row.weight) for row in rows], np.float64).reshape(-1, 3).T)
    (mean, scale, weight), (question_mean, question_scale, question_weight) = columns
    return Fitted(weight, question_weight, bias, Scale(mean, scale), Scale(question_mean, question_scale))


def _write(output: Path, weights: AnswerWeights, rows: dict[float, Measures], best: float, name: str) -> Path:
    named_rows = {f"{strength:g}": row for strength, row in rows.items()}
    card = model_card(
        "Which candidate answers a question, learned from use",
        f"The ranking that was configured, changed by the ratings of `{name}` (`{FILE}`). For `ha_ranker`.",
        {
            "Validation": f"Cross-validated over conversations; regularisation {best:g}. P@1 counts only the ratings that name a right answer "
            f"as right or wrong for certain.\n\n{table_of('regularisation', named_rows, ['p_at_1', 'log_loss'])}"
        },
        {},
    )
    write_folder(output, lambda folder: (folder / FILE).write_bytes(model_bytes(weights)), card, named_rows)
    LOGGER.info("ranking of answers: before: %s", shown(rows[math.inf]))
    LOGGER.info("ranking of answers: %s: %s", output, shown(rows[best]))
    return output


# -- ratings -----------------------------------------------------------------------------------------------------------


class _Rated(NamedTuple):
    conversation: Conversation
    group: str
    knows_right: bool  # the `answers` of its turn are right, else wrong


def feedback_choices(ha: ExtractiveAnswering, path: Path, sources: Sequence[str]) -> ChoiceSet:
    """Read the choices of a file: its turns are understood in their conversations, and evidences retrieved anew.

    The last rating of a turn counts. A wrong answer of yes or no makes the other one right. Raises `DataError`.
    """
    latest: dict[tuple[str, int, str], Feedback] = {}
    for rating in read_feedback(path):
        latest[rating.conversation, len(rating.history), rating.rated.question] = rating
    rated = [_rated(number, rating) for number, rating in enumerate(latest.values())]
    understand_all([item.conversation for item in rated], ha.config, ha.resources)
    retrieval = build(find_module("ers", ha.config.ers, EvidenceRetrievalScoring), ha.config, ha.resources)
    learned = ChoiceSet(_SET, [], [])
    for batch in tracked([*batches(rated, retrieval.conversations_at_once)], "learning from ratings", "batches"):
        turns = [item.conversation["questions"][-1] for item in batch]
        retrieve(retrieval, turns, sources, ha.config.evs_max_evidences)
        for knows_right in (True, False):
            chosen = [
                (item.group, turn) for item, turn in zip(batch, turns, strict=True) if item.knows_right == knows_right
            ]
            _, choices, yes_no = choices_of(_SET, ha, chosen, _is_named)
            if knows_right:
                learned.choices.extend(choices)
                learned.yes_no.extend(yes_no)
            else:
                learned.choices.extend(choice._replace(right=~choice.right, is_open=True) for choice in choices)
        for turn in turns:
            del turn["top_evidences"]
    retrieval.store_cache()
    return learned


def _rated(number: int, feedback: Feedback) -> _Rated:
    turns: list[Turn] = [
        {"turn": place, "question": earlier.question, "answers": earlier.answers}
        for place, earlier in enumerate(feedback.history)
    ]
    answers, knows_right = feedback.rated.answers, feedback.rating == "up"
    names = {answer["id"] for answer in answers}
    if text := feedback.answer:
        answers, knows_right = [value_at(text, 0, len(text)) or as_words(text)], True
    elif feedback.rating == "down" and names in ({YES["id"]}, {NO["id"]}):
        answers, knows_right = [NO if YES["id"] in names else YES], True
    turns.append({"turn": len(turns), "question": feedback.rated.question, "answers": answers})
    return _Rated({"conv_id": str(number), "questions": turns}, feedback.conversation, knows_right)


def _is_named(entity: Entity, answers: Iterable[Entity]) -> bool:
    # users write names, not ids
    return is_answer(entity, answers) or fold(entity["label"]) in {fold(answer["label"]) for answer in answers}
