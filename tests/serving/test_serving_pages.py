"""What docs/serve.md and docs/mcp.md show, run as written but for the command, the address and the token."""

import asyncio
import io
import json
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from convinse.serving.api import ServiceOptions, create_app
from documentation import block, blocks, page
from loopback import served
from patience import PATIENCE
from places import ROOT
from services import exchange

SERVE, MCP = "docs/serve.md", "docs/mcp.md"
COMMAND = 'command="convinse", args=["serve", "mcp"]'


def shown(language, words, port):
    """The blocks of docs/serve.md that have these words, with the port that is served."""
    texts = [text for text in blocks(SERVE, language) if words in text]
    assert texts and all("localhost:8080" in text for text in texts)
    return [text.replace("localhost:8080", f"127.0.0.1:{port}") for text in texts]


def printed(program, name):
    with redirect_stdout(io.StringIO()) as output:
        exec(compile(program, name, "exec"), {})
    return output.getvalue()


@pytest.fixture(scope="module")
def server(pipeline):
    with served(create_app(pipeline, ServiceOptions(uploads=True))) as port:
        yield port


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_calls_with_curl(server):
    begin, talk, files, chat = (
        subprocess.run(["bash", "-ec", text], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        for text in shown("bash", "curl", server)
    )
    assert json.loads(begin)["sources"] == "kb_text"
    assert "James Cameron" in talk and "event: turn" in talk and "error" not in talk
    assert len(json.loads(Path("conversation.json").read_text())["conversation"]["questions"]) == 2
    assert files.startswith('{"files":[{"name":"museum.txt",') and '"citation":{"file":"museum.txt"' in files
    assert "James Cameron (Q42574" in json.loads(chat)["choices"][0]["message"]["content"]


def test_the_program_with_the_openai_client(server):
    pytest.importorskip("openai")
    (program,) = shown("python", "openai", server)
    first, _, text = re.split(r"\n(kb|text|table|info)\n", printed(program, SERVE))
    assert first.startswith("James Cameron (Q42574") and text.startswith("Ridley Scott (Q56005")


def test_the_application_of_a_program_of_ones_own():
    program = block(SERVE, "python", after="## In a program of your own")
    names = {}
    exec(compile(program.replace("config.yml", "lexical.yml"), SERVE, "exec"), names)
    with served(names["app"]) as port:
        state = exchange(port, "POST", "/v1/conversations", {}, 201, Host="convinse.example.org")
        assert state["sources"] == "kb_text"


# -- MCP ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mcp():
    return pytest.importorskip("convinse.serving.mcp")


@pytest.fixture(scope="module")
def tools(pipeline, mcp):
    return mcp.PipelineTools(pipeline, ServiceOptions(token="my-token-of-sixteen-letters"))


def test_the_program_over_standard_input_and_output(mcp):
    program = blocks(MCP, "python")[0]
    assert COMMAND in program
    here = f'command={sys.executable!r}, args=["-m", "convinse", "serve", "mcp", "--config", "lexical.yml"], env={{"PYTHONPATH": {str(ROOT)!r}}}'  # fmt: skip
    lines = printed(program.replace(COMMAND, here), MCP).splitlines()
    assert lines[0].startswith("James Cameron Q42574 0.") and lines[-1].startswith("19 December 1997 0.")
    assert "Titanic, Directed by, James Cameron" in lines


def test_the_program_over_http(mcp, tools):
    program = blocks(MCP, "python")[1]
    with served(mcp.create_app(tools)) as port:
        assert printed(program.replace("localhost:8765", f"127.0.0.1:{port}"), MCP) == "James Cameron Q42574\n"


def test_the_page_has_every_tool_with_what_it_takes(mcp, tools):
    rows = {line.split("`")[1]: line for line in page(MCP).splitlines() if line.startswith("| `")}
    listed = asyncio.run(mcp.create_server(tools).list_tools())
    assert list(rows) == [tool.name for tool in listed]
    for tool in listed:
        assert not [name for name in tool.input_schema["properties"] if f"`{name}`" not in rows[tool.name]]


def test_the_file_for_agents_starts_the_server():
    (server,) = json.loads(block(MCP, "json"))["mcpServers"].values()
    assert [server["command"], *server["args"]] == ["convinse", "serve", "mcp"]


# -- a proxy -----------------------------------------------------------------------------------------------------------


def test_the_proxy_of_the_page_asks_the_port_of_the_service():
    text = block(SERVE, "nginx")
    assert "proxy_pass http://127.0.0.1:8080;" in text and "proxy_buffering off;" in text
