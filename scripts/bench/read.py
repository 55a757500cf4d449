"""The extractive reader beside the usual loop over transformers, and Haystack's reader: questions a second, answers.

    bash run.sh bench read
    bash run.sh bench read --quick
    bash run.sh bench read --model FOLDER

All read the same questions with the same weights, one passage a question, in turn, with windows of 384 tokens that share
128; tokenising is counted. The weights are those of all-MiniLM-L6-v2 with a random span head, or --model. The questions
are BoolQ's with their passages and QED's with their paragraphs, from ../shared/data or CONVINSE_DATA; the figures go to
results/bench/read.json.

The loop is what transformers' users write since its question-answering pipeline is gone: windows by the tokenizer, in
the order of the data, batches of 16 padded to the longest, of each window the 20 best starts with the 20 best ends. A
random head scores so evenly that these often miss the best span: its answers are compared with the loop's when it tries
all starts and ends, those of a trained one with the loop's as it is.
Haystack's reader takes one question at a time; it is measured where it is installed.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from bench.rerank.data import PACKAGE, minilm, need_packages
from bench.rerank.measures import Bound, interleaved
from convinse.config import project_root
from convinse.support.errors import ConvinseError

OUTPUT = Path("results/bench/read.json")
SEED = 6
MAX_LENGTH, STRIDE, ANSWER = 384, 128, 30
BATCH, BEST = 16, 20  # of the loop
OURS = ("fp32", "bf16", "int8")
LOOP, HAYSTACK = "loop over transformers", "Haystack"
HAYSTACK_MODULE = "haystack_integrations.components.readers.transformers"
HAYSTACK_PACKAGES = "haystack-ai transformers-haystack"
TIMES = {LOOP: 2.0, HAYSTACK: 3.0}  # issue 6: the fp32 reader's questions a second, times theirs
SAME = 0.99  # of the loop's answers
VERSIONS = ("torch", "transformers", "haystack-ai", "transformers-haystack")  # told beside the figures


class Asked(NamedTuple):
    """A question and the text to read."""

    question: str
    passage: str


System = Callable[[Sequence[Asked]], list[str]]


def questions(number: int) -> list[Asked]:
    """Random questions, two of BoolQ for each of QED; ends the program when there is no data."""
    folder = Path(os.environ.get("CONVINSE_DATA") or project_root().parent / "shared" / "data")
    chance = random.Random(SEED)
    found = []
    for name, key, share in (("boolq", "passage", number - number // 3), ("qed", "context", number // 3)):
        path = folder / name / "dev.jsonl.gz"
        if not path.is_file():
            raise SystemExit(f"bench: {path}: no such data; set CONVINSE_DATA to the folder of shared data")
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        found += [Asked(line["question"], line[key]) for line in chance.sample(lines, share)]
    chance.shuffle(found)
    return found


def span_head(folder: Path, output: Path) -> Path:
    """A reader of an encoder's weights and a random head, the same at each call."""
    from convinse.encoder.checkpoint import load_checkpoint, save_checkpoint

    save_checkpoint(load_checkpoint(folder, "question-answering", new_head=True, seed=SEED), output)
    return output


def ours(folder: Path, precision: Any) -> System:
    """The project's reader; texts are tokenised anew at each call."""
    from convinse.encoder.checkpoint import load_checkpoint
    from convinse.encoder.extractive_reader import ExtractiveReader
    from convinse.encoder.tokens import TextTokenizer

    reader = ExtractiveReader(
        folder, "cpu", precision=precision, max_length=MAX_LENGTH, stride=STRIDE, max_answer_length=ANSWER
    )
    checkpoint = load_checkpoint(folder, "question-answering")

    def read(asked: Sequence[Asked]) -> list[str]:
        reader.tokenizer = TextTokenizer.of(checkpoint, MAX_LENGTH)
        found = reader.read_all([one.question for one in asked], [[one.passage] for one in asked], top_k=1)
        return [spans[0].text if spans else "" for spans in found]

    return read


def loop(folder: Path, most: int = BEST) -> System:
    """What users of transformers write themselves; `most` starts and ends of a window are tried."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval()

    def read(asked: Sequence[Asked]) -> list[str]:
        windows = tokenizer(
            [one.question for one in asked], [one.passage for one in asked], truncation="only_second",
            max_length=MAX_LENGTH, stride=STRIDE, return_overflowing_tokens=True, return_offsets_mapping=True,
        )  # fmt: skip
        best = [(-float("inf"), "")] * len(asked)
        names = [name for name in tokenizer.model_input_names if name in windows]
        for first in range(0, len(windows["input_ids"]), BATCH):
            places = range(first, min(first + BATCH, len(windows["input_ids"])))
            batch = tokenizer.pad(
                {name: [windows[name][place] for place in places] for name in names}, return_tensors="pt"
            )
            with torch.inference_mode():
                output = model(**batch)
            starts, ends = output.start_logits.numpy(), output.end_logits.numpy()
            for row, place in enumerate(places):
                number = windows["overflow_to_sample_mapping"][place]
                inside = [part == 1 for part in windows.sequence_ids(place)]
                found = _best_span(starts[row], ends[row], inside, most)
                if found is not None and found[0] > best[number][0]:
                    offsets = windows["offset_mapping"][place]
                    text = asked[number].passage[offsets[found[1]][0] : offsets[found[2]][1]]
                    best[number] = (found[0], text)
        return [text for _, text in best]

    return read


def _best_span(start: Any, end: Any, inside: list[bool], most: int) -> tuple[float, int, int] | None:
    """Score, first and last token of the best of the best starts with the best ends, at most 30 tokens long."""
    best = None
    for first in start.argsort()[: -most - 1 : -1]:
        for last in end.argsort()[: -most - 1 : -1]:
            if first >= len(inside) or last >= len(inside) or not inside[first] or not inside[last]:
                continue
            if first <= last < first + ANSWER and (best is None or start[first] + end[last] > best[0]):
                best = (float(start[first] + end[last]), int(first), int(last))
    return best


def haystack(folder: Path) -> System:
    """Haystack's reader as its users call it, for the one best answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from haystack import Document
        from haystack.utils import ComponentDevice
        from haystack_integrations.components.readers.transformers import TransformersExtractiveReader

        reader = TransformersExtractiveReader(
            str(folder), device=ComponentDevice.from_str("cpu"), top_k=1, max_seq_length=MAX_LENGTH, stride=STRIDE,
            no_answer=False,
        )  # fmt: skip
        reader.warm_up()

    def read(asked: Sequence[Asked]) -> list[str]:
        found = [reader.run(query=one.question, documents=[Document(content=one.passage)])["answers"] for one in asked]
        return [(answers[0].data or "") if answers else "" for answers in found]

    return read


