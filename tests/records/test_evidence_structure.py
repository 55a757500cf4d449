"""Structure read from the text of evidences that come without any; texts are in tests/cases/evidence_texts.yml."""

import copy
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from case_tables import each_case
from convinse.records.evidence_structure import structured
from convinse.records.facts import fact_evidence, fact_of, fact_text
from evidences import evidence
from patience import BUSY

YEAR = ("1997", "1997-01-01T00:00:00Z")
KEYS = {"kb": "fact", "table": "row", "info": "attribute"}


def surfaces(record):
    """The mentions as [surface form, id], cut out at their places."""
    text = record["evidence_text"]
    return [[text[place["start"] : place["end"]], place["id"]] for place in record["mentions"]]


def listed(record):
    """The texts of the cells or values, each checked at its place, with the labels of their entities."""
    parts = record["row"]["cells"] if "row" in record else record["attribute"]["values"]
    for part in parts:
        assert record["evidence_text"].startswith(part["text"], part["start"])
    return [(part["text"], [entity["label"] for entity in part["entities"]]) for part in parts]


@each_case("evidence_texts", "labels")
def test_a_fact_is_read_from_its_labels(case):
    words = case["labels"]
    entities = {label: f"Q{number}" for number, label in enumerate(dict.fromkeys(words[::2]), 1)}
    fact = structured(evidence(", ".join(words), "kb", *entities.items()))["fact"]
    assert [entity["label"] for entity in fact] == words
    assert [entity["id"] for entity in fact[::2]] == case["ids"]
    assert [entity["id"] for entity in fact[1::2]] == words[1::2]  # predicates have no ids


def test_two_items_of_one_label_come_in_the_order_they_are_listed_in():
    found = structured(evidence("Titanic, named after, Titanic", "kb", ("Titanic", "Q1"), ("Titanic", "Q2")))
    assert [entity["id"] for entity in found["fact"]] == ["Q1", "named after", "Q2"]
    assert fact_of(found).subject["id"] == "Q1"


LABEL = st.text(alphabet="abc ,", min_size=1, max_size=6).map(str.strip).filter(bool)


@given(st.lists(LABEL, min_size=3, max_size=3))
def test_a_fact_in_words_becomes_facts_without_an_error(labels):
    fact = [{"id": f"Q{number}", "label": label} for number, label in enumerate(labels)]
    bare = fact_evidence(fact, fact[0])
    del bare["fact"], bare["mentions"]
    found = structured(bare)
    if "fact" in found:
        assert bare["evidence_text"].startswith(fact_text(found["fact"]))


def test_a_row_is_read_from_its_headers():
    text = "Kate, Albums, EMI, Year is 1997, Title is Lionheart, or so, By is Kate"
    found = structured(evidence(text, "table", ("Kate", "Q1"), YEAR, ("Kate", "Q1")))
    assert listed(found) == [("1997", ["1997"]), ("Lionheart, or so", []), ("Kate", ["Kate"])]
    row = found["row"]
    assert [(cell["header"], cell["column"]) for cell in row["cells"]] == [("Year", 0), ("Title", 1), ("By", 2)]
    assert (row["caption"], row["section"]) == ("Albums, EMI", "")
    assert {"page", "table", "number"}.isdisjoint(row)  # its table is not known


def test_repeated_cells_have_their_own_places():
    found = structured(evidence("Kate, H is 1, H is 1, 1 is 1", "table"))
    assert [cell["start"] for cell in found["row"]["cells"]] == [11, 19, 27]
    assert listed(found) == [("1", [])] * 3


@pytest.mark.parametrize("source", ["info", "infobox"])
def test_an_attribute_is_read_from_its_commas(source):
    text = "Titanic, Release, 1997, London, 1997, , U.S."
    found = structured(evidence(text, source, ("Titanic", "Q1"), YEAR, ("London", "Q84"), YEAR))
    assert (found["source"], found["attribute"]["path"]) == (source, ["Release"])
    assert listed(found) == [("1997", ["1997"]), ("London", ["London"]), ("1997", ["1997"]), ("U.S.", [])]


def test_an_attribute_below_a_sub_header_keeps_both_names_and_a_date_stays_whole():
    released = evidence("Alien, Release, Release date, May 25, 1979", "info", ("May 25, 1979", "1979-05-25T00:00:00Z"))
    value = {"text": "May 25, 1979", "entities": released["wikidata_entities"], "start": 30}
    assert structured(released)["attribute"] == {"path": ["Release", "Release date"], "values": [value]}


