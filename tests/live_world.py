"""Wikidata and Wikipedia on a free port of this machine: search, entities, statements and pages, over documents of a dump.

By itself it serves until Ctrl-C and shows what it is asked:

    python tests/live_world.py [DUMP] [--quiet]
"""

import argparse
import gzip
import html
import json
import re
import sys
from bisect import bisect_left
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from convinse.language.text import fold
from handmade import world
from loopback import running
from mediawiki import Wiki, error, normal

FIRST_REVISION = 2_000_000_000
MODIFIED = "2026-11-20T08:30:00Z"


class World(Wiki):
    """A wiki whose items are those of `lines` (id -> line of a dump); `merged` are redirects of items."""

    def __init__(self, lines):
        super().__init__()
        self.lines = lines
        self.merged = {}
        self.disambiguations = set()  # titles
        self.sparql = f"http://127.0.0.1:{self.server_port}/sparql"

    def document(self, name):
        return json.loads(self.lines[name])

    @cached_property
    def index(self):
        return _Index(self.lines)

    # -- the interfaces

    def wbsearchentities(self, params):
        form = params["search"].strip().lower()
        hits = []
        for item, (kind, text) in self.index.beginning_with(form)[: int(params["limit"])]:
            match = {"type": kind, "language": "en", "text": text}
            hits.append({"id": item, "title": item, "label": self.index.labels[item], "match": match})
        return {"searchinfo": {"search": params["search"]}, "search": hits, "success": 1}

    def wbgetentities(self, params):
        names = params["ids"].split("|")
        if len(names) > 50:
            return error("toomanyvalues", 'Too many values supplied for parameter "ids". The limit is 50.')
        if params["props"] == "sitelinks":
            return super().wbgetentities(params)
        entities = {}
        for name in names:
            target = self.merged.get(name, name)
            if target not in self.lines:
                entities[name] = {"id": name, "missing": ""}
                continue
            info = {"title": target, "lastrevid": FIRST_REVISION + int(target[1:]), "modified": MODIFIED}
            entities[target] = {**info, **self.document(target), "sitelinks": self.sitelinks_of(target)}
            if target != name:
                entities[target]["redirects"] = {"from": name, "to": target}
        return {"entities": entities, "success": 1}

    def sitelinks_of(self, name):
        """The article, and as many in other languages as the item is well known."""
        links = self.document(name).get("sitelinks") or {}
        title = links.get("enwiki", {}).get("title", name)
        others = (f"w{number}wiki" for number in range(min(self.index.frequency[name], 200)))
        return {site: {"site": site, "title": title, "badges": []} for site in others} | links if name[0] == "Q" else {}

    def query(self, params):
        if params.get("generator") == "links":
            return self.links(params)
        if "generator" not in params:
            return self.titled(params)
        if params["generator"] == "backlinks":
            return self.backlinks(params)
        search, most = params["gsrsearch"], int(params["gsrlimit"])
        if len(search) > 300:
            return error("cirrussearch-query-too-long", "Search request is longer than the maximum allowed length.")
        if search.startswith("haswbstatement:"):
            statements = [part.split("=") for part in search.removeprefix("haswbstatement:").split("|")]
            items = self.index.sorted(
                {name for pair in statements for name in self.index.subjects.get(tuple(pair), ())}
            )
            pages = [{"title": item, "pageid": int(item[1:])} for item in items]
        else:
            pages = [self.page_of(item) for item in self.index.statement_text(search)]
        if not pages:
            return {"batchcomplete": True}
        pages = [page | {"index": place} for place, page in enumerate(pages[:most], 1)]
        return {"batchcomplete": True, "query": {"pages": sorted(pages, key=lambda page: page["pageid"])}}

    def titled(self, params):
        answer = super().query(params)
        for title in params["titles"].split("|"):  # what has an article, under its title or another of its names
            name = normal(title)
            items = [item for item in self.index.forms.get(name.lower(), ()) if item in self.index.titles]
            target = next(iter(self.index.sorted(items)), None)
            target = self.index.items_by_title.get(name, target)
            if target is not None and name not in self.items:
                page = self.page_of(target)
                pages = [page, *(one for one in answer["query"]["pages"] if one["title"] not in (name, page["title"]))]
                answer["query"]["pages"] = pages
                if page["title"] != name:
                    answer["query"].setdefault("redirects", []).append({"from": name, "to": page["title"]})
        return answer

    def backlinks(self, params):
        items = sorted(self.index.linking[params["gbltitle"]], key=lambda item: int(item[1:]))
        most = int(params["gbllimit"])
        pages = [{"title": item, "pageprops": {"wb-sitelinks": str(self.index.frequency[item])}} for item in items]
        more = {"continue": {"gblcontinue": f"0|{items[most][1:]}"}} if items[most:] else {"batchcomplete": True}
        return more | ({"query": {"pages": pages[:most]}} if pages else {})

    def page_of(self, item):
        title = self.index.titles[item]
        props = {"wikibase_item": item} | ({"disambiguation": ""} if title in self.disambiguations else {})
        return {"pageid": int(item[1:]), "title": title, "pageprops": props}

    def links(self, params):
        title, redirects = self.follow(params["titles"])
        linked = re.findall(r'<a href="[^"]*/wiki/([^"#?]+)', self.pages.get(title, ""))
        names = list(dict.fromkeys(unquote(html.unescape(name)).replace("_", " ") for name in linked))
        steps = [step for name in names for step in self.follow(name)[1]]
        pages = [{"title": title} for title in dict.fromkeys(self.follow(name)[0] for name in names)]
        for page in pages:
            if page["title"] in self.items:
                page["pageprops"] = {"wikibase_item": self.items[page["title"]]}
        return {"batchcomplete": True, "query": {"pages": pages, "redirects": [*redirects, *steps]}}

    def sparql_answer(self, query):
        item = re.search(r"wd:(Q\d+)", query)[1]
        items = self.index.sorted(self.index.linking[item])
        rows = [{"item": {"type": "uri", "value": f"http://www.wikidata.org/entity/{name}"}} for name in items]
        return {"head": {"vars": ["item", "links"]}, "results": {"bindings": rows}}


