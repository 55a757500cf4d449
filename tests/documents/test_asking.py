"""Questions over a folder of files, from the command line, in a conversation and on the page."""

import errno
import io
import json
from contextlib import closing
from operator import itemgetter
from pathlib import Path

import pytest

from case_tables import cases, slow_but
from convinse import Pipeline, ask, load_config
from convinse.cli import main
from convinse.cli.chat import Chat
from convinse.cli.output import program
from convinse.dialogue.answered_turns import not_in_files
from convinse.dialogue.examples import examples_of
from convinse.documents.files import find_files
from convinse.documents.index import DocumentIndex
from convinse.documents.readers.pdf_pages import find_on_page
from convinse.documents.suggestions import suggested
from convinse.documents.update import update
from convinse.records.literals import is_document_item
from convinse.support.errors import ConfigError, DataError
from drawn_pdf import locked_pdf, pdf_of
from refusals import refused
from written import write

MUSEUM = """# Harbour museum

The harbour museum in Lindwick was opened in 1987. Its first director was Marta Kessler, a marine biologist.

## Ships

The museum shows 312 model ships. The largest of them, the Aurelia, is six metres long.
"""
LIBRARY = "Lindwick library\n\nThe public library of Lindwick lends 40,000 books a year and is open on Sundays.\n"
TICKETS = "Ticket,Price,Valid\nAdult,9 euros,one day\nChild,4 euros,one day\nFamily,20 euros,two days\n"


@pytest.fixture
def town(workdir):
    write("town/museum.md", MUSEUM)
    write("town/library.txt", LIBRARY)
    write("town/tickets.csv", TICKETS)
    return Path("town")


def printed_answers(capsys, *questions):
    """The turns of a conversation over the folder."""
    assert main(["ask", "--over", "town", "--json", "--quiet", *questions]) == 0
    return json.loads(capsys.readouterr().out)["questions"]


def test_json_has_the_boxes_of_quotes_on_pages(town, capsys):
    data = pdf_of(["The way.", "# Lighthouse\n\nThe lighthouse is 41 metres high.\n\nIts lamp was made by Ida Brandt."])
    write("town/tour.pdf", data)
    lamp, ships = printed_answers(capsys, "Who made the lamp of the lighthouse?", "How long is the Aurelia?")
    (place, *_) = lamp["pred_answers"][0]["evidences"]
    quotes = [evidence["quote"] for evidence in lamp["top_evidences"]]
    assert answer(lamp) == "Ida Brandt" and quotes[place]["page"] == 2
    _, boxes = find_on_page(data, 2, ["Its lamp was made by Ida Brandt."])
    assert quotes[place]["boxes"] == [[*box] for box in boxes] != []
    assert all(
        "boxes" not in quote
        for number, quote in enumerate(quotes)
        if number not in lamp["pred_answers"][0]["evidences"]
    )
    assert all("boxes" not in evidence["quote"] for evidence in ships["top_evidences"])
    assert main(["ask", "town", "--quiet", "--proof", "proof.json", lamp["question"]]) == 0
    (quote,) = json.loads(Path("proof.json").read_text())["questions"][0]["answers"][0]["quotes"]
    assert quote["boxes"] == quotes[place]["boxes"] and main(["verify", "proof.json"]) == 0


def answer(turn):
    return turn["pred_answers"][0]["answer"]["label"]


def cited(turn):
    return turn["top_evidences"][turn["pred_answers"][0]["evidences"][0]]["citation"]


@pytest.mark.parametrize(
    ("question", "right", "citation"),
    [
        ("Who was the first director of the harbour museum?", "Marta Kessler", {"file": "town/museum.md", "headings": [], "line": 3}),
        ("How long is the Aurelia?", "six metres", {"file": "town/museum.md", "headings": ["Ships"], "line": 7}),
        ("How many books does the library lend?", "40,000", {"file": "town/library.txt", "headings": [], "line": 3}),
        ("How much is a family ticket?", "20 euros", {"file": "town/tickets.csv", "headings": [], "line": 4}),
    ],
)  # fmt: skip
def test_a_question_is_answered_from_a_file_and_cites_it(town, capsys, question, right, citation):
    (turn,) = printed_answers(capsys, question)
    assert (answer(turn), cited(turn)) == (right, citation) and "abstained" not in turn


