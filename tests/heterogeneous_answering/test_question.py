"""What a turn asks, and that all that answers says what it answers from."""

import pytest
from asked_turns import meant, thing
from literal_evidence import Known, attribute, evidence, fact, row

from convinse.config import parse_config
from convinse.encoder.extractive_reader import AnswerSpan
from convinse.heterogeneous_answering.entity_voting import votes
from convinse.heterogeneous_answering.quantities import numbers
from convinse.heterogeneous_answering.question import AskedQuestion, expected_type, likely_classes
from convinse.heterogeneous_answering.reader import read_answers
from convinse.heterogeneous_answering.yes_no import yes_or_no
from convinse.language.answer_types import AnswerType
from convinse.resources import Resources
from evidences import evidence as plain

CLASSES = {"Q1": ("human",), "Q2": ("film genre",), "Q3": ("film",)}
KB = Known(CLASSES, [("P1", "cast member", ["starring", "played"]), ("P2", "duration", ["running time"])])


def asked_of(question, *evidences, **more):
    config = parse_config({})
    turn = {"question": question, "top_evidences": list(evidences), **more}
    return AskedQuestion.of(turn, config.sr_delimiter, Resources(config, kb=KB))


def fields(answer_type):
    entity = {"id": "Q1", "label": "Titanic"}
    return {"context": [], "entities": [entity], "predicate": "played", "answer_type": answer_type}


SLOTS = "a film || Titanic || opened || date"


@pytest.mark.parametrize(
    ("question", "more", "kind", "in_full", "spoken"),
    [
        ("Who was it?", {}, "person", "Who was it?", "Who was it?"),
        ("And?", {"structured_representation": SLOTS}, "date", "a film | Titanic | opened", SLOTS),
        ("Who?", {"structured_representation": "Who? When?"}, "person", "Who? When?", "Who? When?"),
        ("And?", {"structured_representation": SLOTS, "resolved_question": "When did it open?"}, "date",
         "When did it open?", "When did it open?"),
        ("And?", {"structured_representation": SLOTS, "representation": fields("number")}, "number",
         "a film | Titanic | opened", SLOTS),
        ("Who?", {"structured_representation": SLOTS, "representation": fields("")}, "any", "a film | Titanic | opened", SLOTS),
    ],
)  # fmt: skip
def test_the_type_and_the_words_of_a_question(question, more, kind, in_full, spoken):
    asked = asked_of(question, **more)
    assert (asked.question, asked.expected.kind, asked.in_full, asked.spoken) == (question, kind, in_full, spoken)
    assert expected_type({"question": question, **more}, " || ", asked.resources) == asked.expected


class Typing:
    """Expects one type of answer of all that is asked, and keeps what that is."""

    def __init__(self, kind):
        self.expected, self.asked = AnswerType(kind), []

    def likely(self, questions):
        self.asked += questions
        return [self] * len(questions)

    def fit(self, entity_id):
        return 0.4


def test_what_is_expected_and_what_fits_tells_the_model_where_it_has_the_head(monkeypatch):
    typing, human = Typing("number"), {"id": "Q1", "label": "Kate Winslet"}
    assert asked_of("When was it?").fit(human) == 0.0
    monkeypatch.setattr(Resources, "answer_typing", typing)
    asked = asked_of("When was it?", structured_representation=SLOTS, representation=fields("date"))
    assert asked.expected.kind == "number" and asked.fit(human) == 0.4 and not asked.asks_for_year
    assert set(typing.asked) == {("When was it?", "a film | Titanic | opened"), ("When was it?", "When was it?")}


def test_the_model_tells_whether_a_question_says_itself_what_it_wants(monkeypatch):
    typing = Typing("date")
    monkeypatch.setattr(Resources, "answer_typing", typing)
    asked = asked_of("And Titanic?", structured_representation=SLOTS, resolved_question="In which year did it open?")
    assert asked.asking == "And Titanic?" and typing.asked[-1] == ("And Titanic?", "And Titanic?")


