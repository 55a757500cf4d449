"""Questions that order, over the embedded snapshot: its tables and its facts."""

import pytest

from convinse.config import load_config
from convinse.heterogeneous_answering.question import Knowledge, questions_of
from convinse.heterogeneous_answering.table_questions import computed_answers
from convinse.records.facts import fact_evidence
from convinse.resources import Resources

BEATLES, METALLICA, FLOYD, BOWIE, SHAKIRA, COPPOLA = "Q1299", "Q15920", "Q2306", "Q5383", "Q34424", "Q193628"
RINGS, ROWLING, MESSI, ZIDANE, PEAKS, TOLKIEN = "Q15228", "Q34660", "Q615", "Q1835", "Q2085", "Q892"
UNITED, X_FILES, TITANIC, BREAKING_BAD, BRAZIL = "Q18656", "Q2744", "Q44578", "Q1079", "Q83459"


@pytest.fixture(scope="module")
def resources():
    with Resources(load_config("lexical.yml")) as opened:
        yield opened


@pytest.fixture(scope="module")
def knowledge(resources):
    return Knowledge.of(resources)


@pytest.fixture(scope="module")
def evidences(knowledge, resources):
    """A function that gives all rows, attributes and facts of some items of the snapshot."""
    known = {}

    def of(item):
        own = knowledge.kb.entity(item)
        page = [each | {"retrieved_for_entity": own} for each in resources.wikipedia.get(item) or ()]
        structured = [each for each in page if each["source"] != "text"]
        return [*structured, *(fact_evidence(fact, own) for fact in knowledge.kb.neighborhood(item))]

    def of_all(items):
        for item in items:
            if item not in known:
                known[item] = of(item)
        return [each for item in items for each in known[item]]

    return of_all


ORDERED = [
    ("What was the first album of the Beatles?", BEATLES, "Please Please Me"),  # of one year, by its day
    ("What was the last album by the Beatles?", BEATLES, "Let It Be"),
    ("When was the first album of the Beatles released?", BEATLES, "22 March 1963"),
    ("Who directed the first film of the Beatles?", BEATLES, "Richard Lester"),
    ("Who directed the last film of the Beatles?", BEATLES, "Michael Lindsay-Hogg"),
    ("What was Metallica's second album?", METALLICA, "Ride the Lightning"),
    ("Who produced Metallica's first album?", METALLICA, "Paul Curcio"),
    ("Who produced the latest album by Metallica?", METALLICA, "Greg Fidelman"),
    ("What was the third album by Shakira?", SHAKIRA, "Pies Descalzos"),
    ("What is Shakira's most recent album?", SHAKIRA, "Las Mujeres Ya No Lloran"),
    ("What was Shakira's first English album?", SHAKIRA, "Laundry Service"),
    ("What is Pink Floyd's earliest album?", FLOYD, "The Piper at the Gates of Dawn"),
    ("What was the last album of Pink Floyd before 1980?", FLOYD, "The Wall"),
    ("What was Sofia Coppola's first film?", COPPOLA, "The Virgin Suicides"),
    ("What is Sofia Coppola's newest movie?", COPPOLA, "Priscilla"),
    ("What was David Bowie's first film?", BOWIE, "The Man Who Fell to Earth"),
    ("Who directed David Bowie's last film?", BOWIE, "Christopher Nolan"),
    ("What was the first book by Tolkien?", TOLKIEN, "The Hobbit"),
    ("What is the longest volume of The Lord of the Rings?", RINGS, "The Fellowship of the Ring"),
    ("What is the shortest volume of The Lord of the Rings?", RINGS, "The Two Towers"),
    ("Which Harry Potter novel has the most pages?", ROWLING, "Harry Potter and the Order of the Phoenix"),
    ("In which season did Messi score the most goals?", MESSI, "2011–12"),
    ("Which club did Zidane play the most games for?", ZIDANE, "Real Madrid FC"),
    ("Who directed the most episodes of Twin Peaks?", PEAKS, "David Lynch"),
    ("Who was the first shirt sponsor of Manchester United?", UNITED, "Sharp"),
    ("How many episodes did the first season of Breaking Bad have?", BREAKING_BAD, "7"),
    ("Which season of The X-Files had the most episodes?", X_FILES, "2"),
]


def computed(knowledge, text, evidences, items):
    own = [knowledge.kb.entity(item) for item in items]
    fields = {"context": [], "entities": own, "predicate": "", "answer_type": _type(knowledge, text)}
    turn = {"question": text, "top_evidences": evidences, "resolved_question": text, "representation": fields}
    return computed_answers(questions_of([turn], "||", knowledge)[0])


def _type(knowledge, text):
    return knowledge.language.answer_types.expected_type(text).label


@pytest.mark.parametrize(("question", "item", "label"), ORDERED)
def test_an_order_gives_the_answer(knowledge, evidences, question, item, label):
    given = evidences((item,))
    results = [own for own in computed(knowledge, question, given, (item,)) if own.operation == "order"]
    assert label in [own.entity["label"] for own in results]
    assert all(own.entity["label"] in own.sentence for own in results)
    assert all(place < len(given) for own in results for place in own.places)


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("Who scored the most goals for Brazil?", (BRAZIL,)),  # two have as many
        ("What was the thirtieth album of the Beatles?", (BEATLES,)),
        ("What was the first opera of the Beatles?", (BEATLES,)),
        ("Who directed Titanic?", (TITANIC,)),
        ("What was the first album?", ()),
    ],
)
def test_an_operation_that_cannot_be_carried_out_gives_nothing(knowledge, evidences, question, items):
    results = computed(knowledge, question, evidences(items), items)
    assert [own for own in results if own.operation == "order"] == []


def test_the_evidence_shown_is_the_row_that_decides(knowledge, evidences):
    given = evidences((METALLICA,))
    (best, *_) = computed(knowledge, "Who produced Metallica's first album?", given, (METALLICA,))
    assert "Kill 'Em All" in given[best.places[0]]["evidence_text"]
