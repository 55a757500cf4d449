"""Validation finds what the schemas refuse and what no schema can say, with its line and JSON path."""

import copy
import gzip
import json
from random import Random

import jsonschema_rs
import pytest
from multiqa_handmade import (
    SAMPLES,
    TEXT,
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
    tokens,
)

from convinse.formats.multiqa.schema import faults
from convinse.formats.multiqa.validate import validate
from convinse.support.jsonlines import read_documents

PUBLISHED = " (published schema)"


def problems(path, published=False):
    """Line and the rest of the problems of the published schema, or of all others."""
    found = [text.removeprefix(f"{path}:") for text in validate(path).problems]
    return [text for text in found if text.endswith(PUBLISHED) == published]


OPEN = "$.qas[0].answers.open-ended.annotators_answer_candidates[0]"
PLACE = f"{OPEN}.single_answer.extractive.instances[0]"


def with_instance(**changes):
    return entry(question(answers=open_ended(candidate(extractive=extractive(instances=[{**instance(), **changes}])))))


def with_answers(answers):
    return entry(question(answers=answers))


def with_choice(**keys):
    return with_answers({"multi-choice": {"choices": [candidate(yesno="no")], **keys}})


def with_document(**keys):
    return entry(documents=[document(**keys)])


def with_sentences(*starts):
    return with_document(metadata={"text": {"sentence_start_bytes": list(starts)}})


DOCUMENT, CHOICE = "$.context.documents[0]", "$.qas[0].answers.multi-choice"
WRONG_SUPPORT = entry(question(supporting_context=[instance("Beyoncé", 1, (0, 0))]))
WRONG_TOKENS = {"text": [*tokens(TEXT)[:-1], ["x", 70]]}


