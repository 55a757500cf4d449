"""KLUE-MRC as a metric of the Hugging Face `evaluate` library, which is given this folder: `evaluate.load(FOLDER)`.

The library copies this file elsewhere before it imports it; hence the absolute imports. Without the library the module
can be imported, but has no metric.
"""

from __future__ import annotations

from typing import Any

from convinse.evaluation import klue_mrc
from convinse.scoring.klue_mrc import gold_texts
from convinse.support.errors import ModuleError

try:
    import datasets
    import evaluate
except ImportError:
    evaluate = None

_CITATION = "Park et al.: KLUE: Korean Language Understanding Evaluation. NeurIPS Datasets and Benchmarks, 2021."

if evaluate is not None:

    class KlueMrc(evaluate.Metric):  # type: ignore[misc]  # the library has no types
        """Exact match and F1 of KLUE-MRC, with the best thresholds of the no-answer probability."""

        def _info(self) -> evaluate.MetricInfo:
            text = datasets.Value("string")
            return evaluate.MetricInfo(
                description=klue_mrc.__doc__,
                citation=_CITATION,
                inputs_description=klue_mrc.compute.__doc__,
                features=datasets.Features(
                    {
                        "predictions": {
                            "id": text,
                            "prediction_text": text,
                            "no_answer_probability": datasets.Value("float64"),  # a float32 would move the thresholds
                        },
                        "references": {"id": text, "answers": {"text": [text]}, "unanswerable": datasets.Value("bool")},
                    }
                ),
                reference_urls=["https://klue-benchmark.com"],
            )

        def add_batch(self, *, predictions: Any = None, references: Any = None, **options: Any) -> None:
            """Add predictions and references, in any form that `compute` takes; the library knows but one."""
            golds = gold_texts(references).items()
            super().add_batch(
                predictions=[{"no_answer_probability": None, **prediction} for prediction in predictions],
                references=[
                    {"id": qid, "answers": {"text": gold or []}, "unanswerable": gold is None} for qid, gold in golds
                ],
                **options,
            )

        def add(self, *, prediction: Any = None, reference: Any = None, **options: Any) -> None:
            """Add one prediction and its reference."""
            self.add_batch(predictions=[prediction], references=[reference], **options)

        def _compute(self, predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
            return klue_mrc.compute(predictions, references, **options)


def __getattr__(name: str) -> Any:
    if name == "KlueMrc":
        raise ModuleError("the metric needs Hugging Face evaluate; run pip install 'convinse[hf-evaluate]'")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
