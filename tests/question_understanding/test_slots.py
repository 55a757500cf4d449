from types import SimpleNamespace

import pytest

from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.language.answer_types import AnswerType
from convinse.question_understanding.slots import Slots
from convinse.records.representation import question_entities
from convinse.resources import Resources
from convinse.testing import QuestionUnderstandingContract
from handmade import FILM, claim, document, q, world
from histories import play, understood
from opened import resources_of


@pytest.fixture
def slots(world_kb):
    return Slots(parse_config({}), resources_of(world_kb))


NOLAN, CAMERON, TOLKIEN = ("Q25191", "Christopher Nolan"), ("Q42574", "James Cameron"), ("Q892", "J. R. R. Tolkien")
INCEPTION = ("Who directed Inception?", NOLAN)
AVATAR = ("Who directed Avatar?", CAMERON)


BEATLES = ("Which band was John Lennon in?", ("Q1299", "The Beatles"))
THRONES = ("When did Game of Thrones start?", ("2011-04-17T00:00:00Z", "17 April 2011"))
HOBBIT = ("Who wrote The Hobbit?", TOLKIEN)
PLAYED = ("Who starred in it?", ("Q38111", "Leonardo DiCaprio"))
BORN = ("When was James Cameron born?", ("1954-08-16T00:00:00Z", "16 August 1954"))
WINSLET = ("Who starred in Titanic?", ("Q202765", "Kate Winslet"))  # of Avatar's director
RELEASED = ("When was Titanic released?", ("1997", "1997"))
BOTH_RELEASED = ("When was Titanic with Leonardo DiCaprio released?", ("1997", "1997"))
ANY = None
FILLED = {
    "a complete question": [
        (("Who directed Inception?",), "", "Inception", "directed", "person"),
        (("When was Inception released?",), "", "Inception", ANY, "date"),
        (("Where was James Cameron born?",), "", "James Cameron", ANY, "place"),
        (("How tall is Leonardo DiCaprio?",), "", "Leonardo DiCaprio", ANY, "number"),
        (("Which band was Paul McCartney in?",), "", "Paul McCartney", ANY, "band"),
        (("Was Kate Winslet in Inception?",), "", "Kate Winslet, Inception", ANY, "yes or no"),
    ],
    "predicate words are those in no name": [
        (("What was the release date of Game of Thrones?",), ANY, ANY, "release date", ANY),
    ],
    "words that carry the question are predicate words": [
        (("Which films did he make before Inception?",), ANY, ANY, "films make before", ANY),
        (("Who directed most of Game of Thrones?",), ANY, ANY, "directed most", ANY),
    ],
    "by themselves they do not say what is asked": [(INCEPTION, "Before?", ANY, ANY, "Before directed", "person")],
    "pronouns refer to what fits them": [
        (INCEPTION, "When was he born?", "Inception", "Christopher Nolan", ANY, ANY),
        (INCEPTION, "What is his height?", "Inception", "Christopher Nolan", ANY, ANY),
        (INCEPTION, "When was it released?", "", "Inception", "released", "date"),  # it inherits no words
        (INCEPTION, "What is its genre?", "", "Inception", ANY, ANY),
        (BEATLES, "When did they split?", ANY, "The Beatles", ANY, ANY),
        (INCEPTION, PLAYED, "How tall is he?", ANY, "Leonardo DiCaprio", ANY, ANY),  # the latest person
    ],
    "a noun of a class refers to the latest thing of that class": [
        (THRONES, AVATAR, "How long was the series?", ANY, "Game of Thrones", ANY, ANY),
        (THRONES, AVATAR, "How long was the film?", ANY, "Avatar", ANY, ANY),
    ],
    "an ellipsis asks the same of something else": [
        (INCEPTION, question, "", "Avatar", "directed", "person")  # another film: the topic has changed
        for question in ("What about Avatar?", "And Avatar?", "How about Avatar?", "and what about Avatar?",
                         "what about avatar?")
    ],
    "a bare question word asks the same another way": [
        (("Where was James Cameron born?", ("Q1", "Kapuskasing")), "And when?", ANY, "James Cameron", "born", "date"),
    ],
    "the topic stays as context while its people are talked about": [
        (INCEPTION, "When was Leonardo DiCaprio born?", "Inception", "Leonardo DiCaprio", ANY, ANY),
    ],
    "another thing of the same class is a new topic": [
        (INCEPTION, "Who starred in Titanic?", "", ANY, ANY, ANY),
        (HOBBIT, "Who wrote Harry Potter?", "", "Harry Potter", ANY, ANY),
    ],
    "a new topic is the context of what follows": [
        (INCEPTION, ("What about Avatar?", CAMERON), "When was it released?", "", "Avatar", ANY, ANY),
        (INCEPTION, ("What about Avatar?", CAMERON), "When was he born?", "Avatar", "James Cameron", ANY, ANY),
    ],
    "a rival near what was talked about is no new topic": [
        (AVATAR, WINSLET, "When was she born?", "Avatar", "Kate Winslet", ANY, ANY),
    ],
    "a part of a name is linked in a follow-up near what was talked about": [
        (INCEPTION, "Where did Nolan grow up?", ANY, "Christopher Nolan", ANY, ANY),
        (("Where was Winslet born?",), ANY, "Kate Winslet", ANY, ANY),
        (BOTH_RELEASED, "Where was Winslet born?", ANY, "Kate Winslet", ANY, ANY),
        (RELEASED, "What else did Leonardo play in?", ANY, "Leonardo DiCaprio", ANY, ANY),  # in a fact with the topic
    ],
    "a whole name is linked wherever the conversation is": [
        (HOBBIT, "Where was Kate Winslet born?", ANY, "Kate Winslet", ANY, ANY),
    ],
}  # fmt: skip


