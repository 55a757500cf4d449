"""Blocks that are compared when they are first used, and manifests and folders that know their own checksum."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import msgspec
import numpy as np
import pytest

from convinse.support import block_sums
from convinse.support.block_sums import BLOCK, BlockFile, CheckedArray, require_together, sums_of
from convinse.support.errors import IndexFileError, ModelError
from convinse.support.folder_sums import FOLDER_SUMS, check_sums, sums_faults, write_sums
from convinse.support.full_text import FullText, FullTextWriter
from convinse.support.manifest import Manifest, read_manifest, seal_is_whole, sealed, write_manifest

NUMBERS = np.arange(0, 700_000, 7, dtype="<u4")  # 100,000 in six and a bit blocks


@pytest.fixture
def path(tmp_path):
    NUMBERS.tofile(tmp_path / "numbers")
    return tmp_path / "numbers"


@pytest.fixture
def opened(path):
    """Opens the file, to be compared with the checksums that it had at first."""
    sums = sums_of(path)
    assert len(sums) == 7

    def call():
        file = BlockFile(path, path.stat().st_size, sums, "build it again")
        return file, CheckedArray(np.memmap(path, "<u4", "r").view(np.ndarray), file)

    return call


def harm(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 16
    path.write_bytes(data)


def test_a_block_is_compared_when_it_is_used_and_once(path, opened):
    harm(path, 3 * BLOCK + 5)
    file, array = opened()
    per_block = BLOCK // 4
    assert array[0] == 0 and array[2:5].tolist() == [14, 21, 28]
    assert array[np.array([0, per_block, 2 * per_block])].tolist() == [0, 7 * per_block, 14 * per_block]
    assert list(file.sound) == [1, 1, 1, 0, 0, 0, 0] and file.pending == 4
    for key in (3 * per_block, slice(2 * per_block, 3 * per_block + 1), np.array([1, 4 * per_block - 1])):
        with pytest.raises(IndexFileError, match="numbers: altered since it was built; build it again"):
            array[key]
    with pytest.raises(IndexFileError):
        array.tolist()
    assert array[5 * per_block] == 35 * per_block and array[len(array) - 1] == NUMBERS[-1]


@pytest.mark.parametrize("place", [0, 40_001, 131_075, 200_000, 262_142, 399_999])
def test_a_search_over_damage_is_right_or_an_error(path, opened, place):
    harm(path, place)
    wanted = np.arange(0, 700_100, 1_001, dtype="<u4")
    for side in ("left", "right"):
        _, array = opened()
        expected = NUMBERS.searchsorted(wanted, side)
        for value, correct in zip(wanted, expected, strict=True):
            try:
                assert array.searchsorted(value, side) == correct
            except IndexFileError:
                continue


def test_a_whole_file_is_compared_by_several_threads(opened):
    file, array = opened()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: file.require_all(), range(8)))
    assert file.pending == 0 and array.tolist() == NUMBERS.tolist()
    assert file.read(4, 8) == NUMBERS[1:3].tobytes()


def test_threads_that_open_a_file_at_once_share_a_descriptor(opened, monkeypatch):
    made, system_open = [], os.open

    def slow(*arguments):
        made.append(system_open(*arguments))
        time.sleep(0.05)  # the others come meanwhile
        return made[-1]

    monkeypatch.setattr(os, "open", slow)
    file, _ = opened()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: file.require_all(), range(4)))
    assert len(made) == 1
    file.close()
    file.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(made[0])


def test_very_large_files_are_compared_by_samples(path, opened, monkeypatch):
    harm(path, 3 * BLOCK)
    with pytest.raises(IndexFileError):
        require_together([opened()[0]])
    monkeypatch.setattr(block_sums, "_MOST_WHOLE", BLOCK)
    monkeypatch.setattr(block_sums, "_SAMPLES", 3)
    harm(path, 3 * BLOCK)
    harm(path, 4 * BLOCK)
    file, _ = opened()
    require_together([file])
    assert list(file.sound) == [1, 0, 0, 1, 0, 0, 1]


def test_what_cannot_be_read_is_named(path):
    path.unlink()
    with pytest.raises(IndexFileError, match=r"numbers: cannot be read: .*; build it again"):
        BlockFile(path, BLOCK, [0], "build it again").read(0, 1)


def test_every_flipped_bit_of_a_manifest_is_noticed(tmp_path):
    write_manifest(tmp_path, Manifest(format=1, build_id="b", files={}))
    data = (tmp_path / "manifest.json").read_bytes()
    assert seal_is_whole(data) and read_manifest(tmp_path, Manifest, 1, "again", "").build_id == "b"
    for place in range(len(data)):
        for bit in range(8):
            harmed = bytearray(data)
            harmed[place] ^= 1 << bit
            (tmp_path / "manifest.json").write_bytes(harmed)
            if b"checksum" in harmed:  # its own name; with checksums of files a manifest must have one
                with pytest.raises(IndexFileError, match="manifest.json"):
                    read_manifest(tmp_path, Manifest, 1, "again", "")


def test_a_folder_without_checksums_is_taken_as_it_is(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    assert list(sums_faults(tmp_path)) == []
    check_sums(tmp_path, lambda name: True, ModelError)


def test_a_damaged_file_of_a_folder_is_named(tmp_path):
    for name in ("config.json", "1_Pooling/config.json", "README.md", "weights"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    write_sums(tmp_path)
    assert {path.relative_to(tmp_path).as_posix(): fault for path, fault in sums_faults(tmp_path)} == {
        FOLDER_SUMS: "", "config.json": "", "1_Pooling/config.json": "", "weights": "",
    }  # fmt: skip
    (tmp_path / "1_Pooling/config.json").write_text("2_Pooling/config.json")
    (tmp_path / "README.md").write_text("my own words")
    check_sums(tmp_path, lambda name: name == "weights", ModelError)
    with pytest.raises(
        ModelError, match=r"^evs_model: .*1_Pooling/config\.json: altered .* delete checksums\.json; train"
    ):
        check_sums(tmp_path, lambda name: True, ModelError, "evs_model: ", "train it again")
    (tmp_path / "weights").unlink()
    assert [path.name for path, fault in sums_faults(tmp_path) if "cannot be read" in fault] == ["weights"]
    sums = json.loads((tmp_path / FOLDER_SUMS).read_text())
    (tmp_path / FOLDER_SUMS).write_bytes(msgspec.json.encode({**sums, "files": {}}))
    assert list(sums_faults(tmp_path)) == [(tmp_path / FOLDER_SUMS, "is damaged")]
    (tmp_path / FOLDER_SUMS).write_bytes(b"\xff")
    with pytest.raises(ModelError, match=r"checksums\.json: is damaged"):
        check_sums(tmp_path, lambda name: False, ModelError)


def test_a_seal_is_of_all_but_itself():
    data = sealed(b'{"a": "checksum", "checksum": ""}')
    assert seal_is_whole(data) and sealed(data) == data and json.loads(data)["a"] == "checksum"
    assert not seal_is_whole(data.replace(b'"a"', b'"b"')) and not seal_is_whole(b'{"a": 1}')


def test_what_the_engine_says_of_a_damaged_file_is_one_line(tmp_path):
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("name")
    with FullTextWriter(tmp_path / "names", builder.build(), 64 << 20) as writer:
        writer.add(tantivy.Document(name="titanic"))
    opened = FullText(tmp_path / "names")

    class PanicException(BaseException):
        """As the engine raises it."""

    with (
        pytest.raises(IndexFileError, match="names: cannot be read: .*index out of bounds; build it again"),
        opened.reading(),
    ):
        raise PanicException("index out\nof bounds")
    with pytest.raises(KeyboardInterrupt), opened.reading():
        raise KeyboardInterrupt
    (tmp_path / "names" / "meta.json").write_text("{")
    with pytest.raises(IndexFileError, match="names: cannot be read"):
        FullText(tmp_path / "names")
