"""When a turn is better left without an answer, and the reason that is told."""

from types import SimpleNamespace

import pytest
from literal_evidence import ENGLISH, evidence

from case_tables import each_case
from convinse.heterogeneous_answering.abstention import foreign, reason_to_abstain, unknown_names
from convinse.heterogeneous_answering.ranked_answers import AnswerCandidate

TITANIC = {"id": "Q44578", "label": "Titanic"}
LAND = {"id": "Q20856802", "label": "La La Land"}
SAID = evidence("Titanic, It was made by Jim Cameron.", "text")


def asked_for(text="Who made Titanic?", evidences=(SAID,), about=(TITANIC,), unlinked=()):
    return SimpleNamespace(text=text, evidences=evidences, about=about, unlinked=unlinked, language=ENGLISH)


def ranked(*scores):
    return [AnswerCandidate({"id": f"Q{n}", "label": f"answer {n}"}, own, (), ()) for n, own in enumerate(scores)]


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ((0.9, 0.05), None),
        ((0.3,), None),  # as likely as it has to be
        ((0.29, 0.1), "the evidences do not say"),
        ((0.29, 0.15), "the evidences disagree: answer 0 or answer 1"),
        ((0.2, 0.1), "the evidences disagree: answer 0 or answer 1"),
        ((0.19, 0.1), "the evidences do not say"),  # together not likely enough
        ((0.2, 0.09), "the evidences do not say"),  # the second has no half of the first
        ((0.29,), "the evidences do not say"),
        ((), "the evidences do not say"),
    ],
)
def test_an_answer_that_is_not_likely_enough(scores, reason):
    assert reason_to_abstain(asked_for(), ranked(*scores), 0.3) == reason


@pytest.mark.parametrize(
    ("question", "scores", "reason"),
    [
        ({"evidences": (), "about": (TITANIC, LAND)}, (), "nothing was found about 'Titanic' and 'La La Land'"),
        ({"evidences": (), "about": ()}, (), "no name in the question is known"),
        ({"evidences": (), "unlinked": ["Ann Ax", "Bo Bix"]}, (), "nothing is known of 'Ann Ax' and 'Bo Bix'"),
        ({"about": (), "unlinked": ["Brindle Oakshott"]}, (0.9,), "nothing is known of 'Brindle Oakshott'"),
        ({"text": "Wer hat bei Titanic die Regie geführt?", "unlinked": ["Regie"]}, (0.9,),
         "the question seems to be German; only English is understood"),
        ({"text": "La La Land cast", "about": (LAND,)}, (0.9,), None),  # the words of a name are of no language
    ],
)  # fmt: skip
def test_a_question_that_cannot_be_answered_however_likely_an_answer_is(question, scores, reason):
    assert reason_to_abstain(asked_for(**question), ranked(*scores), 0.3) == reason


@pytest.mark.parametrize(
    ("names", "unknown"),
    [
        (["Jim Cameron"], []),
        (["jim cameron's"], []),
        (["Jim Camero"], ["Jim Camero"]),  # no part of a word
        (["im"], ["im"]),
        (["Titanic", "Avatar"], ["Avatar"]),
        ([], []),
    ],
)
def test_a_name_that_an_evidence_has_is_known(names, unknown):
    assert unknown_names(asked_for(unlinked=names)) == unknown
    assert unknown_names(asked_for(unlinked=names, evidences=())) == names


# -- other languages ---------------------------------------------------------------------------------------------------


@each_case("languages")
def test_the_language_of_a_question(case):
    assert foreign(case["question"], ENGLISH.words.common, case.get("about", ())) == case["language"]
