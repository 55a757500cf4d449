"""The names that a question may have, judged by its writing alone, before its items are fetched."""

from __future__ import annotations

import re

from ..language.language import Language
from ..language.text import fold
from .question_words import Word, segments

_LONGEST = 7  # words of a name
_MOST = 50  # spans, as many titles as an interface takes at once
_SENTENCE = re.compile(r"(?<=[a-z]{4}[.?!]) ")  # "Mr. Robot" goes on
_SPOKEN = re.compile(r"[^\W\d_]+(?:['’](?!s\b)\w+)*")
_FINAL = re.compile(r"['’]s$|['’]$")


def written_names(question: str, language: Language) -> list[str]:
    """Return the names that capitals show, the longest first; "and" separates the names of two people."""
    not_names = language.words.not_names | language.words.fillers
    names: dict[str, None] = {}
    for sentence in _SENTENCE.split(question):
        for match in language.names.written.finditer(sentence):
            words = match[0].split()
            is_first = not sentence[: match.start()].strip()
            if is_first and fold(words[0]) in not_names and (len(words) == 1 or fold(words[0]) != "the"):
                words = words[1:]  # "Which", "Did", "Name the"
            while words and words[0].islower():
                words = words[1:]
            name = _without_end(" ".join(words))
            parts = [_without_end(part) for part in language.names.listed(name)]
            are_people = len(parts) > 1 and all(len(part.split()) > 1 and part[0].isupper() for part in parts)
            for part in parts if are_people else [name]:
                is_word = fold(part) in not_names and not (len(part) > 1 and part.isupper())  # but "US"
                is_small = (is_first or part.isupper()) and language.words.is_written_small(fold(part))  # "Since", "TV"
                if part and not (part.isdigit() or is_word or is_small):
                    names[part] = None
    return sorted(names, key=lambda name: -len(name))


def small_names(question: str, language: Language) -> list[tuple[int, int]]:
    """Return the places of words, or runs of them, that no text writes in lower case, nor with a slip: "who played jack dawson"."""
    places: list[tuple[int, int]] = []
    for match in _SPOKEN.finditer(question):
        word = fold(match[0])
        types = language.answer_types
        is_noun = word in types.person_nouns | types.place_nouns | types.number_nouns or types.names_class(word)
        is_common = (
            word in language.words.not_names or language.words.is_written_small(word) or language.words.is_slip(word)
        )
        if not word or is_noun or is_common or language.operations.comparison(word):  # "taller"
            continue
        if places and not question[places[-1][1] : match.start()].strip():
            places[-1] = (places[-1][0], match.end())
        else:
            places.append(match.span())
    return places


def is_doubtful(question: str, language: Language) -> bool:
    """Return True if a name may continue after its capitals, as in "Flowers for Algernon", or the question has no capitals."""
    not_names, bridges = language.words.not_names, _bridges(language)
    for words in segments(question):
        for word, small, after in zip(words, words[1:], words[2:], strict=False):
            is_name = word.capital and word.form not in not_names
            if is_name and small.joined and after.joined and not small.capital and small.form in bridges:
                return True
    return not written_names(question, language)


def spans(question: str, language: Language) -> list[str]:
    """Return the pieces of a question that may be the title of an article, the longest first."""
    not_names = language.words.not_names
    pieces: list[str] = []
    for words in segments(question):
        is_cased = any(word.capital and not word.first and word.form not in not_names for word in words)
        for start in range(len(words)):
            for end in range(min(len(words), start + _LONGEST), start, -1):
                piece = words[start:end]
                if _may_be_title(piece, is_cased, language) and all(word.joined for word in piece[1:]):
                    text = _without_end(question[piece[0].start : piece[-1].end])
                    if not is_cased:
                        capitals = (
                            word if fold(word) in not_names else word[:1].upper() + word[1:] for word in text.split()
                        )
                        text = " ".join(capitals)
                    pieces.append(text)
    return sorted(dict.fromkeys(pieces), key=lambda text: -len(text))[:_MOST]


def longest(question: str, names: list[str]) -> list[str]:
    """Return the names that no longer name overlaps in the question."""
    taken: dict[str, range] = {}
    for name in sorted(names, key=lambda name: -len(name)):
        start = question.lower().find(name.lower())
        stop = start + len(name)
        if start >= 0 and not any(start < place.stop and place.start < stop for place in taken.values()):
            taken[name] = range(start, stop)
    return list(taken)


def _bridges(language: Language) -> frozenset[str]:
    # small words inside of names
    names = language.names
    return names.joining | names.particles | names.in_titles


def _may_be_title(piece: list[Word], is_cased: bool, language: Language) -> bool:
    not_names, first, last = language.words.not_names, piece[0], piece[-1]
    may_begin = first.form not in not_names or (len(piece) > 1 and first.form in ("the", "a"))
    if last.form in not_names or not may_begin:
        return False
    inner = {word.form for word in piece[1:] if word.form in not_names and not word.capital}
    if not inner <= _bridges(language):
        return False
    if is_cased:
        small = sum(not word.capital and word.form not in not_names for word in piece)
        return small <= 1 and first.capital and not (first.first and first.form in not_names and first.form != "the")
    return len(piece) > 1 or not language.words.is_written_small(first.form)


def _without_end(name: str) -> str:
    """A name without the possessive ending, and without the full stop unless it is an abbreviation."""
    name = _FINAL.sub("", name.strip("'’"))
    return name if name.count(".") > 1 else name.rstrip(".")
