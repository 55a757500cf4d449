"""Small trainings of each kind, which the tests of all trainers run, and benchmarks for them."""

from pathlib import Path

from convinse.config import parse_config
from convinse.encoder.checkpoint import load_checkpoint
from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.heterogeneous_answering.extractive import ExtractiveAnswering
from convinse.heterogeneous_answering.seq2seq import Seq2SeqAnswering
from convinse.passages.build import build_index
from convinse.passages.layout import Parameters
from convinse.question_understanding.structured_representation import StructuredRepresentation
from convinse.training.mrqa_reader import ReaderTraining, train_on_mrqa
from convinse.training.retriever import RetrieverTraining, train_retriever
from tiny_models import tiny, torch
from tiny_seq2seq import writer
from toy_reading import mrqa_line, toy_examples
from written import json_lines, read_json, write, write_lines

SOURCES = ("kb", "text")


def weights(folder, task="sequence-classification"):
    return load_checkpoint(folder, task).model.state_dict()


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def record(folder):
    return read_json(Path(folder, "training.json"))


def write_benchmark(folder, train, dev):
    for part, number in (("train", train), ("dev", dev)):
        write(folder / f"{part}.json", read_json(parse_config({}).input_path(part))[:number])
    return folder


def without_answers(path):
    """Give all turns of a file an answer that no evidence has, and a question that does not ask for yes or no."""
    conversations = read_json(path)
    for conversation in conversations:
        for turn in conversation["questions"]:
            turn |= {"question": "Who?", "answers": [{"id": "Q99999999", "label": "nothing of this name"}]}
    write(path, conversations)


def stage_settings(folder, stage, training, **keys):
    """A configuration for the training of a stage (`evs`, `ha`) on a benchmark."""
    return {"name": "mine", "benchmark_path": str(folder), "ers_use_cache": False, "device": "cpu",
            f"{stage}_training": {"epochs": 2, **training, **keys.pop(f"{stage}_training", {})}, **keys}  # fmt: skip


SILVER = [
    ("who directed it", [[], ["titanic"], ["directed"], "person"], "cameron"),
    ("when was he born", [["titanic"], ["cameron"], ["born"], "date"], "1954"),
    ("did you like it", None, "no"),
    ("who wrote it", [[], ["hobbit"], ["wrote"], None], "tolkien"),
]


def write_silver(folder="results/mine", silver=SILVER):
    """Annotated files as `annotate` writes them."""
    turns = [
        {"turn": number, "question": f"{question}?", "answers": [{"id": f"Q{number}", "label": answer}],
         "silver_SR": [] if slots is None else [slots]}
        for number, (question, slots, answer) in enumerate(silver)
    ]  # fmt: skip
    for part in ("train", "dev"):
        write(Path(folder, f"annotated_{part}.json"), [{"conv_id": "a", "questions": turns}])


def silver_settings(**keys):
    """A configuration for the training of `qu: sr` on annotated files."""
    training = {"base": str(writer(init_std=0.1)), "epochs": 3, "learning_rate": 3e-3, "batch_size": 2}
    training |= keys.pop("qu_training", {})
    return {"name": "mine", "qu": "sr", "device": "cpu", "qu_training": training, "num_beams": 2,
            **keys}  # fmt: skip


def write_mrqa(folder, sets):
    for seed, (name, number) in enumerate(sets.items(), 1):
        contexts = (mrqa_line(example, f"{name}{n}") for n, example in enumerate(toy_examples(seed, number)))
        write_lines(folder / f"{name}.jsonl", {"header": {"dataset": Path(name).stem}}, *contexts)
    return folder


NAMES = [f"{first}{second}" for first in "klmnop" for second in "vwxz"]


def write_judged():
    """Of each name one passage says "author" and is relevant; BM25 prefers three others, which name it more often."""
    passages, questions, pairs = [], [], ["question-id\tpassage-id\tscore"]
    for name in NAMES:
        passages.append({"id": f"{name}-0", "title": "book", "text": f"the author {name} of a song"})
        for n, number in enumerate(("one", "two", "three"), 1):
            passages.append({"id": f"{name}-{n}", "text": f"{name} {name} film {number}"})
        questions.append({"id": f"q-{name}", "text": f"who is {name}"})
        pairs.append(f"q-{name}\t{name}-0\t1")
    write_lines("questions.jl", *questions)
    write_lines("pairs.tsv", *pairs)
    build_index(write_lines("passages.jl", *passages), Path("index"), Parameters("en"))


def retrieve(base=None, output="new", **keys):
    base = base or tiny(
        "bert", "embedding" if keys.get("bi_encoder") else "sequence-classification", initializer_range=0.05
    )
    options = {"held_out": 0.25, "epochs": 2, "negatives": 3, "learning_rate": 3e-3, "device": "cpu", **keys}
    settings = RetrieverTraining(base=str(base), output=str(output), **options)
    return train_retriever(Path("pairs.tsv"), Path("questions.jl"), Path("index"), settings, quiet=True)


