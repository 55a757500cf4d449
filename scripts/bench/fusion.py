"""Fusion-in-Decoder (ha: seq2seq): memory and seconds of a turn with 100 evidences, and the training of a tiny model.

bash run.sh bench fusion [--parts memory,training]

The models are random T5s of the sizes of t5-small and t5-base, made on the spot: what they write says nothing, what they take
does. The texts are the evidences of embedded turns, as retrieved (`retrieved`) and made as long as the model reads (`longest`).
A turn is answered by the whole module in a process of its own, whose memory at the most is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from convinse.config import load_config, parse_config
from convinse.formats.convmix import read_conversations
from convinse.heterogeneous_answering.seq2seq import Seq2SeqAnswering
from convinse.pipeline import Pipeline
from convinse.records.evidence import SOURCES

from .harness import MODELS, Bench, Figures, Spec, apart, command, note, run

_SIZES: dict[str, dict[str, int]] = {  # as the models of these names have it
    "t5-small": {"d_model": 512, "d_ff": 2048, "num_layers": 6, "num_heads": 8},
    "t5-base": {"d_model": 768, "d_ff": 3072, "num_layers": 12, "num_heads": 12},
}
_TINY = {"d_model": 128, "d_kv": 32, "d_ff": 512, "num_layers": 2, "num_heads": 4, "dropout_rate": 0.0}
_WORDS = 8000  # pieces of the tokenizer
_EVIDENCES = 100
_LIMIT = 2 * 10**9
_COLUMNS = {
    "tokens": ("tokens", "{}"),
    "s a turn": ("seconds", "{:.1f}"),
    "s of it encoding": ("encoding", "{:.1f}"),
    "GB at the most": ("gigabytes", "{:.2f}"),
}


def texts() -> Iterator[str]:
    """Questions, answers and evidences of the embedded train part."""
    config = load_config("lexical.yml", ers_use_cache=False)
    with Pipeline(config) as pipeline:
        for conversation in pipeline.run(read_conversations(config.input_path("train")), SOURCES):
            for turn in conversation["questions"]:
                yield turn["question"]
                yield from (answer["label"] for answer in turn["answers"] or ())
                yield from (evidence["evidence_text"] for evidence in turn["top_evidences"])


def save_tokenizer(folder: Path) -> int:
    """A unigram tokenizer of these texts, as T5's are; its number of pieces."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer: Any = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(  # type: ignore[no-untyped-call]
        vocab_size=_WORDS, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(texts(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", tokenizer.token_to_id("</s>"))]
    )
    fast: Any = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=512
    )
    fast.save_pretrained(folder)
    return len(fast)


def save_t5(folder: Path, vocabulary: int, **sizes: Any) -> float:
    """A random T5; its millions of parameters."""
    import torch
    import transformers

    torch.manual_seed(0)
    settings = transformers.T5Config(
        vocab_size=vocabulary, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1, **sizes
    )
    model = transformers.T5ForConditionalGeneration(settings)
    model.save_pretrained(folder)
    return sum(parameter.numel() for parameter in model.parameters()) / 1e6


def answer(folder: str, turns: str, beams: int) -> Figures:
    """Answer turns of a file, as a stage does; called in a process of its own."""
    import time

    from convinse.encoder import fusion_in_decoder

    encoding, tokens = 0.0, 0
    fused = fusion_in_decoder.fused_states

    def timed_states(model: Any, given: Any, budget: int) -> Any:
        nonlocal encoding, tokens
        start = time.perf_counter()
        states = fused(model, given, budget)
        encoding, tokens = encoding + time.perf_counter() - start, tokens + len(states)
        return states

    fusion_in_decoder.fused_states = timed_states
    given = json.loads(Path(turns).read_bytes())
    config = parse_config({"ha": "seq2seq", "ha_model": folder, "device": "cpu", "ha_seq2seq": {"num_beams": beams}})
    module = Seq2SeqAnswering(config)
    _ = module.writer  # loaded before the clock
    start = time.perf_counter()
    module.inference_on_turns(given, SOURCES)
    seconds = time.perf_counter() - start
    number = len(given)
    return {"seconds": seconds / number, "encoding": encoding / number, "tokens": round(tokens / number)}


def memory(bench: Bench) -> Figures:
    """Seconds and memory of turns with 100 evidences."""
    tokenizer = bench.work / "tokenizer"
    note("making a tokenizer ...")
    save_tokenizer(tokenizer)
    config = load_config("lexical.yml", ers_use_cache=False, evs_max_evidences=_EVIDENCES)
    with Pipeline(config) as pipeline:
        done = pipeline.run(read_conversations(config.input_path("dev"))[:6], SOURCES)
    turns = [turn for own in done for turn in own["questions"] if len(turn["top_evidences"]) == _EVIDENCES][
        : bench.size
    ]
    long = json.loads(json.dumps(turns[:1]))
    for turn in long:
        for evidence in turn["top_evidences"]:
            evidence["evidence_text"] += " and so on" * 400
    for name, own in (("retrieved", turns), ("longest", long)):
        (bench.work / f"{name}.json").write_text(json.dumps(own), encoding="utf-8")
    figures: dict[str, Figures] = {}
    for size, sizes in _SIZES.items():
        folder = bench.work / size
        million = save_t5(folder, 32128, **sizes)
        for file in tokenizer.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        for name, beams in (("retrieved", 5), ("longest", 20)):
            used = apart(answer, folder, bench.work / f"{name}.json", beams)
            own = {**used.result, "gigabytes": used.peak / 1e9}
            figures.setdefault(f"{size}, {million:.0f} M", {})[f"{name}, {beams} beams"] = own
            bench.want(f"{size}, {name}, {beams} beams: bytes at the most", used.peak, _LIMIT, at_least=False)
    bench.compare(f"a turn of {_EVIDENCES} evidences, fp32", ("model", "texts and search"), _COLUMNS, figures)
    return figures


def training(bench: Bench) -> Figures:
    """A tiny T5, trained by the command on the embedded train part."""
    base = bench.work / "base"
    millions = save_t5(base, save_tokenizer(base), **_TINY)
    file = bench.work / "fusion.yml"
    settings = {
        "name": "fusion", "ha": "seq2seq", "device": "cpu", "output_path": str(bench.work), "ers_use_cache": False,
        "ha_seq2seq": {"evidences": 10, "max_input_length": 96},
        "ha_training": {"base": str(base), "epochs": 4, "batch_size": 8, "learning_rate": 2e-3},
    }  # fmt: skip
    file.write_text(json.dumps(settings), encoding="utf-8")
    used = command(["train", "ha", "kb_text_table_info", str(file)])
    record = json.loads((bench.work / "fusion" / "ha_model" / "training.json").read_bytes())
    losses = [epoch["loss"] for epoch in record["epochs"]]
    figures = {
        "millions": millions, "seconds": used.seconds, "gigabytes": used.peak / 1e9, "losses": losses,
        "best": record["best_epoch"], "p_at_1": record["p_at_1"],
    }  # fmt: skip
    bench.console.print_json(json.dumps(figures))
    bench.want("dev loss after training, as a share of that before", min(losses) / losses[0], 0.9, at_least=False)
    return figures


SPEC = Spec(
    "fusion", __doc__, {"memory": memory, "training": training}, (1, 3, 10), needs={"memory": MODELS, "training": MODELS},
    peers=("torch", "transformers"),
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
