"""The embedded model on the dev parts of its data, which no row of its training comes from: reading, ranking, speed.

    bash run.sh bench model
    bash run.sh bench model --quick
    bash run.sh bench model --model DIR --precision int8 --only reading,ranking

The model is the one of the package, or --model. Beside it stand BM25 and, where the package that carries it is installed,
all-MiniLM-L6-v2, whose weights the training begins with, as bi-encoder. The data lies in ../shared/data or CONVINSE_DATA;
the figures of the measured parts go to results/bench/model.json, with what each of them should be.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from bench.model.costs import agreement_part, speed_part
from bench.model.decisions import decision_part
from bench.model.model import Model
from bench.model.quality import evidence_part, ranking_part, reading_part
from bench.model.setup import QUICK, Bench, Size
from bench.rerank.data import need_packages, shared_data
from convinse.config import resolve
from convinse.support.errors import ConvinseError
from convinse.support.files import replacing

OUTPUT = Path("results/bench/model.json")
DEFAULT = "snapshot:model"
PRECISIONS = ("auto", "fp32", "fp16", "bf16", "int8")
VERSIONS = ("torch", "transformers")  # told beside the figures
PARTS = {
    "reading": reading_part,
    "ranking": ranking_part,
    "evidence": evidence_part,
    "decisions": decision_part,
    "speed": speed_part,
    "agreement": agreement_part,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default=DEFAULT, metavar="DIR", help=f"a joint model (default: {DEFAULT})")
    parser.add_argument("--quick", action="store_true", help="50 questions of a set; the figures say little")
    parser.add_argument("--questions", type=int, metavar="N", help=f"of a set, at most (default: {Size.questions})")
    parser.add_argument("--precision", choices=PRECISIONS, default="auto", help="of reading, ranking and evidence")
    parser.add_argument("--device", default="auto", help="auto (default), cpu or cuda")
    parser.add_argument("--only", default=",".join(PARTS), metavar="NAME", help=f"of {','.join(PARTS)} (default: all)")
    options = parser.parse_args(arguments)
    parts = options.only.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"--only: unknown part '{unknown[0]}'; valid: {', '.join(PARTS)}")
    if options.questions is not None and options.questions < 1:
        parser.error("--questions: at least 1")
    need_packages(("torch", "transformers"))
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="true")
    logging.basicConfig(format="%(message)s")
    logging.getLogger("convinse").setLevel(logging.INFO)
    size = QUICK if options.quick else Size()
    if options.questions is not None:
        size = Size(options.questions, size.evidence, size.turns)
    model = Model(_folder(options.model), options.device, options.precision)
    try:
        with tempfile.TemporaryDirectory(prefix="convinse-") as work:
            run(Bench(model, shared_data(), Path(work), size), parts)
    except ConvinseError as error:
        raise SystemExit(f"bench: {error}") from None


def _folder(name: str) -> Path:
    folder = resolve(name)
    if not folder.is_dir():
        raise SystemExit(
            f"bench: {folder}: no such model; give --model DIR, such as one of: bash run.sh train embedded"
        )
    return folder


def run(bench: Bench, parts: Sequence[str]) -> None:
    """Measure, print and write."""
    from convinse.encoder.checkpoint import folder_id
    from convinse.encoder.precision import find_device, find_precision

    device = find_device(bench.model.device)
    precision = find_precision(bench.model.precision, device)
    bench.console.print(f"{bench.model.folder}, {device}, {precision}")
    seconds = {}
    for part in (part for part in PARTS if part in parts):
        start = time.perf_counter()
        PARTS[part](bench)
        seconds[part] = round(time.perf_counter() - start, 1)
        print(f"{part}: {seconds[part]} seconds", file=sys.stderr)
    failed = [str(bound) for bound in bench.bounds if bound.failed]
    bench.console.print("all bounds kept" if not failed else "\n".join(["missed:", *failed]))
    written = {
        "machine": _machine(str(device)), "model": folder_id(bench.model.folder), "precision": precision,
        "questions": bench.size.questions, "seconds": seconds, **bench.figures,
        "bounds": {bound.what: {"value": bound.value, "bound": bound.bound} for bound in bench.bounds},
        "failed_bounds": failed,
    }  # fmt: skip
    with replacing(OUTPUT) as temporary:
        temporary.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    print(OUTPUT)


def _machine(device: str) -> dict[str, object]:
    found: dict[str, object] = {name: metadata.version(name) for name in VERSIONS}
    if device != "cpu":
        import torch

        found["gpu"] = torch.cuda.get_device_name(device)
    return {"cores": os.cpu_count(), "kind": platform.machine(), "python": platform.python_version(), **found}


if __name__ == "__main__":
    main()
