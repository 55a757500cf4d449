"""Answers questions by the questions inside them: an unnamed thing is found first, an age is computed from two dates."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import NamedTuple

from ..heterogeneous_answering.abstention import DO_NOT_SAY, MISSING
from ..language.step_words import StepWords
from ..records.conversation import RankedAnswer, Step, Turn, new_turn
from ..records.evidence import Entity, Evidence, unique_entities
from ..records.literals import date_entity, is_date, is_item, number_entity, years_of
from ..records.replies import Meaning
from ..records.rewriting import TOPIC
from ..scoring.convqa import add_answer_metrics, add_answer_presence

# the most probable answers of an inner question that are tried; a third one led to no right answer
_MOST = 2
_LEAST = 0.1  # probability of an inner answer that is tried
_CERTAIN = 0.8  # of an inner answer beside which no second one is tried
# of an answer that stays: on 520 questions of conversations no answer above was mended by a step, below .87 four of 38
_SETTLED = 0.9
_SURE = 0.5  # probability of an inner answer from which on it is not the answer to the question itself
_OLDEST = 130  # years; a greater age is of other dates
_MOST_AGES = 5  # that are told
# what a turn has of the follower whose answers it takes
_REPLACED = (
    "representation", "structured_representation", "resolved_question", "question_entities", "top_evidences", "abstained", "extent",
)  # fmt: skip
_WORDS_OF_A_DAY = 3  # of a date's label: "16 August 1954"
AnswerTurns = Callable[[Sequence[Turn]], None]  # understands and answers turns without a history


class _Follower(NamedTuple):
    """A turn that asks the question of a `first` turn with an answer to one of its steps."""

    first: Turn
    step: Step
    through: RankedAnswer
    turn: Turn

    @property
    def score(self) -> float:
        """The probability of its best answer."""
        return self.through["score"] * best_score(self.turn)


def take_steps(
    turns: Sequence[Turn], sources: Sequence[str], least: float, words: StepWords, answer: AnswerTurns
) -> None:
    """Answer the questions inside the questions of answered turns, and these with the answers, in place.

    The more probable answer stays: that of the question as it is, or by a step, whose probability is the product of both. The turn
    keeps the `steps` that led to its answer.

    Args:
        turns: answered turns; those with `steps` are answered anew.
        sources: the sources that are asked.
        least: the probability below which an answer is a suggestion.
        words: the words of ages.
        answer: understands, retrieves and answers turns.
    """
    stepping = [turn for turn in turns if turn.get("steps")]
    for turn in stepping:
        if _is_settled(turn, words):
            del turn["steps"]
    stepping = [turn for turn in stepping if "steps" in turn]
    inner = [_inner(turn, step) for turn in stepping for step in turn["steps"] if step["question"]]
    if not stepping:
        return
    answer(inner)
    answered = iter(inner)
    outer: list[_Follower] = []
    describing: list[Turn] = []
    for turn in stepping:
        found = [next(answered) if step["question"] else None for step in turn["steps"]]
        for step, part in zip(turn["steps"], found, strict=True):
            if part is not None and part["pred_answers"] and "abstained" not in part:
                _note(step, part, part["pred_answers"][0])
        if any("use" in step for step in turn["steps"]):
            _answer_age(turn, [part for part in found if part is not None], words, least)
            continue
        describing.append(turn)
        for step, part in zip(turn["steps"], found, strict=True):
            if part is not None and "abstained" not in part:
                outer += [_Follower(turn, step, ranked, _outer(turn, step, ranked)) for ranked in _likely(part)]
    answer([follower.turn for follower in outer])
    for turn in describing:
        _choose(turn, [follower for follower in outer if follower.first is turn], least, words)
    for turn in stepping:
        add_answer_presence(turn, sources)
        add_answer_metrics(turn)


def _is_settled(turn: Turn, words: StepWords) -> bool:
    """Return True if an answer is too probable to be changed by a step.

    The answer to a question for an age never is, nor that to one whose inner thing is of the kind that it asks for: "Who recommended
    the actor who ...?". Where a place or a number is asked for, a thing may be what is described: "Where was Titanic's director born?".
    """
    expected = words.types.expected_type(turn.get("resolved_question", turn["question"]))
    kinds = {words.types.expected_type(step["question"]).kind for step in turn["steps"]} - {"any"}
    if expected.kind in kinds or any("use" in step for step in turn["steps"]):
        return False
    if best_score(turn) < _SETTLED:
        return False
    return expected.is_of_things or turn["pred_answers"][0]["answer"]["id"][:1].isdigit()


def best_score(turn: Turn) -> float:
    """Return the probability of the best answer of a turn, 0 without one."""
    return turn["pred_answers"][0]["score"] if turn["pred_answers"] else 0.0


def _inner(turn: Turn, step: Step) -> Turn:
    """Return the turn of an inner question, whose names mean what they mean in the question around it."""
    return new_turn(turn=turn.get("turn", 0), question=step["question"], meanings=_meanings(turn))


def _outer(turn: Turn, step: Step, ranked: RankedAnswer) -> Turn:
    """Return a turn that asks the question of a turn with an answer in the place of the description of a thing."""
    answer = ranked["answer"]
    text = turn["resolved_question"]
    if topic := TOPIC.search(text):  # it is of the inner question
        text = text[: topic.start()]
    question = re.sub(rf"(?<!\w){re.escape(step['text'])}(?!\w)", lambda _: answer["label"], text, count=1)
    meanings = _meanings(turn)
    if is_item(answer["id"]):
        meanings.append({"name": answer["label"], "item": answer})
    return new_turn(turn=turn.get("turn", 0), question=question, meanings=meanings)


def _meanings(turn: Turn) -> list[Meaning]:
    candidates = turn["representation"]["candidates"] if "representation" in turn else []
    return [
        {"name": candidate["question_word"], "item": candidate["item"]}
        for candidate in candidates
        if not candidate["rank"]
    ]


def _likely(turn: Turn) -> list[RankedAnswer]:
    answers = turn["pred_answers"]
    most = 1 if answers and answers[0]["score"] >= _CERTAIN else _MOST
    return [ranked for ranked in answers[:most] if ranked["score"] >= _LEAST]


def _note(step: Step, part: Turn, ranked: RankedAnswer) -> None:
    """Write an answer of an inner question into its step."""
    step["answer"], step["score"] = ranked["answer"], ranked["score"]
    for evidence in _cited(part, ranked):
        step["evidence"] = evidence["evidence_text"]


def _cited(part: Turn, ranked: RankedAnswer) -> list[Evidence]:
    """Return the first evidence of an answer, if it has any."""
    return [part["top_evidences"][place] for place in ranked.get("evidences", ())[:1]]


def _answer_age(turn: Turn, parts: Sequence[Turn], words: StepWords, least: float) -> None:
    """Answer a question for an age from the dates of a birth and of a later time.

    Dates that give the same age count together: a film has several days of release. If one of the two is not known, only an answer
    beside words of an age stays.
    """
    born, then = steps = turn.pop("steps")
    births = _dates(parts[0])
    if then["question"]:
        times = _dates(parts[1])
    else:  # a year, or today
        today, year = date.today(), then["text"]
        entity = date_entity(int(year)) if year else date_entity(today.year, today.month, today.day)
        times = [{"answer": entity, "score": 1.0, "rank": 1}]
    ages: dict[int, list[tuple[float, RankedAnswer, RankedAnswer]]] = defaultdict(
        list
    )  # probability, birth, later time
    for start in births:
        for end in times:
            for age, chance in ages_between(start["answer"], end["answer"]).items():
                ages[age].append((start["score"] * end["score"] * chance, start, end))
    if not ages:
        unknown = [step for step, dates in zip(steps, (births, times), strict=True) if not dates]
        cited = [evidence for ranked in turn["pred_answers"][:1] for evidence in _cited(turn, ranked)]
        if not any(words.aged.search(evidence["evidence_text"]) for evidence in cited):
            turn["abstained"] = {"reason": _no_answer(unknown)}
        return
    ranked_ages = sorted(ages.items(), key=lambda pair: -sum(score for score, _, _ in pair[1]))
    _, *dates = max(ranked_ages[0][1], key=lambda way: way[0])
    cited = []
    for step, part, ranked in zip(steps, (parts[0], parts[-1]), dates, strict=True):  # today has no evidence
        _note(step, part, ranked)
        cited += _cited(part, ranked)
    turn["steps"] = steps
    turn["top_evidences"] = [*cited, *turn["top_evidences"]]
    turn["pred_answers"] = [
        {
            "answer": number_entity(str(age), "years"),
            "score": round(min(1.0, sum(score for score, _, _ in ways)), 6),
            "rank": rank,
            "evidences": list(range(len(cited))),
            "reasons": ["age"],
        }
        for rank, (age, ways) in enumerate(ranked_ages[:_MOST_AGES], 1)
    ]
    turn.pop("abstained", None)
    if best_score(turn) < least:
        turn["abstained"] = {"reason": DO_NOT_SAY}


def _dates(part: Turn) -> list[RankedAnswer]:
    """Return the dates that answer an inner question, a day in the place of its year; none if it names something unknown."""
    if "abstained" in part and part["abstained"]["reason"].startswith(MISSING[1:]):
        return []
    dates = [ranked for ranked in part["pred_answers"] if is_date(ranked["answer"]["id"])]
    days = {_day(ranked["answer"])[0]: ranked["answer"] for ranked in reversed(dates) if _is_exact(ranked)}
    return [
        ranked if _is_exact(ranked) else {**ranked, "answer": days.get(_day(ranked["answer"])[0], ranked["answer"])}
        for ranked in dates
    ]


def _is_exact(ranked: RankedAnswer) -> bool:
    """Return True for a date that is more than a year."""
    return " " in ranked["answer"]["label"]


def _no_answer(unknown: Sequence[Step]) -> str:
    """Return the reason to abstain from a question of which a part has no answer."""
    return f"{DO_NOT_SAY}: {unknown[0]['question']}" if unknown and unknown[0]["question"] else DO_NOT_SAY


def ages_between(born: Entity, then: Entity) -> dict[int, float]:
    """Return the ages in years at a date with their probabilities; empty if it is before the birth.

    If one of the two is a year, its days are equally likely: who was born in October was 17 in most of a year, 18 in its end.
    """
    start, end = _day(born), _day(then)
    years = end[0] - start[0]
    if not 0 <= years <= _OLDEST or max(map(years_of, (born, then))) > 1:  # a decade is no date
        return {}
    before, behind = (len(entity["label"].split()) for entity in (born, then))  # words: a year, a month, a day
    precision = min(before, behind)
    parts = slice(1, precision if start[0] > 0 and end[0] > 0 else _WORDS_OF_A_DAY)
    if precision == _WORDS_OF_A_DAY or start[parts] != end[parts]:
        return {years - (end[parts] < start[parts]): 1.0}
    if not years:
        return {0: 1.0}
    turned = 0.5  # the share of the possible days on which the birthday is over
    if precision == 1 and before != behind and min(start[0], end[0]) > 0:
        share = ((start if before > 1 else end)[1] - 0.5) / 12  # of the year before the middle of the month
        turned = 1 - share if before > 1 else share
    return {years: turned, years - 1: 1 - turned}


def _day(entity: Entity) -> tuple[int, int, int]:
    year, month, day = entity["id"][:-10].rsplit("-", 2)
    return int(year), int(month), int(day)


def _choose(turn: Turn, followers: Sequence[_Follower], least: float, words: StepWords) -> None:
    """Replace the results of a turn by those of a follower if they are more probable; a bridge is no answer to its own question."""
    steps = turn.pop("steps")
    taken = [*steps, *(step for follower in followers for step in follower.turn.get("steps", ()))]
    bridges = {step["answer"]["id"] for step in taken if step.get("score", 0.0) >= _SURE}
    direct = [ranked for ranked in turn["pred_answers"] if ranked["answer"]["id"] not in bridges]
    for follower in followers:
        _leave_out(turn, follower)
    best = max(followers, key=lambda follower: follower.score, default=None)
    if best is None or (direct and direct[0]["score"] > best.score):
        turn["pred_answers"] = [{**ranked, "rank": rank} for rank, ranked in enumerate(direct, 1)]
        unknown = [step for step in steps if "answer" not in step]
        if len(unknown) == len(steps) and _is_unanswered(turn, steps, direct, words):
            turn["abstained"] = {"reason": _no_answer(unknown)}
        return
    topics = turn["representation"]["entities"]
    take_over(turn, best.turn, _REPLACED)
    if "representation" in turn:  # later turns may be about either
        entities = unique_entities([*turn["representation"]["entities"], *topics])
        turn["representation"] = {**turn["representation"], "entities": entities}
    share = best.through["score"]
    turn["pred_answers"] = [
        {**ranked, "score": round(ranked["score"] * share, 6)} for ranked in best.turn["pred_answers"]
    ]
    if turn["pred_answers"] and best_score(turn) < least:
        turn.setdefault("abstained", {"reason": DO_NOT_SAY})
    best.step["answer"], best.step["score"] = best.through["answer"], share
    turn["steps"] = [best.step, *best.turn.get("steps", ())]


def _is_unanswered(turn: Turn, steps: Sequence[Step], direct: Sequence[RankedAnswer], words: StepWords) -> bool:
    """Return True if a question is as unknown as the things that it describes: "When did Lady Gaga's brother marry?"."""
    if "abstained" in turn:
        return turn["abstained"]["reason"] == DO_NOT_SAY
    are_people = all(words.types.expected_type(step["question"]).kind == "person" for step in steps)
    return bool(direct) and are_people and not any(_speaks_of(turn, step, direct[0], words) for step in steps)


def _speaks_of(turn: Turn, step: Step, ranked: RankedAnswer, words: StepWords) -> bool:
    """Return True if an evidence of an answer has a word of a description besides its names: "brother" of "Lady Gaga's brother"."""
    stems = words.types.words.stems
    described = set(stems(step["text"])).difference(*(stems(meaning["item"]["label"]) for meaning in _meanings(turn)))
    texts = (turn["top_evidences"][place]["evidence_text"] for place in ranked.get("evidences", ()))
    return not described or any(described.intersection(stems(text)) for text in texts)


def take_over(turn: Turn, other: Turn, keys: Iterable[str]) -> None:
    """Give a turn what another one has under some keys; it loses those that the other has not."""
    for key in keys:
        turn.pop(key, None)  # type: ignore[misc]
        if key in other:
            turn[key] = other[key]  # type: ignore[literal-required]


def _leave_out(turn: Turn, follower: _Follower) -> None:
    """Leave out the answers that a description names: "Titanic" for "Which film did Titanic's director make before?"."""
    described = {
        meaning["item"]["id"]
        for meaning in _meanings(turn)
        if meaning["name"] in follower.step["text"] and meaning["name"] not in follower.turn["question"]
    }
    answers = follower.turn["pred_answers"]
    left = [ranked for ranked in answers if ranked["answer"]["id"] not in described]
    if left and len(left) < len(answers):
        rest = 1 - sum(ranked["score"] for ranked in answers if ranked["answer"]["id"] in described)
        follower.turn["pred_answers"] = [
            {**ranked, "score": round(ranked["score"] / max(rest, ranked["score"]), 6), "rank": rank}
            for rank, ranked in enumerate(left, 1)
        ]
