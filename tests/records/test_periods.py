"""Which statements, rows and infobox values hold at the time of a question; the cases are in tests/cases/statements.yml."""

import pytest
import yaml

from convinse.language.language import english
from convinse.language.validity import judged_parts
from convinse.records.facts import fact_evidence
from convinse.records.literals import date_entity, number_entity
from convinse.records.periods import Agreement, Period, period_of_text
from places import ROOT

CASES = yaml.safe_load((ROOT / "tests" / "cases" / "statements.yml").read_text(encoding="utf-8"))
QUALIFIERS = {"since": ("P580", "start time"), "until": ("P582", "end time"), "at": ("P585", "point in time")}


def statement(subject, property_label, value, when):
    predicate = {"id": "P1", "label": property_label} | ({"rank": when["rank"]} if "rank" in when else {})
    entity = number_entity(str(value)) if isinstance(value, int) else {"id": value, "label": value}
    fact = [{"id": subject, "label": subject}, predicate, entity]
    for name, (property_id, label) in QUALIFIERS.items():
        if name in when:
            fact += [{"id": property_id, "label": label}, date_entity(when[name])]
    return fact_evidence(fact, fact[0])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["question"])
def test_statements_are_judged_by_the_time_of_the_question(case):
    evidences = [statement(*fact) for fact in case["facts"]]
    verdicts = {verdict: [] for verdict in Agreement}
    for place, _, verdict in judged_parts(case["question"], evidences, english()):
        verdicts[verdict].append(case["facts"][place][2])
    assert verdicts[Agreement.HOLDS] == case.get("holds", [])
    assert sorted(map(str, verdicts[Agreement.CONTRADICTS])) == sorted(map(str, case.get("contradicts", [])))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1995–2008", "1995–2008"),
        ("2006–present", "since 2006"),
        ("2006 –", "since 2006"),
        ("5 June 1944", "1944"),
        ("since unknown times", None),
        ("12 goals", None),
    ],
)
def test_the_period_that_a_cell_states(text, words):
    period = period_of_text(text)
    assert (None if period is None else period.in_words()) == words


def test_a_year_holds_its_days_and_a_month_those_of_it():
    year, month = Period.of_date(date_entity(1944)), Period.of_date(date_entity(1944, 6))
    day = Period.of_date(date_entity(1944, 6, 5))
    assert year.overlaps(month) and month.overlaps(day) and not day.overlaps(Period.of_date(date_entity(1944, 7)))
