"""The extractive reader beside the usual loop over transformers, and Haystack's reader: questions a second, answers.

    bash run.sh bench read [--full] [--model FOLDER]
    bash run.sh bench read --device cuda

All read the same questions with the same weights, one passage a question, in turn, with windows of 384 tokens that share
128; tokenising is counted. The weights are those of all-MiniLM-L6-v2 with a random span head, or --model. The questions
are BoolQ's with their passages and QED's with their paragraphs: 100, with --full 300. On a GPU all but the loop compute in
bf16.

The loop is what transformers' users write since its question-answering pipeline is gone: windows by the tokenizer, in
the order of the data, batches of 16 padded to the longest, of each window the 20 best starts with the 20 best ends. A
random head scores so evenly that these often miss the best span: its answers are compared with the loop's when it tries
all starts and ends, those of a trained one with the loop's as it is.
Haystack's reader takes one question at a time; it is measured where it is installed, on a GPU at its best batch size.
"""

from __future__ import annotations

import argparse
import random
import statistics
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from convinse.config import Backend, Precision
from convinse.encoder.checkpoint import load_checkpoint, save_checkpoint
from convinse.encoder.devices import find_device
from convinse.encoder.exported import read_exported
from convinse.encoder.extractive_reader import ExtractiveReader
from recipes.sources import json_lines, minilm

from .exported import exported, tokenizers
from .harness import MODELS, Bench, Figures, Spec, Spread, interleaved, note, run
from .measures import same_share

SEED = 6
MAX_LENGTH, STRIDE, ANSWER = 384, 128, 30
BATCH, BEST = 16, 20  # of the loop
LOOP, HAYSTACK = "loop over transformers", "Haystack"
HAYSTACK_MODULE = "haystack_integrations.components.readers.transformers"
HAYSTACK_BATCHES = (1, 8, 32)  # tried on a GPU
COLUMNS = {
    "questions a second": ("rate", "{:.1f}"), "{} is faster": ("ours_is_faster", "{:.2f}x"),
    "the loop's answers": ("as_loop", "{:.1%}"), "all spans tried": ("all_spans", "{:.1%}"),
}  # fmt: skip


class Asked(NamedTuple):
    question: str
    passage: str


System = Callable[[Sequence[Asked]], list[str]]