@pytest.mark.parametrize("rule", FILLED)
def test_what_the_slots_of_a_question_hold(slots, rule):
    for *turns, context, entities, predicate, kind in FILLED[rule]:
        conversation = [turn if isinstance(turn, tuple) else (turn,) for turn in turns]
        expected = (context, entities, predicate, kind)
        filled = play(slots, *conversation)[1]
        assert [slot for slot, wanted in zip(filled, expected, strict=True) if wanted is not ANY] == [
            wanted for wanted in expected if wanted is not ANY
        ], conversation


def test_an_ellipsis_adds_its_own_words_and_a_row_of_them_keeps_the_predicate(slots):
    _, entities, predicate, _ = play(slots, BORN, ("And the height?",))[1]
    assert entities == "James Cameron" and "height" in predicate.split()
    _, entities, predicate, kind = play(slots, INCEPTION, ("What about Avatar?", CAMERON), ("And Titanic?",))[1]
    assert (entities.split(", ")[0], predicate, kind) == ("Titanic", "directed", "person")


@pytest.mark.parametrize("question", ["And did Winslet read it?", "What did Leonardo play in?"])
def test_a_part_of_a_name_far_from_what_was_talked_about_is_not_linked(slots, question):
    assert not {"Kate Winslet", "Leonardo DiCaprio"} & set(play(slots, HOBBIT, (question,))[1][1].split(", "))


def test_the_representation_is_four_slots_with_the_delimiter(world_kb):
    module = Slots(parse_config({"sr_delimiter": " ## "}), resources_of(world_kb))
    turn = {"question": "Who directed Inception?"}
    found = understood(module, turn, [])["structured_representation"]
    assert found.strip() == "## Inception ## directed ## person"  # no context yet
    history = [{**turn, "answers": [{"id": NOLAN[0], "label": NOLAN[1]}]}]
    follow_up = {"question": "When was he born?"}
    found = understood(module, follow_up, history)["structured_representation"]
    assert found == "Inception ## Christopher Nolan ## born ## date"


class Typing:
    """Says of a question what is in a table, and keeps what it is asked."""

    def __init__(self, **told):
        self.told, self.asked = told, []

    def likely(self, questions):
        self.asked += questions
        return [SimpleNamespace(told=AnswerType(*self.told[own.split()[0].strip("?")])) for own, _ in questions]


def test_the_type_is_what_the_model_tells_of_the_question_in_full(slots, monkeypatch):
    typing = Typing(Who=("item", ("human", "group")), What=("place",), When=("any",))
    monkeypatch.setattr(Resources, "answer_typing", typing)
    first, (*_, asked_for) = play(slots, ("Who directed Avatar?",))
    assert asked_for == first["representation"]["answer_type"] == "human group"
    turn, (*_, asked_for) = play(slots, AVATAR, ("What about Titanic?",))
    assert asked_for == "place", "nothing is taken of the type of the turn before"
    # before it is known what the question is about, it is known what it leans on
    assert typing.asked[-2:] == [("What about Titanic?", "Who directed Avatar?"), ("What about Titanic?", turn["resolved_question"])]  # fmt: skip
    turn, (*_, asked_for) = play(slots, AVATAR, ("When was he born?",))
    assert asked_for == ""
    assert typing.asked[-2:] == [("When was he born?",) * 2, ("When was he born?", turn["resolved_question"])]


def test_the_types_of_several_turns_are_asked_for_together(slots, monkeypatch):
    typing = Typing(Who=("person",), When=("date",))
    own, calls = typing.likely, []
    typing.likely = lambda questions: calls.append(len(questions)) or own(questions)
    monkeypatch.setattr(Resources, "answer_typing", typing)
    earlier = {**WHO, "structured_representation": " || Inception || directed || person", "answers": [NOLAN_ANSWER]}
    turns, histories = [{"question": "When was he born?"}, WHO, {"question": "Who?"}], [[earlier], [], [earlier]]
    together = slots.inference_on_turns(turns, histories)
    assert [count for count in calls if count] == [3, 3]
    assert together == [slots.inference_on_turn(turn, own) for turn, own in zip(turns, histories, strict=True)]
    assert slots.inference_on_turns([], []) == []


