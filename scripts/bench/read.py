"""The extractive reader beside the usual loop over transformers, and Haystack's reader: questions a second, answers.

    bash run.sh bench read [--full] [--model FOLDER]

All read the same questions with the same weights, one passage a question, in turn, with windows of 384 tokens that share
128; tokenising is counted. The weights are those of all-MiniLM-L6-v2 with a random span head, or --model. The questions
are BoolQ's with their passages and QED's with their paragraphs: 100, with --full 300.

The loop is what transformers' users write since its question-answering pipeline is gone: windows by the tokenizer, in
the order of the data, batches of 16 padded to the longest, of each window the 20 best starts with the 20 best ends. A
random head scores so evenly that these often miss the best span: its answers are compared with the loop's when it tries
all starts and ends, those of a trained one with the loop's as it is.
Haystack's reader takes one question at a time; it is measured where it is installed.
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

from convinse.encoder.checkpoint import load_checkpoint, save_checkpoint
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.tokens import TextTokenizer
from recipes.sources import json_lines, minilm

from .harness import MODELS, Bench, Figures, Spec, Spread, interleaved, note, run
from .measures import same_share

SEED = 6
MAX_LENGTH, STRIDE, ANSWER = 384, 128, 30
BATCH, BEST = 16, 20  # of the loop
OURS = ("fp32", "bf16", "int8")
LOOP, HAYSTACK = "loop over transformers", "Haystack"
HAYSTACK_MODULE = "haystack_integrations.components.readers.transformers"
TIMES = {LOOP: 2.0, HAYSTACK: 3.0}  # what the fp32 reader's questions a second should be, times theirs
SAME = 0.99  # of the loop's answers
COLUMNS = {
    "questions a second": ("rate", "{:.1f}"), "fp32 is faster": ("fp32_is_faster", "{:.2f}x"),
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


def ours(folder: Path, precision: Any) -> System:
    reader = ExtractiveReader(
        folder, "cpu", precision=precision, max_length=MAX_LENGTH, stride=STRIDE, max_answer_length=ANSWER
    )
    checkpoint = load_checkpoint(folder, "question-answering")

    def read(asked: Sequence[Asked]) -> list[str]:
        reader.tokenizer = TextTokenizer.of(checkpoint, MAX_LENGTH)
        best = reader.read_all([row.question for row in asked], [[row.passage] for row in asked], top_k=1)
        return [spans[0].text if spans else "" for spans in best]

    return read


def loop(folder: Path, most: int = BEST) -> System:
    """What users of transformers write themselves; `most` starts and ends of a window are tried."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval()

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
                output = model(**batch)
            starts, ends = output.start_logits.numpy(), output.end_logits.numpy()
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
        best = [reader.run(query=row.question, documents=[Document(content=row.passage)])["answers"] for row in asked]
        return [(answers[0].data or "") if answers else "" for answers in best]

    return read


def reading(bench: Bench) -> Figures:
    """All readers on the same questions; how often they answer as the loop."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()
    model = bench.options.model
    asked = questions(bench, bench.size)
    folder = model or bench.work / "reader"
    if model is None:
        save_checkpoint(load_checkpoint(minilm(), "question-answering", new_head=True, seed=SEED), folder)
    systems: dict[str, System] = {f"ExtractiveReader {name}": ours(folder, name) for name in OURS}
    systems[LOOP] = loop(folder)
    if bench.has(HAYSTACK_MODULE):
        systems[HAYSTACK] = haystack(folder)
    for read in systems.values():
        read(asked[:8])  # chooses kernels
    note(f"reading {len(asked)} questions, {bench.rounds} rounds of {len(systems)} systems ...")
    seconds, answers = interleaved({name: partial(read, asked) for name, read in systems.items()}, bench.rounds)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    note("reading once more, all spans tried ...")
    whole = loop(folder, MAX_LENGTH)(asked)
    fp32, figures = f"ExtractiveReader {OURS[0]}", {}
    for name, times in seconds.items():
        rate = Spread.of([len(asked) / spent for spent in times])
        same = {"as_loop": same_share(answers[LOOP], answers[name]), "all_spans": same_share(whole, answers[name])}
        figures[name] = {"rate": rate, **same, "seconds": times}
        if name in TIMES:
            figures[name]["fp32_is_faster"] = faster = medians[name] / medians[fp32]
            bench.want(f"fp32: times {name}", faster, TIMES[name])
    bench.want("fp32: share of the loop's answers", figures[fp32]["all_spans" if model is None else "as_loop"], SAME)
    named = "all-MiniLM-L6-v2 with a random span head" if model is None else str(model)
    bench.compare(f"{len(asked)} questions, cpu; {named}", ("reader",), COLUMNS, {(): figures})
    return {"model": named, "questions": len(asked), "max_length": MAX_LENGTH, "stride": STRIDE, **figures}


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="a trained reader (default: a random span head)")


SPEC = Spec(
    "read", __doc__, {"reading": reading}, (20, 100, 300), (1, 3, 3), _options, needs={"reading": MODELS},
    peers=(*MODELS, "haystack-ai", "transformers-haystack"),
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
