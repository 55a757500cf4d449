"""Finds the parts of a question that are questions themselves: descriptions of unnamed things, and the time of an age."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from .answer_types import AnswerTypes
from .operations import OperationWords
from .text import Words, fold
from .time_words import TimeWords
from .word_lists import WordLists, WordSet

_TOKEN = re.compile(r"\w+(?:[-.]\w+)*(?:['’](?!s\b)\w+)*")
_OWNER = re.compile(r"['’]s?(?= )")
_MODIFIERS = 3  # words between the article of a description and its noun, or between its owner and its noun
_ASKED_NOUN = re.compile(
    r"(?i)\b(?:which|what|whose|how many) $"
)  # before the noun that is asked for: "which book of Atwood"
_PARTICIPLE = re.compile(r"\w+(?:ed|en|wn|de|ung)$")  # "directed", "written", "known", "made", "sung"

_VERB = re.compile(r"[a-z]{3,}ed")


class Description(NamedTuple):
    """A description of an unnamed thing, `text[start:end]`, and the question whose answer it stands for."""

    start: int
    end: int
    question: str


class _Token(NamedTuple):
    start: int
    end: int
    form: str  # in lower case
    is_name: bool


class StepWords(WordLists):
    """Words of descriptions and ages; `steps.txt` explains the lists."""

    file = "steps.txt"
    words: Words
    types: AnswerTypes
    operations: OperationWords
    times: TimeWords
    behind: WordSet
    clause: WordSet
    owning_clause: WordSet
    place_clause: WordSet
    final_verbs: WordSet
    passive: WordSet
    general: WordSet
    light: WordSet
    not_parts: WordSet
    aging: re.Pattern[str]
    moment: re.Pattern[str]
    back_then: re.Pattern[str]
    dying: re.Pattern[str]
    aged: re.Pattern[str]
    identifying: re.Pattern[str]
    defining: re.Pattern[str]
    next_one: re.Pattern[str]
    previous_one: re.Pattern[str]
    numbered_one: re.Pattern[str]

    def descriptions(
        self, text: str, names: Sequence[tuple[int, int]], *, has_topic: bool = False
    ) -> list[Description]:
        """Return the descriptions in a question that asks for more than their thing, the shortest first.

        Args:
            text: the question in full.
            names: start and end of the names in it.
            has_topic: whether it is about something that it does not name: "the third film" is one of that.
        """
        tokens = list(self._tokens(text, names))
        found = [*self._owned(text, tokens), *self._related(text, tokens), *self._in_clauses(text, tokens)]
        found += self._in_keywords(text, tokens)
        if has_topic:
            found += [*self._numbered(text, tokens), *self._spoken_of(text, tokens)]
        asking = [
            part for part in found if "," not in text[part.start : part.end] and self._asks_more(text, tokens, part)
        ]
        asking = [part for part in asking if not _ASKED_NOUN.search(text, 0, part.start)]
        return sorted(asking, key=lambda part: part.end - part.start)

    def identified(self, question: str) -> str:
        """Return the name of which a question asks no more than what it is; empty if it asks for more.

        "Coldplay" of "tell me about Coldplay", "Fargo" of "what is the film Fargo?".
        """
        head = self.identifying.match(question)
        words = question[head.end() :].strip(" ?.!").split() if head else []
        if len(words) > 2 and fold(words[0]) in self.words.definite and self.types.names_class(fold(words[1])):
            words = words[2:]
        return "" if self.words.personal.issuperset(map(fold, words)) else " ".join(words)

    def in_order(self, utterance: str, last_question: str) -> str | None:
        """Return the last question with the place in an order that an utterance asks for; None if it names no order.

        "and the one after that?" behind "what was Adele's first album?" asks for the second, "and the last?" for the last.
        """
        places = [match for match in _TOKEN.finditer(last_question) if match[0].lower() in self.operations.places]
        if len(places) != 1:
            return None
        ordered = ("first", *self.operations.ordinals)
        said = places[0][0].lower()
        number = ordered.index(said) if said in ordered else None
        numbered = self.numbered_one.match(utterance)
        if numbered and numbered["place"].lower() in self.operations.places:
            place = numbered["place"].lower()
        elif number is not None and number + 1 < len(ordered) and self.next_one.match(utterance):
            place = ordered[number + 1]
        elif number and self.previous_one.match(utterance):
            place = ordered[number - 1]
        else:
            return None
        full = f"{last_question[: places[0].start()]}{place}{last_question[places[0].end() :]}"
        return f"{full.rstrip(' ?.!')}?" if self.types.asks(full) else full

    def names_step(self, utterance: str) -> bool:
        """Return True for "and then?", "what came next?" and "the previous one?", which ask for nothing but what is beside something."""
        return bool(self.next_one.match(utterance) or self.previous_one.match(utterance))

    def is_verb(self, text: str, start: int, end: int) -> bool:
        """Return True for a word with the ending of one behind "who" or "had", which is no name: "who had recommended her"."""
        before = text[:start].lower().split()[-1:]
        return _VERB.fullmatch(text, start, end) is not None and not self._verbs_behind.isdisjoint(before)

    @cached_property
    def _verbs_behind(self) -> WordSet:
        return self.types.existential | self.types.opening_words | self.clause

    def _tokens(self, text: str, names: Sequence[tuple[int, int]]) -> Iterator[_Token]:
        place = 0
        for start, end in sorted(names):
            if text[start:end].endswith(("'s", "’s")):
                end -= 2
            if start >= place and end > start:
                yield from self._words(text, place, start)
                yield _Token(start, end, text[start:end].lower(), True)
                place = end
        yield from self._words(text, place, len(text))

    @staticmethod
    def _words(text: str, start: int, end: int) -> Iterator[_Token]:
        for match in _TOKEN.finditer(text, start, end):
            if match[0] not in ("s", "S"):  # of a name before
                yield _Token(*match.span(), match[0].lower(), False)

    def _is_noun(self, token: _Token) -> bool:
        """Return True for a noun of a person or a thing, in the singular."""
        form = token.form
        if token.is_name or form in self.not_parts or form in self.types.number_nouns | self.types.date_nouns:
            return False
        nouns = self.types.person_nouns | self.types.place_nouns
        return form in nouns or (self.types.names_class(form) and not form.endswith("s"))

    def _owned(self, text: str, tokens: Sequence[_Token]) -> Iterator[Description]:
        """Yield "Titanic's director", "the band's lead singer" behind a name."""
        for place, token in enumerate(tokens):
            if not token.is_name or not _OWNER.match(text, token.end):
                continue
            for last in range(place + 1, min(place + 2 + _MODIFIERS, len(tokens))):
                noun = tokens[last]
                if self._breaks(noun):
                    break
                is_longer = last + 1 < len(tokens) and self._is_noun(tokens[last + 1])  # "Titanic's casting director"
                is_apposed = last + 1 < len(tokens) and tokens[last + 1].is_name  # "Pink Floyd's film The Wall"
                if self._is_noun(noun) and not is_apposed and (not is_longer or _OWNER.match(text, noun.end)):
                    yield self._description(text, token.start, noun.end, noun.form)
                    break

    def _related(self, text: str, tokens: Sequence[_Token]) -> Iterator[Description]:
        """Yield "the director of Titanic"."""
        for place, token in enumerate(tokens):
            is_between = 0 < place < len(tokens) - 1
            if token.form not in self.behind or not is_between or not self._is_noun(tokens[place - 1]):
                continue
            name = place + 1
            while name < len(tokens) and not tokens[name].is_name and self._introduces(tokens[name]):
                name += 1
            first = self._first(tokens, place - 1)
            if first and self.operations.is_of_degree(tokens[first - 1].form):
                continue  # "first album of Radiohead" asks for one of several
            start, noun = tokens[first].start, tokens[place - 1].form
            end = self._before_verb(tokens, place + 1)
            if end is None and name < len(tokens) and tokens[name].is_name and not _OWNER.match(text, tokens[name].end):
                end = self._with_nouns(tokens, name)
            if end is not None:
                yield self._description(text, start, end, noun)

    def _in_clauses(self, text: str, tokens: Sequence[_Token]) -> Iterator[Description]:
        """Yield "the woman who sang Hello", "the book written by Bram Stoker", "the actor playing Arya"."""
        words = self.words
        for place, token in enumerate(tokens[:-2]):
            first = self._first(tokens, place)
            if token.is_name or self._breaks(token) or tokens[first].form not in words.articles | words.definite:
                continue
            following, behind = tokens[place + 1], tokens[place + 2]
            if following.is_name:
                continue
            start, noun = tokens[first].start, token.form
            is_person = following.form == "who" or noun in self.types.person_nouns | self.general
            end = self._end_of_clause(tokens, place)
            if end is None:
                continue
            rest = text[behind.start : end]
            if following.form in self.clause and not behind.is_name:
                yield Description(start, end, f"{'Who' if is_person else f'Which {noun}'} {rest}?")
            elif following.form in self.clause and end == tokens[-1].end:  # "the film that Jodie Foster won it for"
                yield Description(start, end, f"{'Whom' if is_person else f'Which {noun}'} did {rest}?")
            elif following.form in self.owning_clause:
                yield Description(start, end, f"Which {noun}'s {rest}?")
            elif following.form in self.place_clause:
                yield Description(start, end, f"In which {noun} {rest}?")
            elif self._is_noun(token) and self._is_shortened(following, behind):
                verb = text[following.start : end]
                yield Description(
                    start,
                    end,
                    f"{'Who' if is_person else f'Which {noun}'} {'is' if following.form.endswith('ing') else 'was'} {verb}?",
                )

    def _is_shortened(self, verb: _Token, behind: _Token) -> bool:
        if verb.form.endswith("ing"):
            return behind.is_name or behind.form in self.words.articles
        return _PARTICIPLE.match(verb.form) is not None and behind.form in self.behind | self.passive

    def _end_of_clause(self, tokens: Sequence[_Token], noun: int) -> int | None:
        """Return the end of the clause behind a noun: before the last verb of the question, at its end, or behind its first name."""
        names = [token.end for token in tokens[noun + 2 :] if token.is_name]
        is_place = tokens[noun + 1].form in self.place_clause
        is_object = tokens[noun + 2].is_name and tokens[noun + 1].form in self.clause
        is_said = any(self._says(token) for token in tokens[: self._first(tokens, noun)])
        if is_said and is_place:
            return tokens[-1].end
        if (end := self._before_verb(tokens, noun + 2)) is not None:
            return end
        if is_said and (is_object or not names):
            return tokens[-1].end
        return None if is_object or not names else names[0]

    def _numbered(self, text: str, tokens: Sequence[_Token]) -> Iterator[Description]:
        """Yield "the third film", "the last one"."""
        words = self.words
        for place in range(1, len(tokens) - 1):
            noun = tokens[place + 1]
            is_thing = noun.form in words.ones or (self._is_noun(noun) and noun.form not in self.types.person_nouns)
            is_last = place + 2 == len(tokens) or tokens[place + 2].form not in self.behind
            if (
                tokens[place].form in self.operations.places
                and tokens[place - 1].form in words.articles
                and is_thing
                and is_last
            ):
                yield self._description(text, tokens[place - 1].start, noun.end, noun.form)

    def _in_keywords(self, text: str, tokens: Sequence[_Token]) -> Iterator[Description]:
        """Yield "titanic director" of "titanic director birthplace" and of "when was the titanic director born"."""
        for place, (name, noun) in enumerate(pairwise(tokens)):
            is_first = place == 0 or tokens[place - 1].form in self.words.articles
            is_person = not noun.is_name and noun.form in self.types.person_nouns
            is_last = place + 2 == len(tokens) or not tokens[place + 2].is_name
            if name.is_name and is_first and is_person and is_last and text[name.end : noun.start] == " ":
                start = tokens[max(0, place - 1)].start
                owner = self.words.owner(text[name.start : name.end])
                yield Description(start, noun.end, f"Who is {owner} {text[noun.start : noun.end]}?")

    def _spoken_of(self, text: str, tokens: Sequence[_Token]) -> Iterator[Description]:
        """Yield "the author" of "when was the author born", "director" of "director's birthplace": that of what was spoken of."""
        for place, noun in enumerate(tokens):
            if self._breaks(noun) or noun.form not in self.types.person_nouns | self.words.sequels:
                continue
            has_article = place > 0 and tokens[place - 1].form in self.words.definite
            if place > 1 and tokens[place - 2].form not in self.types.existential | self.behind | self.words.fillers:
                continue  # "with Maradona as the coach"
            is_whole = place + 2 >= len(tokens) or tokens[place + 1].form not in self.behind | self.clause
            if is_whole and (has_article or (place == 0 and _OWNER.match(text, noun.end))):
                start = tokens[place - 1].start if has_article else noun.start
                yield Description(
                    start,
                    noun.end,
                    f"{'Who' if noun.form in self.types.person_nouns else 'What'} is the {text[noun.start : noun.end]}?",
                )

    def _with_nouns(self, tokens: Sequence[_Token], name: int) -> int:
        """Return the end of a name with the nouns behind it: "the German national team"."""
        end = tokens[name].end
        for token in tokens[name + 1 : name + 2 + _MODIFIERS]:
            if self._breaks(token):
                break
            if self.types.names_class(token.form) and token.form not in self.types.date_nouns:
                end = token.end
        return end

    def _first(self, tokens: Sequence[_Token], noun: int) -> int:
        """Return the place of the first word of a description with a noun: that of its article, its adjectives or the noun."""
        for place in range(noun - 1, max(-1, noun - 2 - _MODIFIERS), -1):
            if tokens[place].form in self.words.articles | self.words.definite:
                return place
            if self._breaks(tokens[place]):
                return place + 1
        return noun

    def _introduces(self, token: _Token) -> bool:
        """Return True for a word before a name: "the film" of "the film Titanic"."""
        return token.form in self.words.articles or self.types.names_class(token.form)

    def _breaks(self, token: _Token) -> bool:
        return token.is_name or token.form in self.words.common | self.types.opening_words

    def _before_verb(self, tokens: Sequence[_Token], place: int) -> int | None:
        """Return the end of the words from a place on that stand before the last verb of a question; None without that."""
        is_behind = place < len(tokens) - 1 and tokens[-1].form in self.final_verbs and not tokens[-1].is_name
        return tokens[-2].end if is_behind else None

    def _description(self, text: str, start: int, end: int, noun: str) -> Description:
        is_person = noun in (self.types.person_nouns | self.general) - self.words.ones
        return Description(start, end, f"{'Who' if is_person else 'What'} is {text[start:end]}?")

    def _asks_more(self, text: str, tokens: Sequence[_Token], part: Description) -> bool:
        """Return True if a question has a word beside a description that says what is asked of it."""
        before = [token for token in tokens if token.end <= part.start]
        behind = [token for token in tokens if token.start >= part.end]
        moment = self.moment.search(text, part.end)
        if moment:  # what was when says nothing of what is asked
            behind = [token for token in behind if token.start < moment.start()]
        before, behind = (self._without_times(text, words) for words in (before, behind))
        if any(token.form in self.operations.degrees for token in before):  # "how long is the second one"
            return True
        if not behind and before and before[-1].form in self.types.existential:
            # "which Hollywood star was the partner of" asks for the thing itself, "what nationality is the woman who" does not
            nouns = [token.form for token in before[:-1] if self._says(token)]
            is_within = any(token.form in self.behind for token in before)  # "in which country is the city where"
            is_other = bool(nouns) and self._is_person(nouns[-1]) != part.question.startswith(("Who ", "Whom "))
            return is_other or (bool(nouns) and is_within)
        is_origin = bool(behind) and behind[-1].form in self.behind  # "where is the director of Alien from"
        return is_origin or any(map(self._says, [*before, *behind]))

    def _without_times(self, text: str, tokens: Sequence[_Token]) -> list[_Token]:
        """Return tokens without the times that they name and the words that lead to these: "starting in 1990"."""
        rest: list[_Token] = []
        leading = self.times.leading | self.types.date_nouns | self.words.stop_words
        times = self.times.places(text)
        for token in tokens:
            if any(start <= token.start < end for start, end in times):
                while rest and rest[-1].form in leading:
                    rest.pop()
            else:
                rest.append(token)
        return rest

    def _is_person(self, noun: str) -> bool:
        return noun in self.types.person_nouns | self.general

    def _says(self, token: _Token) -> bool:
        """Return True for a word that says what is asked: neither a name or a number, nor a word that opens a question."""
        words = self.words
        dates = self.types.date_nouns - self.operations.births  # a "birthday" is of a person
        said = words.stop_words | words.telling | self.light | words.fillers | dates
        return not token.is_name and token.form not in said and not token.form.isdigit()
