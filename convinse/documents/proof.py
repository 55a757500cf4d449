"""Proofs: the quotes that answers rest on, in a JSON file, and whether their words still stand in the files.

A saved conversation over files holds the same, see `read_proof`. Files are read by the project's readers, without an index or a model.
"""

from __future__ import annotations

import copy
import hashlib
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from rapidfuzz import fuzz
from typing_extensions import NotRequired, TypedDict

from ..records.conversation import Conversation, check_answered, check_question
from ..records.evidence import DEFAULT_SOURCES, Quote, parse_sources, place_in
from ..support.errors import ConvinseError, DataError, OutputError, one_line, unreadable
from ..support.files import replacing, state_of
from ..support.jsonlines import JSON_ERRORS
from ..support.limits import LARGEST_DOCUMENT
from .evidences import document_evidences
from .files import CONVERSATION, PROOF, find_files, format_of, path_of
from .quotes import BETWEEN_CELLS, answers_of, spans_in, words_of
from .readers import read_document

_ALIKE = 0.5  # the least likeness of a passage to one that was quoted, to be its new form
_AT_THE_PLACE = 0.2  # likeness that a passage at the place of the quote gains on others
_OTHER_SUBJECT = 0.9  # times that of a row whose first cell is another one: rows of two cells are often half alike
_LONGEST_QUOTE = 100_000  # characters; those of passages and rows have some hundreds
_SHOWN = 100  # characters of a quote or a passage in a line
_MOST_SOUGHT = 1_000  # files among which a renamed one is looked for
_WORD = 20  # characters in which the end of a word is looked for
_INSIDE = r"[\w.,:/'\u2019+\u2212-]"  # of a word or a number: words that go on with it are others


class ProofAnswer(TypedDict):
    """An answer with its probability and the quotes that it cites; evidences that are not of files have none."""

    answer: str
    probability: float
    quotes: list[Quote]


class ProofQuestion(TypedDict):
    """A question and its answers: several of a list, none if the turn abstains for the reason `abstained`."""

    question: str
    answers: list[ProofAnswer]
    abstained: NotRequired[str]


class Proof(TypedDict):
    """The content of a proof; `over` are the files and folders that were asked, `sources` such as `kb_text`.

    Paths are relative to the folder of the proof if they are below it, else absolute. `checksum` is the SHA-256 of the rest.
    """

    format: str
    over: list[str]
    sources: str
    questions: list[ProofQuestion]
    checksum: NotRequired[str]


class QuoteState(NamedTuple):
    """The state of a quote: whether its words stand, and in words what became of them."""

    stands: bool
    text: str


def proof_of(conversation: Conversation, over: Sequence[Path], sources: Sequence[str]) -> Proof:
    """Return the proof of an answered conversation over paths, with absolute paths."""
    questions: list[ProofQuestion] = []
    turns = [part for whole in conversation["questions"] for part in (whole, *whole.get("parts", ()))]
    for turn in turns:
        if not turn["structured_representation"] and not turn["pred_answers"]:
            continue  # talk
        evidences = turn.get("top_evidences", [])
        answers: list[ProofAnswer] = []
        for answer in answers_of(turn):
            quotes: list[Quote] = []
            for number in answer.get("evidences", ()):
                if number >= len(evidences) or "quote" not in evidences[number]:
                    continue
                quote = evidences[number]["quote"].copy()
                quote["spans"] = spans_in(quote["words"], evidences[number], number, [answer])
                quote["path"] = str(path_of(quote["path"], over) or quote["path"])
                quotes.append(quote)
            probability = answer.get("score", 0.0)
            answers.append({"answer": answer["answer"]["label"], "probability": probability, "quotes": quotes})
        question: ProofQuestion = {"question": turn.get("actual_question", turn["question"]), "answers": answers}
        if "abstained" in turn:
            question["abstained"] = turn["abstained"]["reason"]
        questions.append(question)
    return {"format": PROOF, "over": list(map(str, over)), "sources": "_".join(sources), "questions": questions}


def _quotes(proof: Proof) -> list[Quote]:
    return [quote for question in proof["questions"] for answer in question["answers"] for quote in answer["quotes"]]


def check_output(path: Path) -> None:
    """Raise `OutputError` unless a proof may be written there: over another proof, or where nothing is."""
    try:
        if path.exists() and not (path.is_file() and format_of(path) == "proof"):
            raise OutputError(f"{path}: is there already and is not a proof; name another file")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {one_line(error)}; name another file") from None


