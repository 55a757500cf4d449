"""Questions of conversations with a rewrite that stands alone: published ones, and synthetic ones over a knowledge base.

Every example has a history of earlier questions, as they stand alone, with their answers. A head learns from a rewrite
which words of the question it leaves out and which spans of the history it puts where (`edits`).
"""

import random
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from convinse.language.language import english
from convinse.records.rewriting import EarlierTurn, history_text
from recipes.sources import needed, read_dump_lines, read_json, records, wikidata_27k

_WORD = re.compile(r"\w+(?:['’.-]\w+)*|[^\w\s]")
_YEAR = re.compile(r"\b[12]\d{3}\b")
_OWNER = re.compile(r"(?<=\w)['’]s$")
_FEMALE, _HUMAN = "Q6581072", "Q5"
_PLACES = {"Q515", "Q6256", "Q486972", "Q35657", "Q3624078", "Q1549591", "Q5119"}
_GROUPS = {"Q215380", "Q476028", "Q5741069", "Q4438121", "Q43229", "Q4830453", "Q7278", "Q847017", "Q12973014"}
_ASKING = {"what", "how", "about"}  # "what about ...?"
_QUESTION_WORDS = {"who", "whose", "whom", "what", "which", "when", "where", "why", "how"}
_PREPOSITIONS = {"in", "of", "by", "for", "from", "with", "on", "at", "to", "against"}
_LONGEST_REPLACED = 8  # words
_HELD_OUT = 5  # one group of so many of ConvMix's conversations chooses the epoch
_LATER_ANSWERS = 8  # words of an answer that are kept in a history
_REWRITES = ("cast-2019", "cast-2020", "cast-2021", "cast-2022", "ikat-2023", "ikat-2024", "ikat-2025", "mt-rag")


class Rewrite(NamedTuple):
    """A question of a conversation with its rewrite.

    Attributes:
        question: as typed.
        history: the turns before, the first one first.
        rewrite: the question as it stands alone.
        group: conversations of the same group never stand on both sides of a split.
    """

    question: str
    history: tuple[EarlierTurn, ...]
    rewrite: str
    source: str
    group: str


class Edits(NamedTuple):
    """What a rewrite does to a question.

    Attributes:
        inserted: (place, start, end): `history[start:end]` goes before `question[place]`, or in the place of a pronoun there.
        replaced: (start, end) of what the question takes the place of in the question before ("and in 1998?"); nothing else
            goes in or out then.
    """

    inserted: tuple[tuple[int, int, int], ...] = ()
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
    """The spans of the history that a rewrite puts into a question.

    A span goes in the place of a pronoun, before the first word where it begins an earlier question, or else behind the last
    word: where it belongs in a question that people wrote in other words cannot be told.
    """
    told = history_text(history)
    if history and (replaced := _replaced(question, history[-1].question, rewrite)) is not None:
        return Edits(replaced=replaced)
    old, new = _spans(question), _spans(rewrite)
    finder = _RunFinder(told)
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
    own = [span.text for span in put if span.is_word]
    around = ((left, right) for left in range(len(half)) for right in range(len(half) - left))
    for left, right in around:
        if half[left : len(half) - right] == own:
            light = set(half[:left] + half[len(half) - right :]) <= words.stop_words
            if light or (before[-left:] == half[:left] and behind[:right] == half[len(half) - right :]):
                return gone[0].start, gone[-1].end
    return None


