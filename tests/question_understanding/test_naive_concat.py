import pytest

from convinse.config import parse_config
from convinse.question_understanding.base import QuestionUnderstanding
from convinse.question_understanding.naive_concat import NcAll, NcInit, NcInitPrev, NcPrev
from convinse.support.registry import find_module

HISTORY = [
    {"question": "Who directed Titanic?", "answers": [{"id": "Q42574", "label": "James Cameron"}]},
    {"question": " When was he born? ", "answers": [{"id": "1954-08-16T00:00:00Z", "label": "16 August 1954"}]},
    {"question": "Which stars?", "answers": [{"id": "Q1", "label": "Leo"}, {"id": "Q2", "label": "Kate"}]},
]
FIRST = "Who directed Titanic? James Cameron"
SECOND = "When was he born? 16 August 1954"
THIRD = "Which stars? Leo, Kate"


def represent(variant, history):
    turn = {"question": "And where?", "answers": [{"id": "Q9", "label": "SECRET"}]}
    found = variant(parse_config({})).inference_on_turn(turn, history)
    assert turn["structured_representation"] == found
    return found


@pytest.mark.parametrize(
    ("variant", "parts"),
    [(NcAll, [FIRST, SECOND, THIRD]), (NcInit, [FIRST]), (NcPrev, [THIRD]), (NcInitPrev, [FIRST, THIRD])],
)
def test_earlier_questions_and_answers_stand_before_the_question(variant, parts):
    assert represent(variant, HISTORY) == " ".join([*parts, "And where?"])
    assert represent(variant, tuple(HISTORY)) == represent(variant, HISTORY)


@pytest.mark.parametrize("variant", [NcAll, NcInit, NcPrev, NcInitPrev])
def test_the_first_two_turns_have_what_is_there_once(variant):
    assert represent(variant, []) == "And where?"
    assert represent(variant, HISTORY[:1]) == f"{FIRST} And where?"


@pytest.mark.parametrize("answers", [{}, {"answers": []}])
def test_an_unanswered_turn_gives_its_question(answers):
    assert represent(NcAll, [{"question": "Who?", **answers}]) == "Who? And where?"


def test_the_history_is_not_changed():
    history = [{**turn, "answers": list(turn["answers"])} for turn in HISTORY]
    represent(NcAll, history)
    assert history == HISTORY


def test_the_variants_are_registered():
    variants = {"nc_all": NcAll, "nc_init": NcInit, "nc_prev": NcPrev, "nc_init_prev": NcInitPrev}
    for name, variant in {"naive_concat": NcAll, **variants}.items():
        assert find_module("qu", name, QuestionUnderstanding) is variant
