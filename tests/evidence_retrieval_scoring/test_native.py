import copy

import numpy as np
import pytest

from case_tables import each_case
from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.native import ClocqBM25, NativeERS
from convinse.evidence_retrieval_scoring.neural import scoring_method
from convinse.evidence_retrieval_scoring.okapi import OkapiScorer
from convinse.evidence_retrieval_scoring.scorer import Scorer
from convinse.evidence_retrieval_scoring.search import EvidenceSearch
from convinse.language.language import english
from convinse.records.evidence_structure import structured
from convinse.support.errors import ConfigError
from convinse.wikipedia.dump import WikipediaDump, write_dump
from convinse.wikipedia.stored_pages import Embedding, search_words
from evidences import evidence, scores

ENTITIES = [{"item": {"id": "Q74287", "label": "The Hobbit"}, "question_word": "The Hobbit", "score": 0.5, "rank": 0}]


WRITER = ("J. R. R. Tolkien", "Q892")
EVIDENCES = [
    evidence(f"The Hobbit, {fact}", "kb", WRITER) for fact in ("country, United Kingdom", "author, J. R. R. Tolkien")
]


class Retriever:
    def __init__(self):
        self.calls = []
        self.kb = self

    def properties(self):
        return [("P50", "author", ["writer"])]

    def retrieve_evidences(self, text, sources, *entities):
        self.calls.append((text, tuple(sources), *entities))
        return copy.deepcopy(EVIDENCES), copy.deepcopy(ENTITIES)


class InOrder(Scorer):
    def rank(self, query, evidences, top_k):
        return [{**one, "score": 5.0 - place} for place, one in enumerate(evidences)][:top_k]


def turn():
    question = {"question": "Who?", "structured_representation": "|| The Hobbit || wrote || person"}
    return {**question, "answers": [{"id": "Q892", "label": "J. R. R. Tolkien"}]}


def test_the_representation_is_retrieved_and_scored():
    retriever, answered = Retriever(), turn()
    found = NativeERS(parse_config({}), retriever=retriever).inference_on_turn(answered, ("kb", "text"))
    assert retriever.calls == [("|| The Hobbit || wrote || person", ("kb", "text"), None)]
    assert [one["evidence_text"] for one in found] == [one["evidence_text"] for one in EVIDENCES[::-1]]
    assert found[0]["score"] > found[1]["score"]
    assert answered["top_evidences"] == found
    assert answered["question_entities"] == ENTITIES
    module = NativeERS(parse_config({"evs_max_evidences": 1}), retriever=Retriever())
    assert module.inference_on_turn(turn(), ("kb", "text")) == found[:1]


class Together(InOrder):
    def __init__(self):
        self.calls = []

    def rank_all(self, queries, evidences, top_k, questions=None):
        self.calls.append((queries, questions))
        return super().rank_all(queries, evidences, top_k, questions)


def test_a_scorer_that_ranks_several_is_called_once():
    turns = [{**turn(), "resolved_question": "Who wrote it?"}, {**turn(), "structured_representation": "other"}]
    scorer = Together()
    found = NativeERS(parse_config({}), retriever=Retriever(), scorer=scorer).inference_on_turns(turns, ("kb",))
    assert scorer.calls == [(["|| The Hobbit || wrote || person", "other"], ["Who wrote it?", "other"])]
    ranked = [structured(one) for one in InOrder().rank("", EVIDENCES, 9)]
    assert found == [one["top_evidences"] for one in turns] == [ranked] * 2
    assert all(one["answer_presence"] is True and one["question_entities"] == ENTITIES for one in turns)


def test_evidences_of_pages_that_the_question_does_not_name_count_less():
    elsewhere = {**EVIDENCES[0], "page": ENTITIES[0]["item"]}
    module = NativeERS(parse_config({}), retriever=Retriever(), scorer=InOrder())
    (ranked,) = module.rank([turn()], [[elsewhere, EVIDENCES[1]]], 2)
    assert ranked == [{**EVIDENCES[1], "score": 4.0}, {**elsewhere, "score": 0.5}]
    assert module.rank([turn()], [[elsewhere, EVIDENCES[1]]], 1) == [ranked[:1]]  # the best after weighing


@each_case("scoring_methods", "method")
def test_the_scoring_method_of_a_configuration(case):
    assert scoring_method(parse_config(case["keys"])) == case["method"]


@each_case("scoring_methods", "says")
def test_a_method_without_its_model_is_refused(case):
    with pytest.raises(ConfigError, match=case["says"]):
        NativeERS(parse_config(case["keys"]), retriever=Retriever())


def test_clocq_bm25_has_nothing_to_train():
    with pytest.raises(ConfigError, match="'clocq_bm25' has nothing to train; use ers: native"):
        ClocqBM25(parse_config({"evs_model": "m"}), retriever=Retriever()).train(("kb",))


def test_clocq_bm25_takes_its_own_scorer_whatever_is_configured():
    module = ClocqBM25(parse_config({"evs_model": "nowhere/at/all"}), retriever=Retriever())
    assert module.conversations_at_once == 1
    expected = OkapiScorer(english().words.common, "||").rank(turn()["structured_representation"], EVIDENCES, 99)
    assert scores(module.inference_on_turns([turn()], ("kb",))[0]) == scores(expected)


def test_every_turn_of_every_conversation_is_done():
    conversations = [{"conv_id": str(n), "questions": [turn(), turn()]} for n in range(3)]
    NativeERS(parse_config({}), retriever=Retriever()).inference_on_data(conversations, ("kb",))
    assert all(len(turn["top_evidences"]) == 2 for one in conversations for turn in one["questions"])


def test_search_fuses_words_and_vectors_by_reciprocal_rank(workdir, closed):
    vectors = {"a wind": [0.0, 1.0], "an eastern wind of wind": [0.6, 0.8], "the sun": [1.0, 0.0]}
    embedding = Embedding("m", 2, "plain", lambda texts: np.array([vectors[text] for text in texts], np.float32))
    write_dump(workdir / "w.db", [(f"Q{n}", [evidence(text)]) for n, text in enumerate(vectors, 1)], embedding)
    dump, question = closed(WikipediaDump(workdir / "w.db")), np.array([[1.0, 0.0]], np.float32)
    words, nearest = dump.search(search_words("wind"), 2), dump.nearest(question[0], 2)
    assert [item for item, _ in nearest] == ["Q3", "Q2"] and {item for item, _ in words} == {"Q1", "Q2"}
    assert EvidenceSearch(dump, lambda questions: question).find("wind", 2) == nearest
    dump.searches_words = True
    fused = EvidenceSearch(dump, lambda questions: question).find("wind", 2)
    assert fused[0][0] == "Q2"  # in both lists
    assert {item for item, _ in fused} == {"Q1", "Q2", "Q3"}
    assert EvidenceSearch(dump, None).find("wind", 2) == words
