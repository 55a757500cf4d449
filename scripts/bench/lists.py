"""Questions that ask for several answers: which of the right ones are listed, over the embedded data.

    bash run.sh bench lists

40 questions, each for the values of one property; what is right are its values in the embedded knowledge base. F1 is the mean
over the questions; an answer that lists nothing counts as a list of one.
"""

from pathlib import Path
from statistics import mean

from convinse.config import load_config
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.pipeline import Pipeline
from convinse.records.conversation import Turn
from convinse.records.evidence import SOURCES

from .harness import Bench, Figures, Spec, run

_QUESTIONS = Path(__file__).with_name("lists.json")
_COLUMNS = {
    "questions": ("questions", "{}"),
    "P@1": ("p_at_1", "{:.3f}"),
    "precision": ("precision", "{:.3f}"),
    "recall": ("recall", "{:.3f}"),
    "F1": ("f1", "{:.3f}"),
}


def lists(bench: Bench) -> Figures:
    conversations = read_benchmark(_QUESTIONS, "convmix", None)
    with Pipeline(load_config("config.yml")) as pipeline:
        done = pipeline.run(conversations, SOURCES)
    turns = [turn for conversation in done for turn in conversation["questions"]]
    shares = [_precision_and_recall(turn) for turn in turns]
    figures: Figures = {
        "questions": len(turns),
        "p_at_1": mean(turn["p_at_1"] for turn in turns),
        "precision": mean(precision for precision, _ in shares),
        "recall": mean(recall for _, recall in shares),
        "f1": mean(2 * p * r / (p + r) if p + r else 0.0 for p, r in shares),
    }
    bench.compare("questions for several answers", ("model",), _COLUMNS, {(): {"embedded": figures}})
    return figures


def _precision_and_recall(turn: Turn) -> tuple[float, float]:
    answers = turn["pred_answers"]
    listed = {answer["answer"]["id"] for answer in answers if answer.get("list")} or {
        answer["answer"]["id"] for answer in answers[:1]
    }
    right = {answer["id"] for answer in turn["answers"]}
    return len(listed & right) / max(1, len(listed)), len(listed & right) / len(right)


SPEC = Spec("lists", __doc__, {"lists": lists})

if __name__ == "__main__":
    run(SPEC)
