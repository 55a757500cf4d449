"""Reasons to leave a turn without an answer, in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from ..language.language import stop_words
from ..language.property_names import PropertyLabel
from ..language.read_evidence import ReadEvidence
from ..language.text import fold
from ..records.conversation import Turn
from ..records.literals import MONTHS, is_document_item
from ..records.periods import Period, day_number
from ..records.written_values import kind_of_value
from .comparisons import entries_of, is_of_thing, named_things
from .question import Question
from .ranked_answers import AnswerCandidate
from .sentences import is_prose, sentence_spans
from .statements import asking_words, explained_words
from .tables.meanings import is_of_other_column

_LANGUAGES = {"de": "German", "es": "Spanish", "fr": "French", "pl": "Polish"}  # with stop word lists
# reasons, or their beginnings, that say that the answer stands nowhere
DO_NOT_SAY = "the evidences do not say"
_UNKNOWN, _NOT_FOUND = "nothing is known of", "nothing was found about"
_NO_NAME, _UNRELATED = "no name in the question is known", "no evidence has a word of the question"
MISSING = (DO_NOT_SAY, _UNKNOWN, _NOT_FOUND, _NO_NAME, _UNRELATED)
_BIRTH, _DEATH = "P569", ("P570", "P20", "P119", "P509")  # of a birth; of a death, its place, the grave and the cause
_RIVAL = 0.5  # share of the best answer's probability from which on another answer contradicts it
_WORD = re.compile(r"\w+")
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")
_ORDINAL = re.compile(r"(?<=\d)[a-z]{2}$")  # of "2nd"
_CERTAIN = 0.8  # the wrong ones of 119 questions without an answer had at most .76, right ones of natural-dev .89
# right answers over four folders whose sentence has no word of the question had .7, the wrong ones at most .45
_LIKELY = 0.5
_BEGINNING = (
    4  # letters that two words of one family share; of 443 questions over files none is answered otherwise by it
)
# least cosine of a question and of an entry whose number it may ask for without a word of it: of 78 questions without an answer the
# wrong ones had .53 at most, right ones of the parts to choose by .68 at least
_NEAR = 0.58
_FOREIGN = 2  # stop words of another language, and more than of the expected language


def reason_to_abstain(question: Question, ranked: Sequence[AnswerCandidate], least: float) -> str | None:
    """Return why a question is better left without an answer; None if the best answer is likely enough."""
    if language := foreign(
        question.text, question.language.words.common, [entity["label"] for entity in question.about]
    ):
        return f"the question seems to be {language}; only English is understood"
    unknown = unknown_names(question)
    likely = ranked[0].score if ranked else 0.0
    if ranked and ranked[0].is_listed:  # one of its members is asked for as much as another
        likely = sum(answer.score for answer in ranked if answer.is_listed)
    elif stated := ranked and _stated_property(question, ranked[0]):  # a film has a date of release in each country
        likely = sum(answer.score for answer in ranked if _stated_property(question, answer) == stated)
    others = [answer for answer in ranked[1:] if not (answer.is_listed and ranked[0].is_listed)]
    # only documents may be about something else; among facts other checks tell, and a computation has its own
    is_computed = bool(ranked) and not {"reader", "evidences"}.issuperset(ranked[0].reasons)
    is_unrelated = not is_computed and _is_unrelated(question)
    checks = (
        _lacks_place, _lacks_time, _lacks_day, _lacks_death, _lacks_label, _lacks_thing, _lacks_values, _lacks_words, _lacks_row, _lacks_name, _lacks_amount, _asks_about_future, is_of_other_column,
    )  # fmt: skip
    is_baseless = bool(ranked) and any(lacks(question, ranked[0]) for lacks in checks)
    is_likely = likely >= least or (bool(ranked) and _is_requested(question, ranked[0]))
    if is_likely and not unknown and not is_unrelated and not is_baseless:
        return None
    if unknown:
        return f"{_UNKNOWN} {_listed(unknown)}"
    if not question.evidences:
        names = [entity["label"] for entity in question.about]
        return f"{_NOT_FOUND} {_listed(names)}" if names else _NO_NAME
    if is_unrelated:
        return _UNRELATED
    if not is_baseless and others and others[0].score >= _RIVAL * likely and likely + others[0].score >= least:
        first, second = ranked[0].entity["label"], others[0].entity["label"]
        return f"the evidences disagree: {first} or {second}"
    return DO_NOT_SAY


def _is_unrelated(question: Question) -> bool:
    """Return True if no evidence has a word of a question, or one that begins like it ("drives", "driver"), and all are of files."""
    beginnings = {word[:_BEGINNING] for word in question.language.properties.keywords(question.in_full)}
    return bool(beginnings and question.evidences) and all(
        evidence.is_of_document and beginnings.isdisjoint(word[:_BEGINNING] for word in evidence.keywords)
        for evidence in question.evidences
    )


def _stated_property(question: Question, answer: AnswerCandidate) -> tuple[str, str] | None:
    """Return the subject and the property of the fact whose value an answer is, if a question asks for it or for a date; else None."""
    fact = question.evidences[answer.places[0]].fact if answer.places else None
    if fact is None or fact.object["id"] != answer.entity["id"]:
        return None
    if kind_of_value(answer.entity["id"]) != "date":
        label = PropertyLabel(fact.predicate["label"], fact.predicate["id"])
        if not question.property_names.asking(label, question.language.properties.keywords(question.in_full)):
            return None
    return fact.subject["id"], fact.predicate["id"]


def note_abstention(turn: Turn, question: Question, ranked: Sequence[AnswerCandidate], least: float) -> None:
    """Mark a turn that is better left without an answer."""
    if reason := reason_to_abstain(question, ranked, least):
        abstain(turn, reason)


def abstain(turn: Turn, reason: str) -> None:
    """Mark the answers of a turn as suggestions; a failed look-up takes the place of the reason."""
    failures = turn["live"]["failures"] if "live" in turn else []
    turn["abstained"] = {"reason": f"not all could be looked up ({failures[0]})" if failures else reason}


def unknown_names(question: Question) -> list[str]:
    """Return the names in a question that link to no item and stand in no evidence.

    "A and B" may stand there as A and B, "Lake Tarn" as a cell "Tarn" below "lake".
    """
    if not question.unlinked:
        return []
    text = " ".join(evidence.folded for evidence in question.evidences)
    words, keywords = question.language, question.language.properties.keywords
    rows = [evidence.evidence["row"] for evidence in question.evidences if "row" in evidence.evidence]
    cells = [keywords(f"{cell['header']} {cell['text']}") for row in rows for cell in row["cells"]]

    def is_found(name: str) -> bool:
        name = words.names.without_title(name)
        parts = keywords(name)
        in_cell = bool(parts) and any(parts <= cell for cell in cells)
        return in_cell or f" {words.words.without_article(fold(name))} " in text

    return [
        name
        for name in question.unlinked
        # without capitals a word before a name may be part of it: "the salesman wade gustafson"
        if not (any(map(is_found, name.split())) if name.islower() else is_found(name))
        and not all(map(is_found, words.names.listed(name)))
    ]


def _lacks_place(question: Question, best: AnswerCandidate) -> bool:
    """Return True if a question asks for the second, third ... of things of which the evidences of an answer do not have as many.

    "Her third child" of a mother of two. Rows are in an order, and texts may say the word.
    """
    operations, keywords = question.language.operations, question.language.properties.keywords
    nth = operations.nth(question.in_full)
    if nth is None or best.reasons[:1] == ("order",):
        return False
    place, word, _ = nth
    if word in {name for entity in question.about for name in fold(entity["label"]).split()}:
        return False
    words, names = keywords(question.in_full), question.property_names
    values: Counter[tuple[str, str]] = Counter()  # of each property of a fact
    for read in question.evidences:
        if fact := read.fact:
            label = PropertyLabel(fact.predicate["label"], fact.predicate["id"])
            if names.asking(label, words):
                values[fact.subject["id"], fact.predicate["id"]] += 1
    for read in (question.evidences[at] for at in best.places):
        said = read.folded.split()
        if "row" in read.evidence or word in said or any(_ORDINAL.sub("", text) == str(place) for text in said):
            return False
        if "attribute" in read.evidence:
            attribute = read.evidence["attribute"]
            if names.asking(PropertyLabel(attribute["path"][-1]), words) and len(attribute["values"]) >= place:
                return False
        elif (fact := read.fact) and values[fact.subject["id"], fact.predicate["id"]] >= place:
            return False
    return True


def _lacks_time(question: Question, best: AnswerCandidate) -> bool:
    """Return True if a question names a time, and the evidences of an answer have other years only: a cup of 1978 for one of 2026."""
    time = question.language.times.time(question.in_full)
    if time is None or question.expected.kind in ("date", "number", "yesno") or best.reasons[:1] != ("reader",):
        return False
    lifetime, types = question.lifetimes.of(best.entity["id"]), question.items.types(best.entity["id"])
    kind = question.language.answer_types.entity_kind(best.entity["id"], types)
    # a film of 2000 was not made in 1965; a country was there before it was founded anew
    if lifetime is not None and kind in ("person", "thing") and not lifetime.overlaps(time.period):
        return True
    is_dated = False
    for read in (question.evidences[at] for at in best.places):
        years = [Period(day_number(int(year)), day_number(int(year), 12, 31)) for year in _YEAR.findall(read.text)]
        periods = [*years, *(part.period for part in read.parts if part.period is not None)]
        if any(period.overlaps(time.period) for period in periods) or not (periods or read.fact):
            return False
        is_dated = is_dated or bool(periods)  # a fact without a time holds at that of a row
    return is_dated


def _lacks_death(question: Question, best: AnswerCandidate) -> bool:
    """Return True if a question asks for the end or the grave of a person of whom only the birth is known: another one died."""
    if best.reasons[:1] != ("reader",) or question.is_of_files:
        return False
    things, names = named_things(question), question.property_names
    dead = question.language.properties.keyword_set(question.language.operations.dead)
    words = asking_words(question, things)
    if len(things) != 1 or not words or not words <= dead:
        return False
    entries = [label for read in question.evidences if is_of_thing(read, things[0]) for label, _ in entries_of(read)]
    is_born = any(names.is_of(label, _BIRTH) for label in entries)
    return is_born and not any(names.is_of(label, end) for label in entries for end in _DEATH)


def _is_requested(question: Question, best: AnswerCandidate) -> bool:
    """Return True if an answer is the value of a thing that a question names, and all its other words name the property: "Arsenal league"."""
    if not best.places or question.is_of_files:
        return False
    things = named_things(question)
    words = asking_words(question, things)
    for read in (question.evidences[at] for at in best.places if words):
        if any(is_of_thing(read, thing) for thing in things) and explained_words(question, read, words) == words:
            return any(entity["id"] == best.entity["id"] for _, entities in entries_of(read) for entity in entities)
    return False


def _lacks_label(question: Question, best: AnswerCandidate) -> bool:
    """Return True if no word of a question names what a number is of, nor is near to that: caps for "how much does he weigh?"."""
    reads = [question.evidences[at] for at in best.places]
    if best.reasons[:1] != ("reader",) or question.is_of_files or kind_of_value(best.entity["id"]) != "number":
        return False
    counting = question.language.operations.counting.search(question.in_full)
    counted = question.language.properties.keywords(counting[0]) if counting else frozenset[str]()
    words = asking_words(question, named_things(question))
    if not words - counted:  # "how many are they?"
        return False
    if not all(any(entries_of(read)) for read in reads) or any(
        explained_words(question, read, words) for read in reads
    ):
        return False
    vectors = question.embed([question.spoken, *(read.text for read in reads)])
    return vectors is not None and bool((vectors[1:] @ vectors[0] < _NEAR).all())


def _lacks_day(question: Question, best: AnswerCandidate) -> bool:
    """Return True if a question names a day or a month, and a reader found an answer in what a file says about others only.

    In a row of 13 April for 20 April, or in a text whose file names the day nowhere else; "from 13 April" is on the 20th, too.
    """
    times, text = question.language.times, question.in_full
    if best.reasons[:1] != ("reader",) or not question.is_of_files or question.expected.kind in ("date", "yesno"):
        return False
    days, weekdays, season = times.days_of_year(text), times.days_of_week(text), times.seasons(text)
    if not days and not weekdays and season is not None:
        days = [(month, day) for month in range(1, 13) for day in (1, 31) if season.admits(0, month, day)]
    is_one = len(days) < 2 or (len(days) == 2 and days[0][0] == days[1][0])  # a day, or a month
    if not (days or weekdays) or (days and weekdays) or not is_one or times.bounds_days(text):
        return False
    read = question.evidences[best.places[0]]
    if not read.is_of_document:
        return False
    if weekdays:
        said = times.days_of_week(read.text)
        return "row" in read.evidence and bool(said) and said.isdisjoint(weekdays)
    page = question.pages.get(read.entities[0]["id"]) if read.entities and "row" not in read.evidence else None
    if any(_speaks_of(evidence["evidence_text"], days, question) for evidence in page or (read.evidence,)):
        return False
    is_of_change = not (times.starting | times.ending).isdisjoint(fold(text).split())
    return bool(times.days_of_year(read.text)) and (is_of_change or not times.bounds_days(read.text))


def _speaks_of(text: str, days: Sequence[tuple[int, int]], question: Question) -> bool:
    """Return True if a text names one of the days from the first to the last, days around them, or their month."""
    named = question.language.times.days_of_year(text)
    if named and min(named) <= max(days) and min(days) <= max(named):
        return True
    return len(days) > 1 and MONTHS[days[0][0] - 1].casefold() in fold(text).split()


def _lacks_values(question: Question, best: AnswerCandidate) -> bool:
    """Return True if a question compares ages or measures of items, and the values of both are not among the evidences.

    Which came earlier, and which had more, texts say in other ways.
    """
    operations = question.language.operations
    if not operations.compares_measures(question.in_full) or best.score >= _CERTAIN or "comparison" in best.reasons:
        return False
    is_of_two = operations.offers(question.in_full) or question.expected.kind == "yesno"
    return is_of_two and not question.is_of_files and len(named_things(question)) > 1


def _lacks_thing(question: Question, best: AnswerCandidate) -> bool:
    """Return True if no evidence of a date or a number has all things that a question names: goals for one club of goals for another."""
    if not kind_of_value(best.entity["id"]) or best.reasons[:1] != ("reader",):
        return False
    if best.score >= _CERTAIN:  # a page need not say what it is about
        return False
    keywords = question.language.properties.keywords
    words = keywords(question.text)  # what a rewrite put in may be wrong
    types, items = question.language.answer_types, question.items
    country = types.noun_types("country")  # of a player's "international caps"
    named = [
        (entity["id"], name)
        for entity in question.about
        if (name := keywords(items.label(entity["id"]) or entity["label"])) & words
        # "dinner" is no name, though a row is about it
        and not (is_document_item(entity["id"]) and not _is_capitalised(name, question))
        and not items.is_class(entity["id"])
        and types.heads(items.types(entity["id"])).isdisjoint(country)
    ]
    for read in (question.evidences[at] for at in best.places):
        ids = {entity["id"] for entity in (*read.entities, *([read.subject] if read.subject else ()))}
        lacking = [thing for thing, name in named if thing not in ids and not name & words & read.keywords]
        is_pronoun = not question.language.words.pronouns["person"].isdisjoint(read.folded.split())  # for the person
        if not lacking or (
            is_pronoun and all(types.entity_kind(thing, items.types(thing)) == "person" for thing in lacking)
        ):
            return False
    return True


def _lacks_words(question: Question, best: AnswerCandidate) -> bool:
    """Return True if a question asks who or what something is, and the sentence of a file with the answer has no word of it.

    Its title and headings have none either, and no pronoun stands for a person: "you can reach him on".
    """
    if best.reasons[:1] != ("reader",) or not question.language.steps.identified(question.in_full):
        return False
    properties, label, read = question.language.properties, best.entity["label"], question.evidences[best.places[0]]
    words = properties.keywords(question.in_full) - properties.light_keywords - properties.keywords(label)
    beginnings = {word[:_BEGINNING] for word in properties.with_synonyms(words)}
    spans = sentence_spans(read) if is_prose(read) else []
    said = " ".join(read.text[start:end] for start, end in spans if label in read.text[start:end])
    is_pronoun = not question.language.words.pronouns["person"].isdisjoint(fold(said).split())
    if not said or not beginnings or is_pronoun:
        return False
    around = properties.keywords(f"{read.text[: spans[0][0]]} {said}")
    return beginnings.isdisjoint(word[:_BEGINNING] for word in around)


def _lacks_row(question: Question, best: AnswerCandidate) -> bool:
    """Return True if a question asks for a value of a thing, and a reader found it in the row of a file that has no word but its header.

    "What does the uniform cost?" of the costs of trips. Likewise in a sentence.
    """
    literals = question.language.literals
    if best.reasons[:1] != ("reader",) or not literals.paying.match(question.in_full):
        return False
    properties = question.language.properties
    words = properties.keywords(question.in_full) - properties.light_keywords
    for read in (question.evidences[at] for at in best.places):
        if is_prose(read) and best.score < _LIKELY and _lacks_beginnings(question, best, read, words):
            continue
        if "row" not in read.evidence or not read.is_of_document:
            return False
        headers = properties.keyword_set(cell["header"] for cell in read.evidence["row"]["cells"])
        asked_for = {word for word in words if literals.names_of(word) & headers or word in headers}
        beginnings = {word[:_BEGINNING] for word in properties.with_synonyms(words - asked_for)}
        if not beginnings or not beginnings.isdisjoint(word[:_BEGINNING] for word in read.keywords - headers):
            return False
    return bool(best.places)


def _lacks_beginnings(question: Question, best: AnswerCandidate, read: ReadEvidence, words: frozenset[str]) -> bool:
    """Return True if the sentence with an answer, and what stands above it, have no word but those that ask for an amount.

    "What does a beer cost?" of "Camping costs 6 euros".
    """
    properties, literals = question.language.properties, question.language.literals
    label, spans = best.entity["label"], sentence_spans(read)
    said = " ".join(read.text[start:end] for start, end in spans if label in read.text[start:end])
    around = properties.keywords(f"{read.text[: spans[0][0]]} {said}") if said else frozenset[str]()
    counted = literals.counted.search(question.in_full)
    words -= properties.keywords(counted[0]) if counted else frozenset()
    asked_for = {word for word in words if len(literals.names_of(word)) > 1}
    beginnings = {word[:_BEGINNING] for word in properties.with_synonyms(words - asked_for)}
    return bool(said and beginnings) and beginnings.isdisjoint(word[:_BEGINNING] for word in around)


def _lacks_name(question: Question, best: AnswerCandidate) -> bool:
    """Return True if a question over files asks for a name, and a reader found small words behind an article: "the secretary"."""
    if best.reasons[:1] != ("reader",) or not question.is_of_files:
        return False
    article, *words = best.entity["label"].split()
    is_bare = article.casefold() in question.language.words.articles and all(map(str.islower, words))
    return is_bare and question.language.operations.name_of.search(question.in_full) is not None


def _lacks_amount(question: Question, best: AnswerCandidate) -> bool:
    """Return True if a question over files asks how much something costs, and a reader found no amount: "the boiler"."""
    is_read = best.reasons[:1] == ("reader",) and question.is_of_files
    literals, label = question.language.literals, best.entity["label"]
    is_amount = any(map(str.isdigit, label)) or any(
        literals.number_in_words(word) is not None for word in fold(label).split()
    )
    is_free = not literals.gratis.isdisjoint(fold(label).split())
    return is_read and not (is_amount or is_free) and literals.paying.match(question.in_full) is not None


def _is_capitalised(name: AbstractSet[str], question: Question) -> bool:
    """Return True if a question writes a word of a name, by its keywords, with a capital."""
    words = [word for word in _WORD.findall(question.in_full)[1:] if word[:1].isupper()]
    return not question.language.properties.keyword_set(words).isdisjoint(name)


def _asks_about_future(question: Question, best: AnswerCandidate) -> bool:
    """Return True if a question asks what will be, and the evidences of an answer do not speak of that.

    Files say in the present what will be: "from January the shop closes on Mondays".
    """
    future = question.language.times.future
    if any(question.evidences[at].is_of_document for at in best.places):
        return False
    if future.isdisjoint(fold(question.in_full).split()):
        return False
    return all(future.isdisjoint(question.evidences[at].folded.split()) for at in best.places)


def foreign(question: str, common: frozenset[str], names: Iterable[str] = ()) -> str | None:
    """Return the foreign language that a question seems to be in, by its stop words; None for the expected language."""
    named = {word for name in names for word in fold(name).split()}
    words = [word for word in fold(question).split() if word not in named]
    expected = sum(word in common for word in words)
    counts = {code: sum(word in stop_words(code) for word in words) for code in _LANGUAGES}
    code = max(counts, key=lambda name: counts[name])
    return _LANGUAGES[code] if counts[code] >= _FOREIGN and counts[code] > expected else None


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)
