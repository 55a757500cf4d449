"""The facts of wikidata-27k: the knowledge base, built once, and what may be learned from."""

from pathlib import Path
from typing import NamedTuple

from convinse.knowledge_base.build import build
from convinse.knowledge_base.dump import read_dump
from convinse.knowledge_base.index import KnowledgeBase
from convinse.records.literals import is_item
from convinse.support.checksums import sha256
from convinse.support.errors import IndexFileError
from recipes.sources import records, wikidata_27k, wikidata_27k_dated


def knowledge_base(data: Path, work: Path, *, dated: bool = False) -> KnowledgeBase:
    """The knowledge base of wikidata-27k in the folder `work`, with `dated` its statements that have times; built if it is missing."""
    dump = wikidata_27k_dated(data, work) if dated else wikidata_27k(data)
    path = work / f"wikidata-27k-{sha256(dump)[:12]}"
    try:
        return KnowledgeBase(path)
    except IndexFileError:
        build(dump, path)
        return KnowledgeBase(path)


class Bench(NamedTuple):
    """The items that `convquestions/val_wd27k` is about, which nothing is learned of."""

    seeds: frozenset[str]
    answers: frozenset[str]

    @property
    def items(self) -> frozenset[str]:
        return self.seeds | self.answers


def bench_items(data: Path) -> Bench:
    conversations = list(records(data, "convquestions", "val_wd27k.json.gz"))
    turns = [turn for conversation in conversations for turn in conversation["questions"]]
    seeds = {entity["id"] for conversation in conversations for entity in conversation["questions"][0]["entities"]}
    return Bench(
        frozenset(filter(is_item, seeds)),
        frozenset(filter(is_item, (answer["id"] for turn in turns for answer in turn["answers"]))),
    )


class Fact(NamedTuple):
    subject: str
    prop: str
    value: str
    subject_label: str
    value_label: str


def facts_by_subject(kb: KnowledgeBase, data: Path) -> dict[str, list[Fact]]:
    """The facts of wikidata-27k that may be learned from: not those of the bench's items."""
    bench = bench_items(data)
    found: dict[str, list[Fact]] = {}
    for document in read_dump(wikidata_27k(data)):
        if document.kind != "item" or document.id in bench.items:
            continue
        facts: dict[Fact, None] = {}
        for entities in kb.first_facts(document.id, kb.frequencies(document.id)[0]):
            if not any(entity["id"] in bench.seeds for entity in entities):
                subject, prop, value = entities[:3]
                facts[Fact(subject["id"], prop["id"], value["id"], subject["label"], value["label"])] = None
        if facts:
            found[document.id] = list(facts)
    return found