def has_haystack() -> bool:
    """Whether Haystack's reader can be imported."""
    try:
        return importlib.util.find_spec(HAYSTACK_MODULE) is not None
    except ModuleNotFoundError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a trial in half a minute; its figures say little")
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="a trained reader (default: a random span head)")
    parser.add_argument("--questions", type=int, default=300, metavar="N", help="default 300")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="the medians are of (default 3)")
    parser.add_argument("--threads", type=int, metavar="N", help="of PyTorch; 1 on a machine that others use, too")
    options = parser.parse_args()
    need_packages(("torch", "transformers", *(() if options.model else (PACKAGE,))))
    os.environ.update(HF_HUB_OFFLINE="1", HAYSTACK_TELEMETRY_ENABLED="False", TOKENIZERS_PARALLELISM="true")
    if options.threads:
        import torch

        torch.set_num_threads(options.threads)
    number, rounds = (30, 1) if options.quick else (options.questions, options.rounds)
    try:
        with tempfile.TemporaryDirectory() as work:
            run(options.model, Path(work), questions(number), rounds)
    except ConvinseError as error:
        raise SystemExit(f"bench: {error}") from None


def run(model: Path | None, work: Path, asked: list[Asked], rounds: int) -> None:
    """Measure, print and write."""
    import torch
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()
    folder = model or span_head(minilm(), work / "reader")
    systems: dict[str, System] = {f"ExtractiveReader {name}": ours(folder, name) for name in OURS}
    systems[LOOP] = loop(folder)
    if has_haystack():
        systems[HAYSTACK] = haystack(folder)
    for read in systems.values():
        read(asked[:8])  # chooses kernels
    print(f"reading {len(asked)} questions, {rounds} rounds of {len(systems)} systems ...", file=sys.stderr)
    seconds, answers = interleaved({name: partial(read, asked) for name, read in systems.items()}, rounds)
    rates = {name: len(asked) / statistics.median(times) for name, times in seconds.items()}
    print("reading once more, all spans tried ...", file=sys.stderr)
    whole = loop(folder, MAX_LENGTH)(asked)
    same = {name: (_share(answers[LOOP], found), _share(whole, found)) for name, found in answers.items()}
    fp32 = f"ExtractiveReader {OURS[0]}"
    bounds = [Bound("fp32: share of the loop's answers", same[fp32][model is None], SAME)]
    bounds += [Bound(f"fp32: times {name}", rates[fp32] / rates[name], TIMES[name]) for name in TIMES if name in rates]
    failed = [str(bound) for bound in bounds if bound.failed]
    named = "all-MiniLM-L6-v2 with a random span head" if model is None else str(model)
    _show(named, len(asked), rates, same, fp32)
    print("all bounds kept" if not failed else "\n".join(failed))
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    result = {
        "machine": _machine(), "model": named, "questions": len(asked), "rounds": rounds, "max_length": MAX_LENGTH,
        "stride": STRIDE, "questions_a_second": rates, "seconds": seconds, "same_as_loop": {name: shares[0] for name, shares in same.items()},
        "same_as_loop_all_spans": {name: shares[1] for name, shares in same.items()}, "threads": torch.get_num_threads(),
        "failed_bounds": failed,
    }  # fmt: skip
    OUTPUT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(OUTPUT)


def _share(wanted: list[str], found: list[str]) -> float:
    return sum(a == b for a, b in zip(wanted, found, strict=True)) / len(wanted)


def _show(model: str, number: int, rates: dict[str, float], same: dict[str, tuple[float, float]], fp32: str) -> None:
    console = Console(width=130)
    table = Table(title=f"{number} questions, cpu; {model}", title_justify="left")
    for column in ("reader", "questions a second", "fp32 is faster", "wanted", "the loop's answers", "all spans tried"):
        table.add_column(column, justify="left" if column == "reader" else "right")
    for name, rate in rates.items():
        times = f"{rates[fp32] / rate:.2f}x" if name in TIMES else ""
        wanted = f">= {TIMES[name]:g}x" if name in TIMES else f">= {SAME:.0%}" if name == fp32 else ""
        table.add_row(name, f"{rate:.1f}", times, wanted, *(f"{share:.1%}" for share in same[name]))
    console.print(table)
    if HAYSTACK not in rates:
        console.print(f"Haystack is not installed: pip install {HAYSTACK_PACKAGES}")


def _machine() -> dict[str, object]:
    found = {}
    for name in VERSIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {"cores": os.cpu_count(), "kind": platform.machine(), "python": platform.python_version(), **found}


if __name__ == "__main__":
    main()
