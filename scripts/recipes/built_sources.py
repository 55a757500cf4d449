"""wikidata-27k: knowledge base and pages as keys of a configuration, what may be learned from, which answers are right."""

import re
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from convinse.encoder.bi_encoder import BiEncoder
from convinse.knowledge_base.build import build as build_kb
from convinse.knowledge_base.dump import read_dump
from convinse.knowledge_base.index import KnowledgeBase
from convinse.records.evidence import Entity
from convinse.records.literals import is_date, is_item
from convinse.scoring.convqa import is_answer
from convinse.support.checksums import sha256
from convinse.support.errors import IndexFileError
from convinse.wikipedia.build import build
from convinse.wikipedia.stored_pages import Embedding
from recipes.sources import needed, records, wikidata_27k, wikidata_27k_dated

SAVED = ("wikipedia-pages", "pages_with_qid.jsonl.gz")
INTRODUCTIONS = ("wikipedia-intros", "pages_wd27k.jsonl.gz")  # of the items of wikidata-27k
CONVQUESTIONS = ("convquestions", "val_wd27k.json.gz")  # its conversations over wikidata-27k
_YEAR = re.compile(r"[0-9]{4}")


def knowledge_base(data: Path, work: Path, *, dated: bool = False) -> KnowledgeBase:
    """The knowledge base of wikidata-27k in the folder `work`, with `dated` its statements that have times; built if it is missing."""
    dump = wikidata_27k_dated(data, work) if dated else wikidata_27k(data)
    path = work / f"wikidata-27k-{sha256(dump)[:12]}"
    try:
        return KnowledgeBase(path)
    except IndexFileError:
        build_kb(dump, path)
        return KnowledgeBase(path)


class Bench(NamedTuple):
    """The items that `convquestions/val_wd27k` is about, which nothing is learned of."""

    seeds: set[str]
    items: set[str]  # these and the answers


def bench_items(data: Path) -> Bench:
    seeds, items = set(), set()
    for conversation in records(data, *CONVQUESTIONS):
        turns = conversation["questions"]
        seeds.update(entity["id"] for entity in turns[0]["entities"] if is_item(entity["id"]))
        items.update(answer["id"] for turn in turns for answer in turn["answers"] if is_item(answer["id"]))
    return Bench(seeds, items | seeds)


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


def build_sources(data: Path, work: Path, pages: tuple[str, str] = SAVED, vectors: str = "") -> dict[str, str]:
    """Knowledge base and Wikipedia dump of `config/wikidata-27k.yml` in the folder `work`, as keys of a configuration."""
    file, titles = needed(data, *pages), data / "wikipedia-pages" / "title2qid.tsv.gz"
    embedding = None
    if vectors:
        encoder = BiEncoder(vectors)
        embedding = Embedding(encoder.weights_id, encoder.dimension, encoder.row_form, encoder.embed)
    with closing(knowledge_base(data, work)) as kb:
        ids = [sha256(file)[:12], *([embedding.model[:12]] if embedding else [])]
        dump = work / f"wikidata-27k-pages-{'-'.join(ids)}.db"
        if not dump.is_file():
            build(file, dump, titles=titles if titles.is_file() else None, embedding=embedding)
        return {"kb_path": str(kb.path), "ers_wikipedia_dump": str(dump)}


def is_right(entity: Entity, gold: Iterable[Entity]) -> bool:
    """Whether an entity is a gold answer: of the same id, or a date in the year if the gold answer is a bare year."""
    gold = list(gold)
    if is_answer(entity, gold):
        return True
    years = {entity["label"] for entity in gold if is_date(entity["id"]) and _YEAR.fullmatch(entity["label"])}
    return is_date(entity["id"]) and entity["id"][:4] in years
