import pytest

from convinse.records.facts import fact_of


def evidence(text, source, *entities):
    return {
        "evidence_text": text,
        "source": source,
        "wikidata_entities": [{"id": i, "label": name} for i, name in entities],
    }


def test_the_parts_of_a_fact():
    entities = [("Q1", "Aretha Franklin"), ("Q2", "Grammy, Legend Award"), ("1991-01-01T00:00:00Z", "1991")]
    text = "Aretha Franklin, award received, Grammy, Legend Award, point in time, 1991"
    fact = fact_of(evidence(text, "kb", *entities))
    assert (fact.subject["id"], fact.predicate, fact.object["id"]) == ("Q1", "award received", "Q2")
    assert [entity["id"] for entity in fact.entities] == ["Q1", "Q2", "1991-01-01T00:00:00Z"]


@pytest.mark.parametrize(("text", "source"), [("Titanic, It opened in 1997.", "text"), ("Yes, follows, Yes", "kb")])
def test_what_is_no_fact(text, source):
    assert fact_of(evidence(text, source, ("Q1", text.split(",")[0]))) is None
