import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

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

NAMES = st.lists(st.sampled_from([*SOURCES, "infobox"]), min_size=1, max_size=8)
ENTITIES = st.lists(
    st.builds(lambda n, label: {"id": f"Q{n}", "label": label}, st.integers(1, 6), st.sampled_from("abc")), max_size=6
)
EVIDENCES = st.lists(
    st.fixed_dictionaries(
        {
            "evidence_text": st.sampled_from(["one", "two"]),
            "source": st.sampled_from(SOURCES),
            "wikidata_entities": ENTITIES,
            "disambiguations": st.lists(
                st.lists(st.sampled_from(["x", "y", "Q1"]), min_size=2, max_size=2), max_size=4
            ),
        },
        optional={"retrieved_for_entity": st.just({"id": "Q9", "label": "nine"})},
    ),
    max_size=10,
)


def changed(**changes):
    """A whole evidence with some keys changed, or left out: ..."""
    whole = evidence("a b", "kb", ("a", "Q1"))
    return {key: value for key, value in {**whole, **changes}.items() if value is not ...}


# --- sources


@given(NAMES)
def test_sources_parse_to_the_fixed_order_whatever_the_order_given(names):
    parsed = parse_sources("_".join(names))
    assert set(parsed) == {normalize_source(name) for name in names}
    assert list(parsed) == [source for source in SOURCES if source in parsed]
    assert parsed == parse_sources(names) == parse_sources("_".join(reversed(names)))
    assert parse_sources("_".join(parsed)) == parsed
    assert is_sources("_".join(names))


@pytest.mark.parametrize(
    ("text", "parsed"),
    [(DEFAULT_SOURCES, ("kb", "text", "table", "info")), ("infobox", ("info",)), (["infobox"], ("info",))],
)
def test_sources(text, parsed):
    assert parse_sources(text) == parsed


@pytest.mark.parametrize(
    "text", ["kb_txt_info", "", "kb_", "_kb", "KB", "kb text", "kb,text", ["kb", "pages"], [["kb"]], [3]]
)
def test_an_unknown_source_is_refused_with_the_valid_ones(text):
    message = refused(ConfigError, lambda: parse_sources(text, "--sources"), *SOURCES)
    assert message.startswith("--sources: ")
    assert text != "kb_txt_info" or "unknown source 'txt' in 'kb_txt_info'" in message
    with pytest.raises(ConfigError):
        parse_sources([])


@given(st.text(max_size=12))
def test_any_text_parses_or_is_refused(text):
    try:
        assert parse_sources(text)
    except ConfigError as error:
        assert text in str(error)


COMBINATIONS = ["kb", "text_kb", "kb_txt_info", "infobox"]
FILES = ["config.yml", "kb.yml", "config/kb_text", "runs\\kb_text", "convmix", ""]


@pytest.mark.parametrize("text", [*COMBINATIONS, *FILES])
def test_a_combination_is_told_from_a_file(text):
    assert is_sources(text) == (text in COMBINATIONS)


# --- entities and duplicates


@given(ENTITIES)
def test_unique_entities_keep_the_first_of_every_id_in_order(entities):
    expected = []
    for entity in entities:
        if entity["id"] not in [kept["id"] for kept in expected]:
            expected.append(entity)
    assert unique_entities(entities) == expected


@given(EVIDENCES)
def test_merging_keeps_every_entity_mention_and_source(evidences):
    before = copy.deepcopy(evidences)
    merged = merge_duplicates(evidences)
    assert evidences == before  # the given ones are not changed

    def entities(group):
        return {(e["evidence_text"], e["source"], entity["id"]) for e in group for entity in e["wikidata_entities"]}

    def mentions(group):
        return {(e["evidence_text"], e["source"], *pair) for e in group for pair in e["disambiguations"]}

    assert entities(merged) == entities(evidences)
    assert mentions(merged) == mentions(evidences)
    keys = [(e["evidence_text"], e["source"]) for e in merged]
    assert keys == list(dict.fromkeys((e["evidence_text"], e["source"]) for e in evidences))


@given(EVIDENCES)
def test_merging_twice_changes_nothing(evidences):
    once = merge_duplicates(evidences)
    assert merge_duplicates(once) == once


def test_the_first_duplicate_gives_the_item_it_was_retrieved_for():
    first, second = {"id": "Q1", "label": "one"}, {"id": "Q2", "label": "two"}
    merged = merge_duplicates([changed(retrieved_for_entity=first), changed(retrieved_for_entity=second)])
    assert [e["retrieved_for_entity"] for e in merged] == [first]


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
    ids = [[entity["id"] for entity in given["entities"]] for given in merged[key][listed]]
    assert ids == [["Q1"], ["Q2"], ["Q3"]]  # what has no place in the text keeps its own


def test_the_first_duplicate_says_what_both_are_made_from():
    rows = [{"caption": "", "section": "", "number": number, "cells": []} for number in (3, 4)]
    (merged,) = merge_duplicates([placed((0, "Q1"), row=rows[0]), placed((0, "Q1"), row=rows[1])])
    assert merged["row"] == rows[0]


def test_entities_within_a_part_are_those_whose_mention_lies_in_it():
    given = placed((0, "Q1"), (2, "Q2"), (2, "Q2"), (2, "unlisted"))
    given["wikidata_entities"].pop()
    assert [entity["id"] for entity in entities_within(given, 1, 3)] == ["Q2"]
    assert [entity["id"] for entity in entities_within(given, 0, 3)] == ["Q1", "Q2"]
    assert entities_within(given, 0, 0) == []