@pytest.mark.parametrize(
    ("paths", "typed", "shown"),
    [
        (["town"], "", ""),
        (["./town/museum.md"], "", ""),
        (["town/library.txt", "town/museum.md"], "", ""),
        (["town", "--sources", "text"], "", ""),
        (["town"], "How long is the Aurelia?\n", "town: asked about; the questions are read from standard input"),
        (["--over", "town/museum.md", "town"], "", None),  # then all else are questions
    ],
)
def test_paths_that_come_first_are_asked_about(town, capsys, monkeypatch, paths, typed, shown):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert main(["ask", *paths, *([] if typed else ["How long is the Aurelia?"]), "--json"]) == 0
    printed = capsys.readouterr()
    *others, turn = json.loads(printed.out)["questions"]
    assert answer(turn) == "six metres" and len(others) == (shown is None)
    assert (shown or "") in printed.err


@pytest.mark.parametrize("path", ["./missing", "../missing.md", "/missing/file.txt", "~/missing-folder"])
def test_a_path_that_does_not_exist_is_named(workdir, command_error, path):
    assert "No such file or directory; check the name" in command_error("ask", path, "How long is the Aurelia?")


@pytest.mark.parametrize(
    "case", slow_but(cases("file_questions")[:4], cases("file_questions")), ids=itemgetter("question")
)
def test_a_question_over_a_file_has_its_answer(workdir, capsys, case):
    write(case["file"], case["content"])
    questions = case["question"].split(" | ")
    assert main(["ask", "--over", case["file"], "--json", "--quiet", *questions]) == 0
    *_, turn = json.loads(capsys.readouterr().out)["questions"]
    if case["answer"] is None:
        assert "abstained" in turn
    else:
        assert answer(turn) == case["answer"]


def test_an_unchanged_folder_says_nothing(town, capsys):
    def lines(*words):
        assert main(["ask", "town", "How long is the Aurelia?", *words]) == 0
        return capsys.readouterr().err.splitlines()

    first, vectors = lines()
    assert first.startswith("reading documents: 3 of 3 files, ") and first.endswith(", 3 passages, 3 rows")
    assert vectors.startswith("embedding passages: 6 of 6 passages")
    assert lines() == []
    write("town/library.txt", "The library is closed.")
    assert lines()[0].startswith("reading documents: 1 of 1 files, ")


def test_a_folder_is_asked_from_python(town):
    turn = ask("How long is the Aurelia?", over="town")
    assert answer(turn) == "six metres" and cited(turn)["file"] == "town/museum.md"
    with Pipeline("lexical.yml", over=[Path("town/tickets.csv"), "town/library.txt"]) as pipeline:
        assert answer(pipeline.ask(["What does a Family ticket cost?"])["questions"][0]).startswith("20")
        assert is_document_item(pipeline.resources.documents.items()[0])
    refused(DataError, lambda: ask("Who?", over="twon"), "twon: cannot be read", "did you mean 'town'?")
    refused(ConfigError, lambda: ask("Who?", over=[]), "over: it names no file")


def test_a_folder_that_may_not_be_read_is_told(town, monkeypatch):
    def refuse(path, *_):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    for name in ("iterdir", "open"):
        monkeypatch.setattr(Path, name, refuse)
    for path in (town, town / "museum.md"):
        refused(
            DataError, lambda path=path: find_files([path]), f"{path}: cannot be read", "ask its owner for the right"
        )


def test_a_conversation_keeps_its_topic_and_leaves_it(town, capsys):
    turns = printed_answers(
        capsys,
        "Who was the first director of the harbour museum?",
        "When was it opened?",
        "How much is a family ticket?",
    )
    assert [answer(turn) for turn in turns] == ["Marta Kessler", "1987", "20 euros"]
    assert turns[1]["resolved_question"] == "When was Harbour museum opened?"
    assert turns[2]["resolved_question"] == turns[2]["question"]


def test_nothing_but_the_files_answers(town, capsys):
    turns = printed_answers(capsys, "Who directed the film Titanic?", "Who wrote requests?")
    assert [turn["abstained"]["reason"] for turn in turns] == [
        "nothing is known of 'Titanic'; not in your files: 3 read; nearest: town/museum.md, line 3",
        "no evidence has a word of the question; not in your files: 3 read; nearest: town/tickets.csv, line 4",
    ]
    assert all("citation" in evidence for turn in turns for evidence in turn["top_evidences"])


