"""ONNX Runtime as the backend of the embedded model, and folders that are not what they should be."""

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from case_tables import each_case
from convinse.config import Config, resolve
from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.exported import MANIFEST, is_exported, read_exported
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.onnx_backend import available_cores
from convinse.encoder.pool import ModelPool
from convinse.encoder.question_readers import YesNoReader
from convinse.encoder.reranker import BertReranker
from convinse.support import manifest as manifests
from convinse.support.checksums import sha256
from convinse.support.errors import ConfigError, DependencyError, ModelError
from patience import PATIENCE
from refusals import refused

QUERY = "Who directed the film Titanic?"
TEXTS = [
    "Titanic is a 1997 American film directed, written and produced by James Cameron.",
    "Titanic (1997 film), director, James Cameron",
    "The ship sank in 1912.",
    "Kate Winslet played Rose. " * 12,
    "Käse",
]
PAIRS = [(QUERY, text) for text in TEXTS]


@pytest.fixture(scope="module")
def model() -> Path:
    return resolve("snapshot:model")


@pytest.fixture
def copied(model, tmp_path) -> Path:
    """A model that a test may change, as one of an earlier version, without checksums of all files."""
    return Path(shutil.copytree(model, tmp_path / "model", ignore=shutil.ignore_patterns(manifests.MANIFEST)))


def change_manifest(folder, **changes):
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


# --- the embedded model


def test_all_heads_compute_with_one_session(model):
    pool = ModelPool()
    reranker, encoder = (kind(model, "cpu", models=pool) for kind in (BertReranker, BiEncoder))
    reader, yes_no = (kind(model, "cpu", models=pool) for kind in (ExtractiveReader, YesNoReader))
    assert reranker.engine is encoder.engine is reader.engine is yes_no.engine
    assert reranker.engine.precision == "int8" and reranker.engine.backend.identity.startswith("int8-")
    chances = reranker.predict(PAIRS)
    assert sorted(np.argsort(-chances)[:2].tolist()) == [0, 1]
    assert reader.read(QUERY, TEXTS, 1)[0].text == "James Cameron"
    assert encoder.embed(TEXTS).shape == (5, 384)
    assert yes_no.probabilities([("is titanic a film", TEXTS[0]), ("is titanic a film", " ")])[1] == 0.5
    exact = BertReranker(model, "cpu", precision="fp32").predict(PAIRS)
    assert 1e-6 < np.abs(exact - chances).max() < 0.05


def test_a_folder_with_graphs_needs_no_pytorch(model, run_python):
    code = (
        "import sys; from convinse.encoder.reranker import BertReranker\n"
        "print(BertReranker(sys.argv[1], 'cpu').predict([('who', 'a film')]).shape)\n"
        "print(sorted({'torch', 'transformers', 'safetensors'} & set(sys.modules)))\n"
    )
    assert run_python(code, model).splitlines() == ["(1,)", "[]"]


# --- folders


def fault(folder, *words, kind=BertReranker, **options):
    message = refused(ModelError, lambda: kind(folder, "cpu", key="evs_model", **options), *words)
    assert message.startswith(f"evs_model: {folder}: ")


@pytest.mark.parametrize("name", ["model_int8.onnx", "model.safetensors", "yes_no.safetensors"])
def test_damaged_and_missing_files_are_named(copied, name):
    path = copied / name
    content = path.read_bytes()
    for other in (content[:-100], b"\x00" * len(content)):
        path.write_bytes(other)
        fault(copied, f"{name} is damaged, or not the one that onnx.json was made for", "backend: torch")
    path.unlink()
    fault(copied, f"no {name} there, which onnx.json lists", "backend: torch")


def test_only_files_of_the_precision_are_needed(copied):
    (copied / "model.onnx").unlink()
    assert BertReranker(copied, "cpu").predict(PAIRS[:1]).shape == (1,)
    fault(copied, "no model.onnx there", precision="fp32")


def test_a_graph_or_tokenizer_that_cannot_be_read_is_named(copied):
    (copied / "model_int8.onnx").write_bytes(b"no graph at all")
    digests = read_exported(copied, "x").files | {"model_int8.onnx": sha256(copied / "model_int8.onnx")}
    change_manifest(copied, files=digests)
    reranker = BertReranker(copied, "cpu")  # the graph opens beside the caller
    refused(ModelError, lambda: reranker.predict(PAIRS), "model_int8.onnx cannot be loaded", "export the model again")
    (copied / "tokenizer.json").write_text("{}")
    refused(ModelError, lambda: BertReranker(copied, "cpu", precision="fp32"), "tokenizer.json cannot be read")


