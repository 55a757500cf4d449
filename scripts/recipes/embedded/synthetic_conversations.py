"""Synthetic conversations over the facts of a Wikidata dump, with the rewrites of their questions."""

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from convinse.records.rewriting import EarlierTurn
from recipes.embedded.rewrites import Rewrite, RewriteExamples, conversations, is_held_out, published
from recipes.sources import records, wikidata_27k

_YEAR = re.compile(r"\b[12]\d{3}\b")
_FEMALE, _HUMAN = "Q6581072", "Q5"
_PLACES = {"Q515", "Q6256", "Q486972", "Q35657", "Q3624078", "Q1549591", "Q5119"}
_GROUPS = {"Q215380", "Q476028", "Q5741069", "Q4438121", "Q43229", "Q4830453", "Q7278", "Q847017", "Q12973014"}
_PREPOSITIONS = {"in", "of", "by", "for", "from", "with", "on", "at", "to", "against"}


_REPEATED = 2  # times that what people wrote is learned from beside the synthetic conversations


class _HalfSentences(msgspec.Struct):
    events: list[str]
    nouns: list[str]
    values: dict[str, list[str]]
    frames: dict[str, list[str]]
    halves: dict[str, list[str]]
    phrases: dict[str, list[str]]


_HALVES = msgspec.yaml.decode(Path(__file__).with_name("halves.yml").read_bytes(), type=_HalfSentences)


class _Template(NamedTuple):
    left: str
    right: str


class _Fact(NamedTuple):
    property_id: str
    is_inverse: bool
    answer: str


class _SyntheticTurn(NamedTuple):
    question: str
    in_full: str
    answer: str | None  # None if later turns have no history of this one


def rewrite_examples(data: Path, snapshot: Path, synthetic: int, seed: int) -> RewriteExamples:
    """What people wrote, and the questions of synthetic conversations; a fifth of ConvMix's groups chooses."""
    convmix = list(conversations(records(data, "convmix", "dev.json.gz"), "convmix"))
    embedded = json.loads((snapshot / "conversations" / "train.json").read_bytes())
    own_turns = list(conversations(embedded, "embedded"))
    people = [*published(data), *(turn for turn in convmix if not is_held_out(turn.group)), *own_turns, *own_turns]
    drawn = list(SyntheticConversations(data, seed).draw(synthetic))
    return RewriteExamples(
        people * _REPEATED + random.Random(seed).sample(drawn, min(len(drawn), synthetic)),
        [turn for turn in convmix if is_held_out(turn.group) and turn.history],
    )


