"""Select the entity documents of the embedded snapshot from a Wikidata JSON dump, with the facts added by hand.

    python scripts/recipes/snapshot/select_entities.py DUMP

Reads `facts.tsv` (subject, property, value, qualifier property, qualifier value ...), `labels.tsv`
(label of items that the dump lacks), `titles.tsv` (article title, item), `pages/` and the conversations of
`convinse/snapshot/`; writes `entities.json.gz` in the dump's format and `redirects.tsv`.

Items with a page, or asked about, keep all their statements; items that pages link to or that answer a question, the most telling ones; every
other item that is mentioned keeps its label and its classes.
"""

import gzip
import re
import sys
import uuid
from pathlib import Path
from urllib.parse import unquote

import msgspec

from convinse.support.jsonlines import raw_lines

ROOT = Path(__file__).resolve().parents[3]
SNAPSHOT = ROOT / "convinse" / "snapshot"
SOURCES = Path(__file__).parent
CLASSES = ("P31", "P279", "P106")
TELLING = (
    "P31 P569 P19 P27 P106 P570 P20 P577 P571 P57 P50 P58 P175 P264 P136 P161 P26 P40 P22 P25 P69 P54 P413 P170 P449 P144 P86 P495 "
    "P463 P527 P1303 P166 P179 P155 P156 P112 P159 P115 P286 P118"
).split()
LEFT_OUT = {"P530", "P47"}  # diplomatic relations and borders: hundreds a country, of no use in these domains
LINKED_LIMIT = 9  # statements of an item that pages only link to, two of a property at most
MAPS = ("labels", "descriptions", "aliases", "claims", "sitelinks")  # of a document
DATATYPES = {"wikibase-item": "wikibase-entityid", "time": "time", "quantity": "quantity"}