def test_all_that_is_asked_of_the_types_of_some_turns_is_asked_at_once(monkeypatch):
    typing, calls = Typing("date"), []
    own = typing.likely
    typing.likely = lambda questions: calls.append(questions) or own(questions)
    monkeypatch.setattr(Resources, "answer_typing", typing)
    turns = [{"question": "And Titanic?", "resolved_question": "When did it open?"}, {"question": "Who?"}]
    assert len(likely_classes(turns, " || ", Resources(parse_config({})))) == 2
    (asked,) = calls
    assert set(asked) == {("And Titanic?", "When did it open?"), ("And Titanic?", "And Titanic?"), ("Who?", "Who?")}


def test_the_names_of_its_own_items_are_not_what_is_asked():
    own = plain("x", retrieved_for_entity={"id": "Q1", "label": "The Titanic"})
    asked = asked_of("Who played in the Titanic?", own)
    assert asked.own == {"Q1"} and asked.stems == {"play"} and asked.shares == [1.0]


@pytest.mark.parametrize(
    ("question", "full", "year"),
    [
        ("In which year did it open?", "", True),
        ("When did it open?", "In which year did it open?", False),  # it says itself what it wants
        ("And Titanic?", "In which year did Titanic open?", True),
    ],
)
def test_a_year_is_asked_for_by_the_question_or_by_the_one_before(question, full, year):
    assert asked_of(question, structured_representation=SLOTS, resolved_question=full).asks_for_year is year


def test_what_fits():
    human, drama, film = thing("Kate Winslet", "Q1"), thing("drama", "Q2"), thing("Titanic", "Q3")
    who, genre = asked_of("Who was it?"), asked_of("Which genre is it?")
    assert who.fit(human) == 1.0 > who.fit(film) and genre.fit(drama) == 1.0 > genre.fit(film)
    assert asked_of("Which film?").fit(film) == 1.0
    assert asked_of("Which film?").fit({**film, "label": "titanic film"}) == pytest.approx(0.2)  # a class, by its label


def test_a_name_without_an_item_may_be_anything_but_a_literal(monkeypatch):
    fits = {
        question: asked_of(question).fit_of_name for question in ("Who?", "Which film?", "What?", "When?", "How many?")
    }
    assert fits == {"Who?": 1.0, "Which film?": 1.0, "What?": 1.0, "When?": 0.0, "How many?": 0.0}
    assert asked_of("Was it?").fit_of_name == 0.0
    assert asked_of("Who?").fit({"id": "Franz John", "label": "Franz John"}) == 1.0
    typing = Typing("date")
    typing.fit_of_name = 0.3
    monkeypatch.setattr(Resources, "answer_typing", typing)
    assert asked_of("Who?").fit_of_name == 0.3


@pytest.mark.parametrize(
    ("question", "fits"),
    [("When?", (1.0, 0.0, 0.0)), ("How many?", (0.0, 1.0, 0.0)), ("Who?", (0.0, 0.0, 1.0)), ("Was it?", (0.0, 0.0, 0.0)),
     ("And then?", (1.0, 1.0, 1.0))],
)  # fmt: skip
def test_how_likely_an_answer_is_a_date_a_number_or_neither(question, fits, monkeypatch):
    names = ("1997-12-19T00:00:00Z", "194", "Q1")
    assert tuple(map(asked_of(question).fit_of_kind, names)) == fits
    assert asked_of(question).fit_of_kind("no item") == fits[2]
    typing = Typing("date")
    typing.fit_of_name = 0.3
    monkeypatch.setattr(Resources, "answer_typing", typing)
    assert tuple(map(asked_of(question).fit_of_kind, names)) == (0.4, 0.4, 0.3)  # 0.4 is what fits that


