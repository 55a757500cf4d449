"""The contract of all servers: health, errors as JSON of one line, limits, who may ask."""

import json
from contextlib import ExitStack, closing
from functools import cache

import pytest

from case_tables import each_case
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.knowledge_base.index import KnowledgeBase
from convinse.serving import api, clocq, reader
from convinse.serving.api import ServiceOptions
from loopback import served
from services import ask, begun, exchange
from tiny_models import tiny

mcp = pytest.importorskip("convinse.serving.mcp")

HOSTS, ORIGIN, TOKEN = ("kb.example",), "https://example.org", "of-sixteen-letters"
ACCEPT = "application/json, text/event-stream"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
CONTEXT = {"context": "the book", "qas": []}
KINDS = {  # a path that takes POST, a body that it takes, the limit of bodies
    "api": ("/v1/chat/completions", {"messages": [{"role": "user", "content": "who directed Titanic?"}]}, 10_000_000),
    "mcp": ("/mcp", PING, 10_000_000),
    "reader": ("/", CONTEXT, 1000),
    "clocq": ("/item_to_label", {"item": "Q5"}, 1_000_000),
}


@pytest.fixture(scope="module")
def apps(pipeline, world_index):
    """A function from the kind of a server to its application."""

    def build(kind, **options):
        if kind == "api":
            return api.create_app(pipeline, ServiceOptions(hosts=HOSTS, **options))
        if kind == "mcp":
            return mcp.create_app(mcp.PipelineTools(pipeline, ServiceOptions(hosts=HOSTS, **options)))
        if kind == "reader":
            return reader.create_app(ExtractiveReader(tiny(task="question-answering"), "cpu"), HOSTS, 1000)
        return clocq.create_app(kb, hosts=HOSTS)

    with closing(KnowledgeBase(world_index)) as kb:
        yield build


@pytest.fixture(scope="module")
def port_of(apps):
    """A function from the kind of a server to its port."""
    with ExitStack() as stack:
        yield cache(lambda kind: stack.enter_context(served(apps(kind))))


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def port(port_of, kind):
    return port_of(kind)


@pytest.fixture
def post(port, kind):
    """Send a body to the server; its status and the text of its error."""

    def send(value=None, method="POST", path=None, **headers):
        value = KINDS[kind][1] if value is None else value
        status, found, body = ask(port, method, path or KINDS[kind][0], value, **{"Accept": ACCEPT, **headers})
        return status, found, body.decode()

    return send


def error_of(body):
    """The text of an error, in the shape of the path."""
    error = json.loads(body)["error"]
    text = error if isinstance(error, str) else error["message"]
    assert text and "\n" not in text and "Traceback" not in text
    return text


def test_a_good_request_is_answered(post):
    assert post()[0] == 200


@pytest.mark.parametrize("body", [b"{", b"[]", b"5", b"\xff\xfe", b"[" * 400])
def test_a_body_that_is_no_request(post, kind, body):
    status, _, text = post(body)
    assert status == 400 and (kind == "mcp" or error_of(text))  # the text is the SDK's


@each_case("requests")
def test_a_wrong_request_is_refused_in_one_line(port_of, case):
    port, body = port_of(case["server"]), case["body"]
    path = case["path"].format(conversation=begun(port)) if "{" in case["path"] else case["path"]
    body = body.encode() if isinstance(body, str) else body
    status, _, text = ask(port, "POST", path, body)
    assert status == case.get("status", 400) and case["says"] in error_of(text)


LONG_REQUESTS = {  # server, path, body, status, words of the error
    "api deep": ("api", "/v1/conversations", b"[" * 100_000, 400, ""),
    "reader deep": ("reader", "/", b"[" * 900, 400, ""),
    "a long question": ("api", "turns", {"question": "who " * 501}, 413, "2000"),
    "a long message": ("api", KINDS["api"][0], {"messages": [{"role": "user", "content": "x" * 2001}]}, 413, "2000"),
    "many turns": ("api", "/v1/conversations", {"conversation": {"questions": [{}] * 101}}, 413, "101 turns"),
    "a long text": ("clocq", "/search_space", {"question": "x" * 10_001}, 400, "question"),
}


@pytest.mark.parametrize(("kind", "path", "body", "status", "words"), LONG_REQUESTS.values(), ids=LONG_REQUESTS)
def test_a_request_of_too_much_is_refused_in_one_line(port_of, kind, path, body, status, words):
    port = port_of(kind)
    found, _, text = ask(port, "POST", f"{begun(port)}/turns" if path == "turns" else path, body)
    assert found == status and words in error_of(text)


def test_an_unknown_path_and_a_wrong_method(post, kind):
    status, _, text = post(path="/nothing")
    assert status == 404 and error_of(text).startswith("unknown path; ")
    status, _, text = post(method="PUT")
    assert status == 405 and (kind == "mcp" or error_of(text).startswith("wrong method; "))


@pytest.mark.parametrize("chunked", [False, True])
def test_a_large_body_is_refused_and_its_sender_reads_why(port, kind, chunked):
    path, good, limit = KINDS[kind]
    body = b"x" * (limit + 1)
    headers = {"Transfer_Encoding": "chunked"} if chunked else {}
    status, _, text = ask(port, "POST", path, chunks(body) if chunked else body, Accept=ACCEPT, **headers)
    assert status == 413 and f"larger than {limit} bytes" in error_of(text)
    assert ask(port, "POST", path, good, Accept=ACCEPT)[0] == 200


def chunks(body):
    for start in range(0, len(body), 500_000):
        part = body[start : start + 500_000]
        yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


@each_case("headers")
def test_hosts_origins_and_types_of_bodies(post, case):
    headers = {"Host": "localhost", **case["headers"]}
    status, _, text = post(**{name.replace("-", "_"): value for name, value in headers.items()})
    assert status == case["status"]
    assert status != 403 or "Origin" in case["headers"] or "--allow-host" in error_of(text)


# -- the token ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("guarded", ["api", "mcp"])
def test_a_token_is_asked_for(apps, guarded):
    path, good, _ = KINDS[guarded]
    with served(apps(guarded, token=TOKEN)) as port:
        for token_headers in ({}, {"Authorization": f"Bearer {TOKEN[:-1]}"}, {"Authorization": TOKEN}):
            status, headers, body = ask(port, "POST", path, good, Accept=ACCEPT, **token_headers)
            assert (status, headers["WWW-Authenticate"]) == (401, "Bearer") and "token" in error_of(body)
        assert ask(port, "POST", path, good, Accept=ACCEPT, Authorization=f"bearer {TOKEN}")[0] == 200
        for host in ("localhost/page/?", "localhost/healthz?", "localhost?", "localhost#"):  # no other path by the name
            assert ask(port, "POST", path, good, Accept=ACCEPT, Host=host)[0] == 403
        assert exchange(port, "GET", "/healthz") == {"status": "ok"}


def test_pages_of_named_sites_may_ask_the_api(apps):
    with served(apps("api", token=TOKEN, origins=[ORIGIN])) as port:
        leave = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization"}
        status, headers, _ = ask(port, "OPTIONS", "/v1/conversations", Origin=ORIGIN, **leave)
        assert (status, headers["Access-Control-Allow-Origin"]) == (200, ORIGIN)
        status, headers, _ = ask(port, "GET", "/v1/models", Origin=ORIGIN)
        assert (status, headers["Access-Control-Allow-Origin"]) == (401, ORIGIN)
        assert ask(port, "GET", "/v1/models", Origin=ORIGIN, Authorization=f"Bearer {TOKEN}")[0] == 200
        assert ask(port, "GET", "/healthz", Origin="https://example.com")[0] == 403