def test_a_pool_opens_the_models_of_a_configuration_ahead_and_leaves_errors_to_their_first_use(copied, model):
    pool = ModelPool()
    pool.open_ahead(Config(qu_rewriter="snapshot:model", evs_model=str(copied)))
    assert BiEncoder(model, "cpu", models=pool).engine is BertReranker(copied, "cpu", models=pool).engine
    (copied / "yes_no.safetensors").unlink()
    pool.open_ahead(Config(evs_model=str(copied)))
    refused(ModelError, lambda: BertReranker(copied, "cpu", models=pool), "no yes_no.safetensors there")


@each_case("faulty_models", "manifest")
def test_manifest_that_does_not_fit_is_refused(copied, case):
    change_manifest(copied, **case["manifest"])
    for models in (None, ModelPool()):
        fault(copied, case["words"], kind=ExtractiveReader, models=models)


def test_manifest_of_invalid_json_is_refused(copied):
    for content in (b"{\xff", b"[" * 5000):
        (copied / MANIFEST).write_bytes(content)
        fault(copied, "onnx.json cannot be read")


def test_a_folder_without_graphs_names_both_remedies(copied, tmp_path, monkeypatch):
    (copied / MANIFEST).unlink()
    assert not is_exported(copied)
    fault(copied, "has no ONNX files", "convinse export", "backend: torch", backend="onnx")
    fault(tmp_path / "none", "no such folder", backend="onnx")
    monkeypatch.setitem(sys.modules, "torch", None)
    refused(DependencyError, lambda: BertReranker(copied, "cpu"), "[neural]'", "convinse export")


def test_missing_precisions_and_devices_are_refused(model, copied):
    refused(ConfigError, lambda: BertReranker(model, "cpu", backend="onnx", precision="bf16"), "bf16 is for PyTorch")
    refused(ConfigError, lambda: BertReranker(model, "cuda:0", backend="onnx"), "has no CUDAExecutionProvider")
    change_manifest(copied, graphs={"fp32": "model.onnx"})
    assert BertReranker(copied, "cpu").engine.precision == "fp32"
    refused(ConfigError, lambda: BertReranker(copied, "cpu", precision="int8"), "has no int8 graph; it has fp32")


SEALED = ["config.json", "tokenizer.json", "tokenizer_config.json", MANIFEST, manifests.MANIFEST]


@pytest.mark.parametrize("name", SEALED)
def test_a_file_of_another_size_in_a_model_with_a_manifest_is_refused(model, tmp_path, name):
    folder = Path(shutil.copytree(model, tmp_path / "model"))
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data.replace(b"1", b"3", 1) if name == manifests.MANIFEST else data + b" ")
    loaders = [partial(BertReranker, folder)]
    if name != MANIFEST:  # which PyTorch does not read
        loaders.append(partial(load_checkpoint, folder, "sequence-classification"))
    for load in loaders:
        with pytest.raises(ModelError, match=rf"{name}: (altered|[0-9]+ bytes where)"):
            load()


# --- the machine


def test_only_cores_that_the_process_may_use_are_counted(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(12)), raising=False)
    assert available_cores() == 12
    for threads, expected in {"3": 3, "40": 12, "0": 1, "2,1": 12, "": 12}.items():
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert available_cores() == expected


@pytest.mark.parametrize("model", ["snapshot:model", "snapshot:reader"])
def test_two_products_of_levels_fit_into_16_bits(model):
    """In which a processor without VNNI adds them."""
    onnx = pytest.importorskip("onnx")
    graph = onnx.load(resolve(model) / "model_int8.onnx", load_external_data=False).graph
    share = next(onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer if tensor.name == "share")
    highest = round(1 / float(share)) + 1  # the place of 0 is rounded
    assert 2 * highest * 127 < 2**15


def test_onnx_runtime_reports_nothing(tmp_path):
    """What it would send is in files of its own below the home; `CI`, which silences it too, is taken away."""
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "ORT_DISABLE_TELEMETRY")}
    model = resolve("snapshot:model")
    program = f"from convinse.encoder.bi_encoder import BiEncoder; BiEncoder({str(model)!r}).embed(['x'])"
    subprocess.run([sys.executable, "-c", program], env=environment | home, check=True, timeout=PATIENCE)
    assert not list(tmp_path.rglob("*"))
