"""Conversations over the embedded knowledge base: what a question is about, and what it is not."""

from contextlib import closing

import pytest

from convinse.config import parse_config
from convinse.knowledge_base.index import KnowledgeBase
from convinse.language.text import fold
from convinse.question_understanding.slots import Slots
from histories import play
from opened import resources_of
from places import SNAPSHOT


@pytest.fixture(scope="module")
def slots():
    with closing(KnowledgeBase(SNAPSHOT / "kb")) as kb:
        yield Slots(parse_config({}), resources_of(kb))


def about(slots, *turns):
    """The labels of what the last question is about, those of its context, and the turn; answers are given by name."""
    history = []
    for question, *answers in turns:
        items = [next(iter(slots.kb.candidates(fold(name))), None) for name in answers]
        named = [(item.id, item.label) if item else (name, name) for item, name in zip(items, answers, strict=True)]
        history.append((question, *named))
    turn, _ = play(slots, *history)
    representation = turn["representation"]
    return *({item["label"] for item in representation[key]} for key in ("entities", "context")), turn


TITANIC = ("Who directed Titanic?", "James Cameron")
FICTION = ("Who directed Pulp Fiction?", "Quentin Tarantino")
BAD = ("Who created Breaking Bad?", "Vince Gilligan")
DRACULA = ("Who wrote Dracula?", "Bram Stoker")
METALLICA = ("When did Metallica form?", "1981")


@pytest.mark.parametrize(
    ("turns", "label"),
    [
        # aliases in lower case, wherever the conversation is
        ([BAD, ("what about gaga",)], "Lady Gaga"),
        ([BAD, ("when was bowie born",)], "David Bowie"),
        ([BAD, ("who wrote lotr",)], "The Lord of the Rings"),
        # misspelt titles, too
        ([BAD, ("who directed casblanca",)], "Casablanca"),
        ([BAD, ("when was metalica founded",)], "Metallica"),
        ([BAD, ("Who directed Pulp Fction?",)], "Pulp Fiction"),
        # surnames of people whom the conversation knows
        ([("Who wrote The Shining?", "Stephen King"), ("Where was King born?",)], "Stephen King"),
        ([BAD, ("Where was Cranston born?",)], "Bryan Cranston"),
        ([BAD, ("where was cranston born",)], "Bryan Cranston"),
        # a common word alone in a question that leans on the one before
        ([BAD, ("what about friends",)], "Friends"),
        ([BAD, ("And Friends?",)], "Friends"),
        # names of what was talked about before another topic
        ([FICTION, ("Who directed Jaws?", "Steven Spielberg"), ("How old is Tarantino?",)], "Quentin Tarantino"),
        ([FICTION, ("Who directed Jaws?", "Steven Spielberg"), ("And Spielberg?",)], "Steven Spielberg"),
        # roles
        ([TITANIC, ("When was the director born?",)], "James Cameron"),
        ([DRACULA, ("Where was the author born?",)], "Bram Stoker"),
        ([DRACULA, ("how old was the author",)], "Bram Stoker"),
        ([DRACULA, ("who was the author's wife",)], "Bram Stoker"),
        ([METALLICA, ("When was the drummer born?",)], "Lars Ulrich"),
        ([BAD, ("Is the creator married?",)], "Vince Gilligan"),
        # a question that names a property is about what has it
        ([FICTION, ("Release date?",)], "Pulp Fiction"),
        ([FICTION, ("Birth date?",)], "Quentin Tarantino"),
        ([("Who starred in Titanic?", "Leonardo DiCaprio"), ("Birth date?",)], "Leonardo DiCaprio"),
    ],
)
def test_what_a_question_is_about(slots, turns, label):
    assert label in about(slots, *turns)[0]


@pytest.mark.parametrize(
    ("turns", "label", "topic"),
    [
        # a common noun turns the topic to no film of that name
        ([BAD, ("how many friends does he have",)], "Friends", "Vince Gilligan"),
        ([BAD, ("who lost the match",)], "Lost", "Breaking Bad"),
        ([BAD, ("who is the alien",)], "Alien", "Breaking Bad"),
        ([METALLICA, ("who is the singer",)], "Bryan Singer", "Metallica"),
        ([TITANIC, ("what is love",)], "Courtney Love", "Titanic"),
        ([("Who wrote The Hobbit?", "J. R. R. Tolkien"), ("who was the king",)], "Elvis Presley", "The Hobbit"),
        # a stranger of a surname
        ([BAD, ("Where was Smith born?",)], "Patti Smith", "Breaking Bad"),
        ([BAD, ("Who is Jones?",)], "Toby Jones", "Breaking Bad"),
        ([("Who sang with Lou Reed at the concert of David Bowie?", "Jo Smith"), ("Where was Smith born?",)],
         "Patti Smith", "David Bowie"),
        # the role that is asked for
        ([TITANIC, ("Who was the director?",)], "James Cameron", "Titanic"),
        ([TITANIC, ("What about the director?",)], "James Cameron", "Titanic"),
        ([METALLICA, ("who is the drummer",)], "Lars Ulrich", "Metallica"),
        # "the actor" is one of many
        ([TITANIC, ("When was the actor born?",)], "Leonardo DiCaprio", "Titanic"),
    ],
)  # fmt: skip
def test_what_a_question_is_not_about(slots, turns, label, topic):
    entities, context, _ = about(slots, *turns)
    assert label not in entities | context
    assert topic in entities | context


