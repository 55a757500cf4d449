"""The command that compares built files with their checksums, and proofs with their files: verify."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import Commands, add_config
from .documents import add_over, configured_over
from .tables import say

if TYPE_CHECKING:
    from ..documents.proof import Proof, ProofQuestion
    from ..records.evidence import Quote

_NO_SUMS = "has no checksums: another program wrote it, or its run is not finished"


def add(commands: Commands) -> None:
    """Add `verify`."""
    sub = commands.add(
        "verify",
        _verify,
        "check that built files are as they were written, byte for byte, or that quotes still stand in their files",
    )
    sub.add_argument(
        "path", metavar="PATH",
        help="a knowledge base, a Wikipedia dump, an index of documents or passages, a model, a cache, results, or a folder of "
        "these; or the proof of ask --proof, or a conversation over files that chat saved",
    )  # fmt: skip
    sub.add_argument(
        "--ask", action="store_true", help="of a proof: also ask its questions again, and say which answers changed"
    )
    add_over(
        sub, "of a proof whose files were moved: where they are now, in the order they were named; may be repeated"
    )
    add_config(sub)


def _verify(options: argparse.Namespace) -> int:
    from ..config import resolve
    from ..support.errors import ConfigError, IndexFileError

    path = resolve(options.path)
    if _is_json(path):
        return _verify_quotes(path, options)
    if options.ask or options.over:
        raise ConfigError(f"{path}: --ask and --over belong to a proof or a saved conversation")
    checked, damaged = 0, []
    for file, fault in faults(path):
        checked += 1
        if fault:
            damaged.append(file)
        print(f"{file}: {_NO_SUMS if fault is None else fault or 'ok'}", flush=True)
    if not checked:
        raise IndexFileError(f"{path}: nothing here that verify knows: name a knowledge base, a dump, a passage index, "
                             "a model, a cache or results")  # fmt: skip
    if damaged:
        raise IndexFileError(f"{damaged[0]}: damaged" + (f", and {len(damaged) - 1} more" if damaged[1:] else ""))
    return 0


def _is_json(path: Path) -> bool:
    """Whether a file is to be read as a proof or a conversation: by its name, or its first sign."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return path.suffix == ".json" or file.read(64).lstrip()[:1] == b"{"
    except OSError as error:
        from ..support.errors import unreadable

        raise unreadable(path, error) from None


def _verify_quotes(path: Path, options: argparse.Namespace) -> int:
    from ..documents.proof import read_proof
    from ..documents.verifier import Verifier, excerpt
    from ..support.errors import DataError

    proof, is_whole = read_proof(path, [Path(root) for root in options.over])
    if not is_whole:
        say(f"{path}: was edited after it was written: its checksum is of another content")
    folder, verifier = path.resolve().parent, Verifier(proof["over"])
    fallen = quotes = 0
    for question in proof["questions"]:
        if "abstained" in question:
            say(f"{question['question']}: not known: {question['abstained']}")
        for answer in question["answers"]:
            about = f"{question['question']}: {answer['answer']}"
            if not answer["quotes"]:
                say(f"{about}: quotes no file")
            for quote in answer["quotes"]:
                stands, state = verifier.check(quote)
                start, end = (quote["spans"][0]["start"], quote["spans"][-1]["end"]) if quote["spans"] else (0, 0)
                say(f'{about}: "{excerpt(quote["words"], start, end)}" {_shown_place(quote, folder)}: {state}')
                quotes, fallen = quotes + 1, fallen + (not stands)
    changed = _changed_answers(options, proof, folder) if options.ask else 0
    reasons = [f"{fallen} of {quotes} quotes do not stand"] if fallen else []
    reasons += [f"{changed} of {len(proof['questions'])} answers changed"] if changed else []
    reasons += [] if is_whole else ["edited"]
    if reasons:
        raise DataError(f"{path}: {', '.join(reasons)}")
    return 0


def _shown_place(quote: Quote, folder: Path) -> str:
    """Return the place of a quote, its path as a proof in a folder has it."""
    from ..documents.proof import relative_to

    return ", ".join(filter(None, (relative_to(folder, quote["path"]), " > ".join(quote["headings"]), quote["place"])))


def _changed_answers(options: argparse.Namespace, proof: Proof, folder: Path) -> int:
    """Ask the questions of a proof again and say of each what became of its answer; return how many changed."""
    from ..documents.proof import proof_of
    from ..pipeline import Pipeline
    from ..records.evidence import parse_sources

    options.over = proof["over"]
    sources, changed = parse_sources(proof["sources"]), 0
    with Pipeline(configured_over(options)) as pipeline:
        session = pipeline.session(sources)
        for before in proof["questions"]:
            turn = session.ask(before["question"])
            again = proof_of({"conv_id": "", "questions": [turn]}, [Path(root) for root in proof["over"]], sources)
            now = again["questions"][0] if again["questions"] else {**before, "answers": []}
            is_same = _answers(before) == _answers(now)
            words = (
                f"still {_cited(now, folder)}"
                if is_same
                else f"was {_cited(before, folder)}, now {_cited(now, folder)}"
            )
            say(f"{before['question']}: {words}")
            changed += not is_same
    return changed


def _answers(question: ProofQuestion) -> list[str]:
    return sorted(answer["answer"] for answer in question["answers"])


def _cited(question: ProofQuestion, folder: Path) -> str:
    """Return the answers of a question, each with the place of its first quote."""
    answers = [
        answer["answer"] + "".join(f" ({_shown_place(quote, folder)})" for quote in answer["quotes"][:1])
        for answer in question["answers"]
    ]
    return ", ".join(answers) or "not known"


def faults(path: Path) -> Iterator[tuple[Path, str | None]]:
    """Yield each file at a path and its fault: empty if it is sound, None if it has no checksums.

    Raises:
        IndexFileError: the file or folder is missing.
    """
    from ..encoder.exported import MANIFEST as GRAPHS
    from ..formats.run_folder import TURNS
    from ..support import manifest
    from ..support.cache import FILE, cache_fault
    from ..support.errors import IndexFileError

    if path.is_file():
        yield path, cache_fault(path) if path.name == FILE else _dump_fault(path)
    elif not path.is_dir():
        raise IndexFileError(f"{path}: no such file or folder")
    elif (path / manifest.MANIFEST).exists():
        yield from manifest.faults(path)
    elif plain := [path / name for name in ("config.json", GRAPHS, TURNS) if (path / name).is_file()]:
        yield from ((file, None) for file in plain)
    else:
        for inner in sorted(path.iterdir()):
            if inner.is_dir() or inner.suffix == ".db":
                yield from faults(inner)


def _dump_fault(path: Path) -> str:
    from contextlib import closing

    from ..documents.index import FILE, DocumentIndex
    from ..support.errors import IndexFileError
    from ..wikipedia.dump import WikipediaDump

    try:
        with closing(DocumentIndex(path.parent) if path.name == FILE else WikipediaDump(path)) as dump:
            dump.verify()
    except IndexFileError as error:
        return str(error).removeprefix(f"{path}: ")
    return ""
