"""A thousand predictions for the NewsQA sample: each the gold answer of a question, changed in a way given by its number."""

import gzip
import json

import pytest

from places import DATA

SAMPLE = DATA / "mrqa-sample" / "NewsQA_sample.jsonl.gz"
needs_sample = pytest.mark.skipif(not SAMPLE.is_file(), reason="no MRQA sample data")

CHANGES = (
    lambda text, other: text,
    lambda text, other: text.upper() + "!",
    lambda text, other: "The " + text,
    lambda text, other: text.split(" ", 1)[-1],
    lambda text, other: text.rsplit(" ", 1)[0],
    lambda text, other: "",
    lambda text, other: other,
    lambda text, other: f"{text} {other}",
    lambda text, other: text.replace(" ", "-"),
    lambda text, other: " ".join(reversed(text.split())) + " " + text.split()[0],
    lambda text, other: f"(an)  {text}\n",
)


def thousand():
    """Gold answers and predictions by id: the 17 questions of the sample again and again."""
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as file:
        golds = [qa["answers"] for line in file for qa in json.loads(line)["qas"]]
    answers, predictions = {}, {}
    for number in range(1000):
        qid = f"{number}"
        gold, other = golds[number % len(golds)], golds[(number * 5 + number // 17) % len(golds)]
        answers[qid] = [*gold, *(other if number % 13 == 0 else [])]
        predictions[qid] = CHANGES[(number // 17 + number) % len(CHANGES)](gold[0], other[0])
    return answers, predictions
