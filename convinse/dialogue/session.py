"""A continuing conversation: only the new turn is computed, however long the history is.

A session stores each turn as compressed JSON, a tenth of its size, and beside it, uncompressed, the part that later turns need. Changes
that a caller makes to a turn do not reach the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from ..question_understanding.base import history_turn
from ..records.conversation import Conversation, Turn, check_answered, check_question, new_turn
from ..records.display import ConversationRecord, conversation_record, turn_record
from ..records.evidence import DEFAULT_SOURCES, parse_sources
from ..support.errors import DataError, ModuleError, one_line
from ..support.zstd import zstd

StageReport = Callable[[str], None]  # called with the name of the stage that is done
Progress = Callable[[str, Turn], None]  # called with the name of the stage and the turn so far
# the method `Pipeline.answer_turns`: turns, their histories, sources, report
AnswerTurns = Callable[[Sequence[Turn], Sequence[Sequence[Turn]], Sequence[str], StageReport], None]

_LEVEL = 3  # of Zstandard: a turn of 100 evidences is packed in a millisecond; higher levels save a tenth and take thrice as long
_NEW_ID = "ask"


_StoredTurn = tuple[bytes, bytes]  # the turn, JSON and Zstandard, and JSON of its `history_turn`


class Session:
    """A conversation with a pipeline; `Pipeline.session` makes it.

    Earlier turns count with their predicted answers. Sessions are independent; sessions of one pipeline must not be asked by two
    threads at once: use `ask_together`.

    >>> with Pipeline("lexical.yml") as pipeline:
    ...     session = pipeline.session("kb")
    ...     for question in ("Who directed the film Titanic?", "When was he born?"):
    ...         print(session.ask(question)["pred_answers"][0]["answer"]["label"])
    James Cameron
    16 August 1954

    Args:
        answer_turns: the method of the pipeline.
        sources: a combination such as `kb_text`, or a list.
        conversation: the one to continue; see `Pipeline.session`.
    """

    __slots__ = ("_answer_turns", "_metadata", "_sources", "_turns")

    def __init__(
        self,
        answer_turns: AnswerTurns,
        sources: str | Sequence[str] = DEFAULT_SOURCES,
        conversation: Conversation | None = None,
    ) -> None:
        self._answer_turns = answer_turns
        self._sources = parse_sources(sources)
        start = {"conv_id": _NEW_ID, "questions": []} if conversation is None else check_answered(conversation)
        self._turns = [_stored(turn) for turn in start["questions"]]
        self._metadata = _packed({key: value for key, value in start.items() if key != "questions"})

    def __len__(self) -> int:
        """The number of turns."""
        return len(self._turns)

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of the next turn. They can be set to a combination or a list."""
        return self._sources

    @sources.setter
    def sources(self, sources: str | Sequence[str]) -> None:
        self._sources = parse_sources(sources)

    @property
    def stored_bytes(self) -> int:
        """The bytes that the stored turns take."""
        return len(self._metadata) + sum(len(packed) + len(history) for packed, history in self._turns)

    @property
    def conversation(self) -> Conversation:
        """All turns, in the ConvMix structure; it can be written as JSON, and continued by `Pipeline.session`."""
        return conversation_record(_unpacked(self._metadata), (_unpacked(packed) for packed, _ in self._turns))

    def __repr__(self) -> str:
        return f"<Session over {'_'.join(self._sources)}: {self.conversation!r}>"

    def _repr_html_(self) -> str:
        return cast("ConversationRecord", self.conversation)._repr_html_()

    def ask(self, question: str, progress: Progress | None = None) -> Turn:
        """Answer the next question.

        Args:
            question: 1 to 2,000 characters.
            progress: called after each stage (`qu`, `ers`, `ha`) with its name and the turn so far. If it raises, the turn ends.

        Raises:
            DataError: the question cannot be asked. If anything is raised, the session is unchanged.
        """
        (result,) = ask_together([NextQuestion(self, question, progress)])
        if isinstance(result, Exception):
            raise result
        return turn_record(result)

    def back(self) -> Turn:
        """Remove the last turn and return it. Raises `DataError` if there is no turn."""
        if not self._turns:
            raise DataError("there is no turn to take back")
        packed, _ = self._turns.pop()
        return turn_record(_unpacked(packed))

    def copy(self, answer_turns: AnswerTurns | None = None) -> Session:
        """Return a copy that continues from the same turns, with another pipeline if its method is given.

        Stored turns are shared, not copied.
        """
        copy = object.__new__(Session)
        copy._answer_turns = answer_turns or self._answer_turns
        copy._sources, copy._metadata = self._sources, self._metadata
        copy._turns = self._turns.copy()
        return copy


