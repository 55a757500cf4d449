"""Questions that operations answer: orders over the embedded snapshot, and all operations over tables of files."""

from dataclasses import replace

import pytest

from case_tables import cases, each_case
from convinse.config import load_config
from convinse.documents.evidences import document_evidences
from convinse.documents.readers import read_document
from convinse.heterogeneous_answering.comparisons import holds
from convinse.heterogeneous_answering.computed import computed_answers
from convinse.heterogeneous_answering.question import questions_of
from convinse.heterogeneous_answering.statements import said_by_values
from convinse.heterogeneous_answering.tables.table import whole_tables
from convinse.records.facts import fact_evidence
from convinse.resources import Resources
from convinse.wikipedia.pages import NoPages

METALLICA = "Q15920"


@pytest.fixture(scope="module")
def resources():
    with Resources(load_config("lexical.yml")) as opened:
        yield opened


@pytest.fixture(scope="module")
def evidences(resources):
    """A function that gives all evidences of some items of the snapshot."""
    labels = {}

    def of(item):
        entity = resources.kb.entity(item)
        page = [each | {"retrieved_for_entity": entity} for each in resources.pages.get(item) or ()]
        return [*page, *(fact_evidence(fact, entity) for fact in resources.kb.neighborhood(item))]

    def of_all(items):
        for item in items:
            if item not in labels:
                labels[item] = of(item)
        return [each for item in items for each in labels[item]]

    return of_all


def question_of(resources, text, evidences, items):
    entities = [resources.kb.entity(item) for item in items]
    expected = resources.language.answer_types.expected_type(text)
    fields = {"context": [], "entities": entities, "predicate": "", "answer_type": expected.label}
    turn = {"question": text, "top_evidences": evidences, "resolved_question": text, "representation": fields}
    return questions_of([turn], resources)[0]


def computed(resources, text, evidences, items):
    question = question_of(resources, text, evidences, items)
    return computed_answers(question, whole_tables(question))


@each_case("orders")
def test_an_order_gives_the_answer(resources, evidences, case):
    items = (case["item"],) if case["item"] else ()
    found = evidences(items)
    results = [
        computed_order
        for computed_order in computed(resources, case["question"], found, case.get("about", items))
        if computed_order.operation == "order"
    ]
    labels = [result.entity["label"] for result in results]
    assert case["answer"] in labels if case["answer"] else labels == []
    assert all(place < len(found) for result in results for place in result.places)
    if "series" in case:
        assert all(bool(result.rivals) == case["series"] for result in results)


@each_case("values")
def test_the_value_at_a_time_or_of_two_things_or_a_count_gives_the_answer(resources, evidences, case):
    found = evidences(tuple(case["items"]))
    if case["answer"] in (True, False):
        question = question_of(resources, case["question"], found, case["items"])
        is_true, places = holds(question) or said_by_values(question) or (None, ())
        assert is_true is case["answer"]
    else:
        results = computed(resources, case["question"], found, case["items"])
        operations = (case["by"],) if "by" in case else ("interval", "comparison", "count", "span")
        results = [result for result in results if result.operation in operations]
        assert [result.entity["label"] for result in results] == ([case["answer"]] if case["answer"] else [])
        places = results[0].places if results else ()
    shown = " ".join(found[place]["evidence_text"] for place in places)
    assert all(text in shown for text in case["shown"])


def test_the_evidence_shown_is_the_row_that_decides(resources, evidences):
    found = evidences((METALLICA,))
    (best, *_) = computed(resources, "Who produced Metallica's first album?", found, (METALLICA,))
    assert "Kill 'Em All" in found[best.places[0]]["evidence_text"]


class OnePage(NoPages):
    """A page with one table."""

    def __init__(self, evidences):
        self._rows = [each["row"] for each in evidences]

    def table(self, page, table):
        return self._rows


@pytest.mark.parametrize(
    ("table", "question", "operation", "answer"),
    [(case["table"], *question) for case in cases("table_operations") for question in case["questions"]],
)
def test_an_operation_answers_a_question_over_a_table(resources, table, question, operation, answer):
    found, _ = document_evidences("table.csv", read_document("table.csv", table.encode()))
    asked_question = questions_of([{"question": question, "top_evidences": found}], resources)[0]
    of_table = replace(asked_question, open_pages=lambda: OnePage(found))
    results = computed_answers(of_table, whole_tables(of_table))
    assert [(result.operation, result.entity["label"]) for result in results] == (
        [(operation, answer)] if answer else []
    )
    assert all(place < len(found) for result in results for place in result.places)
