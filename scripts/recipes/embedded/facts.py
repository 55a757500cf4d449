"""Facts of wikidata-27k with questions for them, against other facts of the same item.

Three kinds of questions: for the values of a property, for the items that have a value, and for qualifiers.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from convinse.language.language import english
from convinse.records.literals import is_date
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.patterns import (
    BACKWARD,
    BY_QUALIFIER,
    FORWARD,
    OF_QUALIFIER,
    Pattern,
    hand_written,
    simple_questions,
)
from recipes.embedded.wikidata import SOURCE, Facts, Told, Words, is_item, part_of_fact
from recipes.embedded.wording import Wording, kin_of

T = TypeVar("T")
_OF_SUBJECT = 6  # examples, at most
_OF_PLACE = 2  # there are many places, and few questions about them
_OF_PROPERTY = 220
_OF_NUMBER = 150
_OF_STATISTIC = 60  # of a number without phrasings written for it
_OF_INVERSE = 110
_OF_QUALIFIER = 130
_MOST_SUBJECTS = 12  # of an inverse question; there are too many answers to "who is an actor?"
_RELEVANT = 3
_POOL = 60  # facts that negatives are chosen from


def facts(data: Path, work: Path, seed: int) -> Iterator[Example]:
    """Questions for facts of wikidata-27k; the key is the label of the relevant facts' subject."""
    knowledge = Facts(data, work)
    with closing(knowledge.kb):
        yield from Questions(knowledge, data, seed).all()


