"""Files that come, change and go while their index is asked, and words that are asked before there are vectors."""

import hashlib
import logging
import sqlite3
import sys
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from convinse import Pipeline, load_config
from convinse.cli import main
from convinse.documents.index import FILE, DocumentIndex
from convinse.documents.update import update
from convinse.documents.vectors import add_vectors
from convinse.documents.watcher import Watcher
from convinse.serving.api import create_app
from convinse.wikipedia.stored_pages import search_words
from evidences import LETTERS
from loopback import served
from patience import BUSY
from services import begun, turn_of
from written import write

INDEX = Path("index")
SHIPS = "# Harbour museum\n\nThe museum shows 312 model ships.\n"
BELLS = "# Lindwick bells\n\nThe bell tower of Lindwick has 27 bells.\n"
HOW_MANY_SHIPS = "How many model ships does the museum show?"


def built(words_first=False, folder=INDEX, **options):
    return update(folder, [Path("town")], LETTERS, words_first=words_first, **options)


@contextmanager
def watching():
    with Watcher(INDEX, [Path("town")], LETTERS):
        yield


def comes(condition):
    """Whether something becomes true, which it does within two seconds on a quiet machine."""
    end = time.monotonic() + BUSY
    while not (is_true := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return is_true


def indexed(folder=INDEX):
    with closing(DocumentIndex(folder)) as index:
        return {file.name for file in index.files()}


def found(text):
    with closing(DocumentIndex(INDEX)) as index:
        return len(index.search(search_words(text), 50)), len(index.nearest(LETTERS.embed([text])[0], 50))


@pytest.fixture
def town(workdir):
    write("town/museum.md", SHIPS)
    built()
    return Path("town")


@pytest.fixture
def pipeline(town):
    with Pipeline(
        load_config("lexical.yml", kb_path="none", ers_wikipedia_dump=None, ers_documents="index", ers_use_cache=False)
    ) as opened:
        yield opened


def cited(turn):
    return {evidence["citation"]["file"]: evidence["evidence_text"] for evidence in turn["top_evidences"]}


def test_files_that_come_change_and_go_are_seen_in_a_conversation(pipeline):
    session = pipeline.session("text")
    with watching():
        assert "312" in str(cited(session.ask(HOW_MANY_SHIPS)))
        write("town/museum.md", SHIPS.replace("312", "313"))
        assert comes(lambda: "313" in str(cited(session.ask(HOW_MANY_SHIPS))))
        write("town/deep/bells.md", BELLS)
        assert comes(
            lambda: "town/deep/bells.md" in cited(session.ask("How many bells has the bell tower of Lindwick?"))
        )
        Path("town/museum.md").unlink()
        assert comes(lambda: "town/museum.md" not in cited(session.ask(HOW_MANY_SHIPS)))
        Path("town/deep/bells.md").unlink()  # the last one
        assert comes(lambda: not cited(session.ask("How many bells has the bell tower of Lindwick?")))
        write("town/museum.md", SHIPS)
        assert comes(lambda: "312" in str(cited(session.ask(HOW_MANY_SHIPS))))


def test_files_that_come_are_seen_by_a_service(pipeline):
    with watching(), served(create_app(pipeline)) as port:
        path = begun(port)
        assert "312" in str(cited(turn_of(port, path, HOW_MANY_SHIPS)))
        write("town/museum.md", SHIPS.replace("312", "313"))
        assert comes(lambda: "313" in str(cited(turn_of(port, path, HOW_MANY_SHIPS))))


def test_a_chat_answers_from_a_file_that_comes_meanwhile(workdir, monkeypatch, capsys):
    write("town/museum.md", SHIPS)

    class Typed:
        """Lines of which the second is typed when a file that came meanwhile is in the index."""

        lines = ("How many bells has the bell tower of Lindwick?\n",) * 2

        def isatty(self):
            return False

        def readline(self, limit=-1):
            if len(self.lines) == 1:
                write("town/bells.md", BELLS)
                (index,) = Path(f"{workdir}.cache").glob("convinse/documents/*")
                assert comes(lambda: "town/bells.md" in indexed(index))
            line, self.lines = self.lines[:1], self.lines[1:]
            return "".join(line)

    monkeypatch.setattr(sys, "stdin", Typed())
    assert main(["chat", "--over", "town", "--quiet"]) == 0
    before, after = capsys.readouterr().out.split("\n", 1)
    assert "27" not in before and "27" in after


def test_nothing_of_a_removed_file_is_left_in_the_index(town):
    secret = "# Zebrafinch quagmire\n\nThe xylophonist Jørnquist owes 7719 kumquats.\n\n"
    for number in range(120):
        words = "\n\n".join(hashlib.sha256(f"{number} {n}".encode()).hexdigest() for n in range(40))
        write(f"town/{number}.md", f"{secret if number in (3, 17) else ''}{words}\n")
    built()
    with closing(sqlite3.connect(INDEX / FILE)) as stored:
        names = "SELECT page FROM file WHERE name IN ('town/3.md', 'town/17.md')"
        blobs = [
            value
            for statement in (
                f"SELECT evidences FROM page WHERE rowid IN ({names})",
                f"SELECT numbers FROM vectors WHERE page IN ({names})",
                f"SELECT names FROM named WHERE page IN ({names})",
                "SELECT sha256 FROM file WHERE name IN ('town/3.md', 'town/17.md')",
            )
            for (value,) in stored.execute(statement)
        ]
    pieces = {search_words(word)[0].encode() for word in "zebrafinch quagmire xylophonist kumquats".split()}
    for blob in blobs:
        data = blob.encode() if isinstance(blob, str) else blob
        pieces |= {data[start : start + 24] for start in range(0, len(data), 24) if len(data) >= start + 24}
    stored_bytes = (INDEX / FILE).read_bytes()
    assert len(pieces) > 200 and sum(piece in stored_bytes for piece in pieces) > 200
    with watching():
        Path("town/3.md").unlink()
        write("town/17.md", "# Note\n\nNothing.\n")
        assert comes(lambda: "town/3.md" not in indexed() and not found("quagmire")[0])
    left = b"".join(path.read_bytes() for path in INDEX.rglob("*"))
    assert [piece for piece in pieces if piece in left] == []
    with closing(DocumentIndex(INDEX)) as index:
        index.verify()


def test_a_file_that_is_being_written_stays_as_it_was(town):
    write("town/done.md", BELLS)
    longest, seen, last = 0.0, 0, time.monotonic()
    with watching():
        for number in range(40):
            with Path("town/museum.md").open("a") as file:
                file.write(f"\nLine {number} of a file that grows.\n")
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
            time.sleep(0.05)
            seen += found("grows")[0]
        assert not seen or longest > 0.4  # a busy machine let the file rest for as long as between two looks
        assert comes(lambda: found("grows")[0] == 40) and "town/done.md" in indexed()


def test_what_fails_is_one_line_and_the_others_go_on(town, caplog):
    with caplog.at_level(logging.WARNING), watching():
        write("town/broken.json", "{")
        write("town/bells.md", BELLS)
        assert comes(lambda: {"town/broken.json", "town/bells.md"} <= indexed())
        town.rename("away")
        assert comes(lambda: "town: cannot be read" in caplog.text)
        Path("away").rename(town)
        write("town/more.md", "# More\n\nMore of all.\n")
        assert comes(lambda: "town/more.md" in indexed())
    lines = [record.getMessage() for record in caplog.records]
    assert [line.split(": ")[:2] for line in lines] == [
        ["town/broken.json", lines[0].split(": ")[1]],
        ["town", "cannot be read"],
    ]
    assert lines[1].endswith("; answers are from the files as they were read before")
    assert not [thread for thread in threading.enumerate() if thread.name == "watcher"]


def test_a_turn_reads_a_single_state(town):
    with closing(DocumentIndex(INDEX)) as index:
        with index.unchanging():
            write("town/museum.md", SHIPS.replace("ships", "boats"))
            changing = threading.Thread(target=built)
            changing.start()
            changing.join(0.5)
            assert changing.is_alive() and index.search(search_words("ships"), 9) and not index.has_changed
        changing.join(BUSY)
        assert index.has_changed and not index.search(search_words("ships"), 9)


def test_words_are_asked_first_and_with_all_vectors_it_is_an_index_that_was_built_at_once(town):
    for number in range(3):
        write(f"town/{number}.md", f"# Notes {number}\n\n" + "\n\n".join(f"Boat {n} of {number}." for n in range(400)))
    done = built(words_first=True)
    assert (done.added, done.without_vectors) == (3, 1200)
    assert found("boat") == (50, 1)  # the museum has its vector
    builds = set()
    for is_stopped in (True, False, False):
        with closing(DocumentIndex(INDEX)) as index:
            builds.add(index.build_id)
            missing = sum(document.evidences for document in index.without_vectors)
            vectors, is_stored = index.vectors(["Boat 3 of 2."])
            assert missing in (1200, 400, 0) and (is_stored.any() or not vectors.any())
        add_vectors(INDEX, LETTERS, is_stopped=lambda is_stopped=is_stopped: is_stopped)
    assert missing == 0 and len(builds) == 3
    built(folder=Path("anew"))
    states = []
    for folder in (INDEX, Path("anew")):
        with closing(DocumentIndex(folder)) as index:
            index.verify()
            nearest = index.nearest(LETTERS.embed(["boat 7"])[0], 50)
            states.append((index.build_id, index.counts, nearest, index.stored_vectors.levels.tobytes()))
    assert states[0] == states[1]


@pytest.mark.parametrize(("most", "is_complete"), [(0, False), (2, True)])
def test_a_single_question_waits_for_the_vectors_of_few_passages(workdir, monkeypatch, capsys, most, is_complete):
    write("town/bells.md", BELLS)
    write("town/museum.md", SHIPS)
    monkeypatch.setattr("convinse.documents.over.MOST_WAITED_FOR", most)
    assert main(["ask", "--over", "town", "How many bells has the bell tower of Lindwick?"]) == 0
    printed = capsys.readouterr()
    assert "  1. 27 " in printed.out
    line = "2 passages have no vectors yet, and only their words are searched; convinse index town --output DIR makes"
    assert (line in printed.err) is not is_complete
    (folder,) = Path(f"{workdir}.cache").glob("convinse/documents/*")
    with closing(DocumentIndex(folder)) as index:
        assert (not index.without_vectors) is is_complete


def test_a_watcher_makes_the_vectors_that_are_missing(town):
    write("town/bells.md", BELLS)
    built(words_first=True)
    assert found("bells") == (1, 1)
    with watching():
        assert comes(lambda: found("bells") == (1, 2))


def test_names_are_read_once_while_vectors_come(town, pipeline):
    write("town/bells.md", BELLS)
    built(words_first=True)
    session, opened = pipeline.session("text"), []
    for change in (
        lambda: add_vectors(INDEX, LETTERS),
        lambda: write("town/bells.md", SHIPS) and built(),
        lambda: None,
    ):
        session.ask(HOW_MANY_SHIPS)
        opened.append(pipeline.resources.documents.names)
        change()
    assert opened[0] is opened[1] is not opened[2]


def test_vectors_of_a_document_that_changed_meanwhile_are_not_stored(town):
    write("town/bells.md", BELLS)
    built(words_first=True)

    def change(texts):
        write("town/bells.md", BELLS.replace("27", "28"))
        built(words_first=True)
        return LETTERS.embed(texts)

    add_vectors(INDEX, LETTERS._replace(embed=change))
    assert found("bells") == (1, 1)
    add_vectors(INDEX, LETTERS)
    assert found("bells") == (1, 2)
