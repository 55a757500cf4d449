"""Answers to questions that ask for several: the values of one property, the rows of one table, the names of one sentence."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ..language.property_names import PropertyLabel
from ..language.read_evidence import ReadEvidence
from ..language.text import fold
from ..records.conversation import Turn
from ..records.evidence import Entity, Evidence, with_score
from ..records.evidence_structure import structured
from ..records.literals import is_document_item, is_item
from .candidates import EntityCandidate
from .comparisons import is_of_thing, named_things
from .question import Question
from .ranked_answers import AnswerCandidate
from .statements import asking_words
from .tables.lists import whole_column

_Group = tuple[str, ...]  # what several answers have in common: a property, a column, an infobox entry
_MOST_CITED = (
    100  # further evidences of a turn for the members of a list: a page shows no more, and a turn stays below 100 kB
)
_LEAST_ENUMERATED = 3  # parts of an enumeration: two may be one name, "Ziegel & Sohn", "Paris, France"
_LONGEST_PART = 5  # words of a part
_BESIDE_NAME = re.compile(r"\s*\([^()]*\)")
_SENTENCE_END = re.compile(r"[.;!?](?=\s|$)")
_QUOTES = ('"', "“", "„", "«", "'")
_MOST_WANTED = 20  # "name three": a higher number is that of a title
_CUT = 0.05  # of the best answer's probability: a less probable value of the same property is not listed


def with_list(
    question: Question, candidates: Sequence[EntityCandidate], ranked: Sequence[AnswerCandidate]
) -> list[AnswerCandidate]:
    """Return ranked answers; if the question asks for several, the listed answers are marked and come first.

    A list that a computation gives is one answer, whose members are as probable as all of them together. Other listed answers have
    the same role as the best answer: values of the same property of the same item, cells of the same column.
    Earlier answers are left out if the question excludes them ("Who else?").
    """
    words = question.language.operations
    if words.excluding.search(question.in_full):
        said = {entity["id"] for entity in question.said}
        left_out = said | {answer.entity["id"] for answer in ranked if _is_excepted(question, answer)}
        left_out |= _beside(question, candidates, left_out)
        ranked = [answer for answer in ranked if answer.entity["id"] not in left_out]
    if computed := _computed_list(candidates, ranked):
        return _first_members(question, computed)
    # "which programme takes the longest?" has one answer
    if not ranked or not words.asks_for_several(question.in_full) or "order" in ranked[0].reasons:
        return list(ranked)
    if enumerated := _enumerated(question, ranked[0]):
        rest = [
            answer for answer in ranked[1:] if answer.entity["id"] not in {each.entity["id"] for each in enumerated}
        ]
        return enumerated + rest
    if line := _whole_line(question, ranked):
        return _first_members(question, line)
    groups = {candidate.entity["id"]: set(_groups(question, candidate)) for candidate in candidates}
    shared = groups[ranked[0].entity["id"]]
    least = _CUT * ranked[0].score
    members = [answer for answer in ranked if answer.score >= least and groups[answer.entity["id"]] & shared]
    if len(members) < 2:
        return list(ranked)
    if column := _whole_column(question, ranked, members, shared):
        return _first_members(question, column)
    rest = [answer for answer in ranked if answer not in members]
    return _first_members(question, [answer._replace(is_listed=True) for answer in members] + rest)


def _whole_column(
    question: Question,
    ranked: Sequence[AnswerCandidate],
    members: Sequence[AnswerCandidate],
    shared: AbstractSet[_Group],
) -> list[AnswerCandidate]:
    """Return ranked answers behind all things of the column of an article's table that the listed ones stand in; empty without one."""
    for _, page, caption, section, label in (group for group in shared if group[0] == "row"):
        things = [] if is_document_item(page) else whole_column(question, page, caption, section, label)
        ids, names = {entity["id"] for entity in things}, {fold(entity["label"]) for entity in things}
        within = [each for each in ranked if each.entity["id"] in ids or fold(each.entity["label"]) in names]
        if sum(answer in within for answer in members) <= len(members) / 2:
            continue
        found = {fold(answer.entity["label"]): answer.entity for answer in reversed(within)}
        score, best = min(1.0, sum(answer.score for answer in within)), members[0]
        whole = [
            best._replace(entity=found.get(fold(each["label"]), each), score=score, is_listed=True) for each in things
        ]
        return whole + [answer for answer in ranked if answer not in within]
    return []


