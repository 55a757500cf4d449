"""What is said in a conversation: an act of talk, a reply to a question back, or questions; and what later turns know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ..config import resolve
from ..heterogeneous_answering.abstention import foreign
from ..question_understanding.base import history_turn
from ..records.conversation import Turn
from ..records.replies import Meaning
from ..resources import Resources
from .acts import QUESTION, TALK_MODEL, ActModel, read_acts
from .clarification import ask_for_meaning, ask_for_topic, chosen, missing_topic, name_of, with_topic
from .compound import parts_of
from .corrections import correct, is_taken_back
from .replies import LEAST, reply

# computes turns with their histories
Answer = Callable[[Sequence[Turn], Sequence[Sequence[Turn]]], None]

_LONGEST_NAME = 8  # words of a reply that names a topic


class Reading(NamedTuple):
    """What an utterance comes to: questions to answer, or a `sentence`.

    Attributes:
        questions: the first, and those of further parts.
        history: the turns that they know.
        act: of talk; empty of a plain question.
        meanings: of names in the questions.
        excluded: ids that were answers before.
        replaces: the number of the turn whose question is asked again.
        pronoun: what a first question leaves open; see `missing_topic`.
    """

    questions: tuple[str, ...] = ()
    history: Sequence[Turn] = ()
    act: str = ""
    sentence: str = ""
    meanings: Sequence[Meaning] = ()
    excluded: frozenset[str] = frozenset()
    replaces: int | None = None
    pronoun: str | None = None


class Dialogue:
    """Talk around the questions of a pipeline's conversations.

    Args:
        resources: of the pipeline.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    @cached_property
    def _acts(self) -> ActModel:
        return read_acts(Path(resolve(TALK_MODEL)))

    def answer(
        self,
        turns: Sequence[Turn],
        histories: Sequence[Sequence[Turn]],
        sources: Sequence[str],
        compute: Answer,
        compute_parts: Answer,
    ) -> None:
        """Answer turns of different conversations, in place.

        Args:
            turns: they have a `question`.
            histories: all turns before, as `history_turn` gives them.
            sources: of the conversations.
            compute: answers the questions that are left.
            compute_parts: answers the further parts of questions.
        """
        readings = [
            self.read(turn["question"], history, sources) for turn, history in zip(turns, histories, strict=True)
        ]
        asked = [(turn, reading) for turn, reading in zip(turns, readings, strict=True) if reading.questions]
        uttered = [turn["question"] for turn in turns]
        for turn, reading in asked:
            turn["question"] = reading.questions[0]
            if reading.meanings:
                turn["meanings"] = list(reading.meanings)
        if asked:
            compute([turn for turn, _ in asked], [reading.history for _, reading in asked])
        self._answer_parts(asked, compute_parts)
        for turn, reading, utterance in zip(turns, readings, uttered, strict=True):
            self._note(turn, reading, utterance)

    def _answer_parts(self, asked: Sequence[tuple[Turn, Reading]], compute: Answer) -> None:
        for place in range(1, max((len(reading.questions) for _, reading in asked), default=0)):
            parts: list[Turn] = []
            histories: list[list[Turn]] = []
            for turn, reading in asked:
                if place < len(reading.questions):
                    before = [turn, *turn.get("parts", ())]
                    histories.append(
                        [*reading.history, *(history_turn(part, use_gold_answers=False) for part in before)]
                    )
                    parts.append({"turn": turn.get("turn", 0), "question": reading.questions[place]})
                    turn.setdefault("parts", []).append(parts[-1])
            compute(parts, histories)

    def _note(self, turn: Turn, reading: Reading, utterance: str) -> None:
        """Write into a turn how it was read."""
        if reading.questions:
            if reading.excluded:
                _leave_out(turn, reading.excluded)
            if not reading.meanings and not reading.excluded and (back := ask_for_meaning(turn, self._resources.kb)):
                turn["clarification"] = back
            if utterance != turn["question"]:
                turn["actual_question"], turn["question"] = turn["question"], utterance
            if reading.replaces is not None:
                turn["replaces"] = reading.replaces
        else:
            turn["structured_representation"], turn["top_evidences"], turn["pred_answers"] = "", [], []
        if reading.act:
            turn["act"] = reading.act
        if reading.sentence:
            turn["sentence"] = reading.sentence
        if reading.pronoun is not None:
            turn["clarification"] = ask_for_topic(reading.pronoun, self._resources.language)
            turn["sentence"] = turn["clarification"]["question"]
        if reading.act == "more" and not turn["pred_answers"]:
            turn["sentence"] = "No other answer is likely."

    def is_talk(self, utterance: str) -> bool:
        """Return True if an utterance asks nothing again, so that later turns need not know it."""
        return self._acts.act(utterance) not in (QUESTION, "more", "correction")

    # -- reading -------------------------------------------------------------------------------------------------------

    def read(self, utterance: str, history: Sequence[Turn], sources: Sequence[str]) -> Reading:
        """Read what is said after the turns of `history`."""
        known = list(remembered(history))
        last = known[-1] if known else None
        if history and (choice := self._choice(utterance, history[-1], known)):
            return choice
        act = self._acts.act(utterance)
        if (act in ("more", "correction") and last is None) or (act == "correction" and self._asks(utterance)):
            act = QUESTION
        if act == QUESTION and last is not None and is_taken_back(utterance, self._resources.language):
            act = "correction"
        if act == QUESTION:
            return self._question(utterance, known)
        if act == "correction" and last is not None:
            return self._correction(utterance, last, known)
        if act == "more" and last is not None:
            again = [turn for turn in known if turn["question"] == last["question"]]
            said = frozenset().union(*map(_said_ids, again))
            return Reading((last["question"],), known[:-1], act, "", last.get("meanings", ()), said)
        return Reading(act=act, sentence=reply(act, last, sources, self._resources))

    def _question(self, utterance: str, known: Sequence[Turn]) -> Reading:
        language = self._resources.language
        head = language.talk.leading.match(utterance)
        rest = utterance[head.end() :] if head else utterance
        question = rest if self._asks(rest) else utterance
        if not known and foreign(question, language.words.common) is None:
            pronoun = missing_topic(question, self._resources)
            if pronoun is not None:
                return Reading(pronoun=pronoun)
        return Reading(tuple(parts_of(question, language)), known)

    def _asks(self, text: str) -> bool:
        types = self._resources.language.answer_types
        return types.asks_what(text) or types.is_existential(text)

    def _correction(self, utterance: str, last: Turn, known: Sequence[Turn]) -> Reading:
        meant = correct(utterance, last, self._resources)
        if meant.missing:
            about = last["representation"]["entities"][:1] if "representation" in last else []
            name = f"other “{about[0]['label']}”" if about else "other meaning"
            return Reading(act="correction", sentence=f"I know no {name} that is “{meant.missing}”.")
        if not meant.replaces:
            return Reading((meant.question,), known, "correction")
        return Reading((meant.question,), known[:-1], "correction", meanings=meant.meanings, replaces=last.get("turn"))

    def _choice(self, utterance: str, before: Turn, known: Sequence[Turn]) -> Reading | None:
        """The question before again if its question back is answered; else None."""
        back = before.get("clarification")
        if back is None or self._asks(utterance):
            return None
        kb, language, question = self._resources.kb, self._resources.language, _actual(before)
        if back["choices"]:
            choice = chosen(utterance, back["choices"], kb, language)
            name = None if choice is None else name_of(before, choice["id"])
            if choice is None or name is None:
                return None
            meanings: list[Meaning] = [{"name": name, "item": {"id": choice["id"], "label": choice["label"]}}]
            return Reading((question,), known[:-1], meanings=meanings, replaces=before.get("turn"))
        topic = language.talk.taking_back.sub("", utterance).strip(" .!?")
        if len(topic.split()) > _LONGEST_NAME:
            return None
        names = any(mention.is_name for mention in self._resources.linker.link(topic))
        pronoun = missing_topic(question, self._resources) if names or topic[:1].isupper() else None
        if pronoun is None or (not names and self._acts.act(utterance) != QUESTION):
            return None
        return Reading((with_topic(question, pronoun, topic, language),), known, replaces=before.get("turn"))


