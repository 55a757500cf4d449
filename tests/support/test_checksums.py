"""The fast checksum is the one of the formats: that of zlib."""

import random
import zlib

import pytest

from convinse.support.checksums import crc32


@pytest.mark.parametrize("size", [0, 1, 15, 16, 64, 416, 4095, 65_536, 100_001])
def test_the_sums_are_those_of_zlib(size):
    data = random.Random(size).randbytes(size)
    assert crc32(data) == zlib.crc32(data)
    assert crc32(memoryview(data)[size // 3 :]) == zlib.crc32(data[size // 3 :])
