"""Learn to tell acts of talk from questions.

    PYTHONPATH=scripts python -m recipes.talk --data /path/to/shared/data

Acts are learned from the patterns of `talk.yml` and from what people say to an assistant (CLINC150), questions from the sets of `talk` in
`embedded/data_sets.yml`, the train part of the embedded conversations, rewrites, SQuAD as keywords and requests, headers of tables alone and
behind words of talk, and CLINC150's other intents ("how do i change my pin"). The least probability of an act is chosen on a fifth of them
that is kept apart. Then the model is judged on `tests/cases/acts.yml` and on questions of ConvMix and the snapshot.
"""

import argparse
import math
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, compress
from pathlib import Path

import msgspec
import numpy as np
import yaml
from scipy.sparse import csr_matrix

from convinse.config import Config, project_root, resolve
from convinse.dialogue.acts import ACTS, FILE, QUESTION, TALK_MODEL, act_of, features_of, read_acts
from convinse.experiment import read_part
from convinse.language.language import english
from convinse.language.text import fold
from convinse.support.logit import BIAS, Logit
from convinse.training.logit import fit_classes
from recipes.embedded.data_sets import TALK_SETS
from recipes.embedded.requests import as_keywords, as_request
from recipes.embedded.tables import read_tables
from recipes.sources import records, shared_data, unescaped_field, write_logit

# CLINC150's intents that are acts of talk; those of its domains `small_talk` and `meta` that are neither talk nor questions are left out
_INTENTS = {
    "greeting": "greeting", "goodbye": "goodbye", "thank_you": "thanks", "yes": "affirm", "no": "denial", "repeat": "repeat",
    "what_can_i_ask_you": "help",
}  # fmt: skip
_NO_TASKS = ("small_talk", "meta")
_SAMPLES = 2000  # of an act
_DRAWS = (1, 1, 3)  # of which the shortest is taken
_HEADER = re.compile(r"[A-Za-z]{3,}(?: [A-Za-z]{2,}){0,2}")
_KEYWORDS = 8000  # headers of tables, and as many behind other words
_QUESTIONS = 5000  # of a source
_SHORT_QUESTIONS = 7000  # of the patterns
_LEAST_OFTEN = 6  # examples that have a feature
_LEAST_PIECES = 12  # that have a piece of a word
_L2 = 1 / 6
_WHOLE = 3.0  # value of the feature that is a whole short utterance; the others are 1
_UNIT = 0.01  # of the weights in the file
_LEAST_WEIGHT = 0.33  # of the largest of a feature: without smaller ones one of 351 unseen utterances is lost, and a fifth of the file
# questions kept apart that may be taken for talk; with .005 5 of 252 typed requests were, with this 2
_MOST_MISTAKEN = 0.003
_CHOICE = re.compile(r"\{([^{}]*)\}")
_FILLER = re.compile("NAME|NOUN|YEAR")
_BEFORE = ("", "", "", "", "", "", "ok ", "hm, ", "well, ", "oh ", "um ", "please ")
_BEFORE_QUESTIONS = (
    "Hi, ", "ok, ", "thanks, and ", "yes, ", "no, but ", "Ok. And ", "hello! ", "great. ", "and ", "I see. "
)  # fmt: skip
_BEHIND = ("", "", "", "!", ".", "?", "!!", "...", " :)", " please")
_REPORTED = ("dev", "test", "natural-dev", "natural", "natural-fresh", "natural-third")  # parts of the snapshot
_SEED = 52

Example = tuple[str, str]  # utterance and act


def uttered(pattern: str, chance: random.Random, names: Sequence[str], nouns: Sequence[str]) -> str:
    """One of the utterances of a pattern."""
    while _CHOICE.search(pattern):
        pattern = _CHOICE.sub(lambda match: chance.choice(match[1].split("|")), pattern)

    def filled(match: re.Match[str]) -> str:
        if match[0] == "YEAR":
            return str(chance.randrange(1900, 2024))
        return chance.choice(names if match[0] == "NAME" else nouns)

    return _FILLER.sub(filled, pattern).strip()


