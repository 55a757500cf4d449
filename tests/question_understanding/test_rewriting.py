"""The question in full: words put in and left out (tests/cases/rewrites.yml), and what a follow-up is about."""

from itertools import zip_longest

import numpy as np
import pytest

from case_tables import each_case
from convinse.config import load_config
from convinse.encoder.question_readers import Pointers
from convinse.language.language import english
from convinse.question_understanding.referents import EarlierEntity, FeatureReader, ReferentFeatures, earlier_entities
from convinse.question_understanding.rewriting import names_in, pointed
from convinse.question_understanding.slots import Slots, unlinked_names
from convinse.records.rewriting import EarlierTurn, Insertion, concatenated, history_text, rewritten
from convinse.resources import Resources
from convinse.testing import QuestionUnderstandingContract
from convinse.wikipedia.pages import NoPages

HISTORY = [EarlierTurn(f"Q{number}?", f"a{number}") for number in range(7)]
TITANIC, CAMERON = {"id": "Q44578", "label": "Titanic"}, {"id": "Q42574", "label": "James Cameron"}
TOLSTOY_ITEM = {"id": "Q7243", "label": "Leo Tolstoy"}


@each_case("rewrites")
def test_words_go_in_and_out(case):
    inserted = [(text, Insertion(place, place, 0, "question")) for place, text in case["inserted"]]
    full = rewritten(case["question"], inserted, [tuple(span) for span in case["removed"]], english().words.owns)
    assert full.text == case["full"]
    assert [full.text[span.start : span.end] for span in full.insertions] == [text for _, text in case["inserted"]]


def test_the_history_is_read_from_its_end_and_its_beginning():
    text = history_text(HISTORY)
    assert text == "Q6? = a6 | Q5? = a5 | Q4? = a4 | Q0? = a0" and history_text([]) == ""


def test_without_a_model_the_question_before_and_its_answer_go_before():
    full = concatenated("When?", HISTORY[:2])
    assert full.text == "Q1? a1 When?" and concatenated("When?", []).text == "When?"
    assert [full.text[span.start : span.end] for span in full.insertions] == ["Q1?", "a1"]


def test_a_name_has_the_best_share_of_the_pointers_that_its_places_have():
    history = [{"question": "Who directed Titanic?", "answers": [CAMERON], "representation": {"entities": [TITANIC]}}]
    text = history_text([EarlierTurn("Who directed Titanic?", "James Cameron")])
    tokens = np.array([(place, place + len(word)) for place, word in starts(text)])
    shares = np.zeros((2, 1 + len(tokens)))
    shares[1, 1 + [word for _, word in starts(text)].index("Titanic?")] = 0.5
    pointers = Pointers(tokens - [0, 1] * (tokens[:, 1:] == text.index("?") + 1), shares, shares, shares)
    assert pointed(earlier_entities(history), list(names_in(text, history)), pointers) == [0.25, 0.0]


def starts(text):
    place = 0
    for word in text.split():
        yield text.index(word, place), word
        place = text.index(word, place) + len(word)


def test_features_of_items_of_the_history(world_kb):
    history = [{"question": "?", "answers": [CAMERON], "representation": {"entities": [TITANIC], "context": []}}]
    reader = FeatureReader(world_kb, NoPages(), english())
    film, director = reader.read("When was he born?", earlier_entities(history), range(1), [0.0, 1.0], {})
    assert (film.fits, director.fits, film.pointed, director.pointed) == (-1.0, 1.0, -1.0, 0.0)
    assert (film.first_asked, film.asked, film.last_answer, director.last_answer) == (1.0, 1.0, 0.0, 1.0)
    film, director = reader.read(
        "Who stars in the film?", earlier_entities(history), range(1), [0.0, 0.0], {"Q25188": 0}
    )
    assert (film.of_class, director.of_class, film.fits) == (1.0, -1.0, 0.0)
    for name, pronoun, may in (("Helen Ross", "he", False), ("Mrs Okoye", "she", True), ("Robin Day", "he", True)):
        assert reader.may_mean(pronoun, EarlierEntity({"id": name, "label": name}, (0,), (), is_person=True)) == may
    album = EarlierEntity({"id": "Mylo Xyloto", "label": "Mylo Xyloto"}, (), (0,), is_person=False, is_thing=True)
    assert reader.may_mean("it", album) and not reader.may_mean("it", album._replace(is_thing=False))
    assert not reader.may_be_item("they", TITANIC["id"]) and reader.may_be_item("it", TITANIC["id"])
    assert len(film) == len(ReferentFeatures._fields)


