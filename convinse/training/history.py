"""Training of the model of `qu: history` on conversations that `annotate` has annotated.

Every thing that was talked about before a question is an example: it is what the question is about when it is among the
question's silver mentions. Regularisation and threshold are those that suit the dev part best. Nothing is random:
the same files give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ..formats.convmix import read_conversations
from ..question_understanding.base import history_turn
from ..question_understanding.history_features import FeatureReader, Features
from ..question_understanding.history_weights import FILE, FORMAT, FeatureWeight, HistoryWeights, Origin, weights_bytes
from ..question_understanding.referents import Asked, Choice, Focus
from ..question_understanding.slots import Slots
from ..question_understanding.trained_history import TrainedHistory
from ..records.evidence import Turn
from ..support.errors import DataError
from ..support.files import replacing, sha256
from .output import output_of
from .silver import SilverMention, annotated_path

if TYPE_CHECKING:
    import numpy as np

_STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0)  # of the regularisation
_STEPS = 100  # of Newton's method; a handful is enough
_BIAS_L2 = 1e-6  # the bias is not regularised, but must not run away where all examples agree
_RECALL_WEIGHT = 2.0  # what is missing costs more than what is too much: without the right item there is no answer
_DIGITS = 6  # of what is written


class Examples(NamedTuple):
    """What a part teaches.

    Attributes:
        features: [n, f] float64, a row for each thing that was talked about before a question, in the order of `Features`.
        wanted: [n] bool, whether the question is about it.
        by_rules: [n] bool, whether `slots` takes it.
        turns: how many questions the rows are of.
    """

    features: np.ndarray
    wanted: np.ndarray
    by_rules: np.ndarray
    turns: int


class Measures(NamedTuple):
    """Of a choice of things, over all rows: precision, recall, and their mean that weighs recall double (F2)."""

    precision: float
    recall: float
    f2: float


class _Recorder(Slots):
    """The rules; keeps what they saw and chose."""

    seen: tuple[Asked, Choice, Sequence[Focus], Sequence[Turn]] | None = None

    def _choose(self, asked: Asked, foci: Sequence[Focus], history: Sequence[Turn]) -> Choice:
        choice = super()._choose(asked, foci, history)
        self.seen = asked, choice, foci, history
        return choice


def train_history(qu: TrainedHistory) -> Path:
    """Train on `annotated_train.json`, choose on `annotated_dev.json`, write a model folder for `qu_model`.

    An older model at the output is replaced when the new one is written.

    Args:
        qu: the module; `qu_training` (`annotated`, `output`), `qu_history.encoder` and the knowledge base are used.

    Returns:
        The folder: the model (`history.json`), a card (`README.md`) and a record (`training.json`).

    Raises:
        DataError: an annotated file is missing or has nothing to learn from.
        ModelError: the encoder cannot be loaded.
        OutputError: at the output is something else than a model that was trained here.
    """
    import numpy as np

    config, settings = qu.config, qu.config.qu_training
    output = output_of(config, "qu", settings)
    paths = {part: annotated_path(config, part, settings.annotated) for part in ("train", "dev")}
    conversations = {part: _read(path) for part, path in paths.items()}
    embedder, encoder = qu.load_encoder()
    reader, rules = FeatureReader(qu.kb, embedder, qu.language), _Recorder(config, qu.kb)
    train, dev = (read_examples(reader, rules, found, paths[part]) for part, found in conversations.items())
    l2, weights = min(
        ((l2, _fit(train, l2)) for l2 in _STRENGTHS), key=lambda one: _loss(_likely(one[1], dev.features), dev.wanted)
    )
    origin = Origin(sha256(paths["train"]), sha256(paths["dev"]), qu.kb.build_id, train.turns, l2)
    model = _model(train, weights, encoder, origin)
    # by the weights as they are written
    likely = {name: np.array(model.probabilities(part.features)) for name, part in (("train", train), ("dev", dev))}
    model = msgspec.structs.replace(model, threshold=best_threshold(likely["dev"], dev.wanted))
    rows = {}
    for name, part in (("train", train), ("dev", dev)):
        rows[f"{name}, model"] = measure(likely[name] >= model.threshold, part.wanted)
        rows[f"{name}, slots"] = measure(part.by_rules, part.wanted)
    with replacing(output) as temporary:
        temporary.mkdir()
        (temporary / FILE).write_bytes(weights_bytes(model))
        (temporary / "README.md").write_text(_card(model, rows, dev.turns), encoding="utf-8")
        record = {name: measures._asdict() for name, measures in rows.items()}
        (temporary / "training.json").write_bytes(msgspec.json.format(msgspec.json.encode(record)))
    qu.logger.info(
        "train qu: %s learned from %d turns; on the dev part precision %.1f %%, recall %.1f %% (slots: %.1f %%, %.1f %%); "
        "name it in qu_model",
        output, train.turns,
        *(100 * value for name in ("model", "slots") for value in rows[f"dev, {name}"][:2]),
    )  # fmt: skip
    return output


def read_examples(reader: FeatureReader, rules: _Recorder, conversations: Sequence[dict], path: Path) -> Examples:
    """The examples of annotated conversations, with the gold answers of earlier turns; `path` is for messages.

    Raises:
        DataError: `silver_mentions` are not of the format, or no turn has any that tells something of the history.
    """
    import numpy as np

    rows: list[Features] = []
    wanted: list[bool] = []
    by_rules: list[bool] = []
    turns = 0
    for conversation in conversations:
        history: list[Turn] = []
        for place, annotated in enumerate(conversation["questions"]):
            turn: Turn = {"turn": annotated.get("turn", place), "question": annotated["question"]}
            turn["answers"] = annotated.get("answers", [])
            rules.inference_on_turn(turn, history)
            where = f"{path}: conversation '{conversation['conv_id']}', turn {place}"
            mentions = _mentions(annotated, where)
            if mentions and rules.seen is not None:
                asked, choice, foci, past = rules.seen
                referents = reader.referents(asked, foci)
                about = {one["item"]["id"] for one in mentions if one["turn"] < turn["turn"]}
                taken = {one.id for one in (*choice.entities, *choice.context)}
                if referents:
                    rows += reader.read(asked, choice, foci, past)
                    wanted += [one.id in about for one in referents]
                    by_rules += [one.id in taken for one in referents]
                    turns += 1
            history.append(history_turn(turn, True))
    if not any(wanted) or all(wanted):
        raise DataError(
            f"{path}: its silver_mentions tell nothing of the history of any turn; there is nothing to learn from"
        )
    return Examples(np.array(rows, np.float64), np.array(wanted), np.array(by_rules), turns)


def best_threshold(likely: np.ndarray, wanted: np.ndarray) -> float:
    """The middle of the range of thresholds with the highest F2; of several ranges the one nearest to 0.5.

    Args:
        likely: [n] probabilities.
        wanted: [n] bool.
    """
    import numpy as np

    values = np.unique(likely)
    middles = np.round((np.r_[0.0, values] + np.r_[values, 1.0]) / 2, _DIGITS)
    return float(max(middles, key=lambda one: (measure(likely >= one, wanted).f2, -abs(one - 0.5))))


def measure(chosen: np.ndarray, wanted: np.ndarray) -> Measures:
    """Precision, recall and F2 of [n] choices for [n] wanted ones."""
    both = float((chosen & wanted).sum())
    precision, recall = both / max(1.0, float(chosen.sum())), both / max(1.0, float(wanted.sum()))
    square = _RECALL_WEIGHT**2
    f2 = (1 + square) * precision * recall / (square * precision + recall) if both else 0.0
    return Measures(precision, recall, f2)


def _read(path: Path) -> Sequence[dict]:
    if not path.is_file():
        raise DataError(f"{path}: no such file; run bash run.sh annotate, or name the folder in qu_training: annotated")
    return read_conversations(path)  # type: ignore[return-value]


def _mentions(turn: dict, where: str) -> list[SilverMention]:
    try:
        return msgspec.convert(turn.get("silver_mentions", []), list[SilverMention])
    except msgspec.ValidationError as error:
        raise DataError(f"{where}: silver_mentions: {error}; run bash run.sh annotate again") from None


def _standard(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (1 for what is always the same) of each feature, as they are written."""
    import numpy as np

    mean, scale = features.mean(axis=0).round(_DIGITS), features.std(axis=0).round(_DIGITS)
    return mean, np.where(scale > 0, scale, 1.0)


