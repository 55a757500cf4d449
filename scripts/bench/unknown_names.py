"""Questions about names that nothing is known of: how often they are answered all the same.

    bash run.sh bench unknown_names

First questions of conversations over the embedded data in which a person, a work or the like is named. The name is changed into that of
something of the same class in wikidata-27k that neither the embedded knowledge base nor a page has: what is asked makes sense, and
nothing can answer it. "false": an answer above .5 that is not marked as unknown; "names it": the reason names what is unknown. Beside
them are the same questions with their own names. What counts as unknown was chosen on the questions of `chosen by`; what was answered falsely
among the first 46 of `measured` had been read before.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from convinse.config import load_config
from convinse.experiment import read_part
from convinse.knowledge_base.dump import read_dump
from convinse.knowledge_base.index import KnowledgeBase
from convinse.language.text import fold
from convinse.pipeline import Pipeline
from convinse.records.conversation import Turn
from convinse.records.evidence import SOURCES
from convinse.resources import Resources
from recipes.embedded.wikidata import wikidata_27k

from .harness import Bench, Figures, Spec, run

_PARTS = {"chosen by": ("train", "dev", "natural-dev"), "measured": ("test", "natural", "natural-fresh")}
_MOST = 100  # questions of a set
_EACH = 3  # unknown names in the place of a known one
_SURE = 0.5  # probability of an answer
_SEED = 11
_INSTANCE_OF = 31
_LETTERS = 4  # of a name at least
_COLUMNS = {
    "questions": ("questions", "{}"), "false": ("false", "{:.3f}"), "answered": ("answered", "{:.3f}"),
    "names it": ("names_it", "{:.3f}"), "own name: answered": ("own_answered", "{:.3f}"), "right": ("own_right", "{:.3f}"),
}  # fmt: skip


class _Renamed(NamedTuple):
    question: str
    unknown: str  # the name in it
    original: Turn  # with its own name


class _UnknownNames:
    """Names of wikidata-27k by class that the embedded data has nowhere."""

    def __init__(self, data: Path, resources: Resources) -> None:
        self._kb = resources.kb
        dump = resources.pages
        pages = (
            [fold(evidence["evidence_text"]) for page in dump.items() for evidence in dump.get(page)] if dump else []
        )
        self._told = f" {' | '.join(pages)} "
        self._by_class: defaultdict[str, list[str]] = defaultdict(list)
        for document in read_dump(wikidata_27k(data)):
            for statement in document.statements:
                prop, value = statement.parts[0]
                if prop == f"P{_INSTANCE_OF}":
                    self._by_class[value.id].append(document.label)
        for names in self._by_class.values():
            names.sort()
            random.Random(_SEED).shuffle(names)

    def take(self, classes: Sequence[str]) -> str | None:
        """A name of one of the classes that was not taken yet."""
        for class_name in classes:
            names = self._by_class[class_name]
            while names:
                name = names.pop()
                form = fold(name)
                if len(form) >= _LETTERS and not self._kb.candidates(form) and f" {form} " not in self._told:
                    return name
        return None


def _named(kb: KnowledgeBase, turn: Turn) -> Iterator[tuple[str, str]]:
    """The items that a question names, with their names in it, the longest first."""
    for entity in turn["representation"]["entities"]:
        for name in sorted({entity["label"], *kb.aliases(entity["id"])}, key=len, reverse=True):
            if name in turn["question"] and name[:1].isupper():
                yield entity["id"], name
                break


def _renamed(pipeline: Pipeline, parts: Sequence[str], names: _UnknownNames) -> Iterator[_Renamed]:
    kb = pipeline.resources.kb
    for part in parts:
        for conversation in read_part(pipeline.config, part):
            first = conversation["questions"][0]
            (turn,) = pipeline.run([{"conv_id": "own", "questions": [first]}], SOURCES)[0]["questions"]
            for item, name in list(_named(kb, turn))[:1]:
                for _ in range(_EACH):
                    unknown = names.take(kb.objects(item, _INSTANCE_OF))
                    if unknown is not None:
                        yield _Renamed(turn["question"].replace(name, unknown), unknown, turn)


def unknown_names(bench: Bench) -> Figures:
    """Ask the questions with their own and with unknown names."""
    rows: dict[str, Figures] = {}
    with Pipeline(load_config("config.yml")) as pipeline:
        names = _UnknownNames(bench.folder, pipeline.resources)
        for part, of_part in _PARTS.items():
            questions = list(_renamed(pipeline, of_part, names))
            random.Random(_SEED).shuffle(questions)
            rows[part] = _measured(pipeline, questions[:_MOST], bench.options.show)
    bench.compare("questions about unknown names", ("set",), _COLUMNS, {(): rows})
    return rows


def _measured(pipeline: Pipeline, questions: Sequence[_Renamed], shown: bool) -> Figures:
    turns = [pipeline.ask([question.question], SOURCES)["questions"][0] for question in questions]
    for case, turn in zip(questions, turns, strict=True):
        if shown:
            best = turn["pred_answers"][:1]
            print(
                case.question,
                "|",
                turn.get("abstained", {}).get("reason", ""),
                "|",
                best and (best[0]["answer"]["label"], best[0]["score"]),
            )
    answered = [turn["pred_answers"] and "abstained" not in turn for turn in turns]
    sure = [bool(done) and turn["pred_answers"][0]["score"] > _SURE for done, turn in zip(answered, turns, strict=True)]
    own_turns = [question.original for question in questions]
    count = max(1, len(turns))
    return {
        "questions": len(turns),
        "false": sum(sure) / count,
        "answered": sum(map(bool, answered)) / count,
        "names_it": sum(
            case.unknown in turn.get("abstained", {}).get("reason", "")
            for case, turn in zip(questions, turns, strict=True)
        )
        / count,
        "own_answered": sum("abstained" not in turn for turn in own_turns) / count,
        "own_right": sum(turn["p_at_1"] for turn in own_turns) / count,
    }


SPEC = Spec(
    "unknown_names", __doc__, {"unknown_names": unknown_names},
    options={"--show": {"action": "store_true", "help": "print the questions and what is said"}},
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
