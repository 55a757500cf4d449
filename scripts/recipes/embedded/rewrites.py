"""Questions of conversations with a rewrite that stands alone.

Every example has a history of earlier questions, as they stand alone, with their answers. A head learns from a rewrite
which words of the question it leaves out and which spans of the history it puts where (`edits`).
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

from convinse.language.language import english
from convinse.records.rewriting import EarlierTurn, history_text
from recipes.sources import records

_WORD = re.compile(r"\w+(?:['’.-]\w+)*|[^\w\s]")
_OWNER = re.compile(r"(?<=\w)['’]s$")
_ASKING = {"what", "how", "about"}  # "what about ...?"
_QUESTION_WORDS = {"who", "whose", "whom", "what", "which", "when", "where", "why", "how"}
_LONGEST_REPLACED = 8  # words
_HELD_OUT = 5  # one group of so many of ConvMix's conversations chooses the epoch
_LATER_ANSWERS = 8  # words of an answer that are kept in a history
_REWRITES = ("cast-2019", "cast-2020", "cast-2021", "cast-2022", "ikat-2023", "ikat-2024", "ikat-2025", "mt-rag")


class Rewrite(NamedTuple):
    """A question of a conversation with its rewrite."""

    question: str  # as typed
    history: tuple[EarlierTurn, ...]  # the turns before, the first one first
    rewrite: str  # the question as it stands alone
    source: str
    group: str  # conversations of the same group never stand on both sides of a split


class RewriteExamples(NamedTuple):
    train: list[Rewrite]
    choosing: list[Rewrite]


class Edits(NamedTuple):
    """What a rewrite does to a question."""

    # (place, start, end): `history[start:end]` goes before `question[place]`
    inserted: tuple[tuple[int, int, int], ...] = ()
    # span of the question before that the question takes the place of ("and in 1998?")
    replaced: tuple[int, int] | None = None


class _Span(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        return self.text[0].isalnum()


def _spans(text: str) -> list[_Span]:
    spans = []
    for match in _WORD.finditer(text):
        name = _OWNER.sub("", match[0])
        spans.append(_Span(name.casefold(), match.start(), match.start() + len(name)))
        if name != match[0]:
            spans.append(_Span("'s", match.start() + len(name), match.end()))
    return spans


def edits(question: str, history: Sequence[EarlierTurn], rewrite: str) -> Edits:
    """The spans of the history that a rewrite puts into a question."""
    text = history_text(history)
    if history and (replaced := _replaced(question, history[-1].question, rewrite)) is not None:
        return Edits(replaced=replaced)
    old, new = _spans(question), _spans(rewrite)
    finder = _RunFinder(text)
    words = english().words
    inserted: dict[int, tuple[int, int]] = {}
    end = len(question.rstrip(" ?.!"))
    matcher = SequenceMatcher(None, [span.text for span in old], [span.text for span in new], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag in ("equal", "delete"):
            continue
        pronouns = [span for span in old[i1:i2] if span.text in words.all_pronouns]
        run = finder.find([span.text for span in new], j1, j2)
        if not run:
            continue
        if pronouns:
            run = finder.trimmed(run) or run
            inserted.setdefault(pronouns[0].start, (run[0].start, run[-1].end))
        elif run := finder.trimmed(run):
            inserted.setdefault(end, (run[0].start, run[-1].end))
    return Edits(tuple(sorted((gap, *span) for gap, span in inserted.items())))


def _replaced(question: str, before: str, rewrite: str) -> tuple[int, int] | None:
    """The span of the question before that a question takes the place of; None unless the rest of it is the rewrite's."""
    old, new = ([span for span in _spans(text) if span.is_word or span.text == "'s"] for text in (before, rewrite))
    first = 0
    while first < min(len(old), len(new)) and old[first].text == new[first].text:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last].text == new[-1 - last].text:
        last += 1
    gone, put = old[first : len(old) - last], new[first : len(new) - last]
    half = [span.text for span in _spans(question) if span.is_word]
    words = english().words
    if not gone or not put or len(gone) > _LONGEST_REPLACED or first + last < 2 or not words.personal.isdisjoint(half):
        return None
    while half and half[0] in words.fillers | _ASKING and half[0] != put[0].text:
        half.pop(0)
    if len(half) > 2 and not _QUESTION_WORDS.isdisjoint(half):
        return None  # "who is the producer?" only leaves out a name
    # "and in 1998?" says the word before its place again, and "the second one" that behind it
    before, behind = ([span.text for span in part] for part in (new[:first], new[len(new) - last :]))
    inserted = [span.text for span in put if span.is_word]
    around = ((left, right) for left in range(len(half)) for right in range(len(half) - left))
    for left, right in around:
        if half[left : len(half) - right] == inserted:
            light = set(half[:left] + half[len(half) - right :]) <= words.stop_words
            if light or (before[-left:] == half[:left] and behind[:right] == half[len(half) - right :]):
                return gone[0].start, gone[-1].end
    return None


