"""The index agrees with a plain reading of the dump, which shares no code with it."""

import random
from itertools import islice, permutations

import pytest

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
from places import DATA
from recipes import plain_dump

DUMP = DATA / "wikidata-27k" / "wikidata-27k.json.gz"
SLICE, CHECKED = 400, 120  # documents of wikidata-27k, items of them


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
    kb = KnowledgeBase(workdir / "kb")
    truth = plain_dump.BruteForce(plain_dump.read_lines(dump))
    assert truth.facts and kb.manifest.facts == len(truth.facts)
    items = sorted(item for item in truth.labels if item[0] == "Q")
    assert list(plain_dump.disagreements(kb, truth, items, random.Random(1))) == []
    pairs = permutations(items, 2)
    assert [line for pair in pairs for line in plain_dump.path_disagreements(kb, truth, *pair)] == []
    kb.close()


@pytest.mark.skipif(not DUMP.is_file(), reason="no ../shared/data")
def test_a_slice_of_wikidata_27k(workdir):
    dump = workdir / "dump.json"
    dump.write_bytes(b"".join(islice(plain_dump.read_lines(DUMP), SLICE)))  # values without documents, a torn array
    build(dump, workdir / "kb")
    kb = KnowledgeBase(workdir / "kb")
    truth = plain_dump.BruteForce(plain_dump.read_lines(dump))
    assert kb.manifest.facts == len(truth.facts) > 5000
    rng = random.Random(1)
    items = rng.sample(sorted(item for item in truth.labels if item[0] == "Q"), CHECKED)
    assert list(plain_dump.disagreements(kb, truth, items, rng)) == []
    kb.close()


def test_a_difference_is_found(world_kb, workdir):
    def lines_of(change):
        documents = world()
        change({one["id"]: one for one in documents})
        truth = plain_dump.BruteForce(plain_dump.read_lines(write(workdir / "dump.json", documents)))
        items = [item for item in truth.labels if item[0] == "Q"]
        return " ".join(plain_dump.disagreements(world_kb, truth, items, random.Random(1)))

    assert lines_of(lambda documents: None) == ""
    assert "label" in lines_of(lambda documents: documents["Q892"]["labels"]["en"].update(value="Tolkien"))
    lost = lines_of(lambda documents: documents["Q44578"]["claims"].pop("P57"))
    assert "neighborhood" in lost and "frequencies" in lost
    assert "connectivity" in lines_of(lambda documents: documents["Q8337"]["claims"].pop("P50"))
    assert "types" in lines_of(lambda documents: documents["Q44578"]["claims"].pop("P31"))
