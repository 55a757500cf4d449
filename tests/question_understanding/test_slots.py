import copy

import pytest

from convinse.config import parse_config
from convinse.question_understanding.slots import Slots
from convinse.testing import QuestionUnderstandingContract
from handmade import FILM, claim, document, q, world


@pytest.fixture
def slots(world_kb):
    return Slots(parse_config({}), world_kb)


def play(module, *turns):
    """The slots of the last question of a conversation of (question, answers as (id, label))."""
    history = []
    for question, *answers in turns:
        turn = {"question": question}
        module.inference_on_turn(turn, copy.deepcopy(history))
        history.append({**turn, "answers": [{"id": item, "label": label} for item, label in answers]})
    return [slot.strip() for slot in history[-1]["structured_representation"].split("||")]


NOLAN, CAMERON, TOLKIEN = ("Q25191", "Christopher Nolan"), ("Q42574", "James Cameron"), ("Q892", "J. R. R. Tolkien")
INCEPTION = ("Who directed Inception?", NOLAN)
AVATAR = ("Who directed Avatar?", CAMERON)


@pytest.mark.parametrize(
    ("question", "entities", "answer_type"),
    [
        ("Who directed Inception?", "Inception", "person"),
        ("When was Inception released?", "Inception", "date"),
        ("Where was James Cameron born?", "James Cameron", "place"),
        ("How tall is Leonardo DiCaprio?", "Leonardo DiCaprio", "number"),
        ("Which band was Paul McCartney in?", "Paul McCartney", "band"),
        ("Was Kate Winslet in Inception?", "Kate Winslet, Inception", "yes or no"),
    ],
)
def test_a_complete_question_fills_its_slots_by_itself(slots, question, entities, answer_type):
    context, found, _, kind = play(slots, (question,))
    assert (context, found, kind) == ("", entities, answer_type)


def test_predicate_words_are_those_in_no_name(slots):
    assert play(slots, ("Who directed Inception?",))[2] == "directed"
    assert play(slots, ("What was the release date of Game of Thrones?",))[2] == "release date"


def test_words_that_carry_the_question_are_predicate_words(slots):
    assert play(slots, ("Which films did he make before Inception?",))[2] == "films make before"
    assert play(slots, ("Who directed most of Game of Thrones?",))[2] == "directed most"


def test_by_themselves_they_do_not_say_what_is_asked(slots):
    bare = ("Before?", CAMERON)
    assert play(slots, ("Who directed Inception?", NOLAN), bare)[2:] == ["Before directed", "person"]


def test_the_representation_is_four_slots_with_the_delimiter(world_kb):
    module = Slots(parse_config({"sr_delimiter": " ## "}), world_kb)
    turn = {"question": "Who directed Inception?"}
    found = module.inference_on_turn(turn, [])
    assert found == turn["structured_representation"]
    assert found.strip() == "## Inception ## directed ## person"  # no context yet
    history = [{**turn, "answers": [{"id": NOLAN[0], "label": NOLAN[1]}]}]
    follow_up = {"question": "When was he born?"}
    assert module.inference_on_turn(follow_up, history) == "Inception ## Christopher Nolan ## born ## date"


@pytest.mark.parametrize(
    ("question", "entity"),
    [
        ("When was he born?", "Christopher Nolan"),
        ("What is his height?", "Christopher Nolan"),
        ("When was it released?", "Inception"),
        ("What is its genre?", "Inception"),
    ],
)
def test_pronouns_refer_to_what_fits_them(slots, question, entity):
    context, entities, *_ = play(slots, INCEPTION, (question,))
    assert entities == entity
    assert context == ("Inception" if entity != "Inception" else "")


def test_a_plural_pronoun_refers_to_a_group(slots):
    beatles = ("Which band was John Lennon in?", ("Q1299", "The Beatles"))
    assert play(slots, beatles, ("When did they split?",))[1] == "The Beatles"


def test_the_latest_person_is_meant(slots):
    conversation = [INCEPTION, ("Who starred in it?", ("Q38111", "Leonardo DiCaprio"))]
    assert play(slots, *conversation, ("How tall is he?",))[1] == "Leonardo DiCaprio"


def test_a_noun_of_a_class_refers_to_the_latest_thing_of_that_class(slots):
    conversation = [("When did Game of Thrones start?", ("2011-04-17T00:00:00Z", "17 April 2011")), AVATAR]
    assert play(slots, *conversation, ("How long was the series?",))[1] == "Game of Thrones"
    assert play(slots, *conversation, ("How long was the film?",))[1] == "Avatar"


def test_a_part_of_a_name_means_who_was_talked_about(slots):
    assert play(slots, INCEPTION, ("Where did Nolan grow up?",))[1] == "Christopher Nolan"


@pytest.mark.parametrize(
    "question",
    ["What about Avatar?", "And Avatar?", "How about Avatar?", "and what about Avatar?", "what about avatar?"],
)
def test_an_ellipsis_asks_the_same_of_something_else(slots, question):
    context, entities, predicate, kind = play(slots, INCEPTION, (question,))
    assert (entities, predicate, kind) == ("Avatar", "directed", "person")
    assert context == ""  # another film: the topic has changed


def test_an_ellipsis_adds_its_own_words(slots):
    conversation = ("When was James Cameron born?", ("1954-08-16T00:00:00Z", "16 August 1954"))
    _, entities, predicate, _ = play(slots, conversation, ("And the height?",))
    assert entities == "James Cameron"
    assert "height" in predicate.split()