class _RunFinder:
    """Finds what a rewrite took from a history, in one piece."""

    def __init__(self, told: str) -> None:
        words = english().words
        self.light = words.common | words.all_pronouns
        self._told, self._spans = told, _spans(told)
        self._starts = {0} | {place + 3 for place in range(len(told)) if told.startswith(" | ", place)}
        self._is_cased = any(map(str.isupper, told))

    def find(self, wanted: Sequence[str], first: int, last: int) -> list[_Span]:
        """The longest run of the history with most of the words `wanted[first:last]`, and as many beside them as agree."""
        best, most = (0, 0), 0
        for start, span in enumerate(self._spans):
            for place in range(first, last):
                if wanted[place] != span.text:
                    continue
                length = 1
                while self._agrees(wanted, place + length, start + length, last):
                    length += 1
                content = sum(own.is_word and own.text not in self.light for own in self._spans[start : start + length])
                if content > most:
                    left, right = 0, 0
                    while self._agrees(wanted, place - left - 1, start - left - 1, len(wanted)):
                        left += 1
                    while self._agrees(wanted, place + length + right, start + length + right, len(wanted)):
                        right += 1
                    most, best = content, (start - left, start + length + right)
        run = self._spans[slice(*best)]
        while run and not run[-1].is_word:
            run = run[:-1]
        while run and not run[0].is_word:
            run = run[1:]
        return run

    def _agrees(self, wanted: Sequence[str], place: int, start: int, last: int) -> bool:
        return (
            0 <= place < last
            and 0 <= start < len(self._spans)
            and wanted[place] == self._spans[start].text
            and wanted[place] not in ("=", "|", "?")
        )

    def trimmed(self, run: list[_Span]) -> list[_Span]:
        """A run from its first to its last word with a capital or a digit: a name; empty if it has none."""
        if not self._is_cased:
            kept = [place for place, span in enumerate(run) if span.text not in self.light]
        else:
            kept = [place for place, span in enumerate(run) if self._is_name(span)]
        return run[kept[0] : kept[-1] + 1] if kept else []

    def _is_name(self, span: _Span) -> bool:
        opens_question = span.start in self._starts and span.text in self.light
        return (self._told[span.start].isupper() or span.text[0].isdigit()) and not opens_question


def _short(answer: str | None) -> str:
    return " ".join((answer or "").split()[:_LATER_ANSWERS])


def published(data: Path) -> Iterator[Rewrite]:
    """CANARD's development part and the conversations of TREC CAsT, TREC iKAT and MTRAG."""
    for turn in records(data, "hybrid", "canard-dev.jsonl.gz"):
        told = turn["history"]
        pairs = [EarlierTurn(q, _short(a)) for q, a in zip(told[::2], told[1::2], strict=True)]
        history = (EarlierTurn(turn["article"], ""), *pairs)
        yield Rewrite(turn["question"], history, turn["rewrite"], "canard", turn["dialog_id"].rsplit("_", 1)[0])
    for name in _REWRITES:
        for turn in records(data, "rewrites", f"{name}.jsonl.gz"):
            history = tuple(EarlierTurn(part["question"], _short(part["answer"])) for part in turn["history"])
            group = re.split(r"[_<]", turn["id"])[0]
            yield Rewrite(turn["question"], history, turn["rewrite"], name, f"{name} {group}")


def conversations(told: Iterable[Mapping[str, Any]], source: str) -> Iterator[Rewrite]:
    for conversation in told:
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


# -- synthetic conversations -------------------------------------------------------------------------------------------


class _HalfSentences(msgspec.Struct):
    events: list[str]
    nouns: list[str]
    values: dict[str, list[str]]
    frames: dict[str, list[str]]
    halves: dict[str, list[str]]


_HALVES = msgspec.yaml.decode(Path(__file__).with_name("halves.yml").read_bytes(), type=_HalfSentences)


class _Template(NamedTuple):
    left: str
    right: str


class _Fact(NamedTuple):
    property_id: str
    is_inverse: bool
    answer: str


