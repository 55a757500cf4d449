"""What modules return: checked, stored and measured at one border."""

import pytest

from convinse.stage import keep_answers, keep_evidences, keep_understanding, results_of
from convinse.support.errors import DataError, ModuleError
from evidences import evidence
from refusals import refused


class Module:
    """Stands for a module; only its name is asked for."""


SEVEN = {"id": "Q7", "label": "seven"}
KEPT = [evidence("a seven", "text", ("seven", "Q7"))]
ANSWER = {"answer": SEVEN, "score": 1.0, "rank": 1}


def turn(**more):
    return {"question_id": "movies-7-2", "question": "x", "answers": [SEVEN], **more}


def test_a_returned_result_wins_over_a_written_one():
    answered = turn(top_evidences=KEPT, pred_answers=[ANSWER], structured_representation="written")
    assert keep_evidences(Module(), answered, [], ("text",)) == [] == answered["top_evidences"]
    assert keep_answers(Module(), answered, []) == [] == answered["pred_answers"]
    keep_understanding(Module(), answered, "returned")
    assert answered["structured_representation"] == "returned"
    keep_understanding(Module(), answered, {"structured_representation": "all", "resolved_question": "in full"})
    assert (answered["structured_representation"], answered["resolved_question"]) == ("all", "in full")


def keep_three(module, turn, returned):
    return keep_evidences(module, turn, returned, ("text",), 3)


@pytest.mark.parametrize(
    ("keep", "returned", "message"),
    [
        (keep_three, None, "must return a list of evidences, not NoneType"),
        (keep_three, {"a": 1}, "must return a list of evidences, not dict"),
        (keep_three, [evidence(str(number)) for number in range(4)], "4 evidences, but evs_max_evidences is 3"),
        (keep_three, ["text"], "not a dictionary"),
        (keep_answers, None, "must return a list of answers, not NoneType"),
        (keep_answers, [{**ANSWER, "rank": 2}], "answer 1 must be"),
        (keep_answers, [ANSWER, ANSWER], "answer 2 must be"),
        (keep_answers, [{"answer": {"label": "x"}, "rank": 1}], "answer 1 must be"),
        (keep_answers, ["x"], "answer 1 must be"),
        (keep_understanding, None, "must return a representation"),
        (keep_understanding, {}, "must return a representation"),
        (keep_understanding, {"resolved_question": "x"}, "must return a representation"),
        (keep_understanding, {"structured_representation": 7}, "must return a representation"),
    ],
)
def test_invalid_results_are_refused(keep, returned, message):
    refused((ModuleError, DataError), lambda: keep(Module(), turn(), returned), message, "Module", "movies-7-2")


def test_more_answers_than_wanted_are_cut():
    answers = [{**ANSWER, "rank": rank} for rank in (1, 2, 3)]
    assert keep_answers(Module(), turn(), answers, 2) == answers[:2]


def test_fields_alone_are_rendered():
    answered = turn()
    fields = {"context": [], "entities": [SEVEN], "predicate": "wrote", "answer_type": "person"}
    keep_understanding(Module(), answered, {"representation": fields})
    assert answered["structured_representation"] == " || seven || wrote || person"
    wrong = {"representation": {**fields, "entities": [{"id": 7}]}}
    refused(ModuleError, lambda: keep_understanding(Module(), turn(), wrong), "movies-7-2", "entities[0].id")


def test_a_result_for_each_turn():
    turns = [turn(), turn()]
    assert results_of(Module(), None, turns) == [None, None]
    assert results_of(Module(), ["a", "b"], turns) == ["a", "b"]
    for wrong, words in (([], "2 results, not 0"), ("ab", "not str"), ((1, 2), "not tuple")):
        refused(
            ModuleError, lambda wrong=wrong: results_of(Module(), wrong, turns), "Module: inference_on_turns", words
        )
