"""`train embedded` on the command line: what it needs, what it passes on, and options that belong elsewhere."""

import json
from pathlib import Path

import pytest

from convinse.cli import main
from written import names

GIVEN = ("--data", "data", "--output", "out")


@pytest.mark.parametrize("given", [[], GIVEN[:2], GIVEN[2:], ["--quick", "--base", "model"]])
def test_data_and_output_are_needed(command_error, given):
    found = command_error("train", "embedded", *given)
    assert "train embedded needs" in found and "--data DIR" in found and "--output FOLDER" in found
    assert names() == []


@pytest.mark.parametrize("words", [["kb_text"], ["my.yml"], ["kb", "my.yml"]])
def test_sources_and_configurations_are_no_words_of_it(command_error, words):
    found = command_error("train", "embedded", *words, *GIVEN)
    assert f"'{words[0]}'" in found and "--config FILE" in found


@pytest.mark.parametrize("option", ["--index", "--questions", "--epochs", "--minutes", "--seed", "--bi-encoder"])
def test_options_of_the_retriever_are_refused(command_error, option):
    value = () if option == "--bi-encoder" else ("1",)
    assert command_error("train", "embedded", *GIVEN, option, *value) == f"{option} belongs to train retriever"


RECIPE = {"stages": [{"mixture": {"qed": 4}}] * 2}


def test_the_recipe_gets_what_is_given(capfd, workdir):
    """As a process: the script's own line shows that it has read the configuration and looked for the data."""
    pytest.importorskip("torch", reason="needs the extra neural")
    Path("mine.yml").write_text(json.dumps(RECIPE))
    assert main(["train", "embedded", "--data", "none", "--output", "out", "--config", "mine.yml", "--quick"]) == 1
    (found,) = capfd.readouterr().err.splitlines()
    assert found.startswith("train embedded: none: no such folder; ") and "--data" in found
    assert names() == ["mine.yml"]
