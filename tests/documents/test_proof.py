"""Proofs: what becomes of the quotes of answers when their files change."""

import hashlib
import json
import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from docx import Document
from openpyxl import Workbook

from convinse.cli import main
from convinse.documents.index import DocumentIndex
from convinse.documents.proof import proof_of, read_proof, write_proof
from convinse.documents.quotes import add_quotes
from convinse.documents.update import update
from convinse.documents.verifier import Verifier
from convinse.records.answer_spans import answer_spans
from convinse.support.errors import DataError, OutputError
from drawn_pdf import pdf_of
from refusals import refused
from written import read_json, saved, write

MUSEUM = """# Harbour museum

It was opened in 1987.

## Ships

The museum shows 312 model ships. The largest of them is six metres long.
"""
TICKETS = "Ticket,Price\nAdult,9 euros\nFamily,20 euros\n"
BAKERY = "<h1>Bakery</h1><h2>Hours</h2><p>The shop opens at seven.</p><h2>Bread</h2><p>Rye is baked on Mondays.</p>"
LEASE = [("Lease", 1), ("Repairs", 2), ("The roof is paid by Per Lund.", 0), ("Rent", 2), ("The rent is 820 euros.", 0)]
FERRIES = [["Ferry", "Length"], ["Gull", 45], ["Tern", 52]]
TOUR = ["# Harbour tour\n\n\nThe tour begins at nine.", "Ida Brandt leads the tour.\n\n\nIt ends at the lighthouse."]
TOWN = {"museum.md": MUSEUM, "tickets.csv": TICKETS, "bakery.html": BAKERY, "lease.docx": LEASE, "ferries.xlsx": FERRIES, "tour.pdf": TOUR}  # fmt: skip
# the answer that is quoted of each file, its place, and the words around it
QUOTED = {
    "museum.md": ("six metres", "line 7", "The museum shows 312 model ships. The largest of them is six metres long."),
    "tickets.csv": ("20 euros", "line 3", "Ticket: Family · Price: 20 euros"),
    "bakery.html": ("seven", "", "The shop opens at seven."),
    "lease.docx": ("Per Lund", "", "The roof is paid by Per Lund."),
    "ferries.xlsx": ("52", "row 3", "Ferry: Tern · Length: 52"),
    "tour.pdf": ("Ida Brandt", "page 2", "Ida Brandt leads the tour."),
}


def put(folder, name, content):
    """Write a file of the town: of text, of paragraphs with the levels of their headings, of rows, or of pages."""
    if name.endswith(".pdf"):
        content = pdf_of(content)
    elif name.endswith((".docx", ".xlsx")):
        document = Document() if name.endswith(".docx") else Workbook()
        for part in content:
            if name.endswith(".xlsx"):
                document.active.append(part)
            else:
                document.add_heading(part[0], part[1]) if part[1] else document.add_paragraph(part[0])
        content = saved(document)
    return write(f"{folder}/{name}", content)


@pytest.fixture(scope="module")
def proven(tmp_path_factory):
    """A folder with the town, a proof with a quote of each file, and a conversation with them."""
    folder = tmp_path_factory.mktemp("proven")
    for name, content in TOWN.items():
        put(folder / "town", name, content)
    update(folder / "index", [folder / "town"], None)
    turns = []
    with closing(DocumentIndex(folder / "index")) as index:
        evidences = [evidence for item in index.items() for evidence in index.get(item)]
        for name, (label, _, words) in QUOTED.items():
            (evidence,) = (
                evidence
                for evidence in evidences
                if evidence["citation"]["file"] == f"town/{name}" and label in evidence["evidence_text"]
            )
            answer = {"answer": {"id": label, "label": label}, "score": 0.9, "rank": 1, "evidences": [0]}
            answer["spans"] = answer_spans(answer, [evidence])
            turns.append({"turn": len(turns), "question": f"{name}?", "structured_representation": words,
                          "pred_answers": [answer], "top_evidences": [evidence]})  # fmt: skip
        add_quotes(turns, index)
    conversation = {"conv_id": "1", "questions": turns}
    write_proof(folder / "proof.json", proof_of(conversation, [folder / "town"], ["text", "table"]))
    write(folder / "talk.json", {**conversation, "over": ["town"]})
    return folder


@pytest.fixture
def town(proven, workdir):
    """A copy of the town beside its proof."""
    shutil.copytree(proven, workdir, dirs_exist_ok=True)
    shutil.rmtree("index")
    return workdir


def states(path="proof.json", over=()):
    """The state of each quote by its file."""
    proof, _ = read_proof(Path(path), [Path(root) for root in over])
    verifier = Verifier(proof["over"])
    quotes = [quote for question in proof["questions"] for answer in question["answers"] for quote in answer["quotes"]]
    return {Path(quote["path"]).name: verifier.check(quote) for quote in quotes}


