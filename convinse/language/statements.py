"""English questions as statements with a gap for the answer: "When was Titanic released?" is "Titanic was released in ..."."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .statement_words import StatementWords

_SHORT = 5  # letters: a shorter word in "ed", such as "bred", is no regular verb
_SENTENCE = re.compile(r"(?<=[a-z\d][a-z\d)][.?!]) +(?=\S)")
_CONTRACTED = re.compile(r"^(who|what|where|when|which)['’]s\b", re.IGNORECASE)
_CHOICE = re.compile(r", [^,]+ or [^,]+$")  # "..., romario or ronaldo?"


class AnswerStatement(NamedTuple):
    """A sentence around an answer.

    Attributes:
        before, behind: the words before and behind the answer.
        counted: the noun behind a bare number ("13" of "children").
        in_time_or_place: the answer takes "in", "on" or "at" before it.
        verb_behind: `behind` begins with a verb whose subject is the answer.
    """

    before: str = ""
    behind: str = ""
    counted: str = ""
    in_time_or_place: bool = False
    verb_behind: bool = False


class _Clause(NamedTuple):
    """The parts of a question behind its verb "do" or "be"; `verb` is inflected as in a statement, and empty for "be"."""

    subject: str
    verb: str
    rest: list[str]
    is_sure: bool = True  # the subject is a pronoun or a name


def statement_of(words: StatementWords, question: str, names: Iterable[str]) -> AnswerStatement | None:
    """Return the statement of a question for a name, a date or a number; None for other forms of questions.

    Args:
        words: the words of the language.
        question: a question that needs no history.
        names: the names of items, as they stand in the question.
    """
    tokens = _asking_words(words, question)
    low = [token.lower() for token in tokens]
    before = low[0] if low[:1] and low[0] in words.prepositions and len(low) > 2 else ""
    if before:
        tokens, low = tokens[1:], low[1:]
    if not low or (len(low) < 3 and low[0] != "who") or "'s" in tokens or "..." in question:
        return None
    reading = _QuestionWords(words, list(names), tokens[1:])
    if low[0] in ("who", "whom", "what", "which"):
        return reading.of_thing(low[0], before)
    if low[0] in ("when", "where") and not before:
        return reading.of_time_or_place(is_time=low[0] == "when")
    if low[0] == "whose" and not before:
        return reading.of_owner()
    if low[:2] == ["how", "many"] and not before:
        return reading.of_number()
    if low[0] == "how" and low[1] in words.measured and low[2] in ("is", "was", "are", "were"):
        clause = reading.being(1)
        return AnswerStatement(f"{clause.subject} {low[2]}", low[1]) if clause and not clause.rest else None
    return None


def verdict_of(words: StatementWords, question: str, names: Iterable[str], is_yes: bool) -> str:
    """Return the statement or denial that answers a yes-or-no question; empty for other forms of questions."""
    tokens = _asking_words(words, question)
    if is_yes and "any" in tokens:  # the statement would need "some"
        return ""
    reading = _QuestionWords(words, list(names), tokens)
    auxiliary = tokens[0].lower() if tokens else ""
    if auxiliary in ("did", "does", "do"):
        clause = reading.doing(0)
        if clause is None:
            return ""
        verb = clause.verb.removeprefix("ever ") if is_yes else f"{auxiliary} not {reading.base}"
        return " ".join([clause.subject, verb, *clause.rest])
    if auxiliary in words.being:
        clause = reading.being(0, is_verdict=True)
        if clause is None or not clause.rest or clause.rest[0].lower() == "true":
            return ""
        clause = clause._replace(rest=[word for word in clause.rest if not is_yes or word.lower() != "ever"])
        return " ".join([clause.subject, auxiliary, *([] if is_yes else ["not"]), *clause.rest])
    return ""


class _QuestionWords:
    """The words of one question behind its question word."""

    def __init__(self, words: StatementWords, names: Sequence[str], tokens: Sequence[str]) -> None:
        self._words = words
        self._names = sorted((name.split() for name in names), key=len, reverse=True)
        self._tokens, self._low = list(tokens), [token.lower() for token in tokens]
        self.base = ""  # of the verb behind "do"

    # -- kinds of questions --------------------------------------------------------------------------------------------

    def of_thing(self, asking: str, before: str) -> AnswerStatement | None:
        """Return the statement of "who", "what", "which city", also behind a preposition."""
        at = 0 if asking in ("who", "whom") else self._verb_after_noun()
        if at is None or at >= len(self._low):
            return None
        noun, verb = " ".join(self._tokens[:at]), self._low[at]
        if noun.lower().startswith("of "):
            return None
        if verb in ("did", "does", "do"):
            if not noun and not before and self._words.bases.isdisjoint(self._low[at + 1 :]):
                return self._completed(at)  # "who did the costumes"
            clause = self.doing(at)
            return None if clause is None else self._object(noun, before, clause)
        if verb in self._words.being:
            return self._of_being(noun, before, at)
        return None if before else self._completed(at)

    def _completed(self, at: int) -> AnswerStatement | None:
        # the answer is the subject: "who directed Titanic"
        is_garbled = any(word.endswith(("who's", "what's")) for word in self._low[at:])
        return None if is_garbled else AnswerStatement(behind=" ".join(self._tokens[at:]), verb_behind=True)

    def _object(self, noun: str, before: str, clause: _Clause) -> AnswerStatement | None:
        rest, said = clause.rest, f"{clause.subject} {clause.verb}"
        if before or noun.lower() in self._words.date_nouns:
            said = " ".join([said, *rest, before])
            return AnswerStatement(said.strip(), in_time_or_place=not before)
        stranded = [word.lower() in self._words.prepositions for word in rest]
        if rest and stranded[-1] and (len(rest) == 1 or not stranded[0]):
            return AnswerStatement(" ".join([said, *rest]))
        if noun:
            return self._cleft(noun, [said, *rest])
        if stranded[:1] == [True] and (stranded[1:2] == [True] or rest[1].lower() in self._words.adverbs):
            # "work with in 1990"
            return AnswerStatement(f"{said} {rest[0]}", " ".join(rest[1:]))
        if not rest or stranded[0]:
            return AnswerStatement(said, " ".join(rest))
        return None

    @staticmethod
    def _cleft(noun: str, said: Sequence[str]) -> AnswerStatement:
        # "the prize that the film won is ..."
        is_plural = noun.endswith("s") and not noun.endswith(("ss", "series", "news"))
        return AnswerStatement(f"the {' '.join([noun, 'that', *said])} {'are' if is_plural else 'is'}")

    def _of_being(self, noun: str, before: str, at: int) -> AnswerStatement | None:
        verb, rest, words = self._low[at], self._tokens[at + 1 :], self._words
        if not rest:
            return None
        said_first = next((word for word in rest if word.lower() not in words.adverbs), "")
        if self._is_participle(said_first) and not before:
            return self._completed(at)
        clause = self.being(at, is_whole=bool(before))
        is_stranded = rest[-1].lower() in words.prepositions and not before
        if is_stranded and verb in ("has", "have", "had"):
            return None
        if before or noun.lower() in words.date_nouns or is_stranded:
            if clause is None or (not clause.rest and not before):
                return None
            said = " ".join([clause.subject, verb, *clause.rest, before]).strip()
            return AnswerStatement(said, in_time_or_place=not before and not is_stranded)
        if clause is not None and not noun and clause.rest and clause.rest[0].lower() in words.naming:
            if words.relative & {*map(str.lower, clause.rest[1:2])} - {"when", "while"}:
                return None
            return AnswerStatement(f"{clause.subject} {verb} {clause.rest[0]}", " ".join(clause.rest[1:]))
        if noun.lower() in words.qualities and clause is not None:
            return AnswerStatement(" ".join([clause.subject, verb])) if not clause.rest else None
        if clause is not None and clause.rest and (noun or clause.is_sure):
            is_of_subject = self._is_participle(clause.rest[0])
            stranded = [word.lower() in words.prepositions for word in clause.rest[:2]]
            is_of_pronoun = stranded[0] and (clause.subject.lower() in words.subjects or all(stranded))
            if noun and (is_of_subject or is_of_pronoun):
                return self._cleft(noun, [clause.subject, verb, *clause.rest])
            if is_of_subject:
                said = " ".join([clause.subject, verb, *clause.rest])
                return AnswerStatement(said) if len(clause.rest) == 1 else None
        if rest[0].lower() in words.words.pointing and rest[1:2] != ["one"]:  # "who is that on stage"
            return None
        has_clause = bool(words.relative & {*self._low[at + 1 :]})
        if noun or verb not in ("is", "are", "was", "were"):
            return None if has_clause and verb in ("is", "are", "was", "were") else self._completed(at)
        is_single = rest[0].lower() in words.definite or any(word.endswith(("'s", "s'")) for word in rest[:4])
        if is_single and not has_clause and len(rest) > 1:
            return AnswerStatement(" ".join([*rest, verb]))
        return None if rest[0].lower() in words.subjects else self._completed(at)

    def of_time_or_place(self, is_time: bool) -> AnswerStatement | None:
        """Return the statement of "when" and "where"."""
        verb = self._low[0]
        is_being = verb in ("is", "are", "was", "were")
        clause = self.being(0) if is_being else self.doing(0) if verb in ("did", "does", "do") else None
        if clause is None:
            return None
        said = [clause.subject, verb if is_being else clause.verb, *clause.rest]
        rest = [word.lower() for word in clause.rest]
        if rest and rest[0] in ("when", "while"):
            return AnswerStatement(" ".join(said[: -len(rest)]), " ".join(clause.rest), in_time_or_place=True)
        if {"when", "while", "after", "before", "that"} & {*rest}:
            return None
        while said[-1].lower() in self._words.adverbs:
            said.pop()
        return AnswerStatement(
            " ".join(said), in_time_or_place=is_time or said[-1].lower() not in self._words.prepositions
        )

    def of_owner(self) -> AnswerStatement | None:
        """Return the statement of "whose song"; the answer is before the noun."""
        at = self._verb_after_noun()
        if not at or self._low[at] in self._words.being or self._low[at] in ("did", "does", "do"):
            return None
        return AnswerStatement(behind=f"'s {' '.join(self._tokens)}")

    def of_number(self) -> AnswerStatement | None:
        """Return the statement of "how many children"."""
        del self._tokens[0], self._low[0]
        at = self._verb_after_noun()
        if not at or at >= len(self._low):
            return None
        noun, verb, rest = " ".join(self._tokens[:at]), self._low[at], self._tokens[at + 1 :]
        if verb in ("did", "does", "do"):
            clause = self.doing(at)
            if clause is None:
                return None
            said, rest = f"{clause.subject} {clause.verb}", clause.rest
            is_paid = bool(rest) and (rest[0][0].isupper() or rest[0].lower() in self._words.words.all_pronouns)
            if is_paid or noun.startswith("times"):  # "how many dollars did they pay him"
                return AnswerStatement(" ".join([said, *rest]), "", noun)
            return AnswerStatement(said, " ".join(rest), noun)
        if verb in ("has", "have", "had") and rest and not self._is_participle(rest[0]):
            clause = self.being(at)
            if clause is None or not clause.rest:
                return None
            return AnswerStatement(f"{clause.subject} {verb} {clause.rest[0]}", " ".join(clause.rest[1:]), noun)
        if verb in ("is", "are", "was", "were"):
            if rest and rest[0].lower() in self._words.prepositions:
                return AnswerStatement("", " ".join(self._tokens[at:]), noun)
            if self._low[at + 1 : at + 2] == ["there"]:
                return AnswerStatement(f"there {verb}", " ".join(rest[1:]), noun)
            if rest and not self._is_participle(rest[0]):
                clause = self.being(at)
                return AnswerStatement(f"{clause.subject} {verb}", "", noun) if clause and not clause.rest else None
        return AnswerStatement("", " ".join(self._tokens[at:]), noun)

    # -- clauses -------------------------------------------------------------------------------------------------------

    def _verb_after_noun(self) -> int | None:
        """Return the place of the verb behind a question word with its noun ("which future president of Liberia played ...")."""
        words = self._words
        for place, word in enumerate(self._low):
            if word in words.being or word in ("did", "does", "do") or (place and word in words.finite):
                return place
        return None

    def doing(self, at: int) -> _Clause | None:
        """Return the clause behind a form of "do"."""
        auxiliary, words = self._low[at], self._words
        end = self._subject_end(at + 1)
        if end is None:
            bases = (
                place
                for place in range(at + 2, len(self._low))
                if self._tokens[place] in words.bases
                and self._low[place - 1] not in words.determiners
                and not self._low[place - 1].endswith(("'s", "s'"))
            )
            end = next(bases, None)
            while end is not None and end > at + 2 and self._low[end - 1] in words.adverbs:
                end -= 1
        if end is None:
            return None
        verb_at = end
        while verb_at < len(self._low) and self._low[verb_at] in words.adverbs:
            verb_at += 1
        if verb_at >= len(self._low) or not self._low[verb_at].isalpha() or self._low[verb_at] in words.prepositions:
            return None
        self.base = self._low[verb_at]
        form = {"did": words.past, "does": words.third_person}.get(auxiliary, str)(self.base)
        verb = " ".join([*self._tokens[end:verb_at], form])
        return _Clause(" ".join(self._tokens[at + 1 : end]), verb, self._tokens[verb_at + 1 :])

    def being(self, at: int, is_verdict: bool = False, is_whole: bool = False) -> _Clause | None:
        """Return the clause behind a form of "be" or "have": its subject and its predicate, if it has one.

        Args:
            at: the place of the verb.
            is_verdict: refuse a subject whose end is not marked.
            is_whole: a preposition at the end belongs to the subject.
        """
        start, words = at + 1, self._words
        end = self._subject_end(start)
        places = range(start + 1, len(self._low))
        predicate = next(filter(self._is_predicate, places), None)
        is_sure = end is not None
        if (
            end is not None
            and predicate is not None
            and end < predicate
            and self._low[end] not in words.adverbs | words.prepositions
        ):
            end, is_sure = None, False  # the name is part of a longer subject: "the Beatles album ... dedicated to"
        if end is None and predicate is not None:
            end = predicate
            while end > start + 1 and self._low[end - 1] in words.adverbs:
                end -= 1
            if words.relative & {*self._low[start:end]}:
                return None
        elif end is None:
            article = next((place for place in places if self._low[place] in ("a", "an")), None)
            is_stranded = self._low[-1] in words.prepositions and not is_whole
            end = article if article is not None else len(self._low) - 1 if is_stranded else len(self._low)
            if is_verdict and article is None:
                return None
        subject = " ".join(self._tokens[start:end])
        return _Clause(subject, "", self._tokens[end:], is_sure) if subject else None

    def _subject_end(self, start: int) -> int | None:
        """Return the end of a subject that is a pronoun or a name."""
        low, words = self._low, self._words
        if low[start : start + 1] and low[start] in words.subjects:
            return start + 1
        for first in (start, start + 1 if low[start : start + 1] == ["the"] else start):
            for name in self._names:
                end = first + len(name)
                if [token.strip(",") for token in low[first:end]] == [word.lower() for word in name]:
                    is_owner = self._tokens[end - 1].endswith(("'s", "s'"))
                    return end if low[end : end + 1] not in (["and"], ["or"]) and not is_owner else None
        return None

    def _is_predicate(self, place: int) -> bool:
        """Return True if a predicate may begin at a place: a participle; words in "ed" behind a determiner do not count."""
        word, before = self._low[place], self._low[place - 1]
        is_regular = word.endswith("ed") and len(word) > _SHORT and before not in self._words.determiners
        return (is_regular or self._is_participle(word)) and "'" not in before

    def _is_participle(self, word: str) -> bool:
        return word.lower() in self._words.participles


def _asking_words(words: StatementWords, question: str) -> list[str]:
    """Return the words of the last sentence, or clause of a sentence, that asks."""
    for sentence in reversed(_SENTENCE.split(question.strip())):
        text = _without_opening(words, re.sub(r"(?<![A-Z])[ ?.!]+$|[ ?!]+$", "", sentence))
        if _asks(words, text):
            clause = _CHOICE.sub("", re.split(r", i mean (?=wh)", text, flags=re.IGNORECASE)[-1])
        else:
            clauses = [_without_opening(words, part.strip()) for part in reversed(text.split(","))]
            clause = next((part for part in clauses if _asks(words, part)), "")
        if clause:
            return _CONTRACTED.sub(r"\1 is", clause).split()
    return []


def _without_opening(words: StatementWords, text: str) -> str:
    spoken = text.split()
    while spoken and spoken[0].lower().strip(",.!") in words.openings:
        del spoken[0]
    return " ".join(spoken[2:] if [word.lower() for word in spoken[:2]] == ["i", "mean"] else spoken)


def _asks(words: StatementWords, text: str) -> bool:
    low = [re.sub(r"['’]s$", "", word) for word in text.lower().split()[:2]]
    asking = {"who", "whom", "whose", "what", "which", "when", "where", "how", "did", "does", "do", *words.being}
    if low[:2] in (["what", "about"], ["how", "about"]):
        return False
    return bool(low) and (low[0] in asking or (low[0] in words.prepositions and low[1:] != [] and low[1] in asking))
