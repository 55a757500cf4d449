"""Turn and conversation: the JSON-shaped records that the stages pass on, and their checks.

The shapes are those of CONVINSE and ConvMix (Christmann et al., SIGIR 2022).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import msgspec
from typing_extensions import NotRequired, Required, TypedDict

from ..support.errors import DataError, nearest, one_line
from ..support.jsonlines import JSON_ERRORS
from ..support.limits import LONGEST_QUESTION
from .evidence import SOURCES, Entity, Evidence, check_evidence, check_values, normalize_source
from .replies import Clarification, Meaning, SpokenReply
from .representation import QuestionEntity, Representation

_WORD = re.compile(r"\w+")


class EvidenceSpan(TypedDict):
    """The span of an answer in an evidence, by its place: `evidence_text[start:end]`, in characters."""

    evidence: int
    start: int
    end: int


class RankedAnswer(TypedDict):
    """An answer of a turn; ranks count from 1 without ties.

    `evidences` are the places of its best evidences in `top_evidences`, `reasons` its origins: `reader`, `yes_no`, a computation
    (`order`, `interval`), `evidences` (no other origin), `llm`, `definition` (its text says what the thing of its id is). `spans` are its places in these evidences. `time` is the time for which it holds, in words ("since 2019"), if the first
    evidence states it. `list`: the question asks for several answers, and this is among them.
    """

    answer: Entity
    score: float
    rank: int
    evidences: NotRequired[Sequence[int]]
    reasons: NotRequired[Sequence[str]]
    spans: NotRequired[Sequence[EvidenceSpan]]
    time: NotRequired[str]
    list: NotRequired[bool]


class Extent(TypedDict):
    """The rows that a list, a count or a sum is of, and of how many files; `unjudged` rows have no value below `lacking`."""

    rows: int
    files: int
    unjudged: NotRequired[int]
    lacking: NotRequired[str]


class HistoryPart(TypedDict):
    """A part of an earlier turn that a representation uses: the turn's number, the part, and its words.

    `id`: its entity in the representation, if it has one. `score`: the probability that the question is about it, if a model
    chose it.
    """

    turn: int
    part: Literal["question", "answer"]
    text: str
    id: NotRequired[str]
    score: NotRequired[float]


class LiveLookup(TypedDict):
    """The requests to live sources for a turn, and those that failed."""

    requests: list[str]
    failures: list[str]


class Step(TypedDict):
    """A question inside a question: `text` is the words that its answer stands for, such as "Titanic's director".

    With its best answer, that answer's probability, and the evidence for it. `use` of an age: whether the answer is its beginning or end.
    """

    text: str
    question: str
    use: NotRequired[Literal["born", "then"]]
    answer: NotRequired[Entity]
    score: NotRequired[float]
    evidence: NotRequired[str]


class Understanding(TypedDict, total=False):
    """The results of question understanding.

    `structured_representation` is the rendering of `representation`, if present; `resolved_question` is the question in full, for
    models that read sentences; `live` has the look-ups for it; `history_answers` are the answers of earlier turns (and
    what they were about, if others are asked for);
    `history_used` are the parts of the history in it; `steps` are questions to answer first; `second_reading` is another one that may
    be meant; `qu_tokens` are the tokens that a language model read (`prompt`) and wrote (`completion`).
    """

    structured_representation: Required[str]
    representation: Representation
    resolved_question: str
    history_answers: list[Entity]
    history_used: list[HistoryPart]
    steps: list[Step]
    second_reading: Understanding
    qu_tokens: dict[str, int]
    live: LiveLookup


class Turn(Understanding, SpokenReply, total=False):
    """A question of a conversation with the results of the stages, which have the required keys. Unknown keys pass through.

    An empty list of `answers` states that the question has no answer; questions of a `kind` are measured together. A turn that
    is better left without an answer has the reason (`abstained`); its answers are suggestions. In
    conversations with people, `act` is an act of talk (`thanks`) and `sentence` the reply; `actual_question` is the answered
    question if it differs from the utterance, `replaces` the turn whose question is asked again, `meanings` the names with the
    items that the person chose; `parts` are the turns of further questions in the utterance.

    >>> turn = ask("Who directed the film Titanic?", "kb", config="lexical.yml")
    >>> best = turn["pred_answers"][0]
    >>> turn["top_evidences"][best["evidences"][0]]["evidence_text"]
    'Titanic, director, James Cameron'
    """

    turn: int
    question_id: str
    question: Required[str]
    kind: str
    answers: list[Entity]
    question_entities: list[QuestionEntity]
    top_evidences: Required[list[Evidence]]
    pred_answers: Required[list[RankedAnswer]]
    abstained: dict[Literal["reason"], str]
    extent: Extent
    ha_tokens: dict[str, int]
    answer_presence: bool
    answer_presence_per_src: dict[str, bool]
    p_at_1: float
    mrr: float
    h_at_5: float
    act: str
    clarification: Clarification
    actual_question: str
    replaces: int
    meanings: list[Meaning]
    parts: list[Turn]


class Conversation(TypedDict):
    """A conversation in the ConvMix structure.

    >>> answers = [{"id": "Q42574", "label": "James Cameron"}]
    >>> conversation = {"conv_id": "1", "questions": [{"question": "Who directed the film Titanic?", "answers": answers}]}
    >>> with Pipeline("lexical.yml") as pipeline:
    ...     (measured,) = pipeline.run([conversation], "kb")
    >>> measured["questions"][0]["p_at_1"]
    1.0
    """

    conv_id: str
    questions: list[Turn]
    domain: NotRequired[str]
    part: NotRequired[str]


# CONVINSE writes measures as numbers, this project some of them as true or false
_MEASURES: dict[str, Any] = {
    **dict.fromkeys(("p_at_1", "mrr", "h_at_5", "answer_presence"), float | bool),
    "answer_presence_per_src": dict[str, float | bool],
    "pred_answers": list[dict[str, Any]],
}


def new_turn(**keys: Any) -> Turn:
    """Return a turn to which the stages are to add what they give."""
    return cast("Turn", keys)


def asked_in_full(turn: Turn) -> str:
    """Return the question as models read it: in full, else the representation."""
    return turn.get("resolved_question") or turn.get("structured_representation") or turn["question"]


def read_differently(turn: Turn) -> str:
    """Return the question in full if it has words that the question as it was typed has not; else an empty text."""
    text = asked_in_full(turn).strip()
    words = iter(_WORD.findall(turn.get("actual_question", turn["question"]).casefold()))
    return "" if all(word in words for word in _WORD.findall(text.casefold())) else text


def check_conversations(data: Any, where: str) -> list[Conversation]:
    """Raise `DataError` unless `data` is a list of conversations in the ConvMix structure; return it.

    The message names `where` (the file), the conversation, the turn and the key.
    """
    if not isinstance(data, list):
        raise DataError(f"{where}: expected a list of conversations, found {type(data).__name__}")
    seen: set[str] = set()
    for number, conversation in enumerate(data):
        place = f"{where}: conversation {number}"
        conv_id = _require(conversation, "conv_id", (str, int), place)
        place = f"{where}: conversation '{conv_id}'"
        if str(conv_id) in seen:
            raise DataError(f"{place} appears twice; conv_id must be unique")
        seen.add(str(conv_id))
        for index, turn in enumerate(_require(conversation, "questions", (list,), place)):
            spot = f"{place}, turn {turn.get('turn', index) if isinstance(turn, dict) else index}"
            question = _require(turn, "question", (str,), spot)
            if isinstance(turn.get("question_id"), int):
                turn["question_id"] = str(turn["question_id"])
            if len(question) > LONGEST_QUESTION:
                raise DataError(f"{spot}: a question of {len(question)} characters; {LONGEST_QUESTION} are the most")
            answers = turn.get("answers")
            if answers is None:
                continue
            if not isinstance(answers, list):
                raise DataError(f"{spot}: 'answers' is {type(answers).__name__}, not a list")
            for answer in answers:
                _require(answer, "id", (str,), f"{spot}: an answer")
                answer.setdefault("label", answer["id"])
                _require(answer, "label", (str,), f"{spot}: an answer")
    return data


def check_question(question: object) -> str:
    """Return a question; raise `DataError` if it is not text, empty or too long."""
    if not isinstance(question, str):
        raise DataError(f"a question is {type(question).__name__}, not text")
    if not question.strip():
        raise DataError(f"the question is empty; ask in 1 to {LONGEST_QUESTION} characters")
    if len(question) > LONGEST_QUESTION:
        raise DataError(f"a question of {len(question)} characters; {LONGEST_QUESTION} are the most")
    try:
        question.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"character {error.start + 1} of the question is half of one") from None
    return question


def check_answered(conversation: Any) -> Conversation:
    """Return a copy of a conversation that can be continued; raise `DataError` if a turn was not understood and answered."""
    where, needed = "the conversation", "; a session takes up what a session gave as its conversation"
    try:
        copy = msgspec.json.decode(msgspec.json.encode(conversation))
    except (TypeError, *JSON_ERRORS) as error:
        raise DataError(f"{where} is not JSON: {one_line(error)}") from None
    (checked,) = check_finished([copy], where)
    for turn, place in _places([checked], where):
        check_question(turn["question"])
        for evidence in turn.get("top_evidences", []):
            check_evidence(evidence, place)
        for key in ("structured_representation", "pred_answers"):
            if key not in turn:
                raise DataError(f"{place}: the key '{key}' is missing{needed}")
        try:
            msgspec.convert({"top_evidences": [], **turn}, Turn)
        except msgspec.ValidationError as error:
            raise DataError(f"{place}: {one_line(error)}{needed}") from None
    return checked


def check_finished(data: Any, where: str) -> list[Conversation]:
    """Check as `check_conversations`, and that measures and scores of answers are numbers, as the pipeline writes them."""
    conversations = check_conversations(data, where)
    for turn, place in _places(conversations, where):
        check_values(turn, _MEASURES, place)
        for number, answer in enumerate(turn.get("pred_answers", [])):
            check_values(answer, {"score": float}, place, path=f"$.pred_answers[{number}]")
    return conversations


def stored_answers(turn: Mapping[str, Any]) -> Any:
    """Return the ranked answers of a turn, also by EXPLAIGNN's name, in the form of this project."""
    return answers_in_own_form(turn.get("pred_answers", turn.get("ranked_answers")))