def varied(text: str, chance: random.Random) -> str:
    """An utterance as people type it: with other marks, capitals, fillers, slips."""
    text = chance.choice(_BEFORE) + text
    if chance.random() < 0.6:
        text = text.rstrip(" ?!.") + chance.choice(_BEHIND)
    if chance.random() < 0.15 and len(text) > 4:
        at = chance.randrange(1, len(text) - 1)
        slips = (text[at + 1 :], text[at + 1] + text[at] + text[at + 2 :], text[at] + text[at:])
        text = text[:at] + chance.choice(slips)
    draw = chance.random()
    return text.lower() if draw < 0.4 else text[:1].upper() + text[1:] if draw < 0.9 else text.replace("'", "")


def talk(chance: random.Random, names: Sequence[str], nouns: Sequence[str]) -> Iterator[Example]:
    patterns = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
    for act, forms in patterns.items():
        for _ in range(_SHORT_QUESTIONS if act == QUESTION else _SAMPLES):
            draws = (uttered(chance.choice(forms), chance, names, nouns) for _ in range(chance.choice(_DRAWS)))
            text = min(draws, key=len)
            yield (text if act == QUESTION and chance.random() < 0.5 else varied(text, chance)), act


def spoken(data: Path, part: str) -> Iterator[Example]:
    """What people say to an assistant: acts of talk, and what they want done or know."""
    for record in records(data, "talk", f"clinc-{part}.jsonl.gz"):
        if record["intent"] in _INTENTS:
            yield record["text"], _INTENTS[record["intent"]]
        elif record["domain"] not in _NO_TASKS:
            yield record["text"], QUESTION


def reworded(data: Path, chance: random.Random) -> Iterator[Example]:
    """Questions of SQuAD as people type them: keywords, requests."""
    lines = records(data, "reading", "squad11-train.jsonl.gz")
    texts = [question["question"] for line in lines for question in line.get("qas", ())]
    for number, question in enumerate(chance.sample(texts, 2 * _QUESTIONS)):
        yield (as_keywords if number % 2 else as_request)(question, chance), QUESTION


def keywords(data: Path, chance: random.Random, uttered_words: Sequence[str]) -> Iterator[Example]:
    """Headers of tables as people search for them, half of them behind words that acts begin with: "late fee", "guest wifi"."""
    headers = {" ".join(header.split()) for _, table in read_tables(data) for header in table["header"]}
    names = sorted(header for header in headers if _HEADER.fullmatch(header))
    beginnings = sorted({" ".join(text.split()[: chance.choice((1, 1, 2))]) for text in uttered_words})
    for _ in range(_KEYWORDS):
        name = " ".join(chance.sample(names, chance.choice((1, 1, 2)))).lower()
        yield name, QUESTION
        yield f"{chance.choice(beginnings)} {name}".lower(), QUESTION


def questions(data: Path, chance: random.Random, names: Sequence[str]) -> Iterator[Example]:
    """Questions of data sets, of the embedded conversations and of rewrites, as they are and as people type them; names alone."""
    sources = []
    for listed in TALK_SETS:
        rows = [record[listed.question] for record in records(data, listed.file)]
        if listed.escaped:
            rows = list(map(unescaped_field, rows))
        sources.append((sorted(set(rows)) if listed.once else rows)[listed.skipped :])
    own_questions = [
        turn["question"] for conversation in read_part(Config(), "train") for turn in conversation["questions"]
    ]
    rewrites = (record["question"] for file in sorted((data / "rewrites").glob("*.gz")) for record in records(file))
    sources += [
        own_questions * 5,
        [question for question in rewrites if question.rstrip().endswith("?")],
        [name for name in names if len(name) > 3],
    ]
    for source in sources:
        for text in chance.sample(source, min(_QUESTIONS, len(source))):
            draw = chance.random()
            if draw < 0.1:
                text = chance.choice(_BEFORE_QUESTIONS) + text
            elif draw < 0.4:
                text = text.lower().rstrip("?")
            yield text, QUESTION


def learned(examples: Sequence[Example]) -> Logit:
    """Fit the logit, first on four fifths of the examples: the last one says from what probability on an utterance is talk."""
    held_out = [zlib.crc32(text.lower().strip(" ?!.").encode()) % 5 == 0 for text, _ in examples]
    unseen = list(compress(examples, held_out))
    first = fitted([example for example, is_out in zip(examples, held_out, strict=True) if not is_out])
    chances = (1 - first.class_probabilities(set(features_of(text)))[-1] for text, act in unseen if act == QUESTION)
    mistaken = sorted(map(float, chances), reverse=True)
    least = round(max(0.5, mistaken[int(_MOST_MISTAKEN * len(mistaken))]) + 0.0005, 3)
    report("held out", surer(first, least), unseen)
    return surer(fitted(examples), least)


