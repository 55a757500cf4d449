"""Files in pieces, to and from a machine that takes only small ones: packed, joined again and checked by their sums."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from convinse.support.errors import DataError
from convinse.support.files import replacing
from convinse.support.zstd import zstd

_LIST = "parcel.json"


def pack(files: Sequence[Path], output: Path, most: int) -> None:
    """Write the compressed files as pieces of at most `most` bytes, and a list of their sums."""
    listed: dict[str, dict[str, object]] = {}
    with replacing(output) as temporary:
        temporary.mkdir()
        for file in files:
            data = file.read_bytes()
            packed = zstd.compress(data, 19)
            pieces = []
            for number, start in enumerate(range(0, len(packed), most)):
                name = f"{file.name}.{number:02}"
                (temporary / name).write_bytes(packed[start : start + most])
                pieces.append(name)
            listed[file.name] = {"sha256": hashlib.sha256(data).hexdigest(), "pieces": pieces}
        (temporary / _LIST).write_text(json.dumps(listed, indent=1), encoding="utf-8")


def join(folders: Sequence[Path], output: Path) -> list[Path]:
    """Write the files whose pieces lie in some folders; each must be whole and have its sum. Raises `DataError`."""
    pieces = {piece.name: piece for folder in folders for piece in folder.iterdir()}
    lists = [
        json.loads((folder / _LIST).read_text(encoding="utf-8")) for folder in folders if (folder / _LIST).is_file()
    ]
    if not lists:
        raise DataError(f"{folders[0]}: has no {_LIST}; name the folder that was packed, or all that came back")
    output.mkdir(parents=True, exist_ok=True)
    written = []
    for name, entry in (item for listed in lists for item in listed.items()):
        if missing := [piece for piece in entry["pieces"] if piece not in pieces]:
            raise DataError(f"{name}: the piece {missing[0]} is missing; fetch it again")
        packed = b"".join(pieces[piece].read_bytes() for piece in entry["pieces"])
        try:
            data = zstd.decompress(packed)
        except zstd.ZstdError:
            data = b""
        if hashlib.sha256(data).hexdigest() != entry["sha256"]:
            raise DataError(f"{name}: its pieces are damaged; fetch them again")
        with replacing(output / name) as temporary:
            temporary.write_bytes(data)
        written.append(output / name)
    return written