@each_case("evidence_texts", "formless")
def test_a_text_without_the_form_of_its_source_gets_no_structure(case):
    for entities in ([("Titanic", "Q1"), YEAR], [("", "Q1")], []):
        found = structured(evidence(case["formless"], case["source"], *entities))
        assert KEYS[case["source"]] not in found and fact_of(found) is None


@pytest.mark.parametrize("source", ["text", *KEYS])
def test_mentions_have_places_in_every_source(source):
    found = structured(evidence("Titanic, It opened in 1997.", source, ("Titanic", "Q1"), YEAR))
    assert found["mentions"] == [{"start": 0, "end": 7, "id": "Q1"}, {"start": 22, "end": 26, "id": YEAR[1]}]


@each_case("evidence_texts", "mentions")
def test_mentions_are_whole_words_in_order_that_do_not_overlap(case):
    found = structured(evidence(case["text"], "text", *case["entities"]))
    assert surfaces(found) == case["mentions"]
    if "1997," in case["text"]:
        assert found["mentions"][0]["start"] == case["text"].index("1997,")


def test_a_link_without_an_item_is_no_mention():
    linked = evidence("Fargo, by the Coens", "text", ("Fargo", "Q222720"))
    linked["disambiguations"] += [["Coens", None], [None, "Q1"]]
    assert structured(linked)["mentions"] == [{"start": 0, "end": 5, "id": "Q222720"}]


def test_very_many_mentions_take_no_time():
    many = evidence(" ".join(["the"] * 20_000), "text")
    many["disambiguations"] = [["the", "Q1"]] * 21_000
    start = time.process_time()  # which a busy machine does not change
    assert len(structured(many)["mentions"]) == 20_000
    assert time.process_time() - start < BUSY


def test_a_given_row_is_kept_and_its_cells_get_their_places_and_columns():
    """As the contract shows it: without places; its row says 1, which is a header, too."""
    entities = [{"id": "1", "label": "1"}]
    cells = [
        {"header": "1", "text": "12", "entities": []},
        {"header": "", "text": "a, b", "entities": []},
        {"header": "H", "text": "1", "entities": entities},
        {"header": "H", "text": "lost", "entities": [], "column": 7},
    ]
    row = {"caption": "C", "section": "", "number": 3, "cells": cells}
    bare = evidence("Kate, 1 is 12, a, b, H is 1", "table", row=row)
    before = copy.deepcopy(bare)
    found = structured(bare)
    assert bare == before
    places = [(11, 0), (15, 1), (26, 2), (-1, 7)]
    assert found["row"] == row | {
        "cells": [
            {**cell, "start": start, "column": column} for cell, (start, column) in zip(cells, places, strict=True)
        ]
    }
    assert structured(found) is found


def test_given_values_get_their_places():
    values = [{"text": "1997", "entities": []}, {"text": "1997", "entities": []}]
    found = structured(evidence("Kate, 1997, 1997, 1997", "info", attribute={"path": ["1997"], "values": values}))
    assert [value["start"] for value in found["attribute"]["values"]] == [6, 12]
    assert found["attribute"]["path"] == ["1997"]


def test_given_facts_and_places_are_never_replaced():
    fact = [{"id": f"Q{number}", "label": label} for number, label in enumerate(("a", "b", "c"))]
    places = [{"start": 3, "end": 4, "id": "Q9"}]
    found = structured(evidence("A, b, C", "kb", ("A", "Q1"), ("C", "Q2"), fact=fact, mentions=places))
    assert (found["fact"], found["mentions"]) == (fact, places)
    found = structured(evidence("A, b, C", "kb", ("A", "Q1"), ("C", "Q2"), mentions=places))
    assert found["mentions"] == places
    assert [entity["id"] for entity in found["fact"]] == ["Q1", "b", "Q2"]


NAMED = st.tuples(st.text(alphabet="ab,1", max_size=3), st.sampled_from(["Q1", "Q2", "1"]))


@given(st.text(alphabet="ab ,is1", max_size=20), st.sampled_from(["text", *KEYS]), st.lists(NAMED, max_size=4))
def test_any_text_is_taken_and_every_part_stands_at_its_place(text, source, entities):
    bare = evidence(text, source, *entities)
    before = copy.deepcopy(bare)
    found = structured(bare)
    assert bare == before
    assert {key: found[key] for key in bare} == bare
    assert {surface for surface, _ in surfaces(found)} <= {label for label, _ in entities}
    ends = [0]
    for place in found["mentions"]:
        assert ends[-1] <= place["start"] < place["end"]
        ends.append(place["end"])
    if "row" in found or "attribute" in found:
        assert listed(found)
