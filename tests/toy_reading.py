"""Questions that a tiny reader learns in seconds: the answer is the word after "born"."""

import random

from convinse.training.reader import ReadExample
from tiny_models import WORDS

_OTHERS = [word for word in WORDS if word != "born"]


def toy_examples(seed, number, longest=9):
    """Examples with one answer each."""
    chance = random.Random(seed)
    made = []
    for _ in range(number):
        words = [chance.choice(_OTHERS) for _ in range(chance.randint(4, longest))]
        place = chance.randrange(len(words))
        answer = words[place]
        words.insert(place, "born")
        start = len(" ".join(words[: place + 1])) + 1
        made.append(ReadExample("who", " ".join(words), ((start, start + len(answer)),)))
    return made


def mrqa_line(example, qid):
    start, end = example.spans[0]
    answer = example.context[start:end]
    detected = [{"text": answer, "char_spans": [[start, end - 1]], "token_spans": []}]
    answers = {"detected_answers": detected, "answers": [answer]}
    question = {"qid": qid, "question": example.question, "question_tokens": [], **answers}
    return {"context": example.context, "context_tokens": [], "qas": [question]}
