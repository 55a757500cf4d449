"""Questions with the lists of evidences among which the pipeline has to find their answers.

Two kinds: what the pipeline itself retrieves and ranks over wikidata-27k and the introductions of its items, and all sentences of the
article that a question of a reading set is about, in the form of the evidences. The lists of the pipeline are kept in the folder `work`.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from convinse.records.conversation import Conversation, Turn, asked_in_full
from convinse.records.evidence import SOURCES, Entity
from convinse.records.ranked_rows import as_read, spans_as_read
from convinse.scoring.convqa import has_answer
from convinse.training.answering import answer_spans
from convinse.wikipedia.page import sentence_places
from recipes.answers import kept_turns
from recipes.built_sources import INTRODUCTIONS, build_sources
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import by_bm25, holds, negatives
from recipes.embedded.reading import ARTICLES, Asked, merged, titled_rows
from recipes.embedded.wikidata import Facts, Told, bench_items
from recipes.sources import needed, read_json, records

_RANKED = 20  # evidences of a list, at most
_MOST_RIGHT = 5  # evidences with an answer: of more, most have it by chance
_WRONG = 14
_TEMPLATES = 12_000  # questions made of templates
_OF_PROPERTY = 150  # of these
_BY_WORDS = {"evs": "bm25", "evs_model": None, "evs_bi_encoder": None}


class Question(NamedTuple):
    text: str
    answers: list[Entity]
    about: str


# -- lists of the pipeline ---------------------------------------------------------------------------------------------


def compmix(data: Path, work: Path, seed: int) -> Iterator[Example]:
    """CompMix (train): questions of people, for all sources."""
    questions = (
        _question(entry)
        for entry in records(data, "compmix", "train.json.gz")
        if entry["answer_in_kb"] and entry["entities"]
    )
    yield from _pipeline_lists("compmix", questions, data, work)


def search_questions(data: Path, work: Path, seed: int) -> Iterator[Example]:
    """WikiWebQuestions (dev): questions that people typed into a search engine."""
    questions = (
        _question(entry)
        for entry in records(data, "wikiwebquestions", "dev.json.gz")
        if entry["answers"] and entry["entities"]
    )
    yield from _pipeline_lists("search_questions", questions, data, work)


def template_lists(data: Path, work: Path, seed: int) -> Iterator[Example]:
    """Facts of wikidata-27k, asked for by the templates of KGConv; the lists are ranked by BM25."""
    yield from _pipeline_lists("template_lists", template_questions(data, work, seed), data, work, _BY_WORDS)


def _question(entry: dict[str, Any]) -> Question:
    answers: list[Entity] = [
        {"id": answer["id"], "label": answer["label"] or answer["id"]} for answer in entry["answers"]
    ]
    return Question(entry["question"], answers, entry["entities"][0]["id"])


def _pipeline_lists(
    name: str, questions: Iterable[Question], data: Path, work: Path, changes: dict[str, Any] | None = None
) -> Iterator[Example]:
    """Args: changes: of the configuration. Questions about an item of `convquestions/val_wd27k` are left out."""
    work.mkdir(parents=True, exist_ok=True)
    seeds = bench_items(data).seeds
    by_text = {question.text: question for question in questions if question.about not in seeds}
    settings = {**build_sources(data, work, INTRODUCTIONS, "snapshot:model"), **(changes or {})}
    conversations: list[Conversation] = [
        {"conv_id": text, "questions": [{"turn": 0, "question_id": "0", "question": text, "answers": rows.answers}]}
        for text, rows in by_text.items()
    ]
    for _, turn in kept_turns(name, "wikidata-27k.yml", settings, conversations, SOURCES, work):
        if example := _list(name, turn, by_text[turn["question"]].about):
            yield example


def _list(name: str, turn: Turn, key: str) -> Example | None:
    """The best evidences of a turn; None if too many have an answer to tell which say so."""
    answers = turn["answers"]
    right, wrong = {}, {}
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


def template_questions(data: Path, work: Path, seed: int) -> Iterator[Question]:
    """Questions for facts, a property at most `_OF_PROPERTY` times; all values of it are answers."""
    chance = random.Random(f"templates {seed}")
    properties = read_json(needed(data, "kgconv", "templates.json.gz"))["properties"]
    knowledge = Facts(data, work)
    with closing(knowledge.kb):
        subjects = sorted(knowledge.by_subject)
        chance.shuffle(subjects)
        counts: dict[str, int] = defaultdict(int)
        for subject in subjects:
            facts = knowledge.by_subject[subject]
            for fact in chance.sample(facts, min(3, len(facts))):
                wording = _wording(knowledge, properties.get(fact.prop), fact, chance)
                if wording is None or counts[fact.prop] == _OF_PROPERTY:
                    continue
                counts[fact.prop] += 1
                same = [of_property for of_property in facts if of_property.prop == fact.prop]
                yield Question(
                    wording,
                    [{"id": of_property.value, "label": of_property.labels[2]} for of_property in same],
                    subject,
                )
            if sum(counts.values()) >= _TEMPLATES:
                return


def _wording(knowledge: Facts, prop: dict[str, Any] | None, fact: Told, chance: random.Random) -> str | None:
    classes, of_value = (
        {class_fact.value for class_fact in knowledge.by_subject.get(item, ()) if class_fact.prop == "P31"}
        for item in (fact.subject, fact.value)
    )
    fitting = [
        template
        for group in (prop or {}).get("groups", ())
        if not group["inverse"] and _fits(group["subject_types"], classes) and _fits(group["object_types"], of_value)
        for template in group["templates"]
    ]
    if not fitting:
        return None
    template = chance.choice(fitting)
    text = " ".join(f"{template['left']}{fact.labels[0]}{template['right']}".replace(" '", "'").split())
    return text[:1].upper() + text[1:] if chance.random() < 0.5 else text


def _fits(expected: Sequence[str], classes: set[str]) -> bool:
    return not expected or not classes.isdisjoint(expected)


# -- lists of sentences ------------------------------------------------------------------------------------------------


def sentence_lists(data: Path, seed: int) -> Iterator[Example]:
    """Questions on articles of Wikipedia with the sentences of the whole article, as evidences have them: the title in front."""
    for name in ARTICLES:
        yield from _on_articles(f"{name}, sentences", titled_rows(name, data))


def _on_articles(source: str, rows: Iterable[tuple[str, Asked]]) -> Iterator[Example]:
    """Args: rows: the title of an article, and a question on a paragraph of it, whose title is its key."""
    articles: dict[tuple[str, str], dict[str, list[tuple[int, int]]]] = defaultdict(dict)
    grouped: dict[tuple[str, str], list[Asked]] = defaultdict(list)
    for title, row in rows:
        name = title.replace("_", " ").split(" (")[0]
        articles[name, row.title].setdefault(row.text, list(sentence_places(row.text)))
        grouped[name, row.title].append(row)
    for (name, key), texts in articles.items():
        places_of = [(text, start, end) for text, places in texts.items() for start, end in places]
        evidences = [f"{name}, {text[start:end]}" for text, start, end in places_of]
        for row in merged(grouped[name, key]):
            right = {}
            for place, (text, start, end) in enumerate(places_of):
                spans = [span for span in row.spans if start <= span[0] and span[1] <= end] if text == row.text else []
                if spans:
                    ahead = len(name) + 2 - start
                    moved = tuple((first + ahead, last + ahead) for first, last in spans)
                    right[evidences[place]] = Candidate(evidences[place], True, moved)
            others = [text for text in dict.fromkeys(evidences) if text not in right and not holds(text, row.answers)]
            best = by_bm25(row.question, others)[:_WRONG]
            if right and best:
                yield Example(row.question, (*right.values(), *negatives(best)), source, key, f"{source}:{key}")
