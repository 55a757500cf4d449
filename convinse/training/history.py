"""Training of the model of `qu: history` on conversations that `annotate` has annotated.

Every thing that was talked about before a question is an example: it is what the question is about when it is among the
question's silver mentions. Regularisation and threshold are those that suit the dev part best. Nothing is random:
the same files give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..formats.convmix import read_conversations
from ..question_understanding.base import history_turn
from ..question_understanding.history_features import FeatureReader, ReferentFeatures
from ..question_understanding.history_weights import FILE, FORMAT, HistoryWeights, Origin
from ..question_understanding.referents import Asked, ChosenReferents, Focus, Referent
from ..question_understanding.slots import Slots
from ..question_understanding.trained_history import TrainedHistory
from ..records.conversation import Conversation, Turn
from ..support.checksums import sha256
from ..support.errors import DataError
from ..support.weights import FeatureWeight, model_bytes
from .learning import Measures
from .silver import SilverMention, annotated_parts
from .trainer import model_card, output_of, write_folder

_STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0)  # of the regularisation
_STEPS = 100  # of Newton's method; a handful is enough
_BIAS_L2 = 1e-6  # the bias is not regularised, but must not run away where all examples agree
_RECALL_WEIGHT = 2.0  # what is missing costs more than what is too much: without the right item there is no answer
_DIGITS = 6  # of what is written


class Examples(NamedTuple):
    """What a part teaches, a row for each thing that was talked about before one of so many questions (`turns`).

    features: [n, f] float64, in the order of `ReferentFeatures`; wanted, by_rules: [n] bool, whether the question is about it, and
    whether `slots` takes it.
    """

    features: np.ndarray
    wanted: np.ndarray
    by_rules: np.ndarray
    turns: int


class ExaminedTurn(NamedTuple):
    """A turn, the items that were talked about before it and that it does not name, with their features, and whether `slots`
    takes them."""

    turn: Turn
    referents: list[Referent]
    features: list[ReferentFeatures]
    by_rules: list[bool]


class RuleRecorder(Slots):
    """The rules; keeps what they saw and chose."""

    seen: tuple[Asked, ChosenReferents, Sequence[Focus], Sequence[Turn]] | None = None

    def _choose(self, asked: Asked, foci: Sequence[Focus], history: Sequence[Turn]) -> ChosenReferents:
        choice = super()._choose(asked, foci, history)
        self.seen = asked, choice, foci, history
        return choice


def train_history(qu: TrainedHistory, sources: Sequence[str] = ()) -> Path:
    """Train on `annotated_train.json` (of the sources that it was made of), choose on `annotated_dev.json`.

    Returns the folder, for `qu_model`: the model (`history.json`), a card and a record. Of `qu`, `qu_training` (`annotated`,
    `output`), `qu_history.encoder` and the knowledge base are used. Raises what `trainer` says.
    """
    output = output_of(qu.config, "qu")
    paths = annotated_parts(qu.config)
    conversations = [read_conversations(path) for path in paths]
    embedder, encoder = qu.load_encoder()
    reader, rules = FeatureReader(qu.kb, embedder, qu.language), RuleRecorder(qu.config, qu.resources)
    train, dev = (read_examples(reader, rules, *part) for part in zip(conversations, paths, strict=True))
    origin = Origin(sha256(paths[0]), sha256(paths[1]), qu.kb.build_id, train.turns, 0.0)
    fits = [fit_weights(train, encoder, msgspec.structs.replace(origin, l2=l2)) for l2 in _STRENGTHS]
    model = min(fits, key=lambda fitted: _loss(np.array(fitted.probabilities(dev.features)), dev.wanted))
    likely = [np.array(model.probabilities(part.features)) for part in (train, dev)]
    model = msgspec.structs.replace(model, threshold=best_threshold(likely[1], dev.wanted))
    rows = {}
    for name, part, chances in (("train", train, likely[0]), ("dev", dev, likely[1])):
        rows[f"{name}, model"] = measure(chances >= model.threshold, part.wanted)
        rows[f"{name}, slots"] = measure(part.by_rules, part.wanted)
    content = model_bytes(model)
    write_folder(output, lambda folder: (folder / FILE).write_bytes(content), _card(model, rows, dev.turns), rows)
    qu.logger.info(
        "train qu: %s learned from %d turns; on the dev part precision %.1f %%, recall %.1f %% (slots: %.1f %%, %.1f %%); "
        "name it in qu_model",
        output, train.turns,
        *(100 * rows[f"dev, {name}"][value] for name in ("model", "slots") for value in ("precision", "recall")),
    )  # fmt: skip
    return output


def read_examples(
    reader: FeatureReader, rules: RuleRecorder, conversations: Iterable[Conversation], path: Path
) -> Examples:
    """What annotated conversations of a file teach. Turns without silver mentions tell nothing and are passed over.

    Raises:
        DataError: silver mentions are not of the format, or there are none, or none that speak of the history.
    """
    rows: list[ReferentFeatures] = []
    wanted: list[bool] = []
    by_rules: list[bool] = []
    turns = 0
    for conversation in conversations:
        annotated = conversation["questions"]
        for place, examined in enumerate(examined_turns(reader, rules, conversation)):
            mentions = _mentions(annotated[place], f"{path}: conversation '{conversation['conv_id']}', turn {place}")
            if mentions and examined.referents:
                about = {mention["item"]["id"] for mention in mentions if mention["turn"] < examined.turn["turn"]}
                rows += examined.features
                wanted += [referent.id in about for referent in examined.referents]
                by_rules += examined.by_rules
                turns += 1
    if not any(wanted) or all(wanted):
        raise DataError(
            f"{path}: its silver_mentions tell nothing of the history of any turn; there is nothing to learn from"
        )
    return Examples(np.array(rows, np.float64), np.array(wanted), np.array(by_rules), turns)


def examined_turns(reader: FeatureReader, rules: RuleRecorder, conversation: Conversation) -> Iterator[ExaminedTurn]:
    """The turns of a conversation as the rules understand them, with the gold answers of earlier turns."""
    history: list[Turn] = []
    for place, given in enumerate(conversation["questions"]):
        turn: Turn = {"turn": given.get("turn", place), "question": given["question"]}
        turn["answers"] = given.get("answers", [])
        turn.update(rules.inference_on_turn(turn, history))  # type: ignore[typeddict-item]
        assert rules.seen is not None
        asked, choice, foci, past = rules.seen
        referents = reader.referents(asked, foci)
        taken = {referent.id for referent in (*choice.entities, *choice.context)}
        features = reader.read(asked, choice, foci, past)
        yield ExaminedTurn(turn, referents, features, [referent.id in taken for referent in referents])
        history.append(history_turn(turn, True))


def best_threshold(likely: np.ndarray, wanted: np.ndarray) -> float:
    """The middle of the range of thresholds on [n] probabilities with the highest F2; of several the one nearest to 0.5."""
    values = np.unique(likely)
    middles = np.round((np.r_[0.0, values] + np.r_[values, 1.0]) / 2, _DIGITS)
    return float(max(middles, key=lambda middle: (measure(likely >= middle, wanted)["f2"], -abs(middle - 0.5))))


def measure(chosen: np.ndarray, wanted: np.ndarray) -> Measures:
    """Precision, recall and their mean that weighs recall double (F2) of [n] choices for [n] wanted ones."""
    both = float((chosen & wanted).sum())
    precision, recall = both / max(1.0, float(chosen.sum())), both / max(1.0, float(wanted.sum()))
    square = _RECALL_WEIGHT**2
    f2 = (1 + square) * precision * recall / (square * precision + recall) if both else 0.0
    return {"precision": precision, "recall": recall, "f2": f2}


def _mentions(turn: Turn, where: str) -> list[SilverMention]:
    given: Any = turn.get("silver_mentions", [])
    try:
        return msgspec.convert(given, list[SilverMention])
    except msgspec.ValidationError as error:
        raise DataError(f"{where}: silver_mentions: {error}; run bash run.sh annotate again") from None


def fit_weights(examples: Examples, encoder: str, origin: Origin) -> HistoryWeights:
    """A logistic regression of standardised features, regularised by `origin.l2`, by Newton's method; its threshold is 0.5."""
    features = examples.features
    mean, scale = features.mean(axis=0).round(_DIGITS), features.std(axis=0).round(_DIGITS)
    scale = np.where(scale > 0, scale, 1.0)  # of what is always the same
    values = np.c_[(features - mean) / scale, np.ones(len(features))]
    penalty = np.full(values.shape[1], origin.l2)
    penalty[-1] = _BIAS_L2
    weights = np.zeros(values.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-(values @ weights)))
        gradient = values.T @ (likely - examples.wanted) + penalty * weights
        curvature = (values * (likely * (1 - likely))[:, None]).T @ values + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step
        if float(np.abs(step).max()) < 1e-10:
            break
    *rounded, bias = (round(float(weight), _DIGITS) for weight in weights)
    columns = zip(ReferentFeatures._fields, mean.tolist(), scale.tolist(), rounded, strict=True)
    return HistoryWeights(
        format=FORMAT, encoder=encoder, threshold=0.5, bias=bias, features=[FeatureWeight(*column) for column in columns],
        trained_with=origin,
    )  # fmt: skip