def test_that_an_answer_is_not_there_is_an_answer(town, capsys):
    write("town/scan.pdf", pdf_of([""]))
    write("town/locked.pdf", locked_pdf())
    write("town/photo.png", b"x")
    write("town/broken.json", "{")
    question = "Who directed the film Titanic?"
    (turn,) = printed_answers(capsys, question)
    counts = "3 read, 4 skipped (1 locked, 1 of a kind that is not read, 1 scan, 1 that cannot be read)"
    reason = f"nothing is known of 'Titanic'; not in your files: {counts}; nearest: town/museum.md, line 3"
    assert turn["abstained"] == {"reason": reason} and turn["sentence"] == f"I do not know: {reason}."
    assert main(["ask", "town", question, "--quiet"]) == 0
    assert f"not known: {reason}; at best" in capsys.readouterr().out
    assert main(["ask", "town", "--with-kb", "--json", "--quiet", question]) == 0
    assert "your files" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("the evidences do not say", "not in your files: 3 read; nearest: town/museum.md, line 3"),
        ("nothing was found about 'X'", "nothing was found about 'X'; not in your files: 3 read; nearest: town/museum.md, line 3"),
        ("the evidences disagree: X or Y", None),
        ("the question seems to be German; only English is understood", None),
        ("not all could be looked up (no network)", None),
    ],
)  # fmt: skip
def test_an_answer_is_not_there_for_some_reasons(pipeline, reason, text):
    turn = pipeline.session("text").ask("Who was the first director of the harbour museum?")
    turn["abstained"] = {"reason": reason}
    assert not_in_files(turn, pipeline.resources) == text


def test_an_index_is_made_and_updated(town, capsys):
    write("town/broken.json", "{")
    for expected in (("added", "3"), ("unchanged", "4")):
        assert main(["index", "town", "--output", "made", "--quiet"]) == 0
        rows = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert ["│", *expected[:1], "│", *expected[1:], "│"] in rows
    assert main(["ask", "--over", "town", "How long is the Aurelia?"]) == 0
    printed = capsys.readouterr()
    assert "town/broken.json: is not JSON (Input data was truncated)" in printed.err.splitlines()
    lines = printed.out.splitlines()
    assert next(line for line in lines if line.startswith("  1.")).split("  ")[1] == "1. six metres"
    assert any(line.endswith("is six metres long.  (town/museum.md, Ships, line 7)") for line in lines)
    assert main(["ask", "--over", "made", "--quiet", "How long is the Aurelia?"]) == 0
    assert "1. six metres" in capsys.readouterr().out


@pytest.fixture
def pipeline(town):
    update(Path("index"), [town], None)
    with Pipeline(
        load_config("lexical.yml", kb_path="none", ers_wikipedia_dump=None, ers_documents="index", ers_use_cache=False)
    ) as opened:
        yield opened


def test_a_running_pipeline_answers_from_the_changed_files(town, pipeline):
    session = pipeline.session("text")
    assert "312" in str(session.ask("How many model ships does the museum show?")["top_evidences"][0])
    write("town/museum.md", MUSEUM.replace("312", "313"))
    update(Path("index"), [town], None)
    assert "313" in str(session.ask("How many model ships does the museum show?")["top_evidences"][0])


def test_a_chat_opens_the_passage_of_an_answer_in_its_file(pipeline, capsys):
    chat = Chat(pipeline, ("text",))
    for line in ("How many model ships does the museum show?", "/open"):
        chat.take(line)
    assert capsys.readouterr().out.splitlines()[-4:] == [
        "town/museum.md",
        "      line 3  The harbour museum in Lindwick was opened in 1987. Its first director was Marta Kessler, a marine biologist.",
        "  Ships",
        ">     line 7  The museum shows »312« model ships. The largest of them, the Aurelia, is six metres long.",
    ]


def test_answers_are_proven_and_asked_again(town, capsys):
    questions = ("How long is the Aurelia?", "When was the harbour museum opened?", "Who directed the film Titanic?")
    for words, error in (
        (["--proof", "proof.json", "Who?"], "convinse: --proof belongs to --over PATH; give that, too\n"),
        (["--over", "town", "--proof", "town/museum.md", "Who?"],
         "convinse: town/museum.md: is there already and is not a proof; name another file\n"),
    ):  # fmt: skip
        assert main(["ask", *words]) == 1
        assert capsys.readouterr().err == error
    assert main(["ask", "--over", "town", "--quiet", "--proof", "proof.json", *questions]) == 0
    write("town/museum.md", MUSEUM.replace("1987", "1986"))
    capsys.readouterr()
    assert main(["verify", "proof.json", "--ask", "--quiet"]) == 1
    printed = capsys.readouterr()
    aurelia, opened, titanic, *again = printed.out.splitlines()
    assert aurelia.endswith(" town/museum.md, Ships, line 7: stands, the file has changed elsewhere")
    assert opened.startswith(
        'When was the harbour museum opened?: 1987: "The harbour museum in Lindwick was opened in 1987.'
    )
    assert titanic.startswith("Who directed the film Titanic?: not known: nothing is known of 'Titanic'")
    assert again == [
        "How long is the Aurelia?: still six metres (town/museum.md, Ships, line 7)",
        "When was the harbour museum opened?: was 1987 (town/museum.md, line 3), now 1986 (town/museum.md, line 3)",
        "Who directed the film Titanic?: still not known",
    ]
    assert printed.err == "convinse: proof.json: 1 of 2 quotes do not stand, 1 of 3 answers changed\n"


