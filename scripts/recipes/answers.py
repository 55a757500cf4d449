"""The shipped ranking of answers anew, after a change of the embedded model, of what finds answers, or of the data.

    PYTHONPATH=scripts python -m recipes.answers [--data ../shared/data] [--work cache/answers] [--output FOLDER]

Learns from the embedded conversations to train and to choose by (all sources), also with answers that are no items and with
questions that offer two of them, and from single questions whose answer is in wikidata-27k (knowledge base): TIQ (train), RuBQ and
LC-QuAD 2.0 (dev); yes or no also from BoolQ. ConvQuestions, TimeQuestions and TIQ (dev) have no say: `bench conversations` and `bench temporal` report on them.
Prints cross-validated figures by whole conversations (of single questions: by what they are about) of each strength of regularisation.
What the questions give is kept in the folder `work`; delete it after a change of the code.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bench.candidates import build_sources
from bench.conversations.turns import is_right
from bench.model.reading import sentences
from convinse.config import load_config, resolve
from convinse.experiment import read_part
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.heterogeneous_answering.answer_weights import SHIPPED
from convinse.heterogeneous_answering.candidate_features import Features
from convinse.heterogeneous_answering.extractive import ExtractiveAnswering
from convinse.heterogeneous_answering.question import AskedQuestion
from convinse.heterogeneous_answering.yes_no import yes_or_no
from convinse.knowledge_base.index import KnowledgeBase
from convinse.records.border import structured
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import SOURCES, Entity, Evidence
from convinse.resources import Resources
from convinse.support.files import replacing
from convinse.training.answer_ranking import ChoiceSet, choices_of, offering, unlinked, write_ranking
from convinse.training.choices import Choice
from convinse.training.conversations import grouped_turns
from recipes.embedded.examples import chooses
from recipes.embedded.negatives import part_of
from recipes.embedded.ranking_sets import boolq_questions
from recipes.embedded.wikidata import is_item
from recipes.sources import json_lines, needed, shared_data
from recipes.temporal import answer_entity

_NAMES = ", names"  # sets whose answers are no items
_PARTS = ("choices", "yes_no")
_EMBEDDED = ("train", "dev", "natural-dev")
_CARD = {
    "Data": """
