"""The index agrees with a plain reading of the dump, which shares no code with it."""

import random
from contextlib import closing
from itertools import islice, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plain_dump
from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase
from handmade import (
    NOVALUE,
    SOMEVALUE,
    claim,
    document,
    external_id,
    monolingual,
    q,
    quantity,
    string,
    time,
    world,
    write,
)
from places import DATA, SNAPSHOT, SNAPSHOT_SOURCES

DUMP = DATA / "wikidata-27k" / "wikidata-27k.json.gz"
SLICE = 400  # documents of wikidata-27k


def oddities():
    """What a dump may hold besides the usual."""
    return [
        document("P9", "knows"),
        document(
            "Q901",
            "itself",
            claim("P31", q("Q901")),
            claim("P9", q("Q902"), ("P9", q("Q901")), ("P9", q("Q903"))),
            claim("P9", q("Q902"), ("P9", q("Q902"))),
            claim("P9", q("Q902")),
            claim("P9", q("Q902")),  # a fact twice
        ),
        {**document("Q902", ""), "labels": {"mul": {"language": "mul", "value": "of many tongues"}}},
        document("Q903", "no facts of its own"),
        document("Q904", "values", claim("P9", q("Q999999")), claim("P9", SOMEVALUE), claim("P9", NOVALUE),
                 claim("P9", external_id("x1")), claim("P9", string("Q901")), claim("P9", monolingual("salut")),
                 claim("P9", q("Q901"), rank="deprecated"),
                 claim("P9", q("Q903"), ("P9", SOMEVALUE), rank="preferred")),
        document("Q905", "dates", *(claim("P569", time(stamp, precision)) for stamp, precision in (
            ("+1952-03-11T00:00:00Z", 11), ("+1952-03-00T00:00:00Z", 10), ("+1952-00-00T00:00:00Z", 9),
            ("-0044-03-15T00:00:00Z", 11), ("-0001-01-01T00:00:00Z", 9), ("+1900-00-00T00:00:00Z", 7)))),
        document("Q906", "numbers", *(claim("P2048", quantity(number)) for number in ("+1.50", "-3", "0", "+0.0"))),
        {**document("Q907", "", claim("P9", q("Q901"))), "labels": {"de": {"language": "de", "value": "anders"}}},
    ]  # fmt: skip


@pytest.mark.parametrize("documents", [world(), oddities(), [*world(), *oddities()]], ids=["world", "oddities", "both"])
def test_handmade_dumps(workdir, documents):
    dump = write(workdir / "dump.json", documents)
    build(dump, workdir / "kb")
    truth, items = agree(workdir / "kb", dump)
    with closing(KnowledgeBase(workdir / "kb")) as kb:
        pairs = permutations(items, 2)
        assert [line for pair in pairs for line in plain_dump.path_disagreements(kb, truth, *pair)] == []


_ITEM = st.integers(1, 6).map(lambda number: q(f"Q{number}"))
_LITERAL = st.sampled_from(
    [quantity("+5"), time("+1952-03-11T00:00:00Z"), time("+1950-00-00T00:00:00Z", 8), string("x"), SOMEVALUE]
)
_SNAK = st.one_of(_ITEM, _ITEM, _LITERAL)
_PROP = st.sampled_from(["P1", "P2", "P31"])
_CLAIM = st.builds(
    lambda prop, value, qualifiers, rank: claim(prop, value, *qualifiers, rank=rank),
    _PROP,
    _SNAK,
    st.lists(st.tuples(_PROP, _SNAK), max_size=3),
    st.sampled_from(["normal", "normal", "preferred", "deprecated"]),
)
_DOCUMENTS = st.lists(st.lists(_CLAIM, max_size=5), min_size=1, max_size=5)


@settings(max_examples=20)
@given(_DOCUMENTS)
def test_random_dumps(tmp_path_factory, claims):
    folder = tmp_path_factory.mktemp("random")
    documents = [
        document(f"Q{number}", f"item {number}" if number != 3 else "", *some) for number, some in enumerate(claims, 1)
    ]
    anchor = document("Q7", "anchor", claim("P1", q("Q8")))  # an index needs a fact
    dump = write(folder / "dump.json", [*documents, anchor])
    build(dump, folder / "kb")
    agree(folder / "kb", dump)


@pytest.mark.slow
def test_the_embedded_dump():
    _, items = agree(SNAPSHOT / "kb", SNAPSHOT_SOURCES / "entities.json.gz", step=7)
    assert len(items) >= 400 // 7


def agree(folder, dump, step=1):
    """Compare every `step`th item; returns what the dump says, and them."""
    truth = plain_dump.BruteForce(plain_dump.read_lines(dump))
    items = sorted(item for item in truth.labels if item[0] == "Q")[::step]
    with closing(KnowledgeBase(folder)) as kb:
        assert kb.manifest.facts == len(truth.facts) > 0
        assert list(plain_dump.disagreements(kb, truth, items, random.Random(1))) == []
        assert all(kb.frequency(item) == len(kb.neighborhood(item, 10**9)) for item in items)
        for prop in {name for fact in truth.facts for name in fact[1::2]}:
            facts = sorted(fact for fact in truth.facts if prop in fact[1::2])
            assert kb.frequencies(prop) == (0, len(facts))
            assert sorted(tuple(part["id"] for part in fact) for fact in kb.neighborhood(prop, len(facts))) == facts
    return truth, items


@pytest.mark.slow
@pytest.mark.skipif(not DUMP.is_file(), reason="no ../shared/data")
def test_a_slice_of_wikidata_27k(workdir):
    dump = workdir / "dump.json"
    dump.write_bytes(b"".join(islice(plain_dump.read_lines(DUMP), SLICE)))  # values without documents, a torn array
    build(dump, workdir / "kb")
    truth, items = agree(workdir / "kb", dump, step=2)
    assert len(truth.facts) > 5000 and len(items) > 100
