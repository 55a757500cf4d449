import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multiqa_handmade import (
    SAMPLES,
    TEXT,
    candidate,
    document,
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

from convinse.formats.converters import convert
from convinse.formats.mrqa import read_examples
from convinse.formats.multiqa.answers import answers_of, candidates, cannot_answer, texts
from convinse.formats.multiqa.checks import letters
from convinse.formats.multiqa.files import read_entries, read_header
from convinse.formats.multiqa.validate import validate
from convinse.formats.squad import read_squad
from written import json_lines


def there(path, *formats, source="multiqa"):
    """A file that is converted to one format after the other."""
    for target in formats:
        path, before = path.with_name(f"{target}.out"), path
        convert(before, path, target, source, quiet=True)
        source = target
    return path


def there_and_back(path, to):
    return there(path, to, "multiqa")


def questions(path):
    """Every question of a file by its id: its text, all spellings of its answers, and whether it has one."""
    found = {}
    for item in (item for context in read_entries(path) for item in context["qas"]):
        spellings = {text for part in candidates(item) for answer in answers_of(part) for text in texts(answer)}
        found[item["qid"]] = item["question"], spellings, cannot_answer(item)
    return found


def assert_nothing_is_lost(before, after):
    """All questions are there with all spellings of their answers; those that the text has may be added."""
    whole, found = questions(before), questions(after)
    assert found.keys() == whole.keys()
    for qid, (text, spellings, is_unanswerable) in whole.items():
        assert (found[qid][0], found[qid][2]) == (text, is_unanswerable)
        assert spellings <= found[qid][1] and set(map(letters, spellings)) == set(map(letters, found[qid][1]))


def unreadable(path):
    """Problems; values that are those of the source (dates in words, no answer) may be refused by the published schema."""
    return [text for text in validate(path).problems if not text.endswith("(published schema)")]


def places(entry):
    return entry["qas"][0]["answers"]["open-ended"]["annotators_answer_candidates"][0]["single_answer"]["extractive"][
        "instances"
    ]


def only_entry(path):
    (found,) = read_entries(path)
    return found


def squad_question(path):
    _, paragraph = next(read_squad(path)[1])
    return paragraph.context, paragraph.qas[0]


def mrqa_question(path):
    (example,) = read_examples(path)
    return example.context, example.qas[0]


DOCUMENTS = [document(), document("The sea is cold. Bear Island is not.", "Sea")]


def test_several_documents_are_joined_with_marks_and_places_move_along(tmp_path):
    second = instance(start=17, span=(5, 6), doc_id=1)
    answers = open_ended(candidate(extractive=extractive(instances=[instance(), second])))
    path = saved(tmp_path / "a.jsonl", entry(question(answers=answers), documents=DOCUMENTS))
    joined = f"[DOC] [TLE] Bear Island [PAR] {TEXT} [DOC] [TLE] Sea [PAR] The sea is cold. Bear Island is not."
    context, item = mrqa_question(there(path, "mrqa"))
    assert context == joined
    assert [context[start : end + 1] for start, end in item.detected_answers[0].char_spans] == ["Bear Island"] * 2
    title = len("[DOC] [TLE] ")
    assert (title, title + 10) not in item.detected_answers[0].char_spans  # not in the source, so not used
    context, item = squad_question(there(path, "squad"))
    assert context == joined
    assert [answer.answer_start for answer in item.answers] == [46, 142]


def test_keys_of_another_format_are_left_out(tmp_path):
    item = {
        "qid": "q",
        "question": "Who?",
        "answers": ["Cher"],
        "level": 1,
        "metadata": "mine",
        "supporting_context": "x",
    }
    line = {"context": "Cher sang.", "documents": [{"rank": 3}], "url": 7, "id": "c", "qas": [item]}
    path = save(tmp_path / "a.jsonl", {"header": {"dataset": "D", "split": "x", "flavor": 5, "license": 5}}, line)
    target = there(path, "multiqa", source="mrqa")
    report = validate(target)
    assert report.problems == []
    assert read_header(target)["flavor"] == 5 and "license" not in read_header(target)
    assert only_entry(target)["qas"][0]["metadata"] == "mine"


@pytest.mark.parametrize("to", ["squad", "mrqa"])
@pytest.mark.parametrize(
    "answers",
    [
        open_ended(candidate()),
        open_ended(candidate(), candidate(extractive=extractive("cold", [instance("cold", 51, (12, 12))]))),
        open_ended(candidate(), candidate()),  # two annotators who agree
        open_ended(candidate(extractive=extractive("nowhere to be found", []))),
        open_ended(candidate(extractive=extractive(aliases=["the island", "bear island"]))),
        open_ended(candidate(extractive=extractive("bear island"))),
        open_ended(candidate(extractive=extractive(instances=[instance(start=3), instance(doc_id=9)]))),
        open_ended(candidate(yesno="no")),
        open_ended(candidate(generated_text="On an island.")),
        open_ended(candidate(number=8.0)),
        open_ended(candidate(number=7, extractive=extractive("1996", []))),
        open_ended(candidate(date={"day": "23", "month": "April", "year": "1734"})),
        open_ended({"list": [{"extractive": extractive()}, {"extractive": extractive("cold", [])}]}),
        open_ended({"set": [{"number": 0}, {"number": 7}, {"number": 8.4}]}),
        open_ended({"metadata": {"long_answer": {"start_token": 4}}}),
        {"open-ended": {"cannot_answer": "yes", "annotators_answer_candidates": []}},
        {"open-ended": {"cannot_answer": "no", "annotators_answer_candidates": [candidate()]}},
        {"multi-choice": {"correct_answer_index": 1, "choices": [candidate(generated_text=text) for text in "ab"]}},
        {"multi-choice": {"multi_correct_answer_indexes": [0], "choices": [candidate(), candidate(yesno="no")]}},
        open_ended(),
    ],
)
def test_no_question_and_no_answer_is_lost_on_the_way_there_and_back(tmp_path, answers, to):
    item = question(answers=answers, metadata={"level": "hard"}, supporting_context=[instance("Beyoncé", 0, (0, 0))])
    path = saved(tmp_path / "a.jsonl", entry(item, question("second"), documents=DOCUMENTS))
    back = there_and_back(path, to)
    assert_nothing_is_lost(path, back)
    assert unreadable(back) == []
    found = only_entry(back)
    assert found["id"] == "c1" and found["qas"][0]["metadata"] == {"level": "hard"}


def test_multiqa_to_multiqa_changes_the_spelling_only(tmp_path):
    other = {"open-ended": {"answer_candidates": [{"extractive": {"single_answer": extractive()}}]}}
    documents = [document(rank=1, metadata={"text": {"sentence_start_bytes": [0]}})]
    raw = entry(question(answers=other, rank=3), documents=documents)
    head = header(flavor="x", full_schema={}, number_of_qas_with_gold_answers=1)
    target = there(save(tmp_path / "a.jsonl", head, raw), "multiqa")
    assert json_lines(target) == [head, raw | {"qas": [question(answers=open_ended(candidate()), rank=3)]}]


@given(st.lists(entries(), max_size=2), st.sampled_from(["squad", "mrqa"]))
@settings(max_examples=20)
def test_any_document_converts_without_losing_a_question(tmp_path_factory, documents, to):
    for number, value in enumerate(documents):
        for item in value["qas"]:
            item["qid"] = f"{number}-{item['qid']}"
    path = saved(tmp_path_factory.mktemp("any") / "a.jsonl", *documents)
    assert questions(there_and_back(path, to)).keys() == questions(path).keys()


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the MultiQA samples are not there")
@pytest.mark.parametrize("to", ["squad", "mrqa"])
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*_sample.jsonl.gz")), ids=lambda path: path.name.split("_")[0])
def test_the_samples_lose_no_question_and_no_answer(tmp_path, path, to):
    convert(path, tmp_path / "whole.jsonl", "multiqa", quiet=True)
    head, *contexts = json_lines(tmp_path / "whole.jsonl")
    assert sum(len(context["qas"]) for context in contexts) == head["header"]["number_of_qas"]
    some = saved(tmp_path / "a.jsonl", *sorted(contexts, key=lambda context: len(str(context)))[:4])
    back = there_and_back(some, to)
    assert_nothing_is_lost(some, back)
    assert unreadable(back) == []


def mrqa(context, answer):
    start = context.index(answer)
    spans = {"text": answer, "char_spans": [[start, start + len(answer) - 1]], "token_spans": []}
    item = {"qid": "q", "question": "Who?", "answers": [answer], "detected_answers": [spans]}
    return {"context": context, "qas": [item]}


@pytest.mark.parametrize(
    "context",
    [
        "[PAR] [TLE] Bear Island [SEP] A cold island. [PAR] [TLE] Cher [SEP] Cher sang there. [PAR] Twice.",  # HotpotQA
        "[DOC] [TLE] Bear Island [PAR] A cold island. [DOC] [TLE] Cher [PAR] Cher sang there. [PAR] Twice.",  # SearchQA
    ],
)
def test_documents_that_mrqa_joins_are_several_again(tmp_path, context):
    path = save(tmp_path / "a.jsonl", {"header": {"dataset": "H"}}, mrqa(context, "sang there"))
    found = only_entry(there(path, "multiqa", source="mrqa"))
    assert [(part["title"], part["text"]) for part in found["context"]["documents"]] == [
        ("Bear Island", "A cold island."), ("Cher", "Cher sang there. [PAR] Twice.")
    ]  # fmt: skip
    assert places(found) == [instance("sang there", 5, (1, 2), doc_id=1)]


@pytest.mark.parametrize("context", ["[TLE] Cher [PAR] Cher sang there.", "x [DOC] Cher sang there. [DOC] y"])
def test_a_context_that_no_marks_part_is_one_document(tmp_path, context):
    path = save(tmp_path / "a.jsonl", {"header": {"dataset": "H"}}, mrqa(context, "sang there"))
    assert [part["text"] for part in only_entry(there(path, "multiqa", source="mrqa"))["context"]["documents"]] == [
        context
    ]
