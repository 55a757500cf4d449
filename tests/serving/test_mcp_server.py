"""The MCP server, asked by the official client: over HTTP in a thread, and over standard input and output as agents start it."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from convinse.serving.api_server import LIMITS, ServiceOptions
from loopback import served
from places import ROOT
from services import ask

mcp = pytest.importorskip("mcp")

from convinse.serving.mcp_server import McpService  # noqa: E402
from convinse.serving.mcp_tools import told_turn  # noqa: E402
from convinse.serving.mcp_transports import create_app  # noqa: E402

QUESTIONS = ["who directed Titanic?", "when was it released?"]
TOKEN = "of-sixteen-letters"
TOOLS = ["ask", "retrieve_evidences", "search_space", "link_entities", "neighborhood", "wikipedia_evidences"]
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PATH": os.environ["PATH"]}
COMMAND = ["-m", "convinse", "serve", "mcp", "--config", "lexical.yml"]
pytestmark = pytest.mark.usefixtures("released")


def url_of(port):
    return f"http://127.0.0.1:{port}/mcp"


def serving(pipeline, lists=True, **options):
    limits = replace(LIMITS, **options.pop("limits", {}))
    service = McpService(pipeline, ServiceOptions(limits=limits, **options), lists)
    return served(create_app(service), limits=limits)


@pytest.fixture(scope="module")
def service(pipeline):
    return McpService(pipeline, ServiceOptions(sources="kb_text"))


@pytest.fixture(scope="module")
def server(service):
    with served(create_app(service)) as port:
        yield port


def talk(url, work, mode="auto"):
    """What a coroutine function gives that is handed a client."""

    async def connected():
        async with mcp.Client(url, mode=mode) as client:
            return await work(client)

    return asyncio.run(asyncio.wait_for(connected(), 60))


def called(port, name, mode="auto", **arguments):
    """The result of a tool and its text; it is checked by the client against its schema."""
    result = talk(url_of(port), lambda client: client.call_tool(name, arguments), mode)
    assert not result.is_error, result.content[0].text
    return result.structured_content, result.content[0].text


def refused(port, name, **arguments):
    """The one line that says why a tool was not called."""
    result = talk(url_of(port), lambda client: client.call_tool(name, arguments))
    assert result.is_error and result.structured_content is None
    (content,) = result.content
    assert "\n" not in content.text and "secret" not in content.text
    return content.text


# -- tools -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_conversation_is_that_of_the_pipeline(server, pipeline, mode):
    expected = pipeline.ask(QUESTIONS, "kb_text")["questions"]

    async def converse(client):
        stages = []

        async def told(done, total, text):
            stages.append((done, total, text))

        first = await client.call_tool("ask", {"question": QUESTIONS[0]}, progress_callback=told)
        name = first.structured_content["conversation_id"]
        arguments = {"question": QUESTIONS[1], "conversation_id": name, "evidences": 2}
        return first, await client.call_tool("ask", arguments), stages

    first, second, stages = talk(url_of(server), converse, mode)
    assert stages == [(1, 3, "understood"), (2, 3, "evidences found"), (3, 3, "answered")]
    for result, turn in zip((first, second), expected, strict=True):
        told = result.structured_content
        answers = [{"id": a["id"], "label": a["label"]} for a in told["answers"]]
        assert answers == [answer["answer"] for answer in turn["pred_answers"]]
        assert told["answers"][0]["score"] == turn["pred_answers"][0]["score"]
        assert told["understood"]["entities"] == turn["representation"]["entities"]
        supporting = {evidence["text"] for evidence in told["evidences"] if evidence["number"] in told["answers"][0]["evidences"]}  # fmt: skip
        best = turn["pred_answers"][0]["evidences"]
        assert supporting <= {turn["top_evidences"][place]["evidence_text"] for place in best} and supporting
        assert result.content[0].text.startswith(f"{answers[0]['label']} ({answers[0]['id']}), score 0.")
    assert first.structured_content["conversation_id"] == second.structured_content["conversation_id"]
    assert second.structured_content["turn"] == 1 and len(second.structured_content["evidences"]) == 2
    assert second.structured_content["understood"]["from_history"] == ["Titanic"]
    assert second.structured_content["sources"] == ["kb", "text"]


def test_what_agents_read_of_the_tools(server):
    tools = talk(url_of(server), lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert tool.annotations.read_only_hint and tool.annotations.open_world_hint is False
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False and tool.input_schema["required"]
        assert len(tool.description) > 80 and tool.title


def test_single_steps(server, pipeline):
    evidences, text = called(server, "retrieve_evidences", question=QUESTIONS[0], sources=["kb"], limit=3)
    (done,) = pipeline.run([{"conv_id": "x", "questions": [{"turn": 0, "question": QUESTIONS[0]}]}], "kb", False)
    best = done["questions"][0]["top_evidences"]
    assert [e["text"] for e in evidences["evidences"]] == [e["evidence_text"] for e in best[:3]]
    assert evidences["total"] == len(best) and text.startswith(f"Evidences (3 of {len(best)}):\n[1] kb: ")

    space, _ = called(server, "search_space", question=QUESTIONS[0], limit=5)
    assert space["items"][0]["id"] == "Q44578" and space["items"][0]["description"]
    directed = {"text": "Titanic, director, James Cameron", "parts": [{"id": "Q44578", "label": "Titanic"}, {"id": "P57", "label": "director"}, {"id": "Q42574", "label": "James Cameron"}]}  # fmt: skip
    assert directed in space["facts"] and len(space["facts"]) == 5 < space["total"]

    (mention,) = called(server, "link_entities", text="who directed Titanic?")[0]["mentions"]
    assert (mention["start"], mention["end"], mention["items"][0]["id"]) == (13, 20, "Q44578")
    assert called(server, "link_entities", text="why")[1] == "No item of the knowledge base is named."

    around, text = called(server, "neighborhood", item="Q44578", about="director", limit=1)
    assert around["facts"] == [directed] and around["total"] > 1 and text.startswith("Titanic (Q44578): ")

    page, _ = called(server, "wikipedia_evidences", item="Q44578", about="directed by", sources=["info"], limit=2)
    assert page["evidences"][0]["text"] == "Titanic, Directed by, James Cameron" and page["total"] > 2
    assert called(server, "wikipedia_evidences", item="Q99999999")[0] == {"evidences": [], "total": 0}


def test_an_abstention_says_why():
    answers = [{"answer": {"id": f"Q{n}", "label": "A"}, "score": score, "rank": n} for n, score in enumerate((0.2, 0.1, 0.001), 1)]  # fmt: skip
    turn = {"turn": 0, "question": "who?", "structured_representation": "who", "top_evidences": []}
    told, text = told_turn({**turn, "pred_answers": answers, "abstained": {"reason": "below 0.3"}}, "conv_1", ["kb"], 5)
    assert told.abstained == "below 0.3" and len(told.answers) == 3
    assert text.split("\n") == [
        "Not known: below 0.3. At best: A (Q1), score 0.20",
        "Less likely: A (Q2), score 0.10",
        "Understood as: who?",
        "Conversation: conv_1",
    ]
    assert told_turn({**turn, "pred_answers": []}, "conv_1", ["kb"], 5).text.startswith("No answer was found.\n")


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("ask", {}, "question"),
        ("ask", {"question": 5}, "question"),
        ("ask", {"question": ""}, "question"),
        ("ask", {"question": " \n"}, "empty"),
        ("ask", {"question": "x" * 2001}, "2000"),
        ("ask", {"question": "x", "source": ["kb"]}, "source"),
        ("ask", {"question": "x", "sources": ["wiki"]}, "sources[0]"),
        ("ask", {"question": "x", "sources": []}, "sources"),
        ("ask", {"question": "x", "evidences": 21}, "evidences"),
        ("ask", {"question": "x", "conversation_id": "conv_1"}, "no such conversation"),
        ("ask", {"question": "x", "conversation": {}}, "conv_id"),
        ("ask", {"question": "x", "conversation": {"conv_id": "x", "questions": [{}] * 101}}, "101 turns"),
        ("ask", {"question": "x", "conversation": {}, "conversation_id": "x"}, "not both"),
        ("ask", {"question": "why does this fail?"}, "the server failed"),
        ("neighborhood", {"item": "Titanic"}, "item"),
        ("neighborhood", {"item": "Q99999999"}, "link_entities"),
        ("neighborhood", {"item": "Q44578", "limit": 201}, "limit"),
        ("wikipedia_evidences", {"item": "Q44578", "sources": ["kb"]}, "sources[0]"),
        ("wikipedia_evidences", {"item": "Q44578", "about": "x" * 2001}, "about"),
        ("link_entities", {"text": "x" * 2001}, "text"),
        ("delete", {}, "there are ask, "),
    ],
)
def test_what_cannot_be_asked(server, name, arguments, words):
    assert words in refused(server, name, **arguments)


def test_a_turn_that_fails_leaves_the_conversation_as_it_was(server):
    told, _ = called(server, "ask", question=QUESTIONS[0])
    name = told["conversation_id"]
    refused(server, "ask", question="why does this fail?", conversation_id=name, sources=["info"])
    told, _ = called(server, "ask", question=QUESTIONS[1], conversation_id=name)
    assert (told["turn"], told["sources"]) == (1, ["kb", "text"])


# -- conversations -----------------------------------------------------------------------------------------------------


def test_conversations_are_resources(server, pipeline):
    told, _ = called(server, "ask", question=QUESTIONS[0])
    uri = f"convinse://conversations/{told['conversation_id']}"

    async def look(client):
        listed = await client.list_resources()
        (template,) = (await client.list_resource_templates()).resource_templates
        (contents,) = (await client.read_resource(uri)).contents
        with pytest.raises(mcp.MCPError, match="no such conversation"):
            await client.read_resource(f"{uri}x")
        with pytest.raises(mcp.MCPError, match="no resource"):
            await client.read_resource("file:///etc/passwd")
        stored = json.loads(contents.text)
        taken = await client.call_tool("ask", {"question": QUESTIONS[1], "conversation": stored, "sources": ["kb"]})
        return listed.resources[0], template, stored, taken.structured_content

    latest, template, stored, taken = talk(url_of(server), look)
    assert (latest.uri, latest.title, latest.mime_type) == (uri, QUESTIONS[0], "application/json")
    assert template.uri_template.startswith("convinse://conversations/{")
    assert stored["questions"] == pipeline.ask(QUESTIONS[:1], "kb_text")["questions"]
    assert taken["turn"] == 1 and taken["sources"] == ["kb"] and taken["conversation_id"] != told["conversation_id"]


def test_where_anyone_may_ask_conversations_are_not_listed(pipeline):
    with serving(pipeline, lists=False) as port:
        called(port, "ask", question=QUESTIONS[0])
        assert talk(url_of(port), lambda client: client.list_resources()).resources == []


# -- work --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_call_that_is_given_up_ends_before_the_next_stage(server, service, pipeline, mode):
    given_up = service._tools._queue._metrics._turns
    before = given_up["given_up"]

    async def give_up(client):
        pipeline.hold()
        call = asyncio.create_task(client.call_tool("ask", {"question": QUESTIONS[0]}))
        await asyncio.to_thread(pipeline.entered.wait, 30)
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()

    talk(url_of(server), give_up, mode)
    end = time.monotonic() + 30
    while given_up["given_up"] == before:  # until the server sees that the connection is closed
        assert time.monotonic() < end
        time.sleep(0.01)
    pipeline.go.set()
    called(server, "ask", question=QUESTIONS[0])
    assert pipeline.stages == ["qu", "qu", "ers", "ha"]


def test_a_call_that_takes_too_long(pipeline):
    with serving(pipeline, limits={"work_seconds": 0.5}) as port:
        pipeline.hold()
        assert "no answer within 0.5 s" in refused(port, "ask", question=QUESTIONS[0])
        pipeline.go.set()


def test_a_conversation_has_one_turn_under_way(server, pipeline):
    async def twice(client):
        first = await client.call_tool("ask", {"question": QUESTIONS[0]})
        arguments = {"question": QUESTIONS[1], "conversation_id": first.structured_content["conversation_id"]}
        pipeline.hold()
        under_way = asyncio.create_task(client.call_tool("ask", arguments))
        await asyncio.to_thread(pipeline.entered.wait, 30)
        second = await client.call_tool("ask", arguments)
        pipeline.go.set()
        return second, await under_way

    second, first = talk(url_of(server), twice)
    assert second.is_error and "under way" in second.content[0].text and not first.is_error


# -- who may ask -------------------------------------------------------------------------------------------------------


def test_other_hosts_sites_and_methods_are_refused(server):
    assert ask(server, "POST", "/mcp", {}, Host="example.org")[0] == 403
    assert ask(server, "POST", "/mcp", {}, Origin="https://example.org")[0] == 403
    assert ask(server, "GET", "/mcp")[0] == 405
    assert ask(server, "POST", "/", {})[0] == 404
    assert ask(server, "POST", "/mcp", b"{" * 10_000_001)[0] == 413
    for body in (b"", b"{", b"[]", b'{"jsonrpc": "2.0"}', b"[" * 100_000):
        accept = "application/json, text/event-stream"
        for version in ("2025-06-18", "2026-07-28"):
            assert ask(server, "POST", "/mcp", body, Accept=accept, MCP_Protocol_Version=version)[0] == 400


def test_a_token_is_asked_for(pipeline):
    httpx2 = pytest.importorskip("httpx2")
    from mcp.client.streamable_http import streamable_http_client

    @asynccontextmanager
    async def connection(port, token):
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
            streamable_http_client(url_of(port), http_client=http) as streams,
        ):
            yield streams

    with serving(pipeline, token=TOKEN) as port:
        assert ask(port, "POST", "/mcp", {})[0] == 401
        tools = talk(connection(port, TOKEN), lambda client: client.list_tools())
        assert len(tools.tools) == len(TOOLS)
        with pytest.raises(BaseException, match="401|error|failed"):
            talk(connection(port, "x"), lambda client: client.list_tools())


# -- processes ---------------------------------------------------------------------------------------------------------


def test_standard_output_has_the_protocol_alone_and_the_end_of_input_ends_it():
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": "who?"}}},
    ]  # fmt: skip
    command = [sys.executable, *COMMAND]
    with subprocess.Popen(command, env=ENVIRONMENT, stdin=-1, stdout=-1, stderr=-1, text=True) as process:
        try:
            process.stdin.write("no JSON\n" + "".join(f"{json.dumps(line)}\n" for line in lines))
            process.stdin.flush()
            answers = [json.loads(process.stdout.readline())]
            while answers[-1].get("id") != 2:
                answers.append(json.loads(process.stdout.readline()))
            process.stdin.close()
            assert process.wait(30) == 0 and process.stdout.read() == ""
        finally:
            process.kill()
    assert {answer.get("id") for answer in answers} >= {1, 2}


def test_a_signal_ends_it_while_it_waits():
    command = [sys.executable, *COMMAND]
    with subprocess.Popen(command, env=ENVIRONMENT, stdin=-1, stdout=-1, stderr=-1) as process:
        try:
            ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            process.stdin.write(json.dumps(ping).encode() + b"\n")
            process.stdin.flush()
            assert process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == -signal.SIGINT
        finally:
            process.kill()


def test_over_http_a_signal_answers_what_has_arrived():
    command = [sys.executable, *COMMAND, "--http", "0"]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=-1, stderr=-1, text=True) as process:
        try:
            url = re.search(r"http://127\.0\.0\.1:\d+/mcp", process.stdout.readline())[0]

            async def stopped(client):
                await client.call_tool("link_entities", {"text": "Titanic"})
                call = asyncio.create_task(client.call_tool("ask", {"question": QUESTIONS[0]}))
                await asyncio.sleep(0.02)
                process.send_signal(signal.SIGTERM)
                return await call

            assert talk(url, stopped).content[0].text.startswith("James Cameron")
            assert process.wait(30) == 0, process.communicate()
        finally:
            process.kill()
