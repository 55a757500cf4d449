import pytest

from convinse.records.facts import Fact, fact_evidence, fact_of, fact_text

ARETHA = {"id": "Q125121", "label": "Aretha Franklin"}
AWARD = {"id": "P166", "label": "award received"}
LEGEND = {"id": "Q1", "label": "Grammy, Legend Award"}
TIME = {"id": "P585", "label": "point in time"}
YEAR = {"id": "1991-01-01T00:00:00Z", "label": "1991"}
FACT = [ARETHA, AWARD, LEGEND, TIME, YEAR]


def test_the_parts_of_a_fact():
    fact = Fact.of(FACT)
    assert (fact.subject, fact.predicate, fact.object) == (ARETHA, AWARD, LEGEND)
    assert fact.qualifiers == ((TIME, YEAR),)
    assert fact.entities == (ARETHA, LEGEND, YEAR)
    assert Fact.of(FACT[:3]).qualifiers == ()


def test_a_fact_as_evidence_keeps_its_ids_and_the_places_of_its_entities():
    evidence = fact_evidence(FACT, ARETHA)
    assert (
        evidence["evidence_text"]
        == fact_text(FACT)
        == "Aretha Franklin, award received, Grammy, Legend Award, point in time, 1991"
    )
    assert (evidence["source"], evidence["retrieved_for_entity"]) == ("kb", ARETHA)
    assert evidence["fact"] == FACT and evidence["fact"] is not FACT
    assert evidence["wikidata_entities"] == [ARETHA, LEGEND, YEAR]  # predicates are none
    text = evidence["evidence_text"]
    surfaces = [[text[place["start"] : place["end"]], place["id"]] for place in evidence["mentions"]]
    assert surfaces == evidence["disambiguations"]
    assert fact_of(evidence) == Fact.of(FACT)


def test_an_entity_that_comes_twice_has_two_places():
    evidence = fact_evidence([ARETHA, AWARD, ARETHA], ARETHA)
    assert evidence["wikidata_entities"] == [ARETHA]
    assert [place["start"] for place in evidence["mentions"]] == [0, len("Aretha Franklin, award received, ")]


@pytest.mark.parametrize("entities", [{}, {"fact": []}, {"fact": FACT[:2]}])
def test_fewer_than_three_parts_are_no_fact(entities):
    assert (
        fact_of({"evidence_text": fact_text(FACT), "source": "kb", "wikidata_entities": [ARETHA], **entities}) is None
    )
