import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multiqa_handmade import JSON, candidate, document, entries, entry, extractive, instance, open_ended, question

from convinse.formats.multiqa.dialects import Dialect, read_entry, read_header
from convinse.formats.multiqa.records import Date, plain
from convinse.formats.multiqa.schema import faults
from convinse.support.errors import DataError


def read(raw):
    dialect = Dialect()
    return read_entry(raw, dialect), dialect


def answers(raw):
    found, _ = read(entry(question(answers=raw)))
    return [answer for part in found.qas[0].candidates() for answer in part.answers()]


def other_dialect(raw):
    """The same entry, type first and with the other names."""
    text = json.dumps(raw)
    for published, other in (
        ('"doc_id"', '"doc_ind"'),
        ('"token_inds"', '"start_end_tokens"'),
        ('"annotators_answer_candidates"', '"answer_candidates"'),
    ):
        text = text.replace(published, other)
    found = json.loads(text)
    for asked in found["qas"]:
        candidates = asked["answers"]["open-ended"]["answer_candidates"]
        for index, part in enumerate(candidates):
            turned = candidates[index] = {}
            for container, value in part.items():
                for one in value if isinstance(value, list) else [value]:
                    for kind, inner in one.items():
                        places = turned.setdefault(kind, {})
                        if isinstance(value, list):
                            places.setdefault(container, []).append(inner)
                        else:
                            places[container] = inner
    return found


ALL_TYPES = {
    "single_answer": {
        "extractive": extractive(aliases=["the island"]),
        "yesno": "yes",
        "generated_text": "On an island.",
        "date": {"day": "23", "month": "April", "year": "1734"},
        "number": 8.4,
    }
}


def test_the_published_dialect_is_read_into_types():
    asked = question(answers=open_ended(ALL_TYPES), supporting_context=[instance("Beyoncé", 0, (0, 0))])
    found, dialect = read(entry(asked))
    answer = found.qas[0].candidates()[0].single_answer
    assert answer.extractive.instances[0].token_inds == (3, 4)
    assert answer.extractive.spellings() == ["Bear Island", "the island"]
    assert (answer.yesno, answer.generated_text, answer.number) == ("yes", "On an island.", 8.4)
    assert answer.date == Date(day="23", month="April", year="1734")
    assert answer.texts() == ["Bear Island", "the island", "yes", "On an island.", "23 April 1734", "8.4"]
    assert found.qas[0].supporting_context[0].text == "Beyoncé"
    assert dialect.is_published()
    assert dialect.describe() == [
        "container first", "annotators_answer_candidates", "token_inds", "doc_id", "question tokens with offsets"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "raw",
    [
        ALL_TYPES,
        {"list": [{"number": 0}, {"number": 7}, {"number": 8.4}]},
        {"set": [{"generated_text": "first"}, {"generated_text": "second"}]},
        {"single_answer": {"yesno": "yes"}, "list": [{"extractive": extractive(name, [])} for name in ("a", "cold")]},
        {"list": [{"date": {"year": "1734"}}], "set": [{"date": "1996-01-01"}]},
    ],
)
def test_both_orders_of_container_and_type_are_the_same_records(raw):
    first = entry(question(answers=open_ended(raw)))
    turned = other_dialect(first)
    before = copy.deepcopy(turned)
    one, _ = read(first)
    other, dialect = read(turned)
    assert one == other
    assert turned == before  # what is read is not changed
    assert plain(other) == plain(one)
    assert "type first" in dialect.describe() and "answer_candidates" in dialect.describe()
    assert not dialect.is_published()


def test_lists_of_several_types_keep_all_answers():
    several = {"number": {"list": [1, 2]}, "generated_text": {"list": ["x"]}}
    found = answers({"open-ended": {"answer_candidates": [several]}})
    assert [answer.texts() for answer in found] == [["1"], ["2"], ["x"]]


def test_multi_choice_knows_the_right_choices():
    choices = [candidate(generated_text=text) for text in "abc"]
    given = {
        "one": {"correct_answer_index": 1},
        "many": {"multi_correct_answer_indexes": [2, 0]},
        "wrong": {"correct_answer_index": 3},
    }
    found, _ = read(
        entry(*(question(qid, {"multi-choice": {"choices": choices, **key}}) for qid, key in given.items()))
    )
    right = [[part.single_answer.generated_text for part in asked.candidates()] for asked in found.qas]
    assert right == [["b"], ["c", "a"], []]
    assert len(found.qas[0].answers.multi_choice.choices) == 3


def test_candidates_with_metadata_only_have_no_answer_and_stay():
    metadata = {"long_answer": {"start_token": 4}}
    raw = {"open-ended": {"answer_candidates": [{"metadata": metadata}], "cannot_answer": "yes"}}
    found, dialect = read(entry(question(answers=raw)))
    assert found.qas[0].cannot_answer() and found.qas[0].is_answered()
    assert found.qas[0].candidates()[0].answers() == []
    assert found.qas[0].candidates()[0].metadata == metadata
    assert "candidates with metadata only" in dialect.describe()


def test_question_tokens_without_offsets_get_them():
    found, dialect = read(entry(question(text="who  sang it", question_tokens=["who", "sang", "it"])))
    assert found.qas[0].question_tokens == [("who", 0), ("sang", 5), ("it", 10)]
    assert "question tokens without offsets" in dialect.describe()


