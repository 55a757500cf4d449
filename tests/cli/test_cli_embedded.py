"""`train embedded` on the command line: what it needs, what it passes on, and options that belong elsewhere."""

import json
from pathlib import Path

import pytest

from convinse.cli import main


def line(capsys):
    """The one line of an error that the command itself has found."""
    (found,) = capsys.readouterr().err.splitlines()
    assert found.startswith("convinse: ")
    return found.removeprefix("convinse: ")


@pytest.mark.parametrize("given", [[], ["--data", "data"], ["--output", "out"], ["--quick", "--base", "model"]])
def test_data_and_output_are_needed(capsys, workdir, given):
    assert main(["train", "embedded", *given]) == 1
    found = line(capsys)
    assert "train embedded needs" in found and "--data DIR" in found and "--output FOLDER" in found
    assert list(workdir.iterdir()) == []


@pytest.mark.parametrize("words", [["kb_text"], ["my.yml"], ["kb", "my.yml"]])
def test_sources_and_configurations_are_no_words_of_it(capsys, words):
    assert main(["train", "embedded", *words, "--data", "data", "--output", "out"]) == 1
    found = line(capsys)
    assert f"'{words[0]}'" in found and "--config FILE" in found


@pytest.mark.parametrize(
    "option",
    [["--index", "i"], ["--questions", "q"], ["--epochs", "2"], ["--minutes", "3"], ["--seed", "1"], ["--bi-encoder"]],
)
def test_options_of_the_retriever_are_refused(capsys, option):
    assert main(["train", "embedded", "--data", "data", "--output", "out", *option]) == 1
    assert line(capsys) == f"{option[0]} belongs to train retriever"


@pytest.mark.parametrize("option", [["--work", "w"], ["--quick"]])
@pytest.mark.parametrize("stage", ["reader", "retriever"])
def test_its_options_are_refused_by_other_trainings(capsys, option, stage):
    assert main(["train", stage, "--base", "model", "--output", "out", *option]) == 1
    assert line(capsys) == f"{option[0]} belongs to train embedded"


@pytest.mark.parametrize("option", [["--work", "w"], ["--quick"]])
@pytest.mark.parametrize("stage", ["qu", "ers", "ha", "all"])
def test_its_options_are_refused_by_the_stages(capsys, option, stage):
    assert main(["train", stage, "kb", *option]) == 1
    found = line(capsys)
    assert found.startswith(f"{option[0]} belongs to train embedded") and f"train {stage} kb_text my.yml" in found


RECIPE = {"stages": [{"mixture": {"qed": 4}}] * 2}


def test_the_recipe_gets_what_is_given(capfd, workdir):
    """As a process: the script's own line shows that it has read the configuration and looked for the data."""
    pytest.importorskip("torch", reason="needs the extra neural")
    Path("mine.yml").write_text(json.dumps({**RECIPE, "batchsize": 3}))
    assert main(["train", "embedded", "--data", "none", "--output", "out", "--config", "mine.yml"]) == 1
    assert capfd.readouterr().err.splitlines() == [
        "train embedded: mine.yml: unknown key 'batchsize'; did you mean 'batch_size'?"
    ]
    Path("mine.yml").write_text(json.dumps(RECIPE))
    assert main(["train", "embedded", "--data", "none", "--output", "out", "--config", "mine.yml", "--quick"]) == 1
    (found,) = capfd.readouterr().err.splitlines()
    assert found.startswith("train embedded: none: no such folder; ") and "--data" in found
    assert [path.name for path in workdir.iterdir()] == ["mine.yml"]
