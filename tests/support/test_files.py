import hashlib
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from convinse.support import files
from convinse.support.errors import IndexFileError, OutputError
from convinse.support.exchange import exchange
from convinse.support.files import recover, replacing, sha256
from convinse.support.manifest import Manifest, read_manifest
from written import write


def test_what_is_written_takes_the_place_of_the_path(workdir):
    path = workdir / "deep" / "out.json"
    for text in ("first", "second"):
        with replacing(path) as temporary:
            temporary.write_text(text)
            assert temporary.parent == path.parent  # another file system could not rename it
        assert path.read_text() == text
        assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("inside", ["", "file"])
@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt])
def test_a_block_that_fails_keeps_the_older_file_or_folder_and_leaves_nothing(workdir, problem, inside):
    path = workdir / "out"
    write(path / inside, "older")
    with pytest.raises(problem), replacing(path) as temporary:
        write(temporary / inside, "half")
        assert (path / inside).read_text() == "older"
        raise problem
    assert (path / inside).read_text() == "older"
    assert list(workdir.iterdir()) == [path] and len(list(path.rglob("*"))) == bool(inside)


def test_a_full_disk_is_an_output_error_and_keeps_the_older_file(workdir):
    path = workdir / "out.json"
    path.write_text("older")
    with (
        pytest.raises(OutputError, match="out.json: cannot be written: No space left on device"),
        replacing(path) as temporary,
    ):
        temporary.write_text("half")
        with Path("/dev/full").open("wb", buffering=0) as full:
            full.write(b"x")
    assert path.read_text() == "older"
    assert list(workdir.iterdir()) == [path]


@pytest.mark.parametrize(
    ("text", "told"),
    [("Error while serializing: I/O error: File too large (os error 27)", "File too large"), ("no number", None)],
)
def test_what_a_library_tells_of_a_full_disk_is_an_output_error_and_all_else_its_own(workdir, text, told):
    class LibraryError(Exception):
        pass

    with pytest.raises(OutputError if told else LibraryError, match=told or text), replacing(workdir / "out"):
        raise LibraryError(text)
    assert list(workdir.iterdir()) == []


def test_a_folder_replaces_a_folder(workdir):
    path = workdir / "index"
    for name in ("one", "two"):
        with replacing(path) as temporary:
            temporary.mkdir()
            (temporary / name).write_text(name)
        assert [file.name for file in path.iterdir()] == [name]
    assert list(workdir.iterdir()) == [path]


@pytest.mark.parametrize("folder", [False, True])
def test_a_block_that_writes_nothing_keeps_the_older_one(workdir, folder):
    path = workdir / "out"
    if folder:
        path.mkdir()
        (path / "older").touch()
    else:
        path.touch()
    with pytest.raises(OutputError), replacing(path):
        pass
    assert path.is_dir() == folder
    assert not folder or (path / "older").exists()


def test_a_place_below_a_file_is_an_output_error(workdir):
    (workdir / "file").write_text("x")
    with pytest.raises(OutputError, match="file/out.json"), replacing(workdir / "file" / "out.json"):
        pytest.fail("there is nowhere to write to")
    assert (workdir / "file").read_text() == "x"


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_sha256(workdir, size):
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    path = workdir / "data"
    path.write_bytes(content)
    assert sha256(path) == hashlib.sha256(content).hexdigest()


def test_a_file_that_is_written_again_at_once_has_another_sha256(workdir):
    path = workdir / "data"
    for content in (b"first", b"other"):  # of one size, perhaps within one tick of the file system's clock
        path.write_bytes(content)
        assert sha256(path) == hashlib.sha256(content).hexdigest()


