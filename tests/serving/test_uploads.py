"""Files of conversations: what is asked about them, what is refused, when they are removed."""

import os
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from case_tables import each_case
from convinse import Pipeline, load_config
from convinse.documents.over import config_over
from convinse.documents.readers.pdf_pages import draw_page, find_on_page
from convinse.documents.update import update
from convinse.serving import uploads
from convinse.serving.api import ServiceOptions, create_app
from drawn_pdf import pdf_of
from loopback import served
from patience import PATIENCE, wait_until
from services import ask, begun, exchange, turn_of

MUSEUM = """# Harbour museum

The harbour museum in Lindwick was opened in 1987. Its first director was Marta Kessler, a marine biologist.

## Ships

The museum shows 312 model ships. The largest of them, the Aurelia, is six metres long.
"""
TICKETS = "Ticket,Price\nAdult,9 euros\nFamily,20 euros\n"
LONGEST = "The largest of them, the Aurelia, is six metres long."
TITANIC = "who directed Titanic?"
SHIPS = "How many model ships does the museum show?"


def serving(pipeline, **options):
    return served(create_app(pipeline, ServiceOptions(uploads=True, **options)))


@pytest.fixture(scope="module")
def server(pipeline):
    with serving(pipeline) as port:
        yield port


def put(port, path, name="museum.md", body=MUSEUM, status=200, **headers):
    return exchange(port, "PUT", f"{path}/files/{name}", body.encode(), status, **headers)


def names(port, path):
    return [file["name"] for file in exchange(port, "GET", f"{path}/files")["files"]]


def files_cited(turn):
    return {evidence["citation"]["file"] if "citation" in evidence else None for evidence in turn["top_evidences"]}


def on_disk():
    """The files and folders of conversations; others may go meanwhile, which `os.walk` bears."""
    folders = Path(tempfile.gettempdir()).glob("convinse-uploads-*")
    found = (name for folder in folders for _, inner, files in os.walk(folder) for name in (*inner, *files))
    return {name for name in found if not name.isdigit()}


# -- what is asked -----------------------------------------------------------------------------------------------------


def test_a_conversation_is_asked_over_its_files_and_without_them_over_the_served_data(server):
    path, other = begun(server), begun(server)
    before = turn_of(server, path, TITANIC)
    assert put(server, path)["files"] == [{"name": "museum.md", "bytes": len(MUSEUM)}]
    assert (
        put(server, path, "tickets.csv", TICKETS)["examples"][0]["questions"][0]
        == "What is the price of the Adult ticket?"
    )
    turn = turn_of(server, path, SHIPS)
    assert files_cited(turn) == {"museum.md"} and "312 model ships" in str(turn["top_evidences"][0])
    assert None in files_cited(turn_of(server, other, TITANIC)) and names(server, other) == []
    put(server, path, body=MUSEUM.replace("312", "313"))
    assert "313 model ships" in str(turn_of(server, path, SHIPS)["top_evidences"][0])
    assert exchange(server, "DELETE", f"{path}/files/museum.md")["files"] == [
        {"name": "tickets.csv", "bytes": len(TICKETS)}
    ]
    assert files_cited(turn_of(server, path, SHIPS)) <= {"tickets.csv"}
    assert exchange(server, "DELETE", f"{path}/files/tickets.csv") == {"files": [], "examples": []}
    again = turn_of(server, path, TITANIC)
    assert again["pred_answers"][0]["answer"] == before["pred_answers"][0]["answer"] and None in files_cited(again)
    assert exchange(server, "GET", path)["turns"] == 5


def test_the_models_that_are_served_read_the_files(shipped):
    with serving(shipped) as port:
        path = begun(port)
        put(port, path)
        turn = turn_of(port, path, "How long is the Aurelia?")
        best = turn["pred_answers"][0]
        assert best["answer"]["label"] == "six metres" and "abstained" not in turn
        assert turn["top_evidences"][best["evidences"][0]]["citation"] == {
            "file": "museum.md",
            "headings": ["Ships"],
            "line": 7,
        }


def test_a_question_waits_for_the_files_before_it_and_others_do_not(server, monkeypatch):
    reading, go = threading.Event(), threading.Event()

    def slow(*arguments, **options):
        reading.set()
        assert go.wait(PATIENCE)
        return update(*arguments, **options)

    monkeypatch.setattr(uploads, "update", slow)
    path, other = begun(server), begun(server)
    with ThreadPoolExecutor() as clients:
        file = clients.submit(put, server, path)
        assert reading.wait(PATIENCE)
        turn = clients.submit(turn_of, server, path, SHIPS)
        assert turn_of(server, other, TITANIC)["pred_answers"] and not (file.done() or turn.done())
        go.set()
        assert files_cited(turn.result()) == {"museum.md"}