class NextQuestion(NamedTuple):
    """The next question of a session, for `ask_together`."""

    session: Session
    question: str
    progress: Progress | None = None


def ask_together(batch: Iterable[NextQuestion]) -> list[Turn | Exception]:
    """Ask several sessions their next question; those of one pipeline with the same sources are computed together.

    Returns:
        For each, the turn, or the exception of its question, its `progress` or a stage. If a stage fails on a batch, each question
        is asked alone, and its progress is reported again. A session whose turn fails is unchanged.

    Raises:
        DataError: a session is asked twice.
    """
    questions = list(batch)
    if len({id(question.session) for question in questions}) < len(questions):
        raise DataError("a session is asked twice at once; ask for its second turn when the first is answered")
    results: dict[int, Turn | Exception] = {}
    groups: dict[Any, list[int]] = {}
    for place, (session, question, _) in enumerate(questions):
        try:
            check_question(question)
        except DataError as error:
            results[place] = error
        else:
            groups.setdefault((session._answer_turns, session.sources), []).append(place)
    for places in groups.values():
        results |= zip(places, _answered([questions[place] for place in places]), strict=True)
    return [results[place] for place in range(len(questions))]


def _answered(batch: Sequence[NextQuestion]) -> list[Turn | Exception]:
    turns: list[Turn] = []
    histories: list[list[Turn]] = []
    for session, question, _ in batch:
        history = [msgspec.json.decode(stored) for _, stored in session._turns]
        number = history[-1].get("turn", len(history) - 1) + 1 if history else 0
        turns.append(new_turn(turn=number, question=question))
        histories.append(history)
    failed: dict[int, Exception] = {}

    def report(stage: str) -> None:
        for place, (_, _, progress) in enumerate(batch):
            if progress is not None and place not in failed:
                try:
                    progress(stage, turns[place])
                except Exception as error:  # the client may be gone, for example; the other turns go on
                    failed[place] = error
        if len(failed) == len(batch):
            raise _GivenUpError

    first = batch[0].session
    try:
        first._answer_turns(turns, histories, first.sources, report)
    except _GivenUpError:
        pass
    except Exception as error:  # a user's module may raise anything on one turn; the others are asked again one by one
        if len(batch) == 1:
            return [error]
        return [failed[place] if place in failed else _answered([question])[0] for place, question in enumerate(batch)]
    for place, (session, _, _) in enumerate(batch):
        if place not in failed:
            try:
                session._turns.append(_stored(turns[place]))
            except (TypeError, ValueError, RecursionError) as error:
                failed[place] = ModuleError(f"turn {turns[place]['turn']} cannot be kept as JSON: {one_line(error)}")
    return [failed.get(place, turn) for place, turn in enumerate(turns)]


class _GivenUpError(Exception):  # the progress of every turn in the batch has failed
    pass


def _stored(turn: Turn) -> _StoredTurn:
    return _packed(turn), msgspec.json.encode(history_turn(turn, use_gold_answers=False))


def _packed(value: Any) -> bytes:
    return zstd.compress(msgspec.json.encode(value), _LEVEL)


def _unpacked(packed: bytes) -> Any:
    return msgspec.json.decode(zstd.decompress(packed))
