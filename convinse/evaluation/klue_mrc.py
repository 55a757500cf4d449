"""KLUE-MRC by the interface of its metric card: `compute(predictions, references)`, with the rules of `scoring.klue_mrc`.

With the extra `hf-evaluate`, `evaluate.load(klue_mrc.__file__)` gives the same as a metric of Hugging Face's library, which
copies this file elsewhere before it imports it; hence the absolute imports.
"""

from __future__ import annotations

from typing import Any

from convinse.scoring.klue_mrc import evaluate as compute
from convinse.scoring.klue_mrc import gold_texts

try:
    import datasets
    import evaluate
except ImportError:
    evaluate = None

__all__ = ["compute"]

if evaluate is not None:

    class KlueMrc(evaluate.Metric):  # type: ignore[misc]  # the library has no types
        """Exact match and F1 of KLUE-MRC, with the best thresholds of the no-answer probability."""

        def _info(self) -> evaluate.MetricInfo:
            text = datasets.Value("string")
            probability = datasets.Value("float64")  # a float32 would move the thresholds
            predictions = {"id": text, "prediction_text": text, "no_answer_probability": probability}
            references = {"id": text, "answers": {"text": [text]}, "unanswerable": datasets.Value("bool")}
            return evaluate.MetricInfo(
                description=__doc__,
                citation="Park et al.: KLUE: Korean Language Understanding Evaluation. NeurIPS Datasets and Benchmarks, 2021.",
                inputs_description=compute.__doc__,
                features=datasets.Features({"predictions": predictions, "references": references}),
            )

        def add_batch(self, *, predictions: Any = None, references: Any = None, **options: Any) -> None:
            """Add predictions and references in any form that `compute` takes; the library knows only one."""
            golds = gold_texts(references).items()  # None for an unanswerable question
            super().add_batch(
                predictions=[{"no_answer_probability": None, **prediction} for prediction in predictions],
                references=[
                    {"id": qid, "answers": {"text": gold or []}, "unanswerable": gold is None} for qid, gold in golds
                ],
                **options,
            )

        def _compute(self, predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
            return compute(predictions, references, **options)
