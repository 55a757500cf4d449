"""Blocks of lines, and the processes that work on them."""

import bz2
import gzip
import os
from pathlib import Path

import pytest

from convinse.support.blocks import in_order, read_blocks
from convinse.support.errors import DataError

LINES = [f"line {number} {'x' * (number % 37)}".encode() for number in range(1, 400)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lines"


@pytest.mark.parametrize("size", [1, 100, 1 << 20])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_blocks_hold_all_lines_with_their_numbers(path, size, pack):
    path.write_bytes(pack(b"\xef\xbb\xbf" + b"\r\n\n".join(LINES)))
    blocks = list(read_blocks(path, size))
    assert [line for block in blocks for line in block.lines()] == list(zip(range(1, 800, 2), LINES, strict=False))
    assert blocks[-1].position == path.stat().st_size
    assert all(len(block.data) < size + 60 for block in blocks)


def test_a_cut_file_is_named_with_the_line(path):
    path.write_bytes(gzip.compress(b"\n".join(LINES))[:-9])
    with pytest.raises(DataError, match=r"lines:\d+: cannot be read: .*is the file complete"):
        list(read_blocks(path, 50))
    with pytest.raises(DataError, match="nowhere: cannot be read: No such file"):
        list(read_blocks(Path("nowhere"), 50))


class Numbers:
    """Numbers of lines, and whether another process computed them."""

    def __init__(self, parent):
        self._parent = parent

    def __call__(self, block):
        return [number for number, _ in block.lines()], os.getpid() != self._parent


@pytest.mark.parametrize(
    ("workers", "size", "elsewhere"),
    [(1, 100, False), (3, 100, True), (3, 1 << 20, False)],  # a single block
)
def test_results_come_in_the_order_of_the_blocks_from_processes_if_needed(path, workers, size, elsewhere):
    path.write_bytes(b"\n".join(LINES))
    results = list(in_order(path, read_blocks(path, size), Numbers, (os.getpid(),), workers, "try again"))
    assert [number for numbers, _ in results for number in numbers] == list(range(1, 400))
    assert {is_elsewhere for _, is_elsewhere in results} == {elsewhere}