def questions(bench: Bench, number: int) -> list[Asked]:
    """Random questions, two of BoolQ for each of QED."""
    chance = random.Random(SEED)
    drawn = []
    for name, key, share in (("boolq", "passage", number - number // 3), ("qed", "context", number // 3)):
        lines = list(json_lines(bench.data(name, "dev.jsonl.gz")))
        drawn += [Asked(line["question"], line[key]) for line in chance.sample(lines, share)]
    chance.shuffle(drawn)
    return drawn


def ours(folder: Path, device: str, precision: Precision, backend: Backend) -> System:
    reader = ExtractiveReader(
        folder, device, precision=precision, backend=backend, max_length=MAX_LENGTH, stride=STRIDE,
        max_answer_length=ANSWER,
    )  # fmt: skip
    new_tokenizer = tokenizers(folder, MAX_LENGTH)

    def read(asked: Sequence[Asked]) -> list[str]:
        reader.tokenizer = new_tokenizer()
        best = reader.read_all([row.question for row in asked], [[row.passage] for row in asked], top_k=1)
        return [spans[0].text if spans else "" for spans in best]

    return read


def loop(folder: Path, device: str, most: int = BEST) -> System:
    """What users of transformers write themselves; `most` starts and ends of a window are tried."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval().to(device)

    def read(asked: Sequence[Asked]) -> list[str]:
        windows = tokenizer(
            [row.question for row in asked], [row.passage for row in asked], truncation="only_second",
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
                output = model(**batch.to(device))
            starts, ends = output.start_logits.cpu().numpy(), output.end_logits.cpu().numpy()
            for row, place in enumerate(places):
                number = windows["overflow_to_sample_mapping"][place]
                inside = [part == 1 for part in windows.sequence_ids(place)]
                span = _best_span(starts[row], ends[row], inside, most)
                if span is not None and span[0] > best[number][0]:
                    offsets = windows["offset_mapping"][place]
                    best[number] = (span[0], asked[number].passage[offsets[span[1]][0] : offsets[span[2]][1]])
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


def haystack(folder: Path, device: str, batch: int | None = None) -> System:
    """Haystack's reader as its users call it, for the one best answer; on a GPU in bf16."""
    import torch

    options = {} if device == "cpu" else {"dtype": torch.bfloat16}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from haystack import Document
        from haystack.utils import ComponentDevice
        from haystack_integrations.components.readers.transformers import TransformersExtractiveReader

        reader = TransformersExtractiveReader(
            str(folder), device=ComponentDevice.from_str(device), top_k=1, max_seq_length=MAX_LENGTH, stride=STRIDE,
            no_answer=False, max_batch_size=batch, model_kwargs=options,
        )  # fmt: skip
        reader.warm_up()

    def read(asked: Sequence[Asked]) -> list[str]:
        best = [reader.run(query=row.question, documents=[Document(content=row.passage)])["answers"] for row in asked]
        return [(answers[0].data or "") if answers else "" for answers in best]

    return read


def best_haystack(folder: Path, device: str, asked: Sequence[Asked]) -> System:
    """Haystack's reader, on a GPU at the fastest of some batch sizes: the better of two passes, in turn."""
    if device == "cpu":
        return haystack(folder, device)
    tried = {batch: haystack(folder, device, batch) for batch in HAYSTACK_BATCHES}
    seconds, _ = interleaved({batch: partial(read, asked) for batch, read in tried.items()}, 2)
    return tried[min(tried, key=lambda batch: min(seconds[batch]))]


def readers(folder: Path, device: str) -> dict[str, System]:
    """Ours; the first one is compared with the others."""
    if device != "cpu":
        return {"ExtractiveReader bf16": ours(folder, device, "bf16", "torch")}
    graphs = sorted(read_exported(folder, str(folder)).graphs)  # fp32 is the first
    made = {f"ExtractiveReader {graph}": ours(folder, device, graph, "onnx") for graph in graphs}
    return {**made, "ExtractiveReader fp32, PyTorch": ours(folder, device, "fp32", "torch")}


def reading(bench: Bench) -> Figures:
    """All readers on the same questions; how often they answer as the loop."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()
    model, device = bench.options.model, bench.options.device
    find_device(device)  # or an error at once
    asked = questions(bench, bench.size)
    folder = model or bench.work / "reader"
    if model is None:
        save_checkpoint(load_checkpoint(minilm(), "question-answering", new_head=True, seed=SEED), folder)
    folder = exported(folder, bench.work / "reader-onnx", "question-answering")
    systems = readers(folder, device)
    first = next(iter(systems))
    systems[LOOP] = loop(folder, device)
    if bench.has(HAYSTACK_MODULE):
        systems[HAYSTACK] = best_haystack(folder, device, asked)
    for read in systems.values():
        read(asked[:8])  # chooses kernels
    note(f"reading {len(asked)} questions, {bench.rounds} rounds of {len(systems)} systems ...")
    seconds, answers = interleaved({name: partial(read, asked) for name, read in systems.items()}, bench.rounds)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    note("reading once more, all spans tried ...")
    whole = loop(folder, device, MAX_LENGTH)(asked)
    figures: dict[str, Figures] = {}
    for name, times in seconds.items():
        rate = Spread.of([len(asked) / spent for spent in times])
        same = {"as_loop": same_share(answers[LOOP], answers[name]), "all_spans": same_share(whole, answers[name])}
        faster = medians[name] / medians[first]
        figures[name] = {"rate": rate, **same, "seconds": times, "ours_is_faster": faster}
    if device == "cpu":
        figures[first]["all_spans" if model is None else "as_loop"]
    named = "all-MiniLM-L6-v2 with a random span head" if model is None else str(model)
    columns = {head.format(first.split()[-1]): column for head, column in COLUMNS.items()}
    bench.compare(f"{len(asked)} questions, {device}; {named}", ("reader",), columns, {(): figures})
    return {
        "model": named, "device": device, "questions": len(asked), "max_length": MAX_LENGTH, "stride": STRIDE, **figures,
    }  # fmt: skip


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="a trained reader (default: a random span head)")
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda, for all readers")


SPEC = Spec(
    "read", __doc__, {"reading": reading}, (20, 100, 300), (1, 3, 3), _options, needs={"reading": MODELS},
    peers=("onnxruntime", *MODELS, "haystack-ai", "transformers-haystack"),
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