def read_tsv(name: str) -> list[list[str]]:
    lines = (SOURCES / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def read_documents(path: Path) -> dict[str, dict]:
    documents = {}
    for _, line in raw_lines(path):
        line = line.strip().rstrip(b",")
        if line not in (b"[", b"]"):
            document = msgspec.json.decode(line)
            documents[document["id"]] = {**document, **{key: document.get(key) or {} for key in MAPS}}
    return documents


def new_item(item_id: str, label: str) -> dict:
    empty: dict = {key: {} for key in MAPS}
    return {"id": item_id, "type": "item", **empty, "labels": {"en": {"language": "en", "value": label}}}


def snak(prop: str, text: str, datatype: str) -> dict:
    if datatype == "wikibase-item":
        value: dict = {"entity-type": "item", "numeric-id": int(text[1:]), "id": text}
    elif datatype == "time":
        year, month, day = [*text.split("-"), "00", "00"][:3]
        precision = 9 if month == "00" else 10 if day == "00" else 11
        value = {"time": f"+{year}-{month}-{day}T00:00:00Z", "timezone": 0, "before": 0, "after": 0, "precision": precision,
                 "calendarmodel": "http://www.wikidata.org/entity/Q1985727"}  # fmt: skip
    else:
        amount, _, unit = text.partition(" ")
        value = {"amount": f"+{amount}", "unit": f"http://www.wikidata.org/entity/{unit}" if unit else "1"}
    datavalue = {"value": value, "type": DATATYPES[datatype]}
    return {"snaktype": "value", "property": prop, "datatype": datatype, "datavalue": datavalue}


def add_facts(documents: dict[str, dict], labels: dict[str, str]) -> set[str]:
    subjects = set()
    for fact in read_tsv("facts.tsv"):
        subject, prop, value, *rest = fact
        document = documents.setdefault(subject, new_item(subject, labels.get(subject, subject)))
        statement: dict = {
            "mainsnak": snak(prop, value, documents[prop]["datatype"]),
            "type": "statement",
            "id": f"{subject}${uuid.uuid5(uuid.NAMESPACE_URL, chr(9).join(fact))}",
            "rank": "normal",
        }
        for key, text in zip(rest[::2], rest[1::2], strict=True):
            qualifiers = statement.setdefault("qualifiers", {})
            qualifiers.setdefault(key, []).append(snak(key, text, documents[key]["datatype"]))
        statement["qualifiers-order"] = list(statement.get("qualifiers", {}))
        claims = document["claims"].setdefault(prop, [])
        main = statement["mainsnak"]["datavalue"]["value"]
        # the dump's plain statement of the same value gives way to one with qualifiers
        same = [claim for claim in claims if claim["mainsnak"]["datavalue"]["value"] == main]
        if same and not statement.get("qualifiers"):
            continue
        kept = [claim for claim in claims if claim not in same or claim.get("qualifiers")]
        document["claims"][prop] = [*kept, statement]
        subjects.add(subject)
    return subjects


def mentioned(claims: dict[str, list]) -> set[str]:
    found = set(claims)
    for statements in claims.values():
        for statement in statements:
            snaks = [statement["mainsnak"], *(s for group in statement.get("qualifiers", {}).values() for s in group)]
            found |= set(statement.get("qualifiers", {}))
            for one in snaks:
                value = one.get("datavalue", {}).get("value", {})
                if "id" in value:
                    found.add(value["id"])
                elif value.get("unit", "1") != "1":
                    found.add(value["unit"].rsplit("/", 1)[-1])
    return found


def page_titles() -> dict[str, set[str]]:
    """Title of every page -> titles that it links to."""
    titles = {}
    for file in sorted((SOURCES / "pages").glob("*.html")):
        links = re.findall(r'href="/wiki/([^"#?]+)', file.read_text(encoding="utf-8"))
        titles[unquote(file.stem).replace("_", " ")] = {unquote(link).replace("_", " ") for link in links}
    return titles


def conversation_items() -> tuple[set[str], set[str]]:
    """The items that questions are about, and those that answer them."""
    topics, answers = set(), set()
    for part in ("train", "dev", "test"):  # those of natural.json were asked about the snapshot as it is
        for conversation in msgspec.json.decode((SNAPSHOT / "conversations" / f"{part}.json").read_bytes()):
            for turn in conversation["questions"]:
                topics |= {entity["id"] for entity in turn["entities"]}
                answers |= {answer["id"] for answer in turn["answers"] if re.fullmatch(r"Q\d+", answer["id"])}
    return topics, answers


def main() -> None:
    documents = read_documents(Path(sys.argv[1]))
    labels = dict(read_tsv("labels.tsv"))
    subjects = add_facts(documents, labels)
    title_of = {document["id"]: document["sitelinks"].get("enwiki", {}).get("title") for document in documents.values()}
    item_of = {title: item for item, title in title_of.items() if title}
    redirects = {}
    for title, item in read_tsv("titles.tsv"):
        documents.setdefault(item, new_item(item, labels.get(item, title)))
        if not title_of.get(item):
            documents[item]["sitelinks"]["enwiki"] = {"site": "enwiki", "title": title, "badges": []}
            title_of[item] = title
        elif title_of[item] != title:
            redirects[title] = item
        item_of[title] = item

    pages = page_titles()
    missing = sorted(title for title in pages if title not in item_of)
    if missing:
        sys.exit(f"pages without an item: {missing}")
    topics, answers = conversation_items()
    core = {item_of[title] for title in pages} | topics
    targets = set().union(*pages.values())
    linked = ({item_of[target] for target in targets if target in item_of} | subjects | answers) - core
    for item in sorted(core | linked):
        documents.setdefault(item, new_item(item, labels.get(item, item)))
    kept: dict[str, dict] = {item: documents[item] for item in core}
    for document in kept.values():
        document["claims"] = {prop: claims for prop, claims in document["claims"].items() if prop not in LEFT_OUT}
    for item in linked:
        claims, room = {}, LINKED_LIMIT
        for prop in TELLING:
            statements = documents[item]["claims"].get(prop, [])[: min(room, 2)]
            if statements:
                claims[prop] = statements
                room -= len(statements)
        kept[item] = {**documents[item], "claims": claims}
    # labels and classes of all that is mentioned
    waiting = {other for document in kept.values() for other in mentioned(document["claims"])} - kept.keys()
    while waiting:
        name = waiting.pop()
        document = documents.get(name) or new_item(name, labels[name])
        classes = [prop for prop in CLASSES if name[0] == "Q" and prop in document["claims"]]
        claims = {prop: document["claims"][prop] for prop in classes}
        kept[name] = {**document, "claims": claims}
        waiting |= mentioned(claims) - kept.keys()

    ordered = sorted(kept.values(), key=lambda document: (document["id"][0], int(document["id"][1:])))
    lines = b",\n".join(msgspec.json.encode(document) for document in ordered)
    with gzip.GzipFile(SOURCES / "entities.json.gz", "wb", compresslevel=9, mtime=0) as file:
        file.write(b"[\n" + lines + b"\n]\n")
    (SOURCES / "redirects.tsv").write_text(
        "".join(f"{t}\t{i}\n" for t, i in sorted(redirects.items())), encoding="utf-8"
    )
    items = [document for document in ordered if document["type"] == "item"]
    facts = sum(len(statements) for document in items for statements in document["claims"].values())
    with_facts = sum(bool(document["claims"]) for document in items)
    print(
        f"{len(items)} items, {with_facts} with facts, {len(core)} core, {len(linked)} linked, {facts} facts, {len(redirects)} redirects"
    )
    print(f"{sum(target not in item_of for target in targets)} link targets without an item")


if __name__ == "__main__":
    main()
