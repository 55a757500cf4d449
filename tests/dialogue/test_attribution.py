"""The evidences that an answer rests on."""

import pytest

from convinse.config import Config
from convinse.dialogue.attribution import attribute
from convinse.heterogeneous_answering.base import HeterogeneousAnswering
from evidences import evidence


class Counting(HeterogeneousAnswering):
    """Answers with the name that most evidences begin with, in shares; counts its calls."""

    can_answer_again = True
    calls = 0

    def inference_on_turns(self, turns, sources):
        self.calls += 1
        return [self.answered(turn) for turn in turns]

    @staticmethod
    def answered(turn):
        names = [evidence["evidence_text"].split()[0] for evidence in turn["top_evidences"]]
        order = sorted(set(names), key=lambda name: (-names.count(name), name))
        answers = []
        for rank, name in enumerate(order, 1):
            places = [place for place, label in enumerate(names) if label == name][:3]
            score = names.count(name) / len(names)
            answers.append({"answer": {"id": name, "label": name}, "score": score, "rank": rank, "evidences": places})
        return answers


def reasons(*texts, **more):
    module = Counting(Config())
    turn = {"question": "who?", "top_evidences": [evidence(text, "text") for text in texts], **more}
    turn["pred_answers"] = module.answered(turn)
    before = len(turn["top_evidences"]), list(turn["pred_answers"])
    attribute(module, [turn], ("text",))
    assert (len(turn["top_evidences"]), turn["pred_answers"]) == before and module.calls <= 2
    return turn.get("attribution")


def test_an_evidence_whose_absence_changes_the_answer_is_its_reason():
    assert reasons("Kate did it", "Leo was there") == [{"evidence": 0, "without": "Leo", "probability": 0.0}]
    assert reasons("Kate did it") == [{"evidence": 0, "without": "", "probability": 0.0}]


def test_evidences_that_lower_the_probability_are_reasons_the_heaviest_first():
    listed = reasons("Leo was there", "Kate did it", "Kate again")
    assert [reason["evidence"] for reason in listed] == [1, 2]
    assert {reason["without"] for reason in listed} == {"Kate"} and listed[0]["probability"] == pytest.approx(0.5)


def test_of_equal_evidences_those_that_alone_give_the_answer_are_reasons():
    listed = reasons(*["Kate did it"] * 40)
    assert [reason["evidence"] for reason in listed] == [0, 1, 2]
    assert all(reason["together"] and reason["without"] == "" for reason in listed)


def test_turns_without_reasons():
    assert reasons("Kate did it", abstained={"reason": "x"}) is None
    assert reasons() is None
    module = Counting(Config())
    module.can_answer_again = False
    turn = {"question": "who?", "top_evidences": [evidence("Kate did it", "text")]}
    turn["pred_answers"] = module.answered(turn)
    attribute(module, [turn], ("text",))
    assert "attribution" not in turn and module.calls == 0