def test_what_a_question_is_about_is_that_of_its_representation():
    titanic, jaws = thing("Titanic"), thing("Jaws")
    asked = asked_of("And it?", representation=meant(titanic, context=[jaws]))
    assert list(asked.about) == [titanic, jaws]
    assert list(asked_of("And it?", structured_representation=SLOTS).about) == []


@pytest.mark.parametrize(
    ("label", "words", "is_renamed"),
    [
        ("Elvis Presley", "the King", True),
        ("Elvis Presley", "Presley", False),
        ("Elvis Presley", "King Elvis", False),
        ("The Simpsons", "simpson", False),
        ("It", "It", False),  # has only stop words
        ("The Who", "the who", False),
        ("Elvis Presley", "him", False),  # names nothing
    ],
)
def test_what_the_question_calls_by_none_of_its_words(label, words, is_renamed):
    item = thing(label)
    asked = asked_of("Who?", representation=meant(item, candidates=[(item, words)]))
    assert asked.renamed == ({item["id"]: words} if is_renamed else {})


def test_only_what_the_question_is_about_is_renamed():
    king, jaws = thing("Elvis Presley"), thing("Jaws")
    candidates = [(king, "the King"), (jaws, "the King")]
    assert asked_of("Who?", representation=meant(jaws, candidates=candidates)).renamed == {jaws["id"]: "the King"}
    assert asked_of("Who?", representation=meant(jaws, context=[king], candidates=candidates[:1])).renamed == {}
    assert asked_of("Who?", structured_representation=SLOTS).renamed == {}


def test_names_that_no_page_tells_of_are_unknown():
    own = meant(unlinked=[("Molly Brown", [thing("Titanic")]), ("Brindle Oakshott", [])])
    assert asked_of("Who?", representation=own).unknown == ["Brindle Oakshott"]
    del own["unlinked"]
    assert list(asked_of("Who?", representation=own).unknown) == [] == list(asked_of("Who?").unknown)


def test_evidences_without_structure_get_it_and_with_it_keep_it():
    given = [fact("Titanic", "cast member", "Kate Winslet"), row("Titanic", "Cast", ("Name, full", "A is B"))]
    bare = plain("Titanic, Cast, Name is Ann", "table", ("Ann", "Q5"))
    asked = asked_of("Who?", *given, bare)
    assert asked.evidences[:2] == given and asked.evidences[2]["row"]["cells"][0]["text"] == "Ann"
    assert "row" not in bare


ASKED = {
    "votes": ("Who played in it?", votes),
    "dates": ("When was it made?", votes),
    "numbers": ("How many minutes is it?", numbers),
    "yes_no": ("Is it a film?", yes_or_no),
    "reader": ("Who played in it?", None),
}
GIVEN = [
    fact("Titanic", "cast member", "Kate Winslet", own="Titanic"),
    attribute("Titanic", ["Running time"], "194 minutes"),
    evidence("Titanic, It is a film made in 1997.", "text"),
]


def read(asked):
    text = asked.evidences[0]["evidence_text"]
    spans = [AnswerSpan("Kate Winslet", 0, text.index("Kate"), len(text), 1.0, 0.5, 0.1)]
    return read_answers(spans, asked.evidences, asked.shares, asked.fit, asked.language.words)


@pytest.mark.parametrize("reason", ASKED)
def test_all_that_answers_says_why_and_from_which_evidences(reason):
    question, answering = ASKED[reason]
    given = (answering or read)(asked_of(question, *GIVEN))
    candidates = given.candidates() if reason == "yes_no" else given
    assert candidates
    for candidate in candidates:
        assert candidate.reasons == (reason,)
        assert candidate.places and set(candidate.places) <= set(range(len(GIVEN)))
    assert sum(candidate.score for candidate in candidates) == pytest.approx(1)


def test_numbers_are_for_questions_that_ask_for_them():
    assert numbers(asked_of("Who played in it?", *GIVEN)) == []
    assert numbers(asked_of("How many minutes is it?", GIVEN[0])) == []


# -- structure is never rebuilt from text ------------------------------------------------------------------------------
