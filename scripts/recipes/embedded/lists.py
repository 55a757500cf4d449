"""Questions with the lists of evidences among which the pipeline has to find their answers.

What the pipeline itself retrieves and ranks over wikidata-27k and the introductions of its items; for conversations over the snapshot.
The lists are kept in the folder `work`.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from convinse.config import load_config, parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.experiment import read_part
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.search_space import is_named
from convinse.language.language import english
from convinse.records.conversation import Conversation, Turn, asked_in_full
from convinse.records.evidence import SOURCES, Entity
from convinse.records.literals import is_date, is_item, is_number
from convinse.records.ranked_rows import as_read, spans_as_read
from convinse.resources import Resources
from convinse.scoring.convqa import has_answer
from convinse.training.answering import answer_spans
from recipes.answers import kept_turns
from recipes.built_sources import INTRODUCTIONS, Fact, bench_items, build_sources, facts_by_subject, knowledge_base
from recipes.embedded.data_sets import Source
from recipes.embedded.examples import Candidate, Example
from recipes.sources import needed

_RANKED = 20  # evidences of a list, at most
_MOST_RIGHT = 5  # evidences with an answer: of more, most have it by chance
_WRONG = 14
_TEMPLATES = 12_000  # questions made of templates
_OF_PROPERTY = 150  # of these
_BY_WORDS = {"evs": "bm25", "evs_model": None, "evs_bi_encoder": None}
_FEW_DIGITS = re.compile(r"[0-9]{1,2}")


class Question(NamedTuple):
    text: str
    answers: list[Entity]
    about: str  # the item whose part it is in


def pipeline_lists(source: Source) -> Iterator[Example]:
    """The questions of a set, each with what is retrieved for it; none is about an item of `convquestions/val_wd27k`."""
    name, format_of_set, data, work = source.name, source.declared.format, source.data, source.work
    seeds = bench_items(data).seeds
    work.mkdir(parents=True, exist_ok=True)
    questions = {question.text: question for question in _QUESTIONS[format_of_set](source)}
    settings: dict[str, Any] = build_sources(data, work, INTRODUCTIONS, "snapshot:model")
    if format_of_set != "linked":
        settings |= _BY_WORDS  # many questions: they are ranked by their words alone
    conversations: list[Conversation] = [
        {"conv_id": text, "questions": [{"turn": 0, "question_id": "0", "question": text, "answers": question.answers}]}
        for text, question in questions.items()
        if question.about not in seeds
    ]
    for _, turn in kept_turns(name, "wikidata-27k.yml", settings, conversations, SOURCES, work):
        if example := _list(name, turn, questions[turn["question"]].about):
            yield example


def conversations(source: Source) -> Iterator[Example]:
    """The train conversations that ship with the package; the key is the conversation."""
    source.work.mkdir(parents=True, exist_ok=True)
    train = read_part(load_config("lexical.yml"), "train")
    for group, turn in kept_turns(source.name, "lexical.yml", {}, train, SOURCES, source.work):
        if example := _list(source.name, turn, group):
            yield example


def _list(name: str, turn: Turn, key: str) -> Example | None:
    """The best evidences of a turn; None for yes or no, and if too many have an answer to tell which say so."""
    answers = turn["answers"]
    decided = any(answer["id"].casefold() in ("yes", "no") for answer in answers)
    if decided or english().answer_types.is_existential(turn["question"]):
        return None
    right: dict[str, Candidate] = {}
    wrong: dict[str, Candidate] = {}
    for evidence in turn["top_evidences"][:_RANKED]:
        text = as_read(evidence, "ranked")
        spans = spans_as_read(evidence, "ranked", answer_spans(evidence, answers))
        if spans and has_answer(evidence, answers):
            right.setdefault(text, Candidate(text, True, tuple(dict.fromkeys(spans))))
        elif not spans:
            wrong.setdefault(text, Candidate(text))
    if len(right) > _MOST_RIGHT or not wrong:
        return None
    return Example(asked_in_full(turn), (*right.values(), *list(wrong.values())[:_WRONG]), name, key, f"{name}:{key}")


# -- questions with answers --------------------------------------------------------------------------------------------


def _linked(source: Source) -> Iterator[Question]:
    """Questions whose answers and entities are linked."""
    for entry in source.lines():
        if entry["answers"] and entry["entities"] and entry.get("answer_in_kb", True):
            answers: list[Entity] = [{"id": row["id"], "label": row["label"] or row["id"]} for row in entry["answers"]]
            yield Question(entry["question"], answers, entry["entities"][0]["id"])


def _written(source: Source) -> Iterator[Question]:
    """Questions with answers as they are written, about the first item that is linked."""
    bench = bench_items(source.data)
    with closing(knowledge_base(source.data, source.work)) as kb:
        config = parse_config({"kb_path": str(kb.path), "ers_wikipedia_dump": None, "ers_use_cache": False})
        retriever = ClocqRetriever(config, resources=Resources(config, kb=kb))
        for turn in chain.from_iterable(single_questions(source.data, file) for file in source.declared.files):
            question, answers = turn["question"], answers_of_facts(turn, kb)
            if not answers or "{" in question:  # a template that was never put into words
                continue
            linked = retriever.retrieve_KB_facts(question)[1]
            items = [entity["item"]["id"] for entity in linked if is_named(entity)]
            answers = [row for row in answers if row["id"] not in items]
            if answers and items and items[0] not in bench.items:
                yield Question(question.strip('"'), answers, items[0])


def single_questions(data: Path, file: str) -> Iterator[Turn]:
    """The questions of a file of TimeQuestions, TIQ or LC-QuAD, some of which come twice."""
    for conversation in read_benchmark(needed(data, file), "by its shape"):
        (turn,) = conversation["questions"]
        turn["question"] = " ".join(turn["question"].split())
        yield turn


def answers_of_facts(turn: Turn, kb: KnowledgeBase) -> list[Entity]:
    """The gold answers that facts hold safely: items of the knowledge base, dates, numbers of three digits or more."""
    held: list[Entity] = []
    for answer in turn["answers"]:
        name = answer["id"]
        if is_item(name) and kb.has(name):
            held.append({"id": name, "label": kb.label(name)})
        elif is_date(name) or (is_number(name) and not _FEW_DIGITS.fullmatch(name)):
            held.append(answer)
    return held


def _templates(source: Source) -> Iterator[Question]:
    """Questions for facts of wikidata-27k, a property at most `_OF_PROPERTY` times; all values of it are answers."""
    chance = random.Random(f"templates {source.seed}")
    properties = next(source.lines())["properties"]
    with closing(knowledge_base(source.data, source.work)) as kb:
        by_subject = facts_by_subject(kb, source.data)
    classes = {subject: {fact.value for fact in facts if fact.prop == "P31"} for subject, facts in by_subject.items()}
    subjects = sorted(by_subject)
    chance.shuffle(subjects)
    counts: dict[str, int] = defaultdict(int)
    for subject in subjects:
        facts = by_subject[subject]
        for fact in chance.sample(facts, min(3, len(facts))):
            wording = _wording(classes, properties.get(fact.prop), fact, chance)
            if wording is None or counts[fact.prop] == _OF_PROPERTY:
                continue
            counts[fact.prop] += 1
            same = [row for row in facts if row.prop == fact.prop]
            yield Question(wording, [{"id": row.value, "label": row.value_label} for row in same], subject)
        if sum(counts.values()) >= _TEMPLATES:
            return


def _wording(
    classes: Mapping[str, set[str]], prop: dict[str, Any] | None, fact: Fact, chance: random.Random
) -> str | None:
    fitting = []
    for group in (prop or {}).get("groups", ()):
        sides = ((group["subject_types"], fact.subject), (group["object_types"], fact.value))
        fits = all(not expected or not classes.get(item, set()).isdisjoint(expected) for expected, item in sides)
        if fits and not group["inverse"]:
            fitting += group["templates"]
    if not fitting:
        return None
    template = chance.choice(fitting)
    text = " ".join(f"{template['left']}{fact.subject_label}{template['right']}".replace(" '", "'").split())
    return text[:1].upper() + text[1:] if chance.random() < 0.5 else text


_QUESTIONS = {"linked": _linked, "written": _written, "templates": _templates}
