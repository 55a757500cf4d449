"""`qu: sr` around its model: the text that it is read, and the slots of what it writes (tests/cases/slots.yml)."""

import pytest

from case_tables import each_case
from convinse.config import parse_config
from convinse.question_understanding.structured_representation import StructuredRepresentation, split_slots

HISTORY = [
    {"turn": 0, "question": "Who directed Titanic?", "answers": [{"id": "Q42574", "label": "James Cameron"}]},
    {"turn": 1, "question": " Which stars? ", "answers": [{"id": "Q1", "label": "Leo"}, {"id": "Q2", "label": "Kate"}]},
]
READ = "Who directed Titanic? ||| James Cameron ||| Which stars? ||| Leo, Kate ||| When was he born?"


class Writer:
    """Writes what it is told to, by the end of the text; keeps what it was read."""

    def __init__(self, **written):
        self.read, self._written = [], written

    def write(self, texts):
        self.read.append(list(texts))
        return [
            next((new for end, new in self._written.items() if text.endswith(f"{end}?")), "|| x ||") for text in texts
        ]


def make(writer, **keys):
    module = StructuredRepresentation(parse_config({"qu": "sr", **keys}))
    module.writer = writer
    return module


UNANSWERED = [{"question": "Who?"}, {"question": "When?", "answers": []}]


@pytest.mark.parametrize(
    ("question", "history", "separator", "text"),
    [
        ("When was he born?", HISTORY, " ||| ", READ),
        ("Who?", [], " ||| ", "Who?"),
        ("And where?", UNANSWERED, " / ", "Who? / When? / And where?"),
        ("And where?", HISTORY[:1], " [SEP] ", "Who directed Titanic? [SEP] James Cameron [SEP] And where?"),
    ],
)
def test_questions_and_answers_stand_before_the_question(question, history, separator, text):
    writer = Writer()
    turn = {"question": question, "answers": [{"id": "Q9", "label": "its own, which nothing may read"}]}
    make(writer, history_separator=separator).inference_on_turn(turn, history)
    assert writer.read == [[text]]


def test_turns_are_written_together_and_stay_apart():
    writer = Writer(born="Titanic || James Cameron || born || date", wrote="|| Avatar || wrote || person")
    turns = [{"question": "When was he born?"}, {"question": "Who wrote?"}]
    found = make(writer).inference_on_turns(turns, [HISTORY, []])
    written = [understanding["structured_representation"] for understanding in found]
    assert written == ["Titanic || James Cameron || born || date", " || Avatar || wrote || person"]
    assert writer.read == [[READ, "Who wrote?"]]


@each_case("slots", "written")
def test_there_are_four_slots_whatever_was_written(case):
    assert list(split_slots(case["written"], " || ")) == case["slots"]


def test_the_delimiter_is_that_of_the_configuration():
    module = make(Writer(Who="## a ## b ## c"), sr_delimiter=" ## ")
    assert module.inference_on_turn({"question": "Who?"}, [])["structured_representation"] == " ## a ## b ## c"


def test_the_history_used_is_the_source_of_the_written_words():
    made = make(Writer(born="|| James Cameron || born || stars"))  # the answer type is from no turn
    used = made.inference_on_turn({"question": "When was he born?"}, HISTORY)["history_used"]
    assert used == [{"turn": 0, "part": "answer", "text": "James Cameron"}]
