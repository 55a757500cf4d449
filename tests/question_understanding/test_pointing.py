"""What pronouns, definite nouns and "that one" point at, where nothing else says what a question is about."""

from contextlib import closing

import pytest

from convinse.config import parse_config
from convinse.knowledge_base.index import KnowledgeBase
from convinse.language.language import english
from convinse.question_understanding.pointing import Name, Pointing
from convinse.question_understanding.referents import Focus, Referent
from convinse.question_understanding.slots import Slots
from handmade import claim, document, q, world
from histories import play
from opened import resources_of
from places import SNAPSHOT

FILM, OTHER = Referent("Q1", "Alien", "thing"), Referent("Q2", "Jaws", "thing")
BAND = Referent("Q3", "Blur", "group")
WOMAN = Referent("Q4", "Jodie Foster", "person", "female")
MAN = Referent("Q5", "Spike Lee", "person", "male")
BRIDE = Referent("Edith Bratt", "Edith Bratt", "person", "female")
CLASSES = {FILM: "film", OTHER: "film", BAND: "band"}


def is_rival(referent, named):
    return any(CLASSES.get(referent) == CLASSES.get(item) and item != referent for item in named)


@pytest.fixture(scope="module")
def kb():
    with closing(KnowledgeBase(SNAPSHOT / "kb")) as opened:
        yield opened


@pytest.fixture
def pointing(kb):
    return Pointing(kb, english(), lambda referent, noun: CLASSES.get(referent) == noun, is_rival)


ABOUT = [Focus((FILM,), (WOMAN,)), Focus((BAND,), (MAN,))]


@pytest.mark.parametrize(
    ("question", "meant", "lacking"),
    [
        ("Where was she born?", [FILM], [WOMAN]),
        ("Where was she born?", [WOMAN], []),
        ("Where was he born?", [WOMAN], [MAN]),
        ("How long is it?", [MAN], [BAND]),
        ("How long is the film?", [MAN], [FILM]),
        ("How long is that film?", [], [FILM]),
        ("How long is the film about a shark?", [MAN], []),  # another one
        ("How long is the film band?", [MAN], []),
        ("How long is the book?", [MAN], []),
        ("When did they split up?", [FILM], [BAND]),
        ("Who made that one?", [MAN], [BAND]),
        ("Who made the one that won?", [MAN], []),
        ("Did he marry her?", [], [MAN, WOMAN]),
        ("Who is there?", [FILM], []),
    ],
)
def test_what_is_lacking_is_the_latest_that_a_word_may_mean(pointing, question, meant, lacking):
    assert pointing.lacking(question, [], meant, ABOUT) == lacking


def test_what_a_question_names_before_is_what_its_pronoun_means(pointing):
    assert pointing.lacking("Did Lee say that he left?", [Name(4, 7, MAN)], [], ABOUT) == []
    assert pointing.lacking("Did he know Lee?", [Name(12, 15, MAN)], [], ABOUT) == [MAN]
    assert pointing.lacking("Alien, who made that one?", [Name(0, 5, FILM)], [], ABOUT) == []
    assert pointing.lacking("How long is the film Alien?", [Name(21, 26, FILM)], [], ABOUT) == []


def test_beside_a_name_that_one_is_the_latest_like_it(pointing):
    question = "Is that one or Jaws longer?"
    assert pointing.lacking(question, [Name(15, 19, OTHER)], [], ABOUT) == [FILM]


def test_who_answered_last_is_meant_also_where_nobody_knows_them(pointing):
    foci = [Focus((MAN,), ()), Focus((MAN,), (), (BRIDE,))]
    assert pointing.lacking("When was she born?", [], [MAN], foci) == [BRIDE]
    assert pointing.lacking("When was he born?", [], [], foci) == [MAN]
    assert pointing.lacking("When did he marry her?", [], [MAN], foci) == [BRIDE]


@pytest.mark.parametrize(
    ("label", "kind", "people"),
    [
        ("Kate Berridge", "person", [("Kate Berridge", "")]),  # the embedded world tells the gender of no Kate
        ("James Corden", "", [("James Corden", "male")]),
        ("Xyx of Qoq", "person", []),
        ("Xyx de Qoq", "person", [("Xyx de Qoq", "")]),
        ("Elizabeth Berridge", "film", []),
        ("The Last Man", "", []),
        ("plutonium", "person", []),
        ("Yes", "", []),
        ("1500", "", []),
    ],
)
def test_a_person_without_an_item_is_known_by_name_and_the_gender_of_the_given_name(pointing, label, kind, people):
    representation = {"context": [], "entities": [], "predicate": "", "answer_type": kind}
    turn = {"question": "?", "answers": [{"id": label, "label": label}], "representation": representation}
    assert [(person.label, person.gender) for person in pointing.told(turn)] == people
    turn["answers"][0]["id"] = "Q1"
    assert pointing.told(turn) == ()


def test_the_gender_of_a_given_name_is_that_of_most_people_of_that_name(kb_of):
    genders = {"Q21": "Q6581072", "Q22": "Q6581072", "Q23": "Q6581097"}
    women = [
        document(item, f"Kim {item}", claim("P31", q("Q5")), claim("P21", q(gender)))
        for item, gender in genders.items()
    ]
    other = document("Q24", "Lee Kim", claim("P31", q("Q5")), claim("P21", q("Q6581097")))
    kb = kb_of(*world(), *women, other)
    pointing = Pointing(kb, english(), lambda referent, noun: False, is_rival)
    representation = {"context": [], "entities": [], "predicate": "", "answer_type": "person"}
    turn = {"question": "?", "answers": [{"id": "Kim Doe", "label": "Kim Doe"}], "representation": representation}
    assert [person.gender for person in pointing.told(turn)] == ["female"]


def test_slots_take_what_is_pointed_at(kb):
    slots = Slots(parse_config({}), resources_of(kb))
    asked = ("Who was Tolkien's wife?", ("Edith Bratt", "Edith Bratt"))
    turn, (_, entities, *_) = play(slots, asked, ("When did he marry her?",))
    assert set(entities.split(", ")) == {"Edith Bratt", "J. R. R. Tolkien"}
    assert turn["resolved_question"] == "When did J. R. R. Tolkien marry Edith Bratt?"
    assert [part["text"] for part in turn["history_used"] if part["part"] == "answer"] == ["Edith Bratt"]
    assert {candidate["item"]["id"] for candidate in turn["representation"]["candidates"]} == {"Q892"}
