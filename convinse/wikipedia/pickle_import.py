"""CONVINSE's published Wikipedia dump (a pickle: item id -> list of evidences) into the project's own dump."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..records.border import in_own_form, structured
from ..records.evidence import Evidence, check_evidence, normalize_source
from ..support.blocks import Faults
from ..support.errors import DataError, one_line
from ..support.progress import Advance, progress
from .dump import PackedPage, check_replaceable, pack, write_packed
from .pickled_items import read_items

_ITEM = re.compile(r"Q[1-9][0-9]*")


class Imported(NamedTuple):
    """What went into a dump: `counts` are the pages and the evidences of each source.

    `links` without an item were dropped, of `unlinked` evidences, which are kept.
    """

    counts: dict[str, int]
    empty: int  # items without evidences: CONVINSE also noted failed requests so
    bad: int
    links: int
    unlinked: int
    seconds: float


def import_pickle(path: Path, output: Path, *, quiet: bool = True) -> Imported:
    """Write the items of a pickle into a dump; an older one at `output` is replaced when the new one is whole.

    Raises:
        DataError: the file is no such pickle, holds more than data, or has too many bad evidences.
        OutputError: `output` cannot be written, or is something else than a dump.
    """
    start = time.monotonic()
    check_replaceable(output)
    faults = Faults(path, "evidences", "is this a Wikipedia dump of CONVINSE?")
    empty = 0
    links: list[int] = []  # dropped, of each evidence that had some

    def packed(advance: Advance) -> Iterator[PackedPage]:
        nonlocal empty
        pages = 0
        for item_id, value in read_items(path, advance):
            page, wanted = _page(item_id, value, faults, links)
            empty += not wanted
            if page is not None:
                pages += 1
                yield page
        if not pages:
            raise DataError(f"{path}: holds no item with evidences")

    try:
        size = 2 * max(1, path.stat().st_size >> 20)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {one_line(error)}") from None
    with progress(f"reading {path.name}", size, "MB", quiet) as advance:
        counts = write_packed(output, packed(advance))
    return Imported(counts, empty, faults.bad, sum(links), len(links), time.monotonic() - start)


def _page(item_id: Any, value: Any, faults: Faults, links: list[int]) -> tuple[PackedPage | None, bool]:
    """The page of an item (None without a good evidence), and whether there were any; adds to the dropped `links`."""
    if not isinstance(item_id, str) or not _ITEM.fullmatch(item_id):
        faults.count(1, [(f"item {item_id!r:.40}", "is no Wikidata id")])
        return None, True
    if not isinstance(value, list | tuple):
        faults.count(1, [(item_id, f"its evidences are {type(value).__name__}, not a list")])
        return None, True
    good: list[Evidence] = []
    for number, evidence in enumerate(value):
        place = f"{item_id}, evidence {number}"
        try:
            good.append(_normalised(evidence))
        except (DataError, ValueError, TypeError, RecursionError) as error:
            faults.count(1, [(place, one_line(error).removeprefix(": "))])
            continue
        faults.count(1)
        if dropped := len(evidence["disambiguations"]) - len(good[-1]["disambiguations"]):
            links.append(dropped)
    return (pack(item_id, good) if good else None), bool(value)


def _normalised(evidence: Any) -> Evidence:
    """An evidence as the project writes it, with the structure that its text shows. Raises `DataError` for what is none."""
    evidence = in_own_form(evidence)
    check_evidence(evidence, "")
    result: Evidence = {
        "evidence_text": evidence["evidence_text"],
        "source": normalize_source(evidence["source"]),
        "disambiguations": [list(pair) for pair in evidence["disambiguations"]],
        "wikidata_entities": [{"id": item["id"], "label": item["label"]} for item in evidence["wikidata_entities"]],
    }
    msgspec.json.encode(result)  # a half of a surrogate pair cannot be written
    return structured(result)