@pytest.mark.parametrize(
    ("topics", "present"),
    [
        ([[TITANIC], [CAMERON]], range(2)),  # in a fact
        ([[TOLSTOY_ITEM], [TITANIC]], range(1, 2)),
        ([[TOLSTOY_ITEM], [TITANIC], [], [CAMERON]], range(1, 4)),  # a turn about nothing is of both
        ([[TITANIC], [TOLSTOY_ITEM], [CAMERON]], range(2, 3)),
        ([[], []], range(2)),
        ([], range(0)),
    ],
)
def test_turns_of_the_present_topic(world_kb, topics, present):
    reader = FeatureReader(world_kb, NoPages(), english())
    history = [{"question": "?", "representation": {"entities": items, "context": []}} for items in topics]
    assert reader.present_topic(history) == present
    for turn in history:
        turn["resolved_question"] = "Who directed Titanic?"  # with words of the history
    assert reader.present_topic(history) == range(len(history))


TOLSTOY, GODFATHER = "How many children did Leo Tolstoy have?", "Who directed The Godfather?"
ANSWERS = {
    GODFATHER: {"id": "Q56094", "label": "Francis Ford Coppola"},
    "Who shot Titanic?": {"id": "Russell Carpenter", "label": "Russell Carpenter"},
    "Who played Rose in Titanic?": {"id": "Q202765", "label": "Kate Winslet"},
}
CONVERSATIONS = [
    (TOLSTOY, "And what was the cause of his death?", "Leo Tolstoy's death", "Q7243"),
    (GODFATHER, "When was he born?", "Francis Ford Coppola born", "Q56094"),
    (GODFATHER, "How long is the film?", "The Godfather", "Q47703"),
    ("Who stars in the film Titanic?", "Who directed the film?", "the film (Titanic)", "Q44578"),
    ("How tall is Shakira?", "Who directed Jaws?", "Who directed Jaws", "Q189505"),
    (GODFATHER, TOLSTOY, TOLSTOY[:-1], "Q7243"),
    (TOLSTOY, "Where was Ridley Scott born?", "Where was Ridley Scott born", "Q56005"),
    ("Who directed Jaws?", "tell me about Titanic", "tell me about Titanic", "Q44578"),
    ("How tall is Shakira? | Who directed Jaws? | When was it released?", "Who wrote the music?", "(Jaws)", "Q189505"),
    ("Who played Rose in Titanic? | Who shot Titanic?", "When was she born?", "was Kate Winslet born", "Q202765"),
    # nothing unlikely of a topic that is over
    ("How tall is Shakira? | Who coached Brazil in 1970?", "how did they win it?", "how did Brazil win it", "Q155"),
    ("Where is Rio de Janeiro? | How tall is Shakira?", "did she win it there?", "did Shakira win it there", "Q34424"),
    ("Who wrote Dracula? | Where was Agatha Christie born?", "did it ever snow there?", "(Agatha Christie)", "Q35064"),
    (
        "Who wrote Dracula? | who directed the 1992 film?",
        "who played the count in it?",
        "in the 1992 film (Dracula)",
        "Q41542",
    ),
    ("Who directed Lost in Translation?", "Who shot it?", "Who shot Lost in Translation", "Q107270"),
]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("who is Ridley Scott?", "Ridley Scott"),
        ("Can you tell me something about the film Fargo?", "Fargo"),
        ("i'd like to know more about Downton Abbey", "Downton Abbey"),
        ("describe Casablanca", "Casablanca"),
        ("what are they", ""),
        ("who directed Titanic?", ""),
        ("tell me who wrote Dracula", ""),
    ],
)
def test_names_of_which_a_question_asks_no_more_than_what_they_are(question, name):
    assert english().steps.identified(question) == name


