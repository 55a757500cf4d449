"""A joint model with all of its heads, and what each head computes of pairs: what the tests of all heads share."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import numpy as np
import pytest

from convinse.encoder.answer_classes import DATE, OTHER, AnswerClasses
from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.heads import AnswerTypeHead, RewriteHead, YesNoHead
from convinse.encoder.onnx_export import write_graphs
from convinse.encoder.question_readers import AnswerTypeReader, QuestionRewriter, YesNoReader
from convinse.encoder.reranker import BertReranker
from tiny_models import copy_of, joint, joint_model, models_folder, torch

PAIRS = [
    ("who wrote the hobbit", "the hobbit was written by tolkien"),
    ("was it a film", "the song of the year " * 90),
    ("", "a novel"),
    ("when was the song of the year", "1937 a b c d e f"),
    ("who wrote it", "город Толстой"),
]
CLASSES = {"Q5": "human", DATE: DATE, OTHER: OTHER}


def classes(**settings):
    return AnswerClasses(dict(CLASSES), {name: name for name in CLASSES}, settings)


MAKE = {  # the heads that have files of their own, on a layer
    YesNoHead: lambda layer=1: YesNoHead(32, 2, layer, 64),
    AnswerTypeHead: lambda layer=1: AnswerTypeHead(32, layer, classes(), 4, 256),
    RewriteHead: lambda layer=1: RewriteHead(joint_model(joint()).config, layer, 1),
}


def save_heads(folder, *kinds, seed=1, storage="float32"):
    torch.manual_seed(seed)
    for kind in kinds or MAKE:
        MAKE[kind]().save(folder, storage)
    return folder


@cache
def whole():
    """The folder of a joint model with all heads; not to be written to."""
    folder = Path(mkdtemp(dir=models_folder())) / "model"
    return save_heads(copy_of(joint(initializer_range=0.2), folder))


@cache
def exported():
    """The same with ONNX graphs; not to be written to."""
    folder = copy_of(whole(), Path(mkdtemp(dir=models_folder())) / "model")
    write_graphs(folder)
    return folder


def best_spans(reader, pairs):
    spans = reader.read_all([question for question, _ in pairs], [[text] for _, text in pairs], top_k=1)
    return [(span.score, span.no_answer, span.start, span.end) for (span,) in spans]


def pointers(rewriter, pairs):
    found = rewriter.pointers([question for question, _ in pairs], [text for _, text in pairs])
    return [[0.0] * 3 if one is None else [one.starts.max(), one.ends.min(), one.replaced.std()] for one in found]


class Head(NamedTuple):
    """kind: the class; compute: [n, ...] of an object and pairs; tolerance: of floats that are the same but for rounding."""

    kind: type
    compute: object
    tolerance: float = 1e-5

    def make(self, folder=None, **options):
        return self.kind(folder or whole(), "cpu", **options)

    def of(self, model, pairs=PAIRS):
        return np.array(self.compute(model, pairs))


HEADS = {
    "reranker": Head(BertReranker, lambda model, pairs: model.predict(pairs, logits=True)),
    "bi_encoder": Head(BiEncoder, lambda model, pairs: model.embed([text for _, text in pairs])),
    "reader": Head(ExtractiveReader, best_spans, 1e-4),
    "yes_no": Head(YesNoReader, lambda model, pairs: model.probabilities(pairs)),
    "answer_type": Head(AnswerTypeReader, lambda model, pairs: model.probabilities([query for query, _ in pairs])),
    "rewriter": Head(QuestionRewriter, pointers),
}


def each_head(*names):
    return pytest.mark.parametrize("head", [HEADS[name] for name in names or HEADS], ids=names or HEADS)
