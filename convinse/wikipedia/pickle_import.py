"""Imports CONVINSE's published Wikipedia dump (a pickle: item id -> list of evidences) into the project's dump.

No other module unpickles a file. Unpickling is safe here since an import, and with it any call, ends it. Tuples become lists,
which cannot be keys: nested tuples take forever to hash.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ..records.evidence import Entity, Evidence, check_evidence, normalize_source
from ..records.evidence_structure import in_own_form, structured
from ..support.blocks import Faults
from ..support.errors import DataError, one_line
from ..support.jsonlines import read_bytes, unpacked
from ..support.limits import LARGEST_PICKLE, MOST_ITEM_TEXT, MOST_TIMES_PICKLE
from ..support.progress import progress
from .build import ITEM, Changed
from .dump import check_replaceable, write_packed
from .stored_pages import PackedPage, pack

_UNPICKLER: Any = pickle._Unpickler  # Python's; for a reference of five bytes the one in C fills the memory


def _listed(number: int) -> Callable[[Any], None]:
    def load(unpickler: Any) -> None:
        unpickler.stack[-number:] = [unpickler.stack[-number:]]

    return load


class _RefusingUnpickler(_UNPICKLER):  # type: ignore[misc]
    dispatch = {
        **_UNPICKLER.dispatch,
        **{code[0]: _listed(number) for number, code in enumerate((pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3), 1)},
        pickle.TUPLE[0]: _UNPICKLER.load_list,
        pickle.EMPTY_TUPLE[0]: _UNPICKLER.load_empty_list,
    }

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"refused: {module}.{name}, as a dump holds only plain data")


def import_pickle(path: Path, output: Path, *, quiet: bool = True) -> Changed:
    """Write the items of a pickle (plain or gzip) into a dump, which replaces an older one.

    Raises:
        DataError: the file is not a pickle of items, is too large, holds more than data, or has too many bad evidences.
        OutputError: `output` cannot be written, or is not a dump.
    """
    check_replaceable(output)
    items, size = _load(path)
    faults = Faults(path, "evidences", "is this a Wikipedia dump of CONVINSE?")

    def pages() -> Iterator[PackedPage]:
        left = MOST_ITEM_TEXT + MOST_TIMES_PICKLE * size
        with progress(f"importing {path.name}", len(items), "items", quiet) as advance:
            for item_id, value in items.items():
                good: list[Evidence] = []
                for evidence, length in _evidences(item_id, value, faults):
                    good.append(evidence)
                    left -= length
                    if left < 0:
                        times = f"more than {MOST_TIMES_PICKLE} times what it holds"
                        raise DataError(f"{path}: its items stand for {times}")
                if good:
                    yield pack(item_id, good)
                advance()
        if faults.seen == faults.bad:
            raise DataError(f"{path}: holds no item with evidences")
        faults.report()

    added = write_packed(output, pages())["pages"]
    return Changed(added=added, skipped=sum(not value for value in items.values()), bad=faults.bad)


def _load(path: Path) -> tuple[dict[Any, Any], int]:
    with unpacked(path) as (raw, file):
        pickled = file if file is raw else io.BytesIO(read_bytes(path))
        size = pickled.seek(0, io.SEEK_END)
        pickled.seek(0)
        if size > LARGEST_PICKLE:
            raise DataError(f"{path}: larger than {LARGEST_PICKLE >> 30} GB, which is read into memory; split it")
        try:
            items = _RefusingUnpickler(pickled).load()
        except Exception as error:  # a damaged pickle can raise anything
            raise DataError(f"{path}: is not a pickle of plain data, or cut off ({one_line(error)})") from None
    if not isinstance(items, dict):
        raise DataError(f"{path}: the pickle is {type(items).__name__}, not a dictionary of items")
    return items, size


def _evidences(item_id: Any, value: Any, faults: Faults) -> Iterator[tuple[Evidence, int]]:
    """The good evidences of an item, as the project writes them, and their lengths as JSON."""
    if not ITEM.fullmatch(str(item_id)):
        return faults.count(1, [(f"item {str(item_id)[:40]!r}", "is not a Wikidata id")])
    if not isinstance(value, list):
        return faults.count(1, [(item_id, f"its evidences are {type(value).__name__}, not a list")])
    for number, pickled in enumerate(value):
        try:
            evidence = in_own_form(pickled)
            if isinstance(evidence, dict) and not isinstance(evidence.get("source"), str):
                raise DataError("an evidence has no 'source' string")  # a list may be too large to be shown
            check_evidence(evidence, "")
            good = structured(
                Evidence(
                    evidence_text=evidence["evidence_text"],
                    source=normalize_source(evidence["source"]),
                    disambiguations=[list(pair) for pair in evidence["disambiguations"]],
                    wikidata_entities=[
                        Entity(id=entity["id"], label=entity["label"]) for entity in evidence["wikidata_entities"]
                    ],
                )
            )
            length = len(msgspec.json.encode(good))  # half of a surrogate pair cannot be written
        except (DataError, ValueError, TypeError) as error:
            faults.count(1, [(f"{item_id}, evidence {number}", one_line(error).removeprefix(": "))])
        else:
            faults.count(1)
            yield good, length