class SyntheticConversations:
    """Conversations about the facts of a Wikidata dump, in the words of question templates.

    A turn asks about what the turn before was about, about its answer, about another item with the same words, or about
    something new; a name that was said before becomes a pronoun, a noun of its class, or nothing.
    """

    def __init__(self, data: Path, seed: int) -> None:
        self._random = random.Random(seed)
        known = read_json(needed(data, "kgconv", "templates.json.gz"))["properties"]
        self._templates: dict[tuple[str, bool], list[_Template]] = defaultdict(list)
        for name, declared in known.items():
            for group in declared["groups"]:
                for template in group["templates"]:
                    left, right = " ".join(template["left"].split()), " ".join(template["right"].split())
                    self._templates[name, group["inverse"]].append(_Template(left, right))
        self._labels: dict[str, str] = {}
        self._facts: dict[str, list[_Fact]] = defaultdict(list)
        self._classes: dict[str, list[str]] = defaultdict(list)
        self._gender: dict[str, str] = {}
        self._property_labels: dict[str, str] = {}
        self._cast: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for entity in read_dump_lines(wikidata_27k(data)):
            self._add(entity)
        self._roles: dict[str, list[tuple[str, str]]] = {}
        for film, cast in self._cast.items():
            known_cast = [pair for pair in cast if self._labels.keys() >= set(pair)]
            self._roles[film] = [(self._labels[role], self._labels[actor]) for role, actor in known_cast]
        self._films = sorted(film for film, roles in self._roles.items() if len(roles) > 1)
        self._subjects = sorted(item for item, facts in self._facts.items() if len(facts) > 2)
        self._by_class: dict[str, list[str]] = defaultdict(list)
        for item in self._subjects:
            for name in self._classes[item][:1]:
                self._by_class[name].append(item)

    def _add(self, entity: Mapping[str, Any]) -> None:
        own, label = entity["id"], entity["labels"]["en"]["value"]
        if entity["type"] == "property":
            self._property_labels[own] = label
            return
        self._labels[own] = label
        for name, statements in entity["claims"].items():
            for statement in statements:
                value = statement["mainsnak"].get("datavalue", {})
                if value.get("type") != "wikibase-entityid":
                    continue
                target = value["value"]["id"]
                if name == "P31":
                    self._classes[own].append(target)
                elif name == "P21":
                    self._gender[own] = target
                elif name == "P161":
                    roles = statement.get("qualifiers", {}).get("P453", [])
                    self._cast[own] += ((role["datavalue"]["value"]["id"], target) for role in roles)
                if (name, False) in self._templates:
                    self._facts[own].append(_Fact(name, False, target))
                if (name, True) in self._templates and name not in ("P31", "P279", "P21"):
                    self._facts[target].append(_Fact(name, True, own))

    def draw(self, conversations: int) -> Iterator[Rewrite]:
        for number in range(conversations):
            yield from self._conversation(f"synthetic {number}")

    def _conversation(self, group: str) -> Iterator[Rewrite]:
        chance = self._random
        drawn = chance.random()
        if drawn < 0.2:
            yield from self._of_halves(self._labels.get(chance.choice(self._subjects), ""), group)
        elif drawn < 0.3 and self._films:
            film = chance.choice(self._films)
            wording = chance.choice(("who played {} in {}?", "Who was {} in {}?", "which actor plays {} in {}?"))
            names = [(wording.format(role, self._labels[film]), role, actor) for role, actor in self._roles[film]]
            yield from self._changing(chance.sample(names, min(4, len(names))), group)
        elif drawn < 0.4:
            about = chance.choice(self._subjects)
            facts = {fact.property_id: fact.answer for fact in self._facts[about] if not fact.is_inverse}
            wording = chance.choice(
                ("what is the {} of {}?", "Who is the {} of {}?", "the {} of {}?", "and the {} of {}")
            )
            names = []
            for prop, answer in list(facts.items())[:4]:
                label = self._property_labels[prop]
                in_full = wording.format(label, self._labels[about])
                names.append((in_full, f"the {label}", self._labels.get(answer, "")))
            yield from self._changing(names, group)
        else:
            yield from self._moving(group)

    def _moving(self, group: str) -> Iterator[Rewrite]:
        """A conversation that moves from item to item."""
        chance = self._random
        about = chance.choice(self._subjects)
        history: list[EarlierTurn] = []
        previous: tuple[_Fact, _Template, str] | None = None
        for _ in range(chance.randint(3, 6)):
            drawn = chance.random()
            if previous is not None and drawn < 0.08 and (dated := _YEAR.search(history[-1].question)):
                year = str(chance.randint(1930, 2023))  # the same at another time: "and in 1998?"
                question = chance.choice(("and in {}?", "what about {}?", "in {}?", "And {}?")).format(year)
                in_full = f"{history[-1].question[: dated.start()]}{year}{history[-1].question[dated.end() :]}"
                yield Rewrite(question, tuple(history), in_full, "synthetic", group)
                history.append(EarlierTurn(in_full, history[-1].answer))
                continue
            if previous is not None and drawn < 0.24:  # the same of another item: "what about Y?"
                fact, template, earlier = previous
                other = chance.choice(self._by_class[(self._classes[earlier] or ["?"])[0]] or self._subjects)
                if other == earlier:
                    continue
                name = self._labels[other]
                question = chance.choice(("and {}?", "what about {}?", "And {}?", "{}?", "how about {}", "and for {}?"))
                before = template.left.split()[-1:]
                if before and before[0] in _PREPOSITIONS and chance.random() < 0.5:
                    question = chance.choice(("and {} {}?", "And {} {}", "{} {}?")).format(before[0], "{}")
                in_full = _worded(template, name)
                yield Rewrite(question.format(name), tuple(history), in_full, "synthetic", group)
                same = [own for own in self._facts[other] if own[:2] == fact[:2]]
                answer = self._labels.get(same[0].answer, "") if same else ""
                history.append(EarlierTurn(in_full, answer))
                about, previous = other, (fact, template, other)
                continue
            if previous is not None and drawn < 0.28:  # more of the same
                question = chance.choice(
                    ("who else?", "anyone else?", "and the others?", "what else?", "any others?", "and who else?")
                )
                yield Rewrite(question, tuple(history), f"{history[-1].question} {question}", "synthetic", group)
                continue
            is_new = previous is None or drawn < 0.42
            if is_new and previous is not None:
                about = chance.choice(self._subjects)
            elif previous is not None and drawn < 0.66 and len(self._facts.get(previous[0].answer, ())) > 2:
                about = previous[0].answer
            fact = chance.choice(self._facts[about])
            template = chance.choice(self._templates[fact.property_id, fact.is_inverse])
            name, answer = self._labels.get(about, ""), self._labels.get(fact.answer, "")
            if not name or not answer or fact.answer not in self._labels:
                continue
            in_full = _worded(template, name)
            question = in_full if is_new else self._leaning(fact, template, about)
            if chance.random() < 0.15:
                time = f" in {chance.randint(1930, 2023)}?"
                in_full, question = in_full.rstrip(" ?.") + time, question.rstrip(" ?.") + time
            yield Rewrite(self._typed(question), tuple(history), in_full, "synthetic", group)
            history.append(EarlierTurn(in_full, answer))
            previous = fact, template, about

    def _of_halves(self, name: str, group: str) -> Iterator[Rewrite]:
        history: list[EarlierTurn] = []
        is_lower = self._random.random() < 0.3
        for turn in half_sentences(self._random, name, self._random.randint(2, 4)):
            half, in_full = map(str.lower, turn) if is_lower else turn
            answer = self._labels.get(self._random.choice(self._subjects), "")
            yield Rewrite(half, tuple(history), in_full, "synthetic", group)
            history.append(EarlierTurn(in_full, answer))

    def _changing(self, asked: Sequence[tuple[str, str, str]], group: str) -> Iterator[Rewrite]:
        chance = self._random
        history: list[EarlierTurn] = []
        is_lower = chance.random() < 0.3
        for in_full, name, answer in asked:
            half = chance.choice(("and {}?", "and {}", "What about {}?", "{}?", "And {}?")).format(name)
            in_full, half = (in_full.lower(), half.lower()) if is_lower else (in_full, half)
            yield Rewrite(half if history else in_full, tuple(history), in_full, "synthetic", group)
            history.append(EarlierTurn(in_full, answer))

    def _leaning(self, fact: _Fact, template: _Template, about: str) -> str:
        chance = self._random
        label = self._property_labels.get(fact.property_id, "")
        if chance.random() < 0.25 and label and not fact.is_inverse:
            return chance.choice(("and the {}?", "{}?", "and {}", "what about the {}?", "the {}?")).format(label)
        owner = template.right.startswith(("'s", "’s"))
        classes = self._classes[about]
        nouns = [self._labels[name] for name in classes[:1] if name in self._labels]
        if chance.random() < 0.3 and nouns and _HUMAN not in classes:
            noun = f"{chance.choice(('the', 'this', 'that'))} {nouns[0]}"
            return _worded(template, noun)
        if _HUMAN in classes:
            female = self._gender.get(about) == _FEMALE
            subject, thing, own = ("she", "her", "her") if female else ("he", "him", "his")
        elif not _GROUPS.isdisjoint(classes) and chance.random() < 0.7:
            subject, thing, own = "they", "them", "their"
        elif not _PLACES.isdisjoint(classes) and template.left.endswith(" in"):
            return f"{template.left.removesuffix(' in')} there{template.right}"
        else:
            subject, thing, own = "it", "it", "its"
        if subject == "it" and not owner and chance.random() < 0.2:
            return _worded(template, chance.choice(("that one", "that", "this one")))
        if owner:
            return f"{template.left} {own}{template.right[2:]}"
        is_object = template.right.strip(" ?.") == "" or template.left.split()[-1:] in (["of"], ["by"], ["for"], ["in"])
        return _worded(template, thing if is_object else subject)

    def _typed(self, question: str) -> str:
        chance = self._random
        if chance.random() < 0.3:
            question = question.rstrip("?. ")
        if chance.random() < 0.2:
            question = question.lower()
        if chance.random() < 0.15:
            question = f"{chance.choice(('and', 'ok,', 'so', 'Well,', 'And'))} {question}"
        return question


