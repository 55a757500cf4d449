"""Ellipses: "and in 1998?" is the last question with other words in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import dropwhile, groupby, takewhile

import numpy as np

from ..encoder.question_readers import Pointers
from ..knowledge_base.items import Items
from ..knowledge_base.linking import EntityLinker
from ..language.language import Language
from ..language.text import fold
from ..records.conversation import Turn
from ..records.rewriting import EarlierTurn, FullQuestion, Insertion
from ..wikipedia.pages import Pages
from .cell_ellipses import place_in_table

NO_ELLIPSIS = 2.0  # the shares of "nothing" for both ends of the gap that no words of the last question fill
_ASKING = 2  # words by which two questions ask for something in the same way
_WORD = re.compile(r"\w+")
_Place = tuple[int, int]  # start and end of a part of a question
_Words = Sequence[tuple[str, re.Match[str]]]  # of a question, folded, each with its place
_OWNER = re.compile(r"\w['’]s ")
_LAST_WORD = re.compile(r"(\w+) (?:(?:the|an?) )?$")


class Ellipses:
    """Finds the part of the last question that an ellipsis replaces: where a model points, and by the form of both.

    Args:
        linker: links the names in questions.
        language: the language of the questions.
        kb: the knowledge base of the items; whether they have relations tells those of files, which have none.
        pages: the pages of the items.
    """

    def __init__(self, linker: EntityLinker, language: Language, kb: Items, pages: Pages) -> None:
        self._linker, self._language, self._kb, self._pages = linker, language, kb, pages
        self._has_relations = any(kb.properties())

    def complete(
        self, question: str, last_turn: Turn, earlier: Sequence[EarlierTurn], pointers: Pointers, is_name: bool = False
    ) -> tuple[FullQuestion | None, float]:
        """Return the last question with the words of an ellipsis ("and in 1998?") in it, None if it cannot be one.

        With it how little it is one: the head's shares of "nothing" for both ends of the gap, together. If it `is_name`, "and
        Aliens?", it replaces a name.
        """
        last_question = earlier[-1].question
        place = next((place for place in reversed(range(len(earlier))) if not self._is_cut_short(earlier[place])), 0)
        if bare := self._other_question_word(question, earlier[place]):
            insertion = Insertion(bare.index(" ") + 1, len(bare) - 1, place, "question")
            return FullQuestion(bare, (insertion,)), 0.0
        tokens = np.flatnonzero(pointers.tokens[:, 1] <= len(last_question))
        starts, ends = pointers.replaced
        # "what is the max of Corn?" behind "what is the min of Brek?" asks by itself
        is_asked_alike = fold(question).split()[:_ASKING] == fold(last_question).split()[:_ASKING]
        if not len(tokens) or is_asked_alike:
            return None, NO_ELLIPSIS
        if (in_table := self._place_in_table(question, last_turn, last_question)) is not None:
            return self._with(question, last_question, in_table, len(earlier) - 1), 0.0
        first = int(starts[1 + tokens].argmax())
        last = first + int(ends[1 + first : 1 + len(tokens)].argmax())
        start, end = _whole_words(last_question, int(pointers.tokens[first, 0]), int(pointers.tokens[last, 1]))
        start, end = self._with_preposition(question, last_question, (start, end))
        end = self._without_owner(question, last_question, start, end)
        start, end = self._with_whole_names(last_turn, last_question, start, end)
        start, end = self._of_its_kind(self._replacement(question, "", ""), last_question, (start, end))
        if is_name:
            start, end = self._named(last_question, (start, end))
        elif self._asks_property(question) and self._names_within(last_question, (start, end)):
            return None, NO_ELLIPSIS  # "and the composer?" is no other film than Titanic
        if self._adds(question, last_question, start, end):
            last_question = f"{last_question.rstrip(' ?.!')} "
            start = end = len(last_question)
        full = self._with(question, last_question, (start, end), len(earlier) - 1)
        words = self._replacement(question, last_question[:start], last_question[start:end])
        is_degree = self._language.operations.is_of_degree(fold(last_question[start:end])) and len(words.split()) <= 2
        return full, 0.0 if is_degree else float(starts[0] + ends[0])

    def _place_in_table(self, question: str, last_turn: Turn, last_question: str) -> tuple[int, int] | None:
        """Return the place of a cell or a header of a file's table that an ellipsis replaces by another one; None without one."""
        # "espresso?" is "and espresso?" if a cell has all of it
        is_short = self._language.talk.bare_ellipsis.match(question) or self._language.talk.bare_ellipsis.match(
            f"and {question}"
        )
        if self._has_relations or not is_short:
            return None
        words, properties = self._replacement(question, "", ""), self._language.properties
        return place_in_table(words, last_question, last_turn, self._pages, self._kb.label, properties)

    def _with(self, question: str, last_question: str, place: _Place, turn: int) -> FullQuestion:
        """Return the last question, that of `turn`, with the words of an ellipsis in a place."""
        start, end = place
        words = self._replacement(question, last_question[:start], last_question[start:end])
        insertions = [Insertion(0, start, turn, "question")] if start else []
        rest = last_question[end:].strip(" ?.!")
        gap = "" if rest.startswith((",", "'", "’")) else " "
        if rest:
            rest_start = start + len(words) + len(gap)
            insertions.append(Insertion(rest_start, rest_start + len(rest), turn, "question"))
        # over files a request remains one: "gas january"
        is_request = not self._has_relations and self._language.answer_types.is_request(last_question)
        mark = "" if is_request else "?"
        return FullQuestion(f"{last_question[:start]}{words}{gap}{rest}".rstrip() + mark, tuple(insertions))

    def _is_cut_short(self, turn: EarlierTurn) -> bool:
        """Return True for what an ellipsis left without a verb: "at what time?" goes behind "on which day Ada coaches them?" as that did."""
        words = self._language.talk.bare(turn.question).rstrip(" ?.!").split()
        is_adverbial = any(self._language.talk.adverbial_phrase.match(" ".join(words[:end])) for end in (1, 2))
        return is_adverbial and self._language.answer_types.existential.isdisjoint(map(fold, words))

    def _other_question_word(self, question: str, last: EarlierTurn) -> str | None:
        """Return "where was he born?" for "where?" behind "when was he born?"; None for another follow-up.

        Behind "did he marry?" it is "where did he marry?", behind "whom did he marry?" also with the answer.
        """
        words, talk, verbs = self._language.words, self._language.talk, self._language.answer_types.existential
        said = [word for word in fold(question).split() if word not in words.fillers]
        earlier = talk.bare(last.question).rstrip(" ?.!").split()
        match = talk.adverbial_phrase.match(" ".join(said))
        if match is None or fold(earlier[0]) == said[0]:
            return None
        openings = self._language.answer_types.opening_words
        phrase = match[1] if not openings.isdisjoint(fold(match[1]).split()) else "when"  # "and the year?"
        verb = next((place for place, word in enumerate(earlier) if fold(word) in verbs), None)
        # "how many", "since when", "for which film"
        is_adverbial = any(talk.adverbial_phrase.match(" ".join(earlier[:end])) for end in (1, 2))
        if verb is not None:
            answer = [] if verb == 0 or is_adverbial else last.answer.split()
            return " ".join([phrase, *earlier[verb:], *answer]) + "?"
        if self._has_relations and self._language.answer_types.expected_type(f"{phrase} was it?").kind == "date":
            return self._coming_out(last.question)
        if is_adverbial or self._has_relations or not last.answer:
            return None  # "who wrote Dracula? where?" asks about an item: the referents find it
        return " ".join([phrase, last.answer, *earlier[1:]]) + "?"

    def _coming_out(self, last_question: str) -> str | None:
        """Return "when did Dracula come out?" for "when?" behind "who wrote Dracula?"; None if that names no work."""
        for name in self._linker.link(last_question):
            item = name.candidates[0].id
            if name.is_name and self._language.answer_types.entity_kind(item, self._kb.types(item)) == "thing":
                return f"when did {name.surface} come out?"
        return None

    def _with_preposition(self, question: str, last_question: str, place: _Place) -> _Place:
        """Return the place of the words that an ellipsis replaces: with their preposition if it has one ("and before 1950?").

        "at Juventus" replaces no more than "in Madrid", and that rather than a name without one.
        """
        start, end = place
        prepositions = self._language.talk.before_times
        said = [word for word in fold(question).split() if word not in self._language.words.fillers]
        if not said or said[0] not in prepositions:
            return place
        before = _LAST_WORD.search(last_question[:start])
        if before is not None and fold(before[1]) in prepositions:
            return before.start(), end
        spoken = [match for match in _WORD.finditer(last_question, start) if fold(match[0]) in prepositions]
        within = [match for match in spoken if match.end() <= end]
        if within:
            return within[-1].start(), end
        return (spoken[0].start(), len(last_question.rstrip(" ?.!"))) if len(spoken) == 1 else place

    def _adds(self, question: str, last_question: str, start: int, end: int) -> bool:
        """Return True for words with a preposition over files in the place of words without any: "and for vegans?" is added to the question."""
        said = [word for word in fold(question).split() if word not in self._language.words.fillers]
        prepositions = self._language.talk.before_times | self._language.talk.adding
        if self._has_relations or len(said) < 2 or said[0] not in prepositions:
            return False
        return prepositions.isdisjoint(fold(last_question[start:end]).split()[:1])

    def _without_owner(self, question: str, last_question: str, start: int, end: int) -> int:
        """Return where the words that an ellipsis replaces end: before "of flat 5" if "and the deposit?" has no "of" of its own."""
        relating = self._language.answer_types.relating
        if not relating.isdisjoint(fold(question).split()):
            return end
        of = next(
            (match for match in _WORD.finditer(last_question, start + 1, end) if fold(match[0]) in relating), None
        )
        if of is None or any(name.start < of.start() < name.end for name in self._linker.link(last_question)):
            return end  # "The Lord of the Rings" is replaced as a whole
        return of.start() - 1

    def _with_whole_names(self, turn: Turn, last_question: str, start: int, end: int) -> tuple[int, int]:
        """Return the place of the words that an ellipsis replaces with all of a name that they are a part of.

        Names are those without an item, and the cells of the row that the answer is from: "rye bread" of "how many rye breads". Behind
        a word the next ones are of its name if the evidence has them so, too: "fire extinguisher".
        """
        if not any(map(str.isalpha, last_question[start:end])):
            return start, end  # "3" of "Alien 3" for "the second one"
        representation, cited = turn.get("representation"), turn.get("top_evidences") or ()
        names = [name["name"] for name in representation.get("unlinked", ())] if representation else []
        names += [cell["text"] for evidence in cited[:1] if "row" in evidence for cell in evidence["row"]["cells"]]
        keyword = self._language.properties.keyword
        spoken = [(match, keyword(fold(match[0]))) for match in _WORD.finditer(last_question)]
        for name in names:
            parts = [keyword(word) for word in fold(name).split()]
            for place in range(len(spoken) - len(parts) + 1) if len(parts) > 1 else ():
                if [word for _, word in spoken[place : place + len(parts)]] == parts:
                    first, final = spoken[place][0].start(), spoken[place + len(parts) - 1][0].end()
                    if first < end and start < final:
                        start, end = min(start, first), max(end, final)
        said = cited[0]["evidence_text"].casefold() if cited else ""
        for match, _ in spoken:
            is_next = match.start() == end + 1 and fold(match[0]) not in self._language.words.common
            if is_next and re.search(rf"\b{re.escape(last_question[start : match.end()].casefold())}\b", said):
                end = match.end()
        return start, end

    def _of_its_kind(self, words: str, last_question: str, place: _Place) -> _Place:
        """Return the place of what some words replace in a question: their own form may tell it better than a model."""
        said = [word for word in fold(words).split() if word not in self._language.words.articles]
        spoken = [(fold(match[0]), match) for match in _WORD.finditer(last_question)]
        if not said or not spoken:
            return place
        place = self._without_question_words(said, spoken, place)
        forms = (self._owned, self._related, self._of_degree, self._begun_alike)
        return next((found for form in forms if (found := form(said, spoken, place)) is not None), place)

    def _without_question_words(self, said: Sequence[str], spoken: _Words, place: _Place) -> _Place:
        """Return the last thing in a place that begins with a question word: "and the flight" replaces no "until when can I cancel"."""
        types, common = self._language.answer_types, self._language.words.common
        begins = types.opening_words | self._language.talk.before_times
        start, end = place
        if start or spoken[0][0] not in begins or said[0] in begins | types.existential:
            return place
        runs = [[*run] for is_common, run in groupby(spoken, lambda word: word[0] in common) if not is_common]
        things = [(run[0][1].start(), run[-1][1].end()) for run in runs if run[-1][1].end() <= end]
        return things[-1] if things else place

    def _asks_property(self, question: str) -> bool:
        """Return True for "and the composer?", which is the name of a property."""
        return bool(self.properties_named(question))

    def properties_named(self, question: str) -> Sequence[str]:
        """Return the ids of the properties of which a question is no more than the name: "and the budget?"."""
        words = self._language.words.without_article(fold(self._replacement(question, "", "")))
        return self._properties_by_name.get(self._keywords(words), ()) if self._has_relations else ()

    def _keywords(self, text: str) -> str:
        """Return a text in small letters with the keyword of each word in its place: "actor" for "Actors"."""
        return " ".join(map(self._language.properties.keyword, fold(text).split()))

    @cached_property
    def _properties_by_name(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for prop, label, aliases in self._kb.properties():
            for name in (label, *aliases):
                found.setdefault(self._keywords(name), []).append(prop)
        return found

    def _named(self, last_question: str, place: _Place) -> _Place:
        """Return the place of the name of a question that a place is in, and of its first one for "When": no name replaces that."""
        within = self._names_within(last_question, place)
        if not within and fold(last_question[slice(*place)]) in self._language.answer_types.opening_words:
            within = self._names_within(last_question, (0, len(last_question)))
        return within[0] if within else place

    def _names_within(self, last_question: str, place: _Place) -> list[_Place]:
        """Return the places of the names of a question that a place touches."""
        start, end = place
        names = [(name.start, name.end) for name in self._linker.link(last_question) if name.is_name]
        return [(first, last) for first, last in names if first < end and start < last]

    def _owned(self, said: Sequence[str], spoken: _Words, place: _Place) -> _Place | None:
        """Return the place of what a pronoun owns: "her office" replaces "phone number" of "Ines's phone number"."""
        owner = self._owner(said, spoken[0][1].string)
        if owner is None:
            return None
        return self._of_degree(said[1:], spoken, place) or (owner.end(), self._end_of_run(spoken, owner.end()))

    def _owner(self, said: Sequence[str], last_question: str) -> re.Match[str] | None:
        """Return "Ines's " of a question if some words, "her office", have a pronoun for it."""
        is_owned = len(said) > 1 and self._language.words.owns(said[0], said[1])
        return _OWNER.search(last_question) if is_owned else None

    def _related(self, said: Sequence[str], spoken: _Words, place: _Place) -> _Place | None:
        """Return the place of "of Hanna" for "of Peer", whichever part of "phone number of Hanna" a model points at."""
        of = next((match for word, match in spoken if word == said[0]), None)
        if of is None or said[0] not in self._language.answer_types.relating:
            return None
        start, end = place
        named = self._end_of_run(spoken, of.end())
        if start < of.start():
            return (of.start(), max(end, named)) if named > of.end() else None
        between = fold(of.string[of.end() : start]).split()  # "the" of "of the freezer"
        return (of.start(), end) if of.end() <= start and self._language.words.articles.issuperset(between) else None

    def _of_degree(self, said: Sequence[str], spoken: _Words, place: _Place) -> _Place | None:
        """Return the place of "most" of "the most hours" for "the least", of "older" for "taller"."""
        is_of_degree = self._language.operations.is_of_degree
        if len(said) != 1 or not is_of_degree(said[0]):
            return None
        return next((match.span() for word, match in spoken if is_of_degree(word)), None)

    def _begun_alike(self, said: Sequence[str], spoken: _Words, place: _Place) -> _Place | None:
        """Return the place of as many words from an equal one on: of "next inspection" for "the next meeting"."""
        if len(said) < 2 or said[0] in self._language.words.common:
            return None
        start, end = place
        for at, (word, match) in enumerate(spoken[: max(0, len(spoken) - len(said) + 1)]):
            if word == said[0]:
                return min(start, match.start()), max(end, spoken[at + len(said) - 1][1].end())
        return None

    def _end_of_run(self, spoken: _Words, start: int) -> int:
        """Return where the content words behind a place of a question end, an article before them aside."""
        words = self._language.words
        behind = dropwhile(
            lambda word: word[0] in words.articles, (word for word in spoken if word[1].start() >= start)
        )
        return max(
            (match.end() for _, match in takewhile(lambda word: word[0] not in words.common, behind)), default=start
        )

    def _replacement(self, question: str, before: str, replaced: str) -> str:
        """Return the words of an ellipsis that go in the place of `replaced` behind `before`, without "and" or "what about"."""
        words = question.strip(" ?.!").split()
        numbers = [place for place, word in enumerate(words) if word[0].isdigit()]
        is_time = words and fold(words[0]) in self._language.talk.before_times
        if replaced[:1].isdigit() and numbers and not is_time:  # "and the film from 2008?"
            return " ".join(words[numbers[0] : numbers[-1] + 1])
        fillers = self._language.words.fillers | {"what", "how", "about"}
        while len(words) > 1 and fold(words[0]) in fillers:
            words.pop(0)
        if len(words) > 1 and fold(words[-1]) in self._language.words.ones:  # "the first one" for "second"
            words.pop()
            while len(words) > 1 and fold(words[0]) in self._language.words.definite:
                words.pop(0)
        behind = fold(before).split()
        for length in range(len(words) - 1, 0, -1):  # "for the waffles" behind "for the"
            if behind[-length:] == [fold(word) for word in words[:length]]:
                words = words[length:]
                break
        is_owned = before.endswith(("'s ", "’s ")) and len(words) > 1  # "Kraftwerk's" and "the second", "her office"
        if is_owned and (
            fold(words[0]) in self._language.words.articles or self._owner(list(map(fold, words)), before)
        ):
            words.pop(0)
        return " ".join(words)


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span of a text with the rest of the words that it begins and ends in: tokens may be a part of a year."""
    while 0 < start < len(text) and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while 0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end
