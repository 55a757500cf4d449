"""Real questions over wikidata-27k: those of ConvQuestions, of three further sets, and whether a text answers them."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from convinse.knowledge_base.index import KnowledgeBase
from convinse.records.evidence import Entity, Evidence
from recipes.sources import needed

_ITEM = re.compile(r"Q[1-9][0-9]*")
_YEAR = re.compile(r"[0-9]{4}")
_STAMP = re.compile(r"([0-9]{4})-[0-9]{2}-[0-9]{2}T")


class SeedQuestion(NamedTuple):
    """A question, its seed entity where one is known, and its gold answers: item ids, time stamps or texts."""

    text: str
    seed: str | None
    gold: tuple[str, ...]


def read_json(path: Path) -> Any:
    """A whole compressed JSON file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def convquestions_path(data: Path) -> Path:
    """The conversations of ConvQuestions over wikidata-27k."""
    return needed(data, "convquestions", "val_wd27k.json.gz")


def distinct_turns(conversations: Iterable[dict]) -> Iterator[tuple[dict, dict, tuple[str, ...]]]:
    """(seed entity, turn, gold answers) of each (seed entity, question) once: a conversation is there in 32 wordings."""
    seen = set()
    for conversation in conversations:
        seed = conversation["questions"][0]["entities"][0]
        for turn in conversation["questions"]:
            key = (seed["id"], turn["question"])
            if key not in seen:
                seen.add(key)
                yield seed, turn, tuple(answer["id"] for answer in turn["answers"])


def convquestions(data: Path) -> dict[str, list[SeedQuestion]]:
    """Turn 0, and the turns one hop from the seed entity with its label in front."""
    first, one_hop = [], []
    for seed, turn, gold in distinct_turns(read_json(convquestions_path(data))):
        if turn["turn"] == 0:
            first.append(SeedQuestion(turn["question"], seed["id"], gold))
        if turn["one_hop"] and turn["label_agrees"] is not False:
            one_hop.append(SeedQuestion(f"{seed['label']} {turn['question']}", seed["id"], gold))
    return {"ConvQuestions, turn 0": first, "ConvQuestions, one hop": one_hop}


def other_sets(data: Path, kb: KnowledgeBase) -> dict[str, list[SeedQuestion]]:
    """The questions of three more data sets that have an answer in the knowledge base; they name no seed entities."""

    def known(pairs: Iterable[tuple[str, list[str]]]) -> list[SeedQuestion]:
        distinct = {
            text: SeedQuestion(text, None, tuple(gold))
            for text, gold in pairs
            if any(_ITEM.fullmatch(answer) and kb.has(answer) for answer in gold)
        }
        return list(distinct.values())

    def faith(name: str) -> list[SeedQuestion]:
        return known(
            (entry["Question"], [a.get("WikidataQid") or a.get("AnswerArgument") or "" for a in entry["Answer"]])
            for entry in read_json(needed(data, name, "dev.json.gz"))
        )

    lcquad = read_json(needed(data, "lcquad2-cq", "LC_QuAD20_CQ.dev.json.gz"))
    return {
        "LC-QuAD 2.0 CQ dev": known((entry["question"], entry["answers"]) for entry in lcquad),
        "TimeQuestions dev": faith("timequestions"),
        "TIQ dev": faith("tiq"),
    }


def holds_answer(facts: Iterable[list[Entity]], gold: Iterable[str]) -> bool:
    """Whether a gold answer is among the entities of the facts; a year also as the year of a date."""
    entities = [entity for fact in facts for entity in fact]
    ids = {entity["id"] for entity in entities}
    texts = [answer for answer in gold if not _ITEM.fullmatch(answer) and answer.casefold() not in ("yes", "no", "")]
    if any(answer in ids for answer in gold if _ITEM.fullmatch(answer)):
        return True
    if not texts:
        return False
    labels = {entity["label"].casefold() for entity in entities}
    years = {match[1] for entity_id in ids if (match := _STAMP.match(entity_id))}
    return any(text in ids or text.casefold() in labels or (_YEAR.fullmatch(text) and text in years) for text in texts)


def is_right(evidence: Evidence, gold: Iterable[str]) -> bool:
    """Whether an evidence holds a gold answer; a year also as the year of a date."""
    return holds_answer([evidence["wikidata_entities"]], gold)


def first_hit(ranked: Iterable[Evidence], gold: Iterable[str]) -> int | None:
    """The rank (from 1) of the first evidence with a gold answer."""
    return next((rank for rank, evidence in enumerate(ranked, 1) if is_right(evidence, gold)), None)