def write_proof(path: Path, proof: Proof) -> None:
    """Write a proof; see `check_output`."""
    check_output(path)
    folder = path.resolve().parent
    written = copy.deepcopy(proof)
    written["over"] = [relative_to(folder, name) for name in proof["over"]]
    for quote in _quotes(written):
        quote["path"] = relative_to(folder, quote["path"])
    try:
        written["checksum"] = _checksum(written)
    except UnicodeEncodeError:
        raise OutputError(f"{path}: cannot be written: the path of a file is not UTF-8; rename it") from None
    with replacing(path) as temporary:
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(written), indent=2) + b"\n")


def relative_to(folder: Path, name: str) -> str:
    """Return an absolute path as it is written in a file of a folder, with which it may be moved if it is below it."""
    path = Path(name)
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else name


def _checksum(proof: Any) -> str:
    content = {key: value for key, value in proof.items() if key != "checksum"}
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


def read_proof(path: Path, over: Sequence[Path] = ()) -> tuple[Proof, bool]:
    """Return a proof, or that of a saved conversation, with absolute paths; and whether it is as it was written.

    Args:
        path: the file.
        over: where the files are now, in the order of the proof's `over`, if they were moved.

    Raises:
        DataError: it is neither, or `over` are not as many paths as it has.
    """
    try:
        if path.stat().st_size > LARGEST_DOCUMENT:
            raise DataError(f"{path}: is no proof: it has more than {LARGEST_DOCUMENT // 10**6} MB")
        value = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from None
    except JSON_ERRORS as error:
        raise DataError(f"{path}: is no proof: it is not JSON ({one_line(error)})") from None
    if isinstance(value, dict) and value.get("format", CONVERSATION) != CONVERSATION:
        if value["format"] != PROOF:
            raise DataError(f"{path}: is no proof of this version: its format is not '{PROOF}'")
        proof, is_whole = _checked(path, value), value.get("checksum") == _checksum(value)
        _move(path, proof, over)
        return proof, is_whole
    if not isinstance(value, dict) or "questions" not in value:
        raise DataError(f"{path}: is neither a proof nor a saved conversation; ask --over PATH --proof FILE writes one")
    folder = path.resolve().parent
    try:
        names = msgspec.convert(value.get("over", []), list[str])
        paths, now = [folder / name for name in names], [root.expanduser().resolve() for root in over]
        conversation, sources = check_answered(value), parse_sources(value.get("sources", DEFAULT_SOURCES))
        if not paths and not now:
            raise DataError("it does not say where its files are; name them with --over PATH")
        proof = proof_of(conversation, paths or now, sources)
    except (msgspec.ValidationError, ConvinseError) as error:
        raise DataError(f"{path}: {one_line(error)}") from None
    if not _quotes(proof):
        raise DataError(f"{path}: no answer of it quotes a file; conversations of chat --over PATH have quotes")
    _check_quotes(path, proof)
    if paths:
        _move(path, proof, over)
    return proof, True


def _checked(path: Path, value: dict[str, Any]) -> Proof:
    try:
        proof = msgspec.convert(value, Proof)
        parse_sources(proof["sources"])
        for question in proof["questions"]:
            check_question(question["question"])
    except (msgspec.ValidationError, ConvinseError) as error:
        raise _damaged(path, one_line(error)) from None
    _check_quotes(path, proof)
    return proof


def _check_quotes(path: Path, proof: Proof) -> None:
    for quote in _quotes(proof):
        length = len(quote["words"])
        if not quote["words"].strip() or length > _LONGEST_QUOTE:
            raise _damaged(path, f"a quote of {length:,} characters; it may have 1 to {_LONGEST_QUOTE:,}")
        for span in quote["spans"]:
            if not 0 <= span["start"] < span["end"] <= length:
                raise _damaged(path, f"an answer at {span['start']} to {span['end']} of a quote of {length} characters")
    for name in (*proof["over"], *(quote["path"] for quote in _quotes(proof))):
        if "\0" in name:
            raise _damaged(path, "a path with a character that no path has")


def _damaged(path: Path, fault: str) -> DataError:
    return DataError(f"{path}: is damaged: {fault}; ask --over PATH --proof FILE writes a new one")


def _move(path: Path, proof: Proof, over: Sequence[Path]) -> None:
    """Make the paths of a proof absolute, below `over` if it is named."""
    folder = path.resolve().parent
    old = [folder / name for name in proof["over"]]
    if over and len(over) != len(old):
        raise DataError(f"{path}: --over must name where these are now, in their order: {', '.join(map(str, old))}")
    new = [root.expanduser().resolve() for root in over] or old
    proof["over"] = list(map(str, new))
    for quote in _quotes(proof):
        file = folder / quote["path"]
        for before, after in zip(old, new, strict=True):
            if file.is_relative_to(before):
                file = after / file.relative_to(before)
                break
        quote["path"] = str(file)