@pytest.fixture(scope="module")
def slots():
    config = load_config("config.yml", ers_use_cache=False)
    with Resources(config) as resources:
        yield Slots(config, resources)


class TestContract(QuestionUnderstandingContract):
    def config(self, **overrides):
        return load_config("config.yml", ers_use_cache=False, **overrides)

    def make(self, config):
        return Slots(config)


@pytest.mark.parametrize(
    ("earlier", "question", "words", "item"), CONVERSATIONS, ids=[case[1] for case in CONVERSATIONS]
)
def test_follow_ups_of_the_embedded_model(slots, earlier, question, words, item):
    history = []
    for said in earlier.split(" | "):
        turn = {"question": said, **slots.inference_on_turn({"question": said}, history)}
        turn["answers"] = [ANSWERS[said]] if said in ANSWERS else []
        history.append(turn)
    follow_up = slots.inference_on_turn({"question": question}, history)
    assert words in follow_up["resolved_question"]
    assert [entity["id"] for entity in follow_up["representation"]["entities"]] == [item]


@pytest.mark.parametrize(
    ("question", "predicate"), [("Who directed the film Titanic?", "directed"), ("Is Titanic a film?", "film")]
)
def test_a_noun_beside_a_name_is_not_the_predicate(slots, question, predicate):
    assert slots.inference_on_turn({"question": question}, [])["representation"]["predicate"] == predicate


@each_case("unlinked_names")
def test_names_without_an_item(slots, case):
    candidates = [
        {"question_word": name, "item": {"id": "Q1", "label": name}, "score": 1.0, "rank": 0}
        for name in case.get("linked", ())
    ]
    assert unlinked_names(case["question"], candidates, slots.resources.kb, english()) == case["names"]


def test_a_letter_is_no_unknown_name(slots):
    representation = slots.inference_on_turn({"question": "who was n spike in buffy the vampire slayer"}, [])[
        "representation"
    ]
    assert [entity["label"] for entity in representation["entities"]] == ["Buffy the Vampire Slayer"]
    assert "unlinked" not in representation


@each_case("row_follow_ups")
def test_follow_ups_about_rows(slots, case):
    history = [spoken(slots, case["question"], case["answer"], [])]
    for question, cell, words in case["then"]:
        turn = spoken(slots, question, cell, history)
        row = turn["representation"].get("row")
        assert (None if row is None else row["cells"][0]["text"]) == cell, question
        assert words in turn["resolved_question"]
        if cell is not None:  # what is said beside the row changes nothing
            history.append(turn)


def spoken(slots, question, answer, history):
    """The turn of a question with its answer, if it has one."""
    answers = [{"id": answer, "label": answer}] if answer is not None else []
    return {"question": question, **slots.inference_on_turn({"question": question}, history), "answers": answers}


@each_case("pair_follow_ups")
def test_follow_ups_about_pairs(slots, case):
    history = []
    for question, (item, label) in zip_longest(case["turns"], case.get("answers", ()), fillvalue=(None, None)):
        turn = {"question": question, **slots.inference_on_turn({"question": question}, history)}
        history.append({**turn, "answers": [{"id": item, "label": label}] if item else []})
    full = slots.inference_on_turn({"question": case["question"]}, history)["resolved_question"]
    if case["full"] is None:
        assert " or " not in full
    else:
        assert full == case["full"]