def _loss(likely: np.ndarray, wanted: np.ndarray) -> float:
    return float(-np.log(np.clip(np.where(wanted, likely, 1 - likely), 1e-12, None)).mean())


def _card(model: HistoryWeights, rows: dict[str, Measures], dev_turns: int) -> str:
    table = "\n".join(
        f"| {name} | {' | '.join(f'{value:.3f}' for value in measures.values())} |" for name, measures in rows.items()
    )
    ranked = sorted(model.features, key=lambda feature: -abs(feature.weight))
    weights = "\n".join(f"| {feature.name} | {feature.weight:+.3f} |" for feature in ranked)
    about = f"""
A logistic regression over {len(model.features)} features of a question and a thing that was talked about (`{FILE}`), for
`qu: history`. Trained by `convinse train qu` on {model.trained_with.turns} annotated turns; regularisation
({model.trained_with.l2:g}) and threshold ({model.threshold:.3f}) were chosen on {dev_turns} others."""
    sections = {
        "Validation": f"| | precision | recall | F2 |\n|---|---:|---:|---:|\n{table}",
        "Weights": "Of the standardised features (the docstring of `question_understanding.history_features.ReferentFeatures` tells what "
        f"they mean).\n\n| feature | weight |\n|---|---:|\n{weights}",
    }
    return model_card("What of the history a question is about", about, sections, {})