def test_a_cited_passage_is_shown_in_its_surroundings(server, pipeline):
    path = begun(server)
    put(server, path)
    put(server, path, "tickets.csv", TICKETS)
    text = f"Harbour museum, Ships, The museum shows 312 model ships. {LONGEST}"
    before, cited = passages(server, path, "museum.md", text)
    assert (before["is_cited"], before["heading"], before["place"]) == (False, "", "line 3")
    assert cited == {
        "heading": "Ships",
        "place": "line 7",
        "text": f"The museum shows 312 model ships. {LONGEST}",
        "is_cited": True,
    }
    row = next(
        evidence for evidence in turn_of(server, path, "How much is Family?")["top_evidences"] if "row" in evidence
    )
    assert passages(server, path, "tickets.csv", row["evidence_text"])[1]["text"] == "Ticket: Family · Price: 20 euros"
    for file, words in (("museum.md", "other"), ("/etc/passwd", text), ("tickets.csv", text)):
        passages(server, path, file, words, 404)
    passages(server, begun(server), "museum.md", text, 404)


def passages(port, path, file, text, status=200):
    query = "&".join(f"{key}={quoted(value)}" for key, value in (("file", file), ("text", text)))
    return exchange(port, "GET", f"{path}/passages?{query}", status=status).get("passages")


def quoted(text):
    return "".join(f"%{byte:02x}" for byte in text.encode())


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def conversation(server):
    """A conversation with one file."""
    path = begun(server)
    put(server, path, "kept.md")
    return path


@each_case("uploads")
def test_a_file_that_is_refused_changes_nothing(server, conversation, case):
    error = put(server, conversation, case["name"], case.get("body", "Harbour"), case["status"])["error"]
    assert case["says"] in error and "\n" not in error
    assert names(server, conversation) == ["kept.md"] and "312" in str(
        turn_of(server, conversation, SHIPS)["top_evidences"]
    )


