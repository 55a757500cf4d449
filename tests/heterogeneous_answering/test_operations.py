"""Questions that order, compare, count or look up, over the embedded snapshot: its tables and its facts."""

import pytest

from convinse.config import load_config
from convinse.heterogeneous_answering.entity_voting import EntityVoting
from convinse.heterogeneous_answering.operations import operated
from convinse.heterogeneous_answering.orders import within_years
from convinse.heterogeneous_answering.question import AskedQuestion
from convinse.records.facts import fact_evidence
from convinse.resources import Resources

BEATLES, METALLICA, FLOYD, BOWIE, SHAKIRA = "Q1299", "Q15920", "Q2306", "Q5383", "Q34424"
COPPOLA, RINGS, ROWLING, MESSI, ZIDANE, BECKHAM = "Q193628", "Q15228", "Q34660", "Q615", "Q1835", "Q10520"
PEAKS, TOLKIEN, UNITED, USA, INTER, X_FILES = "Q2085", "Q892", "Q18656", "Q164134", "Q631", "Q2744"
CHRISTIE, TITANIC, FICTION, ALIEN, MATRIX = "Q35064", "Q44578", "Q104123", "Q103569", "Q83495"
REAL, BARCELONA, CASABLANCA, AMADEUS, DEPECHE = "Q8682", "Q7156", "Q132689", "Q190956", "Q482964"
DONOVAN = "Q202237"
BREAKING_BAD, WEST_WING, MAD_MEN, RAIN, BUFFY, BRAZIL = "Q1079", "Q3577037", "Q223977", "Q309153", "Q183513", "Q83459"


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
WITHIN = [
    ("Who was the head coach of the United States in 1992?", USA, "Bora Milutinović"),
    ("Who was the coach of Inter Milan in 2009?", INTER, "José Mourinho"),
    ("Who was the manager of Manchester United in 1990?", UNITED, "Alex Ferguson"),
    ("Which sponsor did Manchester United have in 2008?", UNITED, "American International Group"),
]
COUNTED = [
    ("How many albums did Metallica release before 1990?", METALLICA, "4"),
    ("How many albums did the Beatles release in 1965?", BEATLES, "2"),
    ("How many films did Sofia Coppola make after 2010?", COPPOLA, "4"),
    ("How many albums did Depeche Mode make from 1980 to 1989?", DEPECHE, "4"),
]
NAMED = [
    ("Who played Matt Santos in The West Wing?", WEST_WING, "Jimmy Smits"),
    ("Who was Roger Sterling in Mad Men?", MAD_MEN, "John Slattery"),
    ("Who played Leland in Twin Peaks?", PEAKS, "Ray Wise"),
    ("Who plays Zelda in Singin' in the Rain?", RAIN, "Rita Moreno"),
    ("Who played Rupert Giles in Buffy the Vampire Slayer?", BUFFY, "Anthony Head"),
    ("Who did David Bowie play in Basquiat?", BOWIE, "Andy Warhol"),
    (
        "Who did Santos beat in the final of the Copa Libertadores of 1963?",
        "Q12897",
        "Boca Juniors",
    ),  # of two rows of that name
    ("Who directed David Bowie in The Hunger?", BOWIE, "Tony Scott"),
]
BESIDE = [
    ("Which album came after Help!?", BEATLES, "Rubber Soul"),
    ("Who directed the film after A Hard Day's Night?", BEATLES, "Richard Lester"),
    ("Who replaced Mourinho at Inter Milan?", INTER, "Claudio Ranieri"),
    ("Who was the coach of Barcelona before Guardiola?", "Q7156", "Frank Rijkaard"),
    ("Who directed the movie right after Aliens?", ALIEN, "David Fincher"),
    ("Which film did Sofia Coppola make after Lost in Translation?", COPPOLA, "Marie Antoinette"),
]
COMPARED = [
    ("Is Lionel Messi older than David Beckham?", (MESSI, BECKHAM), "No"),
    ("Is Lionel Messi younger than David Beckham?", (MESSI, BECKHAM), "Yes"),
    ("Was J. R. R. Tolkien born before Agatha Christie?", (TOLKIEN, CHRISTIE), "No"),
    ("Who is older, Zinedine Zidane or David Beckham?", (ZIDANE, BECKHAM), "Zinedine Zidane"),
    ("Which of the two is younger?", (ZIDANE, BECKHAM), "David Beckham"),
    ("Is Titanic longer than Pulp Fiction?", (TITANIC, FICTION), "Yes"),
    ("Which film is longer, Alien or The Matrix?", (ALIEN, MATRIX), "The Matrix"),
    ("Did Casablanca come out before Alien?", (CASABLANCA, ALIEN), "Yes"),
    ("Was Amadeus more expensive than Pulp Fiction?", (AMADEUS, FICTION), "Yes"),
    ("Which club was founded earlier, Real Madrid or Barcelona?", (REAL, BARCELONA), "FC Barcelona"),
    ("Is Pink Floyd younger than the Beatles?", (FLOYD, BEATLES), "Yes"),
    ("Did Revolver come out before Help!?", BEATLES, "No"),
]
CASES = [
    (question, items if isinstance(items, tuple) else (items,), label, reason)
    for reason, cases in (
        ("order", ORDERED),
        ("during", WITHIN),
        ("count", COUNTED),
        ("beside", BESIDE),
        ("role", NAMED),
        ("compare", COMPARED),
    )
    for question, items, label in cases
]


