"""What the web page requests besides conversations: its files, examples, whole tables."""

import re
from pathlib import Path

import pytest

from convinse import Pipeline, load_config
from convinse.documents.index import settings_over
from convinse.documents.update import update
from convinse.serving.api import ServiceOptions, create_app
from loopback import served
from places import ROOT
from services import ask, begun, exchange, turn_of

PAGE = ROOT / "convinse/serving/page"


@pytest.fixture(scope="module")
def server(pipeline):
    with served(create_app(pipeline, ServiceOptions(sources="kb_text"))) as port:
        yield port


def test_the_examples_are_conversations_of_the_dev_part(server):
    response = exchange(server, "GET", "/v1/examples")
    assert response["sources"] == "kb_text" and len(response["examples"]) > 3
    assert len({example["domain"] for example in response["examples"]}) == len(response["examples"])
    assert all(len(example["questions"]) > 1 for example in response["examples"])
    assert response["counts"] == {"items": 5536, "facts": 21405, "pages": 104} and response["is_embedded"]


def test_files_are_counted_where_they_are_asked_about(tmp_path):
    Path("museum.md").write_text("# Museum\n\nIt was opened in 1987.\n")
    update(tmp_path, [Path("museum.md")], None)
    config = load_config("lexical.yml", **settings_over(tmp_path), ers_use_cache=False)
    with Pipeline(config) as pipeline, served(create_app(pipeline, ServiceOptions())) as port:
        response = exchange(port, "GET", "/v1/examples")
    assert response["counts"] == {"files": 1} and not response["is_embedded"]


def test_a_row_leads_to_its_whole_table(server):
    turn = turn_of(server, begun(server, sources="table"), "which actress plays Kay in The Godfather?")
    row = next(evidence["row"] for evidence in turn["top_evidences"] if "table" in evidence.get("row", {}))
    whole = exchange(server, "GET", f"/v1/tables/{row['page']}/{row['table']}")
    assert whole["total"] == len(whole["rows"]) > 1
    texts = {cell["text"] for other in whole["rows"] if other["number"] == row["number"] for cell in other["cells"]}
    assert texts >= {cell["text"] for cell in row["cells"]}
    for path in (f"{row['page']}/9999", f"{row['page']}/x", "Q0/0", "x%00/1"):
        exchange(server, "GET", f"/v1/tables/{path}", status=404)


def test_every_file_of_the_page_comes_with_its_headers(server):
    total = 0
    for path in ("/", *(f"/page/{file.name}" for file in PAGE.iterdir())):
        status, headers, body = ask(server, "GET", path)
        total += len(body)
        assert status == 200 and headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in headers["Content-Security-Policy"] and headers["Cache-Control"] == "no-cache"
        assert ask(server, "GET", path, If_None_Match=headers["ETag"])[::2] == (304, b"")
        assert ask(server, "GET", path, If_None_Match='"another"')[0] == 200
    assert total < 150_000
    for path in ("/page/none.js", "/page/..%2Fapi.py", "/page/"):
        assert ask(server, "GET", path)[0] == 404


def test_the_page_has_no_script_style_or_address_of_its_own():
    for file in PAGE.iterdir():
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), file.name
        assert set(re.findall(r"https?://[\w.]+", text)) <= {"https://www.wikidata.org", "http://www.w3.org"}
        assert not re.search(r"[\"'`]/(page|v1)/", text), f"{file.name}: a proxy may serve it below a folder"
    start = (PAGE / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?! (type=\"module\" )?src=\"page/)|<style| style=| on\w+=", start)


def test_the_page_is_there_without_the_token_and_its_data_is_not(pipeline):
    with served(create_app(pipeline, ServiceOptions(token="of-sixteen-letters"))) as port:
        assert ask(port, "GET", "/")[0] == ask(port, "GET", "/page/app.js")[0] == 200
        for method, path in (("GET", "examples"), ("GET", "tables/Q1/0"), ("DELETE", "conversations/x/turns/last")):
            assert ask(port, method, f"/v1/{path}")[0] == 401
