"""What docs/serve.md shows, run as written but for the port."""

import io
import json
import shutil
import subprocess
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from convinse.serving.api_server import create_app
from documentation import blocks
from loopback import served
from services import HeldPipeline

PAGE, ADDRESS = "docs/serve.md", "localhost:8080"


@pytest.fixture(scope="module")
def server():
    with HeldPipeline() as pipeline, served(create_app(pipeline)) as port:
        yield port


def shown(language, words, port):
    """The blocks that have these words, with the port that is served."""
    texts = [block for block in blocks(PAGE, language) if words in block]
    assert texts and all(ADDRESS in text for text in texts)
    return [text.replace(ADDRESS, f"127.0.0.1:{port}") for text in texts]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_calls_with_curl(server):
    begin, talk, chat = (
        subprocess.run(["bash", "-ec", text], capture_output=True, text=True, timeout=60, check=True).stdout
        for text in shown("bash", "curl", server)
    )
    assert json.loads(begin)["sources"] == "kb_text"
    assert "James Cameron" in talk and "event: turn" in talk and "error" not in talk
    assert len(json.loads(Path("conversation.json").read_text())["conversation"]["questions"]) == 2
    assert "James Cameron (Q42574" in json.loads(chat)["choices"][0]["message"]["content"]


def test_the_program_with_the_openai_client(server):
    pytest.importorskip("openai")
    (program,) = shown("python", "openai", server)
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(program, PAGE, "exec"), {})
    first, *_, text = printed.getvalue().partition("\ninfo\n")
    assert first.startswith("James Cameron (Q42574") and text.startswith("19 December 1997")
