"""Evidence, turn and conversation: the JSON-shaped records that the stages pass on, and their checks.

The records are plain dictionaries, so that they are written and read as they are; the `TypedDict` classes describe
them for type checkers. The shapes are those of CONVINSE and ConvMix (Christmann et al., SIGIR 2022).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from ..support.errors import ConfigError, DataError, nearest

SOURCES = ("kb", "text", "table", "info")
DEFAULT_SOURCES = "_".join(SOURCES)


class Entity(TypedDict):
    """An item, a date or a number: `id` is a Wikidata id, an ISO time stamp or a literal."""

    id: str
    label: str


class Evidence(TypedDict, total=False):
    """A piece of evidence; `score` is added by scoring, `retrieved_for_entity` by retrieval."""

    evidence_text: str
    source: str
    disambiguations: list[list[str]]
    wikidata_entities: list[Entity]
    retrieved_for_entity: Entity
    score: float


class RankedAnswer(TypedDict, total=False):
    """One answer of a turn; ranks count from 1 without ties."""

    answer: Entity
    score: float
    rank: int
    evidences: list[int]


class _EarlierWords(TypedDict):
    turn: int
    part: Literal["question", "answer"]
    text: str


class HistoryPart(_EarlierWords, total=False):
    """What a representation took from an earlier turn: the turn's number, which part of it, and its words.

    `score`: the probability that the question is about it, where a model chose it.
    """

    score: float


class Turn(TypedDict, total=False):
    """One question of a conversation, and what the stages add to it. Unknown keys pass through."""

    turn: int
    question_id: str
    question: str
    answers: list[Entity]
    structured_representation: str
    resolved_question: str
    history_used: list[HistoryPart]
    top_evidences: list[Evidence]
    pred_answers: list[RankedAnswer]
    answer_presence: bool
    answer_presence_per_src: dict[str, bool]
    p_at_1: float
    mrr: float
    h_at_5: float


class Conversation(TypedDict, total=False):
    """A conversation in the ConvMix structure."""

    conv_id: str
    domain: str
    questions: list[Turn]


def with_score(evidence: Evidence, score: float) -> Evidence:
    """A copy of an evidence that has this `score`."""
    copy = evidence.copy()
    copy["score"] = score
    return copy


def asked_in_full(turn: Turn) -> str:
    """What models read as the question: in full where question understanding wrote it so, else the representation."""
    return turn.get("resolved_question") or turn.get("structured_representation") or turn["question"]


def parse_sources(text: str | Sequence[str], where: str = "sources") -> tuple[str, ...]:
    """`"kb_text_infobox"` or a list of names -> the sources in the order kb, text, table, info.

    Raises:
        ConfigError: a name that is no source; the message names `where` and lists the valid ones.
    """
    names = text.split("_") if isinstance(text, str) else list(text)
    wanted = set()
    for name in names:
        source = normalize_source(name)
        if source not in SOURCES:
            raise ConfigError(
                f"{where}: unknown source '{name}' in '{text}'; valid: {', '.join(SOURCES)} (joined by _)"
            )
        wanted.add(source)
    if not wanted:
        raise ConfigError(f"{where}: no source; valid: {', '.join(SOURCES)} (joined by _)")
    return tuple(source for source in SOURCES if source in wanted)


def normalize_source(name: str) -> str:
    """CONVINSE's `infobox` is read as `info`; other names stay."""
    return "info" if name == "infobox" else name


def is_sources(text: str) -> bool:
    """Whether `text` looks like a combination of sources (`kb_text`) and not like a file name."""
    names = text.split("_")
    return any(normalize_source(name) in SOURCES for name in names) and not re.search(r"[./\\]", text)


def unique_entities(entities: Iterable[Entity]) -> list[Entity]:
    """The entities without repeated ids, in order."""
    first: dict[str, Entity] = {}
    for entity in entities:
        first.setdefault(entity["id"], entity)
    return list(first.values())


