import json
import logging

import pytest

from case_tables import cases
from convinse.knowledge_base.build import build
from convinse.knowledge_base.dump import SnakValue, read_dump
from convinse.knowledge_base.layout import RANKS
from convinse.support.errors import DataError
from handmade import (
    NOVALUE,
    SOMEVALUE,
    claim,
    document,
    dump_bytes,
    external_id,
    monolingual,
    q,
    quantity,
    string,
    time,
    world,
    write,
)


def read(path, documents):
    return list(read_dump(write(path, documents)))


def values(path, *claims):
    """The parts of the statements of one item."""
    (found,) = read(path, [document("Q1", "one", *claims)])
    return [parts for _, parts in found.statements]


@pytest.fixture
def path(workdir):
    return workdir / "dump.json"


def test_terms_and_title(path):
    terms = {"aliases": ["uno", "eins"], "description": "a number", "title": "1 (number)"}
    (entity,) = read(path, [document("Q1", "one", **terms)])
    assert entity._asdict() == {"id": "Q1", "kind": "item", "label": "one", **terms, "statements": []}


def test_missing_and_empty_terms(path):
    bare = document("Q2", "two")
    assert all(bare[key] == [] for key in ("descriptions", "aliases", "claims", "sitelinks"))  # as in real dumps
    nine = {"id": "P9", "type": "property", "labels": {"en": {"value": "nine"}}}
    lexeme = {**document("Q1", "x"), "id": "L1", "type": "lexeme"}
    item, prop = read(path, [bare, document("Q3", ""), lexeme, nine])
    assert (item.id, item.aliases, item.description, item.statements) == ("Q2", [], "", [])
    assert (prop.id, prop.kind, prop.title) == ("P9", "property", "")


def test_a_label_for_all_languages_replaces_a_missing_english_one(path):
    both = {"mul": {"value": "Universal"}, "en": {"value": "English"}}
    documents = [document("Q1", "x"), document("Q2", "x"), document("Q3", "x")]
    for entity, labels in zip(documents, ({"de": {"value": "Deutsch"}}, {"mul": both["mul"]}, both), strict=True):
        entity["labels"] = labels
    assert [(entity.id, entity.label) for entity in read(path, documents)] == [("Q2", "Universal"), ("Q3", "English")]


def test_items_texts_and_quantities(path):
    old = q("Q5")
    del old["datavalue"]["value"]["id"]
    for snak, expected in (
        (q("Q5"), ("Q5", None, None)),
        (old, ("Q5", None, None)),
        (monolingual("Das Boot", "de"), ("Das Boot", "Das Boot", None)),
        (external_id("tt1"), None),
        (string("abc"), ("abc", "abc", None)),
        (quantity("+1.830", "Q11573"), ("1.83", "1.83", "Q11573")),
        (quantity("-7"), ("-7", "-7", None)),
        (quantity("+1250000.50"), ("1250000.5", "1250000.5", None)),
    ):
        assert values(path, claim("P1", snak)) == ([(("P1", SnakValue(*expected)),)] if expected else [])


def test_deprecated_and_valueless_statements_are_left_out_and_preferred_ones_marked(path):
    claims = [claim("P1", q("Q2"), rank="deprecated"), claim("P1", q("Q3"), rank="preferred"), claim("P1", q("Q4"))]
    (found,) = read(path, [document("Q1", "one", *claims, claim("P2", SOMEVALUE), claim("P2", NOVALUE))])
    statements = [(parts[0][1].id, RANKS[rank]) for rank, parts in found.statements]
    assert statements == [("Q3", "preferred"), ("Q4", "")]


def test_qualifiers_follow_the_object_in_their_order(path):
    decade, decade_id = time("+1950-00-00T00:00:00Z", 8), "1950-01-01T00:00:00Z"
    pairs = [("P1", q("Q9")), ("P2", SOMEVALUE), ("P3", decade), ("P4", quantity("+3")), ("P1", q("Q8"))]
    ((main, *qualifiers),) = values(path, claim("P161", q("Q2"), *pairs))
    assert main == ("P161", SnakValue("Q2", None, None))
    ids = [(prop, value.id) for prop, value in qualifiers]
    assert ids == [("P1", "Q9"), ("P1", "Q8"), ("P3", decade_id), ("P4", "3")]


def test_lines_without_brackets_and_commas_read_the_same(workdir):
    lines = workdir / "lines.json"
    documents = [json.dumps(one) for one in world()]
    for text in ("\r\n\n".join(documents), "[" + ",\n".join(documents) + "]", "[\n" + "\n,".join(documents) + "\n]"):
        lines.write_text(text, encoding="utf-8")
        assert list(read_dump(lines)) == read(workdir / "plain.json", world())


