"""Readers that no light command calls, and what is looked up in what commands leave behind; each works in the working directory."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec

from convinse.config import resolve
from convinse.language.text import fold
from convinse.support.errors import NetworkError

from . import fuzz_samples as samples

_SNAPSHOT = "snapshot:"

# what commands leave behind is looked into, too: nothing that breaks a look-up gets into an index ------------------------


def look_up_items() -> None:
    """Everything that an index says of its items."""
    import numpy as np

    from convinse.knowledge_base.index import KnowledgeBase

    with closing(KnowledgeBase(Path("kb"))) as kb:
        for _, label, aliases in kb.properties():
            "".join((label, *aliases)).encode()
        for number in np.fromfile("kb/items", "<u4").tolist():
            item = f"Q{number}"
            kb.neighborhood(item), kb.two_hop_neighborhood(item), kb.types(item), kb.types_of(item), kb.is_class(item)
            names = (kb.label(item), *kb.aliases(item))
            if not all(
                any(candidate.id == item for candidate in kb.candidates(fold(name))) for name in names if fold(name)
            ):
                raise AssertionError(f"{item} is not found by its names")


def look_up_pages() -> None:
    from convinse.wikipedia.dump import WikipediaDump

    with closing(WikipediaDump(Path("wikipedia.db"))) as dump:
        for item in dump.items():
            for evidence in dump.get(item) or ():
                row = evidence.get("row")
                if row is not None and "table" in row:
                    dump.table(item, row["table"])
        dump.search(["titanic"], ["film"])


def write_pickle(protocol: int) -> None:
    Path("items.pickle").write_bytes(pickle.dumps(samples.pickled_items(), protocol))


def read(module: str, function: str, *arguments: Any) -> Callable[[], object]:
    """A call of a function of the project, whose result is gone through where it comes bit by bit."""

    def action() -> object:
        from importlib import import_module

        result = getattr(import_module(f"convinse.{module}"), function)(*arguments)
        return list(result) if hasattr(result, "__next__") else result

    return action


def model_files() -> None:
    """The settings of the embedded models; their weights are left where they are."""
    for folder in ("model", "history", "answers"):
        Path(folder).mkdir()
        for path in resolve(f"{_SNAPSHOT}{folder}").glob("*"):
            if path.suffix == ".json" and path.stat().st_size < 1 << 20:
                shutil.copy(path, folder)
            elif path.suffix != ".md":
                (Path(folder) / path.name).symlink_to(path)


def cached(folder: str) -> Callable[[], object]:
    """Keep some values, or read those that are kept."""

    def action() -> None:
        from convinse.support.evidence_cache import EvidenceCache

        cache = EvidenceCache(folder)
        try:
            for key in ("a", "b"):
                if cache.get("kind", key) is None:
                    cache.put("kind", key, value=[samples.evidence(key)] * 20)
            list(cache.keys())
        finally:
            cache.close()

    return action


def vectors() -> None:
    import numpy as np

    from convinse.support.vector_cache import VectorCache

    cache = VectorCache("cache", "model", 8)
    known = cache.get(["a", "b", "c"])[1]
    cache.put(["a", "b", "c", "d"], np.ones((4, 8)) * (1 + known.sum()))


def configuration() -> None:
    """Read a configuration, and what a run does with it first."""
    from convinse.config import load_config, to_dict
    from convinse.identity import fingerprint

    fingerprint(to_dict(load_config("c.yml")))


def annotated() -> None:
    from convinse.config import Config
    from convinse.training.representation import read_examples

    read_examples(Config(), Path("annotated.json"))


def _answered() -> Any:
    """While it is entered, every request is answered by a file."""
    from convinse.support.web import WebAnswer, WebSession

    file = Path("answer.json")
    answer = WebAnswer("https://example.org", 200, {}, file.read_bytes() if file.is_file() else b"")
    return mock.patch.object(WebSession, "_request", lambda *_, **__: answer)


def mediawiki() -> None:
    from convinse.wikipedia.api import MediaWikiApi
    from convinse.wikipedia.page import page_evidences, parse_page

    with _answered():
        api = MediaWikiApi("https://en.wikipedia.org/w/api.php", "https://www.wikidata.org/w/api.php")
        asked: list[Callable[[], object]] = [
            lambda: api.title_of("Q44578", 0), lambda: api.page("Titanic", 0), lambda: list(api.items_of(["Titanic"], 0)),
        ]  # fmt: skip
        for ask in asked:
            with suppress(NetworkError):
                answer = ask()
                if isinstance(answer, tuple):
                    evidences = page_evidences(
                        parse_page(answer.title, answer.html), {"id": "Q44578", "label": "x"}, {}
                    )
                    msgspec.json.encode(evidences)


def clocq() -> None:
    from convinse.config import ClocqParams
    from convinse.knowledge_base.api_client import ClocqApi

    with _answered():
        msgspec.json.encode(ClocqApi("http://localhost", 1).search_space("who", ClocqParams(), 10))


def model() -> None:
    from convinse.config import load_config
    from convinse.resources import Resources

    with Resources(
        load_config("lexical.yml", backend="onnx", evs_model="model", qu_model="history", ha_model="model")
    ) as resources:
        resources.reader("model", key="ha_model")
