"""Runs with a language model: stopped and gone on with; the key is nowhere."""

import json
import logging
import threading
import traceback
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.support.cache import Cache
from convinse.support.errors import NetworkError
from model_servers import citing, completion, error, model_server
from patience import PATIENCE
from written import read_json, write

KEY = "sk-run-secret-987654321"
RUN = ["pipeline", "kb_text", "my.yml", "--limit", "4", "--quiet"]
TURNS = Path("results/mine/kb_text/turns.jsonl")
METRICS = Path("results/mine/kb_text/metrics.json")


def configured(url, **keys):
    settings = {"base_url": url, "model": "m", "timeout": float(PATIENCE), "parallel": 2, **keys}
    write("my.yml", json.dumps({"name": "mine", "ha": "llm", "ha_llm": settings}))


def test_a_run_asks_nothing_twice(capsys):
    with model_server(citing("English")) as server:
        configured(server.url)
        assert main(RUN) == 0
        number = len(server.requests)
        first = TURNS.read_bytes()
        assert number == first.count(b'"ha_tokens"') > 10
        assert main([*RUN, "--restart"]) == 0
        assert len(server.requests) == number and TURNS.read_bytes() == first
        # what changes no answer is the same run; what does is another one
        configured(server.url, parallel=3, timeout=30)
        assert main(RUN) == 0 and not list(TURNS.parent.glob("earlier-*/turns.jsonl"))[1:]
        configured(server.url, extra={"temperature": 0.5})
        assert main(RUN) == 0
        assert len(server.requests) == 2 * number and len(list(TURNS.parent.glob("earlier-*"))) == 2


def test_a_run_that_was_stopped_goes_on_where_it_stopped(capsys):
    broken = threading.Event()
    answer = citing("English")
    requests = []

    def reply(body, request):
        requests.append(body)
        return error("out of credit", 402) if len(requests) > 7 and not broken.is_set() else answer(body, request)

    with model_server(reply) as server:
        configured(server.url)
        assert main(RUN) == 1
        message = capsys.readouterr().err.strip().splitlines()[-1]
        assert "402" in message and "out of credit" in message and "Traceback" not in message
        broken.set()
        before = len(requests)
        assert main(RUN) == 0
        again = len(requests) - before
    texts = [json.dumps(body["messages"]) for body in requests]
    assert read_json(METRICS)["num_questions"] == 20 and again <= 20 - 7
    assert len(set(texts[:7])) == 7 and not set(texts[:7]) & set(texts[before:])


def test_the_key_is_in_no_log_no_cache_and_no_result(monkeypatch, capsys, caplog):
    Path("cache").mkdir()  # the default takes it where it is there
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("THE_KEY", KEY)
    replies = iter([*[error(f"bad key {KEY}", 401)] * 2, completion(f"{KEY}?")])
    with model_server(lambda body, request: next(replies, None) or citing("English")(body, request)) as server:
        configured(server.url, api_key_env="THE_KEY", parallel=1)
        with pytest.raises(NetworkError) as fault:
            main([*RUN, "--debug"])  # the traceback is printed
        assert main(RUN) == 1
        assert main(RUN) == 0
    assert {request.headers["Authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    printed = capsys.readouterr()
    files = [path for folder in ("results", "cache") for path in Path(folder).rglob("*") if path.is_file()]
    assert TURNS in files and len(files) > 4
    traces = traceback.format_exception(fault.value)
    texts = [printed.out, printed.err, caplog.text, *traces, *(path.read_bytes().decode("latin-1") for path in files)]
    assert "[key]" in printed.err and not any(KEY[:12] in text for text in texts)
    cache = Cache("cache")  # whose entries are packed
    keys = [json.loads(key)[1:] for key in cache.keys()]  # noqa: SIM118
    assert keys and KEY[:12] not in json.dumps([cache.get(*key) for key in keys])
