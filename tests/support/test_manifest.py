"""The manifest of a built folder, and what is none."""

from pathlib import Path

import pytest

from convinse.support.errors import IndexFileError
from convinse.support.manifest import MANIFEST, Manifest, read_manifest, write_manifest
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
