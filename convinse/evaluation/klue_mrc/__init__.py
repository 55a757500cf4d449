"""KLUE-MRC: `compute` gives the 13 values of its metric card; `scoring.klue_mrc` has the rules.

With the extra `hf-evaluate`, `evaluate.load(convinse.evaluation.klue_mrc.FOLDER)` is the same as a Hugging Face metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

FOLDER = str(Path(__file__).parent)


def compute(
    predictions: Iterable[Mapping[str, Any]], references: Iterable[Mapping[str, Any]], **options: Any
) -> dict[str, Any]:
    """The values of KLUE-MRC, scores in percent.

    Args:
        predictions: `{"id", "prediction_text", "no_answer_probability"}` each.
        references: `{"id", "answers", "unanswerable"}` each, the answers as `[{"text"}, ...]` or
            `{"text": [...], "answer_start": [...]}`.
        **options: `no_answer_threshold`, `char_f1`, `rouge_w`, `keep_articles`, as `scoring.klue_mrc.evaluate` has them.

    Raises:
        ScoringError: predictions and references do not fit together; the message names the id.
    """
    from ...scoring.klue_mrc import evaluate

    return evaluate(predictions, references, **options)
