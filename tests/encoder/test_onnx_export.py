"""Exported models: they compute what PyTorch does, over the weights as they are stored."""

import json
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from model_heads import save_heads

from case_tables import slow_but
from convinse.encoder.checkpoint import load_checkpoint, quiet
from convinse.encoder.heads import AnswerTypeHead, YesNoHead
from convinse.encoder.onnx_export import export_model, write_graphs
from convinse.encoder.pool import ModelHead
from convinse.encoder.pooling import write_pooling
from convinse.support.checksums import sha256
from convinse.support.errors import DependencyError, ModelError
from places import SNAPSHOT
from refusals import refused
from tiny_models import copy_of, damage, joint_model, tiny, torch, transformers, word_pieces
from written import names, read_json

CLASSIFYING, READING, EMBEDDING = TASKS = ("sequence-classification", "question-answering", "embedding")
OUTPUTS = {CLASSIFYING: "relevance", READING: "spans", EMBEDDING: "embedding"}
PAIRS = [("who wrote the hobbit", "the hobbit was written by tolkien"), ("when", "1937 a b c d e f g h i"), ("a", "b")]
# of random models, whose numbers are large; trained ones give far better
ALIKE = 0.98


class Everything(ModelHead):
    """All that a model computes of the pairs, the first padded by the others."""

    def __init__(self, folder, task=EMBEDDING, **options):
        self.task = task
        super().__init__(folder, device="cpu", **options)

    def numbers(self, *outputs):
        sequences, places = self.tokenizer.pairs(PAIRS), np.arange(len(PAIRS))
        tokens = sequences.padded(places)[1] > 0
        arrays = self.engine.backend.start(sequences, places, outputs)()
        return [array[tokens] if name == "spans" else array for name, array in zip(outputs, arrays, strict=True)]


def check_alike(folder, reference, task, *outputs):
    """Check that both graphs of a folder compute what PyTorch does in another."""
    expected = Everything(reference, task, backend="torch").numbers(*outputs)
    fp32 = Everything(folder, task, backend="onnx", precision="fp32")
    assert fp32.engine.backend.outputs >= set(outputs)
    for computed, correct in zip(fp32.numbers(*outputs), expected, strict=True):
        np.testing.assert_allclose(computed, correct, rtol=1e-4, atol=1e-4)
    int8 = Everything(folder, task, backend="onnx", precision="int8")
    for computed, correct in zip(int8.numbers(*outputs), expected, strict=True):
        assert computed.shape == correct.shape and not np.array_equal(computed, correct)
        if correct.size > len(PAIRS):
            assert np.corrcoef(computed.ravel(), correct.ravel())[0, 1] > ALIKE


def calm(*arguments, **options):
    """A tiny model with weights small enough that the rounding of an input is not all that is seen at the end."""
    return tiny(*arguments, initializer_range=0.2, **options)


def stored_as(dtype):
    def halved(tensors):
        tensors |= {name: tensor.to(dtype) for name, tensor in tensors.items()}

    return lambda folder: damage(copy_of(calm(), folder), halved)


def in_shards(folder):
    copy_of(calm(), folder)
    (folder / "model.safetensors").unlink()
    with quiet():
        model = transformers.AutoModelForSequenceClassification.from_pretrained(calm())
        model.save_pretrained(folder, max_shard_size="20KB")
    return folder


def under_older_names(folder):
    def renamed(tensors):
        for name in [name for name in tensors if "LayerNorm" in name]:
            tensors[name.replace(".weight", ".gamma").replace(".bias", ".beta")] = tensors.pop(name)

    return damage(copy_of(calm(), folder), renamed)


def pooled(first):
    def make(folder):
        copy_of(calm("bert", EMBEDDING), folder)
        write_pooling(folder, 32, first)
        return folder

    return make


FAMILIES = ["bert", "roberta", "xlm-roberta", "distilbert", "electra", "mpnet", "deberta-v2"]
MODELS = {  # a model of a task by its folder
    **{
        f"{kind} {task}": (task, lambda folder, kind=kind, task=task: calm(kind, task))
        for kind, task in product(FAMILIES, TASKS)
    },
    "two logits": (CLASSIFYING, lambda folder: calm(labels=2)),
    "half precision": (CLASSIFYING, stored_as(torch.float16)),
    "bfloat16": (CLASSIFYING, stored_as(torch.bfloat16)),
    "shards": (CLASSIFYING, in_shards),
    "older names": (CLASSIFYING, under_older_names),
    "mean": (EMBEDDING, pooled(False)),
    "cls": (EMBEDDING, pooled(True)),
}


