"""Both spellings of answers are read into the published one."""

import copy
import gzip
import json

import pytest
from hypothesis import given, settings
from multiqa_handmade import (
    SAMPLES,
    candidate,
    entries,
    entry,
    extractive,
    header,
    instance,
    open_ended,
    question,
    save,
    saved,
)

from convinse.formats.multiqa.answers import answers_of, candidates, is_answered, texts
from convinse.formats.multiqa.files import read_entries, read_header, write
from convinse.formats.multiqa.schema import faults
from convinse.formats.multiqa.spelling import respelled
from convinse.support.errors import DataError


def rewrite(path, target):
    write(target, read_header(path), read_entries(path))
    return target


def other_spelling(raw):
    """The same entry, type first and with the other name of the candidates."""
    found = json.loads(json.dumps(raw).replace('"annotators_answer_candidates"', '"answer_candidates"'))
    for item in found["qas"]:
        listed = item["answers"]["open-ended"]["answer_candidates"]
        for index, part in enumerate(listed):
            turned = listed[index] = {}
            for container, value in part.items():
                for types in value if isinstance(value, list) else [value]:
                    for kind, inner in types.items():
                        if isinstance(value, list):
                            turned.setdefault(kind, {}).setdefault(container, []).append(inner)
                        else:
                            turned.setdefault(kind, {})[container] = inner
    return found


ALL_TYPES = {
    "extractive": extractive(aliases=["the island"]),
    "yesno": "yes",
    "generated_text": "On an island.",
    "date": {"day": "23", "month": "April", "year": "1734"},
    "number": 8.4,
}


@pytest.mark.parametrize(
    "raw",
    [
        {"single_answer": ALL_TYPES},
        {"list": [{"number": 0}, {"number": 7}, {"number": 8.4}]},
        {"set": [{"generated_text": "first"}, {"generated_text": "second"}]},
        {"single_answer": {"yesno": "yes"}, "list": [{"extractive": extractive(name, [])} for name in ("a", "cold")]},
        {"list": [{"date": {"year": "1734"}}], "set": [{"date": "1996-01-01"}]},
    ],
)
def test_both_spellings_are_read_into_the_published_one(raw):
    first = entry(question(answers=open_ended(raw), supporting_context=[instance("Beyoncé", 0, (0, 0))]))
    turned = other_spelling(first)
    before = copy.deepcopy(turned)
    assert respelled(first) == respelled(turned) == first
    assert turned == before


def test_answers_of_several_types_are_texts():
    found = respelled(other_spelling(entry(question(answers=open_ended({"single_answer": ALL_TYPES})))))
    ((answer,),) = map(answers_of, candidates(found["qas"][0]))
    assert texts(answer) == ["Bear Island", "the island", "yes", "On an island.", "23 April 1734", "8.4"]
    several = {"number": {"list": [1, 2]}, "generated_text": {"list": ["x"]}}
    found = respelled(entry(question(answers={"open-ended": {"answer_candidates": [several]}})))
    assert [texts(answer) for answer in answers_of(candidates(found["qas"][0])[0])] == [["1"], ["2"], ["x"]]


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ({"correct_answer_index": 1}, "b"),
        ({"multi_correct_answer_indexes": [2, 0]}, "ca"),
        ({"correct_answer_index": 3}, ""),
    ],
)
def test_correct_choices_are_candidates(right, expected):
    choices = [candidate(generated_text=text) for text in "abc"]
    (item,) = respelled(entry(question(answers={"multi-choice": {"choices": choices, **right}})))["qas"]
    assert "".join(part["single_answer"]["generated_text"] for part in candidates(item)) == expected
    assert is_answered(item) == bool(expected)


@given(entries())
@settings(max_examples=60)
def test_reading_again_changes_nothing(raw):
    assert list(faults(raw, "entry")) == []
    found = respelled(raw)
    assert respelled(found) == found and list(faults(found, "entry")) == []


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("has_header", [True, False])
def test_file_of_any_layout_is_read(tmp_path, indent, has_header):
    contexts = [entry(), entry(question("q2"), id="c2")]
    path = (saved if has_header else save)(tmp_path / "a.jsonl", *contexts, indent=indent)
    assert read_header(path).get("dataset_name") == ("Hand" if has_header else None)
    assert list(read_entries(path)) == contexts


@pytest.mark.parametrize(
    ("documents", "fault"),
    [
        ([], ": holds no JSON document"),
        ([header(), header()], ":2: $: "),
        ([header(split=3)], ":1: $.header.split: 3 "),
        ([header(), entry(), entry(question() | {"question": 3})], ":3: $.qas[0].question: 3 "),
    ],
)
def test_a_fault_names_the_file_the_line_and_the_path(tmp_path, documents, fault):
    path = save(tmp_path / "a.jsonl", *documents)
    with pytest.raises(DataError) as caught:
        (read_header(path), *read_entries(path))
    assert str(caught.value).startswith(f"{path}{fault}")


def test_written_counts_are_true_and_the_header_is_kept(tmp_path):
    wrong = header(99, 99, number_of_qas_with_gold_answers=9, flavor=None)
    path = rewrite(save(tmp_path / "a.jsonl", wrong, entry(), entry(id=2)), tmp_path / "b.jsonl.gz")
    assert path.read_bytes() == rewrite(path, tmp_path / "c.jsonl.gz").read_bytes()
    lines = gzip.decompress(path.read_bytes()).splitlines()
    assert json.loads(lines[0]) == header(2, 2, number_of_qas_with_gold_answers=2, flavor=None) and len(lines) == 3


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the MultiQA samples are not there")
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*_sample.jsonl.gz")), ids=lambda path: path.name.split("_")[0])
def test_the_samples_lose_nothing_and_come_out_the_same_twice(tmp_path, path):
    first = rewrite(path, tmp_path / "a.jsonl")
    assert rewrite(first, tmp_path / "b.jsonl").read_bytes() == first.read_bytes()
    assert list(read_entries(first)) == list(read_entries(path))
