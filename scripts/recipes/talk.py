"""Learn to tell acts of talk from questions.

    PYTHONPATH=scripts python -m recipes.talk --data /path/to/shared/data

Acts are learned from the patterns of `talk.yml` and from what people say to an assistant (CLINC150); questions from WikiWebQuestions, CompMix,
BoolQ, SimpleQuestions (train), WikiTableQuestions (training), QAMR (dev), PolicyQA (dev), the rewrites, the train part of the embedded conversations, SQuAD as keywords and requests, headers of tables alone and behind words of
talk, and CLINC150's other
intents ("how do i change my pin"). The least probability of an act is chosen on a fifth of them that is
kept apart. Then the model is judged on `tests/cases/acts.yml` and on the questions of ConvQuestions, ConvMix and the snapshot.
"""

import argparse
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path

import msgspec
import numpy as np
import yaml

from convinse.config import Config, project_root, resolve
from convinse.dialogue.acts import ACTS, FILE, FORMAT, QUESTION, TALK_MODEL, ActModel, features_of, read_acts
from convinse.experiment import read_part
from convinse.language.language import english
from convinse.language.text import fold
from convinse.support import manifest
from convinse.support.files import replacing
from recipes.embedded.requests import as_keywords, as_request
from recipes.embedded.tables import read_tables
from recipes.sources import json_lines, records, shared_data, unescaped_field

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
_INVERSE_L2 = 6.0
_WHOLE = 3.0  # value of the feature that is a whole short utterance; the others are 1
_LEAST_WEIGHT = 0.33  # of the largest of a feature: without smaller ones one of 351 unseen utterances is lost, and a fifth of the file
_MOST_MISTAKEN = (
    0.003  # questions kept apart that may be taken for talk; with .005 5 of 252 typed requests were, with this 2
)
_CHOICE = re.compile(r"\{([^{}]*)\}")
_FILLER = re.compile("NAME|NOUN|YEAR")
_BEFORE = ("", "", "", "", "", "", "ok ", "hm, ", "well, ", "oh ", "um ", "please ")
_BEFORE_QUESTIONS = (
    "Hi, ", "ok, ", "thanks, and ", "yes, ", "no, but ", "Ok. And ", "hello! ", "great. ", "and ", "I see. "
)  # fmt: skip
_BEHIND = ("", "", "", "!", ".", "?", "!!", "...", " :)", " please")
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
    rewrites = (record["question"] for file in sorted((data / "rewrites").glob("*.gz")) for record in json_lines(file))
    simple = records(data, "simplequestions-wikidata", "annotated_wd_data_train.txt.gz")
    sources = [
        [record["question"] for record in records(data, "wikiwebquestions", "train.json.gz")],
        [record["question"] for record in records(data, "compmix", "train.json.gz")],
        [record["question"] for record in records(data, "boolq", "train.jsonl.gz")],
        [fields[3] for fields in simple],
        # of a table or a sentence: short ones too, such as "Which file is the smallest?"
        [unescaped_field(fields[1]) for fields in records(data, "wikitablequestions", "training.tsv.gz")][1:],
        [record["question"] for record in records(data, "qamr", "dev.jsonl.gz")],
        sorted(
            {record["question"] for record in records(data, "policyqa", "dev.jsonl.gz")}
        ),  # "Can I deactivate my account?"
        [turn["question"] for conversation in read_part(Config(), "train") for turn in conversation["questions"]] * 5,
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


def learned(examples: Sequence[Example]) -> ActModel:
    """Fit the model, first on four fifths of the examples: the last one says from what probability on an utterance is talk."""
    held_out = [zlib.crc32(text.lower().strip(" ?!.").encode()) % 5 == 0 for text, _ in examples]
    unseen = list(compress(examples, held_out))
    first = fitted([example for example, is_out in zip(examples, held_out, strict=True) if not is_out], 0.0)
    chances = (1 - first.probabilities(text)[-1] for text, act in unseen if act == QUESTION)
    mistaken = sorted(map(float, chances), reverse=True)
    least = round(max(0.5, mistaken[int(_MOST_MISTAKEN * len(mistaken))]) + 0.0005, 3)
    report("held out", msgspec.structs.replace(first, least=least), unseen)
    return fitted(examples, least)


def _value(feature: str) -> float:
    return _WHOLE if feature.startswith("whole ") else 1.0


def fitted(examples: Sequence[Example], least: float) -> ActModel:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    rows = [set(features_of(text)) for text, _ in examples]
    counts = Counter(feature for row in rows for feature in row)
    frequent = {
        name for name, count in counts.items() if count >= (_LEAST_PIECES if name[:2] == "c " else _LEAST_OFTEN)
    }
    vectors = DictVectorizer()
    matrix = vectors.fit_transform([{name: _value(name) for name in row & frequent} for row in rows])
    logit = LogisticRegression(C=_INVERSE_L2, max_iter=300, random_state=_SEED)
    logit.fit(matrix, [ACTS.index(act) for _, act in examples])
    weights = zip(vectors.get_feature_names_out(), logit.coef_.T, strict=True)
    return ActModel(
        format=FORMAT,
        acts=list(ACTS),
        bias=[round(float(value), 2) for value in logit.intercept_],
        weights={
            name: [round(100 * _value(name) * float(weight)) for weight in of_acts]
            for name, of_acts in weights
            if np.abs(of_acts).max() >= _LEAST_WEIGHT
        },
        least=least,
        trained_on=len(examples),
    )


def report(title: str, model: ActModel, examples: Sequence[Example]) -> None:
    wrong = [(text, act) for text, act in examples if model.act(text) != act]
    number = sum(act == QUESTION for _, act in examples)
    mistaken = sum(act == QUESTION for _, act in wrong)
    print(f"{title}: {len(wrong)} of {len(examples)} wrong; {mistaken} of {number} questions taken for talk")


def judge(data: Path, model: ActModel) -> None:
    cases = yaml.safe_load((project_root() / "tests" / "cases" / "acts.yml").read_text(encoding="utf-8"))
    report("unseen utterances", model, [(text, case["act"]) for case in cases for text in case["utterances"]])
    report("CLINC150 val", model, [*spoken(data, "val")])
    sentences = project_root() / "tests" / "cases" / "requests_typed.txt"
    report("requests", model, [(line, QUESTION) for line in sentences.read_text(encoding="utf-8").splitlines()])
    parts = ("dev", "test", "natural-dev", "natural", "natural-fresh", "natural-third")
    sets = {part: read_part(Config(), part) for part in parts}
    sets["ConvMix dev"] = list(records(data, "convmix", "dev.json.gz"))
    for title, conversations in sets.items():
        texts = {turn["question"] for conversation in conversations for turn in conversation["questions"]}
        report(title, model, [(text, QUESTION) for text in sorted(texts)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=shared_data(), help="the folder of shared data")
    data = parser.parse_args().data
    chance, types = random.Random(_SEED), english().answer_types
    entities = (
        entity for record in records(data, "wikiwebquestions", "train.json.gz") for entity in record["entities"]
    )
    names = sorted({entity["label"] for entity in entities if entity["label"]})
    nouns = sorted(
        {*types.class_nouns, *types.date_nouns, *types.number_nouns, *types.person_nouns, *types.place_nouns}
    )
    utterances = list(talk(chance, names, nouns))
    acts = {fold(text) for text, act in utterances if act != QUESTION}
    said = [*spoken(data, "train")] * 3
    acts |= {fold(text) for text, act in said if act != QUESTION}
    openings = [text for text, act in utterances if act != QUESTION]
    wordings = [*questions(data, chance, names), *reworded(data, chance), *keywords(data, chance, openings)]
    model = learned([*utterances, *said, *(utterance for utterance in wordings if fold(utterance[0]) not in acts)])
    folder = Path(resolve(TALK_MODEL))
    with replacing(folder / FILE) as temporary:
        temporary.write_bytes(msgspec.json.encode(model).replace(b'],"', b'],\n"') + b"\n")
    manifest.seal(folder, "model")
    judge(data, read_acts(folder))


if __name__ == "__main__":
    main()