def test_quotes_are_words_of_their_file_with_its_checksum_and_place(proven):
    for question in read_json(proven / "proof.json")["questions"]:
        (answer,) = question["answers"]
        (quote,) = answer["quotes"]
        label, place, words = QUOTED[question["question"][:-1]]
        assert (answer["answer"], quote["place"], quote["words"]) == (label, place, words)
        assert [words[span["start"] : span["end"]] for span in quote["spans"]] == [label]
        assert hashlib.sha256((proven / quote["path"]).read_bytes()).hexdigest() == quote["sha256"]


@pytest.mark.parametrize("path", ["proof.json", "talk.json"])
def test_unchanged_files_and_moved_folders_stand(town, path, capsys):
    assert {text for _, text in states(path).values()} == {"stands"}
    assert main(["verify", path]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == 'tickets.csv?: 20 euros: "Ticket: Family · Price: 20 euros" town/tickets.csv, line 3: stands'
    shutil.move("town", "moved/city")
    assert main(["verify", path]) == 1
    assert capsys.readouterr().err == f"convinse: {path}: 6 of 6 quotes do not stand\n"
    assert main(["verify", path, "--over", "moved/city"]) == 0
    shutil.move("moved/city", "town")
    for name in ("town", path):
        Path("elsewhere").mkdir(exist_ok=True)
        shutil.move(name, "elsewhere")
    assert all(stands for stands, _ in states(f"elsewhere/{path}").values())


def replaced(old, new):
    return lambda content: content.replace(old, new)


@pytest.mark.parametrize(
    ("name", "change", "state"),
    [
        ("museum.md", replaced("1987", "1988"), "stands, the file has changed elsewhere"),
        ("museum.md", replaced("## Ships\n\n", "## Ships\n\nNew.\n\n"), "moved, the words now stand at line 9"),
        ("museum.md", replaced("## Ships", "## Boats"), 'stands, now below "Boats"'),
        ("museum.md", replaced("six metres", "seven metres"),
         'changed, the passage now reads "The museum shows 312 model ships. The largest of them is seven metres long."'),
        ("museum.md", replaced("six metres long", "six metres long, says Ida"),
         'changed, the passage now reads "The museum shows 312 model ships. The largest of them is six metres long, says Ida."'),
        ("museum.md", lambda _: "# Harbour museum\n\nClosed.\n", "gone, the words are not in the file"),
        ("tickets.csv", replaced("Adult", "Senior,7 euros\nAdult"), "moved, the words now stand at line 4"),
        ("tickets.csv", replaced("20 euros", "20.5 euros"), 'changed, the passage now reads "Ticket: Family · Price: 20.5 euros"'),
        ("tickets.csv", replaced("Price", "Cost"), 'changed, the passage now reads "Ticket: Family · Cost: 20 euros"'),
        ("tickets.csv", replaced("Price\n", "Price,Valid\n"), "stands, the file has changed elsewhere"),
        ("tickets.csv", replaced("Family,20 euros\n", "Group,30 euros\n"),
         'gone, the words are not in the file; line 3 now reads "Ticket: Group · Price: 30 euros"'),
        ("tickets.csv", replaced("Family,20 euros\n", ""), "gone, the words are not in the file"),
        ("bakery.html", replaced("<p>Rye", "<p>Fresh rye"), "stands, the file has changed elsewhere"),
        ("bakery.html", replaced("<h2>Hours", "<h2>Summer"), 'moved, the words now stand below "Summer"'),
        ("bakery.html", replaced("seven", "eight"), 'changed, the passage now reads "The shop opens at eight."'),
        ("lease.docx", lambda parts: [("Lease", 1), ("Preface.", 0), *parts[1:]], "stands, the file has changed elsewhere"),
        ("lease.docx", lambda parts: [*parts[:2], parts[4], parts[3], parts[2]], 'moved, the words now stand below "Lease > Rent"'),
        ("lease.docx", lambda parts: [*parts[:2], ("The roof is paid by Ida Lund.", 0), *parts[3:]],
         'changed, the passage now reads "The roof is paid by Ida Lund."'),
        ("ferries.xlsx", lambda rows: [rows[0], ["Kite", 30], *rows[1:]], "moved, the words now stand at row 4"),
        ("ferries.xlsx", lambda rows: [*rows[:2], ["Tern", 520]], 'changed, the passage now reads "Ferry: Tern · Length: 520"'),
        ("tour.pdf", lambda pages: [pages[0], "A map.", pages[1]], "moved, the words now stand on page 3"),
        ("tour.pdf", lambda pages: [pages[0], pages[1].replace("Brandt", "Berg")],
         'changed, the passage now reads "Ida Berg leads the tour."'),
        ("tour.pdf", lambda _: b"%PDF-1.4", "not read, the file "),
    ],
)  # fmt: skip
def test_a_change_of_a_file_is_told(town, name, change, state):
    content = change(TOWN[name])
    write(f"town/{name}", content) if isinstance(content, bytes) else put("town", name, content)
    found = states()
    assert found.pop(name)[1].startswith(state)
    assert {text for _, text in found.values()} == {"stands"}


def test_files_that_are_gone_renamed_or_cannot_be_read(town):
    Path("town/museum.md").unlink()
    Path("town/tickets.csv").rename("town/prices.csv")
    Path("town/lease.docx").rename("town/lease.bin")  # of a kind that is not read
    Path("town/bakery.html").unlink()
    Path("town/bakery.html").mkdir()
    write("town/ferries.xlsx", b"x" * 100)
    found = {name: text for name, (_, text) in states().items()}
    assert found["museum.md"] == "gone, the file is missing"
    assert found["tickets.csv"] == "gone, the file is missing; town/prices.csv has the same content"
    assert found["lease.docx"] == "gone, the file is missing"
    assert found["bakery.html"] == "gone, the path is that of a folder or device"
    assert found["ferries.xlsx"].startswith("not read, the file ")


def test_a_file_that_is_written_while_it_is_read_and_one_without_the_right_to_read(town, monkeypatch):
    read = Path.read_bytes

    def reading(path):
        if path.name == "lease.docx":
            raise PermissionError(13, "Permission denied")
        data = read(path)
        if path.name == "museum.md":
            put("town", path.name, f"{MUSEUM}\nMore.\n")
        return data

    monkeypatch.setattr(Path, "read_bytes", reading)
    found = states()
    assert found["museum.md"][1] == "not read, the file is being written; verify it again"
    assert found["lease.docx"][1] == "not read, the file cannot be opened: Permission denied"


def test_a_proof_that_was_edited_by_hand_is_no_longer_one(town, capsys):
    text = Path("proof.json").read_text(encoding="utf-8")
    write("proof.json", text.replace("six metres", "nine metres"))
    assert not states()["museum.md"][0]
    assert main(["verify", "proof.json"]) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith("proof.json: was edited after it was written")
    assert printed.err == "convinse: proof.json: 1 of 6 quotes do not stand, edited\n"
    write("proof.json", text.replace('"probability": 0.9', '"probability": 0.99'))
    assert main(["verify", "proof.json"]) == 1
    assert capsys.readouterr().err == "convinse: proof.json: edited\n"
    write("proof.json", json.dumps(json.loads(text)))  # in another layout
    assert main(["verify", "proof.json"]) == 0


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text: text[:400], "proof.json: is no proof: it is not JSON"),
        (lambda text: "[" * 100_000, "proof.json: is no proof: it is not JSON"),
        (lambda text: "[]", "proof.json: is neither a proof nor a saved conversation; ask --over PATH --proof FILE writes one"),
        (lambda text: '{"questions": 3}', "proof.json: the conversation: conversation 0: the key 'conv_id' is missing"),
        (lambda text: '{"conv_id": "1", "questions": [], "over": ["town"]}', "proof.json: no answer of it quotes a file"),
        (replaced("proof 1", "proof 2"), "proof.json: is no proof of this version: its format is not 'convinse proof 1'"),
        (replaced('"words"', '"word"'), "proof.json: is damaged: Object missing required field `words`"),
        (replaced("0.9", '"0.9"'), "proof.json: is damaged: Expected `float`, got `str`"),
        (replaced('"end": ', '"end": 9'), "proof.json: is damaged: an answer at "),
        (replaced("town/museum.md", "a\\u0000b"), "proof.json: is damaged: a path with a character that no path has"),
        (replaced("The shop opens at seven.", ""), "proof.json: is damaged: a quote of 0 characters"),
        (lambda text: text + " " * 50_000_000, "proof.json: is no proof: it has more than 50 MB"),
    ],
)  # fmt: skip
def test_other_files_are_refused_in_one_line(town, change, fault):
    write("proof.json", change(Path("proof.json").read_text(encoding="utf-8")))
    refused(DataError, states, fault)


def test_nothing_but_a_proof_is_replaced_by_one(town):
    proof, _ = read_proof(Path("proof.json"))
    before = Path("proof.json").read_bytes()
    write_proof(Path("proof.json"), proof)
    assert Path("proof.json").read_bytes() == before
    for name in ("town/museum.md", "talk.json", "town"):
        refused(
            OutputError,
            lambda name=name: write_proof(Path(name), proof),
            f"{name}: is there already and is not a proof",
        )
    assert Path("town/museum.md").read_text() == MUSEUM


def test_proofs_and_names_that_are_not_text_are_left_out(town):
    shutil.copy("proof.json", "town")
    write(Path(os.fsdecode(b"town/caf\xe9/menu.md")), "Open.")
    left_out = update(Path("index"), [Path("town")], None).left_out
    assert left_out == {"that are proofs or saved conversations": 1, "whose names are not UTF-8": 1}
