"""The index of documents: changed in place, it is as if it had been built anew."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convinse.documents.index import FILE, DocumentIndex
from convinse.documents.update import update
from convinse.support.errors import DataError, IndexFileError, OutputError
from convinse.wikipedia.stored_pages import search_words
from evidences import LETTERS
from refusals import refused
from written import names, write


def built(*paths, folder="index", embedding=LETTERS):
    return update(Path(folder), [Path(path) for path in paths], embedding)


def state(folder="index"):
    """All that an index answers with."""
    with closing(DocumentIndex(Path(folder))) as index:
        found = [index.search(search_words(text), 50) for text in ("boat harbour", "ida", "red")]
        nearest = [index.nearest(LETTERS.embed([text])[0], 50) for text in ("boat harbour", "ida")]
        named = {word: index.names.candidates(word) for word in ("notes", "boat", "ida", "log")}
        evidences = {item: index.get(item) for item in index.items()}
        return nearest, found, named, evidences, index.build_id, index.counts, index.files()


def test_new_changed_and_removed_files(workdir):
    write("t/a.md", "# Boat\n\nThe boat is red.\n")
    write("t/b.md", "# Log\n\nIda was here.\n")
    done = built("t")
    assert (done.added, done.changed, done.removed, done.unchanged) == (2, 0, 0, 0)
    assert built("t")[:4] == (0, 0, 0, 2)
    os.utime("t/a.md", (1, 1))
    assert built("t")[:4] == (0, 0, 0, 2)  # the same content
    write("t/a.md", "# Boat\n\nThe boat is blue.\n")
    Path("t/b.md").rename("t/c.md")
    assert built("t")[:4] == (1, 1, 1, 0)
    with closing(DocumentIndex(Path("index"))) as index:
        assert [(file.name, file.title, file.fault) for file in index.files()] == [
            ("t/a.md", "Boat", ""),
            ("t/c.md", "Log", ""),
        ]
        assert index.search(search_words("red"), 9) == [] and len(index.search(search_words("blue"), 9)) == 1
        assert index.counts == {"pages": 2, "text": 2}


NAMES = st.sampled_from(["a.md", "b.txt", "sub/c.csv", "d.json"])
CONTENTS = [
    "# Boat\n\nThe boat is red.\n",
    "name,age\nIda,31\nPer,8\n",
    '{"log": "harbour"}',
    "Notes\n\nIda likes boats. " * 30,
    "\x00",
]


@settings(max_examples=25)
@given(
    changes=st.lists(
        st.lists(st.tuples(NAMES, st.none() | st.sampled_from(CONTENTS)), max_size=3), min_size=1, max_size=4
    )
)
def test_an_index_that_was_changed_is_one_that_was_built_anew(tmp_path_factory, changes):
    os.chdir(tmp_path_factory.mktemp("law"))
    write("t/always.md", "# Always\n\nThe harbour.\n")
    for turn, change in enumerate(changes):
        for name, text in change:
            path = Path("t", name)
            if text is None:
                path.unlink(missing_ok=True)
            else:
                os.utime(write(path, text), (turn, turn))
        built("t")
    built("t", folder="anew")
    assert state() == state("anew")


def test_the_faults_of_files_are_reported_each_time(workdir):
    write("t/a.md", "# Boat\n\nThe boat is red.\n")
    write("t/b.json", "{")
    for _ in range(2):
        faults = built("t").faults
        assert list(faults) == ["t/b.json"] and faults["t/b.json"].startswith("is not JSON")
    write("t/b.json", '{"a": 1}')
    assert built("t").faults == {}


def test_without_a_file_that_can_be_read_there_is_no_index(workdir):
    write("t/b.json", "{")
    write("t/c.png", b"x")
    with pytest.raises(DataError, match="t: no file can be read .*b.json: is not JSON.*1 of a kind that is not read"):
        built("t")
    assert names("index") == []


def test_another_model_reads_all_files_again(workdir):
    write("t/a.md", "# Boat\n\nThe boat is red.\n")
    built("t", embedding=None)
    assert built("t").added == 1
    assert state()[0][0] != []


def test_a_second_writer_is_refused(workdir, monkeypatch):
    write("t/a.md", "# Boat\n\nThe boat is red.\n")
    built("t")
    monkeypatch.setattr("convinse.wikipedia.stored_pages.WAIT", 0.1)
    with closing(sqlite3.connect(Path("index", FILE))) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OutputError, match="index: cannot be written: another process is changing it; wait for it"):
            built("t")
    assert built("t").unchanged == 1


def test_another_file_is_not_an_index(workdir):
    write(f"index/{FILE}", b"no database" * 500)
    refused(IndexFileError, lambda: DocumentIndex(Path("index")), "index")
    refused(
        IndexFileError, lambda: DocumentIndex(Path("none")), "none: no index of documents; make it with convinse index"
    )