def test_a_saved_conversation_is_verified_and_left_out_of_its_folder(town, pipeline, capsys):
    chat = Chat(pipeline, ("text",), over=[town.resolve()])
    for line in ("How many model ships does the museum show?", "thanks", "/save town/talk.json"):
        chat.take(line)
    capsys.readouterr()
    assert main(["verify", "town/talk.json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith(" museum.md, Ships, line 7: stands")
    assert main(["files", "town", "--quiet"]) == 0
    assert "talk.json" not in capsys.readouterr().out


def test_questions_to_begin_with_come_from_the_files(town, pipeline):
    write("town/keys.csv", "Key,what it does\nF1 key,opens the help\n")  # which suggests none
    update(Path("index"), [town], None)
    with closing(DocumentIndex(Path("index"))) as index:
        assert suggested(index, 6) == [
            (
                "tickets",
                [
                    "What is the price of the Adult ticket?",
                    "What is the price of the Child ticket?",
                    "What is the price of the Family ticket?",
                ],
            )
        ]
    assert [title for title, _ in examples_of(pipeline.resources)] == ["tickets"]


def test_examples_of_the_embedded_data_are_not_shown_to_others(workdir):
    with Pipeline(load_config("lexical.yml", kb_path="none", ers_wikipedia_dump=None, ers_use_cache=False)) as pipeline:
        assert examples_of(pipeline.resources) == []
        assert pipeline.ask(["Who directed Titanic?"])["questions"][0]["top_evidences"] == []


def test_an_empty_cell_is_not_known_and_a_number_like_a_year_is_a_count(workdir, capsys):
    write("town/stations.csv", "station,min,max,pupils\nAlda,-7,31,1950\nBrek,n/a,28,870\nCorn,-4,,2048\n")
    questions = ("What is the min of Brek?", "What is the max of Corn?", "What is the max of Alda?", "How many pupils does Alda have?")  # fmt: skip
    turns = printed_answers(capsys, *questions)
    assert ["abstained" in turn for turn in turns] == [True, True, False, False]
    assert [answer(turn) for turn in turns[2:]] == ["31", "1950"]


def test_files_are_listed_and_what_is_left_out_is_said_in_one_line(town, capsys):
    write("town/broken.json", "{")
    write("town/song.mp3", b"x")
    assert main(["files", "town", "--quiet"]) == 0
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert ["town/museum.md", "Harbour museum: 2 passages", ""] in rows and [
        "town/tickets.csv",
        "tickets: 3 rows",
        "",
    ] in rows
    assert ["of kinds that are not read", "1"] in rows
    assert main(["ask", "--over", "town", "How long is the Aurelia?"]) == 0
    expected = f"3 files are read; not read: 1 that cannot be read, 1 of a kind that is not read ({program()} files town lists them)"
    assert expected in capsys.readouterr().err.splitlines()


def test_yes_and_no_are_said_with_the_words_of_the_file(town, capsys):
    assert main(["ask", "town", "Is the public library of Lindwick open on Sundays?", "--quiet"]) == 0
    assert (
        "Yes: “The public library of Lindwick lends 40,000 books a year and is open on Sundays.” [1]."
        in capsys.readouterr().out
    )


def test_the_sentence_that_decides_on_yes_or_no_is_marked(town, capsys):
    (turn,) = printed_answers(capsys, "Was its first director a marine biologist?")
    (answer, _) = turn["pred_answers"]
    quote = turn["top_evidences"][answer["evidences"][0]]["quote"]
    said = [quote["words"][span["start"] : span["end"]] for span in quote["spans"]]
    assert (answer["answer"]["label"], said) == ("Yes", ["Its first director was Marta Kessler, a marine biologist."])