# -- the words in the files now ----------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """The words at a place: the passages of a paragraph or below a heading, or the cells of a row."""

    headings: list[str]
    place: str
    is_text: bool
    words: list[str]


_MISSING = QuoteState(False, "gone, the file is missing")


class Verifier:
    """Says of quotes whether their words stand in the files; each file is read once. `over` is that of their proof."""

    def __init__(self, over: Sequence[str]) -> None:
        self._over = list(map(Path, over))
        self._files: dict[str, tuple[str, list[_Place]] | QuoteState] = {}

    def check(self, quote: Quote) -> QuoteState:
        """Return the state of a quote with an absolute path."""
        path = quote["path"]
        if path not in self._files:
            self._files[path] = _read(Path(path))
        file = self._files[path]
        if file is _MISSING and (same := self._checksums.get(quote["sha256"])):
            return QuoteState(False, f"gone, the file is missing; {same} has the same content")
        if isinstance(file, QuoteState):
            return file
        sha256, places = file
        is_changed = sha256 != quote["sha256"]
        holding = [place for place in places if _holds(place, quote["words"])]
        if at_place := [place for place in holding if _is_at(place, quote)]:
            if at_place[0].headings != quote["headings"]:
                return QuoteState(True, f"stands, now {_shown_place(at_place[0]._replace(place=''), quote)}")
            return QuoteState(True, "stands, the file has changed elsewhere" if is_changed else "stands")
        if not is_changed:
            return QuoteState(
                False, "not as quoted, though the file is unchanged: the proof was edited or is of another version"
            )
        if holding:
            return QuoteState(False, f"moved, the words now stand {_shown_place(holding[0], quote)}")
        likeness, now, place = max(
            ((_likeness(words, place, quote), words, place) for place in places for words in place.words),
            key=lambda passage: passage[0],
            default=(0.0, "", None),
        )
        if place is not None and likeness >= _ALIKE:
            start = len(os.path.commonprefix([now, quote["words"]]))
            where = "the passage" if _is_at(place, quote) else f"the passage {_shown_place(place, quote)}"
            return QuoteState(False, f'changed, {where} now reads "{excerpt(now, start, start)}"')
        there = [place for place in places if quote["place"].startswith(("line ", "row ")) and _is_at(place, quote)]
        other = f'; {quote["place"]} now reads "{excerpt(there[0].words[0])}"' if there else ""
        return QuoteState(False, f"gone, the words are not in the file{other}")

    @cached_property
    def _checksums(self) -> dict[str, str]:
        """The names of the files below the paths of the proof by their SHA-256, for one that was renamed."""
        checksums: dict[str, str] = {}
        with suppress(DataError):
            for file in find_files([root for root in self._over if root.exists()])[0][:_MOST_SOUGHT]:
                with suppress(OSError):
                    checksums[hashlib.sha256(file.path.read_bytes()).hexdigest()] = file.name
        return checksums


def _read(path: Path) -> tuple[str, list[_Place]] | QuoteState:
    """Return the SHA-256 of a file and its places, or the state of all its quotes."""
    before = state_of(path)
    try:
        if not path.exists():
            return _MISSING
        if not path.is_file():
            return QuoteState(False, "gone, the path is that of a folder or device")
        if path.stat().st_size > LARGEST_DOCUMENT:
            return QuoteState(False, f"not read, the file has more than {LARGEST_DOCUMENT // 10**6} MB")
        data = path.read_bytes()
        if state_of(path) != before:
            return QuoteState(False, "not read, the file is being written; verify it again")
        evidences, [(document, _), *_] = document_evidences(path.name, read_document(path.name, data))
    except OSError as error:
        return QuoteState(False, f"not read, the file cannot be opened: {error.strerror or one_line(error)}")
    except DataError as error:
        return QuoteState(False, f"not read, the file {one_line(error)}")
    places: dict[Any, _Place] = {}
    for evidence in evidences:
        citation, row = evidence["citation"], evidence.get("row")
        is_text = row is None and "attribute" not in evidence
        number = None if row is None else (row["table"], row["number"])
        key = (*citation["headings"], place_in(citation), number, is_text)
        place = places.setdefault(key, _Place(citation["headings"], place_in(citation), is_text, []))
        place.words.append(words_of(evidence, document["label"]))
    return hashlib.sha256(data).hexdigest(), list(places.values())


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
