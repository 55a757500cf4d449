"""Evidences and conversations as records; the faulty ones are in tests/cases/faulty_records.yml."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from case_tables import each_case
from convinse.records.conversation import check_conversations
from convinse.records.evidence import (
    DEFAULT_SOURCES,
    SOURCES,
    check_evidence,
    entities_within,
    is_sources,
    merge_duplicates,
    normalize_source,
    parse_sources,
    unique_entities,
)
from convinse.support.errors import ConfigError, DataError
from evidences import evidence
from refusals import refused

ENTITIES = st.lists(
    st.builds(lambda n, label: {"id": f"Q{n}", "label": label}, st.integers(1, 6), st.sampled_from("abc")), max_size=6
)
PAIRS = st.lists(st.lists(st.sampled_from(["x", "y", "Q1"]), min_size=2, max_size=2), max_size=4)
WHOLE = {
    "evidence_text": st.sampled_from(["one", "two"]),
    "source": st.sampled_from(SOURCES),
    "wikidata_entities": ENTITIES,
    "disambiguations": PAIRS,
}
TOPIC = {"retrieved_for_entity": st.just({"id": "Q9", "label": "nine"})}
EVIDENCES = st.lists(st.fixed_dictionaries(WHOLE, optional=TOPIC), max_size=10)


@given(st.lists(st.sampled_from([*SOURCES, "infobox"]), min_size=1, max_size=8))
def test_sources_parse_to_the_fixed_order_whatever_the_order_given(names):
    parsed = parse_sources("_".join(names))
    assert set(parsed) == {normalize_source(name) for name in names}
    assert list(parsed) == [source for source in SOURCES if source in parsed]
    assert parsed == parse_sources(names) == parse_sources("_".join(reversed(names)))
    assert parse_sources("_".join(parsed)) == parsed
    assert is_sources("_".join(names))


def test_the_default_is_all_sources_and_infobox_is_read_as_info():
    assert parse_sources(DEFAULT_SOURCES) == SOURCES == ("kb", "text", "table", "info")
    assert parse_sources("infobox") == parse_sources(["infobox"]) == ("info",)


WRONG_SOURCES = ["kb_txt_info", "", "kb_", "_kb", "KB", "kb text", "kb,text", ["kb", "pages"], [["kb"]], [3]]


@pytest.mark.parametrize("text", WRONG_SOURCES, ids=str)
def test_an_unknown_source_is_refused_with_the_valid_ones(text):
    message = refused(ConfigError, lambda: parse_sources(text, "--sources"), *SOURCES)
    assert message.startswith("--sources: ")
    assert text != "kb_txt_info" or "unknown source 'txt' in 'kb_txt_info'" in message
    refused(ConfigError, lambda: parse_sources([]))


@given(st.text(max_size=12))
def test_any_text_parses_or_is_refused(text):
    try:
        assert parse_sources(text)
    except ConfigError as error:
        assert text in str(error)


def test_a_combination_is_told_from_a_file():
    combinations = ["kb", "text_kb", "kb_txt_info", "infobox"]
    files = ["config.yml", "kb.yml", "config/kb_text", "runs\\kb_text", "convmix", ""]
    assert [text for text in (*combinations, *files) if is_sources(text)] == combinations


@given(ENTITIES)
def test_unique_entities_keep_the_first_of_every_id_in_order(entities):
    first = {}
    for entity in entities:
        first.setdefault(entity["id"], entity)
    assert unique_entities(entities) == list(first.values())


def parts_of(evidences):
    """Entities and mentions, each with the text and the source of its evidence."""
    keyed = [((one["evidence_text"], one["source"]), one) for one in evidences]
    entities = {(key, entity["id"]) for key, one in keyed for entity in one["wikidata_entities"]}
    return entities, {(key, *pair) for key, one in keyed for pair in one["disambiguations"]}


@given(EVIDENCES)
def test_merging_keeps_every_entity_mention_and_source_and_happens_once(evidences):
    before = copy.deepcopy(evidences)
    merged = merge_duplicates(evidences)
    assert evidences == before
    assert parts_of(merged) == parts_of(evidences)
    keys = [(one["evidence_text"], one["source"]) for one in merged]
    assert keys == list(dict.fromkeys((one["evidence_text"], one["source"]) for one in evidences))
    assert merge_duplicates(merged) == merged


def placed(*mentions, **structure):
    """`a b` with mentions as (start, id), of a letter each."""
    entities = [("ab"[start > 0], item) for start, item in mentions]
    places = [{"start": start, "end": start + 1, "id": item} for start, item in mentions]
    return evidence("a b", "table", *entities, mentions=places, **structure)


def part(text, start, *entities):
    return {"text": text, "start": start, "entities": [{"id": item, "label": label} for label, item in entities]}


@pytest.mark.parametrize(("key", "listed"), [("row", "cells"), ("attribute", "values")])
def test_merged_places_and_parts_have_the_mentions_of_all(key, listed):
    structure = {"path": [], listed: [part("a", 0, ("a", "Q1")), part("b", 2), part("c", -1, ("c", "Q3"))]}
    first, more = placed((0, "Q1"), **{key: structure}), placed((0, "Q1"), (2, "Q2"))
    before = copy.deepcopy((first, more))
    (merged,) = merge_duplicates([first, more])
    assert (first, more) == before
    assert [(place["start"], place["id"]) for place in merged["mentions"]] == [(0, "Q1"), (2, "Q2")]
    ids = [[entity["id"] for entity in listed_part["entities"]] for listed_part in merged[key][listed]]
    assert ids == [["Q1"], ["Q2"], ["Q3"]]  # a part without a place in the text keeps its own


def test_the_first_duplicate_gives_its_topic_and_its_row():
    topics = [{"id": f"Q{number}", "label": "topic"} for number in (1, 2)]
    rows = [{"caption": "", "section": "", "number": number, "cells": []} for number in (3, 4)]
    duplicates = [
        placed((0, "Q1"), row=row, retrieved_for_entity=topic) for row, topic in zip(rows, topics, strict=True)
    ]
    (merged,) = merge_duplicates(duplicates)
    assert (merged["row"], merged["retrieved_for_entity"]) == (rows[0], topics[0])


def test_entities_within_a_part_have_a_mention_in_it():
    evidence_ = placed((0, "Q1"), (2, "Q2"), (2, "Q2"), (2, "unlisted"))
    evidence_["wikidata_entities"].pop()
    assert [entity["id"] for entity in entities_within(evidence_, 1, 3)] == ["Q2"]
    assert [entity["id"] for entity in entities_within(evidence_, 0, 3)] == ["Q1", "Q2"]
    assert entities_within(evidence_, 0, 0) == []


GIVEN = {  # as the contract has it, without places
    "fact": [{"id": "Q1", "label": "a"}, {"id": "P1", "label": "b"}, {"id": "Q2", "label": "c"}],
    "row": {"caption": "", "section": "Awards", "number": 3, "cells": [{"header": "Year", "text": "1", "entities": []}]},
    "attribute": {"path": ["Born"], "values": [{"text": "1998", "entities": []}]},
    "mentions": [{"start": 0, "end": 4, "id": "Q1"}],
}  # fmt: skip


@pytest.mark.parametrize("source", [*SOURCES, "infobox"])
def test_a_whole_evidence_passes(source):
    topic = {"id": "Q1", "label": "a"}
    check_evidence(evidence("a b", source, ("a", "Q1"), retrieved_for_entity=topic, score=0.5, **GIVEN), "here")


@each_case("faulty_records", "evidence")
def test_a_faulty_evidence_is_refused_with_its_key(case):
    faulty = evidence("a b", "kb", ("a", "Q1"))
    if "value" in case:
        faulty[case["evidence"]] = case["value"]
    else:
        del faulty[case["evidence"]]
    message = refused(DataError, lambda: check_evidence(faulty, "MyERS on turn 3"), case["names"])
    assert message.startswith("MyERS on turn 3: ")


@pytest.mark.parametrize(("value", "kind"), [("text", "str"), (None, "NoneType")])
def test_a_value_that_is_no_evidence_is_refused(value, kind):
    refused(DataError, lambda: check_evidence(value, "here"), "here: ", kind)


def conversations():
    turn = {"question": "who?", "answers": [{"id": "Q1", "label": "one"}]}
    turns = [{"turn": number, **turn, "extra": [number]} for number in range(2)]
    return [{"conv_id": name, "domain": "books", "questions": copy.deepcopy(turns)} for name in ("c0", "c1")]


def test_good_conversations_come_back_untouched_with_unknown_keys():
    assert check_conversations(conversations(), "file") == conversations()


def test_gold_answers_are_optional_and_a_missing_label_is_the_id():
    data = conversations()
    first, second = data[0]["questions"]
    del first["answers"], second["answers"][0]["label"]
    first, second = check_conversations(data, "file")[0]["questions"]
    assert "answers" not in first and second["answers"] == [{"id": "Q1", "label": "Q1"}]


@each_case("faulty_records", "conversation")
def test_a_faulty_conversation_is_refused_with_file_conversation_and_turn(case):
    data = holder = conversations()
    *path, last = case["conversation"]
    for key in path:
        holder = holder[key]
    if "value" in case:
        holder[last] = case["value"]
    else:
        del holder[last]
    message = refused(DataError, lambda: check_conversations(data, "dir/test.json"), *case["names"])
    assert message.startswith("dir/test.json: ")