@pytest.mark.parametrize("words", [["who", "it"], ["Who", "sang", "it"], ["sang", "who"]])
def test_question_tokens_that_are_not_those_of_the_question_stay_as_they_are(words):
    found, _ = read(entry(question(text="who sang it", question_tokens=words)))
    assert found.qas[0].question_tokens == words


def test_unknown_keys_and_nulls_are_kept_at_every_level():
    answer = {"extractive": extractive(instances=[instance(u1=1)], u2=2), "date": {"year": "1", "u3": 3}, "u4": 4}
    candidates = [{"single_answer": answer, "u5": 5}]
    opened = {"annotators_answer_candidates": candidates, "u6": 6, "cannot_answer": None}
    given = {"open-ended": opened, "multi-choice": {"choices": [], "u7": 7}, "u8": 8}
    asked = question(answers=given, u9=9, extra={"extra": 1})
    raw = entry(asked, documents=[document(u10=10, snippet=None)], u11=11)
    raw["context"]["u12"] = 12
    found, dialect = read(raw)
    assert json.loads(json.dumps(plain(found))) == raw
    assert len(dialect.unknown) == 13  # the twelve and `extra`
    assert dialect.unknown["$.context.documents[].u10"] == 1


def test_what_is_unknown_beside_a_container_is_kept():
    raw = {"open-ended": {"answer_candidates": [{"yesno": {"single_answer": "yes", "sure": 0.5}}]}}
    found, dialect = read(entry(question(answers=raw)))
    assert plain(found.qas[0].candidates()[0]) == {"single_answer": {"yesno": "yes"}, "yesno": {"sure": 0.5}}
    assert read(plain(found))[0] == found
    assert sum(dialect.unknown.values()) == 1


def test_of_two_spellings_of_one_key_the_published_one_counts():
    raw = entry(question(answers=open_ended(candidate(extractive=extractive(instances=[instance(doc_ind=7)])))))
    found, _ = read(raw)
    place = found.qas[0].candidates()[0].single_answer.extractive.instances[0]
    assert (place.doc_id, place.extra) == (0, {"doc_ind": 7})
    assert json.loads(json.dumps(plain(found))) == raw


MAYBE = {"yesno": {"single_answer": "maybe"}}


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        (lambda raw: raw.pop("id"), "$", "id"),
        (lambda raw: raw["qas"][0].pop("qid"), "$.qas[0]", "qid"),
        (lambda raw: raw["qas"][0].update(question=3), "$.qas[0].question", "3"),
        (lambda raw: raw["context"].update(documents={}), "$.context.documents", "array"),
        (
            lambda raw: raw["context"]["documents"][0]["tokens"]["text"].append(["x"]),
            "$.context.documents[0].tokens.text",
            "",
        ),
        (
            lambda raw: raw["qas"][0].update(answers={"open-ended": {"answer_candidates": [MAYBE]}}),
            "$.qas[0].answers.open-ended.answer_candidates[0].yesno.single_answer",
            "maybe",
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_path_in_the_file(change, path, reason):
    raw = entry()
    change(raw)
    with pytest.raises(DataError) as caught:
        read(raw)
    assert str(caught.value).startswith(path)
    assert reason in str(caught.value)


def test_a_header_keeps_what_it_does_not_know():
    found = read_header({"dataset_name": "D", "flavor": None, "full_schema": {}, "number_of_qas": 3}, Dialect())
    assert found.dataset_name == "D" and found.number_of_qas == 3
    assert plain(found) == {"dataset_name": "D", "number_of_qas": 3, "flavor": None, "full_schema": {}}
    with pytest.raises(DataError, match=r"^\$\.header\.split: "):
        read_header({"dataset_name": "D", "split": 3, "number_of_contexts": 0, "number_of_qas": 0}, Dialect())


@given(entries())
@settings(max_examples=40)
def test_what_is_written_reads_as_the_same_records(raw):
    assert list(faults(raw, "entry")) == []
    first, _ = read(raw)
    written = plain(first)
    again, dialect = read(written)
    assert again == first
    assert json.dumps(plain(again)) == json.dumps(written)
    assert not dialect.seen.keys() & {"type first", "answer_candidates", "doc_ind", "start_end_tokens"}


@given(entries(), st.data())
@settings(max_examples=40)
def test_no_unknown_key_is_lost(raw, data):
    place = data.draw(st.sampled_from(list(_objects(raw))))
    value = data.draw(JSON)
    place["never seen"] = value
    found, _ = read(raw)
    assert any("never seen" in part and part["never seen"] == value for part in _objects(plain(found)))


@given(entries(), JSON.filter(lambda value: not isinstance(value, float)), st.data())
@settings(max_examples=60)
def test_what_cannot_be_read_is_a_fault_of_the_schema(raw, value, data):
    place = data.draw(st.sampled_from([part for part in _objects(raw) if part]))
    place[data.draw(st.sampled_from(sorted(place)))] = value
    try:
        read(raw)
    except DataError as error:
        assert str(error).startswith("$")
        assert list(faults(raw, "entry"))


def _objects(value):
    if isinstance(value, dict):
        yield value
        for key, part in value.items():
            if key != "tokens":  # its keys are names of parts
                yield from _objects(part)
    elif isinstance(value, list):
        for part in value:
            yield from _objects(part)