# each task, each family and each way of storing weights once; all of them with --all
TYPICAL = ["bert sequence-classification", "roberta question-answering", "mpnet embedding", "deberta-v2 sequence-classification",
           "two logits", "half precision", "shards", "older names", "cls"]  # fmt: skip


@pytest.mark.parametrize("name", slow_but(TYPICAL, MODELS))
def test_an_exported_model_computes_as_before_over_the_same_weights(name, tmp_path):
    task, make = MODELS[name]
    model, made = make(tmp_path / "model"), tmp_path / "made"
    manifest, difference, correlation = export_model(model, made)
    assert manifest.outputs == [OUTPUTS[task]] and difference <= 1e-4 and correlation > ALIKE
    assert ("token_type_ids" in manifest.inputs) == (name.split()[0] not in ("distilbert", "mpnet", "deberta-v2"))
    assert manifest.labels == (2 if name == "two logits" else 1) or task != CLASSIFYING
    assert manifest.pooling == {CLASSIFYING: None, READING: None}.get(task, "cls" if name == "cls" else "mean")
    assert (len([file for file in manifest.files if file.startswith("model-0")]) > 1) == (name == "shards")
    weights = {path.name: path.read_bytes() for path in model.glob("*.safetensors")}
    is_same = {path.name: path.read_bytes() for path in made.glob("*.safetensors")} == weights
    assert is_same != (name == "older names")  # these are saved anew
    check_alike(made, calm() if name in ("shards", "older names") else model, task, OUTPUTS[task])


def test_weights_under_older_names_need_another_folder(tmp_path):
    model = under_older_names(tmp_path / "model")
    refused(ModelError, lambda: write_graphs(model), "export it to another folder")
    assert "onnx.json" not in names(model)


# --- joint models

FILES = {"yes_no": YesNoHead, "answer_type": AnswerTypeHead}


@pytest.mark.parametrize("storage", slow_but(["int8"], ["float32", "float16", "int8"]))
@pytest.mark.parametrize(
    "heads", slow_but([(), ("yes_no", "answer_type")], [(), ("yes_no",), ("answer_type",), ("yes_no", "answer_type")])
)
def test_a_joint_model_is_exported_as_it_is_stored(storage, heads, tmp_path, monkeypatch):
    monkeypatch.setattr("convinse.encoder.joint.SMALLEST", 512)  # the matrices of a tiny model, too
    folder = copy_of(calm("bert", "joint"), tmp_path / "model")
    joint_model(calm("bert", "joint")).save_pretrained(folder, storage=storage)
    if heads:
        save_heads(folder, *(FILES[head] for head in heads), storage=storage)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    manifest, *_ = write_graphs(folder)
    outputs = (*OUTPUTS.values(), *heads)
    assert (manifest.task, tuple(manifest.outputs)) == ("joint", outputs)
    assert set(manifest.inputs[3:]) == {f"{head}_rows" for head in heads}
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert set(names(folder)) - set(before) == {"onnx.json", "model.onnx", "model_int8.onnx"}
    assert manifest.files == {name: sha256(folder / name) for name in manifest.files}
    assert {kind.file for head, kind in FILES.items() if head in heads} == {
        kind.file for kind in FILES.values() if kind.file in manifest.files
    }
    # in int8 the levels of the file are those of the graph; else the graph has its own
    import onnx

    graph = onnx.load(folder / "model_int8.onnx", load_external_data=False).graph
    levels = [tensor for tensor in graph.initializer if tensor.data_type == onnx.TensorProto.INT8 and tensor.raw_data]
    assert bool(levels) == (storage != "int8")
    check_alike(folder, folder, CLASSIFYING, *outputs)


def test_distances_are_exported(tmp_path):
    folder = copy_of(calm("bert", "joint", distances=8), tmp_path / "model")
    write_graphs(folder)
    check_alike(folder, folder, CLASSIFYING, *OUTPUTS.values())


