"""Questions with the classes of their answers: what a head that tells the type of an answer can learn from."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

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
from convinse.records.literals import is_date, is_number
from convinse.resources import Resources
from convinse.support.jsonlines import read_lines
from recipes.embedded.examples import Part
from recipes.embedded.negatives import part_of
from recipes.embedded.ranking_sets import boolq_questions
from recipes.embedded.reading_files import ReadingContext
from recipes.embedded.wikidata import Facts, bench_items, is_item, knowledge_base
from recipes.sources import needed, tab_lines

_INSTANCE_OF = 31
LEAST_QUESTIONS = 100  # of a class that stands alone
_SHARE = 0.5  # of a class's items that are also of the class that it joins
# Classes that people call by one name, of which Wikidata has many; they stand alone however few questions they have. Others join
# them, or a frequent class, by their items and by their names: the knowledge bases here know hardly what is above a class.
_JOINED = {
    "Q5": "Q15632617 Q95074",  # human: fictional ones
    "Q6256": "Q3624078 Q3024240 Q6266 Q1489259 Q99541706",  # country: states, also past ones, nations
    "Q486972": "Q515 Q1549591 Q1093829 Q1637706 Q5119 Q62049 Q3957 Q484170 Q747074 Q532 Q123705 Q408804",  # human settlement
    "Q82794": "Q35657 Q56061 Q10864048 Q47168 Q28575 Q34876 Q149621 Q160091",  # geographic region: states, provinces, counties
    "Q271669": "Q4022 Q23397 Q8502 Q46831 Q23442 Q9430 Q165 Q5107",  # landform: rivers, lakes, mountains, islands, seas, continents
    "Q41176": "Q39614 Q1254933 Q483110 Q33506 Q16560 Q24354",  # building: stadiums, museums, observatories, cemeteries
    "Q11424": "Q24869 Q29168811 Q506240 Q24862 Q202866",  # film
    "Q5398426": "Q21191270 Q581714 Q15416 Q1259759",  # television series
    "Q7725634": "Q571 Q8261 Q47461344",  # literary work
    "Q105543609": "Q482994 Q134556 Q2188189 Q7366",  # musical work
    "Q7889": "",  # video game
    "Q4164871": "Q1151733 Q694589 Q1148974 Q294163 Q1787425",  # position, in games and offices
    "Q12737077": "Q28640",  # occupation, profession
    "Q48264": "Q4369513 Q290",  # gender
    "Q483394": "Q188451 Q201658 Q15961987 Q223393 Q20076756",  # genre: a title seldom tells of what
    "Q34770": "Q1288568 Q33742",  # language
    "Q41710": "Q28790362 Q231002 Q33829",  # ethnic group
    "Q9174": "Q879146 Q13414953 Q6957341 Q4392985",  # religion
    "Q34379": "Q1254773",  # musical instrument
    "Q18127": "Q2442401",  # record label
    "Q43229": "Q4830453 Q6881511 Q1762059 Q783794 Q210167 Q1137109 Q484652 Q163740",  # organization, company
    "Q7278": "",  # political party
    "Q3918": "Q38723 Q3914 Q9826",  # university, school
    "Q12973014": "Q476028 Q6979593 Q13393265 Q13027888 Q17156793 Q847017",  # sports team
    "Q215380": "Q5741069",  # musical group
    "Q618779": "Q19020 Q378427",  # award
    "Q198": "Q103495 Q178561",  # war, battle
    "Q31629": "Q349 Q212434",  # sport
    "Q1075": "",  # color
    "Q8142": "",  # currency
    "Q12136": "Q1931388 Q2438541",  # disease, cause of death
    "Q523": "Q5864 Q3592493",  # star
}
_LEAST_FACTS = 20  # of a property whose values tell what an unknown item is
_COMMON = 0.0005  # share of the questions that a word of a template is in
_SLOT = "_"
_ASKED_VALUE = re.compile(r"wdt:(P[0-9]+) \?answer\b")
_DOMAINS = ("books", "movies", "music", "soccer", "tv_series")
_READING = ("squad-train-44articles", "squadshifts-new-wiki")
ADDED = (*_READING, "boolq")  # sources of questions that are easy to type, for what the others have few of
_DECIDED = 2  # one question of so many of BoolQ
_FILES = (("tiq", "tiq", "dev.json.gz"), ("timequestions", "timequestions", "dev.json.gz"), ("lcquad2", "lcquad2-cq", "LC_QuAD20_CQ.dev.json.gz"))  # fmt: skip

Classes = Mapping[str, float]  # ids of classes of items, or DATE, NUMBER, YES_NO, TEXT, OTHER -> share; all together 1


class TypedQuestion(NamedTuple):
    """A question and what its answers are.

    Attributes:
        question: as asked.
        in_full: what question understanding makes of it, where it has a history; else as asked.
        known: whether its own answers have these classes; else the values of the property that is asked for have them.
        key: its template (`template`), its conversation or its text's title, of which nothing is in another part.
    """

    question: str
    in_full: str
    answers: tuple[str, ...]
    classes: Classes
    known: bool
    source: str
    key: str

    @property
    def text(self) -> str:
        """What the head reads."""
        return typed_text(self.question, self.in_full)

    @property
    def part(self) -> Part:
        """Where the question belongs, by its key alone."""
        return part_of(self.source, self.key)


class TypedQuestions(NamedTuple):
    """All questions.

    Attributes:
        names: of the classes that they have.
        joined: the class that a class of an item counts as; one that is not in it as OTHER.
    """

    questions: list[TypedQuestion]
    names: dict[str, str]
    joined: dict[str, str]


class _Asked(NamedTuple):
    """A question with its answers; `prop` is what an unknown answer is a value of (`P57`, or `R57` of the inverse)."""

    question: str
    in_full: str
    answers: tuple[str, ...]
    source: str
    conversation: str = ""
    prop: str = ""


def _snapshot() -> Path:
    return project_root() / "convinse" / "snapshot" / "kb"


def known_labels(data: Path, work: Path) -> Callable[[str], Sequence[str]]:
    """Looks up the labels of the classes of an item, in the knowledge bases of `typed_questions`."""
    kbs = (knowledge_base(data, work), KnowledgeBase(_snapshot()))
    return lambda item: next(filter(None, (kb.types(item) for kb in kbs)), ()) if is_item(item) else ()


def typed_questions(data: Path, work: Path, least: float = LEAST_QUESTIONS) -> TypedQuestions:
    """SimpleQuestions, RuBQ, TIQ, TimeQuestions, LC-QuAD, ConvQuestions (val, without the conversations of `val_wd27k`), the embedded train conversations; BoolQ, and
    of sets for reading what is answered by a date or a number.

    A class is that of an answer in wikidata-27k or the embedded knowledge base. An item that neither knows has the
    classes of the values of the property that is asked for, where that is told. Classes count as `ItemClasses.joined` says.
    Questions of whose answers nothing is known are left out; the versions of a conversation differ in wording.

    Args:
        data: the shared data.
        work: the folder that the knowledge base of wikidata-27k is built and kept in.
        least: questions of a class that stands alone.
    """
    known = Facts(data, work)
    with ExitStack() as stack:
        kbs = [stack.enter_context(closing(known.kb))]
        kbs.append(stack.enter_context(closing(KnowledgeBase(_snapshot()))))
        asked = list(dict.fromkeys(_all_asked(data, *kbs)))
        classes = ItemClasses(kbs)
        of_property = property_classes(known, classes)
        own = [classes.shares(row.answers) for row in asked]
        direct = [shares or of_property.get(row.prop, {}) for row, shares in zip(asked, own, strict=True)]
        items = {*known.by_subject, *known.by_object}
        items.update(answer for row in asked for answer in row.answers if is_item(answer))
        joined = classes.joined(items, direct, least)
        names = {root: classes.name(root) for root in sorted(set(joined.values()))}
    common = common_words(row.question for row in asked)
    questions = []
    for row, shares, known_shares in zip(asked, direct, own, strict=True):
        if shares:
            merged: Counter[str] = Counter()
            for name, share in shares.items():
                merged[joined.get(name, OTHER) if is_item(name) else name] += share  # type: ignore[assignment]
            key = row.conversation or template(row.question, common)
            questions.append(
                TypedQuestion(row.question, row.in_full, row.answers, dict(merged), bool(known_shares), row.source, key)
            )
    return TypedQuestions(questions, names | {name: name for name in (DATE, NUMBER, YES_NO, TEXT, OTHER)}, joined)


def counts(typed: TypedQuestions) -> str:
    """Two tables: questions of each source by part, and questions of each class, most frequent first."""
    rows = ["| source | questions | train | dev | templates or conversations |", "|---|---:|---:|---:|---:|"]
    by_source: dict[str, list[TypedQuestion]] = defaultdict(list)
    mass: Counter[str] = Counter()
    for question in typed.questions:
        by_source[question.source].append(question)
        mass.update(question.classes)
    for source, own in by_source.items():
        train = sum(question.part == "train" for question in own)
        keys = len({question.key for question in own})
        rows.append(f"| {source} | {len(own):,} | {train:,} | {len(own) - train:,} | {keys:,} |")
    rows += ["", "| class | questions |", "|---|---:|"]
    rows += [f"| {typed.names[name]} | {share:,.0f} |" for name, share in mass.most_common()]
    return "\n".join(rows)


# -- classes -----------------------------------------------------------------------------------------------------------


class ItemClasses:
    """The classes of items, of the first knowledge base that knows any."""

    def __init__(self, kbs: Sequence[KnowledgeBase]) -> None:
        self._kbs = kbs

    def of(self, entity_id: str) -> list[str]:
        """The ids of the classes of an item; DATE, NUMBER, YES_NO or TEXT of anything else; empty where unknown."""
        if is_item(entity_id):
            return next(filter(None, (kb.objects(entity_id, _INSTANCE_OF) for kb in self._kbs)), [])
        if is_date(entity_id):
            return [DATE]
        if is_number(entity_id):
            return [NUMBER]
        return [YES_NO if entity_id in ("Yes", "No") else TEXT]

    def shares(self, entity_ids: Iterable[str]) -> Classes:
        """The mean over what is known of some entities, of which each counts once; empty where nothing is."""
        known = [names for names in map(self.of, entity_ids) if names]
        shares: Counter[str] = Counter()
        for names in known:
            for name in names:
                shares[name] += 1 / len(names) / len(known)  # type: ignore[assignment]
        return dict(shares)

    def label(self, name: str) -> str:
        """The label of a class; the id where no knowledge base has one, or the name of what is no item."""
        return next((label for kb in self._kbs if is_item(name) and (label := kb.label(name)) != name), name)

    def name(self, root: str) -> str:
        """The label of a class that others count as; where no knowledge base has one, of the first of those."""
        labels = map(self.label, (root, *_JOINED.get(root, "").split()))
        return next((label for label in labels if not is_item(label)), root)

    def joined(self, items: Iterable[str], shares: Iterable[Classes], least: float) -> dict[str, str]:
        """The class that each class of some items counts as.

        The classes of `_JOINED` and those of at least `least` questions stand for themselves. Any other counts as the one that half
        of its items or more are of, too; or else as the one whose name its own name is built on ("stadium" of "baseball
        stadium"). What is left is not in the result.

        Args:
            items: whose classes tell which of them go together.
            shares: the classes of questions.
            least: questions of a class that stands for itself.
        """
        frequent: Counter[str] = Counter()
        for own in shares:
            frequent.update({name: share for name, share in own.items() if is_item(name)})  # type: ignore[arg-type]
        sets: dict[str, list[list[str]]] = defaultdict(list)  # by class: the classes of its items
        for item in items:
            names = self.of(item)
            for name in names:
                sets[name].append(names)
        base = {name: root for root, names in _JOINED.items() for name in (root, *names.split())}
        alone = [name for name, count in frequent.items() if count >= least and name not in base]
        for name in sorted(alone, key=lambda name: (-len(sets[name]), name)):  # the larger are known to the smaller
            base[name] = _most_of(name, sets[name], base) or name
        found = dict(base)
        for name in sets.keys() - base.keys():
            root = _most_of(name, sets[name], base)
            if root is not None:
                found[name] = root
        heads = self._heads(base)
        for name in sets.keys() - found.keys():
            root = heads.get(self._head(name))
            if root is not None:
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
    """The class that half of the items of a class are of, too; None where there is none."""
    counts: Counter[str] = Counter()
    for names in of_items:
        counts.update({base[other] for other in names if other in base and other != name})
    root, count = min(counts.items(), key=lambda pair: (-pair[1], pair[0]), default=("", 0))
    return root if count and count >= _SHARE * len(of_items) else None


def property_classes(known: Facts, classes: ItemClasses) -> dict[str, Classes]:
    """What the values of a property are (`P57`), and what has a value of it (`R57`), where 20 facts or more tell it."""
    ids: dict[str, list[str]] = defaultdict(list)
    for subject, told in known.by_subject.items():
        for fact in told:
            ids[fact.prop].append(fact.value)
            ids[f"R{fact.prop[1:]}"].append(subject)
    return {name: classes.shares(values) for name, values in ids.items() if len(values) >= _LEAST_FACTS}


# -- templates ---------------------------------------------------------------------------------------------------------


def common_words(questions: Iterable[str], share: float = _COMMON) -> frozenset[str]:
    """The words that at least such a share of the questions has."""
    having: Counter[str] = Counter()
    number = 0
    for question in questions:
        number += 1
        having.update(set(_words(question)))
    return frozenset(word for word, count in having.items() if count >= share * number)


def template(question: str, common: frozenset[str]) -> str:
    """A question with `_` for what is no common word: `who directed _`; questions that differ in names have the same."""
    words: list[str] = []
    for word in _words(question):
        word = word if word in common else _SLOT
        if word != _SLOT or words[-1:] != [_SLOT]:
            words.append(word)
    return " ".join(words)


def names_in(question: str, common: frozenset[str]) -> list[str]:
    """The runs of words of a question that are not common: names, mostly."""
    runs: list[list[str]] = [[]]
    for word in re.findall(r"\w+", question):
        if word.casefold() in common:
            runs.append([])
        else:
            runs[-1].append(word)
    return [" ".join(run) for run in runs if run]


def _words(question: str) -> list[str]:
    return re.findall(r"\w+", question.casefold())


# -- questions ---------------------------------------------------------------------------------------------------------


class _WikidataAnswer(msgspec.Struct):
    id: str | None = None
    value: str | None = None


class _WikidataQuestion(msgspec.Struct):
    set: str
    question: str
    answers: list[_WikidataAnswer]
    sparql: str | None = None


def _all_asked(data: Path, wikidata: KnowledgeBase, embedded: KnowledgeBase) -> Iterator[_Asked]:
    for part in ("train", "valid"):
        path = needed(data, "simplequestions-wikidata", f"annotated_wd_data_{part}.txt.gz")
        for _, prop, value, question in tab_lines(path, 4):
            yield _Asked(question, question, (value,), "simplequestions", prop=prop)
    for _, line in read_lines(needed(data, "hybrid", "wikidata-questions.jsonl.gz"), _WikidataQuestion):
        answers = tuple(answer.id for answer in line.answers if answer.id)
        asked_value = _ASKED_VALUE.search(line.sparql or "")
        if answers:
            yield _Asked(line.question, line.question, answers, line.set, prop=asked_value[1] if asked_value else "")
    for name in _READING:
        for _, line in read_lines(needed(data, "reading", f"{name}.jsonl.gz"), ReadingContext):
            for asked in line.qas:
                spans = [span for answer in asked.detected_answers for span in answer.char_spans]
                texts = [line.context[start : end + 1] for start, end in spans]
                ids = [contract_answer(text, text, asked.question)["id"] for text in texts]
                if ids and all(is_date(own) or is_number(own) for own in ids):
                    yield _Asked(asked.question, asked.question, tuple(ids), name, line.title or line.context)
    for decided in boolq_questions(data)[::_DECIDED]:
        yield _Asked(decided.question, decided.question, ("Yes" if decided.yes else "No",), "boolq", decided.key)
    for benchmark, folder, name in _FILES:
        yield from _turns(read_benchmark(needed(data, folder, name), benchmark), benchmark, lambda conversation: "")
    understanding, bench = _understanding(wikidata), bench_items(data)
    for domain in _DOMAINS:
        conversations = read_benchmark(needed(data, "convquestions", f"val_{domain}.json.gz"), "convquestions")
        conversations = [own for own in conversations if item_id(str(own.get("seed_entity", ""))) not in bench.items]
        yield from _turns(conversations, "convquestions", _version_of, understanding)
    conversations = read_benchmark(project_root() / "convinse" / "snapshot" / "conversations" / "train.json", "convmix")
    yield from _turns(conversations, "embedded", lambda own: str(own["conv_id"]), _understanding(embedded))


def _understanding(kb: KnowledgeBase) -> Slots:
    config = parse_config({"kb_path": str(kb.path), "ers_wikipedia_dump": None, "ers_use_cache": False})
    return Slots(config, Resources(config, kb=kb))


def _turns(
    conversations: Sequence[Conversation],
    source: str,
    key: Callable[[Conversation], str],
    understanding: Slots | None = None,
) -> Iterator[_Asked]:
    """The turns with answers; in full where there is something that understands them.

    Answers of which id and name disagree are left out: in some conversations of ConvQuestions they are those of another turn.
    """
    if understanding is not None:
        for turns, histories in turns_in_step(conversations, use_gold_answers=True):
            understand(understanding, turns, histories, use_gold_answers=True)
    for conversation in conversations:
        for turn in conversation["questions"]:
            answers: Sequence[Entity] = turn.get("answers") or ()
            if answers and "{" not in turn["question"]:  # else a template that nobody has put into words
                in_full = turn.get("resolved_question") or turn["question"]
                agreed = answers if understanding is None else [a for a in answers if _agrees(a, understanding.kb)]
                ids = tuple(answer["id"] for answer in agreed)
                yield _Asked(turn["question"], in_full, ids, source, key(conversation))


def _agrees(answer: Entity, kb: KnowledgeBase) -> bool:
    text = kb.text(answer["id"])
    return not kb.has(answer["id"]) or fold(answer["label"]) in map(fold, (text.label, *text.aliases))


def _version_of(conversation: Conversation) -> str:
    """What the versions of a conversation of ConvQuestions have in common: what it is about, and its answers."""
    answers = (answer["id"] for turn in conversation["questions"] for answer in turn.get("answers") or ())
    return " ".join((str(conversation.get("seed_entity", "")), *answers))
