from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.language.language import english
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
from convinse.records.written_values import find_literals

DAYS = st.dates(min_value=date(1000, 1, 1), max_value=date(2099, 12, 31))
WORDS = st.sampled_from(["was", "born", "on", "x7y", "—", "(band),", "the 3rd one,"])


def found(text):
    return [(text[span.start : span.end], span.entity["id"]) for span in find_literals(text)]


def written_days():
    """(as written, id) of a day in one of the usual forms."""

    def forms(day):
        month = MONTHS[day.month - 1]
        stamp = f"{day.isoformat()}T00:00:00Z"
        texts = [
            f"{day.day} {month} {day.year}",
            f"{day.day:02d} {month} {day.year}",
            f"{day.day}th of {month}, {day.year}",
            f"{month} {day.day}, {day.year}",
            f"{month[:3]}. {day.day} {day.year}",
            f"{day.day} {month[:3].upper()} {day.year}",
            day.isoformat(),
        ]
        return st.sampled_from([(text, stamp) for text in texts])

    return DAYS.flatmap(forms)


def written_numbers():
    whole = st.integers(0, 999_999_999).map(lambda n: (f"{n:,}", str(n)))
    plain = st.integers(0, 999).map(lambda n: (str(n), str(n)))
    cents = st.builds(lambda n, c: (f"{n:,}.{c}5", f"{n}.{c}5"), st.integers(0, 99_999), st.integers(0, 9))
    return st.one_of(whole, plain, cents)


def written_months():
    return st.builds(
        lambda m, y: (f"{MONTHS[m - 1]} {y}", f"{y}-{m:02d}-01T00:00:00Z"), st.integers(1, 12), st.integers(1000, 2099)
    )


def written_years():
    return st.integers(1000, 2099).map(lambda y: (str(y), f"{y}-01-01T00:00:00Z"))


@given(
    st.lists(
        st.tuples(WORDS, st.one_of(written_days(), written_numbers(), written_months(), written_years())), max_size=5
    ),
    st.sampled_from([" ", ".", ", and", ")", "?", ";"]),
)
def test_every_literal_of_a_text_is_found_at_its_exact_place(parts, end):
    text, expected = "", []
    for word, (surface, entity_id) in parts:
        text += f"{word} "
        expected.append((len(text), len(text) + len(surface), entity_id))
        text += surface + end + " "
    spans = list(find_literals(text))
    assert [(span.start, span.end, span.entity["id"]) for span in spans] == expected


@given(st.text(alphabet="0123456789 ,.-–—$%()MayJune'st", max_size=40) | st.text(max_size=40))
def test_spans_are_in_order_disjoint_and_of_a_known_kind(text):
    end = 0
    for span in find_literals(text):
        assert end <= span.start < span.end <= len(text)
        end = span.end
        entity_id = span.entity["id"]
        assert is_date(entity_id) != is_number(entity_id)
        assert span.entity["label"]


@given(DAYS)
def test_the_label_of_a_date_reads_back_as_the_same_date_of_its_year(day):
    for entity in (date_entity(day.year), date_entity(day.year, day.month), date_entity(day.year, day.month, day.day)):
        (span,) = find_literals(entity["label"])
        assert (span.start, span.end, span.entity) == (0, len(entity["label"]), entity)
        assert is_date(entity["id"]) and year_of(entity["id"]) == date_entity(day.year)


def test_the_year_of_a_date_before_christ():
    assert year_of("-0043-03-15T00:00:00Z") == {"id": "-0043-01-01T00:00:00Z", "label": "44 BC"}


@given(DAYS)
def test_a_date_of_wikidata_equals_the_one_in_the_text(day):
    time = f"+{day.isoformat()}T00:00:00Z"
    assert wikidata_time(time, 11) == date_entity(day.year, day.month, day.day)
    assert wikidata_time(time, 10) == date_entity(day.year, day.month)
    assert wikidata_time(time, 9) == date_entity(day.year)


