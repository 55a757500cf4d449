import json
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.encoder.exported import read_exported
from tiny_models import tiny
from written import names

MADE = {"config.json", "model.safetensors", "model.onnx", "model_int8.onnx", "onnx.json", "tokenizer.json"}


@pytest.mark.parametrize("words", [(), ("--to", "onnx"), ("--task", "embedding")])
def test_a_folder_is_written_and_described(words, command, workdir):
    printed = command("export", str(tiny(initializer_range=0.2)), "--output", "fast/model", *words)
    assert set(names("fast/model")) >= MADE and names() == ["fast"]
    (output,) = read_exported(workdir / "fast/model", "it").outputs
    assert output == ("embedding" if "embedding" in words else "relevance")
    files = ("model.onnx", "model_int8.onnx", "model.safetensors", "MB")
    for shown in (f"fast/model: {output}", *files, "e-0", "int8, least correlation with PyTorch"):
        assert shown in printed, printed


@pytest.mark.slow
def test_the_recipe_gets_the_given_options(capfd, workdir):
    """As a process: the script's own line shows that it has read the configuration and looked for the data."""
    pytest.importorskip("torch", reason="needs the extra neural")
    Path("mine.yml").write_text(json.dumps({"mixture": {"qed": 4}}))
    assert main(["train", "embedded", "--data", "none", "--output", "out", "--config", "mine.yml", "--quick"]) == 1
    (found,) = capfd.readouterr().err.splitlines()
    assert found.startswith("train embedded: none: no such folder; ") and "--data" in found
    assert names() == ["mine.yml"]
