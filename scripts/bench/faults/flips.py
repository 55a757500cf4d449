"""Damage to what was built: a flipped bit, or a block that is zeros, cut off or written over; `verify` must name the file,
and whoever reads must get the undamaged answer or an error of one line."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from convinse.cli.verify import faults
from convinse.config import load_config
from convinse.encoder.reranker import BertReranker
from convinse.formats.run_folder import FinishedConversation, RunFolder
from convinse.heterogeneous_answering.answer_weights import read_answer_weights
from convinse.knowledge_base import index as knowledge_base
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.linking import EntityLinker
from convinse.passages import layout as passages
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.pipeline import Pipeline
from convinse.question_understanding.history_weights import read_weights
from convinse.scoring.pipeline_runs import measured_turns
from convinse.support.errors import ConvinseError
from convinse.support.evidence_cache import EvidenceCache
from convinse.support.vector_cache import VectorCache
from convinse.wikipedia.dump import WikipediaDump
from recipes.snapshot.build import SNAPSHOT

from ..harness import Bench, Figures
from .campaign import Attempt, Trial, measured

_TRIALS = (10, 95, 300)  # of a format: 110, 1,045 and 3,300 in all
_SECONDS = 60  # after which a reader is taken to hang
_BITS = 0.7  # of the trials flip a bit, the others harm a block
_BLOCK = 4096
_QUESTIONS = ("who directed Titanic?", "which band recorded Abbey Road", "Chelsea coach", "who wrote Dracula", "mesi")
_WORDS = [f"w{number}" for number in range(97)]
_PAIRS = [("who wrote it?", "Dracula, author, Bram Stoker"), ("who wrote it?", "Dracula is a novel of 1897.")]
_ROWS = 200  # entries of a cache


class Format(NamedTuple):
    """What is built, and read again.

    build: into a folder; answers: what is read from it; named: whether `verify` must name every damage: what is appended to
    or changed in place has no checksum of all of itself, but of each entry.
    """

    build: Callable[[Path], object]
    answers: Callable[[Path], Any]
    named: bool = True


def flips(bench: Bench) -> Figures:
    """The part `flips`."""
    groups: dict[str, Attempt] = {name: partial(_tried, name, form) for name, form in FORMATS.items()}
    return measured(bench, "flips", groups, _TRIALS[bench.size])


def _tried(name: str, form: Format, trial: Trial) -> str:
    whole = trial.kept / name
    if not whole.exists():
        with suppress(FileNotFoundError):
            shutil.rmtree(whole.with_suffix(".new"))
        form.build(whole.with_suffix(".new"))
        whole.with_suffix(".new").rename(whole)
        (trial.kept / f"{name}.json").write_text(json.dumps(form.answers(_copied(whole, trial.work / "read"))))
    expected = json.loads((trial.kept / f"{name}.json").read_text())
    copied = _copied(whole, trial.work / "copy")
    harmed = trial.random.choice([path for path in sorted(copied.rglob("*")) if path.is_file() and path.stat().st_size])
    how = _harm(trial, harmed)
    what = f"{how} of {harmed.relative_to(copied)}"
    if form.named and (wrong := _not_named(copied, harmed)):
        return f"{what}: {wrong}"
    wrong = _read(lambda: form.answers(copied), expected)
    return f"{what}: {wrong}" if wrong else ""


def _copied(folder: Path, target: Path) -> Path:
    """A copy of a folder whose files may be replaced; the caches, which are written in place, as files of their own."""
    shutil.copytree(folder, target, copy_function=shutil.copy if any(folder.rglob("cache.db")) else _linked)
    return target


def _linked(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy(source, target)
    return target


def _harm(trial: Trial, path: Path) -> str:
    """Damage a file; returns how."""
    before = path.read_bytes()
    data = bytearray(before)
    place = trial.random.randrange(len(data))
    block = slice(place, place + trial.random.randrange(1, _BLOCK))
    kind = "bit" if trial.random.random() < _BITS else trial.random.choice(("zeros", "cut", "repeated"))
    if kind == "zeros":
        data[block] = bytes(len(data[block]))
    elif kind == "cut":
        del data[place:]
    elif kind == "repeated":
        source = trial.random.randrange(len(data))
        piece = data[source : source + _BLOCK]
        data[place : place + len(piece)] = piece
    if data == before:  # zeros over zeros
        kind = "bit"
    if kind == "bit":
        data[place] ^= 1 << trial.random.randrange(8)
    path.unlink()  # not in place: the undamaged file is linked here
    path.write_bytes(data)
    return f"{kind} at {place}"


def _not_named(folder: Path, harmed: Path) -> str:
    """What is wrong with what `verify` says; empty where it names the file."""
    try:
        named = [path for path, fault in faults(folder) if fault]
    except ConvinseError as error:
        return "" if str(harmed) in str(error) else f"verify says: {error}"
    except BaseException as error:
        return f"verify ends with {type(error).__name__}: {error}"
    return "" if harmed in named else f"verify names {[path.name for path in named]}"


def _read(answers: Callable[[], Any], expected: Any) -> str:
    """What is wrong with reading; empty where the answers are the undamaged ones, or an error of one line."""
    try:
        with _limited():
            given = json.loads(json.dumps(answers()))
    except ConvinseError as error:
        return "" if "\n" not in str(error) else f"an error of several lines: {error}"
    except BaseException as error:  # the engines' own kinds derive from it
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return "" if given == expected else "another answer"


@contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError("hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_SECONDS)
    logging.disable(logging.WARNING)  # entries of a cache that are made again
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# -- what is built and read --------------------------------------------------------------------------------------------


def _kb_answers(folder: Path) -> Any:
    with closing(KnowledgeBase(folder)) as kb:
        linker = EntityLinker(kb, load_config("lexical.yml").clocq_params)
        linked = [repr(linker.link(question)) for question in _QUESTIONS]
        names = [kb.search_names([word], 10, 1) for word in ("titanic", "dracula", "beatles")]
        items = sorted(kb.titles().values())[::9]
        return linked, names, [(kb.text(item), kb.neighborhood(item, 20), kb.types(item)) for item in items]


def _large_kb_answers(folder: Path) -> Any:
    with mock.patch.object(knowledge_base, "CHECKS", knowledge_base.CHECKS._replace(whole=0)):
        return _kb_answers(folder)


def _dump_answers(folder: Path) -> Any:
    with closing(WikipediaDump(folder / "wikipedia.db")) as dump:
        pages = [dump.get(item) for item in ("Q44578", "Q41225", "Q1299", "Q9616", "Q0")]
        return pages, dump.search(["titanic"]), dump.search([], ["novel", "vampire"]), dump.items()


def _build_passages(folder: Path) -> None:
    folder.mkdir()
    lines = ({"id": f"p{n}", "text": " ".join(_WORDS[n * k % 97] for k in range(1, 30 + n % 9))} for n in range(1500))
    (folder / "passages.jl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    build_index(folder / "passages.jl", folder / "index", passages.Parameters())
    (folder / "passages.jl").unlink()


def _passage_answers(folder: Path) -> Any:
    index = PassageIndex(folder / "index")
    hits = [hit for n in range(20) for hit in index.search(f"w{n} w{n * 7 % 97}", 5)]
    return (
        hits,
        [passage.text for passage in index.passages([hit.number for hit in hits])],
        index.numbers(["p3", "p999"]),
    )


def _large_passage_answers(folder: Path) -> Any:
    with mock.patch.object(passages, "CHECKS", passages.CHECKS._replace(whole=0)):
        return _passage_answers(folder)


def _without_cards(folder: Path, target: Path) -> None:
    """Cards are for people to read, and have no checksum."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("*.md"))


