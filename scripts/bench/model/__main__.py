"""The embedded model on the dev parts of its data, which no row of its training comes from: reading, ranking, speed.

    bash run.sh bench model [--full]
    bash run.sh bench model --model DIR --precision int8 --only reading,ranking

The model is the one of the package, or --model. Beside it stand BM25 and, where the package that carries it is installed,
all-MiniLM-L6-v2, whose weights the training begins with, as bi-encoder. 200 questions of a set by default, 500 with --full.
"""

from __future__ import annotations

import argparse

from ..harness import MODELS, Spec, run
from .quality import decision_part, evidence_part, ranking_part, reading_part
from .setup import DEFAULT, QUICK, Setup, Size
from .speed import agreement_part, speed_part

MODEL = "snapshot:model"
PRECISIONS = ("auto", "fp32", "fp16", "bf16", "int8")
PARTS = {
    "reading": reading_part, "ranking": ranking_part, "evidence": evidence_part, "decisions": decision_part,
    "speed": speed_part, "agreement": agreement_part,
}  # fmt: skip


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default=MODEL, metavar="DIR", help=f"a joint model (default: {MODEL})")
    parser.add_argument("--precision", choices=PRECISIONS, default="auto", help="of reading, ranking and evidence")
    parser.add_argument("--device", default="auto", help="auto (default), cpu or cuda")


SPEC = Spec(
    "model", __doc__, PARTS, (QUICK, DEFAULT, Size()), options=_options, prepare=Setup,
    needs=dict.fromkeys(PARTS, MODELS), peers=MODELS,
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
