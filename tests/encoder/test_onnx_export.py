"""Exported models: they compute what PyTorch does, over the weights as they are stored."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from convinse.encoder.answer_classes import AnswerClasses
from convinse.encoder.checkpoint import ANSWER_TYPE, YES_NO, load_checkpoint, quiet
from convinse.encoder.heads import AnswerTypeHead, YesNoHead
from convinse.encoder.onnx_export import export_model, write_graphs
from convinse.encoder.pool import ModelHead
from convinse.encoder.pooling import write_pooling
from convinse.support.checksums import sha256
from convinse.support.errors import DependencyError, ModelError
from places import SNAPSHOT
from refusals import refused
from tiny_models import CHANGES, copy_of, damage, joint_model, tiny, torch, transformers, word_pieces
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


def with_heads(folder, *heads, storage="int8"):
    """A model folder with some of the heads that have files of their own."""
    torch.manual_seed(1)
    if "yes_no" in heads:
        YesNoHead(32, 2, 1, 64).save(folder, storage)
    if "answer_type" in heads:
        names = {"Q5": "human", "date": "date", "number": "number"}
        AnswerTypeHead(32, 2, AnswerClasses(names, {}, {}), 2, 32).save(folder, storage)
    return folder


def calm(*arguments, **options):
    """A tiny model with weights small enough that the rounding of an input is not all that is seen at the end."""
    return tiny(*arguments, initializer_range=0.2, **options)


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "distilbert", "electra", "mpnet", "deberta-v2"])
@pytest.mark.parametrize(("task", "output"), list(zip(TASKS, ("relevance", "spans", "embedding"), strict=True)))
def test_families(kind, task, output, tmp_path):
    folder = tmp_path / "made"
    report = export_model(calm(kind, task), folder)
    assert report.manifest.outputs == [output] and report.difference <= 1e-4 and report.correlation > ALIKE
    assert ("token_type_ids" in report.manifest.inputs) == (kind not in ("distilbert", "mpnet", "deberta-v2"))
    weights = {path.name: path.read_bytes() for path in calm(kind, task).glob("*.safetensors")}
    assert {path.name: path.read_bytes() for path in folder.glob("*.safetensors")} == weights
    check_alike(folder, calm(kind, task), task, output)


def test_two_logits(tmp_path):
    report = export_model(calm(labels=2), tmp_path / "made")
    assert report.manifest.labels == 2
    check_alike(tmp_path / "made", calm(labels=2), TASKS[0], "relevance")


@pytest.mark.parametrize("storage", ["float32", "float16", "int8"])
@pytest.mark.parametrize("heads", [(), ("yes_no",), ("answer_type",), ("yes_no", "answer_type")])
def test_a_joint_model_as_it_is_stored(storage, heads, tmp_path, monkeypatch):
    monkeypatch.setattr("convinse.encoder.joint.SMALLEST", 512)  # the matrices of a tiny model, too
    folder = copy_of(calm("bert", "joint"), tmp_path / "model")
    joint_model(calm("bert", "joint")).save_pretrained(folder, storage=storage)
    with_heads(folder, *heads, storage=storage)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    report = write_graphs(folder)
    assert report.manifest.task == "joint"
    assert set(report.manifest.inputs[3:]) == {f"{head}_rows" for head in heads}
    outputs = ("relevance", "spans", "embedding", *heads)
    assert tuple(report.manifest.outputs) == outputs
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert set(names(folder)) - set(before) == {"onnx.json", "model.onnx", "model_int8.onnx"}
    assert report.manifest.files == {name: sha256(folder / name) for name in report.manifest.files}
    files = {"yes_no": YES_NO, "answer_type": ANSWER_TYPE}
    assert {file for head, file in files.items() if head in heads} == set(files.values()) & set(report.manifest.files)
    # in int8 the levels of the file are those of the graph; else the graph has its own
    import onnx

    graph = onnx.load(folder / "model_int8.onnx", load_external_data=False).graph
    own = [tensor.name for tensor in graph.initializer if tensor.data_type == onnx.TensorProto.INT8 and tensor.raw_data]
    assert bool(own) == (storage != "int8")
    check_alike(folder, folder, TASKS[0], *outputs)


def test_distances_are_exported(tmp_path):
    folder = copy_of(calm("bert", "joint", distances=8), tmp_path / "model")
    write_graphs(folder)
    check_alike(folder, folder, TASKS[0], "relevance", "spans", "embedding")


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("name", ["yes_no", "answer_type"])
def test_heads_of_the_rows_that_ask(name, rows, tmp_path):
    import onnxruntime

    folder = with_heads(copy_of(calm("bert", "joint"), tmp_path / "model"), "yes_no", "answer_type")
    write_graphs(folder)
    head = Head(folder, backend="onnx", precision="fp32")
    everything = head.numbers(name)[0]
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    arrays = head.tokenizer.pairs(PAIRS).padded(np.arange(3))
    asked = np.array([2, 0, 0][:rows], dtype=np.int64)
    inputs = dict(zip(("input_ids", "attention_mask", "token_type_ids"), arrays, strict=True))
    inputs |= {"yes_no_rows": asked[:0], "answer_type_rows": asked[:0], f"{name}_rows": asked}
    of_rows, relevance = session.run([name, "relevance"], inputs)
    np.testing.assert_allclose(of_rows, everything[asked], atol=1e-5)
    np.testing.assert_allclose(relevance, head.numbers("relevance")[0], atol=1e-5)


def test_in_int8_a_score_does_not_depend_on_its_batch(tmp_path):
    export_model(calm(), tmp_path / "made")
    head = Head(tmp_path / "made", TASKS[0], backend="onnx", precision="int8")
    sequences = head.tokenizer.pairs(PAIRS)
    alone = [head.engine.backend.start(sequences, np.array([place]), ["relevance"])()[0][0] for place in range(3)]
    np.testing.assert_allclose(head.numbers("relevance")[0], alone, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_weights_stay_where_they_are(dtype, tmp_path):
    def halved(tensors):
        tensors |= {name: tensor.to(dtype) for name, tensor in tensors.items()}

    model = damage(copy_of(calm(), tmp_path / "model"), halved)
    export_model(model, tmp_path / "made")
    assert (tmp_path / "made/model.safetensors").read_bytes() == (model / "model.safetensors").read_bytes()
    check_alike(tmp_path / "made", model, TASKS[0], "relevance")


def test_shards(tmp_path):
    model = copy_of(calm(), tmp_path / "model")
    (model / "model.safetensors").unlink()
    with quiet():
        whole = transformers.AutoModelForSequenceClassification.from_pretrained(calm())
        whole.save_pretrained(model, max_shard_size="20KB")
    report = export_model(model, tmp_path / "made")
    assert len([name for name in report.manifest.files if name.startswith("model-0")]) > 1
    check_alike(tmp_path / "made", calm(), TASKS[0], "relevance")


def test_weights_under_older_names_are_saved_anew(tmp_path):
    def renamed(tensors):
        for name in [name for name in tensors if "LayerNorm" in name]:
            tensors[name.replace(".weight", ".gamma").replace(".bias", ".beta")] = tensors.pop(name)

    model = damage(copy_of(calm(), tmp_path / "model"), renamed)
    assert "export it to another folder" in refused(ModelError, lambda: write_graphs(model))
    assert "onnx.json" not in names(model)
    export_model(model, tmp_path / "made")
    check_alike(tmp_path / "made", calm(), TASKS[0], "relevance")


@pytest.mark.parametrize("first", [False, True])
def test_pooling(first, tmp_path):
    model = copy_of(calm("bert", "embedding"), tmp_path / "model")
    write_pooling(model, 32, first)
    report = export_model(model, tmp_path / "made")
    assert report.manifest.pooling == ("cls" if first else "mean")
    check_alike(tmp_path / "made", model, "embedding", "embedding")


@pytest.mark.parametrize("task", TASKS)
def test_a_model_of_the_hub_is_saved_whole(task, tmp_path, monkeypatch):
    model = copy_of(calm("bert", task), tmp_path / "model")
    if task == "embedding":
        write_pooling(model, 32, first=True)

    def load(name, *arguments):
        at_hub = name == "org/it"
        checkpoint = load_checkpoint(model if at_hub else name, *arguments)
        return replace(checkpoint, folder=None) if at_hub else checkpoint

    monkeypatch.setattr("convinse.encoder.onnx_export.load_checkpoint", load)
    monkeypatch.setattr("convinse.encoder.onnx_export.hub_pooling", lambda _: model)
    report = export_model("org/it", tmp_path / "made", task)
    assert report.manifest.pooling == ("cls" if task == "embedding" else None)
    check_alike(tmp_path / "made", model, task, *report.manifest.outputs)


def test_a_model_that_also_writes_is_one_line(tmp_path):
    model = transformers.T5ForConditionalGeneration(
        transformers.T5Config(vocab_size=300, d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2)
    )
    with quiet():
        model.save_pretrained(tmp_path / "model")
        word_pieces().save_pretrained(tmp_path / "model")
    refused(ModelError, lambda: export_model(tmp_path / "model", tmp_path / "made"), "T5Model", "backend: torch")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_damaged_weights(change, tmp_path):
    model = copy_of(calm(), tmp_path / "model")
    (model / "model.safetensors").write_bytes(change((model / "model.safetensors").read_bytes()))
    refused(ModelError, lambda: export_model(model, tmp_path / "made"), str(model), "cannot be loaded")
    assert names(tmp_path) == names(model.parent) and not (tmp_path / "made").exists()


@pytest.mark.parametrize(("labels", "message"), [(3, "has 3 outputs")])
def test_heads_that_nobody_can_use(labels, message, tmp_path):
    refused(ModelError, lambda: export_model(calm(labels=labels), tmp_path / "made"), str(calm(labels=labels)), message)
    assert names(tmp_path) == []


def test_what_computes_something_else_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("convinse.encoder.onnx_graph.of_head", lambda name, output, *_: output.logits[:, 0] * 1.01)
    refused(ModelError, lambda: export_model(calm(), tmp_path / "made"), "BertForSequenceClassification", "off by", "backend: torch")  # fmt: skip
    assert names(tmp_path) == []


def test_a_coarse_int8_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("convinse.encoder.onnx_graph.LEVELS", 1)
    report = export_model(calm(), tmp_path / "made")
    assert set(report.manifest.graphs) == {"fp32"} and not (tmp_path / "made/model_int8.onnx").exists()
    assert "model_int8.onnx" not in report.manifest.files
    assert Head(tmp_path / "made", TASKS[0]).engine.precision == "fp32"


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    refused(
        DependencyError,
        lambda: export_model(calm(), tmp_path / "made"),
        "onnx is missing",
        "pip install 'convinse[neural]'",
    )
    assert names(tmp_path) == []


def test_the_shipped_graphs_are_those_of_the_shipped_weights():
    folder = SNAPSHOT / "model"
    manifest = json.loads((folder / "onnx.json").read_text())
    assert manifest["files"] == {name: sha256(folder / name) for name in manifest["files"]}
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 33_000_000
