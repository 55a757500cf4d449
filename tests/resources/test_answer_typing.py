import numpy as np
import pytest

from case_tables import each_case
from convinse.encoder.answer_classes import DATE, NUMBER, OTHER, TEXT, YES_NO, AnswerClasses
from convinse.language.language import english
from convinse.resources.answer_typing import AnswerTyping, ClassesOfEntities, LikelyClasses

TYPES = english().answer_types
NAMES = {"Q5": "human", "Q6256": "country", DATE: DATE, NUMBER: NUMBER, YES_NO: YES_NO, TEXT: TEXT, OTHER: OTHER}
CLASSES = AnswerClasses(NAMES, {**{name: name for name in NAMES}, "Q7": "Q6256"}, {})
FACTS = {
    ("Q10", 31): ["Q5"], ("Q11", 31): ["Q7", "Q6256"], ("Q12", 31): ["Q5", "Q7"], ("Q13", 31): ["Q20"], ("Q14", 31): ["Q30"],
    ("Q20", 279): ["Q21", "Q22"], ("Q22", 279): ["Q7"],  # two steps below a known class
    ("Q30", 279): ["Q31"], ("Q31", 279): ["Q30"],  # in a circle
    ("Q15", 31): ["Q40"], ("Q40", 279): ["Q41"], ("Q41", 279): ["Q42"], ("Q42", 279): ["Q43"], ("Q43", 279): ["Q5"],  # too far
}  # fmt: skip


class Facts:
    def objects(self, entity_id, prop):
        return FACTS.get((entity_id, prop), [])


ENTITIES = ClassesOfEntities(CLASSES, Facts())
CHANCES = np.array([0.4, 0.3, 0.1, 0.08, 0.06, 0.04, 0.02])


@each_case("fits", "entity")
def test_an_entity_fits_by_its_classes(case):
    assert LikelyClasses(CHANCES, ENTITIES, TYPES).fit(case["entity"]) == pytest.approx(case["fit"])


def test_a_name_that_no_item_is_known_of_fits_where_no_literal_is_expected():
    likely = LikelyClasses(CHANCES, ENTITIES, TYPES)
    assert likely.fit_of_name(is_number=False) == pytest.approx(1 - 0.1 - 0.08 - 0.06)
    assert likely.fit_of_name(is_number=True) == pytest.approx(1 - 0.1 - 0.06)  # "4.9.3" may be a number, too
    for name, fit in ((DATE, 0.0), (NUMBER, 0.0), (YES_NO, 0.0), (TEXT, 1.0), (OTHER, 1.0), ("Q5", 1.0)):
        sure = np.array([float(label == name) for label in NAMES])
        assert LikelyClasses(sure, ENTITIES, TYPES).fit_of_name(is_number=False) == pytest.approx(fit)


@pytest.mark.parametrize(
    ("likeliest", "kind", "words"),
    [("Q5", "person", ()), ("Q6256", "place", ("country",)), (DATE, "date", ()), (NUMBER, "number", ()), (YES_NO, "yesno", ()),
     (TEXT, "any", ()), (OTHER, "any", ())],
)  # fmt: skip
def test_the_likeliest_class_is_the_expected_type(likeliest, kind, words):
    chances = np.full(len(NAMES), 0.05)
    place = list(NAMES).index(likeliest)
    chances[place] = 0.7
    likely = LikelyClasses(chances, ENTITIES, TYPES)
    assert likely.expected == likely.confident == (kind, words)
    chances[place] = 0.49
    unsure = LikelyClasses(chances, ENTITIES, TYPES)
    assert unsure.expected == (kind, words) and unsure.confident == ("any", ())


class Reader:
    classes = CLASSES

    def __init__(self):
        self.questions_read = []

    def probabilities(self, questions, verb_first):
        self.questions_read += zip(questions, verb_first, strict=True)
        return np.tile(CHANCES, (len(questions), 1))


@pytest.fixture
def reader():
    return Reader()


def test_a_question_is_asked_once(reader):
    typing = AnswerTyping(reader, Facts(), english())
    several = [("When?", "Where was he born?"), ("Was it?", "Was it (Titanic)?"), ("When?", "Where was he born?")]
    first = typing.likely(several)
    assert reader.questions_read == [("Where was he born? When?", False), ("Was it (Titanic)?", True)]
    again = typing.likely([("Who?", "Who?"), *several])
    assert reader.questions_read[2:] == [("Who?", False)]
    assert again[1] is first[0] is first[2] is again[3] and again[2] is first[1] and typing.likely([]) == []


@pytest.mark.parametrize(
    ("question", "chance"),
    [
        ("Who was she?", 0.0),
        ("and what's that", 0.0),
        ("Was she?", 1.0),
        ("Was she a poet or a singer?", 0.06),
        ("Is there a film? Which one?", 0.0),
        ("so she was born there?", 0.06),
    ],
)
def test_a_question_that_asks_who_does_not_ask_for_yes_or_no(reader, question, chance):
    (likely,) = AnswerTyping(reader, Facts(), english()).likely([(question, question)])
    assert likely.chances[list(NAMES).index(YES_NO)] == chance
    assert likely.chances.sum() == pytest.approx(1)