class _RunFinder:
    """Finds what a rewrite took from a history, in one piece."""

    def __init__(self, text: str) -> None:
        words = english().words
        self.light = words.common | words.all_pronouns
        self._told, self._spans = text, _spans(text)
        self._starts = {0} | {place + 3 for place in range(len(text)) if text.startswith(" | ", place)}
        self._is_cased = any(map(str.isupper, text))

    def find(self, words: Sequence[str], first: int, last: int) -> list[_Span]:
        """The longest run of the history with most of the words `wanted[first:last]`, and as many beside them as agree."""
        best, most = (0, 0), 0
        for start, span in enumerate(self._spans):
            for place in range(first, last):
                if words[place] != span.text:
                    continue
                length = 1
                while self._agrees(words, place + length, start + length, last):
                    length += 1
                taken = self._spans[start : start + length]
                content = sum(span.is_word and span.text not in self.light for span in taken)
                if content > most:
                    left, right = 0, 0
                    while self._agrees(words, place - left - 1, start - left - 1, len(words)):
                        left += 1
                    while self._agrees(words, place + length + right, start + length + right, len(words)):
                        right += 1
                    most, best = content, (start - left, start + length + right)
        run = self._spans[slice(*best)]
        while run and not run[-1].is_word:
            run = run[:-1]
        while run and not run[0].is_word:
            run = run[1:]
        return run

    def _agrees(self, words: Sequence[str], place: int, start: int, last: int) -> bool:
        return (
            0 <= place < last
            and 0 <= start < len(self._spans)
            and words[place] == self._spans[start].text
            and words[place] not in ("=", "|", "?")
        )

    def trimmed(self, run: list[_Span]) -> list[_Span]:
        """A run from its first to its last word with a capital or a digit: a name; empty if it has none."""
        if not self._is_cased:
            places = [place for place, span in enumerate(run) if span.text not in self.light]
        else:
            places = [place for place, span in enumerate(run) if self._is_name(span)]
        return run[places[0] : places[-1] + 1] if places else []

    def _is_name(self, span: _Span) -> bool:
        opens_question = span.start in self._starts and span.text in self.light
        return (self._told[span.start].isupper() or span.text[0].isdigit()) and not opens_question


def _short(answer: str | None) -> str:
    return " ".join((answer or "").split()[:_LATER_ANSWERS])


def published(data: Path) -> Iterator[Rewrite]:
    """CANARD's development part and the conversations of TREC CAsT, TREC iKAT and MTRAG."""
    for turn in records(data, "hybrid", "canard-dev.jsonl.gz"):
        earlier = turn["history"]
        pairs = [EarlierTurn(q, _short(a)) for q, a in zip(earlier[::2], earlier[1::2], strict=True)]
        history = (EarlierTurn(turn["article"], ""), *pairs)
        yield Rewrite(turn["question"], history, turn["rewrite"], "canard", turn["dialog_id"].rsplit("_", 1)[0])
    for name in _REWRITES:
        for turn in records(data, "rewrites", f"{name}.jsonl.gz"):
            history = tuple(EarlierTurn(part["question"], _short(part["answer"])) for part in turn["history"])
            group = re.split(r"[_<]", turn["id"])[0]
            yield Rewrite(turn["question"], history, turn["rewrite"], name, f"{name} {group}")


def conversations(rows: Iterable[Mapping[str, Any]], source: str) -> Iterator[Rewrite]:
    for conversation in rows:
        history: list[EarlierTurn] = []
        for turn in conversation["questions"]:
            in_full = turn.get("completed") or turn["question"]
            group = f"{source} {conversation.get('group', conversation['conv_id'])}"
            yield Rewrite(turn["question"], tuple(history), in_full, source, group)
            answers = ", ".join(answer["label"] for answer in turn["answers"][:3])
            history.append(EarlierTurn(in_full, _short(answers)))


def is_held_out(group: str) -> bool:
    """Return True if a group of conversations is not learned from."""
    return zlib.crc32(group.encode()) % _HELD_OUT == 0