@pytest.mark.parametrize("question", ["Where was Smith born?", "Was Jones in Pulp Fiction?"])
def test_one_of_many_namesakes_is_meant_where_the_text_tells(slots, question):
    """Patti Smith is far better known than the others; of several known as well, none is."""
    assert bool(about(slots, (question,))[0] & {"Patti Smith"}) == ("Smith" in question)
    assert not about(slots, (question,))[0] & {"Toby Jones", "Quincy Jones", "January Jones"}


def test_a_wrong_turn_is_not_the_topic_for_good(slots):
    wrong = ("Who directed Jaws?", "Steven Spielberg")
    for question, label in (
        ("How old is Tarantino?", "Quentin Tarantino"),
        ("Who edited Pulp Fiction?", "Pulp Fiction"),
    ):
        assert label in about(slots, FICTION, wrong, ("Who played in it?", "Roy Scheider"), (question,))[0]


@pytest.mark.parametrize(
    ("turns", "predicate", "kind"),
    [
        ([("When was Titanic released?", "1997"), ("Of what?",)], "released", ""),
        ([("When was Titanic released?", "1997"), ("By whom?",)], "released", "person"),
        ([("When was Titanic released?", "1997"), ("Where?",)], "released", "place"),
        ([("Where was James Cameron born?", "Kapuskasing"), ("When?",)], "born", "date"),
        ([("Where was James Cameron born?", "Kapuskasing"), ("And the height?",)], "height", "number"),
        ([("When was James Cameron born?", "1954"), ("And Kate Winslet?",)], "born", "date"),
        ([TITANIC, ("What about the genre?",)], "genre", "genre"),
    ],
)
def test_only_what_an_ellipsis_lacks_is_inherited(slots, turns, predicate, kind):
    representation = about(slots, *turns)[2]["representation"]
    assert (representation["predicate"], representation["answer_type"]) == (predicate, kind)


def test_the_question_word_stays_in_the_question_in_full(slots):
    turn = about(slots, ("Where was James Cameron born?", "Kapuskasing"), ("When?",))[2]
    assert turn["resolved_question"] == "When was James Cameron born?"
    turn = about(slots, TITANIC, ("When was the director born?",))[2]
    assert turn["resolved_question"] == "When was the director James Cameron born (Titanic)?"


@pytest.mark.parametrize(
    ("question", "entities"),
    [
        ("ok, Metallica now. who sings?", {"Metallica"}),
        ("Another question: when did Metallica form?", {"Metallica"}),
        ("Let's talk about Metallica. Who sings?", {"Metallica"}),
    ],
)
def test_a_question_may_say_that_it_is_about_something_else(slots, question, entities):
    turned, context, _ = about(slots, TITANIC, (question,))
    assert turned == entities and not context
    follow_up, context, _ = about(slots, TITANIC, (question, "James Hetfield"), ("And when was he born?",))
    assert {"Titanic", "James Cameron"}.isdisjoint(follow_up | context)


def test_where_it_names_nothing_it_is_not(slots):
    assert "Titanic" in about(slots, TITANIC, ("Something else, how long is it?",))[0]


@pytest.mark.parametrize(
    ("turns", "predicate", "kind"),
    [
        ([("Who won the prize in 2002?", "Kofi Annan"), ("And in 2014?",)], "2014 won prize", "person"),
        (
            [("Who coached Metallica from 2009 to 2011?",), ("and the two years from 2013",)],
            "two years 2013 coached",
            "person",
        ),
        (
            [("Which country hosted Metallica when they won in 1978?",), ("And when they came second?",)],
            "came second country hosted",
            "country",
        ),
    ],
)
def test_another_time_takes_the_place_of_the_time_before(slots, turns, predicate, kind):
    representation = about(slots, *turns)[2]["representation"]
    assert (representation["predicate"], representation["answer_type"]) == (predicate, kind)


def test_a_question_about_somebody_somewhere_is_no_ellipsis(slots):
    turn = about(slots, ("Who wrote Titanic?", "James Cameron"), ("Who was he in Pulp Fiction?",))[2]
    assert turn["resolved_question"].startswith("Who was James Cameron in Pulp Fiction")


@pytest.mark.parametrize("question", ["Who was the producer of The Xylograph?", "Who was the director of the film?"])
def test_a_role_of_something_else_is_nobody_known(slots, question):
    entities, context, _ = about(slots, TITANIC, (question,))
    assert "James Cameron" not in entities | context
    born = about(slots, TITANIC, ("When was the director of the film born?",))[0]
    assert "James Cameron" in born


@pytest.mark.parametrize(
    ("question", "predicate"),
    [
        ("And Puddy?", "Puddy played"),  # another name takes the place of the one before
        ("And on the radio?", "radio played Kramer"),
        ("on the radio", "radio played Kramer"),
        ("and in the last season?", "last season played Kramer"),  # not of which season it was the last
        ("And in 1996?", "1996 played Kramer"),
    ],
)
def test_a_name_without_an_item_takes_the_place_of_the_one_before(slots, question, predicate):
    *_, turn = about(slots, ("Who played Kramer in Seinfeld?", "Michael Richards"), (question,))
    assert turn["representation"]["predicate"] == predicate