def _first_members(question: Question, ranked: list[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return ranked answers of which only as many are listed as a request wants: "name three albums by Coldplay"."""
    asking = question.language.operations.listing.match(question.in_full)
    number = question.in_full[asking.end() :].split()[:1] if asking else []
    count = question.language.literals.number_in_words(fold(number[0])) if number else None
    if count is None and number and number[0].isdecimal():
        count = int(number[0])
    if not count or count > _MOST_WANTED:
        return ranked
    return [answer._replace(is_listed=answer.is_listed and place < count) for place, answer in enumerate(ranked)]


def _whole_line(question: Question, ranked: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return ranked answers behind all values, in their order, of the infobox entry that a question asks for; empty without one.

    The entry is of a thing that the question names, its name has all other words of the question but one, and its values are
    together no less probable than the best answer.
    """
    things, names = named_things(question), question.property_names
    properties = question.language.properties
    words = properties.with_synonyms(asking_words(question, things))
    best: tuple[float, int, list[Entity]] = (0.0, 0, [])
    for place, read in enumerate(question.evidences):
        if "attribute" not in read.evidence or not any(is_of_thing(read, thing) for thing in things):
            continue
        values = read.evidence["attribute"]["values"]
        label = PropertyLabel(read.evidence["attribute"]["path"][-1])
        if not (names.asking(label, words) or names.coverage(label, words)):
            continue
        members = _values_of(read, label.text)
        if len(members) < 2:
            continue
        labels = {fold(member["label"]) for member in members} | {fold(value["text"]) for value in values}
        score = sum(answer.score for answer in ranked if _is_among(answer, members, labels))
        if score > best[0]:
            best = score, place, members
    score, place, members = best
    if not members or score < ranked[0].score:
        return []
    labels = {fold(member["label"]) for member in members}
    found = {fold(answer.entity["label"]): answer.entity for answer in reversed(ranked)}
    entities = [found.get(fold(member["label"]), member) for member in members]
    rest = [answer for answer in ranked if not _is_among(answer, members, labels)]
    return [
        AnswerCandidate(entity, min(1.0, score), (place,), ranked[0].reasons, is_listed=True) for entity in entities
    ] + rest


def _values_of(read: ReadEvidence, label: str) -> list[Entity]:
    """Return the items and texts of an infobox entry; of one text in the plural its parts: "Nickname(s), I Nerazzurri, La Beneamata"."""
    values = read.evidence["attribute"]["values"]
    parts = values[0]["text"].split(", ")
    if len(values) == 1 and label.rstrip(")").endswith("s") and all(part[:1].isupper() for part in parts):
        return [Entity(id=part, label=part) for part in parts]
    entities = []
    for value in values:
        items = read.within(value["start"], value["start"] + len(value["text"]))
        text = Entity(id=value["text"], label=value["text"])
        entities.append(next((item for item in items if is_item(item["id"])), text))
    return entities


def _is_among(answer: AnswerCandidate, members: Sequence[Entity], labels: AbstractSet[str]) -> bool:
    """Return True if an answer is a member of a list, or the text of several of them."""
    name = fold(answer.entity["label"])
    together = fold(" ".join(member["label"] for member in members))
    return name in labels or any(member["id"] == answer.entity["id"] for member in members) or name == together


def _enumerated(question: Question, best: AnswerCandidate) -> list[AnswerCandidate]:
    """Return the parts of the enumeration that the best answer is, or is a part of behind a colon, in a sentence of a document.

    "Three offers were read: Krone (18,400 euros), Ziegel (21,950 euros) and Pohl."
    """
    if "reader" not in best.reasons or not best.places or not question.evidences[best.places[0]].is_of_document:
        return []
    text, label = question.evidences[best.places[0]].text, best.entity["label"]
    start = text.find(label)
    if start < 0:
        return []
    colon, end = text.rfind(": ", 0, start + 1), _SENTENCE_END.search(text, start)
    stop = end.start() if end else len(text)
    behind = text[colon + 2 : stop] if colon >= 0 and not _SENTENCE_END.search(text, colon, start) else label
    for enumeration in (behind, label):
        enumeration = _until_last_part(enumeration, question)
        names = [_BESIDE_NAME.sub("", name).strip() for name in question.language.operations.between.split(enumeration)]
        are_quoted = len(names) > 1 and all(name[:1] in _QUOTES for name in names)
        if (
            (are_quoted or len(names) >= _LEAST_ENUMERATED)
            and all(names)
            and max(len(name.split()) for name in names) <= _LONGEST_PART
        ):
            return [best._replace(entity={"id": name, "label": name}, is_listed=True) for name in dict.fromkeys(names)]
    return []


def _until_last_part(enumeration: str, question: Question) -> str:
    """Return an enumeration without what stands behind a comma after its last "and": "Momo and Emil, due 4 December"."""
    joints = [*question.language.operations.between.finditer(enumeration)]
    last = next((place for place in reversed(range(len(joints))) if any(map(str.isalpha, joints[place][0]))), None)
    return enumeration if last is None or last + 1 == len(joints) else enumeration[: joints[last + 1].start()]


def _is_excepted(question: Question, answer: AnswerCandidate) -> bool:
    """Return True if a question wants others than an answer: "apart from Kate Winslet"."""
    language = question.language
    match = language.operations.excepting.search(question.in_full)
    keywords = language.properties.keywords
    label = keywords(answer.entity["label"])
    names = language.names.parted(match["names"]) if match else []
    return any((words := keywords(name)) and (words <= label or (label and label <= words)) for name in names)


def _beside(question: Question, candidates: Sequence[EntityCandidate], left_out: AbstractSet[str]) -> set[str]:
    """Return what only the rows and facts of answers that are left out have in another role: the part that an actor played."""
    labels: dict[int, set[str]] = defaultdict(set)
    for candidate in candidates:
        for role in candidate.roles if candidate.entity["id"] in left_out else ():
            read = question.evidences[role.place]
            if read.fact or "row" in read.evidence:
                labels[role.place].update(label.text for label in role.labels[:1])
    return {
        candidate.entity["id"]
        for candidate in candidates
        if candidate.roles
        and all(
            role.place in labels and labels[role.place].isdisjoint(label.text for label in role.labels[:1])
            for role in candidate.roles
        )
    }


def _computed_list(candidates: Sequence[EntityCandidate], ranked: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return ranked answers behind the members of a computed list; empty if another answer is more probable, or without a list."""
    for candidate in candidates:
        if candidate.computed is None or not candidate.computed.members:
            continue
        members = {fold(entity["label"]): entity for entity, _ in candidate.computed.members}
        found: dict[str, AnswerCandidate] = {}  # the more probable of two of one name
        for answer in ranked:
            if (name := fold(answer.entity["label"])) in members:
                found.setdefault(name, answer)
        score = min(1.0, sum(answer.score for answer in found.values()))
        rest = [answer for answer in ranked if fold(answer.entity["label"]) not in members]
        if not rest or candidate.computed.is_named or score >= rest[0].score:
            entities = (found[name].entity if name in found else entity for name, entity in members.items())
            places = candidate.computed.places
            return [
                AnswerCandidate(entity, score, places, candidate.reasons, is_listed=True) for entity in entities
            ] + rest
    return []


def cite_list(
    turn: Turn, question: Question, candidates: Sequence[EntityCandidate], ranked: Sequence[AnswerCandidate]
) -> tuple[Question, list[AnswerCandidate]]:
    """Add the evidences of the members of a computed list to those of a turn, and the extent of what the first answer is computed from.

    Returns:
        The question with the further evidences, and the answers with their places.
    """
    by_id = {candidate.entity["id"]: candidate.computed for candidate in candidates if candidate.computed}
    first = by_id.get(ranked[0].entity["id"]) if ranked else None
    if first is None or first.extent is None:
        return question, [*ranked]
    listed = {fold(answer.entity["label"]) for answer in ranked if answer.is_listed}
    if not listed <= {fold(entity["label"]) for entity, _ in first.members}:  # another list than the computed one
        return question, [*ranked]
    turn["extent"] = first.extent
    if not ranked[0].is_listed or not first.members:
        return question, [*ranked]
    places = {read.evidence["evidence_text"]: place for place, read in enumerate(question.evidences)}
    further: list[Evidence] = []
    cited: dict[str, tuple[int, ...]] = {}  # by the folded name
    for entity, evidence in first.members:
        text = "" if evidence is None else evidence["evidence_text"]
        if evidence is not None and text not in places and len(further) < _MOST_CITED:
            places[text] = len(question.evidences) + len(further)
            further.append(with_score(evidence, 0.0))
        if text in places:
            cited[fold(entity["label"])] = (places[text],)
    turn["top_evidences"] = [*turn["top_evidences"], *further]
    read = [ReadEvidence(structured(evidence), question.language) for evidence in further]
    answers = [
        answer._replace(places=cited.get(fold(answer.entity["label"]), ())) if answer.is_listed else answer
        for answer in ranked
    ]
    return replace(question, evidences=[*question.evidences, *read]), answers


def _groups(question: Question, candidate: EntityCandidate) -> Iterator[_Group]:
    for role in candidate.roles:
        read = question.evidences[role.place]
        evidence, page = read.evidence, "" if read.subject is None else read.subject["id"]
        label = role.labels[0].text if role.labels else ""
        if fact := read.fact:
            partner = fact.object if role.kind == "subject" else fact.subject
            yield "fact", role.kind, partner["id"], label
        elif "row" in evidence and label:
            row = evidence["row"]
            yield "row", row.get("page", page), row["caption"], row["section"], label
        elif "attribute" in evidence:
            yield "box", page, *evidence["attribute"]["path"]
        else:
            yield "text", str(role.place)
