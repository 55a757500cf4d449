"""The native ERS: CLOCQ retrieval, then scoring as configured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from pathlib import Path

from ..config import Config
from ..language.validity import contradicting, judged_parts
from ..records.conversation import Turn, asked_in_full
from ..records.evidence import Evidence, merge_duplicates, with_score
from ..records.representation import QuestionEntity, certain, question_entities
from ..resources import Resources
from ..support.errors import NothingToTrainError
from ..turn_results import keep_evidences
from .base import EvidenceRetrievalScoring
from .bm25 import BM25Scorer, QueryExpansion
from .clocq_retriever import ClocqRetriever
from .neural import build_scorer, scoring_method
from .okapi import OkapiScorer, read_stop_words
from .scorer import Scorer
from .search import EvidenceSearch

_ELSEWHERE = 0.1  # of the score of an evidence that is of none of a question's items
_OF_PAGES = frozenset({"text", "table", "info"})
_PAGES = 3  # of what is found everywhere, whose items a question without items is about
_CONVERSATIONS = (
    4  # scored together by a neural scorer; more would be hardly faster, and keep people waiting for progress
)


class NativeERS(EvidenceRetrievalScoring):
    """Evidences of the representation's items from all wanted sources, scored down to the top e.

    Where the representation has ids, its items are not linked again. With a neural scorer the turns of many conversations
    are scored together.

    Args:
        config: see `ClocqRetriever` and the `evs_*` keys.
        retriever: the retriever to use instead of one of its own.
        scorer: the scorer to use instead of the one that `evs` names.
        resources: what the stages of a pipeline share.
    """

    trainer = "convinse.training.reranker:train_reranker"

    def __init__(
        self,
        config: Config,
        retriever: ClocqRetriever | None = None,
        scorer: Scorer | None = None,
        resources: Resources | None = None,
    ) -> None:
        super().__init__(config, resources)
        if retriever is not None:
            self.retriever, self.search = retriever, None
        self._method = scoring_method(config)
        if self._method != "bm25":
            self.conversations_at_once = _CONVERSATIONS
        if scorer is not None:
            self.scorer = scorer

    @cached_property
    def retriever(self) -> ClocqRetriever:
        """Retrieves the candidates."""
        return ClocqRetriever(self.config, resources=self.resources)

    @cached_property
    def search(self) -> EvidenceSearch | None:
        """Finds evidences on all pages of the dump; None: there is none."""
        dump = self.resources.wikipedia
        if dump is None:
            return None
        if not self.config.evs_bi_encoder:
            return EvidenceSearch(dump, None)
        embeddings = self.resources.embeddings(self.config.evs_bi_encoder, "evs_bi_encoder")
        has_vectors = embeddings.bi_encoder.weights_id == dump.vectors_of
        embed = embeddings.embed_questions if has_vectors else None
        return EvidenceSearch(dump, embed, self.resources.kb.has_facts)

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer that `evs` names, loaded on first use."""
        return build_scorer(self.resources, self._method, self.bm25)

    @cached_property
    def bm25(self) -> BM25Scorer:
        """BM25, its queries expanded by the names of the knowledge base's properties."""
        expansion = QueryExpansion(self.retriever.kb.properties(), self.language)
        return BM25Scorer(expansion, language=self.language)

    def inference_on_turns(self, turns: Sequence[Turn], sources: Sequence[str]) -> list[list[Evidence]]:
        """Retrieve and score, all turns together; see the base class."""
        ranked = self._ranked(turns, sources)
        return [keep_evidences(self, turn, own, sources) for turn, own in zip(turns, ranked, strict=True)]

    def _ranked(self, turns: Sequence[Turn], sources: Sequence[str]) -> list[list[Evidence]]:
        """Rank what agrees with the time of each question; what contradicts it follows, with score 0, where there is room."""
        questions = [asked_in_full(turn) for turn in turns]
        wanted = [question for turn, question in zip(turns, questions, strict=True) if _is_searched(turn, sources)]
        if wanted and self.search is not None:
            self.search.prepare(wanted)
        agreeing: list[list[Evidence]] = []
        contradicted: list[list[Evidence]] = []
        for turn, question in zip(turns, questions, strict=True):
            evidences = self.retrieve(turn, sources)
            behind = contradicting(judged_parts(question, evidences, self.language))
            agreeing.append([own for place, own in enumerate(evidences) if place not in behind])
            contradicted.append([evidences[place] for place in sorted(behind)])
        most = self.config.evs_max_evidences
        return [
            [*best, *(with_score(own, 0.0) for own in behind[: most - len(best)])]
            for best, behind in zip(self.rank(turns, agreeing, most), contradicted, strict=True)
        ]

    def rank(self, turns: Sequence[Turn], evidences: Sequence[Sequence[Evidence]], most: int) -> list[list[Evidence]]:
        """The best `most` evidences of each turn, scored, best first; those of pages that it does not name count for less."""
        queries = [turn["structured_representation"] for turn in turns]
        questions, whole = [asked_in_full(turn) for turn in turns], max(map(len, evidences), default=0)
        ranked = self.scorer.rank_all(queries, evidences, whole, questions)
        return [sorted(map(_weighted, best), key=lambda own: -own["score"])[:most] for best in ranked]

    def retrieve(self, turn: Turn, sources: Sequence[str]) -> list[Evidence]:
        """The candidate evidences of a turn, not scored: those of its items, and those found everywhere. Adds `question_entities` to it."""
        known = _known(turn)
        search = self.search if _is_searched(turn, sources) else None
        everywhere = [] if search is None else search.find(asked_in_full(turn))
        if known == []:  # it names nothing that is known: the pages that tell of it are looked at
            pages = list(dict.fromkeys(evidence.item_id for evidence in everywhere))[:_PAGES]
            known = certain(*map(self.retriever.kb.entity, pages))
        text = turn["structured_representation"]
        evidences, turn["question_entities"] = self.retriever.retrieve_evidences(text, sources, known)
        ids = {entity["item"]["id"] for entity in turn["question_entities"]}
        places: dict[str, list[int]] = {}
        for evidence in everywhere:
            places.setdefault(evidence.item_id, []).append(evidence.place)
        for item, own in places.items():
            if item not in ids:
                evidences += self._on_page(item, own, sources, ids)
        return merge_duplicates(evidences) if everywhere else evidences

    def _on_page(self, item: str, places: Sequence[int], sources: Sequence[str], about: Set[str]) -> Iterator[Evidence]:
        """The evidences at places of a page; those of a document's section that the question names are not of another page."""
        assert self.resources.wikipedia is not None  # where they were found
        page, entity = self.resources.wikipedia.get(item) or [], self.retriever.kb.entity(item)
        texts = {page[place]["evidence_text"] for place in places}
        for own in self.retriever.wikipedia.retrieve_wp_evidences(item):
            if own["source"] in sources and own["evidence_text"] in texts:
                is_named = "citation" in own and any(named["id"] in about for named in own["wikidata_entities"])
                yield own if is_named else {**own, "page": entity}

    def store_cache(self) -> None:
        """Close the caches."""
        self.retriever.store_cache()
        self.resources.close_caches()


