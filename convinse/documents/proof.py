"""Proofs: the quotes that answers rest on, in a JSON file.

A saved conversation over files holds the same, see `read_proof`; `verifier` says whether the words still stand in the files.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from typing_extensions import NotRequired, TypedDict

from ..records.conversation import Conversation, check_answered, check_question
from ..records.evidence import DEFAULT_SOURCES, Quote, parse_sources
from ..support.errors import ConvinseError, DataError, OutputError, one_line, unreadable
from ..support.files import replacing
from ..support.jsonlines import JSON_ERRORS
from ..support.limits import LARGEST_DOCUMENT
from .files import CONVERSATION, PROOF, format_of, path_of
from .quotes import answers_of, spans_in

_LONGEST_QUOTE = 100_000  # characters; those of passages and rows have some hundreds


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
    members = value if isinstance(value, dict) else {}
    if members.get("format", CONVERSATION) != CONVERSATION:
        if members["format"] != PROOF:
            raise DataError(f"{path}: is no proof of this version: its format is not '{PROOF}'")
        proof, is_whole = _checked(path, value), value.get("checksum") == _checksum(value)
        _move(path, proof, over)
        return proof, is_whole
    if "questions" not in members:
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
