"""Outputs that take their place in one step, and their writers that are killed or come together."""

import hashlib
from contextlib import suppress
from pathlib import Path

import pytest

from convinse.support.checksums import sha256
from convinse.support.errors import IndexFileError, OutputError
from convinse.support.files import recover, replacing
from convinse.support.manifest import Manifest, read_manifest
from patience import PATIENCE
from written import names, write

WRITER = """
import sys
from pathlib import Path
from convinse.support.errors import OutputError
from convinse.support.files import replacing
print("ready", flush=True)
input()
for number in range(60):
    try:
        with replacing(Path(sys.argv[1])) as temporary:
            temporary.mkdir()
            (temporary / "file").write_text("whole")
    except OutputError as error:
        print(error)
"""


@pytest.mark.parametrize("inside", ["", "file"])
@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, OutputError])
def test_block_that_fails_or_writes_nothing_keeps_the_older_file_or_folder(workdir, problem, inside):
    path = workdir / "out"
    write(path / inside, "older")
    with (
        pytest.raises(problem, match="nothing was written" if problem is OutputError else None),
        replacing(path) as temporary,
    ):
        if problem is not OutputError:
            write(temporary / inside, "half")
            assert (path / inside).read_text() == "older"
            raise problem
    assert (path / inside).read_text() == "older"
    assert list(workdir.iterdir()) == [path] and len(list(path.rglob("*"))) == bool(inside)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("Error while serializing: I/O error: File too large (os error 27)", "File too large"), ("no number", None)],
)
def test_a_full_disk_is_an_output_error_even_if_a_library_reports_it(workdir, text, reason):
    class LibraryError(Exception):
        pass

    with pytest.raises(OutputError if reason else LibraryError, match=reason or text), replacing(workdir / "out"):
        raise LibraryError(text)
    with (
        pytest.raises(OutputError, match="out: cannot be written: No space left on device"),
        replacing(workdir / "out"),
    ):
        Path("/dev/full").write_text("x")
    assert names(workdir) == []


def test_a_folder_replaces_a_folder_and_a_file_never_does(workdir):
    for name in ("one", "two"):
        with replacing(workdir / "out") as temporary:
            write(temporary / name)
        assert names(workdir / "out") == [name]
    with pytest.raises(OutputError, match="out: cannot be written: Is a directory"), replacing(workdir / "out") as path:
        path.write_text("new")
    assert names(workdir) == ["out"] and names(workdir / "out") == ["two"]


@pytest.mark.parametrize("inside", ["", "file"])
def test_the_target_of_a_link_is_replaced_not_the_link(workdir, inside):
    real, link = workdir / "disk" / "out", workdir / "link"
    write(real / inside, "older")
    link.symlink_to(real)
    with replacing(link) as temporary:
        write(temporary / inside, "newer")
    assert link.is_symlink() and (real / inside).read_text() == "newer" and names(real.parent) == ["out"]


def test_writers_that_come_together_leave_one_whole_folder(workdir, start_together):
    for process in start_together(WRITER, *[("index",)] * 3):
        output, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
        assert set(output.splitlines()) <= {
            "index: another process is writing it; wait for its end, or name another output"
        }
    assert names(workdir) == ["index"] and (workdir / "index/file").read_text() == "whole"


@pytest.mark.parametrize(
    "comes_back",
    [recover, lambda path: read_manifest(path, Manifest, 1, "", "{}"), lambda path: replacing(path).__enter__()],
)
def test_a_folder_that_a_killed_writer_had_put_aside_comes_back(workdir, comes_back):
    write(workdir / ".index.old/whole", "whole")
    write(workdir / ".index.new/half", "half")
    write(workdir / ".index.lock")
    with suppress(IndexFileError):  # there is no manifest
        comes_back(workdir / "index")
    assert (workdir / "index/whole").read_text() == "whole" and not (workdir / ".index.old").exists()


# --- checksums


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_a_checksum_is_that_of_the_content(workdir, size):
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    path = write(workdir / "data", content)
    assert sha256(path) == hashlib.sha256(content).hexdigest()
