"""The manifest of a built folder, what is none, and folders that are replaced while they are opened."""

import shutil
from pathlib import Path

import pytest

from convinse.support.errors import IndexFileError
from convinse.support.files import replacing, steadily
from convinse.support.manifest import MANIFEST, BuiltFolder, Checks, Manifest, read_manifest, write_manifest
from refusals import refused
from written import write


def read():
    return read_manifest(Path(), Manifest, 3, "build it again", "no folder of ours: {}")


def test_what_is_written_is_read():
    write_manifest(Path(), Manifest(format=3, build_id="a", files={}))
    manifest = read()
    assert manifest == Manifest(format=3, build_id="a", files={}, checksum=manifest.checksum) and manifest.checksum


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"7", b"{}", b'{"format": "3"}', b'{"format": 3}', b'{"format": 3, "build_id": "\xff", "files": {}}',
        b"[" * 5000, b'{"format": 3, "build_id": "a", "files": ' + b'{"a":' * 5000,
        b'{"format": 3, "build_id": "a", "files": {"x": {"size": "many"}}}',
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_one_line(content):
    write(MANIFEST, content)
    refused(IndexFileError, read, MANIFEST, "build it again")


CHECKS = Checks("build it again", blocks=2, whole=1 << 20)


def built(folder, build):
    """A folder of two files whose sums are those of a build."""
    with replacing(folder) as temporary:
        temporary.mkdir()
        for name in ("first", "second"):
            write(temporary / name, build)
        files, block_sums = CHECKS.measure(temporary, ("first", "second"))
        write_manifest(temporary, Manifest(format=3, build_id=build, files=files, block_sums=block_sums))
    return folder


def opener(folder, between):
    """Opens a folder; `between` is called after its manifest was read. The build and the files of each time."""
    seen = []

    def opening():
        manifest = read_manifest(folder, Manifest, 3, "build it again", "no folder of ours: {}")
        between(len(seen))
        seen.append(manifest.build_id)
        BuiltFolder(folder, manifest, CHECKS)

    return opening, seen


@pytest.mark.parametrize("times", [1, 3])
def test_a_folder_that_is_replaced_while_it_is_opened_is_opened_again(workdir, times):
    folder = built(workdir / "kb", "0000")
    opening, seen = opener(folder, lambda number: number < times and built(folder, f"{number + 1:04}"))
    steadily(folder / MANIFEST, opening)
    assert seen == [f"{number:04}" for number in range(times + 1)]


def test_what_was_opened_of_two_builds_without_an_error_is_opened_again(workdir):
    folder = built(workdir / "kb", "same")
    opening, seen = opener(folder, lambda number: number or built(folder, "same"))
    steadily(folder / MANIFEST, opening)
    assert len(seen) == 2


def test_a_damaged_folder_is_opened_once_and_one_that_is_replaced_for_ever_is_told(workdir):
    folder = built(workdir / "kb", "0000")
    opening, seen = opener(folder, lambda number: built(folder, f"{number % 2:04}"))
    refused(IndexFileError, lambda: steadily(folder / MANIFEST, opening), "again and again", "try again")
    write(folder / "second", "harm")
    opening, seen = opener(folder, lambda number: None)
    refused(IndexFileError, lambda: steadily(folder / MANIFEST, opening), "second: altered", "build it again")
    shutil.rmtree(folder)
    refused(IndexFileError, lambda: steadily(folder / MANIFEST, opening), "no folder of ours")
    assert len(seen) == 1
