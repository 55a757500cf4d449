"""Evidence scoring: pairs a second beside sentence-transformers, a turn with 3,000 candidates, answers kept, BM25.

    bash run.sh bench rerank
    bash run.sh bench rerank --quick
    bash run.sh bench rerank --device cuda --parts pairs,turn
    bash run.sh bench rerank --model FOLDER [--full]

The weights are those of all-MiniLM-L6-v2, for the cross-encoder with a random head of one logit; with --model a trained
cross-encoder is measured besides, and its answers. What it is measured on stands in rerank/data.py. The data lies in
../shared/data or CONVINSE_DATA; the figures of the measured parts go to results/bench/rerank.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from bench.rerank.data import PACKAGE, gather, minilm, need_packages, one_logit, shared_data
from bench.rerank.measures import QUICK, Bench, Size
from convinse.support.errors import ConvinseError

OUTPUT = Path("results/bench/rerank.json")
VERSIONS = ("torch", "transformers", "sentence-transformers", "rank_bm25")  # told beside the figures
RANDOM_HEAD = "all-MiniLM-L6-v2 with a random head"
# BM25 is the first: it is to see texts for the first time. Part -> the packages that it needs.
PARTS = {
    "bm25": ("rank_bm25",),
    "pairs": ("sentence_transformers", "torch", "transformers", PACKAGE),
    "turn": ("torch", "transformers", PACKAGE),
    "presence": ("torch", "transformers", PACKAGE),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda, for all models")
    parser.add_argument("--quick", action="store_true", help="a trial in under a minute; its figures say little")
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="a trained cross-encoder")
    parser.add_argument("--full", action="store_true", help="no limit on what --model scores for the answers kept")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {','.join(PARTS)} (default: all)")
    options = parser.parse_args()
    parts = options.parts.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"--parts: unknown part '{unknown[0]}'; valid: {', '.join(PARTS)}")
    need_packages(dict.fromkeys(name for part in parts for name in PARTS[part]))
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="true")
    try:
        run(options.device, QUICK if options.quick else Size(), options.model, options.full, parts)
    except ConvinseError as error:
        raise SystemExit(f"bench: {error}") from None


def run(device: str, size: Size, model: Path | None, full: bool, parts: list[str]) -> None:
    """Measure, print and write."""
    folder = shared_data()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        models, bi_encoder = {}, work
        if set(parts) != {"bm25"}:
            from convinse.encoder.checkpoint import load_checkpoint

            _prepare(device)
            bi_encoder = minilm()
            models = {RANDOM_HEAD: one_logit(bi_encoder, work / "random-head")}
            if model is not None:
                load_checkpoint(model, "sequence-classification", "--model")  # or an error at once
                models[str(model)] = model
        print("building knowledge base and Wikipedia dump, retrieving ...", file=sys.stderr)
        bench = Bench(gather(folder, work), work, bi_encoder, models, device, size, full)
        for part in (part for part in PARTS if part in parts):
            print(f"measuring {part} ...", file=sys.stderr)
            if part == "pairs":
                from bench.rerank.pairs import pairs_part

                pairs_part(bench)
            else:
                from bench.rerank import turns

                getattr(turns, f"{part}_part")(bench)
    failed = [str(bound) for bound in bench.bounds if bound.failed]
    print("all bounds kept" if not failed else "\n".join(failed))
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    written = {"machine": _machine(device), **bench.figures, "failed_bounds": failed}
    OUTPUT.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    print(OUTPUT)


def _prepare(device: str) -> None:
    """Refuse a device that is not there; no progress bars while models load."""
    from transformers.utils.logging import disable_progress_bar

    from convinse.encoder.precision import find_device

    find_device(device)
    disable_progress_bar()


def _machine(device: str) -> dict[str, object]:
    found = {name: metadata.version(name) for name in VERSIONS if find_spec(name.replace("-", "_"))}
    if device != "cpu":
        import torch

        found["gpu"] = torch.cuda.get_device_name(device)
    return {"cores": os.cpu_count(), "kind": platform.machine(), "python": platform.python_version(), **found}


if __name__ == "__main__":
    main()
