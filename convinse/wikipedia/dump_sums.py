"""The checksums of a dump: behind the pages of SQLite, which reads no further than to the last of them.

After the database come the checksums of its blocks (uint32, see `support.block_sums`), zeros up to a whole page, and in the
page's last bytes a footer. So a dump stays one file, and it is one wherever it is copied.
"""

from __future__ import annotations

import struct
from pathlib import Path

from ..support.block_sums import BLOCK, BlockFile, sums_of
from ..support.checksums import crc32
from ..support.errors import IndexFileError

MAGIC = b"SQLite format 3\x00"
_FOOTER = struct.Struct(
    "<8sQII"
)  # magic, bytes of the database, CRC-32 of checksums and zeros, CRC-32 of the footer so far
_FOOTER_MAGIC = b"cvnssums"
_HEAD = 100  # bytes of the header of SQLite
_REMEDY = "build it again"


def append_sums(path: Path) -> None:
    """Add the checksums to a database that is whole."""
    size = path.stat().st_size
    sums = b"".join(value.to_bytes(4, "little") for value in sums_of(path))
    with path.open("r+b") as file:
        sums += bytes(-(len(sums) + _FOOTER.size) % _page_size(file.read(_HEAD)))
        footer = _FOOTER.pack(_FOOTER_MAGIC, size, crc32(sums), 0)[:-4]
        file.seek(size)
        file.write(sums + footer + crc32(footer).to_bytes(4, "little"))


def open_sums(path: Path) -> BlockFile | None:
    """The blocks of a dump, to be compared; None where a version wrote it that kept no checksums.

    Raises:
        IndexFileError: it is no dump, cut off, or its checksums are damaged.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_HEAD)
        file.seek(max(0, size - _FOOTER.size))
        footer = file.read()
        if _is_footer(footer):
            _, content, checksum, _ = _FOOTER.unpack(footer)
            file.seek(content)
            sums = file.read(size - _FOOTER.size - content)
            if crc32(sums) != checksum:
                raise IndexFileError(f"{path}: its checksums are damaged; {_REMEDY}")
            blocks = struct.unpack(f"<{-(-content // BLOCK)}I", sums[: 4 * -(-content // BLOCK)])
            return BlockFile(path, content, blocks, _REMEDY).open()
    if head[: len(MAGIC)] != MAGIC or len(head) < _HEAD:
        raise IndexFileError(f"{path}: not a Wikipedia dump; {_REMEDY}")
    if size != _page_size(head) * int.from_bytes(head[28:32], "big"):
        raise IndexFileError(f"{path}: not a whole Wikipedia dump, its end is cut off or damaged; {_REMEDY}")
    return None


def _is_footer(data: bytes) -> bool:
    return data.startswith(_FOOTER_MAGIC) and crc32(data[:-4]).to_bytes(4, "little") == data[-4:]


def _page_size(head: bytes) -> int:
    size = int.from_bytes(head[16:18], "big")
    return 65536 if size == 1 else max(size, 512)
