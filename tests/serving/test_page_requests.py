"""What the web page asks of the service: its files, examples, tables, a turn asked again, a turn taken back."""

import re
import threading

from convinse.serving.api_server import ServiceOptions, create_app
from loopback import served
from places import ROOT
from services import ask, asked, begun

QUESTIONS = ["who directed Titanic?", "when was it released?"]
TOKEN = "a token of the tests"


def test_every_file_of_the_page_comes_with_its_headers(server):
    total = 0
    for path in ("/", *(f"/page/{file.name}" for file in (ROOT / "convinse/serving/page").iterdir())):
        status, headers, body = ask(server, "GET", path)
        total += len(body)
        assert status == 200 and headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in headers["Content-Security-Policy"] and headers["Cache-Control"] == "no-cache"
        assert ask(server, "GET", path, If_None_Match=headers["ETag"])[::2] == (304, b"")
        assert ask(server, "GET", path, If_None_Match='"another"')[0] == 200
    assert total < 150_000
    for path in ("/page/none.js", "/page/..%2Fapi_server.py", "/page/"):
        assert ask(server, "GET", path)[0] == 404


def test_the_page_has_no_script_style_or_address_of_its_own():
    for file in (ROOT / "convinse/serving/page").iterdir():
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), file.name
        assert set(re.findall(r"https?://[\w.]+", text)) <= {"https://www.wikidata.org", "http://www.w3.org"}
    start = (ROOT / "convinse/serving/page/index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?! (type=\"module\" )?src=\"/page/)|<style| style=| on\w+=", start)


def test_the_page_is_there_without_the_token_and_its_data_is_not(pipeline):
    with served(create_app(pipeline, ServiceOptions(token=TOKEN))) as port:
        assert ask(port, "GET", "/")[0] == ask(port, "GET", "/page/app.js")[0] == 200
        for method, path in (
            ("GET", "/v1/examples"),
            ("GET", "/v1/tables/Q1/0"),
            ("DELETE", "/v1/conversations/x/turns/last"),
        ):
            assert ask(port, method, path)[0] == 401
        assert asked(port, "GET", "/v1/examples", Authorization=f"Bearer {TOKEN}")["examples"]


def test_a_turn_is_asked_again_from_other_sources(server, pipeline):
    path = begun(server, sources="kb_text")
    turns = [asked(server, "POST", f"{path}/turns", {"question": question}) for question in QUESTIONS]
    again = asked(server, "POST", f"{path}/turns", {"again": True, "sources": ["info"]})
    assert (again["turn"], again["question"]) == (1, QUESTIONS[1])
    assert {evidence["source"] for evidence in again["top_evidences"]} == {"info"}
    state = asked(server, "GET", path)
    assert state["sources"] == "info" and state["conversation"]["questions"] == [turns[0], again]
    other = asked(server, "POST", f"{path}/turns", {"again": True, "question": "how long is it?", "sources": "kb"})
    assert (other["turn"], other["question"]) == (1, "how long is it?")
    assert asked(server, "GET", path)["turns"] == 2


def test_a_turn_that_cannot_be_asked_again_leaves_the_conversation_as_it_was(server):
    path = begun(server, sources="kb_text")
    assert "no turn" in asked(server, "POST", f"{path}/turns", {"again": True}, 400)["error"]
    asked(server, "POST", f"{path}/turns", {"question": QUESTIONS[0]})
    before = asked(server, "GET", path)
    for value, status in (
        ({"again": True, "question": "why does this fail?"}, 500),
        ({"again": True, "sources": "kb_wiki"}, 400),
        ({"again": True, "question": " "}, 400),
        ({"again": 1}, 400),
        ({"sources": "kb"}, 400),
    ):
        asked(server, "POST", f"{path}/turns", value, status)
    assert asked(server, "GET", path) == before


def test_the_last_turn_is_taken_back(server, pipeline):
    path = begun(server)
    turns = [asked(server, "POST", f"{path}/turns", {"question": question}) for question in QUESTIONS]
    assert asked(server, "DELETE", f"{path}/turns/last")["turns"] == 1
    assert asked(server, "GET", path)["conversation"]["questions"] == turns[:1]
    pipeline.hold()
    other = threading.Thread(target=asked, args=(server, "POST", f"{path}/turns", {"question": QUESTIONS[1]}))
    other.start()
    try:
        assert pipeline.entered.wait(30)
        assert "under way" in asked(server, "DELETE", f"{path}/turns/last", status=409)["error"]
    finally:
        pipeline.go.set()
        other.join()
    for left in (1, 0):
        assert asked(server, "DELETE", f"{path}/turns/last")["turns"] == left
    assert "no turn" in asked(server, "DELETE", f"{path}/turns/last", status=400)["error"]
    assert "no such" in asked(server, "DELETE", "/v1/conversations/conv_x/turns/last", status=404)["error"]


def test_the_examples_are_conversations_of_the_dev_part(server):
    given = asked(server, "GET", "/v1/examples")
    assert given["sources"] == "kb_text_table_info" and len(given["examples"]) > 3
    assert len({example["domain"] for example in given["examples"]}) == len(given["examples"])
    assert all(len(example["questions"]) > 1 for example in given["examples"])


def test_a_row_leads_to_its_whole_table(server):
    turn = asked(
        server,
        "POST",
        f"{begun(server, sources='table')}/turns",
        {"question": "which actress plays Kay in The Godfather?"},
    )
    row = next(evidence["row"] for evidence in turn["top_evidences"] if "table" in evidence.get("row", {}))
    whole = asked(server, "GET", f"/v1/tables/{row['page']}/{row['table']}")
    assert whole["total"] == len(whole["rows"]) > 1
    texts = {cell["text"] for own in whole["rows"] if own["number"] == row["number"] for cell in own["cells"]}
    assert texts >= {cell["text"] for cell in row["cells"]}
    for path in (
        "/v1/tables/Q0/0",
        f"/v1/tables/{row['page']}/9999",
        f"/v1/tables/{row['page']}/x",
        "/v1/tables/x%00/1",
    ):
        asked(server, "GET", path, status=404)