def merge_duplicates(evidences: Iterable[Evidence]) -> list[Evidence]:
    """Evidences of equal text and source become one that keeps the entities and mentions of all of them.

    The first one gives `retrieved_for_entity` and the place in the order. The given evidences are not changed.
    """
    merged: dict[tuple[str, str], Evidence] = {}
    for evidence in evidences:
        key = (evidence["evidence_text"], evidence["source"])
        first = merged.get(key)
        if first is None:
            merged[key] = evidence.copy()
            continue
        first["wikidata_entities"] = unique_entities([*first["wikidata_entities"], *evidence["wikidata_entities"]])
        mentions = [*first["disambiguations"], *evidence["disambiguations"]]
        first["disambiguations"] = [list(pair) for pair in dict.fromkeys(map(tuple, mentions))]
    return list(merged.values())


def check_evidence(evidence: object, where: str) -> None:
    """Raise `DataError` naming `where` unless `evidence` has the shape that the stages rely on."""

    def fault(text: str) -> DataError:
        return DataError(f"{where}: {text}; docs/evidences.md shows the format")

    if not isinstance(evidence, Mapping):
        raise fault(f"an evidence is {type(evidence).__name__}, not a dictionary")
    if not isinstance(evidence.get("evidence_text"), str):
        raise fault("an evidence has no 'evidence_text' string")
    if normalize_source(str(evidence.get("source"))) not in SOURCES:
        raise fault(f"an evidence has the source {evidence.get('source')!r} (valid: {', '.join(SOURCES)})")
    entities = evidence.get("wikidata_entities")
    if not isinstance(entities, list) or not all(_is_entity(entity) for entity in entities):
        raise fault("an evidence has no list of {id, label} in 'wikidata_entities'")
    pairs = evidence.get("disambiguations")
    if not isinstance(pairs, list) or not all(isinstance(pair, Sequence) and len(pair) == 2 for pair in pairs):
        raise fault("an evidence has no list of [surface form, id] in 'disambiguations'")
    entity = evidence.get("retrieved_for_entity")
    if entity is not None and not _is_entity(entity):
        raise fault("'retrieved_for_entity' of an evidence is not {id, label}")


def _is_entity(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("id"), str) and isinstance(value.get("label"), str)


def check_conversations(data: Any, where: str) -> list[Conversation]:
    """Raise `DataError` unless `data` is a list of conversations in the ConvMix structure; return it.

    The message names `where` (the file), the conversation, the turn and the key.
    """
    if not isinstance(data, list):
        raise DataError(f"{where}: expected a list of conversations, found {type(data).__name__}")
    seen: set[str] = set()
    for number, conversation in enumerate(data):
        place = f"{where}: conversation {number}"
        if not isinstance(conversation, dict):
            raise DataError(f"{place} is {type(conversation).__name__}, not an object")
        conv_id = _require(conversation, "conv_id", (str, int), place)
        place = f"{where}: conversation '{conv_id}'"
        if str(conv_id) in seen:
            raise DataError(f"{place} appears twice; conv_id must be unique")
        seen.add(str(conv_id))
        for index, turn in enumerate(_require(conversation, "questions", (list,), place)):
            if not isinstance(turn, dict):
                raise DataError(f"{place}, turn {index} is {type(turn).__name__}, not an object")
            spot = f"{place}, turn {turn.get('turn', index)}"
            _require(turn, "question", (str,), spot)
            answers = turn.get("answers")
            if answers is None:
                continue
            if not isinstance(answers, list):
                raise DataError(f"{spot}: 'answers' is {type(answers).__name__}, not a list")
            for answer in answers:
                if not isinstance(answer, dict):
                    raise DataError(f"{spot}: an answer is {type(answer).__name__}, not an object with id and label")
                _require(answer, "id", (str,), f"{spot}, answers")
                answer.setdefault("label", answer["id"])
                _require(answer, "label", (str,), f"{spot}, answers")
    return data


def _require(record: Mapping[str, Any], key: str, kinds: tuple[type, ...], place: str) -> Any:
    if key not in record:
        near = nearest(key, [name for name in record if isinstance(name, str)]) if record else "the object is empty"
        hint = f" ({near})" if near.startswith("did you mean") else ""
        raise DataError(f"{place}: the key '{key}' is missing{hint}")
    if not isinstance(record[key], kinds):
        raise DataError(
            f"{place}: '{key}' is {type(record[key]).__name__}, not {' or '.join(k.__name__ for k in kinds)}"
        )
    return record[key]
