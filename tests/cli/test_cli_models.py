"""`export` on the command line."""

import pytest

from convinse.encoder.exported import read_exported
from tiny_models import tiny
from written import names, write

MADE = {"config.json", "model.safetensors", "model.onnx", "model_int8.onnx", "onnx.json", "tokenizer.json"}


@pytest.mark.parametrize("words", [(), ("--to", "onnx"), ("--task", "embedding")])
def test_a_folder_is_written_and_described(words, command, workdir):
    printed = command("export", str(tiny(initializer_range=0.2)), "--output", "fast/model", *words)
    assert set(names("fast/model")) >= MADE and names() == ["fast"]
    (output,) = read_exported(workdir / "fast/model", "it").outputs
    assert output == ("embedding" if "embedding" in words else "relevance")
    for shown in (
        f"fast/model: {output}",
        "model.onnx",
        "model_int8.onnx",
        "model.safetensors",
        "MB",
        "e-0",
        "int8, least correlation with PyTorch",
    ):
        assert shown in printed, printed


@pytest.mark.parametrize("taken", ["made", "made/notes.txt"])
def test_what_is_there_is_not_replaced(taken, command_error, workdir):
    write(taken, "mine")
    before = names()
    assert "made: is there already" in command_error("export", str(tiny()), "--output", "made")
    assert names() == before and (workdir / taken).read_text() == "mine"


@pytest.mark.parametrize("model", ["./nothing", "a/b/c"])
def test_no_such_model(model, command_error, workdir):
    assert f"model: {model}: no such folder" in command_error("export", model, "--output", "made")
    assert names() == []


@pytest.mark.parametrize("words", [("--to", "torch"), ("--task", "translation")])
def test_other_formats_and_tasks_are_usage_errors(words, usage_error):
    assert words[1] in usage_error("export", "model", "--output", "made", *words)
