"""What docs/mcp.md shows, run as written but for the command, the port and the token."""

import io
import json
import sys
from contextlib import redirect_stdout

import pytest

from convinse.serving.api_server import ServiceOptions
from documentation import block, blocks, inline_code, page
from loopback import served
from places import ROOT
from services import HeldPipeline

pytest.importorskip("mcp")

from convinse.serving.mcp_server import McpService, tools_of
from convinse.serving.mcp_transports import create_app

PAGE = "docs/mcp.md"
COMMAND = 'command="convinse", args=["serve", "mcp"]'
ADDRESS, TOKEN = "localhost:8765", "my-token-of-sixteen-letters"


@pytest.fixture(scope="module")
def service():
    with HeldPipeline() as pipeline:
        yield McpService(pipeline, ServiceOptions(token=TOKEN))


def printed(program):
    with redirect_stdout(io.StringIO()) as output:
        exec(compile(program, PAGE, "exec"), {})
    return output.getvalue()


def test_the_program_over_standard_input_and_output():
    program = blocks(PAGE, "python")[0]
    assert COMMAND in program
    here = f'command={sys.executable!r}, args=["-m", "convinse", "serve", "mcp", "--config", "lexical.yml"], env={{"PYTHONPATH": {str(ROOT)!r}}}'  # fmt: skip
    first, *evidences, last = printed(program.replace(COMMAND, here)).splitlines()
    assert first.startswith("James Cameron (Q42574), score 0.") and last.startswith("19 December 1997 0.")
    shown = block(PAGE, "text").splitlines()
    assert shown[0].split(",")[0] == first.split(",")[0] and shown[-2] in evidences
    assert {line.split(": ")[1] for line in shown[1:3]} <= {line.partition(": ")[2] for line in evidences}


def test_the_program_over_http(service):
    program = blocks(PAGE, "python")[1]
    with served(create_app(service)) as port:
        assert printed(program.replace(ADDRESS, f"127.0.0.1:{port}")) == "Titanic Q44578\n"


def test_the_page_has_every_tool_with_what_it_takes(service):
    rows = {line.split("`")[1]: line for line in page(PAGE).splitlines() if line.startswith("| `")}
    tools = tools_of(service._tools)
    assert list(rows) == list(tools)
    for name, tool in tools.items():
        assert not [field for field in tool.takes.__struct_fields__ if f"`{field}`" not in rows[name]]
    assert "convinse://conversations/ID" in inline_code(PAGE)


def test_the_file_for_agents_starts_the_server():
    (server,) = json.loads(block(PAGE, "json"))["mcpServers"].values()
    assert [server["command"], *server["args"]] == ["convinse", "serve", "mcp"]