def test_files_and_their_bytes_are_limited(server, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_FILES", 2)
    monkeypatch.setattr(uploads, "MOST_BYTES", 100)
    path = begun(server)
    put(server, path, "a.txt", "a" * 60)
    assert "100 bytes" in put(server, path, "b.txt", "b" * 60, 413)["error"]
    put(server, path, "a.txt", "a" * 90)  # in its own place it has room
    put(server, path, "b.txt", "b")
    assert "2 files" in put(server, path, "c.txt", "c", 413)["error"]
    assert names(server, path) == ["a.txt", "b.txt"]


def test_without_uploads_nothing_is_taken_and_the_page_is_told(pipeline, server):
    assert exchange(server, "GET", "/v1/examples")["uploads"]["most_bytes"] == 10_000_000
    with served(create_app(pipeline)) as port:
        path = begun(port)
        assert "--upload" in put(port, path, status=403)["error"] and names(port, path) == []
        assert exchange(port, "GET", "/v1/examples")["uploads"] is None


# -- when files are removed --------------------------------------------------------------------------------------------


def test_a_new_conversation_is_about_the_same_files(server):
    path = begun(server)
    put(server, path)
    other = begun(server, files_of=path.rpartition("/")[2])
    assert names(server, other) == ["museum.md"] and files_cited(turn_of(server, other, SHIPS)) == {"museum.md"}
    assert ask(server, "DELETE", path)[0] == 204  # the files are there until the last such conversation is gone
    assert files_cited(turn_of(server, other, SHIPS)) == {"museum.md"}
    assert exchange(server, "DELETE", f"{other}/files") == {"files": [], "examples": []}
    assert None in files_cited(turn_of(server, other, TITANIC))
    exchange(server, "POST", "/v1/conversations", {"files_of": "conv_unknown"}, 404)


def test_kept_files_are_there_for_a_later_server_until_they_are_removed(pipeline, workdir):
    folder = workdir / "kept"
    with serving(pipeline, files_folder=folder) as port:
        path = begun(port)
        put(port, path)
        put(port, path, "tickets.csv", TICKETS)
        other = begun(port, files_of=path.rpartition("/")[2])
    assert folder.stat().st_mode & 0o777 == 0o700
    with serving(pipeline, files_folder=folder) as port:
        assert names(port, path) == names(port, other) == ["museum.md", "tickets.csv"]
        exchange(port, "GET", path, None, 404)
        again = begun(port, files_of=path.rpartition("/")[2])
        assert "museum.md" in files_cited(turn_of(port, again, SHIPS))
        assert ask(port, "DELETE", again)[0] == 204
        for gone in (path, other):  # conversations of the earlier server, which a browser may still know
            assert ask(port, "DELETE", gone)[0] == 204
        wait_until(lambda: not list(folder.iterdir()))
    with serving(pipeline, files_folder=folder) as port:
        exchange(port, "GET", f"{path}/files", None, 404)


def test_the_whole_file_of_a_passage_is_read(server):
    path = begun(server)
    put(server, path, body="# Harbour\n\n" + "".join(f"Ship {number} has {number} sails.\n\n" for number in range(30)))
    turn = turn_of(server, path, "How many sails has ship 20?")
    text = turn["top_evidences"][0]["evidence_text"].replace(" ", "%20")
    for whole, count in (("false", 11), ("true", 30)):
        shown = exchange(server, "GET", f"{path}/passages?file=museum.md&text={text}&whole={whole}")["passages"]
        assert len(shown) <= count and len(shown) > count // 2 and sum(each["is_cited"] for each in shown) == 1


TOUR = "# Harbour museum\n\nThe museum was opened in 1987.\n\nIts hall shows 312 model ships."


def page_of(port, path, text, file="tour.pdf"):
    """The page of a passage, as the whole file is read."""
    query = f"file={file}&text={quoted(text)}&whole=true"
    return exchange(port, "GET", f"{path}/passages?{query}")["page"]


def test_a_page_of_a_pdf_file_is_drawn_with_the_boxes_of_the_words(server):
    path = begun(server)
    data = pdf_of(["The way to the harbour museum.", TOUR])
    assert ask(server, "PUT", f"{path}/files/tour.pdf", data)[0] == 200
    put(server, path)
    turn = turn_of(server, path, SHIPS)
    text = next(evidence["evidence_text"] for evidence in turn["top_evidences"] if "hall" in evidence["evidence_text"])
    page = page_of(server, path, text)
    assert (page["number"], page["count"]) == (2, 2)
    assert page["boxes"] == [[*box] for box in find_on_page(data, 2, ["Its hall shows 312 model ships."])[1]]
    status, headers, body = ask(server, "GET", f"{path}/pages/2?file=tour.pdf")
    assert (status, headers["Content-Type"], body) == (200, "image/png", draw_page(data, 2))
    assert exchange(server, "GET", f"{path}/passages?file=tour.pdf&text={quoted(text)}")["page"] is None
    for name, number, status in (
        ("tour.pdf", 3, 404), ("tour.pdf", 0, 404), ("tour.pdf", "x", 400), ("museum.md", 1, 404),
        ("../tour.pdf", 1, 404), ("/etc/passwd", 1, 404), ("other.pdf", 1, 404),
    ):  # fmt: skip
        assert "error" in exchange(server, "GET", f"{path}/pages/{number}?file={name}", status=status)
    exchange(server, "GET", f"{begun(server)}/pages/1?file=tour.pdf", status=404)
    exchange(server, "GET", f"{path}/pages/1?file=tour.pdf", status=403, Host="evil.example")
    exchange(server, "GET", f"{path}/pages/1?file=tour.pdf", status=403, Origin="http://evil.example")


def test_a_page_of_a_served_folder_is_drawn_until_the_file_changes(workdir):
    folder = workdir / "museum"
    folder.mkdir()
    (folder / "tour.pdf").write_bytes(pdf_of([TOUR]))
    (workdir / "secret.pdf").write_bytes(pdf_of([TOUR]))
    config = config_over(load_config("lexical.yml", ers_use_cache=False), folder)
    options = ServiceOptions(over=(folder,), token="of-sixteen-letters")
    bearer = {"Authorization": "Bearer of-sixteen-letters"}
    with Pipeline(config) as over, served(create_app(over, options)) as port:
        path = f"/v1/conversations/{exchange(port, 'POST', '/v1/conversations', {}, 201, **bearer)['id']}"
        turn = exchange(port, "POST", f"{path}/turns", {"question": SHIPS}, **bearer)
        text = turn["top_evidences"][0]["evidence_text"]
        query = f"{path}/passages?file=museum/tour.pdf&text={quoted(text)}&whole=true"
        assert len(exchange(port, "GET", query, **bearer)["page"]["boxes"]) == 1
        picture = f"{path}/pages/1?file=museum/tour.pdf"
        assert ask(port, "GET", picture, **bearer)[2] == draw_page((folder / "tour.pdf").read_bytes(), 1)
        exchange(port, "GET", picture, status=401)
        exchange(port, "GET", f"{path}/pages/1?file=museum/../secret.pdf", status=404, **bearer)
        (folder / "tour.pdf").write_bytes(pdf_of([f"{TOUR} All are small."]))
        assert exchange(port, "GET", query, **bearer)["page"] is None
        assert "has changed" in exchange(port, "GET", picture, status=404, **bearer)["error"]


def test_files_are_removed_with_the_conversation_and_with_the_server(pipeline):
    before = on_disk()
    with serving(pipeline, most_conversations=2) as port:
        paths = [begun(port) for _ in range(2)]
        for path in paths:
            put(port, path)
        gone, left = (path.rpartition("/")[2] for path in paths)
        assert on_disk() - before == {gone, left, "museum.md", "documents.db"} - before
        assert ask(port, "DELETE", paths[0])[0] == 204
        wait_until(lambda: gone not in on_disk())
        assert left in on_disk()
        path = [begun(port) for _ in range(2)][-1]  # makes room among those without files first
        assert left in on_disk()
        put(port, path)
        begun(port)
        wait_until(lambda: left not in on_disk())
    assert on_disk() == before