@pytest.mark.parametrize(
    ("time", "precision", "expected"),
    [
        ("+1952-03-11T00:00:00Z", 11, {"id": "1952-03-11T00:00:00Z", "label": "11 March 1952"}),
        ("+1952-00-00T00:00:00Z", 9, {"id": "1952-01-01T00:00:00Z", "label": "1952"}),
        ("+1952-03-00T00:00:00Z", 10, {"id": "1952-03-01T00:00:00Z", "label": "March 1952"}),
        ("+1952-00-00T00:00:00Z", 11, {"id": "1952-01-01T00:00:00Z", "label": "1952"}),
        ("-0044-03-15T00:00:00Z", 11, {"id": "-0043-03-15T00:00:00Z", "label": "15 March 44 BC"}),
        ("-0001-00-00T00:00:00Z", 9, {"id": "0000-01-01T00:00:00Z", "label": "1 BC"}),
        ("+0079-08-24T00:00:00Z", 11, {"id": "0079-08-24T00:00:00Z", "label": "24 August 79"}),
        ("-0384-00-00T00:00:00Z", 9, {"id": "-0383-01-01T00:00:00Z", "label": "384 BC"}),
        ("+1987-00-00T00:00:00Z", 8, {"id": "1980-01-01T00:00:00Z", "label": "1980s"}),
        ("+1900-00-00T00:00:00Z", 7, {"id": "1801-01-01T00:00:00Z", "label": "19th century"}),
        ("-0450-00-00T00:00:00Z", 7, {"id": "-0499-01-01T00:00:00Z", "label": "5th century BC"}),
        ("-2500-00-00T00:00:00Z", 6, {"id": "-2999-01-01T00:00:00Z", "label": "3rd millennium BC"}),
        ("-13798000000-00-00T00:00:00Z", 3, None),
    ],
)
def test_wikidata_times(time, precision, expected):
    assert wikidata_time(time, precision) == expected


