"""What a model expects of an answer, and how an entity fits it."""

import numpy as np
import pytest
from literal_evidence import Known

from convinse.config import parse_config
from convinse.encoder.answer_classes import DATE, NUMBER, OTHER, TEXT, YES_NO, AnswerClasses
from convinse.heterogeneous_answering.likely_classes import AnswerTyping, ClassesOfEntities, LikelyClasses
from convinse.heterogeneous_answering.question import AskedQuestion
from convinse.resources import Resources

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


@pytest.mark.parametrize(
    ("entity", "fit"),
    [
        ("Q10", 0.4),
        ("Q11", 0.3),  # two classes that count as one
        ("Q12", 0.7),
        ("Q13", 0.3),
        ("Q14", 0.02),
        ("Q15", 0.02),
        ("Q16", 0.3),  # nothing is known of it
        ("1952-03-11T00:00:00Z", 0.1),
        ("12.5", 0.08),
        ("Yes", 0.06),
        ("plutonium", 0.04),
    ],
)
def test_an_entity_fits_by_its_classes(entity, fit):
    assert LikelyClasses(CHANCES, ENTITIES).fit(entity) == pytest.approx(fit)


@pytest.mark.parametrize(
    ("likeliest", "kind", "words"),
    [("Q5", "person", ()), ("Q6256", "item", ("country",)), (DATE, "date", ()), (NUMBER, "number", ()), (YES_NO, "yesno", ()),
     (TEXT, "any", ()), (OTHER, "any", ())],
)  # fmt: skip
def test_the_likeliest_class_is_the_expected_type(likeliest, kind, words):
    chances = np.full(len(NAMES), 0.05)
    chances[list(NAMES).index(likeliest)] = 0.7
    assert LikelyClasses(chances, ENTITIES).expected == (kind, words)


class Reader:
    classes = CLASSES

    def probabilities(self, questions):
        self.asked = questions
        return np.tile(CHANCES, (len(questions), 1))


def test_a_turn_fits_as_the_model_says_where_there_is_one():
    reader, config = Reader(), parse_config({})
    (likely,) = AnswerTyping(reader, Facts()).likely(["When was it?"])
    assert reader.asked == ["When was it?"]
    turn = {"question": "When was it?", "top_evidences": []}
    resources = Resources(config, kb=Known({"Q10": ("human",)}, []))
    by_model = AskedQuestion.of(turn, config.sr_delimiter, resources, likely)
    by_words = AskedQuestion.of(turn, config.sr_delimiter, resources)
    human = {"id": "Q10", "label": "Kate Winslet"}
    assert (by_model.expected.kind, by_words.expected.kind) == ("person", "date")
    assert by_model.fit(human) == pytest.approx(0.4) and by_words.fit(human) == 0.0