class SyntheticConversations:
    """Conversations about the facts of a Wikidata dump, in the words of question templates."""

    def __init__(self, data: Path, seed: int) -> None:
        self._random = random.Random(seed)
        templates = next(records(data, "kgconv", "templates.json.gz"))["properties"]
        self._templates: dict[tuple[str, bool], list[_Template]] = defaultdict(list)
        for name, declared in templates.items():
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
        for entity in records(wikidata_27k(data)):
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
        item_id, label = entity["id"], entity["labels"]["en"]["value"]
        if entity["type"] == "property":
            self._property_labels[item_id] = label
            return
        self._labels[item_id] = label
        for name, statements in entity["claims"].items():
            for statement in statements:
                value = statement["mainsnak"].get("datavalue", {})
                if value.get("type") != "wikibase-entityid":
                    continue
                target = value["value"]["id"]
                if name == "P31":
                    self._classes[item_id].append(target)
                elif name == "P21":
                    self._gender[item_id] = target
                elif name == "P161":
                    roles = statement.get("qualifiers", {}).get("P453", [])
                    self._cast[item_id] += ((role["datavalue"]["value"]["id"], target) for role in roles)
                if (name, False) in self._templates:
                    self._facts[item_id].append(_Fact(name, False, target))
                if (name, True) in self._templates and name not in ("P31", "P279", "P21"):
                    self._facts[target].append(_Fact(name, True, item_id))

    def draw(self, conversations: int) -> Iterator[Rewrite]:
        """Return the questions of so many new conversations."""
        for number in range(conversations):
            history: list[EarlierTurn] = []
            for turn in self._draw_turns():
                yield Rewrite(turn.question, tuple(history), turn.in_full, "synthetic", f"synthetic {number}")
                if turn.answer is not None:
                    history.append(EarlierTurn(turn.in_full, turn.answer))

    def _draw_turns(self) -> Iterator[_SyntheticTurn]:
        chance = self._random
        drawn = chance.random()
        if drawn < 0.2:
            yield from self._draw_half_sentences(self._labels.get(chance.choice(self._subjects), ""))
        elif drawn < 0.3 and self._films:
            film = chance.choice(self._films)
            wording = chance.choice(_HALVES.phrases["cast"])
            names = [(wording.format(role, self._labels[film]), role, actor) for role, actor in self._roles[film]]
            yield from self._draw_name_changes(chance.sample(names, min(4, len(names))))
        elif drawn < 0.4:
            about = chance.choice(self._subjects)
            facts = {fact.property_id: fact.answer for fact in self._facts[about] if not fact.is_inverse}
            wording = chance.choice(_HALVES.phrases["property"])
            names = []
            for prop, answer in list(facts.items())[:4]:
                label = self._property_labels[prop]
                in_full = wording.format(label, self._labels[about])
                names.append((in_full, f"the {label}", self._labels.get(answer, "")))
            yield from self._draw_name_changes(names)
        else:
            yield from self._draw_walk()

    def _draw_walk(self) -> Iterator[_SyntheticTurn]:
        """Draw a conversation that moves from item to item."""
        chance = self._random
        about = chance.choice(self._subjects)
        last_question, last_answer = "", ""
        previous: tuple[_Fact, _Template, str] | None = None
        for _ in range(chance.randint(3, 6)):
            drawn = chance.random()
            if previous is not None and drawn < 0.08 and (dated := _YEAR.search(last_question)):
                year = str(chance.randint(1930, 2023))  # the same at another time: "and in 1998?"
                question = chance.choice(_HALVES.phrases["year"]).format(year)
                last_question = f"{last_question[: dated.start()]}{year}{last_question[dated.end() :]}"
                yield _SyntheticTurn(question, last_question, last_answer)
                continue
            if previous is not None and drawn < 0.24:  # the same of another item: "what about Y?"
                fact, template, earlier = previous
                other = chance.choice(self._by_class[(self._classes[earlier] or ["?"])[0]] or self._subjects)
                if other == earlier:
                    continue
                name = self._labels[other]
                question = chance.choice(_HALVES.phrases["other"])
                before = template.left.split()[-1:]
                if before and before[0] in _PREPOSITIONS and chance.random() < 0.5:
                    question = chance.choice(("and {} {}?", "And {} {}", "{} {}?")).format(before[0], "{}")
                same = [fact_ for fact_ in self._facts[other] if fact_[:2] == fact[:2]]
                last_question = _fill(template, name)
                last_answer = self._labels.get(same[0].answer, "") if same else ""
                yield _SyntheticTurn(question.format(name), last_question, last_answer)
                about, previous = other, (fact, template, other)
                continue
            if previous is not None and drawn < 0.28:  # more of the same
                question = chance.choice(_HALVES.phrases["more"])
                yield _SyntheticTurn(question, f"{last_question} {question}", None)
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
            in_full = _fill(template, name)
            question = in_full if is_new else self._refer_back(fact, template, about)
            if chance.random() < 0.15:
                time = f" in {chance.randint(1930, 2023)}?"
                in_full, question = in_full.rstrip(" ?.") + time, question.rstrip(" ?.") + time
            yield _SyntheticTurn(self._type_loosely(question), in_full, answer)
            last_question, last_answer = in_full, answer
            previous = fact, template, about

    def _draw_half_sentences(self, name: str) -> Iterator[_SyntheticTurn]:
        is_lower = self._random.random() < 0.3
        for turn in half_sentences(self._random, name, self._random.randint(2, 4)):
            half, in_full = map(str.lower, turn) if is_lower else turn
            answer = self._labels.get(self._random.choice(self._subjects), "")
            yield _SyntheticTurn(half, in_full, answer)

    def _draw_name_changes(self, questions: Sequence[tuple[str, str, str]]) -> Iterator[_SyntheticTurn]:
        chance = self._random
        is_lower = chance.random() < 0.3
        for turn, (in_full, name, answer) in enumerate(questions):
            half = chance.choice(_HALVES.phrases["name"]).format(name)
            in_full, half = (in_full.lower(), half.lower()) if is_lower else (in_full, half)
            yield _SyntheticTurn(half if turn else in_full, in_full, answer)

    def _refer_back(self, fact: _Fact, template: _Template, about: str) -> str:
        chance = self._random
        label = self._property_labels.get(fact.property_id, "")
        if chance.random() < 0.25 and label and not fact.is_inverse:
            return chance.choice(_HALVES.phrases["label"]).format(label)
        owner = template.right.startswith(("'s", "’s"))
        classes = self._classes[about]
        nouns = [self._labels[name] for name in classes[:1] if name in self._labels]
        if chance.random() < 0.3 and nouns and _HUMAN not in classes:
            noun = f"{chance.choice(('the', 'this', 'that'))} {nouns[0]}"
            return _fill(template, noun)
        if _HUMAN in classes:
            female = self._gender.get(about) == _FEMALE
            subject, thing, possessive = ("she", "her", "her") if female else ("he", "him", "his")
        elif not _GROUPS.isdisjoint(classes) and chance.random() < 0.7:
            subject, thing, possessive = "they", "them", "their"
        elif not _PLACES.isdisjoint(classes) and template.left.endswith(" in"):
            return f"{template.left.removesuffix(' in')} there{template.right}"
        else:
            subject, thing, possessive = "it", "it", "its"
        if subject == "it" and not owner and chance.random() < 0.2:
            return _fill(template, chance.choice(("that one", "that", "this one")))
        if owner:
            return f"{template.left} {possessive}{template.right[2:]}"
        is_object = template.right.strip(" ?.") == "" or template.left.split()[-1:] in (["of"], ["by"], ["for"], ["in"])
        return _fill(template, thing if is_object else subject)

    def _type_loosely(self, question: str) -> str:
        chance = self._random
        if chance.random() < 0.3:
            question = question.rstrip("?. ")
        if chance.random() < 0.2:
            question = question.lower()
        if chance.random() < 0.15:
            question = f"{chance.choice(('and', 'ok,', 'so', 'Well,', 'And'))} {question}"
        return question


def _fill(template: _Template, name: str) -> str:
    right = template.right if template.right.startswith(("'", "’", "?", ".", ",")) else f" {template.right}"
    return f"{template.left} {name}{right}".strip()


def half_sentences(chance: random.Random, name: str, turns: int) -> Iterator[tuple[str, str]]:
    """Draw questions that change a year, a rank or a question word of the one before ("and in 1998?"), each with it in full."""
    name = name.replace("{", "(").replace("}", ")")  # braces have a meaning in a frame
    kind = chance.choice(("year", "year", "year", "span", "order", "count", "asked"))
    frame = chance.choice(_HALVES.frames[kind]).replace("{event}", chance.choice(_HALVES.events))
    frame = frame.replace("{noun}", chance.choice(_HALVES.nouns)).replace("{name}", name)
    if chance.random() < 0.4:
        frame = frame[:1].upper() + frame[1:]
    frame += chance.choice(("?", "", f" ({name})?"))
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
