"""Evidences scored by a server: the shapes of vLLM, Infinity, Jina and Cohere, of TEI, and of embeddings."""

import math
import threading

import pytest

from case_tables import cases
from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.cascade import Cascade
from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.evidence_retrieval_scoring.neural import CrossEncoder, scoring_method
from convinse.evidence_retrieval_scoring.server_reranker import ServerReranker
from convinse.resources import Resources
from convinse.support.errors import ConfigError, NetworkError
from evidences import evidence, scores, texts
from model_servers import error, model_server
from patience import PATIENCE
from refusals import refused

EVIDENCES = [evidence(text, "text") for text in ("a", "bb", "ccc", "dddd", "eeeee")]


def of(documents, key="relevance_score", score=lambda text: len(text) / 10):
    """Scores of texts in a server's order: best first."""
    rows = [{"index": place, key: score(text)} for place, text in enumerate(documents)]
    return sorted(rows, key=lambda row: -row[key])


def jina(body, request):
    """As vLLM, Infinity, Jina and Cohere answer."""
    assert set(body) == {"model", "query", "documents"} and request.path == "/v1/rerank"
    rows = [{**row, "document": {"text": body["documents"][row["index"]]}} for row in of(body["documents"])]
    return {"id": "1", "model": body["model"], "results": rows, "usage": {"total_tokens": 9}}


def tei(body, request):
    """As TEI answers, which wants another field."""
    if "texts" not in body:
        return error("Failed to deserialize the JSON body: missing field `texts`", 422)
    return of(body["texts"], "score")


def embeddings(body, request):
    assert set(body) == {"model", "input", "encoding_format"} and request.path == "/v1/embeddings"
    rows = [
        {"object": "embedding", "index": n, "embedding": [3.0 * len(text), 4.0]} for n, text in enumerate(body["input"])
    ]
    return {"object": "list", "data": rows[::-1], "model": "m", "usage": {"prompt_tokens": 9, "total_tokens": 9}}


def resources(url, **keys):
    return Resources(parse_config({"evs_server": {"base_url": url, "model": "m", "timeout": float(PATIENCE), **keys}}))


def reranker(shared):
    return ServerReranker(shared.config.evs_server, shared.model_server("evs_server"), shared.cache)


def ranked(reply, queries=("q",), evidences=EVIDENCES, **keys):
    with model_server(reply) as server:
        rankings = reranker(resources(server.url, **keys)).rank_all(list(queries), [evidences] * len(queries), 3)
    return rankings, server.requests


@pytest.mark.parametrize("reply", [jina, tei])
def test_the_best_come_first_in_answers_of_any_shape(reply):
    (best,), _ = ranked(reply)
    assert (texts(best), scores(best)) == (["eeeee", "dddd", "ccc"], [0.5, 0.4, 0.3])
    assert "score" not in EVIDENCES[0]
    (best,), requests = ranked(reply, evidences=EVIDENCES * 7)
    assert texts(best) == ["eeeee"] * 3 and len(requests) > 1


def test_teis_field_is_remembered():
    _, requests = ranked(tei, parallel=1, queries=("q", "r"))
    assert ["texts" in request.body for request in requests] == [False, True, True]


def test_requests_under_way_when_teis_field_is_learnt_are_sent_again():
    together = threading.Barrier(3)

    def reply(body, request):
        if "documents" in body:
            together.wait(PATIENCE)  # all are refused after all were sent
        return tei(body, request)

    rankings, requests = ranked(reply, parallel=3, queries=("q", "r", "s"))
    assert [len(best) for best in rankings] == [3, 3, 3] and len(requests) == 6


def test_log_odds_become_probabilities():
    (best,), _ = ranked(lambda body, request: {"results": of(body["documents"], score=lambda text: len(text) - 4.0)})
    assert scores(best) == pytest.approx([1 / (1 + math.exp(-1)), 0.5, 1 / (1 + math.e)], abs=1e-6)


def test_embeddings_are_compared_by_their_cosine():
    (best,), requests = ranked(embeddings, kind="embeddings", prefixes=("query: ", "p: "))
    (request,) = requests
    assert request.body["input"] == ["query: q", *(f"p: {text}" for text in texts(EVIDENCES))]
    cosine = (3 * 8 * 3 * 8 + 16) / (math.hypot(24, 4) * math.hypot(24, 4))
    assert best[0]["evidence_text"] == "eeeee" and best[0]["score"] == pytest.approx(cosine)
    assert scores(best) == sorted(scores(best), reverse=True)


def test_scores_are_kept():
    with model_server(jina) as server:
        first = reranker(resources(server.url)).rank("q", EVIDENCES, 3)
        assert reranker(resources(server.url)).rank("q", EVIDENCES, 3) == first
        assert len(server.requests) == 1
        reranker(resources(server.url)).rank("another", EVIDENCES, 3)
    assert len(server.requests) == 2


USELESS = [(case["scores"], case["says"]) for case in cases("replies", "scores")]
ERRORS = [(error(words, status), words) for words, status in (("no such model", 404), ("too long", 413))]


@pytest.mark.parametrize(("value", "words"), [*USELESS, *ERRORS])
def test_scores_that_cannot_be_used_are_one_line_and_not_kept(value, words):
    refused(NetworkError, lambda: ranked(lambda body, request: value), words)
    ranked(jina)


def test_embeddings_that_cannot_be_used_are_one_line():
    def ragged(body, request):
        rows = [{"index": n, "embedding": [1.0] * (1 + n)} for n in range(len(body["input"]))]
        return {"data": rows}

    refused(NetworkError, lambda: ranked(ragged, kind="embeddings"), "several lengths")
    refused(NetworkError, lambda: ranked(lambda b, r: {"data": []}, kind="embeddings"), "0 embeddings of 6 texts")


def test_a_configuration_names_a_server_in_the_place_of_a_model():
    server = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
    config = parse_config({"evs_server": server})
    assert scoring_method(config) == "cascade"
    assert isinstance(NativeERS(config).scorer, Cascade)
    assert isinstance(NativeERS(parse_config({"evs_server": server, "evs": "cross_encoder"})).scorer, CrossEncoder)
    both = parse_config({"evs_server": server, "evs_model": "snapshot:model"})
    refused(ConfigError, lambda: scoring_method(both), "evs_model and evs_server")
    unnamed = parse_config({"evs_server": {"base_url": server["base_url"]}, "ers_use_cache": False})
    refused(
        ConfigError, lambda: reranker(Resources(unnamed)).rank("q", EVIDENCES), "evs_server needs base_url and model"
    )


def test_the_cascade_ranks_by_the_server():
    def reply(body, request):
        return {"results": of(body["documents"], score=lambda text: len(text) / 1000)}

    with model_server(reply) as server:
        config = parse_config({"evs_server": {"base_url": server.url, "model": "m"}, "evs_max_evidences": 5})
        turn = {"question": "Who directed Titanic?", "structured_representation": "Titanic directed"}
        best = NativeERS(config).inference_on_turn(turn, ["kb"])
    assert len(server.requests) > 1 and server.requests[0].body["query"] == "Titanic directed"
    assert len(best) == 5 and scores(best) == [len(text) / 1000 for text in texts(best)]
    assert scores(best) == sorted(scores(best), reverse=True)
