"""What dates and numbers texts write; the cases are in tests/cases/dates.yml and numbers.yml."""

import pytest
import yaml

from convinse.records.written_values import find_literals, kind_of_value, value_at
from places import ROOT

CASES = [
    pytest.param(kind, case, id=f"{case['text']}-{case['marked']}")
    for kind in ("date", "number")
    for case in yaml.safe_load((ROOT / "tests" / "cases" / f"{kind}s.yml").read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_values_of_a_text(kind, case):
    start = case["text"].index(case["marked"])
    entity = value_at(case["text"], start, start + len(case["marked"]))
    label = case.get("label", case["id"])
    assert entity == (None if case["id"] is None else {"id": case["id"], "label": label})
    if "literals" in case:
        assert [span.entity["id"] for span in find_literals(case["text"])] == case["literals"]
    if entity is not None and kind == "date":
        assert kind_of_value(entity["id"]) == "date"


@pytest.mark.parametrize(
    ("entity_id", "kind"),
    [("Q42", ""), ("1952-03-11T00:00:00Z", "date"), ("-7", "number"), ("5–7 June 1944", "date"), ("1980s", "date"),
     ("7–10 days", "number"), ("5 ft 11½ in", "number"), ("Apollo 11", ""), ("12 Angry Men", ""), ("", "")],
)  # fmt: skip
def test_the_kind_of_an_answer(entity_id, kind):
    assert kind_of_value(entity_id) == kind
