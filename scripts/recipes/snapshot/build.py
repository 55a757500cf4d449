"""Build the index and the Wikipedia dump of the embedded snapshot from their sources.

    python scripts/recipes/snapshot/build.py

Sources, beside this script: `entities.json.gz` (entity documents in the official Wikidata dump format), `pages/*.html`
(articles as MediaWiki renders them; the file name is the title), `redirects.tsv` (other titles).
Results: `kb/` and `wikipedia.db` of `convinse/snapshot/`.
"""

from pathlib import Path
from urllib.parse import unquote

from convinse.encoder.bi_encoder import BiEncoder
from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase
from convinse.wikipedia.dump import write_dump
from convinse.wikipedia.page import page_evidences, parse_page
from convinse.wikipedia.stored_pages import Embedding

SOURCES = Path(__file__).resolve().parent
SNAPSHOT = SOURCES.parents[2] / "convinse" / "snapshot"


def evidences(kb: KnowledgeBase):
    items = {title: kb.entity(item) for title, item in kb.titles().items()}
    for line in (SOURCES / "redirects.tsv").read_text(encoding="utf-8").splitlines():
        title, item = line.split("\t")
        items.setdefault(title, kb.entity(item))
    for file in sorted((SOURCES / "pages").glob("*.html")):
        title = unquote(file.stem).replace("_", " ")
        page = parse_page(title, file.read_text(encoding="utf-8"))
        item = items[title]
        yield item["id"], page_evidences(page, item, items)


def embedding(model: Path) -> Embedding:
    encoder = BiEncoder(model)
    return Embedding(encoder.weights_id, encoder.dimension, encoder.row_form, encoder.embed)


def main(folder: Path = SNAPSHOT) -> None:
    manifest = build(SOURCES / "entities.json.gz", folder / "kb")
    print(
        f"kb: {manifest.items} items, {manifest.properties} properties, {manifest.facts} facts, {manifest.size} bytes, {manifest.build_id}"
    )
    pages = write_dump(folder / "wikipedia.db", evidences(KnowledgeBase(folder / "kb")), embedding(SNAPSHOT / "model"))
    print(f"wikipedia: {pages} pages")


if __name__ == "__main__":
    main()