| set | what | licence |
|---|---|---|
| train, dev, natural-dev | the embedded conversations to train and to choose by, all sources | MIT, the project's own |
| train, names; dev, names | the same, as if the answers were no items | as above |
| train, offers; dev, offers | the same, as if each question offered its answer and a wrong one | as above |
| tiq | questions of TIQ (train), as found in zhenjia2017/FAITH, over wikidata-27k | MIT |
| rubq2 | questions of RuBQ 2.0 (dev), vladislavneon/RuBQ, over wikidata-27k | CC BY-SA 4.0 |
| lcquad2 | questions of LC-QuAD 2.0 (dev, CLOCQ's selection), over wikidata-27k | CC BY 4.0 |
| boolq | 238 held-out questions for yes or no of BoolQ with their passages | CC BY-SA |

Facts are Wikidata's (CC0). `trained_on` in `answers.json` has how many questions each set has, how many of them have a right candidate, how
much a question counts, and the questions for yes or no. It holds numbers only, no text of the data. The half of the natural questions to
report on, the test part, TimeQuestions, TIQ (dev) and ConvQuestions had no part in it.""",
    "Again": "`PYTHONPATH=scripts python -m recipes.answers`, in a checkout with the shared data. The same questions give the same weights.",
}
_LISTED = Features._fields.index("listed")
_MOST = 600  # questions of a benchmark of single questions
_QUESTIONS = ("hybrid", "wikidata-questions.jsonl.gz")  # of TIQ (train) and RuBQ
_LCQUAD = ("lcquad2-cq", "LC_QuAD20_CQ.dev.json.gz")


def single_questions(data: Path, kb: KnowledgeBase) -> dict[str, list[Conversation]]:
    """By data set the questions of one turn with an answer that the knowledge base knows, each once."""
    known: dict[str, dict[str, Conversation]] = defaultdict(dict)

    def add(name: str, question: str, answers: Iterable[Entity]) -> None:
        given = [answer for answer in answers if not is_item(answer["id"]) or kb.has(answer["id"])]
        if given and "{" not in question:
            turn: Turn = {"turn": 0, "question": question, "answers": given}
            known[name].setdefault(question, {"conv_id": f"{name} {len(known[name])}", "questions": [turn]})

    for row in json_lines(needed(data, *_QUESTIONS)):
        if row["set"].endswith("test"):
            continue
        written = (answer["id"] or str(answer["value"]) for answer in row["answers"])
        add(row["set"].split("-")[0], row["question"], filter(None, (answer_entity(own, kb.label) for own in written)))
    for conversation in read_benchmark(needed(data, *_LCQUAD), "lcquad2"):
        turn = conversation["questions"][0]
        add("lcquad2", turn["question"], turn["answers"])
    return {name: list(questions.values()) for name, questions in known.items()}


def some(conversations: Sequence[Conversation], most: int) -> list[Conversation]:
    """At most so many, evenly from all."""
    step = max(1, -(-len(conversations) // most))
    return list(conversations[::step])


def choice_set(
    name: str, settings: Mapping[str, Any], conversations: Sequence[Conversation], sources: Sequence[str], work: Path
) -> ChoiceSet:
    """What conversations teach, from the folder `work` where it is there already; `settings` are of the configuration."""
    kept = work / f"{name}.npz"
    if not kept.is_file():
        path = work / f"{name}.json"
        path.write_text(json.dumps(conversations), encoding="utf-8")
        config = load_config(
            "config.yml", **settings, train_input_path=str(path.resolve()), benchmark="convmix", benchmark_path=".",
            ers_cache_path=str(work / "cache"),
        )  # fmt: skip
        with Resources(config) as resources:
            turns = grouped_turns(config, "train", sources, resources)
            if name.endswith(_NAMES):
                turns = ((group, own) for group, turn in turns if (own := unlinked(turn)) is not None)
            learned = choices_of(name, ExtractiveAnswering(config, resources), turns, is_right)
        arrays = {f"{part}_{key}": array for part in _PARTS for key, array in _arrays(getattr(learned, part)).items()}
        with replacing(kept) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)
    with np.load(kept, allow_pickle=False) as arrays:
        return ChoiceSet(name, *(list(_choices(arrays, part)) for part in _PARTS))


def _arrays(choices: Sequence[Choice]) -> dict[str, np.ndarray]:
    """Choices as arrays that a file can hold."""
    return {
        "candidates": np.concatenate([choice.candidates for choice in choices] or [np.empty((0, 0))]),
        "counts": np.array([len(choice.candidates) for choice in choices], np.int64),
        "questions": np.array([choice.question for choice in choices]),
        "right": np.concatenate([choice.right for choice in choices] or [np.empty(0, bool)]),
        "groups": np.array([choice.group for choice in choices], np.str_),
    }


def _choices(kept: Mapping[str, np.ndarray], part: str) -> Iterator[Choice]:
    own = {key: kept[f"{part}_{key}"] for key in ("candidates", "counts", "questions", "right", "groups")}
    ends = np.cumsum(own["counts"])[:-1]
    rows, right = np.split(own["candidates"], ends), np.split(own["right"], ends)
    for candidates, question, answers, group in zip(rows, own["questions"], right, own["groups"], strict=False):
        yield Choice(candidates, question, answers, 1.0, str(group))


def all_sets(data: Path, work: Path) -> list[ChoiceSet]:
    """The sets that the shipped ranking learns from."""
    work.mkdir(parents=True, exist_ok=True)
    parts = {part: read_part(load_config("config.yml"), part) for part in _EMBEDDED}
    parts |= {part + _NAMES: parts[part] for part in _EMBEDDED[:2]}
    sets = [choice_set(name, {}, own, SOURCES, work) for name, own in parts.items()]
    sets += [offering(own) for own in sets[:2]]
    real = build_sources(data, work)
    with closing(KnowledgeBase(Path(real["kb_path"]))) as kb:
        single = [
            choice_set(name, real, some(questions, _MOST), ("kb",), work)
            for name, questions in single_questions(data, kb).items()
        ]
    choices = [_linked(choice) for own in single for choice in own.choices]
    yes_no = list(chain.from_iterable(own.yes_no for own in single))
    sets.append(ChoiceSet(", ".join(own.name for own in single), choices, yes_no))  # one of seven sets, all of one kind
    sets.append(ChoiceSet("boolq", [], list(_boolq(data))))
    return sets


def _linked(choice: Choice) -> Choice:
    """The choice without right candidates that are only known as one of a class: a guess, where what is asked about is not linked."""
    return choice._replace(right=choice.right & (choice.candidates[:, _LISTED] == 0.0)) if len(choice.right) else choice


def _boolq(data: Path) -> Iterator[Choice]:
    """Questions for yes or no of BoolQ, over the sentences of their passages: those that the yes/no head has not learned from, and by
    which things may be chosen."""
    with Resources(load_config("config.yml", ers_use_cache=False)) as resources:
        judge = ExtractiveAnswering(resources.config, resources).judge
        for given in boolq_questions(data):
            if part_of("boolq", given.key) == "dev" and chooses(given.key):
                told: list[Evidence] = [
                    {"evidence_text": text, "source": "text", "disambiguations": [], "wikidata_entities": []}
                    for text in sentences(given.passage)
                ]
                turn: Turn = {
                    "question": f"{given.question.rstrip('?')}?",
                    "top_evidences": list(map(structured, told)),
                }
                features = yes_or_no(AskedQuestion.of(turn, resources.config.sr_delimiter, resources), judge).features
                yield Choice(np.array([features]), np.empty(0), np.array([given.yes]), 1.0, given.key)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=shared_data(), help="the shared data")
    parser.add_argument("--work", type=Path, default=Path("cache/answers"), metavar="FOLDER")
    parser.add_argument("--output", type=Path, default=resolve(SHIPPED), metavar="FOLDER")
    options = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    logging.getLogger("convinse").setLevel(logging.INFO)
    config = load_config("config.yml")
    write_ranking(all_sets(options.data, options.work), config, options.output, _CARD)


if __name__ == "__main__":
    main()