def test_a_subclass_with_its_own_inference_is_asked_turn_by_turn(world_kb):
    class Shouting(Slots):
        def inference_on_turn(self, turn, history_turns):
            return super().inference_on_turn(turn, history_turns)["structured_representation"].upper()

    module = Shouting(parse_config({}), resources_of(world_kb))
    assert module.inference_on_turns([WHO], [[]]) == [" || INCEPTION || DIRECTED || PERSON"]


WHO, NOLAN_ANSWER = {"question": "Who directed Inception?"}, {"id": "Q25191", "label": "Christopher Nolan"}


@pytest.mark.parametrize(
    "before",
    [
        WHO,
        {**WHO, "answers": []},
        {**WHO, "structured_representation": "Who directed Inception?", "answers": []},
        {"question": "", "answers": [{"id": "Yes", "label": "Yes"}]},
        {**WHO, "answers": [{"id": "Q404404", "label": "nobody we know"}, {"id": "1999", "label": "1999"}]},
    ],
)
def test_any_history_will_do(slots, before):
    turn = {"question": "When was it released?"}
    understood(slots, turn, [before])
    found = [slot.strip() for slot in turn["structured_representation"].split("||")]
    assert len(found) == 4
    assert not before["question"] or found[1:] == ["Inception", "released", "date"]


@pytest.mark.parametrize("question", ["", "?", "And?", "it", "when", "Was it?", "||", "日本語?"])
def test_any_question_will_do(slots, question):
    for history in ([], [{**WHO, "answers": [NOLAN_ANSWER]}]):
        turn = {"question": question}
        assert isinstance(slots.inference_on_turn(turn, history)["structured_representation"], str)


def test_the_first_slot_stays_empty_in_the_history(slots):
    """A representation without context still has its entities in the second slot."""
    history = [{"question": "Something else", "structured_representation": "|| Inception || directed || person"}]
    turn = {"question": "When was it released?"}
    assert "Inception" in slots.inference_on_turn(turn, history)["structured_representation"]


class TestContract(QuestionUnderstandingContract):
    def make(self, config):
        return Slots(config)


def test_a_name_of_several_things_stays_as_it_is_written(kb_of):
    documents = [
        *world(),
        document("Q1001", "Charly", claim("P31", q(FILM)), claim("P57", q("Q25191")), aliases=["Flowers for Algernon"]),
        document("Q1002", "Flowers for Algernon", claim("P31", q("Q7725634"))),
        document("Q1003", "Blue Moon", claim("P31", q(FILM)), aliases=["Moon in Blue"]),
    ]
    module = Slots(parse_config({}), resources_of(kb_of(*documents)))
    assert play(module, ("Who wrote Flowers for Algernon?",))[1][1] == "Flowers for Algernon"
    assert play(module, ("Who directed Moon in Blue?",))[1][1] == "Blue Moon"  # of one thing the name is its label


SPRINGFIELDS = [
    document("Q900", "Springfield", claim("P31", q("Q515")), claim("P17", q("Q30"))),  # far better known
    document("Q901", "Springfield", claim("P31", q("Q515")), claim("P17", q("Q408"))),
    document("Q515", "city"),
    document("Q30", "United States of America"),
    document("Q408", "Australia"),
    document("Q902", "Ann Lee", claim("P31", q("Q5")), claim("P19", q("Q901"))),
    *(document(f"Q91{number}", f"Person {number}", claim("P19", q("Q900"))) for number in range(9)),
]


def test_an_item_of_the_history_stays_itself_through_ten_turns(kb_of):
    """Two towns of one name: the one that answered is meant wherever the name is said, though the other is better known."""
    resources = resources_of(kb_of(*world(), *SPRINGFIELDS), ers_use_cache=False, ers_wikipedia_dump=None)
    module, retriever = Slots(resources.config, resources), ClocqRetriever(resources.config, resources=resources)
    assert resources.linker.link("Where is Springfield?")[0].candidates[0].id == "Q900"
    history = [understood(module, {"question": "Which city was Ann Lee born in?"}, [])]
    history[0]["answers"] = [{"id": "Q901", "label": "Springfield"}]
    follow_ups = ["Which country is Springfield in?", "What is its population?", "And its area?", "When was that city founded?",
                  "Who was born there?", "Is Springfield a city?", "What about its mayor?", "Where is Springfield?",
                  "How old is the city?"]  # fmt: skip
    for question in follow_ups:
        turn = understood(module, {"question": question}, history)
        items = {item["id"] for key in ("context", "entities") for item in turn["representation"][key]}
        assert "Q900" not in items, question
        assert "Q901" in items or "Springfield" not in question, question
        _, entities = retriever.retrieve_evidences(
            turn["structured_representation"], ["kb"], question_entities(turn["representation"])
        )
        assert "Q900" not in {entity["item"]["id"] for entity in entities}, question
        history.append({**turn, "answers": []})
    assert len(history) == 10
