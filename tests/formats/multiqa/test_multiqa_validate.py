"""Validation finds what the schemas refuse and what no schema can say, with its line and JSON path."""

import copy
import gzip
import json
from random import Random

import jsonschema_rs
import pytest
from multiqa_handmade import (
    SAMPLES,
    candidate,
    document,
    entry,
    extractive,
    header,
    instance,
    open_ended,
    question,
    save,
    saved,
)

from case_tables import cases, each_case
from convinse.formats.multiqa.schema import faults
from convinse.formats.multiqa.validate import validate
from convinse.support.jsonlines import read_documents

PUBLISHED = " (published schema)"


def problems(path, published=False):
    """Line and the rest of the problems of the published schema, or of all others."""
    found = [text.removeprefix(f"{path}:") for text in validate(path).problems]
    return [text for text in found if text.endswith(PUBLISHED) == published]


def changed(case):
    """A right context with the changes of a case."""
    first = case.get("candidate") or candidate(extractive=extractive(instances=[instance(**case.get("instance", {}))]))
    right = question(answers=case.get("answers", open_ended(first)))
    documents = case.get("documents") or [document() | case.get("document", {})]
    return entry(right | case.get("question", {}), documents=documents) | case.get("entry", {})


NO_QUESTIONS = {"id": "c", "context": {"documents": []}}
FAULTS = [(changed(case), case["at"], case["fault"]) for case in cases("multiqa", "fault")]


