import hashlib
import os
import time
from pathlib import Path

import pytest

from convinse.support.errors import OutputError
from convinse.support.files import replacing, sha256
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
from convinse.support.files import replacing
target = Path(sys.argv[1])
with replacing(target) as temporary:
    temporary.mkdir()
    (temporary / "half").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_is_removed_by_the_next(workdir, start):
    target = workdir / "index"
    process = start(KILLED, target)
    process.wait(timeout=30)
    (leftover,) = workdir.glob(".index.*.tmp")
    mine = workdir / f".index.{os.getppid()}.tmp"  # of a process that lives
    mine.mkdir()
    with replacing(target) as temporary:
        temporary.mkdir()
    assert sorted(path.name for path in workdir.iterdir()) == sorted(["index", mine.name])
    assert not leftover.exists()


def test_a_folder_that_a_killed_writer_put_aside_comes_back(workdir, start):
    process = start("pass")
    process.wait(timeout=30)
    aside = workdir / f".index.{process.pid}.old"
    aside.mkdir()
    (aside / "kept").write_text("kept")
    with pytest.raises(ZeroDivisionError), replacing(workdir / "index"):
        1 / 0  # noqa: B018
    assert (workdir / "index" / "kept").read_text() == "kept"
