"""Tasks in lists of files, with who does them and until when: "- [ ] order flowers @Ines, by 8 May", "Omar: print tickets"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..language.read_evidence import ReadEvidence
from ..language.text import fold
from ..records.conversation import Extent
from ..records.evidence import Entity, Evidence, passage_start
from ..records.literals import number_entity
from ..records.written_values import day_in
from .candidates import Computed
from .question import Question

_BOX = re.compile(r"\[(?P<mark>[ xX✓✔]?)\]\s*")
_NAME = r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,2}"
_NAMES = rf"{_NAME}(?:(?:, | and | & |/){_NAME})*"
_BEFORE = re.compile(rf"(?P<names>{_NAMES}): (?P<task>.+)")  # "Omar: print tickets"
_PARTS = re.compile(r"\s*[()]\s*|\s+[–—-]+>?\s+|,\s+(?=@)|\s+(?=@\w)|(?<=\w),\s+")
_BETWEEN_NAMES = re.compile(r", | and | & |/")
_MIN_TASKS = 2  # of a file, for a list of them
_MIN_WORDS = 2  # of a task behind a name: "Host: Omar" names no task


class Task(NamedTuple):
    """A task of a list.

    Attributes:
        text: what is to be done, in its own words.
        people: who does it.
        due: the day until which, in its own words; empty without one.
        is_done: whether it is done; None if the list does not say so.
        evidence: the item of the list.
    """

    text: str
    people: Sequence[str]
    due: str
    is_done: bool | None
    evidence: Evidence


def tasks(question: Question) -> list[Computed]:
    """Return who does the task that a question names, until when, or the tasks that it asks for; empty if tasks differ in that."""
    if not question.is_of_files:
        return []
    kind = question.language.answer_types.expected_type(question.in_full).kind
    if kind == "person" and question.expected.kind != "yesno":
        return _people(question)
    if kind == "date" or question.expected.kind == "date":
        return _days(question)
    return _listed(question)


def _people(question: Question) -> list[Computed]:
    """Return those who do the task that a question names: "who prints the tickets?"."""
    named = _named(question)
    people = {fold(", ".join(task.people)): (place, task) for place, task in named if task.people}
    if len(people) != 1:
        return []
    ((place, task),) = people.values()
    entities = [_entity(name) for name in task.people]
    members = tuple((entity, task.evidence) for entity in entities) if len(entities) > 1 else ()
    return [Computed(entities[0], "role", (place,), members=members, extent=Extent(rows=1, files=1))]


def _days(question: Question) -> list[Computed]:
    """Return the day until which the task that a question names is to be done."""
    found = {fold(task.due): (place, task) for place, task in _named(question) if task.due}
    if len(found) != 1:
        return []
    ((place, task),) = found.values()
    day = day_in(task.due)
    entity = day.entity if day else _entity(task.due)
    return [Computed(entity, "entry", (place,), extent=Extent(rows=1, files=1))]


def _named(question: Question) -> list[tuple[int, Task]]:
    """Return the tasks among the evidences with all words of a question, those with the fewest others."""
    words = _words(question)
    found: list[tuple[int, int, Task]] = []
    for place, read in enumerate(question.evidences if words else ()):
        task = _task_of(question, read)
        said = question.language.properties.keywords(task.text) if task else frozenset[str]()
        if task and words <= said:
            found.append((len(said - words), place, task))
    return [(place, task) for others, place, task in found if others == min(found)[0]]


def _listed(question: Question) -> list[Computed]:
    """Return the tasks of a person, or those that are done, not done or due: "what does Omar have to do?"."""
    operations, keywords = question.language.operations, question.language.properties.keywords
    text, words = question.in_full, _words(question)
    asks_for_tasks = bool({*fold(text).split()} & operations.task_words) or operations.undone.search(text)
    tasks_of_files = _tasks_of_files(question) if asks_for_tasks and not operations.order(text) else []
    if len(tasks_of_files) < _MIN_TASKS:
        return []
    is_undone = operations.undone.search(text) is not None
    is_done = not is_undone and not operations.done_words.isdisjoint(fold(text).split())
    chosen = []
    for task in tasks_of_files:
        names = keywords(" ".join(task.people))
        day = keywords(task.due)
        if not words <= names | day or (words & day and not words >= day):
            continue
        is_in_state = (task.is_done is not True) if is_undone else (task.is_done is True) if is_done else True
        if is_in_state and (is_undone or is_done or words):
            chosen.append(task)
    if not chosen:
        return []
    places = [place for place, read in enumerate(question.evidences) if read.evidence in [t.evidence for t in chosen]]
    extent = Extent(rows=len(chosen), files=1)
    if operations.counting.search(text):
        return [Computed(number_entity(str(len(chosen))), "count", tuple(places), extent=extent)]
    members = tuple((_entity(task.text), task.evidence) for task in chosen)
    return [Computed(members[0][0], "list", tuple(places), members=members, extent=extent)]


def _words(question: Question) -> frozenset[str]:
    """Return the keywords of a question without those by which questions for tasks ask."""
    properties, operations = question.language.properties, question.language.operations
    beside = properties.keyword_set(operations.task_words | operations.due_words)
    return properties.keywords(question.in_full) - properties.light_keywords - beside


def _tasks_of_files(question: Question) -> list[Task]:
    """Return the tasks of the lists of the files among the evidences."""
    pages = dict.fromkeys(
        read.entities[0]["id"] for read in question.evidences if read.is_of_document and read.entities
    )
    found = []
    for page in pages:
        for evidence in question.pages.get(page) or ():
            if "citation" in evidence and evidence["source"] == "text" and "row" not in evidence:
                text = evidence["evidence_text"][passage_start(evidence, question.items.label(page) or "") :]
                found += [task for task in [_task(question, text, evidence)] if task]
    return found


def _task_of(question: Question, read: ReadEvidence) -> Task | None:
    if not read.is_of_document or "row" in read.evidence or "citation" not in read.evidence or not read.entities:
        return None
    return _task(question, read.text[passage_start(read.evidence, read.entities[0]["label"]) :], read.evidence)


def _task(question: Question, text: str, evidence: Evidence) -> Task | None:
    """Return the task that an item of a list is; None for another item."""
    operations = question.language.operations
    box = _BOX.match(text)
    is_done = bool(box["mark"].strip()) if box else None
    text = text[box.end() :] if box else text
    people: list[str] = []
    before = _BEFORE.fullmatch(text)
    if before and len(before["task"].split()) >= _MIN_WORDS and before["task"][0].islower():
        people += _people_in(question, before["names"])
        text = before["task"] if people else text
    what, *parts = (part for part in (part.strip(" ,;") for part in _PARTS.split(text.rstrip(". "))) if part)
    due = ""
    for part in parts:
        first, *rest = part.split()
        if fold(first) in operations.due_words and rest:
            due = " ".join(word for word in rest if fold(word) not in operations.due_words)
        elif fold(part) in operations.done_words:
            is_done = True
        elif names := _people_in(question, part.removeprefix("@")):
            people += names
        else:
            return None
    is_item = box is not None or bool(people)
    return Task(what.strip(), people, due, is_done, evidence) if is_item and what.strip() else None


def _people_in(question: Question, text: str) -> list[str]:
    """Return the names that a text is; empty if it is something else."""
    names = _BETWEEN_NAMES.split(text)
    small = question.language.words.is_written_small
    is_name = all(re.fullmatch(_NAME, name) and not small(fold(name.split()[0])) for name in names)
    return names if is_name else []


def _entity(text: str) -> Entity:
    return Entity(id=text, label=text)
