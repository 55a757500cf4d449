"""Questions with the classes of their answers: what a head that tells the type of an answer can learn from."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from convinse.config import parse_config, project_root
from convinse.encoder.answer_classes import DATE, NUMBER, OTHER, TEXT, YES_NO, typed_text
from convinse.formats.conversations.answers import contract_answer, item_id
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.knowledge_base.index import KnowledgeBase
from convinse.language.language import english
from convinse.language.text import fold
from convinse.question_understanding.base import turns_in_step, understand
from convinse.question_understanding.slots import Slots
from convinse.records.conversation import Conversation
from convinse.records.evidence import Entity
from convinse.records.literals import is_date, is_item, is_number
from convinse.resources import Resources
from recipes.built_sources import Fact, bench_items, facts_by_subject, knowledge_base
from recipes.embedded.examples import Part, part_of_key
from recipes.embedded.reading import answer_places
from recipes.embedded.requests import as_statement_asked
from recipes.embedded.statements import of_set
from recipes.sources import needed, records

_SNAPSHOT = project_root() / "convinse" / "snapshot"
_INSTANCE_OF = 31
_SHARE = 0.5  # of a class's items that are also of the class that it joins
# classes that stand alone, and those that count as one of them
_JOINED = msgspec.yaml.decode(Path(__file__).with_suffix(".yml").read_bytes(), type=dict[str, list[str]])
_LEAST_FACTS = 20  # of a property whose values tell what an unknown item is
_COMMON = 0.0005  # share of the questions that a word of a template is in
_ASKED_VALUE = re.compile(r"wdt:(P[0-9]+) \?answer\b")
_DOMAINS = ("books", "movies", "music", "soccer", "tv_series")
# files of reading/ and the share of their questions: most of SQuAD's ask for what the others do
_READING = {"squad11-train": 0.3, "squadshifts-new-wiki": 1.0, "qed-train": 1.0}
WORDS = "words"  # of an answer without a known class: it may be of any but DATE, NUMBER and YES_NO
_UNKNOWN = 0.5  # of that share, of questions whose answers have no known class
_STATEMENTS = 1_500  # of CREAK
_DECIDED = 2  # one question of so many of BoolQ
_FILES = {"tiq": "tiq/dev", "timequestions": "timequestions/dev", "lcquad2": "lcquad2-cq/LC_QuAD20_CQ.dev"}

Classes = Mapping[str, float]
"""Ids of classes of items, or DATE, NUMBER, YES_NO, TEXT, OTHER -> share, all together 1; or several that may each be, with 1."""


class TypedQuestion(NamedTuple):
    """A question and the classes of its answers."""

    question: str
    in_full: str  # of question understanding, if it has a history; else as asked
    classes: Classes  # of its answers, or else of the values of the property that is asked for
    source: str
    key: str  # its template (`template`), its conversation or its text's title, of which nothing is in another part

    @property
    def text(self) -> str:
        return typed_text(self.question, self.in_full)

    @property
    def part(self) -> Part:
        return part_of_key(self.key)


class TypedQuestions(NamedTuple):
    """All questions."""

    questions: list[TypedQuestion]
    names: dict[str, str]  # of the classes that they have
    joined: dict[str, str]  # the class that a class of an item counts as; one that is not in it as OTHER


class _Asked(NamedTuple):
    """A question with its answers; `prop` is what an unknown answer is a value of (`P57`, or `R57` of the inverse)."""

    question: str
    answers: tuple[str, ...]
    source: str
    conversation: str = ""
    prop: str = ""
    in_full: str = ""  # if it has a history


def typed_questions(data: Path, work: Path, least: float = 100) -> TypedQuestions:
    """The questions whose answers have known classes, and those that the property asked for tells the classes of."""
    with ExitStack() as stack:
        kbs = [stack.enter_context(closing(knowledge_base(data, work)))]
        by_subject = facts_by_subject(kbs[0], data)
        kbs.append(stack.enter_context(closing(KnowledgeBase(_SNAPSHOT / "kb"))))
        all_questions = list(dict.fromkeys(_all_asked(data, *kbs)))
        classes = ItemClasses(kbs)
        of_property = property_classes(by_subject, classes)
        direct = [
            {WORDS: 1.0} if row.answers == (WORDS,) else classes.shares(row.answers) or of_property.get(row.prop, {})
            for row in all_questions
        ]
        items = {*by_subject, *(fact.value for facts in by_subject.values() for fact in facts if is_item(fact.value))}
        items.update(answer for row in all_questions for answer in row.answers if is_item(answer))
        joined = classes.joined(items, direct, least)
        names = {root: classes.name(root) for root in sorted(set(joined.values()))}
    any_item = dict.fromkeys((*names, TEXT, OTHER), 1.0)
    common = common_words(row.question for row in all_questions)
    questions = []
    for row, shares in zip(all_questions, direct, strict=True):
        if shares:
            merged: Counter[str] = Counter()
            for name, share in shares.items():
                merged[joined.get(name, OTHER) if is_item(name) else name] += share  # type: ignore[assignment]
            key = row.conversation or template(row.question, common)
            allowed = any_item if WORDS in shares else dict(merged)
            questions.append(TypedQuestion(row.question, row.in_full or row.question, allowed, row.source, key))
    return TypedQuestions(questions, names | {name: name for name in (DATE, NUMBER, YES_NO, TEXT, OTHER)}, joined)


# -- classes -----------------------------------------------------------------------------------------------------------


class ItemClasses:
    def __init__(self, kbs: Sequence[KnowledgeBase]) -> None:
        self._kbs = kbs

    def of(self, entity_id: str) -> list[str]:
        """The ids of the classes of an item; DATE, NUMBER, YES_NO or TEXT of anything else; empty if unknown."""
        if is_item(entity_id):
            return next(filter(None, (kb.objects(entity_id, _INSTANCE_OF) for kb in self._kbs)), [])
        if is_date(entity_id):
            return [DATE]
        if is_number(entity_id):
            return [NUMBER]
        return [YES_NO if entity_id in ("Yes", "No") else TEXT]

    def shares(self, entity_ids: Iterable[str]) -> Classes:
        """The mean over the entities whose classes are known, of which each counts once."""
        class_names = [names for names in map(self.of, entity_ids) if names]
        shares: Counter[str] = Counter()
        for names in class_names:
            for name in names:
                shares[name] += 1 / len(names) / len(class_names)  # type: ignore[assignment]
        return dict(shares)

    def label(self, name: str) -> str:
        return next((label for kb in self._kbs if is_item(name) and (label := kb.label(name)) != name), name)

    def name(self, root: str) -> str:
        """The label of a class that others count as; if no knowledge base has one, of the first of those."""
        labels = map(self.label, (root, *_JOINED.get(root, ())))
        return next((label for label in labels if not is_item(label)), root)

    def joined(self, items: Iterable[str], shares: Iterable[Classes], least: float) -> dict[str, str]:
        """The class that each class of some items counts as."""
        frequent: Counter[str] = Counter()
        for class_share in shares:
            frequent.update({name: share for name, share in class_share.items() if is_item(name)})  # type: ignore[arg-type]
        sets: dict[str, list[list[str]]] = defaultdict(list)  # by class: the classes of its items
        for names in map(self.of, items):
            for name in names:
                sets[name].append(names)
        base = {name: root for root, names in _JOINED.items() for name in (root, *names)}
        alone = [name for name, count in frequent.items() if count >= least and name not in base]
        for name in sorted(alone, key=lambda name: (-len(sets[name]), name)):  # the larger are known to the smaller
            base[name] = _most_of(name, sets[name], base) or name
        found = dict(base)
        heads = self._heads(base)
        for name in sets.keys() - base.keys():
            if root := _most_of(name, sets[name], base) or heads.get(self._head(name)):
                found[name] = root
        return found

    def _heads(self, base: Mapping[str, str]) -> dict[str, str]:
        """The class that a noun alone names; a class of one word comes before one that is built on the noun."""
        names = sorted(base, key=lambda name: (" " in self.label(name), base[name] != name, int(name[1:])))
        heads: dict[str, str] = {}
        for name in names:
            if base[name] == name or " " not in self.label(name):
                heads.setdefault(self._head(name), base[name])
        return heads

    def _head(self, name: str) -> str:
        language = english()
        return language.words.stem(language.answer_types.head(self.label(name)))


def _most_of(name: str, of_items: Sequence[Sequence[str]], base: Mapping[str, str]) -> str | None:
    counts: Counter[str] = Counter()
    for names in of_items:
        counts.update({base[other] for other in names if other in base and other != name})
    root, count = min(counts.items(), key=lambda pair: (-pair[1], pair[0]), default=("", 0))
    return root if count and count >= _SHARE * len(of_items) else None


def property_classes(by_subject: Mapping[str, list[Fact]], classes: ItemClasses) -> dict[str, Classes]:
    """The classes of the values of a property (`P57`), and of the subjects of its facts (`R57`), if it has 20 facts or more."""
    ids: dict[str, list[str]] = defaultdict(list)
    for subject, facts in by_subject.items():
        for fact in facts:
            ids[fact.prop].append(fact.value)
            ids[f"R{fact.prop[1:]}"].append(subject)
    return {name: classes.shares(values) for name, values in ids.items() if len(values) >= _LEAST_FACTS}


# -- templates ---------------------------------------------------------------------------------------------------------


def common_words(questions: Iterable[str], share: float = _COMMON) -> frozenset[str]:
    sets = [set(_words(question)) for question in questions]
    having = Counter(word for words in sets for word in words)
    return frozenset(word for word, count in having.items() if count >= share * len(sets))


def template(question: str, common: frozenset[str]) -> str:
    """A question with `_` for what is not a common word: `who directed _`; questions that differ in names have the same."""
    words: list[str] = []
    for word in _words(question):
        word = word if word in common else "_"
        if word != "_" or words[-1:] != ["_"]:
            words.append(word)
    return " ".join(words)


def names_in(question: str, common: frozenset[str]) -> list[str]:
    """The runs of words of a question that are not common: names, mostly."""
    runs = groupby(re.findall(r"\w+", question), lambda word: word.casefold() in common)
    return [" ".join(run) for is_common, run in runs if not is_common]


def _words(question: str) -> list[str]:
    return re.findall(r"\w+", question.casefold())


# -- questions ---------------------------------------------------------------------------------------------------------


def _all_asked(data: Path, wikidata: KnowledgeBase, embedded: KnowledgeBase) -> Iterator[_Asked]:
    for part in ("train", "valid"):
        for _, prop, value, question in records(data, "simplequestions-wikidata", f"annotated_wd_data_{part}.txt.gz"):
            yield _Asked(question, (value,), "simplequestions", prop=prop)
    for line in records(data, "hybrid", "wikidata-questions.jsonl.gz"):
        asked_value = _ASKED_VALUE.search(line.get("sparql") or "")
        if answers := tuple(answer["id"] for answer in line["answers"] if answer.get("id")):
            yield _Asked(line["question"], answers, line["set"], prop=asked_value[1] if asked_value else "")
    chance = random.Random("questions of reading")
    for name, share in _READING.items():
        for line in records(data, "reading", f"{name}.jsonl.gz"):
            for row in line.get("qas", ()):
                yield from _of_text(row, line["context"], line.get("title"), name, share, chance)
    for line in records(data, "yesno", "strategyqa-train.jsonl.gz"):
        yield _Asked(line["question"], ("Yes",), "strategyqa", line["term"])
    for line in islice(records(data, "yesno", "creak-train.jsonl.gz"), _STATEMENTS):
        yield _Asked(as_statement_asked(line["statement"], chance), ("Yes",), "creak", line["entity"])
    for decided in islice(of_set("boolq", data), 0, None, _DECIDED):
        yield _Asked(decided.question, ("Yes" if decided.yes else "No",), "boolq", decided.key)
    for benchmark, name in _FILES.items():
        yield from _turns(read_benchmark(needed(data, f"{name}.json.gz"), benchmark), benchmark, lambda _: "")
    understanding, left_out = _understanding(wikidata), bench_items(data).items
    for domain in _DOMAINS:
        conversations = read_benchmark(needed(data, "convquestions", f"val_{domain}.json.gz"), "convquestions")
        learned = [talk for talk in conversations if item_id(str(talk.get("seed_entity", ""))) not in left_out]
        yield from _turns(learned, "convquestions", _version_of, understanding)
    conversations = read_benchmark(_SNAPSHOT / "conversations" / "train.json", "convmix")
    yield from _turns(conversations, "embedded", lambda talk: str(talk["conv_id"]), _understanding(embedded))


def _of_text(
    row: Mapping[str, Any], context: str, title: str | None, name: str, share: float, chance: random.Random
) -> Iterator[_Asked]:
    """A question on a text if it is drawn: answers without a known class teach only what they are not."""
    texts = [context[start:end] for start, end in answer_places(row)]
    ids = [contract_answer(text, text, row["question"])["id"] for text in texts]
    is_literal = [is_date(entity_id) or is_number(entity_id) for entity_id in ids]
    is_drawn = chance.random() < (share if any(is_literal) else share * _UNKNOWN)
    if is_drawn and len(set(is_literal)) == 1:
        answers = tuple(ids) if is_literal[0] else (WORDS,)
        yield _Asked(row["question"], answers, name, title or context)


def _understanding(kb: KnowledgeBase) -> Slots:
    config = parse_config({"kb_path": str(kb.path), "ers_wikipedia_dump": None, "ers_use_cache": False})
    return Slots(config, Resources(config, kb=kb))


def _turns(
    conversations: Sequence[Conversation],
    source: str,
    key: Callable[[Conversation], str],
    understanding: Slots | None = None,
) -> Iterator[_Asked]:
    """The turns with answers; in full if `understanding` is given."""
    if understanding is not None:
        for turns, histories in turns_in_step(conversations, use_gold_answers=True):
            understand(understanding, turns, histories, use_gold_answers=True)
    for conversation in conversations:
        for turn in conversation["questions"]:
            answers: Sequence[Entity] = turn.get("answers") or ()
            if answers and "{" not in turn["question"]:  # else a template that was never put into words
                agreed = answers if understanding is None else [a for a in answers if _agrees(a, understanding.kb)]
                ids = tuple(answer["id"] for answer in agreed)
                in_full = turn.get("resolved_question", "")
                yield _Asked(turn["question"], ids, source, key(conversation), in_full=in_full)


def _agrees(answer: Entity, kb: KnowledgeBase) -> bool:
    text = kb.text(answer["id"])
    return not kb.has(answer["id"]) or fold(answer["label"]) in map(fold, (text.label, *text.aliases))


def _version_of(conversation: Conversation) -> str:
    """What the versions of a conversation of ConvQuestions have in common: what it is about, and its answers."""
    answers = (answer["id"] for turn in conversation["questions"] for answer in turn.get("answers") or ())
    return " ".join((str(conversation.get("seed_entity", "")), *answers))
