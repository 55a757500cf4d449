"""When a turn is better left without an answer, and the reason that is told."""

from types import SimpleNamespace

import pytest
from asked_turns import knowledge_over, question_of
from literal_evidence import ENGLISH, evidence, fact

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


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ((("It", "released", "1997"), ("It", "released", "1998")), None),  # in two countries
        ((("It", "released", "1997"), ("It", "ended", "1998")), "the evidences disagree: 1997 or 1998"),
    ],
)
def test_the_dates_of_one_property_are_likely_together(facts, reason):
    years = [{"id": f"{year}-01-01T00:00:00Z", "label": year} for _, _, year in facts]
    evidences = [fact(*labels, ids=[(year["label"], year["id"])]) for labels, year in zip(facts, years, strict=True)]
    answers = [AnswerCandidate(year, 0.2, (place,), ("evidences",)) for place, year in enumerate(years)]
    question = question_of("When was it released?", *evidences, knowledge=knowledge_over())
    assert reason_to_abstain(question, answers, 0.3) == reason


@each_case("abstentions", "names")
def test_a_name_that_an_evidence_has_is_known(case):
    assert unknown_names(asked_for(unlinked=case["names"])) == case["unknown"]
    assert unknown_names(asked_for(unlinked=case["names"], evidences=())) == case["names"]


@each_case("languages")
def test_the_language_of_a_question(case):
    assert foreign(case["question"], ENGLISH.words.common, case.get("about", ())) == case["language"]