def test_a_file_that_has_settled_is_read_once_until_it_changes(workdir, monkeypatch):
    path, now = workdir / "data", time.time
    monkeypatch.setattr(time, "time", lambda: now() + 3600)
    path.write_bytes(b"first")
    expected = sha256(path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", lambda *_: pytest.fail("it was read again"))
        assert sha256(path) == expected
    time.sleep(0.05)  # the clock of a file system may tick every hundredth of a second
    path.write_bytes(b"other")
    assert sha256(path) == hashlib.sha256(b"other").hexdigest()


KILLED = """
import os, signal, sys
from pathlib import Path
from convinse.support import files
from convinse.support.files import replacing
target, when = Path(sys.argv[1]), sys.argv[2]
rename = Path.rename
def then_killed(path, to):
    rename(path, to)
    os.kill(os.getpid(), signal.SIGKILL)
if when == "between two renames":  # where folders cannot change places
    files.exchange, Path.rename = lambda *_: False, then_killed
with replacing(target) as temporary:
    temporary.mkdir()
    (temporary / "half").write_text("half")
    if when == "at work":
        os.kill(os.getpid(), signal.SIGKILL)
"""
WRITER = """
import sys, time
from pathlib import Path
from convinse.support import files
if sys.argv[2] == "put aside":
    files.exchange = lambda *_: False
print("ready", flush=True)
input()
for number in range(60):
    with files.replacing(Path(sys.argv[1])) as temporary:
        temporary.mkdir()
        (temporary / "file").write_text("whole")
"""


def killed(start, target, when):
    process = start(KILLED, target, when)
    assert process.wait(timeout=30) == -signal.SIGKILL


def test_what_a_killed_writer_left_is_removed_by_the_next_and_what_a_living_one_writes_is_not(workdir, start):
    target = workdir / "index"
    with replacing(target) as mine:
        mine.mkdir()
        killed(start, target, "at work")
        assert len(list(workdir.glob(".index.*.tmp"))) == 2
        with replacing(target) as temporary:
            temporary.mkdir()
        assert list(workdir.glob("*.tmp")) == [mine] and len(list(workdir.glob("*.claim"))) == 1
        (mine / "mine").touch()
    assert list(workdir.iterdir()) == [target] and (target / "mine").exists()


@pytest.mark.parametrize("comes_back", [recover, lambda path: read_manifest(path, Manifest, 1, "", "{}")])
def test_a_folder_that_a_killed_writer_had_put_aside_comes_back_for_readers(workdir, start, comes_back):
    target = workdir / "index"
    write(target / "kept", "kept")
    killed(start, target, "between two renames")
    assert not target.exists()
    with suppress(IndexFileError):  # there is no manifest
        comes_back(target)
    assert [(file.name, file.read_text()) for file in target.iterdir()] == [("kept", "kept")]
    assert list(workdir.iterdir()) == [target]


def test_a_folder_that_a_killed_writer_had_put_aside_comes_back_for_writers(workdir, start):
    target = workdir / "index"
    write(target / "kept", "kept")
    killed(start, target, "between two renames")
    with pytest.raises(ZeroDivisionError), replacing(target):
        1 / 0  # noqa: B018
    assert (target / "kept").read_text() == "kept"


@pytest.mark.parametrize("how", ["exchanged", "put aside"])
def test_of_several_writers_the_last_counts_and_none_fails(workdir, start_together, how):
    target = workdir / "index"
    for process in start_together(WRITER, *[(target, how)] * 3):
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    assert list(workdir.iterdir()) == [target] and (target / "file").read_text() == "whole"


def test_threads_of_one_process_do_not_share_a_temporary_path(workdir):
    target = workdir / "out"
    with replacing(target) as first, replacing(target) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert target.read_text() == "first"  # its block ends last


@pytest.mark.parametrize("how", ["exchanged", "put aside"])
def test_a_folder_is_there_at_every_moment_where_folders_can_change_places(workdir, monkeypatch, how):
    seen, replace = [], Path.replace
    target = workdir / "index"
    target.mkdir()
    monkeypatch.setattr(Path, "replace", lambda path, to: (seen.append(target.exists()), replace(path, to)))
    if how == "put aside":
        monkeypatch.setattr(files, "exchange", lambda *_: False)
    elif not exchange(target, write(workdir / "other" / "file").parent):
        pytest.skip("this system cannot let folders change places")
    with replacing(target) as temporary:
        temporary.mkdir()
    assert seen == ([False] if how == "put aside" else [])


def test_a_file_never_takes_the_place_of_a_folder(workdir):
    kept = write(workdir / "out" / "kept", "kept")
    with pytest.raises(OutputError, match="out: cannot be written: Is a directory"), replacing(kept.parent) as path:
        path.write_text("new")
    assert list(workdir.iterdir()) == [kept.parent] and kept.read_text() == "kept"


def test_a_device_or_a_pipe_is_no_output(workdir):
    os.mkfifo(workdir / "pipe")
    with pytest.raises(OutputError, match="pipe: is neither a file nor a folder"), replacing(workdir / "pipe"):
        pytest.fail("there is nothing to be replaced")
    assert (workdir / "pipe").is_fifo()


@pytest.mark.parametrize("inside", ["", "file"])
def test_what_a_link_leads_to_is_replaced_not_the_link(workdir, inside):
    real, link = workdir / "disk" / "out", workdir / "link"
    write(real / inside, "older")
    link.symlink_to(real)
    with replacing(link) as temporary:
        write(temporary / inside, "newer")
        assert temporary.parent == real.parent
    assert link.is_symlink() and (real / inside).read_text() == "newer"
    assert list(real.parent.iterdir()) == [real]
