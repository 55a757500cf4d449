"""Says of quotes whether their words still stand in the files, which are read anew."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz import fuzz

from ..records.evidence import Quote, place_in
from ..support.errors import DataError, one_line
from ..support.files import state_of
from ..support.limits import LARGEST_DOCUMENT
from .evidences import document_evidences
from .files import find_files
from .quotes import BETWEEN_CELLS, words_of
from .readers import read_document

_ALIKE = 0.5  # the least likeness of a passage to one that was quoted, to be its new form
_AT_THE_PLACE = 0.2  # likeness that a passage at the place of the quote gains on others
_OTHER_SUBJECT = 0.9  # times that of a row whose first cell is another one: rows of two cells are often half alike
_SHOWN = 100  # characters of a quote or a passage in a line
_MOST_SOUGHT = 1_000  # files among which a renamed one is looked for
_WORD = 20  # characters in which the end of a word is looked for
_INSIDE = r"[\w.,:/'\u2019+\u2212-]"  # of a word or a number: words that go on with it are others


class _Place(NamedTuple):
    """The words at a place: the passages of a paragraph or below a heading, or the cells of a row."""

    headings: list[str]
    place: str
    is_text: bool
    words: list[str]


_MISSING = "gone, the file is missing"


class Verifier:
    """Says of quotes whether their words stand in the files; each file is read once. `over` is that of their proof."""

    def __init__(self, over: Sequence[str]) -> None:
        self._over = list(map(Path, over))
        self._files: dict[str, tuple[str, list[_Place], str]] = {}

    def check(self, quote: Quote) -> tuple[bool, str]:
        """Return whether the words of a quote with an absolute path stand, and in words what became of them."""
        path = quote["path"]
        if path not in self._files:
            self._files[path] = _read(Path(path))
        sha256, places, fault = self._files[path]
        if fault == _MISSING and (same := self._checksums.get(quote["sha256"])):
            return False, f"{_MISSING}; {same} has the same content"
        if fault:
            return False, fault
        is_changed = sha256 != quote["sha256"]
        holding = [place for place in places if _holds(place, quote["words"])]
        if at_place := [place for place in holding if _is_at(place, quote)]:
            if at_place[0].headings != quote["headings"]:
                return True, f"stands, now {_shown_place(at_place[0]._replace(place=''), quote)}"
            return True, "stands, the file has changed elsewhere" if is_changed else "stands"
        if not is_changed:
            return False, "not as quoted, though the file is unchanged: the proof was edited or is of another version"
        if holding:
            return False, f"moved, the words now stand {_shown_place(holding[0], quote)}"
        likeness, now, place = max(
            ((_likeness(words, place, quote), words, place) for place in places for words in place.words),
            key=lambda passage: passage[0],
            default=(0.0, "", None),
        )
        if place is not None and likeness >= _ALIKE:
            start = len(os.path.commonprefix([now, quote["words"]]))
            where = "the passage" if _is_at(place, quote) else f"the passage {_shown_place(place, quote)}"
            return False, f'changed, {where} now reads "{excerpt(now, start, start)}"'
        there = [place for place in places if quote["place"].startswith(("line ", "row ")) and _is_at(place, quote)]
        other = f'; {quote["place"]} now reads "{excerpt(there[0].words[0])}"' if there else ""
        return False, f"gone, the words are not in the file{other}"

    @cached_property
    def _checksums(self) -> dict[str, str]:
        """The names of the files below the paths of the proof by their SHA-256, for one that was renamed."""
        checksums: dict[str, str] = {}
        with suppress(DataError):
            for file in find_files([root for root in self._over if root.exists()])[0][:_MOST_SOUGHT]:
                with suppress(OSError):
                    checksums[hashlib.sha256(file.path.read_bytes()).hexdigest()] = file.name
        return checksums


def _read(path: Path) -> tuple[str, list[_Place], str]:
    """Return the SHA-256 of a file and its places; if it cannot be read, the reason."""
    before = state_of(path)
    try:
        if not path.exists():
            return "", [], _MISSING
        if not path.is_file():
            return "", [], "gone, the path is that of a folder or device"
        if path.stat().st_size > LARGEST_DOCUMENT:
            return "", [], f"not read, the file has more than {LARGEST_DOCUMENT // 10**6} MB"
        data = path.read_bytes()
        if state_of(path) != before:
            return "", [], "not read, the file is being written; verify it again"
        evidences, [(document, _), *_] = document_evidences(path.name, read_document(path.name, data))
    except OSError as error:
        return "", [], f"not read, the file cannot be opened: {error.strerror or one_line(error)}"
    except DataError as error:
        return "", [], f"not read, the file {one_line(error)}"
    places: dict[Any, _Place] = {}
    for evidence in evidences:
        citation, row = evidence["citation"], evidence.get("row")
        is_text = row is None and "attribute" not in evidence
        number = None if row is None else (row["table"], row["number"])
        key = (*citation["headings"], place_in(citation), number, is_text)
        place = places.setdefault(key, _Place(citation["headings"], place_in(citation), is_text, []))
        place.words.append(words_of(evidence, document["label"]))
    return hashlib.sha256(data).hexdigest(), list(places.values()), ""


def _holds(place: _Place, words: str) -> bool:
    """Whether a place has these words: text with any blanks, of a row all the cells."""
    if not place.is_text:
        return set(words.split(BETWEEN_CELLS)) <= {cell for part in place.words for cell in part.split(BETWEEN_CELLS)}
    body = r"\s*".join(map(re.escape, words.split()))
    behind = rf"(?!{_INSIDE})" if re.match(_INSIDE, words[-1]) else ""
    return re.search(rf"(?<!{_INSIDE}){body}{behind}", " ".join(place.words)) is not None


def _is_at(place: _Place, quote: Quote) -> bool:
    is_same = place.place == quote["place"]
    if not quote["place"] or quote["place"].startswith("row "):  # rows are counted from the top of each sheet
        return is_same and place.headings == quote["headings"]
    return is_same


def _likeness(words: str, place: _Place, quote: Quote) -> float:
    """The likeness of a passage to the one that was quoted: the share of equal words or cells, and more at its place."""
    cells, others = quote["words"].split(BETWEEN_CELLS), words.split(BETWEEN_CELLS)
    if len(cells) > 1 and not place.is_text:
        likeness = len({*cells} & {*others}) / max(len(cells), len(others))
        likeness *= 1 if cells[0] == others[0] else _OTHER_SUBJECT
    else:
        likeness = fuzz.ratio(quote["words"].split(), words.split()) / 100
    return likeness + _AT_THE_PLACE * _is_at(place, quote) if likeness else 0.0


def _shown_place(place: _Place, quote: Quote) -> str:
    at = f"{'on' if place.place.startswith(('page', 'slide')) else 'at'} {place.place}" if place.place else ""
    if at and place.headings == quote["headings"]:
        return at
    below = f'below "{" > ".join(place.headings)}"' if place.headings else ""
    return " ".join(filter(None, [at, below])) or "at its beginning"


def excerpt(words: str, start: int = 0, end: int = 0) -> str:
    """Return a text, or of a long one the part around a span."""
    if len(words) <= _SHOWN:
        return words
    first = max(0, min((start + end - _SHOWN) // 2, len(words) - _SHOWN))
    last = first + _SHOWN
    if first:  # cut at blanks, unless that would cut off much
        first += max(words[first : first + _WORD].find(" "), 0)
    if last < len(words):
        last = words.rfind(" ", last - _WORD, last) if " " in words[last - _WORD : last] else last
    return f"{'…' if first else ''}{words[first:last].strip()}{'…' if last < len(words) else ''}"
