"""Words around questions: asides, corrections, topics that are named first, questions of several parts."""

from __future__ import annotations

import re
from functools import cached_property

from .answer_types import AnswerTypes
from .text import Words, fold
from .word_lists import Numbers, WordLists, WordSet

_LONGEST_TOPIC = 9  # words
_LONGEST_FOLLOW_UP = 4  # words of a topic of which the last question is asked, too; as in `bare_ellipsis`
_AFTER_TOPIC = re.compile(r"(?i)(?:\s+(?:now|next|then|again))?\s*(?:[,.:;]+|\s-)\s+|\s+now\s+")
_WORD = re.compile(r"[^\W\d_]+(?:['’](?!s\b)\w+)*")


class TalkWords(WordLists):
    """Words of corrections, choices and questions of several parts; `talk.txt` explains the lists."""

    file = "talk.txt"
    words: Words
    types: AnswerTypes
    asides: re.Pattern[str]
    contracted: re.Pattern[str]
    taking_back: re.Pattern[str]
    put_right: re.Pattern[str]
    put_off: re.Pattern[str]
    besides: re.Pattern[str]
    self_repair: re.Pattern[str]
    about: re.Pattern[str]
    also: re.Pattern[str]
    not_topics: WordSet
    leading: re.Pattern[str]
    joined: re.Pattern[str]
    behind_joined: re.Pattern[str]
    before_times: WordSet
    adding: WordSet
    choosing: re.Pattern[str]
    places: Numbers
    other_one: re.Pattern[str]
    referring: WordSet
    adverbial_phrase: re.Pattern[str]
    bare_ellipsis: re.Pattern[str]
    no_answer: re.Pattern[str]

    def bare(self, utterance: str) -> str:
        """Return what is asked, without asides or a question taken back: "hm, who sang it", "who wrote it, I mean who sang it"."""
        rest = self.asides.sub("", utterance.strip())
        repair = self.self_repair.search(rest)
        if repair is not None and self.types.asks(rest[: repair.start()]):
            before, behind = rest[: repair.start()], rest[repair.end() :]
            # "where is Atwood from, I mean where was she born": she is named in what is taken back
            if self._has_pronoun(before) or not self._has_pronoun(behind):
                rest = behind
        rest = self.contracted.sub(r"\1's", rest)
        return rest if _WORD.search(rest) else utterance

    def left_out(self, utterance: str) -> str:
        """Return what an utterance asks for more besides, "him" of "and apart from him?"; empty if it asks for no more."""
        match = self.besides.match(utterance)
        return next(filter(None, match.groups()), "") if match else ""

    def _has_pronoun(self, text: str) -> bool:
        return not self.words.personal.isdisjoint(fold(text).split())

    def replacement(self, utterance: str) -> str:
        """Return the words that a correction puts in the place of others: "the composer" of "no sorry, the composer I mean"."""
        return self.corrected(utterance)[1]

    def corrected(self, utterance: str) -> tuple[str, str]:
        """Return what a correction says is not meant, or an empty string, and what is: "Frasier" and "Friends" of "Friends, not Frasier"."""
        text, before, denied = self.bare(utterance), "", ""
        while text != before:  # "no, I didn't mean Adele, I meant Shakira"
            before, text = text, self.taking_back.sub("", text)
            if match := self.put_right.match(text):
                denied, text = match["denied"], text[match.end() :]
        if match := self.put_off.search(text):
            denied, text = match["denied"] or denied, text[: match.start()]
        return denied.strip(), text.strip(" .!?,") or utterance

    def alike(self, question: str) -> str | None:
        """Return "and Adele?" for "same question for Adele" and "Adele as well?"; None for another question."""
        head, tail = self.about.match(question), self.also.search(question)
        if head is None or tail is None or self.bare_ellipsis.match(question):
            return None
        topic = question[head.end() : tail.start()]
        is_alike = head["alike"] or tail["alike"] or head[0].rstrip().endswith((",", ":"))
        is_topic = 0 < len(topic.split()) <= _LONGEST_FOLLOW_UP and not self.types.asks(topic)
        return f"and {topic}?" if is_alike and is_topic else None

    def topic_first(self, question: str) -> tuple[str, bool] | None:
        """Return a question with its topic in the place of its pronoun, or in brackets behind it; None without a topic before it.

        "kraftwerk, who founded that band" asks "who founded Kraftwerk". With whether the topic is a name; else it is a description,
        which may need the history ("the sequel").
        """
        head = self.about.match(question)
        start = head.end() if head else 0
        for separator in _AFTER_TOPIC.finditer(question, start):
            topic, rest = question[start : separator.start()].strip(), question[separator.end() :]
            if self.types.asks(rest) and self._is_topic(topic):
                break
        else:
            return None
        is_named = fold(topic).split()[0] not in self.words.articles | self.words.definite
        if is_named and topic.islower():
            topic = " ".join(word if word in self.words.stop_words else word.capitalize() for word in topic.split())
        pronoun = self._pronoun(rest)
        if pronoun is None:
            return f"{rest.rstrip(' ?.!')} ({topic})?", is_named
        behind = rest[pronoun.end() :].split()
        owns = self.words.owns(pronoun[0].casefold(), fold(behind[0]) if behind else "")
        words = self.words.owner(topic) if owns else topic
        return f"{rest[: pronoun.start()]}{words}{rest[pronoun.end() :]}", is_named

    def _is_topic(self, topic: str) -> bool:
        words = fold(topic).split()
        types = self.types
        return (
            0 < len(words) <= _LONGEST_TOPIC
            and words[0] not in self.not_topics
            and not types.existential.union(types.opening_words).intersection(words)
            and not any(self._stands_alone(*pair) for pair in zip(words, [*words[1:], ""], strict=True))
            and not self.words.stop_words.issuperset(words)
            and not self.taking_back.match(topic)
        )

    def _stands_alone(self, word: str, following: str) -> bool:
        """Return True for a pronoun that owns nothing: "she went missing for days, where did they find her" has no topic."""
        return word in self.words.personal and not self.words.owns(word, following)

    def _pronoun(self, question: str) -> re.Match[str] | None:
        """Return the first pronoun that may mean the topic before a question: "it", "that band"."""
        found = list(self._that_thing.finditer(question))
        found = [
            match for match in found if self.types.names_class(match[1]) and not match[1].endswith("ed")
        ]  # "publisher"
        places = self.words.pronouns["place"]
        found += [
            match
            for match in _WORD.finditer(question)
            if match[0].casefold() in self.words.personal and match[0].casefold() not in places
        ]
        found += self.words.pointing_phrase.finditer(question)
        found += self._that_alone.finditer(question)
        return min(found, key=lambda match: match.start(), default=None)

    @cached_property
    def _that_alone(self) -> re.Pattern[str]:
        """ "that" behind a verb and before no noun of a thing: "when was that published"."""
        verbs = [*(rf"\b{verb}" for verb in sorted(self.types.existential)), "'s", "’s"]
        return re.compile("|".join(rf"(?i:(?<={verb} )that\b)" for verb in verbs))

    @cached_property
    def _that_thing(self) -> re.Pattern[str]:
        return re.compile(rf"(?i)\b(?:{'|'.join(sorted(self.words.pointing))}) (\w+)\b")