def _model_answers(folder: Path) -> Any:
    reranker = BertReranker(folder)
    return [round(float(score), 5) for score in reranker.predict(_PAIRS)]


def _build_weights(folder: Path) -> None:
    for name in ("answers", "history"):
        _without_cards(SNAPSHOT / name, folder / name)


def _weights(folder: Path) -> Any:
    return repr(read_answer_weights(folder / "answers")), repr(read_weights(folder / "history"))


def _entry(number: int) -> list[Any]:
    return [number, "evidence " * (number % 50), {"score": number / 7}]


def _build_cache(folder: Path) -> None:
    with closing(EvidenceCache(folder)) as cache:
        for number in range(_ROWS):
            cache.put("kind", "build", number, value=_entry(number))


def _cache_answers(folder: Path) -> Any:
    """What is cached, or computed anew where it is not."""
    with closing(EvidenceCache(folder)) as cache:
        read = []
        for number in range(_ROWS):
            if (value := cache.get("kind", "build", number)) is None:
                cache.put("kind", "build", number, value=_entry(number))
            read.append(cache.get("kind", "build", number) if value is None else value)
        return read


def _build_vectors(folder: Path) -> None:
    with closing(VectorCache(folder, "model", 24)) as cache:
        cache.put([f"text {number}" for number in range(_ROWS)], [[number / 8] * 24 for number in range(_ROWS)])


