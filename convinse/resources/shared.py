"""The resources that the stages of a pipeline share: knowledge base, linker, dumps, passages, caches, models.

Each is opened when it is first asked for, and once. Opening is locked, so several threads get the same one. Of what is open,
the knowledge base, the linker, the dump, the passages and the caches may be used by several threads at once; a model computes
for one thread at a time. `close` closes the files and the connections; their owner calls it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np

from ..config import LIVE, NO_KB, SNAPSHOT, Config, cache_path, resolve
from ..documents.index import DocumentIndex
from ..documents.names import DocumentNames
from ..encoder.answer_classes import has_answer_type
from ..encoder.bi_encoder import BiEncoder, KeptEmbeddings
from ..encoder.checkpoint import Checkpoint, model_path, row_form_of
from ..encoder.extractive_reader import ExtractiveReader
from ..encoder.pool import ModelPool
from ..encoder.question_readers import AnswerTypeReader, QuestionRewriter, YesNoReader, has_yes_no
from ..encoder.reranker import BertReranker
from ..encoder.settings import configured
from ..knowledge_base.api_client import ClocqApi
from ..knowledge_base.index import KnowledgeBase
from ..knowledge_base.items import Items
from ..knowledge_base.lifetimes import Lifetimes
from ..knowledge_base.linking import EntityLinker
from ..knowledge_base.live import Articles, LiveSource
from ..knowledge_base.search_space import SearchSpace
from ..knowledge_base.wikidata_client import WikidataClient
from ..language.language import Language, english
from ..language.property_names import PropertyNames
from ..language_models.chat_model import ChatModel
from ..language_models.model_server import ModelServer
from ..records.ranked_rows import RowForm
from ..sources.facts import ClocqServer, FactSource, IndexFacts
from ..sources.joined import JoinedItems, JoinedPages
from ..support.cache import Cache
from ..support.vectors import EVIDENCES_KEPT, VectorCache
from ..wikipedia.api import MediaWikiApi
from ..wikipedia.dump import WikipediaDump
from ..wikipedia.pages import NoPages, Pages
from .answer_typing import AnswerTyping

if TYPE_CHECKING:
    from ..passages.index import PassageIndex

T = TypeVar("T")
ServerKey = Literal["qu_llm", "evs_server", "ha_llm"]

_OF_THE_KB = ("linker", "space", "facts", "names", "lifetimes", "answer typing")
_QUESTIONS_KEPT = 1_000  # whose results of models are in memory: a question is repeated soon or not at all


class Resources:
    """The shared resources of one configuration; each is opened on first use.

    Methods that load a model raise `ModelError` if it cannot be loaded.

    Args:
        config: names everything.
        kb: a knowledge base to use instead of the configured one; its owner closes it.
        models: shared with other resources; the same thread computes with them.
    """

    def __init__(self, config: Config, *, kb: Items | None = None, models: ModelPool | None = None) -> None:
        self.config = config
        self.models = models or ModelPool()
        self._lock = threading.RLock()
        self._open: dict[Any, Any] = {}
        self._kb = kb

    @property
    def language(self) -> Language:
        """The language of questions, labels and pages: English, the only language with word lists."""
        return english()

    @property
    def kb(self) -> Items:
        """The items of `kb_path`, joined with the names in `documents` if there are any.

        Raises `IndexFileError` if it is missing, damaged or of another format.
        """
        if self._kb is not None:
            return self._kb
        return self._opened("kb", self._open_kb) if self.live is None else self._with_names(self.live.kb)

    def _open_kb(self) -> Items:
        if self.config.kb_path != NO_KB:
            return self._with_names(KnowledgeBase(resolve(self.config.kb_path)))
        return DocumentNames() if self.documents is None else self.documents.names

    def _with_names(self, items: Items) -> Items:
        return items if self.documents is None else JoinedItems(items, self.documents.names)

    @property
    def live(self) -> LiveSource | None:
        """The live knowledge base that looks questions up; None if the knowledge base is another one."""
        is_live = self.config.kb_path == LIVE and self._kb is None
        return self._opened("live", self._open_live) if is_live else None

    def _open_live(self) -> LiveSource:
        config = self.config
        client = WikidataClient(config.ers_wikidata_api, config.ers_wikipedia_api, config.live_sparql)
        at_hand = KnowledgeBase(resolve(SNAPSHOT + "kb"))
        return LiveSource(
            client, self.cache, at_hand, self.language, max_age=config.live_max_age, pages=config.ers_on_the_fly
        )

    @property
    def mediawiki(self) -> MediaWikiApi:
        """The client for articles and their links."""
        config = self.config
        return self._opened("mediawiki", lambda: MediaWikiApi(config.ers_wikipedia_api, config.ers_wikidata_api))

    @property
    def articles(self) -> Articles:
        """The articles that may be fetched: those that live facts leave requests for, else all."""
        return self.live or Articles()

    def renew_live(self, before: Items) -> bool:
        """Drop resources that were made from an earlier live knowledge base; returns True if it has changed."""
        if self.live is None or self.live.kb is before:
            return False
        self._let_go(*_OF_THE_KB)
        return True

    @property
    def linker(self) -> EntityLinker:
        """The linker of texts to items of the knowledge base."""
        return self._opened("linker", lambda: EntityLinker(self.kb, self.config.clocq_params, self.language))

    @property
    def search_space(self) -> SearchSpace:
        """The search for facts around items."""
        config = self.config
        return self._opened(
            "space", lambda: SearchSpace(self.kb, config.clocq_params, config.clocq_p, self.language, self.linker)
        )

    @property
    def facts(self) -> FactSource:
        """The source of facts: the knowledge base, or with `clocq_use_api` a server."""
        config = self.config
        if not config.clocq_use_api:
            return self._opened("facts", lambda: IndexFacts(self.kb, self.search_space))
        return self._opened(
            "server of facts",
            lambda: ClocqServer(
                ClocqApi(config.clocq_host, config.clocq_port), config.clocq_params, config.clocq_p, self.language
            ),
        )

    @property
    def property_names(self) -> PropertyNames:
        """The names of the knowledge base's properties."""
        return self._opened("names", lambda: PropertyNames(self.kb.properties(), self.language.properties))

    @property
    def lifetimes(self) -> Lifetimes:
        """The times at which items of the knowledge base exist."""
        return self._opened("lifetimes", lambda: Lifetimes(self.kb))

    @property
    def documents(self) -> DocumentIndex | None:
        """The index of documents of `ers_documents`, if configured. Raises `IndexFileError` as `kb` does."""
        path = self.config.ers_documents
        return None if path is None else self._opened("documents", lambda: DocumentIndex(resolve(path)))

    @property
    def documents_alone(self) -> DocumentIndex | None:
        """The index of documents if nothing else is asked."""
        config = self.config
        has_others = config.clocq_use_api or config.ers_passage_index or config.ers_wikipedia_dump
        return None if has_others or config.kb_path != NO_KB else self.documents

    @property
    def pages(self) -> Pages:
        """The pages of `ers_wikipedia_dump`, joined with the `documents` if there are any. Raises `IndexFileError` as `kb` does."""
        return self._opened("pages", self._open_pages)

    def _open_pages(self) -> Pages:
        path = self.config.ers_wikipedia_dump
        pages = NoPages() if path is None else WikipediaDump(resolve(path))
        if self.documents is None:
            return pages
        return self.documents if path is None else JoinedPages(pages, self.documents)

    @property
    def passages(self) -> PassageIndex | None:
        """The index of `ers_passage_index`, if configured. Raises `IndexFileError` as `kb` does."""
        path = self.config.ers_passage_index
        if path is None:
            return None
        from ..passages.index import PassageIndex

        return self._opened("passages", lambda: PassageIndex(resolve(path)))

    @property
    def cache(self) -> Cache:
        """The cache; without `ers_use_cache` one that keeps nothing."""
        return self._opened("cache", lambda: Cache(cache_path(self.config), self.config.ers_cache_size))

    def renew(self) -> bool:
        """Drop the knowledge base, the dump and what was made from them if one has changed on disk; returns True then.

        They are closed when the last reference to them goes.
        """
        sources = [source for name in ("kb", "pages", "documents") if (source := self._open.get(name)) is not None]
        if not any(source.has_changed for source in sources):
            return False
        before = self._open.get("documents")
        self._let_go("pages", "documents", "kb", "row form", *_OF_THE_KB)
        if before is not None and (path := self.config.ers_documents) is not None:
            self._opened("documents", lambda: DocumentIndex(resolve(path), before))
        return True

    @contextmanager
    def unchanging(self) -> Iterator[bool]:
        """Keep the index of documents as it is while the block runs; yields the result of `renew`, which comes before."""
        is_renewed = self.renew()
        while (documents := self.documents) is not None:
            with documents.unchanging():
                if not documents.has_changed:  # since `renew`
                    yield is_renewed
                    return
            is_renewed = self.renew()
        yield is_renewed

    def _let_go(self, *names: str) -> None:
        with self._lock:
            for name in names:
                self._open.pop(name, None)

    # -- models --------------------------------------------------------------------------------------------------------

    def reranker(self) -> BertReranker | None:
        """Return the cross-encoder of `evs_model`, whose scores the evidence cache keeps; None if not configured."""
        name = self.config.evs_model
        settings = configured(self.config, "evs_model")
        return BertReranker(name, settings=settings, models=self.models, cache=self.cache) if name else None

    def bi_encoder(self, name: str, key: str) -> BiEncoder:
        """Return a bi-encoder without a cache; the arguments are those of `embeddings`."""
        settings = configured(self.config, key)
        return BiEncoder(name, settings=settings, models=self.models)

    def embed(self, texts: Sequence[str]) -> np.ndarray | None:
        """Return the vectors [n, d] of short texts by the bi-encoder of the evidences; None without one."""
        name = self.config.evs_bi_encoder
        if not name:
            return None
        return self._opened("embed", lambda: self.embeddings(name, "evs_bi_encoder")).embed_questions(texts)

    def embeddings(self, name: str, key: str) -> KeptEmbeddings:
        """Return a bi-encoder with its embeddings: those of the dump, and a cache of others, in memory without `ers_use_cache`.

        Args:
            name: the model.
            key: the configuration key that names it, for messages."""
        encoder = self.bi_encoder(name, key)
        vectors = self._vectors(encoder.model_id, encoder.dimension)
        questions = self._vectors(encoder.model_id, encoder.dimension, "float32")

        def stored(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
            pages = cast("Pages", self._open.get("pages", NoPages()))  # not open if only facts are needed
            if pages.vectors_of != encoder.weights_id:
                return np.zeros((len(texts), encoder.dimension), np.float32), np.zeros(len(texts), bool)
            return pages.vectors(texts)

        return KeptEmbeddings(encoder, vectors, questions, stored)

    def _vectors(
        self, model_id: str, dimension: int, precision: Literal["float16", "float32"] = "float16"
    ) -> VectorCache:
        key = ("vectors", model_id, dimension, precision)
        most = EVIDENCES_KEPT if precision == "float16" else _QUESTIONS_KEPT
        return self._opened(key, lambda: VectorCache(self.cache, model_id, dimension, most, precision))

    def reader(self, model: str | Checkpoint, *, best: int = 20, key: str = "ha_model") -> ExtractiveReader:
        """Return a reader with the configured settings.

        Args:
            model: a name as the configuration gives it, or a checkpoint in memory.
            best: spans kept of each text.
            key: what named the model, for messages."""
        return ExtractiveReader(
            model,
            settings=configured(self.config, key, ExtractiveReader.usual.max_length),
            best=best,
            models=self.models,
        )

    @property
    def row_form(self) -> RowForm:
        """`ranked` if the model that ranks or the model that reads was trained on rows of tables with their ranks."""

        def read() -> RowForm:  # once, not for each page
            names = (self.config.evs_model, self.config.evs_bi_encoder, self.config.ha_model)
            forms = {row_form_of(name) for name in names if name}
            return "ranked" if "ranked" in forms else "plain"

        return self._opened("row form", read)

    def yes_no_reader(self) -> YesNoReader | None:
        """Return the yes/no head of `ha_heads`; None if the model lacks it."""
        key, folder = self._heads()
        if folder is None or not has_yes_no(folder):
            return None
        reader = YesNoReader(folder, settings=configured(self.config, key), models=self.models)
        reader.use_cache(self._vectors(reader.model_id, 1, "float32"))
        return reader

    def rewriter(self) -> QuestionRewriter | None:
        """Return the rewrite head of `qu_rewriter`, which puts questions in full; None if not configured."""
        name = self.config.qu_rewriter
        if name is None:
            return None
        return QuestionRewriter(name, settings=configured(self.config, "qu_rewriter"), models=self.models)

    @property
    def answer_typing(self) -> AnswerTyping | None:
        """The typing of answers by the answer type head of `ha_heads`; None if the model lacks the head."""
        key, folder = self._heads()
        if folder is None or not has_answer_type(folder):
            return None

        def opened() -> AnswerTyping:
            reader = AnswerTypeReader(folder, settings=configured(self.config, key), models=self.models)
            reader.use_cache(self._vectors(reader.model_id, len(reader.classes.names), "float32"))
            return AnswerTyping(reader, self.kb, self.language)

        return self._opened("answer typing", opened)

    def _heads(self) -> tuple[str, Path | None]:
        key = "ha_heads" if self.config.ha_heads else "ha_model"
        name = self.config[key]
        return key, Path(model_path(name)) if name else None

    # -- servers of models ---------------------------------------------------------------------------------------------

    def model_server(self, key: ServerKey) -> ModelServer:
        """Return the server that a configuration key names."""
        return self._opened(("server", key), lambda: ModelServer(key, self.config[key]))

    def chat_model(self, key: Literal["qu_llm", "ha_llm"]) -> ChatModel:
        """Return the language model that a configuration key names; nothing is requested yet."""
        settings = self.config[key]
        return ChatModel(settings, self.model_server(key), self.cache, self.config.seed)

    # -- opening and closing -------------------------------------------------------------------------------------------

    def _opened(self, name: Any, opening: Callable[[], T]) -> T:
        if name not in self._open:
            with self._lock:
                if name not in self._open:
                    self._open[name] = opening()
        return cast("T", self._open[name])

    def close_caches(self) -> None:
        """Close the caches, whose entries are on disk already, and connections to a server of facts; their next use opens them again."""
        for name in ("cache", "server of facts"):
            if name in self._open:
                self._open[name].close()

    def close(self) -> None:
        """Close all open resources. Later requests open them again; objects that the stages hold must not be used any more."""
        with self._lock:
            for thing in reversed(self._open.values()):
                if hasattr(thing, "close"):
                    thing.close()
            self._open.clear()

    def __enter__(self) -> Resources:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
