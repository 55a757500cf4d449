from contextlib import closing

import pytest

from convinse.knowledge_base import build as module
from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase
from convinse.support.errors import DataError
from handmade import claim, document, dump_bytes, q, string, world, write
from written import names, write_lines


def build_of(workdir, documents):
    return build(write(workdir / "dump.json", documents), workdir / "kb")


def test_the_manifest_counts(workdir):
    manifest = build_of(workdir, world())
    items = [entity for entity in world() if entity["id"][0] == "Q"]
    facts = sum(len(claims) for entity in items if entity["claims"] for claims in entity["claims"].values())
    counts = len(items), len(world()) - len(items), facts
    assert (manifest.items, manifest.properties, manifest.facts) == counts


def same(first, second):
    """Equal but for the names of the full-text engine's files, which are random."""
    fields = ("build_id", "items", "properties", "facts")
    return [getattr(first, field) for field in fields] == [getattr(second, field) for field in fields]


def test_place_blocks_processes_and_memory_change_nothing(workdir, monkeypatch):
    first = build_of(workdir, world())
    dump = write_lines("elsewhere/other.json", *world())
    assert same(build(dump, workdir / "elsewhere" / "kb2"), first)
    before = facts_of(workdir / "kb")
    monkeypatch.setattr(module, "BLOCK", 700)  # several blocks, parsed by several processes
    assert same(build_of(workdir, world()), first)
    assert facts_of(workdir / "kb") == before
    build(workdir / "dump.json", workdir / "kb", memory=4096)  # literals are forgotten and written again
    assert facts_of(workdir / "kb") == before


def test_a_bad_entity_is_skipped_and_the_others_are_found(workdir, caplog):
    bad = [
        document("Q2147483648", "too far", claim("P1", q("Q2"))),
        document("Q9", "to nowhere", claim("P1", q("Q4294967297"))),
    ]
    bad.append({**document("Q8", "x"), "aliases": {"en": [{"value": 7}]}})
    good = [document("Q1", "one", claim("P1", q("Q2"))), *(document(f"Q{n}", f"item {n}") for n in range(1000, 1400))]
    assert build_of(workdir, [*good, *bad]).items == len(good)
    assert [message.split(": ")[1] for message in caplog.messages] == [f"line {len(good) + n}" for n in (2, 3, 4)]
    with closing(KnowledgeBase(workdir / "kb")) as kb:
        assert kb.neighborhood("Q1") == [[kb.entity("Q1"), kb.entity("P1"), kb.entity("Q2")]]
        assert [candidate.id for candidate in kb.candidates("item 1399")] == ["Q1399"]
        assert not kb.candidates("too far") and not kb.candidates("to nowhere")


def test_a_text_with_the_separator_stays_one_text(workdir):
    build_of(workdir, [document("Q1", "one", claim("P1", string("a\x1fb\x1fQ2")), aliases=["c\x1fd"])])
    with closing(KnowledgeBase(workdir / "kb")) as kb:
        assert kb.neighborhood("Q1")[0][2] == {"id": "a b Q2", "label": "a b Q2"}
        assert kb.aliases("Q1") == ["c d"]


def facts_of(folder):
    with closing(KnowledgeBase(folder)) as kb:
        return {one["id"]: kb.neighborhood(one["id"]) for one in world()}


CHANGES = {
    "a label": lambda one: one["labels"]["en"].update(value="Titanic!"),
    "an alias": lambda one: one.update(aliases={"en": [{"value": "Titanic 1997"}]}),
    "a description": lambda one: one["descriptions"]["en"].update(value="a film"),
    "a title": lambda one: one["sitelinks"]["enwiki"].update(title="Titanic film"),
    "an object": lambda one: one["claims"]["P57"][0]["mainsnak"].update(q("Q25191")),
    "a qualifier": lambda one: one["claims"]["P161"][0]["qualifiers"]["P453"][0].update(string("Jack")),
    "a rank": lambda one: one["claims"]["P161"][1].update(rank="preferred"),
    "a deprecated statement": lambda one: one["claims"]["P161"][1].update(rank="deprecated"),
    "its id": lambda one: one.update(id="Q4457800"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_document_changes_the_build_id(workdir, change):
    first = build_of(workdir, world())
    changed = world()
    change(next(one for one in changed if one["id"] == "Q44578"))
    assert build_of(workdir, changed).build_id != first.build_id


def test_preferred_statements_come_first(kb_of):
    claims = [claim("P1", q("Q2")), claim("P1", q("Q3"), rank="preferred"), claim("P1", q("Q4"))]
    facts = kb_of(document("Q1", "one", *claims)).neighborhood("Q1")
    assert [fact[2]["id"] for fact in facts] == ["Q3", "Q2", "Q4"]


def test_a_dump_cut_short_leaves_the_older_index(workdir):
    first = build_of(workdir, world())
    (workdir / "dump.json").write_bytes(dump_bytes(world()) + b"<html>\n" * 30)
    with pytest.raises(DataError):
        build(workdir / "dump.json", workdir / "kb")
    assert names() == ["dump.json", "kb"]
    with closing(KnowledgeBase(workdir / "kb")) as kb:
        assert (kb.build_id, kb.label("Q44578")) == (first.build_id, "Titanic")


def test_a_second_document_of_an_item_is_skipped_and_reported(workdir, caplog):
    once, before = build_of(workdir, world()), facts_of(workdir / "kb")
    again = document("Q44578", "Titanic again", claim("P57", q("Q42574")), claim("P57", q("Q5")))
    twice = build_of(workdir, [*world(), again])
    assert (twice.items, twice.facts) == (once.items, once.facts)
    assert facts_of(workdir / "kb") == before
    assert "appears twice" in caplog.text