def _fit(examples: Examples, l2: float) -> np.ndarray:
    """[f + 1] weights of raw features and bias: a regularised logistic regression of standardised ones, by Newton's method."""
    import numpy as np

    mean, scale = _standard(examples.features)
    values = np.c_[(examples.features - mean) / scale, np.ones(len(examples.features))]
    penalty = np.full(values.shape[1], l2)
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
    raw = weights[:-1] / scale
    return np.r_[raw, weights[-1] - raw @ mean]


def _likely(weights: np.ndarray, features: np.ndarray) -> np.ndarray:
    """[n] probabilities of [n, f] features."""
    import numpy as np

    return 1 / (1 + np.exp(-(features @ weights[:-1] + weights[-1])))


def _loss(likely: np.ndarray, wanted: np.ndarray) -> float:
    import numpy as np

    return float(-np.log(np.clip(np.where(wanted, likely, 1 - likely), 1e-12, None)).mean())


def _model(train: Examples, weights: np.ndarray, encoder: str, origin: Origin) -> HistoryWeights:
    """The regression over standardised features, still with the threshold 0.5."""
    mean, scale = _standard(train.features)
    features = [
        FeatureWeight(name, float(m), float(s), round(float(w * s), _DIGITS))
        for name, m, s, w in zip(Features._fields, mean, scale, weights[:-1], strict=True)
    ]
    bias = round(float(weights[-1] + weights[:-1] @ mean), _DIGITS)
    return HistoryWeights(
        format=FORMAT, encoder=encoder, threshold=0.5, bias=bias, features=features, trained_with=origin
    )


def _card(model: HistoryWeights, rows: dict[str, Measures], dev_turns: int) -> str:
    table = "\n".join(
        f"| {name} | {one.precision:.3f} | {one.recall:.3f} | {one.f2:.3f} |" for name, one in rows.items()
    )
    weights = "\n".join(
        f"| {one.name} | {one.weight:+.3f} |" for one in sorted(model.features, key=lambda one: -abs(one.weight))
    )
    return f"""# What of the history a question is about

A logistic regression over {len(model.features)} features of a question and a thing that was talked about (`{FILE}`), for
`qu: history`. Trained by `convinse train qu` on {model.trained_with.turns} annotated turns; regularisation
({model.trained_with.l2:g}) and threshold ({model.threshold:.3f}) were chosen on {dev_turns} others.

| | precision | recall | F2 |
|---|---:|---:|---:|
{table}

Weights of the standardised features (the docstring of `question_understanding.history_features.Features` tells what they mean):

| feature | weight |
|---|---:|
{weights}
"""