def many(count):
    return [document(f"Q{number}", f"item {number}") for number in range(1, count + 1)]


def statement(datatype, value):
    """The line of an item with one statement."""
    snak = {"snaktype": "value", "property": "P1", "datatype": datatype, "datavalue": {"value": value}}
    return LINE + b'"claims": {"P1": [{"mainsnak": ' + json.dumps(snak).encode() + b"}]}}"


LINE = b'{"id": "Q9", "type": "item", "labels": {"en": {"value": "x"}}, '
BAD = {
    **{case["what"]: case["line"].encode("utf-8", "surrogatepass") for case in cases("dump_lines")},
    "not UTF-8": LINE.replace(b'"x"', b'"\xff"') + b'"claims": {}}',
    "an id of 5,000 digits": LINE.replace(b"Q9", b"Q" + b"9" * 5000) + b'"claims": {}}',
    "nested too deep": LINE + b'"more": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "a key that is nested too deep": LINE + b'"more": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}",
    "a year of 5,000 digits": statement("time", {"time": f"+{'9' * 5000}-01-01T00:00:00Z", "precision": 9}),
    "an amount of 5,000 digits": statement("quantity", {"amount": "9" * 5000, "unit": "1"}),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_line_is_reported_with_its_number_and_skipped(path, caplog, bad):
    lines = dump_bytes(many(120)).split(b"\n")
    lines.insert(40, bad + b",")
    path.write_bytes(b"\n".join(lines))
    with caplog.at_level(logging.WARNING):
        assert [one.id for one in read_dump(path)] == [f"Q{number}" for number in range(1, 121)]
    assert len(caplog.messages) == 1
    assert "line 41: is not an entity document" in caplog.text
    assert "dump.json" in caplog.text


@pytest.mark.parametrize(("good", "bad"), [(3, 1), (90, 1), (300, 4), (2000, 25)])
def test_more_than_one_percent_of_bad_lines_stops(path, good, bad, caplog):
    path.write_bytes(dump_bytes(many(good)) + b"<html>\n" * bad)
    with pytest.raises(DataError, match=r"dump\.json: .*is this a Wikidata JSON dump\?"):
        list(read_dump(path))
    path.write_bytes(dump_bytes(many(99)) + b"<html>\n")  # one percent is tolerated
    assert len(list(read_dump(path))) == 99


@pytest.mark.parametrize(
    ("kind", "snak", "value"),
    [
        ("wikibase-entityid", q("Q5"), SnakValue("Q5", None, None)),
        ("time", time("+1999-00-00T00:00:00Z", 9), SnakValue("1999-01-01T00:00:00Z", "1999", None)),
        ("quantity", quantity("+7"), SnakValue("7", "7", None)),
        ("string", string("abc"), SnakValue("abc", "abc", None)),
        ("monolingualtext", monolingual("Haus", "de"), SnakValue("Haus", "Haus", None)),
    ],
)
def test_a_snak_without_datatype_is_read_by_the_type_of_its_value(path, kind, snak, value):
    untyped = {"snaktype": "value", "datavalue": {**snak["datavalue"], "type": kind}}
    assert values(path, claim("P1", untyped, ("P2", untyped))) == [(("P1", value), ("P2", value))]
    del untyped["datavalue"]["type"]  # then its keys tell it; a plain text may be an id or an address
    statements = [] if kind == "string" else [(("P1", value), ("P2", value))]
    assert values(path, claim("P1", untyped, ("P2", untyped))) == statements


def test_a_build_says_once_what_it_left_out(workdir, caplog):
    a_property = {"datavalue": {"type": "wikibase-entityid", "value": {"entity-type": "property", "id": "P5"}}}
    left = [claim("P1", external_id("tt1")), claim("P1", {"snaktype": "value", **a_property})]
    german = document("Q2", "two")
    german["labels"] = {"de": {"value": "zwei"}}
    dump = write(workdir / "dump.json", [document("Q1", "one", claim("P1", q("Q2")), *left), german])
    with caplog.at_level(logging.INFO, "convinse.knowledge_base"):
        assert build(dump, workdir / "kb").facts == 1
    (message,) = [message for message in caplog.messages if "left out" in message]
    assert set(message.split("left out: ")[1].split("; ")) == {
        "1 values of type external-id", "1 values of type wikibase-entityid", "1 entities without a label in en or mul",
    }  # fmt: skip


def test_a_dump_in_another_language(workdir):
    german = document("Q1", "x", claim("P1", q("Q2")))
    german["labels"] = {"de": {"value": "eins"}}
    dump = write(workdir / "dump.json", [document("P1", "of"), german])
    with pytest.raises(DataError, match="1 entities without a label in en or mul.*--language"):
        build(dump, workdir / "kb")
    assert build(dump, workdir / "kb", languages=("de",)).facts == 1