class Kind:
    """A kind of training with small data in the working directory.

    Attributes:
        task: of its checkpoint.
        base_key, output_key: how messages call them.
        input: a file that it reads.
        nothing: the message if there is nothing to learn from, as after `empty`.
    """

    def __init__(self):
        self.write()


class Ers(Kind):
    task, base_key, output_key = "sequence-classification", "evs_training.base", "evs_training.output"
    input, model_key, module = "data/train.json", "evs_model", NativeERS
    measures, criterion = {"answer_presence", "answer_presence_at_5", "mrr"}, ("answer_presence", "mrr")
    nothing = "no turn of the dev part has right and wrong evidences"
    card = ("turns to train on", "- learning_rate: 0.001")

    def write(self):
        write_benchmark(Path("data"), 2, 1)

    def empty(self):
        without_answers("data/dev.json")

    def configuration(self, output="new", base=None, *, model=None, **keys):
        """A configuration; a base of None is the kind's own, `model` is what is trained on where `base` is ""."""
        base = tiny() if base is None else base
        training = {"base": str(base) or None, "output": output, "negatives": 3, "learning_rate": 1e-3, **keys}
        return stage_settings("data", "evs", training, evr_max_entities=2, evs_max_evidences=5, evs_model=model)

    def run(self, output, base=None, **keys):
        self.module(parse_config(self.configuration(output, base, **keys))).train(SOURCES)


class Ha(Ers):
    task, base_key, output_key = "question-answering", "ha_training.base", "ha_training.output"
    model_key, module = "ha_model", ExtractiveAnswering
    measures, criterion = {"p_at_1", "mrr", "h_at_5"}, ("p_at_1", "mrr")
    nothing = "no evidence of the train part names a gold answer"

    def empty(self):
        without_answers("data/train.json")

    def configuration(self, output="new", base=None, *, model=None, **keys):
        base = tiny("bert", self.task, initializer_range=0.1) if base is None else base
        training = {"base": str(base) or None, "output": output, "learning_rate": 1e-3, **keys}
        return stage_settings("data", "ha", training, evs_max_evidences=20, ha="extractive", ha_model=model)


class Fusion(Ha):
    task, module = "sequence-to-sequence", Seq2SeqAnswering
    measures, criterion = {"loss"}, ("loss",)
    card = ("question: QUESTION title: ITEM", "- learning_rate: 0.01", "P@1")

    def configuration(self, output="new", base=None, *, model=None, **keys):
        base = writer("t5", initializer_factor=1.0) if base is None else base
        training = {"base": str(base) or None, "output": output, "learning_rate": 1e-2, "batch_size": 4, **keys}
        return stage_settings("data", "ha", training, evs_max_evidences=3, ha="seq2seq", ha_model=model, num_beams=2)


class Sr(Kind):
    task, base_key, output_key = "sequence-to-sequence", "qu_training.base", "qu_training.output"
    input, nothing = "results/mine/annotated_train.json", "no turn has a representation in silver_SR"

    def write(self):
        write_silver()

    def empty(self):
        write_silver(silver=[("who", None, "x")])

    def run(self, output, base=None, **keys):
        training = {**keys, "output": output, **({"base": str(base)} if base else {})}
        StructuredRepresentation(parse_config(silver_settings(qu_training=training))).train(SOURCES)


class Mrqa(Kind):
    task, base_key, output_key, input = "question-answering", "base", "output", "mrqa/train/SQuAD.jsonl"
    nothing = "no question with an answer in its context"

    def write(self):
        write_mrqa(Path("mrqa"), {"train/SQuAD": 60, "dev/DROP": 5})

    def empty(self):
        write_lines(self.input, {"context": "one", "qas": [{"qid": "1", "question": "who?", "answers": ["x"]}]})

    def run(self, output, base=None, **keys):
        settings = ReaderTraining(
            base=str(base or tiny("bert", self.task, initializer_range=0.05)), output=output, train_folder="mrqa/train",
            dev_folders=["mrqa/dev"], device="cpu", max_length=64, stride=8, **{"learning_rate": 1e-3, **keys},
        )  # fmt: skip
        train_on_mrqa(settings, quiet=True)


class Judged(Kind):
    task, base_key, output_key, input = "sequence-classification", "--base", "--output", "pairs.tsv"
    nothing = "pairs.tsv: no question has a negative"

    def write(self):
        write_judged()

    def empty(self):
        rows = [row | {"title": None, "text": row["id"][:2]} for row in json_lines("passages.jl")]
        relevant = [row for row in rows if row["id"].endswith("-0")]
        build_index(write_lines("passages.jl", *relevant), Path("index"), Parameters("en"), force=True)

    def run(self, output, base=None, **keys):
        retrieve(base, output, **keys)


KINDS = {"ers": Ers, "ha": Ha, "fusion": Fusion, "sr": Sr, "mrqa": Mrqa, "retriever": Judged}
