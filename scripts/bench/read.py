"""The extractive reader beside the usual loop over transformers, and Haystack's reader: questions a second, answers.

    bash run.sh bench read [--full] [--model FOLDER]
    bash run.sh bench read --device cuda

All read the same questions with the same weights, one passage a question, in turn, with windows of 384 tokens that share
128; tokenising is counted. The weights are those of all-MiniLM-L6-v2 with a random span head, or --model. The questions
are BoolQ's with their passages and QED's with their paragraphs: 100, with --full 300. On a GPU all but the loop compute in
bf16.

The loop is that of users of transformers since its question-answering pipeline is gone: windows by the tokenizer, in
the order of the data, batches of 16 padded to the longest, of each window the 20 best starts with the 20 best ends. A
random head scores so evenly that these often miss the best span: its answers are compared with the loop's when it tries
all starts and ends, those of a trained one with the loop's as it is.
Haystack's reader takes one question at a time; it is measured if it is installed.
"""

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
from recipes.sources import BASE_PACKAGE, minilm, records

from .exported import exported, tokenizers
from .harness import Bench, Figures, Spec, note, run
from .machine import MODELS
from .measures import same_share
from .timing import Spread, interleaved

SEED = 6
MAX_LENGTH, STRIDE, ANSWER = 384, 128, 30
BATCH, BEST = 16, 20  # of the loop
LOOP, HAYSTACK = "loop over transformers", "Haystack"
HAYSTACK_MODULE = "haystack_integrations.components.readers.transformers"
COLUMNS = {
    "questions a second": ("rate", "{:.1f}"), "{} is faster": ("ours_is_faster", "{:.2f}x"),
    "the loop's answers": ("as_loop", "{:.1%}"), "all spans tried": ("all_spans", "{:.1%}"),
}  # fmt: skip


class Asked(NamedTuple):
    question: str
    passage: str


System = Callable[[Sequence[Asked]], list[str]]


def ours(folder: Path, device: str, precision: Precision, backend: Backend) -> System:
    reader = ExtractiveReader(
        folder, device, precision=precision, backend=backend, max_length=MAX_LENGTH, stride=STRIDE,
        max_answer_length=ANSWER,
    )  # fmt: skip
    new_tokenizer = tokenizers(folder, MAX_LENGTH)

    def read(questions: Sequence[Asked]) -> list[str]:
        reader.tokenizer = new_tokenizer()
        best = reader.read_all([row.question for row in questions], [[row.passage] for row in questions], top_k=1)
        return [spans[0].text if spans else "" for spans in best]

    return read


def loop(folder: Path, device: str, most: int = BEST) -> System:
    """The loop of users of transformers; `most` starts and ends of a window are tried."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval().to(device)

    def read(questions: Sequence[Asked]) -> list[str]:
        windows = tokenizer(
            [row.question for row in questions], [row.passage for row in questions], truncation="only_second",
            max_length=MAX_LENGTH, stride=STRIDE, return_overflowing_tokens=True, return_offsets_mapping=True,
        )  # fmt: skip
        best = [(-float("inf"), "")] * len(questions)
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
                    best[number] = (span[0], questions[number].passage[offsets[span[1]][0] : offsets[span[2]][1]])
        return [text for _, text in best]

    return read


def _best_span(start: Any, end: Any, inside: list[bool], most: int) -> tuple[float, int, int] | None:
    """Score, first and last token of the best of the best starts with the best ends, at most 30 tokens long."""
    starts, ends = (
        [at for at in logits.argsort()[: -most - 1 : -1] if at < len(inside) and inside[at]] for logits in (start, end)
    )
    pairs = ((first, last) for first in starts for last in ends if first <= last < first + ANSWER)
    return max(((float(start[a] + end[b]), int(a), int(b)) for a, b in pairs), key=lambda span: span[0], default=None)


def haystack(folder: Path, device: str) -> System:
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
            no_answer=False, model_kwargs=options,
        )  # fmt: skip
        reader.warm_up()

    def read(questions: Sequence[Asked]) -> list[str]:
        best = [
            reader.run(query=row.question, documents=[Document(content=row.passage)])["answers"] for row in questions
        ]
        return [(answers[0].data or "") if answers else "" for answers in best]

    return read


def reading(bench: Bench) -> Figures:
    """All readers on the same questions; how often they answer as the loop."""
    bench.need(*MODELS)
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()
    model, device = bench.options.model, bench.options.device
    find_device(device)  # or an error at once
    if model is None:
        bench.need(BASE_PACKAGE)
    chance = random.Random(SEED)
    rows: list[Asked] = []
    for name, key, share in (("boolq", "passage", bench.size - bench.size // 3), ("qed", "context", bench.size // 3)):
        lines = list(records(bench.folder, name, "dev.jsonl.gz"))
        rows += [Asked(line["question"], line[key]) for line in chance.sample(lines, share)]
    chance.shuffle(rows)
    folder = model or bench.work / "reader"
    if model is None:
        save_checkpoint(load_checkpoint(minilm(), "question-answering", new_head=True, seed=SEED), folder)
    folder = exported(folder, bench.work / "reader-onnx", "question-answering")
    if device == "cpu":
        graphs = sorted(read_exported(folder, str(folder)).graphs)  # fp32 is the first
        systems = {f"ExtractiveReader {graph}": ours(folder, device, graph, "onnx") for graph in graphs}
        systems["ExtractiveReader fp32, PyTorch"] = ours(folder, device, "fp32", "torch")
    else:
        systems = {"ExtractiveReader bf16": ours(folder, device, "bf16", "torch")}
    first = next(iter(systems))
    systems[LOOP] = loop(folder, device)
    if bench.has(HAYSTACK_MODULE):
        systems[HAYSTACK] = haystack(folder, device)
    for read in systems.values():
        read(rows[:8])  # chooses kernels
    note(f"reading {len(rows)} questions, {bench.rounds} rounds of {len(systems)} systems ...")
    seconds, answers = interleaved({name: partial(read, rows) for name, read in systems.items()}, bench.rounds)
    note("reading once more, all spans tried ...")
    whole = loop(folder, device, MAX_LENGTH)(rows)
    figures: dict[str, Figures] = {}
    for name, times in seconds.items():
        figures[name] = {
            "rate": Spread.of([len(rows) / spent for spent in times]),
            "ours_is_faster": statistics.median(times) / statistics.median(seconds[first]),
            "as_loop": same_share(answers[LOOP], answers[name]),
            "all_spans": same_share(whole, answers[name]),
        }
    named = "all-MiniLM-L6-v2 with a random span head" if model is None else str(model)
    columns = {head.format(first.split()[-1]): column for head, column in COLUMNS.items()}
    bench.compare(f"{len(rows)} questions, {device}; {named}", ("reader",), columns, {(): figures})
    return {"model": named, "device": device, "questions": len(rows), **figures}


_OPTIONS = {
    "--model": {"type": Path, "metavar": "FOLDER", "help": "a trained reader (default: a random span head)"},
    "--device": {"default": "cpu", "help": "cpu (default) or cuda, for all readers"},
}
SPEC = Spec("read", __doc__, {"reading": reading}, (20, 100, 300), (1, 3, 3), _OPTIONS)

if __name__ == "__main__":
    run(SPEC)