class _Index:
    """Names, titles and statements of the documents."""

    def __init__(self, lines):
        self.labels, self.titles = {}, {}
        self.forms = defaultdict(dict)  # lower-case name -> item -> (kind of match, name)
        self.subjects = defaultdict(list)  # (property, value) -> items
        self.linking = defaultdict(set)  # value, also of a qualifier -> items
        self.words = defaultdict(set)
        self.frequency = defaultdict(int)
        documents = {}
        for name, line in lines.items():
            if name[0] == "Q":
                documents[name] = self._read(name, json.loads(line))
        for item, (entity, objects) in documents.items():
            text = " ".join((*entity, *(self.labels.get(value, "") for value in objects)))
            for word in fold(text).split():
                self.words[word].add(item)
        taken = set(self.titles.values())
        for item, label in self.labels.items():  # not all articles are in the data
            if item not in self.titles and label[:1].isupper():
                plain = re.sub(r"\s*\([^()]*\)$", "", label)
                self.titles[item] = label if plain in taken else plain
                taken.add(self.titles[item])
        self.sorted_forms = sorted(self.forms)
        self.items_by_title = {title: item for item, title in self.titles.items()}

    def _read(self, name, document):
        label = document["labels"]["en"]["value"] if document["labels"] else ""
        aliases = [one["value"] for one in (document["aliases"] or {}).get("en", ())]
        self.labels[name] = label
        if document["sitelinks"]:
            self.titles[name] = document["sitelinks"]["enwiki"]["title"]
        for alias in aliases:
            self.forms[alias.lower()][name] = ("alias", alias)
        self.forms[label.lower()][name] = ("label", label)
        objects = []
        for prop, claims in (document["claims"] or {}).items():
            for claim in claims:
                self.frequency[name] += 1
                qualifiers = [snak for snaks in claim.get("qualifiers", {}).values() for snak in snaks]
                for snak in (claim["mainsnak"], *qualifiers):
                    value = snak.get("datavalue", {}).get("value")
                    if not isinstance(value, dict) or "id" not in value:
                        continue
                    self.linking[value["id"]].add(name)
                    if snak is claim["mainsnak"]:
                        self.subjects[prop, value["id"]].append(name)
                        self.frequency[value["id"]] += 1
                        objects.append(value["id"])
        return (label, *aliases, self.titles.get(name, "")), objects

    def sorted(self, items):
        return sorted(items, key=lambda item: (-self.frequency[item], int(item[1:])))

    def beginning_with(self, form):
        """The items with a name that begins so, those that are called so first."""
        whole = dict(self.forms.get(form, {}))
        longer = {}
        for name in self.sorted_forms[bisect_left(self.sorted_forms, form) :][:50]:
            if name.startswith(form):
                longer |= self.forms[name]
        hits = whole | {item: match for item, match in longer.items() if item not in whole}
        order = sorted(hits, key=lambda item: (item not in whole, -self.frequency[item], int(item[1:])))
        return [(item, hits[item]) for item in order]

    def statement_text(self, search):
        """The items with an article that has all words, those with the words in the title first."""
        words = fold(search).split()
        if not all(word in self.words for word in words):  # as the search's own rewriting does
            from rapidfuzz import process
            from rapidfuzz.distance import OSA

            best = process.extractOne(search.lower(), self.sorted_forms, scorer=OSA.distance, score_cutoff=2)
            words = fold(best[0]).split() if best else words
        items = set.intersection(*(self.words.get(word, set()) for word in words)) if words else set()
        titled = {item: set(fold(self.titles[item]).split()) for item in items if item in self.titles}
        return sorted(titled, key=lambda item: (-len(titled[item] & set(words)), -self.frequency[item], int(item[1:])))


def documents_of(path):
    """The lines of a dump by their ids."""
    lines = {}
    with gzip.open(path) if str(path).endswith(".gz") else path.open("rb") as file:
        for line in file:
            if (entry := line.strip().rstrip(b",")) not in (b"[", b"]"):
                lines[re.match(rb'\{"id": ?"([QP]\d+)"', entry)[1].decode()] = entry
    return lines


def small_world():
    return {document["id"]: json.dumps(document).encode() for document in world()}


def live_world():
    """Serves in a thread while a `with` block runs."""
    return running(World(small_world()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dump", nargs="?", type=Path)
    parser.add_argument("--quiet", action="store_true", help="do not show the requests")
    options = parser.parse_args()
    server = World(small_world() if options.dump is None else documents_of(options.dump))
    _ = server.index
    print(f"{server.api} {server.sparql}", flush=True)
    server.shown = None if options.quiet else sys.stdout
    server.serve_forever()


if __name__ == "__main__":
    main()
