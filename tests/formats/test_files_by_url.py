"""Files that are given as URLs, in the commands that take them."""

import gzip
import json
import tempfile
from pathlib import Path

import pytest

from convinse.formats.download import local_files
from convinse.support.errors import DataError, NetworkError
from loopback import scripted_server, serve, status
from written import write

CONTEXT = {
    "context": "The answer is 42.",
    "context_tokens": [["The", 0], ["answer", 4], ["is", 11], ["42", 14], [".", 16]],
    "qas": [{
        "qid": "q1", "question": "What?", "question_tokens": [["What", 0], ["?", 4]], "answers": ["42"],
        "detected_answers": [{"text": "42", "char_spans": [[14, 15]], "token_spans": [[3, 3]]}],
    }],
}  # fmt: skip
LINES = "".join(json.dumps(line) + "\n" for line in ({"header": {"dataset": "d", "split": "dev"}}, CONTEXT))
PACKED = gzip.compress(LINES.encode())


def left_behind():
    return list(Path(tempfile.gettempdir()).glob("convinse-*"))


def test_evaluate_and_visualize_take_urls(workdir, command):
    write("data.jsonl.gz", PACKED)
    write("predictions.json", '{"q1": "42"}')
    with scripted_server(serve(PACKED), serve(b'{"q1": "42"}'), serve(PACKED)) as server:
        scores = command("evaluate", "mrqa", f"{server.url}/data.jsonl.gz", f"{server.url}/predictions.json")
        assert scores == command("evaluate", "mrqa", "data.jsonl.gz", "predictions.json")
        assert json.loads(scores) == {"exact_match": 100.0, "f1": 100.0}
        shown = command("visualize", f"{server.url}/release/data.jsonl.gz?x=1")
    assert shown == command("visualize", "data.jsonl.gz") and "42" in shown
    assert [request.path for request in server.requests][2] == "/release/data.jsonl.gz?x=1"


def test_errors_name_the_url_and_nothing_is_left(workdir, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(workdir))
    with (
        scripted_server(serve(b"{}\n{no json\n")) as server,
        pytest.raises(DataError) as caught,
        local_files(f"{server.url}/d.jsonl") as (path,),
    ):
        raise DataError(f"{path}:2: is not JSON")
    assert str(caught.value) == f"{server.url}/d.jsonl:2: is not JSON" and not left_behind()
    with (
        scripted_server(status(404)) as server,
        pytest.raises(NetworkError, match="404"),
        local_files("here.jsonl", f"{server.url}/none"),
    ):
        raise AssertionError("not reached")
    assert not left_behind()
