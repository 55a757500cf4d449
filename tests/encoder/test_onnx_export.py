"""Exported models: they compute what PyTorch does, over the weights as they are stored."""

import json
import shutil

import numpy as np
import pytest

from convinse.encoder.checkpoint import YES_NO, folder_id
from convinse.encoder.onnx_export import export_model, write_graphs
from convinse.encoder.pool import ModelHead
from convinse.encoder.yes_no_head import YesNoHead
from convinse.support.errors import ModelError
from convinse.support.files import sha256
from refusals import refused
from tiny_models import CHANGES, copy_of, damage, joint, tiny, torch
from written import names

TASKS = ("sequence-classification", "question-answering", "embedding")
PAIRS = [("who wrote the hobbit", "the hobbit was written by tolkien"), ("when", "1937 a b c d e f g h i"), ("a", "b")]
# of random models, whose numbers are large; trained ones give far better
ALIKE = 0.98


class Head(ModelHead):
    """Everything that a model computes of the pairs, the first padded by the others."""

    def __init__(self, folder, task="embedding", **options):
        self.task = task
        super().__init__(folder, device="cpu", **options)

    def numbers(self, *wanted):
        sequences, places = self.tokenizer.pairs(PAIRS), np.arange(len(PAIRS))
        kept = sequences.padded(places)[1] > 0
        arrays = self.engine.backend.start(sequences, places, wanted)()
        return [array[kept] if name == "spans" else array for name, array in zip(wanted, arrays, strict=True)]


def check_alike(folder, reference, task, *wanted):
    """That both graphs of a folder compute what PyTorch does in another."""
    expected = Head(reference, task, backend="torch").numbers(*wanted)
    fp32 = Head(folder, task, backend="onnx", precision="fp32")
    assert fp32.engine.backend.outputs >= set(wanted)
    for mine, own in zip(fp32.numbers(*wanted), expected, strict=True):
        np.testing.assert_allclose(mine, own, rtol=1e-4, atol=1e-4)
    int8 = Head(folder, task, backend="onnx", precision="int8")
    for mine, own in zip(int8.numbers(*wanted), expected, strict=True):
        assert mine.shape == own.shape and not np.array_equal(mine, own)
        if own.size > len(PAIRS):
            assert np.corrcoef(mine.ravel(), own.ravel())[0, 1] > ALIKE


def with_yes_no(folder, storage="int8"):
    torch.manual_seed(1)
    YesNoHead(32, 2, 1, 64).save(folder, storage)
    return folder


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "distilbert", "electra", "mpnet", "deberta-v2"])
@pytest.mark.parametrize(("task", "output"), list(zip(TASKS, ("relevance", "spans", "embedding"), strict=True)))
def test_families(kind, task, output, tmp_path):
    folder = tmp_path / "made"
    report = export_model(tiny(kind, task), folder)
    assert report.manifest.outputs == [output] and report.difference <= 1e-4 and report.correlation > ALIKE
    assert ("token_type_ids" in report.manifest.inputs) == (kind not in ("distilbert", "mpnet", "deberta-v2"))
    check_alike(folder, tiny(kind, task), task, output)


def test_two_logits(tmp_path):
    report = export_model(tiny(labels=2), tmp_path / "made")
    assert report.manifest.labels == 2
    check_alike(tmp_path / "made", tiny(labels=2), TASKS[0], "relevance")
