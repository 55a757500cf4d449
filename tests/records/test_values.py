"""Dates, numbers and periods: what texts write and which of them agree.

The cases are in tests/cases: dates.yml, numbers.yml, literals.yml and statements.yml.
"""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from case_tables import cases, each_case
from convinse.language.language import english
from convinse.language.read_evidence import ReadEvidence
from convinse.language.validity import judged_parts
from convinse.records.facts import fact_evidence
from convinse.records.literals import (
    MONTHS,
    date_entity,
    in_scale,
    is_date,
    is_number,
    number_entity,
    wikidata_time,
    year_of,
)
from convinse.records.periods import Agreement, Period, period_of_text
from convinse.records.written_values import find_literals, kind_of_value, value_at

DAYS = st.dates(min_value=date(1000, 1, 1), max_value=date(2099, 12, 31))
YEARS = st.integers(1000, 2099)
THOUSANDS = st.integers(0, 99_999)


def forms_of_day(day):
    month = MONTHS[day.month - 1]
    texts = [
        f"{day.day} {month} {day.year}",
        f"{day.day:02d} {month} {day.year}",
        f"{day.day}th of {month}, {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{month[:3]}. {day.day} {day.year}",
        f"{day.day} {month[:3].upper()} {day.year}",
        day.isoformat(),
    ]
    return st.sampled_from([(text, f"{day.isoformat()}T00:00:00Z") for text in texts])


WRITTEN = st.one_of(
    DAYS.flatmap(forms_of_day),
    st.integers(0, 999_999_999).map(lambda n: (f"{n:,}", str(n))),
    st.integers(0, 999).map(lambda n: (str(n), str(n))),
    st.builds(lambda n, cents: (f"{n:,}.{cents}5", f"{n}.{cents}5"), THOUSANDS, st.integers(0, 9)),
    st.builds(lambda m, y: (f"{MONTHS[m - 1]} {y}", f"{y}-{m:02d}-01T00:00:00Z"), st.integers(1, 12), YEARS),
    YEARS.map(lambda y: (str(y), f"{y}-01-01T00:00:00Z")),
)
WORDS = st.sampled_from(["was", "born", "on", "x7y", "—", "(band),", "the 3rd one,"])


@given(st.lists(st.tuples(WORDS, WRITTEN), max_size=5), st.sampled_from([" ", ".", ", and", ")", "?", ";"]))
def test_every_literal_of_a_text_is_found_at_its_exact_place(parts, end):
    text, expected = "", []
    for word, (surface, entity_id) in parts:
        text += f"{word} "
        expected.append((len(text), len(text) + len(surface), entity_id))
        text += surface + end + " "
    assert [(span.start, span.end, span.entity["id"]) for span in find_literals(text)] == expected


@given(st.text(alphabet="0123456789 ,.-–—$%()MayJune'st", max_size=40) | st.text(max_size=40))
def test_spans_are_in_order_disjoint_and_of_a_known_kind(text):
    end = 0
    for span in find_literals(text):
        assert end <= span.start < span.end <= len(text)
        end = span.end
        assert is_date(span.entity["id"]) != is_number(span.entity["id"])
        assert span.entity["label"]


@each_case("literals", "literals")
def test_literals_of_a_text(case):
    text = case["text"]
    assert [[text[span.start : span.end], span.entity["id"]] for span in find_literals(text)] == case["literals"]


@each_case("literals", "scaled")
def test_a_scale_behind_digits_multiplies_them(case):
    (span,) = find_literals(case["scaled"])
    assert case["scaled"][span.start : span.end] == case["surface"]
    assert span.entity["id"] == case["number"] == number_entity(f"{int(case['number']):,}")["id"]
    assert span.entity["label"] == case["surface"].replace("-", " ").replace("\u00a0", " ")


def test_the_scales_equal_the_word_list():
    for word, number in english().literals.scales.items():
        (span,) = find_literals(f"3 {word} times")
        assert span.entity["id"] == str(3 * number)


MARKED = [
    pytest.param(kind, case, id=f"{case['text']}-{case['marked']}")
    for kind in ("date", "number")
    for case in cases(f"{kind}s")
]


@pytest.mark.parametrize(("kind", "case"), MARKED)
def test_a_marked_part_of_a_text_is_completed_to_its_value(kind, case):
    start = case["text"].index(case["marked"])
    entity = value_at(case["text"], start, start + len(case["marked"]))
    label = case.get("label", case["id"])
    assert entity == (None if case["id"] is None else {"id": case["id"], "label": label})
    if "literals" in case:
        assert [span.entity["id"] for span in find_literals(case["text"])] == case["literals"]
    if entity is not None and kind == "date":
        assert kind_of_value(entity["id"]) == "date"


