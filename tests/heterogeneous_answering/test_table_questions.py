"""Questions that order, over the embedded snapshot: its tables and its facts."""

import pytest

from case_tables import each_case
from convinse.config import load_config
from convinse.heterogeneous_answering.question import questions_of
from convinse.heterogeneous_answering.table_questions import computed_answers
from convinse.records.facts import fact_evidence
from convinse.resources import Resources

METALLICA = "Q15920"


@pytest.fixture(scope="module")
def resources():
    with Resources(load_config("lexical.yml")) as opened:
        yield opened


@pytest.fixture(scope="module")
def evidences(resources):
    """A function that gives all rows, attributes and facts of some items of the snapshot."""
    known = {}

    def of(item):
        own = resources.kb.entity(item)
        page = [each | {"retrieved_for_entity": own} for each in resources.wikipedia.get(item) or ()]
        structured = [each for each in page if each["source"] != "text"]
        return [*structured, *(fact_evidence(fact, own) for fact in resources.kb.neighborhood(item))]

    def of_all(items):
        for item in items:
            if item not in known:
                known[item] = of(item)
        return [each for item in items for each in known[item]]

    return of_all


def computed(resources, text, evidences, items):
    own = [resources.kb.entity(item) for item in items]
    expected = resources.language.answer_types.expected_type(text)
    fields = {"context": [], "entities": own, "predicate": "", "answer_type": expected.label}
    turn = {"question": text, "top_evidences": evidences, "resolved_question": text, "representation": fields}
    return computed_answers(questions_of([turn], resources)[0])


@each_case("orders")
def test_an_order_gives_the_answer(resources, evidences, case):
    items = (case["item"],) if case["item"] else ()
    given = evidences(items)
    results = [own for own in computed(resources, case["question"], given, items) if own.operation == "order"]
    labels = [result.entity["label"] for result in results]
    assert case["answer"] in labels if case["answer"] else labels == []
    assert all(place < len(given) for result in results for place in result.places)


def test_the_evidence_shown_is_the_row_that_decides(resources, evidences):
    given = evidences((METALLICA,))
    (best, *_) = computed(resources, "Who produced Metallica's first album?", given, (METALLICA,))
    assert "Kill 'Em All" in given[best.places[0]]["evidence_text"]