@pytest.mark.parametrize(
    ("raw", "path", "fault"),
    [*FAULTS, (NO_QUESTIONS, "$", '"qas" is a required property')],
    ids=lambda value: str(value)[:60],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_fault_is_named_with_its_line_path_and_reason(tmp_path, raw, path, fault, indent):
    good = entry(question("other"), id="good")
    first = header(2, 1 + len(raw.get("qas", [])))
    file = save(tmp_path / "a.jsonl", first, good, raw, indent=indent)
    lines = sum(json.dumps(value, indent=indent).count("\n") + 1 for value in (first, good))
    (problem,) = problems(file)
    assert problem.startswith(f"{lines + 1}: {path}: ") and fault in problem


def test_equal_qids_are_found_across_contexts(tmp_path):
    path = saved(tmp_path / "a.jsonl", entry(question("x")), entry(question("y"), question("x")))
    assert problems(path) == ["3: $.qas[1].qid: 'x' is also the qid of a question in line 2"]


@pytest.mark.parametrize(
    ("documents", "found"),
    [
        ([header(3, 1), entry()], ["1: $.header.number_of_contexts: 3, but the file holds 1"]),
        ([header(1, 7), entry()], ["1: $.header.number_of_qas: 7, but the file holds 1"]),
        (
            [header(number_of_qas_with_gold_answers=0), entry()],
            ["1: $.header.number_of_qas_with_gold_answers: 0, but the file holds 1"],
        ),
        ([entry()], ["1: $: the file does not begin with a header"]),
        ([header(), entry(), header()], ["3: $: a header that is not the first document"]),
        ([{"header": {"number_of_contexts": 0, "number_of_qas": 0}}], ['1: $.header: "dataset_name" is a required']),
        ([{"header": {**header(0, 0)["header"], "split": 1}}], ["1: $.header.split: 1 is not"]),
        ([], ["0: $: the file is empty"]),
    ],
)
def test_fault_of_the_header_is_named(tmp_path, documents, found):
    seen = problems(save(tmp_path / "a.jsonl", *documents))
    assert all(problem.startswith(start) for problem, start in zip(seen, found, strict=True))


def test_validation_goes_on_after_a_document_of_invalid_json(tmp_path):
    path = saved(tmp_path / "a.jsonl", entry(), entry(question("q1")))
    lines = path.read_text("utf-8").splitlines()
    path.write_text(
        "\n".join([lines[0].replace('"number_of_contexts": 2', '"number_of_contexts": 3'), '{"id": nul}', *lines[1:]])
    )
    found = problems(path)
    assert found[0].startswith("2: $: not valid JSON: ")
    assert found[1].startswith("4: $.qas[0].qid: 'q1' is also")
    assert found[2].startswith("1: $.header.number_of_contexts: 3, but")  # what cannot be read is not counted


@each_case("multiqa", "warning")
def test_difference_of_spelling_is_a_warning(tmp_path, case):
    report = validate(saved(tmp_path / "a.jsonl", changed(case)))
    (warning,) = report.warnings
    assert report.problems == [] and case["warning"] in warning


if SAMPLES.is_dir():
    SCHEMA = json.loads(gzip.decompress((SAMPLES / "multiqa_jsonschema.json.gz").read_bytes()))
    REAL = jsonschema_rs.Draft7Validator(SCHEMA, validate_formats=True)
EXPECTED = {"naturalquestions": 7}  # offsets in HTML that count bytes, and tokens spelled otherwise


def sample(path):
    return [value for _, value in read_documents(path)]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the MultiQA samples are not there")
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*_sample.jsonl.gz")), ids=lambda path: path.name.split("_")[0])
def test_published_samples_have_only_the_faults_that_are_counted(path):
    report = validate(path)
    of_schema = [text for text in report.problems if text.endswith(PUBLISHED)]
    others = [text for text in report.problems if not text.endswith(PUBLISHED)]
    assert len(others) == EXPECTED.get(path.name.split("_")[0], 0)
    assert all(".tokens.text[" in text or "the text of the instance at" in text for text in others)
    assert len(of_schema) == sum(1 for entry in sample(path)[1:] for _ in REAL.iter_errors(entry))


# the published schema --------------------------------------------------------------------------------------------------

ALL_KEYS = document(
    url="http://example.org/a", snippet="s", metadata={}, image={"url": "http://e.org", "caption": "c", "title": "t"},
    table=[[{"text": "a", "links": "https://example.org"}]],
)  # fmt: skip
ALL_TYPES = candidate(
    extractive=extractive(aliases=["x"]), yesno="yes", generated_text="g", date="1734-04-23", number=8.5
)
WHOLE = entry(
    question(answers={**open_ended(ALL_TYPES), "multi-choice": {}}, supporting_context=[], metadata=1),
    documents=[ALL_KEYS],
)


@each_case("multiqa", "published")
def test_fault_of_the_published_schema_is_a_problem(tmp_path, case):
    faults = problems(saved(tmp_path / "a.jsonl", changed(case)), published=True)
    assert any(case["published"] in text for text in faults), faults


def places(value, place=()):
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*place, key)
        yield from places(part, (*place, key))


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the published schema is not there")
def test_ours_accepts_and_refuses_what_the_published_schema_does():
    random = Random(1)
    texts = ("x", "x" * 201, "http://example.org", "ftp:/x y", "1734-04-23")
    values = (*texts, None, 1, 1.5, True, [], {}, [1], {"a": 1})
    names = ("new", "additionalProperties", "list", "set", "metadata", "answer_candidates", "date", "url")
    accepted = 0
    for _ in range(1500):
        raw = copy.deepcopy(WHOLE)
        for _ in range(random.randint(1, 2)):
            *path, key = random.choice(list(places(raw)))
            inside = raw
            for name in path:
                inside = inside[name]
            if (chance := random.random()) < 0.3:
                del inside[key]
            elif chance < 0.7 or isinstance(inside, list):
                inside[key] = copy.deepcopy(random.choice(values))
            else:
                inside[random.choice(names)] = copy.deepcopy(random.choice(values))
        expected = sorted(error.kind.name for error in REAL.iter_errors(raw))
        found = sorted(fault.rule for fault in faults(raw, "published"))
        assert bool(expected) == bool(found), raw
        accepted += not found
    assert 100 < accepted < 1400
