"""Finished runs for a report: measures, answers and first evidences of every question with gold answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from ..formats.run_folder import METRICS, RUN, TURNS, RunRecord, read_seconds
from ..records.conversation import Conversation, RankedAnswer, Turn
from ..records.evidence import Entity, Evidence, normalize_source
from ..scoring.convqa import MEASURES, evaluate, has_answer, is_answer
from ..scoring.pipeline_runs import check_same_questions, gold_ids, measured_conversations, run_name
from ..support.errors import DataError, ScoringError
from ..support.jsonlines import JSON_ERRORS

T = TypeVar("T")
SHOWN_ANSWERS, SHOWN_EVIDENCES = 3, 5
_LONGEST_TEXT = 400  # characters of an evidence that are shown
_STAGES = ("qu", "ers")  # folders of results of a single stage, without answers


class ReportedTurn(NamedTuple):
    """A question with gold answers."""

    group: str  # of turns that depend on each other, see `measured_conversations`
    gold_ids: frozenset[str]
    question: str
    representation: str
    gold: list[str]
    measures: tuple[float, ...]  # in the order of `scoring.convqa.MEASURES`
    probability: float  # of the best answer; 0 without an answer
    first_rank: int | None  # of the first evidence with a gold answer, from 1
    num_evidences: int
    answers: list[dict[str, Any]]  # label, score, is_right
    evidences: list[dict[str, Any]]  # text, source, has_answer
    abstained: str


class ReportedRun(NamedTuple):
    """A run: its turns by question id, its metrics (see `evaluate`), its seconds by stage, and the content of `run.json`."""

    name: str
    path: Path
    turns: dict[str, ReportedTurn]
    metrics: dict[str, Any]
    seconds: dict[str, float]
    record: RunRecord


def find_runs(paths: Sequence[Path]) -> list[Path]:
    """Return the files `turns.jsonl` of runs: these files, and all files below these folders. Raises `DataError`.

    Folders of earlier results (`earlier-ID`) and of single stages are left out.
    """
    files: list[Path] = []
    for path in paths:
        below = sorted(path.rglob(TURNS)) if path.is_dir() else [path]
        runs = [file for file in below if not (path.is_dir() and _is_aside(file.relative_to(path)))]
        if not runs:
            raise DataError(f"{path}: no {TURNS} here or below; give a folder that `pipeline` wrote")
        files += runs
    return list(dict.fromkeys(files))


def _is_aside(path: Path) -> bool:
    return any(part in _STAGES or part.startswith("earlier-") for part in path.parts[:-1])


def read_runs(paths: Sequence[Path]) -> list[ReportedRun]:
    """Read runs, and check that they have the same questions and different names. Raises `DataError` or `ScoringError`."""
    runs: list[ReportedRun] = []
    for path in paths:
        runs.append(_read(path))
        first, last = runs[0], runs[-1]
        check_same_questions(_gold(first), first.path, _gold(last), last.path)
    names = [run.name for run in runs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ScoringError(f"{twice[0]}: two runs have this name; copy one to another name")
    return runs


def _gold(run: ReportedRun) -> dict[str, frozenset[str]]:
    return {name: turn.gold_ids for name, turn in run.turns.items()}


def _read(path: Path) -> ReportedRun:
    turns: dict[str, ReportedTurn] = {}
    conversations: list[Conversation] = []
    for conversation, group, measured in measured_conversations(path):
        turns.update((question_id, _turn(turn, group)) for question_id, turn in measured.items())
        for turn in conversation["questions"]:
            cast("dict[str, Any]", turn).pop("top_evidences", None)  # `evaluate` reads the measures in the turn
        conversations.append(conversation)
    seconds = _beside(path.parent / METRICS, read_seconds, dict[str, float]())
    record = _beside(path.parent / RUN, msgspec.json.Decoder(RunRecord).decode, RunRecord("unknown"))
    return ReportedRun(run_name(path), path, turns, evaluate(conversations), seconds, record)


def _turn(turn: Turn, group: str) -> ReportedTurn:
    gold, ranked, evidences = turn["answers"], turn.get("pred_answers", []), turn.get("top_evidences", [])
    holding = (place for place, evidence in enumerate(evidences, start=1) if has_answer(evidence, gold))
    measures: Any = turn
    return ReportedTurn(
        group,
        gold_ids(turn),
        turn.get("question", ""),
        str(turn.get("structured_representation", "")),
        [str(answer.get("label", answer["id"])) for answer in gold],
        tuple(float(measures[measure]) for measure in MEASURES),
        min(1.0, max(0.0, float(ranked[0].get("score", 0.0)))) if ranked else 0.0,
        next(holding, None),
        len(evidences),
        [_shown_answer(answer, gold) for answer in ranked[:SHOWN_ANSWERS]],
        [_shown_evidence(evidence, gold) for evidence in evidences[:SHOWN_EVIDENCES]],
        str(measures.get("abstained", {}).get("reason", "")),
    )


def _shown_answer(answer: RankedAnswer, gold: Sequence[Entity]) -> dict[str, Any]:
    entity = answer["answer"]
    label, score = str(entity.get("label", entity["id"])), float(answer.get("score", 0.0))
    return {"label": label, "score": score, "is_right": is_answer(entity, gold)}


def _shown_evidence(evidence: Evidence, gold: Sequence[Entity]) -> dict[str, Any]:
    text, source = str(evidence.get("evidence_text", ""))[:_LONGEST_TEXT], normalize_source(evidence["source"])
    return {"text": text, "source": source, "has_answer": has_answer(evidence, gold)}


def most_evidences(runs: Sequence[ReportedRun]) -> int:
    """Return the largest number of evidences of a turn."""
    return max((turn.num_evidences for run in runs for turn in run.turns.values()), default=0)


def _beside(path: Path, read: Callable[[bytes], T], missing: T) -> T:
    if not path.is_file():
        return missing
    try:
        return read(path.read_bytes())
    except (OSError, *JSON_ERRORS) as error:
        raise DataError(f"{path}: cannot be read: {error}; run the pipeline again, or remove it") from error
