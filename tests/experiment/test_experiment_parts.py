import pytest

from convinse.config import parse_config
from convinse.experiment import read_part
from convinse.support.errors import DataError
from refusals import refused
from written import write


def conversation(name, **more):
    return {"conv_id": name, "questions": [{"question": "Who?", "answers": []}], **more}


@pytest.fixture
def config(workdir):
    return parse_config({"benchmark_path": str(workdir)})


@pytest.mark.parametrize("part", ["train", "dev", "test", "natural-third"])
def test_a_part_is_all_of_its_file(config, part):
    write(f"{part.replace('-', '_')}.json", [conversation("a", part="dev"), conversation("b")])
    assert [conv["conv_id"] for conv in read_part(config, part)] == ["a", "b"]


def test_the_natural_questions_are_in_three_parts(config):
    parts = [("a", "dev"), ("b", "measured"), ("c", "dev"), ("d", "fresh")]
    write("natural.json", [conversation(name, part=part) for name, part in parts])
    assert [conv["conv_id"] for conv in read_part(config, "natural-dev")] == ["a", "c"]
    assert [conv["conv_id"] for conv in read_part(config, "natural")] == ["b"]
    assert [conv["conv_id"] for conv in read_part(config, "natural-fresh")] == ["d"]


def test_a_natural_part_that_is_not_there_is_an_error(config):
    write("natural.json", [conversation("a", part="dev"), conversation("b")])
    refused(DataError, lambda: read_part(config, "natural"), "natural.json", '"part": "measured"')


@pytest.mark.parametrize(("part", "name"), [("dev", "dev"), ("natural-dev", "natural"), ("natural-fresh", "natural")])
def test_a_missing_file_is_named_with_its_keys(config, part, name):
    keys = "dev_input_path and benchmark_path" if part == "dev" else "benchmark_path"
    words = [f"{name}.json: no such file", f"check {keys}"]
    refused(DataError, lambda: read_part(config, part), *words)
