"""Which files of folders are read, and what is said of the others."""

import os
from pathlib import Path

import pytest

from convinse.documents import files
from convinse.documents.files import counted_reason, find_files
from convinse.support.errors import DataError
from written import write


def names_in(*paths):
    return [file.name for file in find_files([Path(path) for path in paths])[0]]


def test_ignored_hidden_and_other_files_are_left_out_and_counted(workdir):
    for name in ("a.md", "b/c.txt", "b/keep.txt", "b/build/x.md", ".git/y.md", ".z.md", "d.png", "e.tmp.md"):
        write(f"top/{name}", "text")
    write("top/.gitignore", "build/\n*.tmp.md\n")
    write("top/b/.gitignore", "c.*\n")
    Path("top/b/loop").symlink_to(workdir / "top")
    Path("top/b/broken.md").symlink_to("nowhere.md")
    os.mkfifo("top/pipe.md")
    assert names_in("top") == ["top/a.md", "top/b/keep.txt"]
    assert find_files([Path("top")])[1] == {
        "folders that are hidden, ignored or links": 3,
        "that are hidden or ignored": 5,
        "of kinds that are not read": 1,
        "that are not files": 2,
    }


def test_files_are_named_from_the_folder_of_the_path(workdir):
    write("one/a.md", "x")
    write("two/one/a.md", "x")
    assert names_in("one/a.md") == ["a.md"]
    assert names_in("one", "two") == ["one/a.md", "two/one/a.md"]
    assert names_in("one", "two/one") == ["two/one/a.md", f"{Path.cwd().name}/one/a.md"]
    assert names_in("one", "one") == ["one/a.md"]


def test_what_is_left_out_is_counted_in_words():
    assert counted_reason(1, "folders that cannot be opened") == "1 folder that cannot be opened"
    assert counted_reason(1, "of kinds that are not read") == "1 of a kind that is not read"
    assert counted_reason(1_200, "that are too large") == "1,200 that are too large"


def test_limits_of_files(monkeypatch):
    write("t/a.md", "1234")
    write("t/b.md", "123")
    monkeypatch.setattr(files, "MOST_DOCUMENTS", 1)
    with pytest.raises(DataError, match="more than 1 files"):
        names_in("t")
    monkeypatch.setattr(files, "LARGEST_DOCUMENT", 3)
    assert (names_in("t"), find_files([Path("t")])[1]) == (["t/b.md"], {"that are too large": 1})
