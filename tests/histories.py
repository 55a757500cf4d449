"""For tests of `qu: history`: an embedder without a model, and models whose weights are set by hand."""

import copy
import zlib

import numpy as np

from convinse.language.language import english
from convinse.question_understanding.history_features import ReferentFeatures
from convinse.question_understanding.history_weights import FORMAT, HistoryWeights, Origin
from convinse.support.weights import FeatureWeight
from convinse.turn_results import keep_understanding


class BagOfWords:
    """Texts are alike that have words in common; counts what it is asked."""

    def __init__(self):
        self.texts = []

    def embed(self, texts):
        self.texts += texts
        rows = np.full((len(texts), 512), 1e-3, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in english().words.stems(text):
                row[zlib.crc32(word.encode()) % 512] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def model(threshold=0.5, bias=-1.0, encoder="bag", **weights):
    """A model of raw features: those that are not named count for nothing."""
    assert set(weights) <= set(ReferentFeatures._fields)
    features = [FeatureWeight(name, 0.0, 1.0, float(weights.get(name, 0.0))) for name in ReferentFeatures._fields]
    origin = Origin("a" * 64, "b" * 64, "kb", 1, 1.0)
    return HistoryWeights(
        format=FORMAT, encoder=encoder, threshold=threshold, bias=bias, features=features, trained_with=origin
    )


def understood(module, turn, history):
    """The turn with what a module of question understanding made of it."""
    keep_understanding(module, turn, module.inference_on_turn(turn, history))
    return turn


def play(module, *turns):
    """The last turn of a conversation of (question, answers as (id, label)), and its slots."""
    history = []
    for number, (question, *answers) in enumerate(turns):
        turn = {"turn": number, "question": question}
        understood(module, turn, copy.deepcopy(history))
        history.append({**turn, "answers": [{"id": item, "label": label} for item, label in answers]})
    return history[-1], [slot.strip() for slot in history[-1]["structured_representation"].split("||")]