def _worded(template: _Template, name: str) -> str:
    right = template.right if template.right.startswith(("'", "’", "?", ".", ",")) else f" {template.right}"
    return f"{template.left} {name}{right}".strip()


def half_sentences(chance: random.Random, name: str, turns: int) -> Iterator[tuple[str, str]]:
    """Questions that change a year, a place in an order or a question word of the one before ("and in 1998?"), and in full."""
    kind = chance.choice(("year", "year", "year", "span", "order", "count", "asked"))
    frame = chance.choice(_HALVES.frames[kind]).replace("{event}", chance.choice(_HALVES.events))
    frame = frame.replace("{noun}", chance.choice(_HALVES.nouns))
    frame = frame.replace("{name}", name.replace("{", "(").replace("}", ")"))
    if chance.random() < 0.4:
        frame = frame[:1].upper() + frame[1:]
    frame += chance.choice(("?", "", f" ({name})?".replace("{", "(")))
    for turn, value in enumerate(_values(chance, kind, turns)):
        in_full = frame.format(value)
        half = chance.choice(_HALVES.halves[kind]).format(value)
        yield (half if turn else in_full), in_full


def _values(chance: random.Random, kind: str, turns: int) -> list[str]:
    if kind == "year":
        return [str(year) for year in chance.sample(range(1930, 2024), turns)]
    if kind == "span":
        link = chance.choice(("to", "until", "and"))
        starts = chance.sample(range(1940, 2018), turns)
        return [f"{start} {link} {start + chance.randint(1, 9)}" for start in starts]
    return chance.sample(_HALVES.values[kind], min(turns, 4))