# --- checks


CELL = {"header": "Year", "text": "1998", "entities": []}
GIVEN = {  # as the contract has it, without places
    "fact": [{"id": "Q1", "label": "a"}, {"id": "P1", "label": "b"}, {"id": "Q2", "label": "c"}],
    "row": {"caption": "", "section": "Awards", "number": 3, "cells": [CELL]},
    "attribute": {"path": ["Born"], "values": [{"text": "1998", "entities": []}]},
    "mentions": [{"start": 0, "end": 4, "id": "Q1"}],
}


@pytest.mark.parametrize("source", [*SOURCES, "infobox"])
def test_a_whole_evidence_passes(source):
    check_evidence(changed(source=source, retrieved_for_entity={"id": "Q1", "label": "a"}, score=0.5, **GIVEN), "here")


@pytest.mark.parametrize(
    ("bad", "names"),
    [
        (changed(fact=[{"id": 1, "label": "a"}]), "fact[0].id"),
        (changed(fact="Q1"), "fact"),
        (changed(row={"cells": [CELL]}), "caption"),
        (changed(row={**GIVEN["row"], "cells": [{"header": "Year"}]}), "row.cells[0]"),
        (changed(attribute={"path": "Born", "values": []}), "attribute.path"),
        (changed(mentions=[["Q1", 0, 4]]), "mentions[0]"),
        (changed(mentions=None), "mentions"),
        ("text", "str"),
        (None, "NoneType"),
        (changed(evidence_text=...), "evidence_text"),
        (changed(evidence_text=3), "evidence_text"),
        (changed(source=...), "kb, text, table, info"),
        (changed(source="page"), "page"),
        (changed(wikidata_entities=...), "wikidata_entities"),
        (changed(wikidata_entities=["Q1"]), "wikidata_entities"),
        (changed(wikidata_entities=[{"id": "Q1"}]), "wikidata_entities"),
        (changed(wikidata_entities=[{"id": 1, "label": "a"}]), "wikidata_entities"),
        (changed(disambiguations=...), "disambiguations"),
        (changed(disambiguations=[["a"]]), "disambiguations"),
        (changed(retrieved_for_entity="Q1"), "retrieved_for_entity"),
    ],
)
def test_a_faulty_evidence_is_refused_with_place_and_key(bad, names):
    assert refused(DataError, lambda: check_evidence(bad, "MyERS on turn 3"), names).startswith("MyERS on turn 3: ")


def conversations(change=None):
    asked = {"question": "who?", "answers": [{"id": "Q1", "label": "one"}]}
    turns = [{"turn": number, **asked, "extra": [number]} for number in range(2)]
    data = [{"conv_id": name, "domain": "books", "questions": copy.deepcopy(turns)} for name in ("c0", "c1")]
    if change:
        change(data)
    return data


def test_good_conversations_come_back_untouched_with_unknown_keys():
    assert check_conversations(conversations(), "file") == conversations()


def test_gold_answers_are_optional_and_a_missing_label_is_the_id():
    def change(data):
        del data[0]["questions"][0]["answers"]
        del data[0]["questions"][1]["answers"][0]["label"]

    turns = check_conversations(conversations(change), "file")[0]["questions"]
    assert "answers" not in turns[0]
    assert turns[1]["answers"] == [{"id": "Q1", "label": "Q1"}]


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda d: d[1].pop("conv_id"), ["conversation 1", "'conv_id' is missing"]),
        (lambda d: d[1].pop("questions"), ["conversation 'c1'", "'questions' is missing"]),
        (lambda d: d[1].update(questions={}), ["conversation 'c1'", "'questions' is dict"]),
        (lambda d: d[1]["questions"][1].pop("question"), ["conversation 'c1', turn 1", "'question' is missing"]),
        (lambda d: d[1]["questions"][1].update(question=None), ["conversation 'c1', turn 1", "'question' is NoneType"]),
        (lambda d: d[1]["questions"][0].update(answers="Q1"), ["conversation 'c1', turn 0", "'answers' is str"]),
        (lambda d: d[1]["questions"][0].update(answers=["Q1"]), ["conversation 'c1', turn 0", "an answer is str"]),
        (lambda d: d[1]["questions"][0]["answers"][0].pop("id"), ["conversation 'c1', turn 0", "'id' is missing"]),
        (lambda d: d[1]["questions"][0]["answers"][0].update(id=7), ["conversation 'c1', turn 0", "'id' is int"]),
        (lambda d: d[1]["questions"].append("who?"), ["conversation 'c1'", "turn 2 is str"]),
        (lambda d: d.append([]), ["conversation 2 is list"]),
        (lambda d: d[1].update(conv_id="c0"), ["conversation 'c0'", "twice"]),
        (lambda d: d[0]["questions"][0].update(qestion=d[0]["questions"][0].pop("question")), ["mean 'qestion'"]),
        (lambda d: d[0]["questions"][0]["answers"][0].update(label=None), ["conversation 'c0', turn 0", "label"]),
    ],
)
def test_a_faulty_conversation_is_refused_with_file_conversation_and_turn(change, parts):
    message = refused(DataError, lambda: check_conversations(conversations(change), "dir/test.json"), *parts)
    assert message.startswith("dir/test.json: ")