def remembered(history: Sequence[Turn]) -> Iterator[Turn]:
    """The turns of `history` that later ones know: with the questions that were answered, without talk and what was asked again."""
    replaced = {turn["replaces"] for turn in history if "replaces" in turn}
    for turn in history:
        is_open = "clarification" in turn and not turn.get("pred_answers")
        if turn.get("turn") in replaced or (not turn.get("structured_representation") and ("act" in turn or is_open)):
            continue
        yield turn if "actual_question" not in turn else {**turn, "question": turn["actual_question"]}
        yield from turn.get("parts", ())


def _actual(turn: Turn) -> str:
    return turn.get("actual_question", turn["question"])


def _said_ids(turn: Turn) -> frozenset[str]:
    """The ids of the answers of a turn that were shown as such: those of its list, or its best."""
    answers = turn.get("pred_answers", [])
    return frozenset(own["answer"]["id"] for own in [own for own in answers if own.get("list")] or answers[:1])


def _leave_out(turn: Turn, excluded: frozenset[str]) -> None:
    """Leave answers out that were said before, and those that are not likely."""
    rest = [own for own in turn["pred_answers"] if own["answer"]["id"] not in excluded and own["score"] >= LEAST]
    for rank, own in enumerate(rest, 1):
        own["rank"] = rank
    turn["pred_answers"] = rest
    for key in ("sentence", "attribution", "contradiction", "confidence"):  # of the answer that is left out
        turn.pop(key, None)  # type: ignore[misc]