@pytest.mark.parametrize(("question", "items", "label", "reason"), CASES)
def test_the_operation_gives_the_best_answer(resources, evidences, question, items, label, reason):
    turn = {"question": question, "top_evidences": evidences(items)}
    best = EntityVoting(resources.config, resources).inference_on_turn(turn, ("kb", "table"))[0]
    assert (best["answer"]["label"], reason in best["reasons"]) == (label, True)
    assert all(place < len(turn["top_evidences"]) for place in best["evidences"])


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("Who scored the most goals for Brazil?", (BRAZIL,)),  # two have as many
        ("Who was the head coach of the United States in 1998?", (USA,)),  # two in that year
        ("What was the first album of the Beatles with Quincy Jones?", (BEATLES,)),  # the table does not know him
        ("What was the thirtieth album of the Beatles?", (BEATLES,)),
        ("What was the first opera of the Beatles?", (BEATLES,)),
        ("Is Titanic heavier than Pulp Fiction?", (TITANIC, FICTION)),
        ("Is Titanic older than Titanic?", (TITANIC,)),
        ("Who directed Titanic?", (TITANIC,)),
        ("What came after Help!?", (BEATLES,)),  # an album or a film
        ("Which film did McCartney make after Help!?", (BEATLES,)),  # the tables are those of all four
        ("What was the first album?", ()),
    ],
)
def test_what_cannot_be_carried_out_gives_nothing(resources, evidences, question, items):
    turn = {"question": question, "top_evidences": evidences(items)}
    assert operated(AskedQuestion.of(turn, "||", resources)) == (0.0, [])


def test_the_evidence_shown_is_the_row_that_decides(resources, evidences):
    turn = {"question": "Who produced Metallica's first album?", "top_evidences": evidences((METALLICA,))}
    best = EntityVoting(resources.config, resources).inference_on_turn(turn, ("table",))[0]
    assert "Kill 'Em All" in turn["top_evidences"][best["evidences"][0]]["evidence_text"]


def test_a_span_of_years_answers_only_for_what_its_table_is_about(resources, evidences):
    turn = {
        "question": "Who did Landon Donovan beat in the league final in 2011?",
        "top_evidences": evidences((DONOVAN,)),
    }
    assert within_years(AskedQuestion.of(turn, "||", resources)) == []  # his club of that year is no answer