class Questions:
    def __init__(self, knowledge: Facts, data: Path, seed: int) -> None:
        self._known = knowledge
        self._chance = random.Random(f"facts {seed}")
        self._written = hand_written()
        self._wording = Wording(knowledge, self._written, self._chance)
        self._mined = simple_questions(data, knowledge.kb.label)
        self._count: Counter[str] = Counter()  # examples of a subject
        self._of_property: dict[str, list[str]] = defaultdict(list)  # subjects
        for subject, stated in knowledge.by_subject.items():
            for prop in dict.fromkeys(fact.prop for fact in stated):
                self._of_property[prop].append(subject)

    def all(self) -> Iterator[Example]:
        """All examples: the rarest properties first, so that subjects are left for them."""
        order = sorted(self._of_property, key=lambda prop: (len(self._of_property[prop]), prop))
        for prop in order:
            yield from self._of_qualifiers(prop)
            yield from islice(self._inverse(prop), _OF_INVERSE)
            yield from self._forward(prop)

    def _forward(self, prop: str) -> Iterator[Example]:
        written, mined = self._written.get((prop, FORWARD), ()), self._mined.get(prop, ())
        subjects = self._shuffled(self._of_property[prop])
        sample = self._known.by_subject[subjects[0]]
        value = next(fact.value for fact in sample if fact.prop == prop)
        is_number = not is_item(value) and not is_date(value)
        most = _OF_PROPERTY if not is_number else _OF_NUMBER if written else _OF_STATISTIC
        made = 0
        for subject in subjects:
            if made == most:
                break
            if self._is_used_up(subject):
                continue
            stated = self._known.by_subject[subject]
            right = self._shuffled(fact for fact in stated if fact.prop == prop)
            pattern = self._wording.choose(self._wording.pools(written, mined, right[0]), subject, right[0].value)
            if pattern is None:
                continue
            near = [fact for fact in stated if fact.prop != prop] + self._known.by_object.get(subject, [])
            answers, kin = frozenset(fact.value for fact in right), kin_of(prop, pattern.text)
            wrong = [
                fact
                for fact in near
                if not (fact.prop in kin and fact.subject == subject) and not answers & set(fact.ids)
            ]
            example = self._example(pattern, subject, right, 2, wrong, self._others(prop, subject, answers))
            if example:
                made += 1
                yield example

    def _inverse(self, prop: str) -> Iterator[Example]:
        pools = [
            pool for pool in (self._written.get((prop, BACKWARD), ()), self._mined.get(f"R{prop[1:]}", ())) if pool
        ]
        if not pools:
            return
        by_value: dict[str, list[Told]] = defaultdict(list)
        for subject in self._of_property[prop]:
            for fact in self._known.by_subject[subject]:
                if fact.prop == prop and is_item(fact.value) and fact.value not in self._known.bench.items:
                    by_value[fact.value].append(fact)
        for value in self._shuffled(by_value):
            found = by_value[value]
            if len({fact.subject for fact in found}) > _MOST_SUBJECTS:
                continue
            first = self._chance.choice(found)
            if self._is_used_up(first.subject) or first.subject == value:
                continue
            pattern = self._wording.choose(pools, value, first.subject, least_fit=0.1)
            if pattern is None:
                continue
            answers, kin = {fact.subject for fact in found}, kin_of(prop, pattern.text)
            near = self._known.by_subject.get(value, []) + self._known.by_object.get(value, [])
            wrong = [
                fact
                for fact in near
                if not (fact.prop in kin and fact.value == value) and fact.prop != prop and not answers & set(fact.ids)
            ]
            right = [first, *(fact for fact in found if fact is not first)]
            others = [fact for other in self._shuffled(by_value)[:20] for fact in by_value[other][:1] if other != value]
            others = [fact for fact in others if not {value, *answers} & set(fact.ids)]
            example = self._example(pattern, value, right, 0, wrong, others, key=first.subject)
            if example:
                yield example

    def _of_qualifiers(self, prop: str) -> Iterator[Example]:
        for name, direction in self._written:
            if not name.startswith(f"{prop}/"):
                continue
            qualifier = name.split("/")[1]
            made = 0
            for subject in self._shuffled(self._of_property[prop]):
                same = [fact for fact in self._known.by_subject[subject] if fact.prop == prop]
                having = [fact for fact in same if qualifier in fact.ids[3::2]]
                if made == _OF_QUALIFIER or not having or self._is_used_up(subject):
                    continue
                example = self._of_qualifier(subject, self._chance.choice(having), same, qualifier, direction)
                if example:
                    made += 1
                    yield example

    def _of_qualifier(
        self, subject: str, fact: Told, siblings: Sequence[Told], qualifier: str, direction: str
    ) -> Example | None:
        places = _qualifier_places(qualifier, fact)  # of its values
        patterns = self._written[f"{fact.prop}/{qualifier}", direction]
        if direction == OF_QUALIFIER:
            answer_id, place, span_places = fact.value, 2, places
            right = [one for one in siblings if one.value == answer_id and qualifier in one.ids[3::2]]
            near = [one for one in siblings if one.value != answer_id]
        else:
            place = places[0]
            answer_id, span_places = fact.ids[place], [2]
            right = [one for one in siblings if answer_id in one.ids[4::2]]
            near = [one for one in siblings if answer_id not in one.ids]
        answer = fact.ids[span_places[0]]
        pattern = self._wording.choose([patterns], subject, answer)
        if pattern is None or (direction == OF_QUALIFIER and len(right) > _RELEVANT):
            return None
        answers = {
            one.ids[at] for one in right for at in ([2] if direction == BY_QUALIFIER else range(4, len(one.ids), 2))
        }
        elsewhere = [one for one in self._known.by_subject[subject] if one.prop != fact.prop]
        elsewhere = [one for one in elsewhere if one.prop not in kin_of(fact.prop, "")]
        wrong = [one for one in near + elsewhere if not answers & set(one.ids[2:])]
        others = self._others(fact.prop, subject, frozenset(answers))
        which = partial(_qualifier_places, qualifier) if direction == OF_QUALIFIER else 2
        right = [fact, *(one for one in right if one is not fact)]
        return self._example(pattern, subject, right, which, wrong, others, value_name=fact.labels[place])

    def _example(
        self,
        pattern: Pattern,
        topic: str,
        right: Sequence[Told],
        answer: int | Callable[[Told], list[int]],
        wrong: Sequence[Told],
        others: Sequence[Told],
        key: str = "",
        value_name: str = "",
    ) -> Example | None:
        """An example about a topic; None when no negative is left."""
        key = key or topic
        part = part_of_fact(right[0])
        right = [right[0], *(fact for fact in right[1:] if part_of_fact(fact) == part)]
        wrong = [fact for fact in wrong if part_of_fact(fact) == part]
        others = [fact for fact in others if part_of_fact(fact) == part]
        words = {"v": value_name, "q": value_name}
        question = self._wording.spelled(pattern.filled(Words.named(self._known.kb.label(topic)), **words))
        texts = {fact.text for fact in right}
        if len(wrong) > _POOL:
            wrong = self._chance.sample(wrong, _POOL)
        chosen = self._hardest(question, right[0], wrong, self._chance.choice((3, 4, 4)))
        chosen += self._chance.sample(others, min(len(others), max(1, 3 - len(chosen))))
        negatives = [Candidate(text) for text in dict.fromkeys(fact.text for fact in chosen) if text not in texts]
        if not negatives:
            return None
        find = answer if callable(answer) else lambda fact: [answer]
        relevant = [
            Candidate(fact.text, True, fact.spans(find(fact), question))
            for fact in {fact.text: fact for fact in right[:_RELEVANT]}.values()
        ]
        self._count[key] += 1
        query = self._wording.query(pattern, topic, question, words, right[0].prop)
        return Example(query, (*relevant, *negatives), SOURCE, right[0].labels[0], f"{SOURCE}:{topic}")

    def _others(self, prop: str, subject: str, answers: frozenset[str]) -> list[Told]:
        """Facts of other items with a property, of items of the same kind first."""
        of = self._of_property[prop]
        drawn = [of[self._chance.randrange(len(of))] for _ in range(12)]
        found = [
            self._chance.choice([fact for fact in self._known.by_subject[one] if fact.prop == prop]) for one in drawn
        ]
        found = [fact for fact in found if fact.subject != subject and not {subject, *answers} & set(fact.ids)]
        same = [fact for fact in found if self._known.kind(fact.subject) == self._known.kind(subject)]
        return same or found

    def _hardest(self, question: str, right: Told, pool: Iterable[Told], number: int) -> list[Told]:
        """Negatives: values of the same kind and words of the question count, and a little chance; few of a property."""
        stems = set(english().words.stems(question))
        kind = self._known.kind(right.value)

        def hardness(fact: Told) -> float:
            words = _stems(fact.labels[1]) | _stems(fact.labels[2])
            alike = 1.0 if self._known.kind(fact.value) == kind else 0.0
            return alike + 0.7 * len(stems & words) + self._chance.random()

        scored = sorted(((hardness(fact), place, fact) for place, fact in enumerate(pool)), reverse=True)
        chosen: list[Told] = []
        of_property: Counter[str] = Counter()
        for _, _, fact in scored:
            if len(chosen) < number and of_property[fact.prop] < (2 if is_item(fact.value) else 1):
                of_property[fact.prop] += 1
                chosen.append(fact)
        return chosen

    def _is_used_up(self, subject: str) -> bool:
        return self._count[subject] >= (_OF_PLACE if self._known.kind(subject) in ("place", "people") else _OF_SUBJECT)

    def _shuffled(self, things: Iterable[T]) -> list[T]:
        found = list(things)
        self._chance.shuffle(found)
        return found


def _qualifier_places(qualifier: str, fact: Told) -> list[int]:
    return [place + 1 for place in range(3, len(fact.ids), 2) if fact.ids[place] == qualifier]


@lru_cache(maxsize=100_000)
def _stems(label: str) -> frozenset[str]:
    return frozenset(english().words.stems(label))
