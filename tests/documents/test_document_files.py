"""Which files of folders are read, and what is said of the others."""

import os
from pathlib import Path

import pytest

from convinse.documents import files
from convinse.documents.files import find_files
from convinse.support.errors import DataError
from written import write


def found(*paths):
    return [file.name for file in find_files([Path(path) for path in paths]).files]


def test_ignored_hidden_and_other_files_are_left_out_and_counted(workdir):
    for name in ("a.md", "b/c.txt", "b/keep.txt", "b/build/x.md", ".git/y.md", ".z.md", "d.png", "e.tmp.md"):
        write(f"top/{name}", "text")
    write("top/.gitignore", "build/\n*.tmp.md\n")
    write("top/b/.gitignore", "c.*\n")
    Path("top/b/loop").symlink_to(workdir / "top")
    Path("top/b/broken.md").symlink_to("nowhere.md")
    os.mkfifo("top/pipe.md")
    assert found("top") == ["top/a.md", "top/b/keep.txt"]
    assert find_files([Path("top")]).left_out == {
        "folders that are hidden, ignored or links": 3,
        "that are hidden or ignored": 5,
        "of kinds that are not read": 1,
        "that are not files": 2,
    }


def test_files_are_named_from_the_folder_of_the_path():
    write("one/a.md", "x")
    write("two/one/a.md", "x")
    assert found("one/a.md") == ["a.md"]
    assert found("one", "two") == ["one/a.md", "two/one/a.md"]
    assert find_files([Path("one"), Path("two/one")]).left_out == {"of the same name as another": 1}


def test_files_that_are_too_large_are_left_out(monkeypatch):
    monkeypatch.setattr(files, "LARGEST_DOCUMENT", 3)
    write("t/a.md", "1234")
    write("t/b.md", "123")
    assert (found("t"), find_files([Path("t")]).left_out) == (["t/b.md"], {"that are too large": 1})


def test_more_files_than_an_index_takes_are_refused(monkeypatch):
    monkeypatch.setattr(files, "MOST_DOCUMENTS", 1)
    write("t/a.md", "x")
    write("t/b.md", "x")
    with pytest.raises(DataError, match="more than 1 files"):
        found("t")