def test_a_bare_question_word_asks_the_same_another_way(slots):
    conversation = ("Where was James Cameron born?", ("Q1", "Kapuskasing"))
    _, entities, predicate, kind = play(slots, conversation, ("And when?",))
    assert (entities, predicate, kind) == ("James Cameron", "born", "date")


def test_ellipses_in_a_row_keep_the_predicate(slots):
    _, entities, predicate, kind = play(slots, INCEPTION, ("What about Avatar?", CAMERON), ("And Titanic?",))
    assert entities.split(", ")[0] == "Titanic"
    assert (predicate, kind) == ("directed", "person")


def test_a_question_of_its_own_words_inherits_none(slots):
    assert play(slots, INCEPTION, ("When was it released?",))[2:] == ["released", "date"]


def test_the_topic_stays_as_context_while_its_people_are_talked_about(slots):
    context, entities, *_ = play(slots, INCEPTION, ("When was Leonardo DiCaprio born?",))
    assert (context, entities) == ("Inception", "Leonardo DiCaprio")


def test_another_thing_of_the_same_class_is_a_new_topic(slots):
    assert play(slots, INCEPTION, ("Who starred in Titanic?",))[0] == ""
    books = ("Who wrote The Hobbit?", TOLKIEN)
    assert play(slots, books, ("Who wrote Harry Potter?",))[:2] == ["", "Harry Potter"]


def test_a_new_topic_is_the_context_of_what_follows(slots):
    conversation = [INCEPTION, ("What about Avatar?", CAMERON)]
    assert play(slots, *conversation, ("When was it released?",))[:2] == ["", "Avatar"]
    assert play(slots, *conversation, ("When was he born?",))[:2] == ["Avatar", "James Cameron"]


def test_a_rival_near_what_was_talked_about_is_no_new_topic(slots):
    conversation = [AVATAR, ("Who starred in Titanic?", ("Q202765", "Kate Winslet"))]  # of Avatar's director
    assert play(slots, *conversation, ("When was she born?",))[:2] == ["Avatar", "Kate Winslet"]


def test_gold_answers_of_the_turn_itself_are_not_read(slots):
    alone = {"question": "Who directed it?"}
    answered = {**alone, "answers": [{"id": "Q42574", "label": "SECRET"}]}
    assert slots.inference_on_turn(alone, []) == slots.inference_on_turn(answered, [])


def test_the_history_is_not_changed_and_the_result_is_stored(slots):
    history = [{**WHO, "structured_representation": " || Inception || directed || person", "answers": [NOLAN_ANSWER]}]
    before = copy.deepcopy(history)
    turn = {"question": "When was he born?"}
    found = slots.inference_on_turn(turn, history)
    assert history == before
    assert turn["structured_representation"] == found


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
    slots.inference_on_turn(turn, [before])
    found = [slot.strip() for slot in turn["structured_representation"].split("||")]
    assert len(found) == 4
    assert not before["question"] or found[1:] == ["Inception", "released", "date"]


@pytest.mark.parametrize("question", ["", "?", "And?", "it", "when", "Was it?", "||", "日本語?"])
def test_any_question_will_do(slots, question):
    for history in ([], [{**WHO, "answers": [NOLAN_ANSWER]}]):
        turn = {"question": question}
        assert isinstance(slots.inference_on_turn(turn, history), str)


def test_the_first_slot_stays_empty_in_the_history(slots):
    """A representation without context still has its entities in the second slot."""
    history = [{"question": "Something else", "structured_representation": "|| Inception || directed || person"}]
    turn = {"question": "When was it released?"}
    assert "Inception" in slots.inference_on_turn(turn, history)


class TestContract(QuestionUnderstandingContract):
    def make(self, config):
        return Slots(config)


# -- names in part -----------------------------------------------------------------------------------------------------


def test_a_part_of_a_name_is_linked_in_a_follow_up_only_near_what_was_talked_about(slots):
    alone = play(slots, ("Where was Winslet born?",))
    assert alone[1] == "Kate Winslet"
    released = ("When was Titanic with Leonardo DiCaprio released?", ("1997", "1997"))
    assert play(slots, released, ("Where was Winslet born?",))[1] == "Kate Winslet"
    far = play(slots, ("Who wrote The Hobbit?", TOLKIEN), ("And did Winslet read it?",))
    assert "Kate Winslet" not in far[1]


def test_a_whole_name_is_linked_wherever_the_conversation_is(slots):
    found = play(slots, ("Who wrote The Hobbit?", TOLKIEN), ("Where was Kate Winslet born?",))
    assert found[1] == "Kate Winslet"


def test_a_first_name_is_the_person_s_who_is_in_a_fact_with_the_topic(slots):
    found = play(slots, ("When was Titanic released?", ("1997", "1997")), ("What else did Leonardo play in?",))
    assert found[1] == "Leonardo DiCaprio"
    found = play(slots, ("Who wrote The Hobbit?", TOLKIEN), ("What did Leonardo play in?",))
    assert "DiCaprio" not in found[1]


def test_a_name_of_several_things_stays_as_it_is_written(kb_of):
    documents = [
        *world(),
        document("Q1001", "Charly", claim("P31", q(FILM)), claim("P57", q("Q25191")), aliases=["Flowers for Algernon"]),
        document("Q1002", "Flowers for Algernon", claim("P31", q("Q7725634"))),
        document("Q1003", "Blue Moon", claim("P31", q(FILM)), aliases=["Moon in Blue"]),
    ]
    module = Slots(parse_config({}), kb_of(*documents))
    assert play(module, ("Who wrote Flowers for Algernon?",))[1] == "Flowers for Algernon"
    assert play(module, ("Who directed Moon in Blue?",))[1] == "Blue Moon"  # of one thing the name is its label