def surer(logit: Logit, least: float) -> Logit:
    """A logit whose acts need a probability of `least`: the odds of "question" grow as much."""
    *acts, question = logit.weights[BIAS]
    weights = {**logit.weights, BIAS: [*acts, round(question + math.log(least / (1 - least)), 4)]}
    return msgspec.structs.replace(logit, weights=weights, unit=_UNIT)


def fitted(examples: Sequence[Example]) -> Logit:
    rows = [set(features_of(text)) for text, _ in examples]
    counts = Counter(chain.from_iterable(rows))
    least = {name: _LEAST_PIECES if name[:2] == "c " else _LEAST_OFTEN for name in counts}
    names = sorted(name for name, count in counts.items() if count >= least[name])
    values = np.array([*(_WHOLE if name.startswith("whole ") else 1.0 for name in names), 1.0])
    places = {name: place for place, name in enumerate(names)}
    columns = [[*(places[name] for name in row if name in places), len(names)] for row in rows]
    flat = np.concatenate(columns)
    starts = np.cumsum([0, *map(len, columns)])
    matrix = csr_matrix((values[flat], flat, starts), shape=(len(rows), len(values)))
    acts = Counter(act for _, act in examples)
    trained_on: dict[str, dict[str, int | float]] = {act: {"examples": acts[act]} for act in ACTS}
    right = np.array([ACTS.index(act) for _, act in examples])
    logit = fit_classes(matrix, right, _L2, [*names, BIAS], trained_on)
    weights = {
        name: [round(value * float(weight) / _UNIT) for weight in logit.weights[name]]
        for name, value in zip([BIAS, *names], [1.0, *values[:-1]], strict=True)
        if name == BIAS or max(map(abs, logit.weights[name])) >= _LEAST_WEIGHT
    }
    return msgspec.structs.replace(logit, weights=weights, unit=_UNIT)


def report(title: str, model: Logit, examples: Sequence[Example]) -> None:
    wrong = [(text, act) for text, act in examples if act_of(model, text) != act]
    number = sum(act == QUESTION for _, act in examples)
    mistaken = sum(act == QUESTION for _, act in wrong)
    print(f"{title}: {len(wrong)} of {len(examples)} wrong; {mistaken} of {number} questions taken for talk")


def judge(data: Path, model: Logit) -> None:
    folder = project_root() / "tests" / "cases"
    cases = yaml.safe_load((folder / "acts.yml").read_text(encoding="utf-8"))
    report("unseen utterances", model, [(text, case["act"]) for case in cases for text in case["utterances"]])
    report("CLINC150 val", model, [*spoken(data, "val")])
    sentences = (folder / "requests_typed.txt").read_text(encoding="utf-8").splitlines()
    report("requests", model, [(line, QUESTION) for line in sentences])
    sets = {part: read_part(Config(), part) for part in _REPORTED}
    sets["ConvMix dev"] = list(records(data, "convmix", "dev.json.gz"))
    for title, conversations in sets.items():
        texts = {turn["question"] for conversation in conversations for turn in conversation["questions"]}
        report(title, model, [(text, QUESTION) for text in sorted(texts)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=shared_data(), help="the folder of shared data")
    data = parser.parse_args().data
    chance, types = random.Random(_SEED), english().answer_types
    questions_on_items = records(data, "wikiwebquestions", "train.json.gz")
    names = sorted(
        {entity["label"] for record in questions_on_items for entity in record["entities"] if entity["label"]}
    )
    kinds = (types.class_nouns, types.date_nouns, types.number_nouns, types.person_nouns, types.place_nouns)
    nouns = sorted(set().union(*kinds))
    utterances = list(talk(chance, names, nouns))
    said = [*spoken(data, "train")] * 3
    acts = {fold(text) for text, act in [*utterances, *said] if act != QUESTION}
    openings = [text for text, act in utterances if act != QUESTION]
    wordings = [*questions(data, chance, names), *reworded(data, chance), *keywords(data, chance, openings)]
    model = learned([*utterances, *said, *(utterance for utterance in wordings if fold(utterance[0]) not in acts)])
    folder = resolve(TALK_MODEL)
    write_logit(model, folder, FILE)
    judge(data, read_acts(folder))


if __name__ == "__main__":
    main()