@given(DAYS)
def test_a_date_reads_back_from_its_label_and_equals_the_one_of_wikidata(day):
    entities = date_entity(day.year), date_entity(day.year, day.month), date_entity(day.year, day.month, day.day)
    for precision, entity in enumerate(entities, 9):
        (span,) = find_literals(entity["label"])
        assert (span.start, span.end, span.entity) == (0, len(entity["label"]), entity)
        assert is_date(entity["id"]) and year_of(entity["id"]) == date_entity(day.year)
        assert wikidata_time(f"+{day.isoformat()}T00:00:00Z", precision) == entity


@each_case("literals", "time")
def test_a_time_of_wikidata(case):
    assert wikidata_time(case["time"], case["precision"]) == case["entity"]


INVALID = [f"+{'9' * 5000}-01-01T00:00:00Z", *(case["invalid"] for case in cases("literals", "invalid"))]


@pytest.mark.parametrize("time", INVALID, ids=range(len(INVALID)))
def test_an_invalid_time_is_refused(time):
    for precision in (8, 11):
        with pytest.raises(ValueError, match="is not a time"):
            wikidata_time(time, precision)


def test_the_year_of_a_date_before_christ():
    assert year_of("-0043-03-15T00:00:00Z") == {"id": "-0043-01-01T00:00:00Z", "label": "44 BC"}


@given(st.integers(0, 10**12), st.integers(0, 999))
def test_a_number_has_one_id_however_it_is_written(whole, thousandths):
    plain = number_entity(f"{whole}.{thousandths:03d}")["id"]
    assert plain == number_entity(f"+{whole:,}.{thousandths:03d}00")["id"]
    assert is_number(plain) and not plain.endswith(".")
    assert float(plain) == pytest.approx(whole + thousandths / 1000)


def test_the_unit_is_part_of_the_label_only():
    assert number_entity("+1,250.50", "kilometre") == {"id": "1250.5", "label": "1250.5 kilometre"}
    assert number_entity("0.00") == {"id": "0", "label": "0"}
    assert number_entity("100") == {"id": "100", "label": "100"}
    assert number_entity("-7")["id"] == "-7"


@each_case("literals", "counted")
def test_a_number_counted_in_thousands_or_millions(case):
    entity = {"id": case["counted"], "label": "as it is"}
    counted = {"id": case["is"], "label": case["is"]}
    assert in_scale(entity, case["scale"]) == (entity if case["is"] == case["counted"] else counted)


@each_case("literals", "no")
def test_ids_of_other_kinds(case):
    assert not {"date": is_date, "number": is_number}[case["no"]](case["id"])


@each_case("literals", "answer")
def test_the_kind_of_an_answer(case):
    assert kind_of_value(case["answer"]) == case["kind"]


QUALIFIERS = {"since": ("P580", "start time"), "until": ("P582", "end time"), "at": ("P585", "point in time")}


def statement(subject, property_label, value, when):
    predicate = {"id": "P1", "label": property_label} | ({"rank": when["rank"]} if "rank" in when else {})
    entity = number_entity(str(value)) if isinstance(value, int) else {"id": value, "label": value}
    fact = [{"id": subject, "label": subject}, predicate, entity]
    for name, (property_id, label) in QUALIFIERS.items():
        if name in when:
            fact += [{"id": property_id, "label": label}, date_entity(when[name])]
    return fact_evidence(fact, fact[0])


@each_case("statements")
def test_statements_are_judged_by_the_time_of_the_question(case):
    evidences = [statement(*fact) for fact in case["facts"]]
    verdicts = {verdict: [] for verdict in Agreement}
    for place, _, verdict in judged_parts(
        case["question"], [ReadEvidence(evidence, english()) for evidence in evidences], english()
    ):
        verdicts[verdict].append(case["facts"][place][2])
    assert verdicts[Agreement.HOLDS] == case.get("holds", [])
    assert sorted(map(str, verdicts[Agreement.CONTRADICTS])) == sorted(map(str, case.get("contradicts", [])))


@each_case("literals", "cell")
def test_the_period_that_a_cell_states(case):
    period = period_of_text(case["cell"])
    assert (None if period is None else period.in_words()) == case["period"]


def test_a_year_holds_its_months_and_a_month_its_days():
    year, month = Period.of_date(date_entity(1944)), Period.of_date(date_entity(1944, 6))
    day = Period.of_date(date_entity(1944, 6, 5))
    assert year.overlaps(month) and month.overlaps(day) and not day.overlaps(Period.of_date(date_entity(1944, 7)))
