"""The MCP server, asked by the official client: over HTTP in a thread, and over standard input and output as agents start it."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from case_tables import each_case
from convinse.serving.api import ServiceOptions
from loopback import served
from patience import PATIENCE
from places import ROOT

mcp = pytest.importorskip("mcp")
server_module = pytest.importorskip("convinse.serving.mcp")

QUESTIONS = ["who directed Titanic?", "when was it released?"]
TOOLS = ["ask", "retrieve_evidences"]
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PATH": os.environ["PATH"]}
COMMAND = [sys.executable, "-m", "convinse", "serve", "mcp", "--config", "lexical.yml"]
pytestmark = pytest.mark.usefixtures("released")


def url_of(port):
    return f"http://127.0.0.1:{port}/mcp"


def serving(pipeline, **options):
    tools = server_module.PipelineTools(pipeline, ServiceOptions(**options))
    return served(server_module.create_app(tools))


@pytest.fixture(scope="module")
def server(pipeline):
    with serving(pipeline, sources="kb_text") as port:
        yield port


def talk(url, work, mode="auto"):
    """The value of a coroutine function that is handed a client."""

    async def connected():
        async with mcp.Client(url, mode=mode) as client:
            return await work(client)

    return asyncio.run(asyncio.wait_for(connected(), 60))


def called(port, name, mode="auto", **arguments):
    """The result of a tool; the client checks it against its schema."""
    result = talk(url_of(port), lambda client: client.call_tool(name, arguments), mode)
    assert not result.is_error, result.content[0].text
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


def refused(port, name, **arguments):
    """The text that says why a tool was not called."""
    result = talk(url_of(port), lambda client: client.call_tool(name, arguments))
    assert result.is_error and "secret" not in result.content[0].text
    return result.content[0].text


# -- tools -------------------------------------------------------------------------------------------------------------


def texts_at(turn, *places):
    return [turn["top_evidences"][place]["evidence_text"] for place in places]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_conversation_is_that_of_the_pipeline(server, pipeline, mode):
    expected = pipeline.ask(QUESTIONS, "kb_text")["questions"]

    async def converse(client):
        stages = []

        async def shown(done, total, text):
            stages.append((done, total, text))

        first = await client.call_tool("ask", {"question": QUESTIONS[0]}, progress_callback=shown)
        name = first.structured_content["conversation_id"]
        arguments = {"question": QUESTIONS[1], "conversation_id": name, "evidences": 2}
        second = await client.call_tool("ask", arguments)
        return first.structured_content, second.structured_content, stages

    first, second, stages = talk(url_of(server), converse, mode)
    assert stages == [(1, 3, "understood"), (2, 3, "evidences found"), (3, 3, "answered")]
    for shown, turn in zip((first, second), expected, strict=True):
        for key in ("answer", "score", "rank"):
            assert [answer[key] for answer in shown["pred_answers"]] == [answer[key] for answer in turn["pred_answers"]]
        for key in ("sentence", "confidence", "follow_ups", "resolved_question", "history_used"):
            assert shown.get(key) == turn.get(key)
        assert shown["representation"]["entities"] == turn["representation"]["entities"]
        reason, expected_reason = (each["attribution"][0]["evidence"] for each in (shown, turn))
        assert texts_at(shown, reason) == texts_at(turn, expected_reason)
        places, expected_places = (each["pred_answers"][0]["evidences"] for each in (shown, turn))
        assert places and texts_at(shown, *places) == texts_at(turn, *expected_places[: len(places)])
    assert first["conversation_id"] == second["conversation_id"]
    assert second["turn"] == 1 and len(second["top_evidences"]) == 2 and second["sources"] == ["kb", "text"]
    assert [part["text"] for part in second["history_used"]] == ["Titanic"]
    assert "candidates" not in second["representation"] and "row" not in second["top_evidences"][0]


def test_tools_describe_themselves(server):
    tools = talk(url_of(server), lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert tool.annotations.read_only_hint and tool.annotations.open_world_hint is False
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert tool.input_schema["required"] and len(tool.description) > 80
        assert "context" not in tool.input_schema["properties"]


def test_evidences_are_those_of_the_pipeline(server, pipeline):
    evidences = called(server, "retrieve_evidences", question=QUESTIONS[0], sources=["kb"], limit=3)
    (done,) = pipeline.run([{"conv_id": "x", "questions": [{"turn": 0, "question": QUESTIONS[0]}]}], "kb", False)
    best = done["questions"][0]["top_evidences"]
    assert texts_at(evidences, 0, 1, 2) == [evidence["evidence_text"] for evidence in best[:3]]
    assert evidences["total"] == len(best)


@each_case("tools")
def test_wrong_arguments_are_refused(server, case):
    assert case["says"] in refused(server, case["tool"], **case["arguments"])


def test_a_turn_that_fails_leaves_the_conversation_as_it_was(server):
    name = called(server, "ask", question=QUESTIONS[0])["conversation_id"]
    refused(server, "ask", question="who will fail?", conversation_id=name, sources=["info"])
    answer = called(server, "ask", question=QUESTIONS[1], conversation_id=name)
    assert (answer["turn"], answer["sources"]) == (1, ["kb", "text"])


# -- work --------------------------------------------------------------------------------------------------------------


def test_a_call_that_is_given_up_ends_before_the_next_stage(server, pipeline):
    async def give_up(client):
        pipeline.hold()
        call = asyncio.create_task(client.call_tool("ask", {"question": QUESTIONS[0]}))
        await asyncio.to_thread(pipeline.entered.wait, 30)
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()

    talk(url_of(server), give_up)
    talk(url_of(server), lambda client: client.list_tools())  # the server has seen by now that the call is given up
    pipeline.go.set()
    called(server, "ask", question=QUESTIONS[0])
    assert pipeline.stages == ["qu", "qu", "ers", "ha"]


# -- processes ---------------------------------------------------------------------------------------------------------


def test_standard_output_has_the_protocol_alone_and_the_end_of_input_ends_it():
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": "who?"}}},
    ]  # fmt: skip
    with subprocess.Popen(COMMAND, env=ENVIRONMENT, stdin=-1, stdout=-1, stderr=-1, text=True) as process:
        try:
            process.stdin.write("no JSON\n" + "".join(f"{json.dumps(line)}\n" for line in lines))
            process.stdin.flush()
            answers = [json.loads(process.stdout.readline())]
            while answers[-1].get("id") != 2:
                answers.append(json.loads(process.stdout.readline()))
            process.stdin.close()
            assert process.wait(PATIENCE) == 0 and process.stdout.read() == ""
        finally:
            process.kill()
    assert {answer.get("id") for answer in answers} >= {1, 2}
