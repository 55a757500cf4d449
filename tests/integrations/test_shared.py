import pytest
from pipeline_results import ALL, QUESTIONS, native

from convinse.integrations.shared import to_document, to_evidence
from convinse.records.evidence import Evidence
from convinse.support.errors import DataError


def test_evidences_and_their_order_equal_the_pipeline(shared):
    turns = native()
    assert shared.retrieve(QUESTIONS) == [turn["top_evidences"] for turn in turns]
    mixed = [turn["top_evidences"][::-1] for turn in turns]
    assert shared.rank(QUESTIONS, mixed, ALL) == [turn["top_evidences"] for turn in turns]
    assert shared.rank(QUESTIONS[:1], mixed[:1], 3)[0] == turns[0]["top_evidences"][:3]


def test_answers_equal_the_pipeline(shared):
    for question, turn in zip(QUESTIONS, native(), strict=True):
        assert shared.answer(question, turn["top_evidences"]) == turn["pred_answers"]
    assert shared.answer(QUESTIONS[0], []) == []


def test_a_question_is_understood_in_the_light_of_the_turns_before(shared):
    earlier = [{"question": QUESTIONS[0], "answers": [{"id": "Q42574", "label": "James Cameron"}]}]
    alone, led = shared.retrieve(["When was he born?", "When was he born?"], [[], earlier])
    assert any("James Cameron, date of birth" in evidence["evidence_text"] for evidence in led) and alone != led


def test_a_document_becomes_the_evidence_that_it_was():
    evidence: Evidence = native(QUESTIONS[:1])[0]["top_evidences"][0]
    name, text, meta = to_document(evidence)
    assert name.startswith(f"{evidence['source']}-") and "score" not in meta
    assert {**to_evidence(text, meta), "score": evidence["score"]} == evidence
    plain = {"evidence_text": "a text", "source": "text", "disambiguations": [], "wikidata_entities": []}
    assert to_evidence("a text", {"page": 3}) == plain  # of another tool
    with pytest.raises(DataError, match="document: .*source"):
        to_evidence("a text", {"wikidata_entities": [], "source": "radio"})
