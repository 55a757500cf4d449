"""The manifest of a built folder, damage of what it lists, and folders that are replaced while they are opened."""

import shutil
from pathlib import Path

import pytest

from convinse.support.checksums import sha256
from convinse.support.errors import IndexFileError, ModelError
from convinse.support.files import open_consistently, replacing
from convinse.support.manifest import (
    BY_HAND,
    MANIFEST,
    Manifest,
    check_folder,
    faults,
    has_kind,
    measure,
    read_manifest,
    recorded_sha256,
    seal,
    write_manifest,
)
from damaging import flip
from refusals import refused
from written import write

REMEDY = "build it again"


def read(folder=Path()):
    return read_manifest(folder, Manifest, 3, REMEDY, "no folder of ours: {}")


def built(folder, build):
    """A folder of two files whose content is that of a build."""
    with replacing(folder) as temporary:
        for name in ("first", "second"):
            write(temporary / name, build)
        files = measure(temporary, ("first", "second"))
        write_manifest(temporary, Manifest(kind="test", format=3, build_id=build, files=files))
    return folder


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b'{"format": "3"}', b'{"format": 3}', b'{"format": 3, "build_id": "\xff", "files": {}}', b"[" * 5000,
        b'{"kind": "test", "format": 3, "build_id": "a", "files": {"x": {"size": "many"}}}',
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_one_line(content):
    write(MANIFEST, content)
    refused(IndexFileError, read, MANIFEST, REMEDY)


def test_written_manifest_is_read_and_every_flipped_bit_of_it_is_found(workdir):
    folder = built(workdir / "kb", "0000")
    manifest = read(folder)
    assert (manifest.kind, manifest.build_id, [*manifest.files]) == ("test", "0000", ["first", "second"])
    assert manifest.checksum and manifest.size == 8
    whole = (folder / MANIFEST).read_bytes()
    for place in range(len(whole)):
        flip(folder / MANIFEST, place, place % 8)
        assert any(fault for _, fault in faults(folder)), whole[place - 9 : place + 9]
        with pytest.raises(IndexFileError):
            check_folder(folder, IndexFileError)
        (folder / MANIFEST).write_bytes(whole)


@pytest.mark.parametrize(
    ("harm", "fault"),
    [
        (lambda path: path.write_bytes(b"000"), "first: 3 bytes where the manifest says 4; build it again"),
        (Path.unlink, "first: cannot be read: No such file or directory"),
    ],
)
def test_damaged_file_is_named(workdir, harm, fault):
    folder = built(workdir / "kb", "0000")
    check_folder(folder, IndexFileError, remedy=REMEDY)
    harm(folder / "first")
    refused(IndexFileError, lambda: check_folder(folder, IndexFileError, remedy=REMEDY), fault)
    assert [path.name for path, words in faults(folder) if words] == ["first"]


def test_opening_compares_sizes_and_verify_reads_every_byte(workdir):
    folder = built(workdir / "kb", "0000")
    write(folder / "first", "0010")
    check_folder(folder, IndexFileError, remedy=REMEDY)
    words = "first: altered since it was built; build it again"
    refused(IndexFileError, lambda: check_folder(folder, IndexFileError, remedy=REMEDY, reads_files=True), words)
    assert [path.name for path, words in faults(folder) if words] == ["first"]


def test_a_recorded_checksum_counts_if_the_size_is_that_of_the_file(workdir):
    folder = built(workdir / "kb", "0000")
    whole = recorded_sha256(folder / "first")
    assert whole == sha256(folder / "first")
    write(folder / "first", "0010")
    assert recorded_sha256(folder / "first") == whole != sha256(folder / "first")  # verify finds it
    write(folder / "first", "longer")
    assert recorded_sha256(folder / "first") == sha256(folder / "first")
    write(folder / "other", "content")
    assert recorded_sha256(folder / "other") == sha256(folder / "other")
    (folder / MANIFEST).unlink()
    assert recorded_sha256(folder / "first") == sha256(folder / "first")


def test_a_sealed_folder_of_a_model_may_be_changed_on_purpose_and_its_card_always(workdir):
    for name in ("model.json", "inner/more.json", "README.md", ".hidden"):
        write(workdir / "model" / name, "content")
    check_folder(workdir / "model", ModelError)
    seal(workdir / "model", "model")
    assert list(read_manifest(workdir / "model", Manifest, 1, "", "").files) == ["inner/more.json", "model.json"]
    write(workdir / "model/README.md", "other")
    check_folder(workdir / "model", ModelError)
    write(workdir / "model/model.json", "other content")
    words = ("key: ", "model.json: 13 bytes where the manifest says 7", "train it again, or delete manifest.json")
    refused(
        ModelError, lambda: check_folder(workdir / "model", ModelError, "key: ", f"train it again, {BY_HAND}"), *words
    )
    (workdir / "model" / MANIFEST).unlink()
    check_folder(workdir / "model", ModelError)


def test_a_folder_is_of_its_kind_or_of_any_if_its_manifest_is_damaged(workdir):
    assert not has_kind(workdir, "test")
    folder = built(workdir / "kb", "0000")
    assert has_kind(folder, "test") and not has_kind(folder, "model")
    write(folder / MANIFEST, "{")
    assert has_kind(folder, "model")


def opener(folder, between):
    """Opens a folder; `between` is called after its manifest was read. The build of each time."""
    seen = []

    def opening():
        manifest = read(folder)
        between(len(seen))
        seen.append(manifest.build_id)
        check_folder(folder, IndexFileError, remedy=REMEDY)

    return opening, seen


@pytest.mark.parametrize("times", [1, 3])
def test_a_folder_that_is_replaced_while_it_is_opened_is_opened_again(workdir, times):
    folder = built(workdir / "kb", "0000")
    opening, seen = opener(folder, lambda number: number < times and built(folder, f"{number + 1:04}"))
    open_consistently(folder / MANIFEST, opening)
    assert seen == [f"{number:04}" for number in range(times + 1)]


def test_a_damaged_folder_is_opened_once_and_one_that_is_replaced_for_ever_is_an_error(workdir):
    folder = built(workdir / "kb", "0000")
    opening, seen = opener(folder, lambda number: built(folder, f"{number % 2:04}"))
    refused(IndexFileError, lambda: open_consistently(folder / MANIFEST, opening), "again and again", "try again")
    write(folder / "second", "damage")
    opening, seen = opener(folder, lambda number: None)
    refused(IndexFileError, lambda: open_consistently(folder / MANIFEST, opening), "second: 6 bytes where", REMEDY)
    shutil.rmtree(folder)
    refused(IndexFileError, lambda: open_consistently(folder / MANIFEST, opening), "no folder of ours")
    assert len(seen) == 1