@pytest.mark.parametrize(
    ("raw", "path", "reason"),
    [
        # the schema
        ({"id": "c", "context": {"documents": []}}, "$", '"qas" is a required property'),
        (entry(question(answers={}), documents=[{"text": 3}]), "$.context.documents[0].text", "3 is not of type"),
        (entry(question(answers={}), documents=[{}]), "$.context.documents[0]", "less than 1 property"),
        (entry(question(qid=1)), "$.qas[0].qid", "1 is not of type"),
        (entry(question(question_tokens=[["a"]])), "$.qas[0].question_tokens[0]", "2 items"),
        (with_answers(open_ended({"single_answer": {"yesno": "perhaps"}})), f"{OPEN}.single_answer.yesno", "perhaps"),
        (with_answers(open_ended({"yesno": {"list": ["perhaps"]}})), f"{OPEN}.yesno.list[0]", "perhaps"),
        (with_answers(open_ended({"single_answer": {"number": "8"}})), f"{OPEN}.single_answer.number", '"8"'),
        (with_answers(open_ended({"list": {"number": 8}})), f"{OPEN}.list", "array"),
        (with_answers({"open-ended": {"cannot_answer": True}}), "$.qas[0].answers.open-ended.cannot_answer", "true"),
        (with_instance(start_byte=-1), f"{PLACE}.start_byte", "minimum"),
        (with_instance(token_inds=[1]), f"{PLACE}.token_inds", "2 items"),
        # the cross-checks
        (with_instance(doc_id=1), f"{PLACE}.doc_id", "1 is no document: the context has 1"),
        (with_instance(part="snippet"), f"{PLACE}.part", "document 0 has no text 'snippet'"),
        (with_instance(start_byte=18), f"{PLACE}.start_byte", "'Bear Island' is not at 18: 'ar Island i' is"),
        (with_instance(start_byte=500), f"{PLACE}.start_byte", "500 is outside of the text (72 characters)"),
        (
            with_instance(start_byte=17),
            f"{PLACE}.start_byte",
            "17 counts UTF-8 bytes; offsets of the format count characters, which gives 16",
        ),
        (with_instance(token_inds=[3, 99]), PLACE, "tokens 3 to 99 are not among the 18"),
        (with_instance(token_inds=[4, 3]), PLACE, "tokens 4 to 3 are not among the 18"),
        (with_instance(token_inds=[2, 4]), PLACE, "token 2 ('on') begins at 13, not at start_byte 16"),
        (with_instance(token_inds=[3, 5]), PLACE, "token 5 ('in') ends at 30, the text of the instance at 27"),
        (WRONG_SUPPORT, "$.qas[0].supporting_context[0].start_byte", "'Beyoncé' is not at 1"),
        (with_document(tokens=WRONG_TOKENS), f"{DOCUMENT}.tokens.text[17]", "'x' is not at offset 70: 't' is"),
        (with_document(tokens={"snippet": []}), f"{DOCUMENT}.tokens.snippet", "which the document does not have"),
        (entry(question(question_tokens=[["Where", 1]])), "$.qas[0].question_tokens[0]", "'Where' is not at offset 1"),
        (with_sentences(9, 3), f"{DOCUMENT}.metadata.text.sentence_start_bytes", "have to rise"),
        (with_sentences(0, 73), f"{DOCUMENT}.metadata.text.sentence_start_bytes", "within the 72 characters"),
        (with_choice(correct_answer_index=1), f"{CHOICE}.correct_answer_index", "1 is no choice: there are 1"),
        (
            with_choice(multi_correct_answer_indexes=[0, 4]),
            f"{CHOICE}.multi_correct_answer_indexes[1]",
            "4 is no choice",
        ),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_planted_fault_is_found_with_line_path_and_reason(tmp_path, raw, path, reason, indent):
    good = entry(question("other"), id="good")
    count = 1 + len(raw.get("qas", []))
    file = save(tmp_path / "a.jsonl", header(2, count), good, raw, indent=indent)
    lines = [json.dumps(value, ensure_ascii=False, indent=indent).count("\n") + 1 for value in (header(2, count), good)]
    found = problems(file)
    assert len(found) == 1, found
    assert found[0].startswith(f"{sum(lines) + 1}: {path}: ")
    assert reason in found[0]


def test_the_path_of_a_cross_check_is_the_one_in_the_file_whatever_the_dialect(tmp_path):
    place = {"doc_ind": 4, "part": "text", "start_byte": 0, "text": "x", "start_end_tokens": [0, 0]}
    found = {"extractive": {"list": [extractive(instances=[place])]}}
    raw = with_answers({"open-ended": {"answer_candidates": [found]}})
    path = "$.qas[0].answers.open-ended.answer_candidates[0].extractive.list[0].instances[0].doc_ind"
    assert problems(saved(tmp_path / "a.jsonl", raw)) == [f"2: {path}: 4 is no document: the context has 1, from 0 on"]


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
def test_faults_of_the_header(tmp_path, documents, found):
    seen = problems(save(tmp_path / "a.jsonl", *documents))
    assert len(seen) == len(found)
    assert all(one.startswith(start) for one, start in zip(seen, found, strict=True))


def test_after_a_document_that_is_no_json_the_check_goes_on(tmp_path):
    path = saved(tmp_path / "a.jsonl", entry(), entry(question("q1")))
    lines = path.read_text("utf-8").splitlines()
    path.write_text(
        "\n".join([lines[0].replace('"number_of_contexts": 2', '"number_of_contexts": 3'), '{"id": nul}', *lines[1:]])
    )
    found = problems(path)
    assert found[0].startswith("2: $: not valid JSON: ")
    assert found[1].startswith("4: $.qas[0].qid: 'q1' is also")
    assert found[2].startswith("1: $.header.number_of_contexts: 3, but")  # what cannot be read is not counted


OFFSETS_IN_BYTES = [["Beyoncé", 0], ["sang", 9], ["on", 14], ["Bear", 17], ["Island", 22]]
NO_PLACE = question(answers=open_ended(candidate(yesno="no")))


@pytest.mark.parametrize(
    ("raw", "warning"),
    [
        (with_instance(text="BEAR island"), "text: differs from the document in case (1 times)"),
        (with_instance(text="bear-island"), "differs from the document in punctuation or articles (1 times)"),
        (with_instance(text="The Bear Island"), "differs from the document in punctuation or articles (1 times)"),
        (with_instance(text="Bear Isl"), "the text does not begin and end where its tokens do (1 times)"),
        (
            entry(NO_PLACE, documents=[document(tokens={"text": OFFSETS_IN_BYTES})]),
            "text: the offsets of tokens count UTF-8 bytes",
        ),
        (entry(question(question_tokens=[["where", 0]])), "tokens: tokens differ from the text in case (1 times)"),
    ],
)
def test_differences_of_spelling_are_warnings(tmp_path, raw, warning):
    report = validate(saved(tmp_path / "a.jsonl", raw))
    assert report.problems == []
    assert len(report.warnings) == 1
    assert warning in report.warnings[0]


if SAMPLES.is_dir():
    SCHEMA = json.loads(gzip.decompress((SAMPLES / "multiqa_jsonschema.json.gz").read_bytes()))
    REAL = jsonschema_rs.Draft7Validator(SCHEMA, validate_formats=True)
KNOWN = {"naturalquestions": 7}  # offsets in HTML that count bytes, and tokens spelled otherwise


def sample(path):
    return [value for _, value in read_documents(path)]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the MultiQA samples are not there")
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*_sample.jsonl.gz")), ids=lambda path: path.name.split("_")[0])
def test_the_samples(path):
    report = validate(path)
    of_schema = [text for text in report.problems if text.endswith(PUBLISHED)]
    others = [text for text in report.problems if not text.endswith(PUBLISHED)]
    assert len(others) == KNOWN.get(path.name.split("_")[0], 0)
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


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (entry(documents=[document(url="example.org")]), '$.context.documents[0].url: "example.org" is not a "uri"'),
        (entry(documents=[document(url="mailto:a@b")]), '"mailto:a@b" does not match "^(https?|wss?|ftp)://"'),
        (entry(documents=[document(snippet="x" * 201)]), "is longer than 200 characters"),
        (entry(documents=[{"title": None}]), "$.context.documents[0].title: null is not of type"),
        (entry(rank=1), "$: Additional properties are not allowed ('rank' was unexpected)"),
        (entry(documents=[document(rank=1)]), "$.context.documents[0]: Additional properties are not allowed ('rank'"),
        (entry(documents=[document(table=[[{"text": "a", "rows": 1}]])]), "$.context.documents[0].table[0][0]: Addit"),
        (entry(question(level="hard")), "$.qas[0]: Additional properties are not allowed ('level' was unexpected)"),
        (with_answers(open_ended(candidate(date="April 23"))), '.single_answer.date: "April 23" is not a "date"'),
        (with_answers({"open-ended": {"answer_candidates": []}}), "('answer_candidates' was unexpected)"),
        (with_instance(doc_ind=0), "('doc_ind' was unexpected)"),
    ],
)
def test_what_the_published_schema_refuses_is_a_problem(tmp_path, raw, problem):
    found = problems(saved(tmp_path / "a.jsonl", raw), published=True)
    assert any(problem in text for text in found), found


def test_what_the_published_schema_accepts_is_none(tmp_path):
    path = saved(tmp_path / "a.jsonl", WHOLE)
    assert validate(path).problems == [] and validate(path).summary["published_dialect"] is True
    assert validate(saved(tmp_path / "b.jsonl", entry(rank=1))).summary["published_dialect"] is False


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