def _known(turn: Turn) -> list[QuestionEntity] | None:
    """The items that a representation names; None of a representation that is a text alone."""
    representation = turn.get("representation")
    return None if representation is None else question_entities(representation)


def _is_searched(turn: Turn, sources: Sequence[str]) -> bool:
    return _known(turn) == [] or not _OF_PAGES.isdisjoint(sources)


def _weighted(evidence: Evidence) -> Evidence:
    score = evidence["score"]
    return with_score(evidence, min(score, _ELSEWHERE * score)) if "page" in evidence else evidence


class ClocqBM25(NativeERS):
    """CONVINSE's own combination: CLOCQ retrieval and Okapi BM25 over the words of the representation as they stand."""

    def __init__(
        self, config: Config, retriever: ClocqRetriever | None = None, resources: Resources | None = None
    ) -> None:
        path = config.path_to_stopwords
        super().__init__(config, retriever, resources=resources)
        stop_words = self.language.words.common if path is None else read_stop_words(Path(path).expanduser())
        self.scorer, self.search = OkapiScorer(stop_words, config.sr_delimiter), None
        self.conversations_at_once = 1

    def train(self, sources: Sequence[str]) -> None:
        """Refuse: there is nothing to train."""
        raise NothingToTrainError("ers: 'clocq_bm25' has nothing to train; use ers: native with evs_model")
