"""Dialogue around questions: an utterance is an act of talk, a reply to a clarification question, or a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ..config import resolve
from ..documents.quotes import add_quotes
from ..heterogeneous_answering.abstention import foreign
from ..language.language import Language
from ..language.text import fold
from ..question_understanding.base import history_turn
from ..question_understanding.rewriting import CORRECTION
from ..records.conversation import Turn, new_turn
from ..records.replies import Meaning
from ..resources import Resources
from ..support.logit import Logit
from ..wikipedia.stored_pages import search_words
from .acts import QUESTION, TALK_MODEL, act_of, new_words, read_acts
from .clarification import ask_for_meaning, ask_for_topic, chosen, missing_topic, name_of, with_topic
from .corrections import correct, is_taken_back
from .replies import LEAST, reply

# arguments: turns, and the history of each
AnswerTurns = Callable[[Sequence[Turn], Sequence[Sequence[Turn]]], None]

_ABOUT_ANSWERS = frozenset(("reason", "repeat", "help", "sources", "more", "affirm", "denial"))
_MAX_TOPIC_WORDS = 8  # of a reply that names a topic
_MIN_PART_WORDS = 3  # of a question that is a part of an utterance
_MAX_PARTS = 3  # questions in an utterance


class Reading(NamedTuple):
    """The reading of an utterance: questions to answer, or a `sentence` to say.

    Attributes:
        questions: the question, or the questions that "and" joins.
        history: the turns before the questions.
        act: the act of talk; empty for a plain question.
        meanings: the items that the user chose for names.
        excluded: the ids of earlier answers to leave out.
        replaces: the number of the turn whose question is asked again.
        pronoun: the pronoun of a first question without topic, see `missing_topic`; it is asked back about.
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
    """Talk around the questions of a pipeline's conversations."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    @cached_property
    def _acts(self) -> Logit:
        return read_acts(Path(resolve(TALK_MODEL)))

    def answer(
        self,
        turns: Sequence[Turn],
        histories: Sequence[Sequence[Turn]],
        sources: Sequence[str],
        compute: AnswerTurns,
        compute_parts: AnswerTurns,
    ) -> None:
        """Answer turns of different conversations, in place, after `histories` as `history_turn` gives them.

        `compute` answers the first questions of the turns, `compute_parts` their further questions.
        """
        readings = [
            self.read(turn["question"], history, sources) for turn, history in zip(turns, histories, strict=True)
        ]
        questions = [(turn, reading) for turn, reading in zip(turns, readings, strict=True) if reading.questions]
        utterances = [turn["question"] for turn in turns]
        for turn, reading in questions:
            turn["question"] = reading.questions[0]
            if reading.meanings:
                turn["meanings"] = list(reading.meanings)
            elif reading.act == CORRECTION and reading.replaces is not None:
                turn["act"] = CORRECTION
        if questions:
            compute([turn for turn, _ in questions], [reading.history for _, reading in questions])
        for place in range(1, max((len(reading.questions) for _, reading in questions), default=0)):
            parts: list[Turn] = []
            part_histories: list[list[Turn]] = []
            for turn, reading in questions:
                if place < len(reading.questions):
                    earlier = [history_turn(part, use_gold_answers=False) for part in (turn, *turn.get("parts", ()))]
                    part_histories.append([*reading.history, *earlier])
                    parts.append(new_turn(turn=turn.get("turn", 0), question=reading.questions[place]))
                    turn.setdefault("parts", []).append(parts[-1])
            compute_parts(parts, part_histories)
        for turn, reading, utterance in zip(turns, readings, utterances, strict=True):
            self._store(turn, reading, utterance)
            add_quotes((turn, *turn.get("parts", ())), self._resources.documents)

    def _store(self, turn: Turn, reading: Reading, utterance: str) -> None:
        if reading.questions:
            if reading.excluded:  # unlikely answers go, too
                answers = turn["pred_answers"]
                answers = [ranked for ranked in answers if ranked["answer"]["id"] not in reading.excluded]
                turn["pred_answers"] = [ranked for ranked in answers if ranked["score"] >= LEAST]
                for rank, ranked in enumerate(turn["pred_answers"], 1):
                    ranked["rank"] = rank
                # these keys describe the answer that was best before
                for key in ("sentence", "attribution", "confidence"):
                    turn.pop(key, None)  # type: ignore[misc]
            may_ask_back = not reading.meanings and not reading.excluded
            if may_ask_back and (clarification := ask_for_meaning(turn, self._resources.kb)):
                turn["clarification"] = clarification
            if reading.act == CORRECTION and "resolved_question" in turn:
                turn["question"] = turn["resolved_question"]
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
        """Return True if an utterance asks for no answer to a question, so that later turns do not depend on it."""
        return self._act(utterance) not in (QUESTION, "more", "correction")

    def _act(self, utterance: str) -> str:
        # "Which course is the sorbet?" and "Is the leaking tap done?" are no talk if the files have their words
        act, pages = act_of(self._acts, utterance), self._resources.pages
        asks = self._resources.language.answer_types.asks(utterance)
        if act != QUESTION and (name := self._resources.language.steps.identified(utterance)):
            linked = self._resources.linker.link(name)  # "what is The X-Files" asks for no source of an answer
            if any(mention.is_name and mention.is_certain for mention in linked):
                return QUESTION
        if act == QUESTION or not (asks or act in _ABOUT_ANSWERS) or not pages.searches_words:
            return act
        words = search_words(" ".join(new_words(self._acts, utterance)))
        return QUESTION if words and pages.search(words, 1) else act

    def read(self, utterance: str, history: Sequence[Turn], sources: Sequence[str]) -> Reading:
        """Return the reading of an utterance after the turns of `history`."""
        earlier = list(remembered(history))
        last = earlier[-1] if earlier else None
        language = self._resources.language
        asks = language.answer_types.asks
        if history and (choice := self._choice(utterance, history[-1], earlier)):
            return choice
        act = self._act(utterance)
        if last is not None and "extent" in last and language.operations.asked_again(utterance, last["question"]):
            act = QUESTION  # "which ones?" asks for what was counted
        if last is not None:
            in_order = language.steps.in_order(utterance, last.get("resolved_question", last["question"]))
            if in_order is not None:  # "next?" behind "what was Adele's first album?"
                return Reading((in_order,))
            is_of_row = any("row" in evidence for evidence in last.get("top_evidences", ()))  # that its answer rests on
            if act == "more" and is_of_row and language.steps.names_step(utterance):
                act = QUESTION  # "and the next one?" behind an album of a table asks for the album below it
            left_out = language.talk.left_out(utterance)
            if left_out and (left_out_of(last, left_out) or self._means_answer(left_out)):
                act = "more"
        needs_turn = act in ("more", "correction")
        if (needs_turn and last is None) or (act == "correction" and asks(utterance)):
            act = QUESTION
        if act == QUESTION and last is not None and is_taken_back(utterance, self._resources):
            act = "correction"
        if act == QUESTION:
            head = language.talk.leading.match(utterance)
            rest = utterance[head.end() :] if head else utterance
            question = language.talk.bare(rest if asks(rest) else utterance)
            wording = language.talk.replacement(question)
            is_meant = wording != question.strip(" .!?,") and language.answer_types.asks_what(wording)
            question = wording if is_meant else question  # "actually I meant who directed the films"
            if not earlier and foreign(question, language.words.common) is None:
                pronoun = missing_topic(question, self._resources)
                if pronoun is not None:
                    return Reading(pronoun=pronoun)
            return Reading(tuple(parts_of(question, language)), earlier)
        if act == "correction" and last is not None:
            corrected = correct(utterance, last, self._resources)
            if corrected is None:
                words = language.talk.replacement(utterance)
                about = last["representation"]["entities"][:1] if "representation" in last else []
                name = f"other “{about[0]['label']}”" if about else "other meaning"
                return Reading(act=act, sentence=f"I know no {name} that is “{words}”.")
            question, meanings, replaces = corrected
            if not replaces:
                return Reading((question,), earlier, act)
            # words that replace others are an ellipsis of the last question
            before = earlier[:-1] if meanings else earlier
            return Reading((question,), before, act, meanings=meanings, replaces=last.get("turn"))
        if act == "more" and last is not None:
            shown: set[str] = set()
            for turn in earlier:
                if turn["question"] == last["question"]:
                    answers = turn.get("pred_answers", [])
                    listed = [ranked for ranked in answers if ranked.get("list")] or answers[:1]
                    shown.update(ranked["answer"]["id"] for ranked in listed)
            shown.update(left_out_of(last, language.talk.left_out(utterance)))
            return Reading((last["question"],), earlier[:-1], act, "", last.get("meanings", ()), frozenset(shown))
        return Reading(act=act, sentence=reply(act, last, sources, self._resources))

    def _means_answer(self, words: str) -> bool:
        """Return True for words that stand for an answer: "him", "that one"."""
        spoken = self._resources.language.words
        said = set(fold(words).split())
        return said <= spoken.personal | spoken.definite | spoken.pointing | spoken.ones

    def _choice(self, utterance: str, last: Turn, earlier: Sequence[Turn]) -> Reading | None:
        # the last question again, if the utterance answers its clarification question; else None
        clarification = last.get("clarification")
        kb, language = self._resources.kb, self._resources.language
        if clarification is None or language.answer_types.asks(utterance):
            return None
        question = last.get("actual_question", last["question"])
        if clarification["choices"]:
            choice = chosen(utterance, clarification["choices"], kb, language)
            name = None if choice is None else name_of(last, choice["id"])
            if choice is None or name is None:
                return None
            meanings: list[Meaning] = [{"name": name, "item": {"id": choice["id"], "label": choice["label"]}}]
            return Reading((question,), earlier[:-1], meanings=meanings, replaces=last.get("turn"))
        topic = language.talk.taking_back.sub("", utterance).strip(" .!?")
        if len(topic.split()) > _MAX_TOPIC_WORDS:
            return None
        is_linked = any(mention.is_name for mention in self._resources.linker.link(topic))
        pronoun = missing_topic(question, self._resources) if is_linked or topic[:1].isupper() else None
        if pronoun is None or (not is_linked and self._act(utterance) != QUESTION):
            return None
        return Reading((with_topic(question, pronoun, topic, language),), earlier, replaces=last.get("turn"))


def left_out_of(last: Turn, words: str) -> list[str]:
    """Return the ids of the answers of a turn that some words name: those of Bruce Willis for "willis"."""
    said = set(fold(words).split())
    answers = last.get("pred_answers", [])
    return [
        ranked["answer"]["id"] for ranked in answers if said and said <= set(fold(ranked["answer"]["label"]).split())
    ]


def parts_of(question: str, language: Language) -> list[str]:
    """Return the questions that "and" joins, or the question alone; "who wrote and directed it" is not split."""
    words = language.talk
    parts = [part.strip(" ,") for part in words.joined.split(question)]
    has_quotes = question.count('"') > 1
    if not 1 < len(parts) <= _MAX_PARTS or words.behind_joined.search(question) or has_quotes:
        return [question]
    if not all(len(part.split()) >= _MIN_PART_WORDS and language.answer_types.asks(part) for part in parts):
        return [question]
    return [f"{part.rstrip(' ?.!')}?" for part in parts]


def remembered(history: Sequence[Turn]) -> Iterator[Turn]:
    """Yield the turns that later turns may refer to, without talk and replaced turns, with the questions that were answered."""
    replaced = {turn["replaces"] for turn in history if "replaces" in turn}
    for turn in history:
        is_unanswered = "clarification" in turn and not turn.get("pred_answers")
        is_talk = not turn.get("structured_representation") and ("act" in turn or is_unanswered)
        if is_talk or turn.get("turn") in replaced:
            continue
        yield turn if "actual_question" not in turn else {**turn, "question": turn["actual_question"]}
        yield from turn.get("parts", ())
