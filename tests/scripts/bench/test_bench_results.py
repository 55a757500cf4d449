"""The bench of results: its tables have what the runs measured."""

import json

import pytest

pytest.importorskip("scipy")

from bench import harness, results
from convinse.formats.run_folder import METRICS


def test_tables_have_the_measures_of_the_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "UNDERSTANDING", ("slots", "nc_prev"))
    file, work = tmp_path / "results.json", tmp_path / "work"
    harness.run(results.SPEC, ["--quick", "--parts", "understanding", "--output", str(file), "--work", str(work)])
    (table,) = json.loads(file.read_text())["understanding"]["tables"]
    assert table["columns"][:4] == ["qu", "questions", "P@1", "95 %"] and [row[0] for row in table["rows"]] == [
        "slots",
        "nc_prev",
    ]
    for name, questions, p_at_1, interval, *_ in table["rows"]:
        run = json.loads((work / f"lexical-dev-gold-{name}" / results.ALL / METRICS).read_text())
        low, high = map(float, interval.split("-"))
        assert int(questions) == run["num_questions"] == 15 and p_at_1 == f"{run['p_at_1']:.3f}"
        assert low <= float(p_at_1) <= high


def figures(p_at_1):
    own = {"num_questions": 2, "p_at_1": p_at_1, "mrr": 1.0, "h_at_5": 1.0, "answer_presence": 0.5}
    groups = {"kinds": {"date": own, "role": own | {"p_at_1": 1.0}}, "domains": {"books": own}, "sources": {"kb": own}}
    return {**own, **groups, "interval": "0.1-0.9"}


def test_kinds_stand_in_the_order_of_their_p_at_1_and_sources_without_presence(tmp_path, monkeypatch):
    def measured(bench, configuration, *_, **__):
        return figures(0.5 if configuration == results.MODEL else 0.25)

    monkeypatch.setattr(results, "measured", measured)
    file = tmp_path / "results.json"
    harness.run(results.SPEC, ["--parts", "groups,natural", "--output", str(file)])
    parts = json.loads(file.read_text())
    *_, kinds = parts["natural"]["tables"]
    assert [(row[0], row[2], row[-1]) for row in kinds["rows"]] == [
        ("who played or sang what", "1.000", "1.000"), ("a date", "0.500", "0.250"),
    ]  # fmt: skip
    (groups,) = parts["groups"]["tables"]
    presence = groups["columns"].index("presence")
    assert [(row[0], row[presence]) for row in groups["rows"]] == [("books", "0.500"), ("answer in kb", "")]
