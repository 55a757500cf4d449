"""Finished runs of the pipeline as TREC runs of their evidences, with qrels by answer presence.

trec_eval, ir_measures and ranx read the files (https://github.com/usnistgov/trec_eval): `QUESTION 0 DOCUMENT RELEVANCE`
a line of the qrels, `QUESTION Q0 DOCUMENT RANK SCORE RUN` a line of a run. A document is an evidence: its id is made of
its source and its text, so that it is the same in every run. A document is relevant to a question if a gold answer is among
its entities. So `Success@100` of 100 evidences is the answer presence, and `RR` is that of the first evidence with it.

- All evidences of all runs are judged (the pool), the relevant ones with 1 and the others with 0.
- Entities of equal evidences can differ between runs; a gold answer in the entities of any run makes it relevant.
- A question without any evidence is judged on the document `none`, which is in no run, so that it counts 0.
- The order of the pipeline counts, so the score is the place counted from the end. The pipeline's scores may be equal, or on
  two scales in a cascade, and trec_eval has too few digits to separate them by a small step.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..formats.poleval.runs import check_free
from ..records.evidence import Evidence, normalize_source
from ..support.errors import DataError, ScoringError
from ..support.files import replacing
from .convqa import has_answer
from .pipeline_runs import MeasuredTurn, check_same_questions, measured_turns, run_name

QRELS = "qrels.txt"
NO_DOCUMENT = "none"


def document_id(evidence: Evidence) -> str:
    """Return the source and 16 hexadecimal digits of a hash of source and text: `kb-0f3a...`."""
    source = normalize_source(evidence["source"])
    digest = hashlib.sha256(f"{source}\n{evidence['evidence_text']}".encode()).hexdigest()
    return f"{source}-{digest[:16]}"


def write_trec(paths: Sequence[Path], folder: Path, force: bool = False) -> dict[str, Any]:
    """Write `NAME.run.txt` for each run and a joint `qrels.txt`. Raises `DataError`, `ScoringError` or `OutputError`.

    Args:
        paths: files `turns.jsonl` of runs over the same questions; questions without gold answers are left out.
        folder: to write; may exist.
        force: replace files that are there.
    """
    targets: dict[str, Path] = {}
    for path in paths:
        name = run_name(path)
        if name in targets:
            raise ScoringError(f"{path}: a run of the name '{name}' is given already; copy one to another name")
        targets[name] = folder / f"{name}.run.txt"
    for target in (*targets.values(), folder / QRELS):
        check_free(target, force)
    pool: dict[str, dict[str, int]] = {}
    first: dict[str, frozenset[str]] = {}
    with ExitStack() as written:  # all files take their places together, when the last run is read
        for path, (name, target) in zip(paths, targets.items(), strict=True):
            gold: dict[str, frozenset[str]] = {}
            with written.enter_context(replacing(target)).open("w", encoding="utf-8") as file:
                for measured in measured_turns(path):
                    gold[measured.question_id] = measured.gold
                    judged = _judged(measured, path)
                    for place, document in enumerate(judged):
                        score = len(judged) - place
                        file.write(f"{measured.question_id} Q0 {document} {place + 1} {score} {name}\n")
                    pooled = pool.setdefault(measured.question_id, {})
                    for document, relevance in judged.items():
                        pooled[document] = max(relevance, pooled.get(document, 0))
            first = first or gold
            check_same_questions(first, paths[0], gold, path)
        with written.enter_context(replacing(folder / QRELS)).open("w", encoding="utf-8") as file:
            for question_id, documents in pool.items():
                for document, relevance in (documents or {NO_DOCUMENT: 0}).items():
                    file.write(f"{question_id} 0 {document} {relevance}\n")
    return {
        "qrels": str(folder / QRELS),
        "num_questions": len(pool),
        "num_judged": sum(map(len, pool.values())),
        "num_relevant": sum(sum(documents.values()) for documents in pool.values()),
        "runs": {name: str(target) for name, target in targets.items()},
    }


def _judged(measured: MeasuredTurn, path: Path) -> dict[str, int]:
    where = f"{path}: question '{measured.question_id}'"
    if len(measured.question_id.split()) != 1:
        raise DataError(f"{where}: white space in a question_id cannot be written in TREC's format")
    relevance: dict[str, int] = {}
    for evidence in measured.turn["top_evidences"]:
        if not isinstance(evidence.get("evidence_text"), str):
            raise DataError(f"{where}: an evidence has no 'evidence_text' string; docs/evidences.md shows the format")
        document = document_id(evidence)
        relevant = int(has_answer(evidence, measured.turn["answers"]))
        relevance[document] = max(relevant, relevance.get(document, 0))
    return relevance