def _vector_answers(folder: Path) -> Any:
    texts = [f"text {number}" for number in range(_ROWS)]
    with closing(VectorCache(folder, "model", 24)) as cache:
        unknown = [number for number, known in enumerate(cache.get(texts)[1]) if not known]
        if unknown:
            cache.put([texts[number] for number in unknown], [[number / 8] * 24 for number in unknown])
        return cache.get(texts)[0].tolist()


def _conversation(number: int) -> dict[str, Any]:
    answer = {"id": f"Q{number}", "label": f"label {number}"}
    return {
        "conv_id": f"c{number}",
        "questions": [
            {
                "turn": 0,
                "question": "who?",
                "answers": [answer],
                "top_evidences": [],
                "pred_answers": [{"answer": answer, "score": 1.0, "rank": 1}],
            }
        ],
    }


def _build_results(folder: Path) -> None:
    with RunFolder(folder, {"settings": "id"}) as output:
        for number in range(40):
            output.add(FinishedConversation.of(_conversation(number)))  # type: ignore[arg-type]
        output.write_metrics({"num_questions": 40, "p_at_1": 0.5})


def _result_answers(folder: Path) -> Any:
    turns = [[turn.question_id, turn.turn] for turn in measured_turns(folder / "turns.jsonl")]
    with RunFolder(folder, {"settings": "id"}) as output:
        return turns, list(output.finished.values()), output.seconds()


def _pipeline_answers(folder: Path) -> Any:
    config = load_config("lexical.yml", ers_cache_path=str(folder / "cache"))
    conversation = json.loads((SNAPSHOT / "conversations" / "dev.json").read_text())[0]
    with Pipeline(config) as pipeline:
        (answered,) = pipeline.run([conversation])
    return answered


def _build_snapshot(name: str, folder: Path) -> None:
    folder.mkdir()
    shutil.copy(SNAPSHOT / name, folder / name)


FORMATS = {
    "knowledge base": Format(partial(shutil.copytree, SNAPSHOT / "kb"), _kb_answers),
    "knowledge base, large": Format(partial(shutil.copytree, SNAPSHOT / "kb"), _large_kb_answers),
    "Wikipedia dump": Format(partial(_build_snapshot, "wikipedia.db"), _dump_answers),
    "passages": Format(_build_passages, _passage_answers),
    "passages, large": Format(_build_passages, _large_passage_answers),
    "model": Format(partial(_without_cards, SNAPSHOT / "model"), _model_answers),
    "weights": Format(_build_weights, _weights),
    "evidence cache": Format(_build_cache, _cache_answers, named=False),
    "vector cache": Format(_build_vectors, _vector_answers, named=False),
    "results": Format(_build_results, _result_answers),
    "pipeline with cache": Format(_pipeline_answers, _pipeline_answers, named=False),
}