@pytest.mark.parametrize("precision", [8, 11])
@pytest.mark.parametrize(
    "time",
    [
        "no time",
        "",
        "+2000-13-01T00:00:00Z",
        "+2000-12-32T00:00:00Z",
        "+2000-1-1T00:00:00Z",
        f"+{'9' * 5000}-01-01T00:00:00Z",
    ],
)
def test_what_is_no_time_is_refused(time, precision):
    with pytest.raises(ValueError, match="is no time"):
        wikidata_time(time, precision)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 11 March 1952.", [("11 March 1952", "1952-03-11T00:00:00Z")]),
        ("March 11th, 1952", [("March 11th, 1952", "1952-03-11T00:00:00Z")]),
        ("since Sept. 2001", [("Sept. 2001", "2001-09-01T00:00:00Z")]),
        ("1914–1918", [("1914", "1914-01-01T00:00:00Z"), ("1918", "1918-01-01T00:00:00Z")]),
        ("the 1914–18 war", [("1914", "1914-01-01T00:00:00Z"), ("18", "1918-01-01T00:00:00Z")]),
        ("the 1999–00 season", [("1999", "1999-01-01T00:00:00Z"), ("00", "2000-01-01T00:00:00Z")]),
        ("1987 - 1993", [("1987", "1987-01-01T00:00:00Z"), ("1993", "1993-01-01T00:00:00Z")]),
        ("sold 1,250,000 copies", [("1,250,000", "1250000")]),
        ("a fee of €222 million", [("222 million", "222000000")]),
        ("2.5 billion in 3 hundred days", [("2.5 billion", "2500000000"), ("3 hundred", "300")]),
        ("a 55-million-dollar film", [("55-million", "55000000")]),
        ("3 millionaires, 7 thousandths", [("3", "3"), ("7", "7")]),
        ("$1,999.50", [("1,999.50", "1999.5")]),
        ("31 February 1999", []),  # no such day
        ("1999-13-01", []),
        ("1999-00-10", []),
        ("0 May 1999", []),
        ("the 1990s", []),
        ("90%", []),
        ("version 1.2.3", []),
        ("won 3-1", []),
        ("B2B, U2 and 4x4", []),
        ("", []),
        # other words behind digits do not multiply them
        ("55 millions", [("55", "55")]),
        ("55 millionaires", [("55", "55")]),
        ("55, million", [("55", "55")]),
        ("million 55", [("55", "55")]),
        ("55million", []),
        ("a million", []),
        ("version 1.2.3 million", []),
        ("in 1999 million people", [("1999", "1999-01-01T00:00:00Z")]),
        ("3 million and 4", [("3 million", "3000000"), ("4", "4")]),
    ],
)
def test_literals_of_a_text(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "surface", "number"),
    [
        ("it made 55 million dollars", "55 million", "55000000"),
        ("3 Million copies", "3 Million", "3000000"),
        ("1,250.5 thousand", "1,250.5 thousand", "1250500"),
        ("0.25 hundred", "0.25 hundred", "25"),
        ("about 10\u00a0thousand.", "10\u00a0thousand", "10000"),
        ("12 trillion, in all", "12 trillion", "12000000000000"),
        ("a 5-million-dollar house", "5-million", "5000000"),
        ("a 5-million house", "5-million", "5000000"),
    ],
)
def test_a_scale_behind_digits_multiplies_them(text, surface, number):
    (span,) = find_literals(text)
    assert text[span.start : span.end] == surface
    assert span.entity["id"] == number == number_entity(f"{int(number):,}")["id"]
    assert span.entity["label"] == surface.replace("-", " ").replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("number", "scale", "counted"),
    [
        ("150000000", 10**6, "150"),
        ("1500000", 10**6, "1.5"),
        ("1000000", 10**6, "1"),
        ("999999", 10**6, "999999"),  # less than one of them
        ("-5000000", 10**6, "-5000000"),
        ("20000", 1000, "20"),
        ("150", 1, "150"),
        ("1997-12-19T00:00:00Z", 1000, "1997-12-19T00:00:00Z"),
        ("Q1000000", 1000, "Q1000000"),
    ],
)
def test_a_number_counted_in_thousands_or_millions(number, scale, counted):
    entity = {"id": number, "label": "as it is"}
    assert in_scale(entity, scale) == (entity if counted == number else {"id": counted, "label": counted})


@given(st.integers(0, 10**12), st.integers(0, 999))
def test_a_number_has_one_id_however_it_is_written(whole, thousandths):
    plain = number_entity(f"{whole}.{thousandths:03d}")["id"]
    assert plain == number_entity(f"+{whole:,}.{thousandths:03d}00")["id"]
    assert is_number(plain)
    assert float(plain) == pytest.approx(whole + thousandths / 1000)
    assert not plain.endswith(".")


def test_the_unit_is_part_of_the_label_only():
    assert number_entity("+1,250.50", "kilometre") == {"id": "1250.5", "label": "1250.5 kilometre"}
    assert number_entity("0.00") == {"id": "0", "label": "0"}
    assert number_entity("100") == {"id": "100", "label": "100"}
    assert number_entity("-7")["id"] == "-7"


@pytest.mark.parametrize(
    ("is_kind", "ids"),
    [
        (is_date, ["Q42", "1952", "1952-03-11", "1952-03-11T00:00:00", "1952-03-11T12:00:00Z", ""]),
        (is_number, ["Q42", "1,000", "1.", ".5", "+1", "", "1952-03-11T00:00:00Z"]),
    ],
)
def test_ids_of_other_kinds(is_kind, ids):
    assert not any(map(is_kind, ids))


def test_the_magnitudes_are_those_of_the_language():
    for word, number in english().literals.scales.items():
        (span,) = find_literals(f"3 {word} times")
        assert span.entity["id"] == str(3 * number)
