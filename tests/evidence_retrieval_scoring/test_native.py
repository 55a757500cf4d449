import copy

import pytest

from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.base import EvidenceRetrievalScoring
from convinse.evidence_retrieval_scoring.native import ClocqBM25, NativeERS
from convinse.registry import find_module
from convinse.testing import EvidenceRetrievalScoringContract

TOLKIEN = {"id": "Q892", "label": "J. R. R. Tolkien"}
ENTITIES = [{"item": {"id": "Q74287", "label": "The Hobbit"}, "question_word": "The Hobbit", "score": 0.5, "rank": 0}]


def evidence(text, source="kb"):
    return {"evidence_text": text, "source": source, "disambiguations": [], "wikidata_entities": [TOLKIEN]}


EVIDENCES = [evidence("The Hobbit, country, United Kingdom"), evidence("The Hobbit, author, J. R. R. Tolkien")]


class Retriever:
    """A retriever with fixed evidences."""

    def __init__(self):
        self.asked = []
        self.closed = False
        self.kb = self

    def properties(self):
        return [("P50", "author", ["writer"])]

    def retrieve_evidences(self, text, sources):
        self.asked.append((text, tuple(sources)))
        return copy.deepcopy(EVIDENCES), copy.deepcopy(ENTITIES)

    def store_cache(self):
        self.closed = True


class Backwards:
    """A scorer of a user's own."""

    def rank(self, query, evidences, top_k):
        return [{**one, "score": float(-place)} for place, one in enumerate(reversed(evidences))][:top_k]


def turn():
    return {
        "question": "Who?",
        "structured_representation": "|| The Hobbit || wrote || person",
        "answers": [dict(TOLKIEN)],
    }


def test_the_representation_is_what_is_retrieved_and_scored():
    retriever, asked = Retriever(), turn()
    found = NativeERS(parse_config({}), retriever=retriever).inference_on_turn(asked, ("kb", "text"))
    assert retriever.asked == [("|| The Hobbit || wrote || person", ("kb", "text"))]
    assert [one["evidence_text"] for one in found] == [
        "The Hobbit, author, J. R. R. Tolkien",
        "The Hobbit, country, United Kingdom",
    ]
    assert found[0]["score"] > found[1]["score"]
    assert asked["top_evidences"] == found
    assert asked["question_entities"] == ENTITIES


def test_clocq_bm25_does_not_expand_the_query():
    scores = [
        one["score"] for one in ClocqBM25(parse_config({}), retriever=Retriever()).inference_on_turn(turn(), ("kb",))
    ]
    assert scores[0] == scores[1]


def test_evs_max_evidences_bounds_the_result():
    module = NativeERS(parse_config({"evs_max_evidences": 1}), retriever=Retriever())
    assert [one["evidence_text"] for one in module.inference_on_turn(turn(), ("kb",))] == [
        "The Hobbit, author, J. R. R. Tolkien"
    ]


def test_a_scorer_of_one_s_own_is_used():
    asked = turn()
    NativeERS(parse_config({}), retriever=Retriever(), scorer=Backwards()).inference_on_turns([asked], ("kb",))
    assert asked["top_evidences"] == Backwards().rank("", EVIDENCES, 9)
    assert asked["answer_presence"]


def test_store_cache_closes_that_of_the_retriever():
    retriever = Retriever()
    NativeERS(parse_config({}), retriever=retriever).store_cache()
    assert retriever.closed


@pytest.mark.parametrize(("name", "kind"), [("native", NativeERS), ("clocq_bm25", ClocqBM25)])
def test_the_modules_are_registered(name, kind):
    assert find_module("ers", name, EvidenceRetrievalScoring) is kind


def test_making_the_module_opens_nothing(workdir):
    NativeERS(
        parse_config({"kb_path": "nowhere", "ers_wikipedia_dump": "nowhere.db", "ers_cache_path": str(workdir / "c")})
    )
    assert list(workdir.iterdir()) == []


class TestContract(EvidenceRetrievalScoringContract):
    def make(self, config):
        return NativeERS(config)


class TestClocqBM25Contract(EvidenceRetrievalScoringContract):
    def make(self, config):
        return ClocqBM25(config)
