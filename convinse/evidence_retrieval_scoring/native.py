"""The native ERS: candidates from CLOCQ's retrieval and a search over all pages, scored by the configured method."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ..config import Config
from ..language.read_evidence import ReadEvidence
from ..language.validity import contradicting, judged_parts
from ..records.conversation import Turn, asked_in_full
from ..records.evidence import Evidence, is_same_row, merge_duplicates, with_score
from ..records.representation import QuestionEntity, certain, question_entities
from ..resources import Resources
from ..stage import keep_evidences
from ..support.errors import NothingToTrainError
from .base import EvidenceRetrievalScoring
from .bm25 import BM25Scorer, QueryExpansion
from .clocq_retriever import ClocqRetriever
from .neural import build_scorer, scoring_method
from .okapi import OkapiScorer
from .scorer import Scorer
from .search import EvidenceSearch

_OTHER_PAGE_FACTOR = 0.1  # of the score of an evidence from a page of an item that is not the question's
_PAGE_SOURCES = frozenset({"text", "table", "info"})
_MAX_PAGES = 3  # of search results; their items stand for those of a question without items
_CONVERSATIONS = 4  # scored together by a neural scorer; more would be hardly faster, and delay the progress bar


class NativeERS(EvidenceRetrievalScoring):
    """Retrieve the evidences of a question's items, search all pages, and keep the best `evs_max_evidences`.

    Items of a representation with ids are not linked again. With a neural scorer the turns of several conversations are scored
    together.

    Args:
        config: see `ClocqRetriever` and the `evs_*` keys.
        retriever: the retriever to use instead of a new one.
        scorer: the scorer to use instead of that of `evs`.
        resources: the files and models that the stages of a pipeline share.
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
        """The retriever of the evidences of items."""
        return ClocqRetriever(self.config, resources=self.resources)

    @cached_property
    def search(self) -> EvidenceSearch | None:
        """The search over all pages; None if retrieval is left to another retriever."""
        pages = self.resources.pages
        if not self.config.evs_bi_encoder or not pages.vectors_of:
            return EvidenceSearch(pages, None)
        embeddings = self.resources.embeddings(self.config.evs_bi_encoder, "evs_bi_encoder")
        has_vectors = embeddings.bi_encoder.weights_id == pages.vectors_of
        return EvidenceSearch(pages, embeddings.embed_questions if has_vectors else None)

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer that `evs` names, loaded on first use."""
        return build_scorer(self.resources, self._method, self.bm25)

    @cached_property
    def bm25(self) -> BM25Scorer:
        """The BM25 scorer; names of the knowledge base's properties expand its queries."""
        expansion = QueryExpansion(self.retriever.kb.properties(), self.language)
        return BM25Scorer(expansion, language=self.language)

    def inference_on_turns(self, turns: Sequence[Turn], sources: Sequence[str]) -> list[list[Evidence]]:
        """Return the best evidences of the turns, all scored together; see the base class.

        Evidences that contradict the time of a question come last, with score 0.
        """
        questions = [asked_in_full(turn) for turn in turns]
        searches = [question for turn, question in zip(turns, questions, strict=True) if _is_searched(turn, sources)]
        if searches and self.search is not None:
            self.search.prepare(searches)
        agreeing: list[list[Evidence]] = []
        contradicted: list[list[Evidence]] = []
        for turn, question in zip(turns, questions, strict=True):
            evidences = self.retrieve(turn, sources)
            read = [ReadEvidence(evidence, self.language) for evidence in evidences]
            places = contradicting(judged_parts(question, read, self.language))
            places = {place for place in places if not _is_of_row(evidences[place], turn)}
            agreeing.append([evidence for place, evidence in enumerate(evidences) if place not in places])
            contradicted.append([evidences[place] for place in sorted(places)])
        most = self.config.evs_max_evidences
        ranked = self.rank(turns, agreeing, most)
        for best, last in zip(ranked, contradicted, strict=True):
            best += [with_score(evidence, 0.0) for evidence in last[: most - len(best)]]
        return [keep_evidences(self, turn, best, sources) for turn, best in zip(turns, ranked, strict=True)]

    def rank(self, turns: Sequence[Turn], evidences: Sequence[Sequence[Evidence]], most: int) -> list[list[Evidence]]:
        """Return the best `most` evidences of turns, scored, best first; evidences from pages of other items count less.

        The row that a follow-up is about comes first.
        """
        queries = [turn["structured_representation"] for turn in turns]
        questions, longest = [asked_in_full(turn) for turn in turns], max(map(len, evidences), default=0)
        ranked = []
        all_scored = self.scorer.rank_all(queries, evidences, longest, questions)
        for turn, scored in zip(turns, all_scored, strict=True):
            weighted = [
                with_score(evidence, min(evidence["score"], _OTHER_PAGE_FACTOR * evidence["score"]))  # may be negative
                if "page" in evidence
                else evidence
                for evidence in scored
            ]
            ordered = sorted(weighted, key=lambda evidence: -evidence["score"])
            of_row = [with_score(each, ordered[0]["score"]) for each in ordered if _is_of_row(each, turn)]
            ranked.append([*of_row, *(each for each in ordered if not _is_of_row(each, turn))][:most])
        return ranked

    def retrieve(self, turn: Turn, sources: Sequence[str]) -> list[Evidence]:
        """Return the candidate evidences of a turn, from its items and the search, and add `question_entities` to the turn."""
        items = _items_of(turn)
        search = self.search if _is_searched(turn, sources) else None
        hits = [] if search is None else search.find(asked_in_full(turn))
        if items == []:  # nothing was linked: the question is taken to be about the items of the best pages
            pages = list(dict.fromkeys(page for page, _ in hits))[:_MAX_PAGES]
            items = certain(*map(self.retriever.kb.entity, pages))
        text = turn["structured_representation"]
        evidences, turn["question_entities"] = self.retriever.retrieve_evidences(text, sources, items)
        ids = {entity["item"]["id"] for entity in turn["question_entities"]}
        places: dict[str, list[int]] = {}
        for item, place in hits:
            places.setdefault(item, []).append(place)
        for item in [item for item in places if item not in ids]:
            page, entity = self.resources.pages.get(item) or [], self.retriever.kb.entity(item)
            texts = {page[place]["evidence_text"] for place in places[item]}
            for evidence in self.retriever.wikipedia.retrieve_wp_evidences(item):
                if evidence["source"] in sources and evidence["evidence_text"] in texts:
                    # a section of a document that the question names is not on another page
                    is_named = "citation" in evidence and not ids.isdisjoint(
                        named["id"] for named in evidence["wikidata_entities"]
                    )
                    evidences.append(evidence if is_named else {**evidence, "page": entity})
        return merge_duplicates(evidences) if hits else evidences

    def store_cache(self) -> None:
        """Close the caches."""
        self.retriever.store_cache()
        self.resources.close_caches()


def _items_of(turn: Turn) -> list[QuestionEntity] | None:
    representation = turn.get("representation")  # without it, the retriever links the structured representation
    return None if representation is None else question_entities(representation)


def _is_of_row(evidence: Evidence, turn: Turn) -> bool:
    """Return True for the row of a table that a turn is about."""
    representation = turn.get("representation")
    return representation is not None and is_same_row(representation.get("row"), evidence.get("row"))


def _is_searched(turn: Turn, sources: Sequence[str]) -> bool:
    return _items_of(turn) == [] or not _PAGE_SOURCES.isdisjoint(sources)


class ClocqBM25(NativeERS):
    """CONVINSE's own combination: CLOCQ retrieval and Okapi BM25 over the words of the representation as they stand."""

    def __init__(
        self, config: Config, retriever: ClocqRetriever | None = None, resources: Resources | None = None
    ) -> None:
        super().__init__(config, retriever, resources=resources)
        self.scorer, self.search = OkapiScorer(self.language.words.common, config.sr_delimiter), None
        self.conversations_at_once = 1

    def train(self, sources: Sequence[str]) -> None:
        """Raise `NothingToTrainError`."""
        raise NothingToTrainError("ers: 'clocq_bm25' has nothing to train; use ers: native with evs_model")
