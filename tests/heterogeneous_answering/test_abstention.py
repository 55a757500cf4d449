"""When a turn is better left without an answer, and the reason that is told."""

from types import SimpleNamespace

from literal_evidence import ENGLISH, evidence

from case_tables import each_case
from convinse.heterogeneous_answering.abstention import foreign, reason_to_abstain, unknown_names
from convinse.heterogeneous_answering.ranked_answers import AnswerCandidate
from convinse.language.read_evidence import ReadEvidence

TITANIC = {"id": "Q44578", "label": "Titanic"}
SAID = ReadEvidence(evidence("Titanic, It was made by Jim Cameron.", "text"), ENGLISH)


def asked_for(text="Who made Titanic?", evidences=(SAID,), about=(TITANIC,), unlinked=()):
    return SimpleNamespace(
        text=text, evidences=evidences, about=about, unlinked=unlinked, language=ENGLISH, in_full=text
    )


def ranked(*scores):
    return [AnswerCandidate({"id": f"Q{n}", "label": f"answer {n}"}, score, (), ()) for n, score in enumerate(scores)]


@each_case("abstentions", "scores")
def test_a_reason_to_abstain(case):
    inputs = {key: case[key] for key in ("text", "unlinked") if key in case}
    if "about" in case:
        inputs["about"] = [{"label": label} for label in case["about"]]
    if not case.get("evidences", True):
        inputs["evidences"] = ()
    assert reason_to_abstain(asked_for(**inputs), ranked(*case["scores"]), 0.3) == case["reason"]


@each_case("abstentions", "names")
def test_a_name_that_an_evidence_has_is_known(case):
    assert unknown_names(asked_for(unlinked=case["names"])) == case["unknown"]
    assert unknown_names(asked_for(unlinked=case["names"], evidences=())) == case["names"]


@each_case("languages")
def test_the_language_of_a_question(case):
    assert foreign(case["question"], ENGLISH.words.common, case.get("about", ())) == case["language"]
