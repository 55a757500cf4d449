"""Finished runs on disk, as `pipeline` leaves them, for the tests of reports."""

import json
from pathlib import Path

from finished import conversation, evidence, turn
from written import write_lines

HOSTILE = "<script>alert('1')</script> & \"50 %\" $x_1$ \\bye{} {#}"


def write_run(name, ranks, evidences=(), turns=2, seconds=None, settings=None, **more):
    """A run whose right answers have the ranks (0: none), so many turns a conversation; returns its folder."""
    folder = Path("results") / name / "kb"
    folder.mkdir(parents=True)
    questions = [turn(f"q{n}", rank=rank, evidences=evidences, **more) for n, rank in enumerate(ranks)]
    write_lines(
        folder / "turns.jsonl", *(conversation(f"c{n}", *questions[n : n + turns]) for n in range(0, len(ranks), turns))
    )
    if settings:
        _write_record(folder, settings, f"convinse pipeline kb {name}.yml")
    if seconds:
        (folder / "metrics.json").write_text(json.dumps({"seconds": seconds}))
    return folder


def _write_record(folder, settings, command):
    record = {"run": "id", "settings": settings, "command": command, "begun": "2026-11-26 10:00:00"}
    (folder / "run.json").write_text(json.dumps(record))


def hostile_run(name, rank):
    """A run all of whose texts are markup."""
    folder = Path("results") / name / HOSTILE.replace("/", "")
    folder.mkdir(parents=True)
    named = [{"id": "Q1", "label": HOSTILE}]
    found = [{"answer": {"id": "Q1" if rank else "Q2", "label": HOSTILE}, "score": 0.5, "rank": 1}]
    question = {"question_id": HOSTILE, "question": HOSTILE, "structured_representation": HOSTILE, "kind": HOSTILE, "answers": named,
             "pred_answers": found, "top_evidences": [evidence(HOSTILE, "Q1")], "abstained": {"reason": HOSTILE}}  # fmt: skip
    _write_record(folder, {HOSTILE: f"{HOSTILE} {rank}"}, HOSTILE)
    write_lines(folder / "turns.jsonl", {"conv_id": HOSTILE, "domain": HOSTILE, "questions": [question]})
    return folder


def holding(*places):
    """Five evidences, of which those at the places (from 1) hold the gold answer."""
    return [evidence(f"text {place}", *(["Q1"] if place in places else []), source="text") for place in range(1, 6)]
