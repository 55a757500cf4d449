import re

import pytest

from convinse.serving.api_server import ConversationService, ServiceOptions, _app
from convinse.serving.service_metrics import ServiceMetrics
from loopback import served
from services import HeldPipeline, ask, asked

_SAMPLE = re.compile(r'convinse_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [0-9.e+-]+')


def test_the_text_is_that_of_prometheus():
    metrics = ServiceMetrics()
    metrics.request("/v1/conversations/{id}", "GET", 200)
    for seconds in (0.04, 0.2, 70.0):
        metrics.turn("answered", seconds)
    metrics.turn("given_up", 0.05)
    metrics.batch(3)
    metrics.stages({"qu": 0.5})
    lines = metrics.text(conversations=2, waiting=1).split("\n")
    assert lines.pop() == ""
    samples = [line for line in lines if not line.startswith("# ")]
    assert not [line for line in samples if not _SAMPLE.fullmatch(line)]
    assert {
        'convinse_requests_total{path="/v1/conversations/{id}",method="GET",status="200"} 1',
        'convinse_turns_total{outcome="answered"} 3',
        'convinse_turn_seconds_bucket{le="0.05"} 2',
        'convinse_turn_seconds_bucket{le="0.1"} 2',
        'convinse_turn_seconds_bucket{le="60"} 3',
        'convinse_turn_seconds_bucket{le="+Inf"} 4',
        "convinse_turn_seconds_count 4",
        'convinse_stage_seconds_total{stage="qu"} 0.5',
        "convinse_batched_turns_total 3",
        "convinse_conversations 2",
        "convinse_waiting 1",
    } <= set(samples)
    typed = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(typed) == len(set(typed)) == len([line for line in lines if line.startswith("# HELP")])


TOKEN = "of-sixteen-letters"
KEY = {"Authorization": f"Bearer {TOKEN}"}
TURNS = "/v1/conversations/{id}/turns"


@pytest.fixture(scope="module")
def port():
    with HeldPipeline() as pipeline:
        service = ConversationService(pipeline, ServiceOptions(token=TOKEN))
        app, refused = _app(service)
        with served(app, refused=refused, limits=service.options.limits) as port:
            yield port


def counted(port, path, method, status):
    """How many requests of a kind there were."""
    text = ask(port, "GET", "/metrics", **KEY)[2].decode()
    match = re.search(rf'^convinse_requests_total{{path="{re.escape(path)}",method="{method}",status="{status}"}} (\d+)$', text, re.MULTILINE)  # fmt: skip
    return int(match[1]) if match else 0


@pytest.mark.parametrize(
    ("method", "path", "given", "status", "label"),
    [
        ("GET", "/v1/nothing", KEY, 404, "other"),
        ("PUT", "/v1/conversations", KEY, 405, "/v1/conversations"),
        ("GET", "/v1/conversations/conv_1", KEY, 404, "/v1/conversations/{id}"),
        ("GET", "/v1/models", {}, 401, "/v1/models"),
        ("GET", "/healthz", {"Host": "example.org"}, 403, "/healthz"),
        ("GET", "/healthz", {"Origin": "https://example.org"}, 403, "/healthz"),
        ("POST", "/v1/conversations/conv_1/turns", {**KEY, "Content_Type": "text/plain"}, 415, TURNS),
        ("POST", "/v1/conversations/conv_1/turns", {**KEY, "Content_Length": "10000001"}, 413, TURNS),
    ],
)
def test_what_is_refused_is_counted(port, method, path, given, status, label):
    before = counted(port, label, method, status)
    assert ask(port, method, path, None if method == "GET" else b"", **given)[0] == status
    assert counted(port, label, method, status) == before + 1


def test_streams_are_counted_when_they_begin(port):
    path = begun_with(port)
    ask(port, "POST", f"{path}/turns", {"question": "who directed Titanic?"}, Accept="text/event-stream", **KEY)
    assert counted(port, TURNS, "POST", 200) == 1


def begun_with(port):
    return f"/v1/conversations/{asked(port, 'POST', '/v1/conversations', {}, 201, **KEY)['id']}"


def test_labels_stay_few(port):
    def labels():
        return ask(port, "GET", "/metrics", **KEY)[2].count(b"convinse_requests_total{")

    ask(port, "BREW", "/v1/pot", **KEY), labels()
    before = labels()
    for number in range(50):
        ask(port, f"BREW{number}", f"/v1/pot/{number}", **KEY)
        ask(port, "BREW", "/v1/pot", Host=f"host{number}.org")
    assert labels() == before + 1  # those that were refused for their host
    assert counted(port, "other", "other", 404) == 51