@pytest.mark.parametrize("rows", slow_but([3], [0, 1, 3]))
@pytest.mark.parametrize("name", FILES)
def test_heads_compute_the_requested_rows(name, rows, tmp_path):
    import onnxruntime

    folder = save_heads(copy_of(calm("bert", "joint"), tmp_path / "model"), *FILES.values())
    write_graphs(folder)
    model = Everything(folder, backend="onnx", precision="fp32")
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    arrays = model.tokenizer.pairs(PAIRS).padded(np.arange(3))
    places = np.array([2, 0, 0][:rows], dtype=np.int64)
    inputs = dict(zip(("input_ids", "attention_mask", "token_type_ids"), arrays, strict=True))
    inputs |= {"yes_no_rows": places[:0], "answer_type_rows": places[:0], f"{name}_rows": places}
    of_rows, relevance = session.run([name, "relevance"], inputs)
    np.testing.assert_allclose(of_rows, model.numbers(name)[0][places], atol=1e-5)
    np.testing.assert_allclose(relevance, model.numbers("relevance")[0], atol=1e-5)


@pytest.mark.parametrize("task", slow_but([EMBEDDING], TASKS))
def test_a_model_of_the_hub_is_saved_whole(task, tmp_path, monkeypatch):
    model = copy_of(calm("bert", task), tmp_path / "model")
    if task == EMBEDDING:
        write_pooling(model, 32, first=True)

    def load(name, *arguments):
        at_hub = name == "org/it"
        checkpoint = load_checkpoint(model if at_hub else name, *arguments)
        return replace(checkpoint, folder=None) if at_hub else checkpoint

    monkeypatch.setattr("convinse.encoder.onnx_export.load_checkpoint", load)
    monkeypatch.setattr("convinse.encoder.onnx_export.hub_pooling", lambda _: model)
    manifest, *_ = export_model("org/it", tmp_path / "made", task)
    assert manifest.pooling == ("cls" if task == EMBEDDING else None)
    check_alike(tmp_path / "made", model, task, *manifest.outputs)


# --- models that are not exported


def fault(model, tmp_path, *words, error=ModelError):
    """Check the error of an export, which leaves nothing."""
    before = names(tmp_path)
    refused(error, lambda: export_model(model, tmp_path / "made"), *words)
    assert names(tmp_path) == before


def test_a_model_that_also_writes_and_one_of_three_outputs_are_refused(tmp_path):
    sizes = {"vocab_size": 300, "d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2}
    with quiet():
        transformers.T5ForConditionalGeneration(transformers.T5Config(**sizes)).save_pretrained(tmp_path / "model")
        word_pieces().save_pretrained(tmp_path / "model")
    fault(tmp_path / "model", tmp_path, "T5Model", "backend: torch")
    fault(calm(labels=3), tmp_path, str(calm(labels=3)), "has 3 outputs")


def test_graph_of_other_results_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("convinse.encoder.onnx_graph.of_head", lambda name, output, *_: output.logits[:, 0] * 1.01)
    fault(calm(), tmp_path, "BertForSequenceClassification", "off by", "backend: torch")


def test_coarse_int8_graph_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("convinse.encoder.onnx_graph.LEVELS", 1)
    manifest, *_ = export_model(calm(), tmp_path / "made")
    assert set(manifest.graphs) == {"fp32"} and "model_int8.onnx" not in (*names(tmp_path / "made"), *manifest.files)
    assert Everything(tmp_path / "made", CLASSIFYING).engine.precision == "fp32"


def test_without_the_package_one_line_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    fault(calm(), tmp_path, "onnx is missing", "[neural]'", error=DependencyError)


@pytest.mark.parametrize(("name", "most_bytes"), [("model", 33_000_000), ("reader", 71_000_000)])
def test_the_shipped_graphs_belong_to_the_shipped_weights(name, most_bytes):
    folder = SNAPSHOT / name
    manifest = json.loads((folder / "onnx.json").read_text())
    assert manifest["files"] == {name: sha256(folder / name) for name in manifest["files"]}
    assert sum(path.stat().st_size for path in folder.iterdir()) <= most_bytes


def test_a_model_with_checksums_is_exported_again(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    export_model(calm(), first)
    assert export_model(first, second)[0].files == read_json(first / "onnx.json")["files"]
    assert names(second) == names(first)
