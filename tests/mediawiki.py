"""A small MediaWiki on a free port of this machine: parse, query and wbgetentities, and faults on demand."""

import threading
import time
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

from loopback import Handler, Server, ok, running


class Wiki(Server):
    """What it has is in `pages`, `redirects`, `items` and `sitelinks`; `faults` are steps for the next requests."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _WikiHandler)
        self.pages = {}  # title -> HTML
        self.redirects = {}  # title -> title
        self.items = {}  # title -> item
        self.sitelinks = {}  # item -> title
        self.faults = []
        self.change = ok  # a good answer into a step
        self.requests = []
        self.shown = None  # a file that requests are written to
        self.delay = 0.0
        self.under_way = self.most_at_once = 0
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.api = f"http://127.0.0.1:{self.server_port}/w/api.php"

    def actions(self):
        return [request.params["action"] for request in self.requests]

    def follow(self, title):
        path = []
        while title in self.redirects and len(path) < 5:
            path.append({"from": title, "to": self.redirects[title]})
            title = self.redirects[title]
        return title, path

    def answer(self, path, params):
        if path.startswith("/sparql"):
            return self.sparql_answer(params["query"])
        return getattr(self, params["action"])(params)

    def parse(self, params):
        title, redirects = self.follow(normal(params["page"]))
        if title not in self.pages:
            return error("missingtitle", "The page you specified doesn't exist.")
        properties = {"wikibase_item": self.items[title]} if title in self.items else {}
        return {
            "parse": {"title": title, "pageid": 1, "revid": 7, "redirects": redirects, "text": self.pages[title],
                      "properties": properties}
        }  # fmt: skip

    def query(self, params):
        titles = params["titles"].split("|")
        if len(titles) > 50:
            return error("toomanyvalues", "Too many values supplied")
        normalized = [{"fromencoded": False, "from": t, "to": normal(t)} for t in titles if t != normal(t)]
        redirects, pages = [], {}
        for title in map(normal, titles):
            title, path = self.follow(title)
            redirects += [step for step in path if step not in redirects]
            is_page = title in self.pages or title in self.items
            pages[title] = {"ns": 0, "title": title, **({"pageid": 1} if is_page else {"missing": True})}
            if title in self.items:
                pages[title]["pageprops"] = {"wikibase_item": self.items[title]}
        query = {"pages": list(pages.values())}
        query.update({name: value for name, value in (("normalized", normalized), ("redirects", redirects)) if value})
        return {"batchcomplete": True, "query": query}

    def wbgetentities(self, params):
        item = params["ids"]
        if item not in self.sitelinks:
            return {"entities": {item: {"id": item, "missing": True}}, "success": 1}
        title = self.sitelinks[item]
        links = {"enwiki": {"site": "enwiki", "title": title, "badges": []}} if title else {}
        return {"entities": {item: {"type": "item", "id": item, "sitelinks": links}}, "success": 1}


class _WikiHandler(Handler):
    def answer(self):
        wiki = self.server
        params = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        with wiki.lock:
            wiki.under_way += 1
            wiki.most_at_once = max(wiki.most_at_once, wiki.under_way)
            wiki.requests.append(
                SimpleNamespace(
                    path=self.path, params=params, headers=self.headers, port=self.client_address[1],
                    time=time.monotonic(),
                )
            )  # fmt: skip
            fault = wiki.faults.pop(0) if wiki.faults else None
        if wiki.shown:
            print(" ".join(f"{name}={value}" for name, value in params.items()), file=wiki.shown, flush=True)
        try:
            wiki.stopped.wait(wiki.delay)
            step = fault or wiki.change(wiki.answer(self.path, params))
        finally:
            with wiki.lock:
                wiki.under_way -= 1  # before the answer: its reader may be back at once
        step(self)

    do_GET = answer  # noqa: N815


def normal(title):
    title = title.replace("_", " ").strip()
    return title[:1].upper() + title[1:]


def error(code, info="", **more):
    return {"error": {"code": code, "info": info, **more}, "docref": "See https://www.mediawiki.org/wiki/API"}


def mediawiki():
    """A wiki that serves in a thread while a `with` block runs."""
    return running(Wiki())