def answers_in_own_form(answers: Any) -> Any:
    """Return ranked answers in the form of this project, with their entities as `answer`; other values unchanged."""
    if not isinstance(answers, list):
        return answers
    converted = []
    for answer in answers:
        # CONVINSE stores an answer's entity beside its `rank` and `score`
        if isinstance(answer, dict) and "answer" not in answer and isinstance(answer.get("id"), str):
            entity = {"id": answer["id"], "label": answer.get("label", answer["id"])}
            answer = {"answer": entity, **{key: value for key, value in answer.items() if key not in entity}}
        converted.append(answer)
    return converted


def names_spoken_of(history: Iterable[Turn]) -> Iterator[str]:
    """Yield the names in a conversation: labels, and words of its questions."""
    for turn in history:
        representation = turn.get("representation")
        if representation is not None:
            yield from (item["label"] for item in (*representation["entities"], *representation["context"]))
            yield from (candidate["question_word"] for candidate in representation["candidates"])
        yield from (answer["label"] for answer in turn.get("answers", ()))


def check_measurable(data: Any, where: str) -> list[Conversation]:
    """Check as `check_finished`, and that turns with `answers` have `pred_answers` with the ranks 1, 2, 3, ..., and `top_evidences`."""
    conversations = check_finished(data, where)
    for turn, place in _places(conversations, where):
        if turn.get("answers") is None:
            continue
        if isinstance(answers := stored_answers(turn), list):
            turn["pred_answers"] = answers
        for key in ("pred_answers", "top_evidences"):
            if not isinstance(turn.get(key), list):
                raise DataError(
                    f"{place}: no list of '{key}', which measures are computed from; give one for every turn"
                )
        for rank, answer in enumerate(turn["pred_answers"], 1):
            _require(_require(answer, "answer", (dict,), place), "id", (str,), f"{place}: answer {rank}")
            if _require(answer, "rank", (int,), place) != rank:
                raise DataError(
                    f"{place}: answer {rank} has the rank {answer['rank']}; ranks are 1, 2, 3, ... in their order"
                )
        for evidence in turn["top_evidences"]:
            for entity in _require(evidence, "wikidata_entities", (list,), f"{place}: an evidence"):
                _require(entity, "id", (str,), f"{place}: an entity of an evidence")
            if normalize_source(_require(evidence, "source", (str,), f"{place}: an evidence")) not in SOURCES:
                raise DataError(
                    f"{place}: an evidence has the source '{evidence['source']}'; valid: {', '.join(SOURCES)}"
                )
    return conversations


def _places(conversations: list[Conversation], where: str) -> Iterator[tuple[Turn, str]]:
    for conversation in conversations:
        for index, turn in enumerate(conversation["questions"]):
            yield turn, f"{where}: conversation '{conversation['conv_id']}', turn {turn.get('turn', index)}"


def _require(record: Any, key: str, kinds: tuple[type, ...], place: str) -> Any:
    if not isinstance(record, dict):
        raise DataError(f"{place} is {type(record).__name__}, not an object")
    if key not in record:
        near = nearest(key, [name for name in record if isinstance(name, str)]) if record else "the object is empty"
        hint = f" ({near})" if near.startswith("did you mean") else ""
        raise DataError(f"{place}: the key '{key}' is missing{hint}")
    if not isinstance(record[key], kinds):
        raise DataError(
            f"{place}: '{key}' is {type(record[key]).__name__}, not {' or '.join(k.__name__ for k in kinds)}"
        )
    return record[key]
