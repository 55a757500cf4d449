"""Other values that sources give in the place of an answer."""

from case_tables import each_case
from convinse.dialogue.contradictions import contradictions
from convinse.language.language import english
from convinse.language.property_names import PropertyNames
from convinse.records.facts import fact_evidence
from convinse.records.written_values import find_literals
from evidences import evidence

TITANIC = {"id": "Q44578", "label": "Titanic"}
PROPERTIES = [("P2047", "duration", ["running time"]), ("P569", "date of birth", []), ("P2130", "cost", [])]


def literal(text):
    return next(span.entity for span in find_literals(text))


def turn_of(info, fact):
    path, text = info
    value = literal(text)
    box = evidence(f"Titanic, {path}, {text}", "info", (value["label"], value["id"]), retrieved_for_entity=TITANIC)
    box["attribute"] = {"path": [path], "values": []}
    name, amount, *qualifiers = fact
    parts = [TITANIC, {"id": name, "label": ""}, literal(amount)]
    for qualifier in qualifiers:
        parts += [{"id": qualifier, "label": ""}, TITANIC]
    best = {"answer": value, "score": 0.9, "rank": 1, "evidences": [0]}
    return {"question": "?", "top_evidences": [box, fact_evidence(parts, TITANIC)], "pred_answers": [best]}


@each_case("contradictions")
def test_another_source_gives_another_value(case):
    names = PropertyNames(PROPERTIES, english().properties)
    listed = contradictions(turn_of(case["info"], case["fact"]), names)
    assert [(value["answer"]["label"], value["evidence"]) for value in listed] == (
        [(case["other"], 1)] if case["other"] else []
    )
