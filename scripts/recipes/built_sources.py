"""Knowledge base and pages of wikidata-27k as keys of a configuration, and which answers to questions over it are right."""

import re
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from convinse.encoder.bi_encoder import BiEncoder
from convinse.records.evidence import Entity
from convinse.records.literals import is_date
from convinse.scoring.convqa import is_answer
from convinse.support.checksums import sha256
from convinse.wikipedia.build import build
from convinse.wikipedia.stored_pages import Embedding
from recipes.embedded.wikidata import knowledge_base
from recipes.sources import needed

SAVED = ("wikipedia-pages", "pages_with_qid.jsonl.gz")
INTRODUCTIONS = ("wikipedia-intros", "pages_wd27k.jsonl.gz")  # of the items of wikidata-27k
CONVQUESTIONS = ("convquestions", "val_wd27k.json.gz")  # its conversations over wikidata-27k
_YEAR = re.compile(r"[0-9]{4}")


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
