"""Rewriting of a follow-up as a question in full, with words of its history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import dropwhile, groupby, takewhile
from operator import itemgetter

import numpy as np

from ..encoder.question_readers import Pointers, QuestionRewriter
from ..knowledge_base.items import Items
from ..knowledge_base.linking import EntityLinker
from ..knowledge_base.question_names import small_names
from ..knowledge_base.spotting import LinkedMention
from ..language.language import Language
from ..language.text import fold
from ..records.conversation import Turn
from ..records.evidence import Entity, Mention
from ..records.literals import is_document_item, is_item
from ..records.periods import Boundary
from ..records.rewriting import EarlierTurn, FullQuestion, Insertion, concatenated, history_text, rewritten
from ..support.logit import Logit
from ..wikipedia.pages import Pages
from .ellipses import NO_ELLIPSIS, Ellipses
from .history import answer_text
from .pair_follow_ups import PairFollowUps
from .referents import EarlierEntity, FeatureReader, ReferentFeatures, earlier_entities
from .row_follow_ups import RowFollowUps

_MIN_PROBABILITY = 0.1  # of referents besides the best
# a correction replaces something, or is a question of its own ("no, her husband": 2.0); "before 1950" for "after 1970" has 1.3
_NONE_CORRECTED = 1.6
_NONE_OF_FILES = 2.1  # "and for books?" over files names no item: whatever the model says, it replaces something
# of a second reading that is tried: from .01 to .04 it mends as many of 400 answers to choose by, from .05 on fewer; .01 tries a quarter more
_LEAST = 0.04
_DESCRIBING = 3  # words behind "the" that may describe a thing: "the first American film"
_SHORTEST = 3  # words: "and until when?"
CORRECTION = "correction"  # the act of a turn that asks the last question anew
_WORD = re.compile(r"\w+")


class Rewriter:
    """Rewrites follow-ups as questions in full.

    A model points at the part of the last question that an ellipsis replaces ("and in 1998?"), and at names in the history.
    A conditional logit chooses the referents; their names replace pronouns, or the best one goes behind the question.

    Args:
        model: the model of the pointers; without it, or without weights, the last question and its answer go before the question.
        weights: the weights of the logit.
        kb: the knowledge base of the items.
        pages: the pages of the items.
        linker: links the names in questions.
        language: the language of the questions.
    """

    def __init__(
        self,
        model: QuestionRewriter | None,
        weights: Logit | None,
        kb: Items,
        pages: Pages,
        linker: EntityLinker,
        language: Language,
    ) -> None:
        self._model, self._weights, self._kb, self._linker, self._language = model, weights, kb, linker, language
        self._reader = FeatureReader(kb, pages, language)
        self._has_relations = any(kb.properties())
        self._pairs = PairFollowUps(kb, language)
        self._rows = RowFollowUps(pages, kb, language)
        self._ellipses = Ellipses(linker, language, kb, pages)

    def readings(self, turns: Sequence[Turn], histories: Sequence[Sequence[Turn]]) -> list[list[FullQuestion]]:
        """Return the questions of turns in full: for each the likeliest reading, and the second if it may be the right one."""
        histories = [list(map(self._by_its_words, history)) for history in histories]
        earlier = [list(map(earlier_turn, history)) for history in histories]
        spoken = [self._spoken(turn, bool(history)) for turn, history in zip(turns, histories, strict=True)]
        questions = [text for text, _ in spoken]
        if self._model is None or self._weights is None:
            return [[concatenated(question, before)] for question, before in zip(questions, earlier, strict=True)]
        presents = list(map(self._reader.present_topic, histories))
        texts = [topic_text(before, present) for before, present in zip(earlier, presents, strict=True)]
        pointers = self._model.pointers(questions, texts)
        return [
            [FullQuestion(question)]
            if points is None or stands_alone
            else self._read(question, history, before, present, points, self._weights, turn.get("act") == CORRECTION)
            for turn, (question, stands_alone), history, before, present, points in zip(
                turns, spoken, histories, earlier, presents, pointers, strict=True
            )
        ]

    def _by_its_words(self, turn: Turn) -> Turn:
        """Return an earlier turn, about what its question says of the file of its answer: "wedding cake", not "orders".

        A question names few files; "it" and "there" behind it mean a thing in the file, and behind "what is defective?" the answer.
        """
        representation, cited = turn.get("representation"), turn.get("top_evidences") or ()
        if (
            representation is None
            or not cited
            or not any(is_document_item(e["id"]) for e in representation["entities"])
        ):
            return turn
        text = turn.get("resolved_question") or turn["question"]
        keywords = self._language.properties.keywords
        row = self._named_row(turn)
        phrase = row or self._phrase_in(text, keywords(cited[0]["evidence_text"]))
        entities: list[Entity] = [
            {"id": entity["id"], "label": phrase}
            if phrase and is_document_item(entity["id"]) and (row or not keywords(entity["label"]) <= keywords(text))
            else entity
            for entity in representation["entities"]
        ]
        return {**turn, "representation": {**representation, "entities": entities}}

    def _phrase_in(self, question: str, keywords: AbstractSet[str]) -> str:
        """Return the words of a question by which it calls a thing, all of which are among some keywords; empty without any.

        The longest run of content words, rather one behind an article ("when did Moll mend the tap?"), best one behind "of the",
        without the verb behind "does".
        """
        words, keyword = self._language.words, self._language.properties.keyword
        spoken = [(fold(match[0]), match) for match in _WORD.finditer(question)]
        phrases: list[tuple[tuple[bool, bool, int], str]] = []  # each behind how well it names a thing
        article: re.Match[str] | None = None
        has_subject, is_owner = True, False
        for is_common, group in groupby(spoken, lambda pair: pair[0] in words.common):
            run = list(group)
            if is_common:
                article = run[-1][1] if run[-1][0] in words.articles else None
                is_owner = not self._language.answer_types.relating.isdisjoint(word for word, _ in run)
                has_subject = has_subject and words.doing.isdisjoint(word for word, _ in run)
                continue
            if not has_subject and len(run) > 1:
                run.pop()
            has_subject = True
            run = list(dropwhile(lambda pair: keyword(pair[0]) not in keywords, run))  # "many" of "how many rolls"
            run = list(takewhile(lambda pair: keyword(pair[0]) in keywords, run))
            if run and not self._language.steps.is_verb(question, *run[0][1].span()):
                phrase = question[(article or run[0][1]).start() : run[-1][1].end()]
                phrases.append(((is_owner and article is not None, article is not None, len(run)), phrase))
            article = None
        return max(phrases, key=itemgetter(0), default=((), ""))[1]

    def _spoken(self, turn: Turn, has_history: bool) -> tuple[str, bool]:
        """Return the question of a turn without asides, its topic in its place, and True if it needs nothing of the history.

        A correction is the ellipsis that it is.
        """
        talk = self._language.talk
        if turn.get("act") == CORRECTION:
            return f"and {talk.replacement(turn['question'])}?", False
        question = talk.bare(turn["question"])
        if self._has_relations:  # in files a number may be written as in the question
            question = self._language.literals.in_digits(question)
        if has_history and (follow_up := talk.alike(question)) is not None:
            return follow_up, False
        if (topic := talk.topic_first(question)) is None:
            return question, self._asks_who_is(question)
        spoken, is_named = topic
        return spoken, is_named and not self._reader.pronouns(spoken)

    def _asks_who_is(self, question: str) -> bool:
        """Return True for "who is flarbo mint?", which asks nothing but a name that no text has, and for "tell me about Titanic"."""
        name = self._language.steps.identified(question)
        start = question.rfind(name)
        if not name or (start, start + len(name)) in small_names(question, self._language):
            return bool(name)
        words = {word for word in fold(name).split() if word not in self._language.words.articles}
        linked = (mention for mention in self._linker.link(question) if mention.is_name and mention.is_certain)
        return any(words and words.issubset(fold(mention.surface).split()) for mention in linked)

    def _read(
        self,
        question: str,
        history: Sequence[Turn],
        earlier: Sequence[EarlierTurn],
        present: range,
        pointers: Pointers,
        weights: Logit,
        is_correction: bool,
    ) -> list[FullQuestion]:
        again = self._asked_again(question, history, earlier) or self._of_last_row(question, history)
        if again is not None:
            return [again]
        mentions = self._linker.link(question, classes=True)
        items = frozenset(named_items(mentions))
        if any(mention.kind == "compared" for mention in mentions) and not self._reader.pronouns(question):
            return [FullQuestion(question)]  # "is pelé older than zidane?" names all that it is about
        if self._has_relations:
            of_pair = self._pairs.about_pair(question, history, earlier[-1].question, items)
            if of_pair is not None:
                return [of_pair]
        if self._has_relations or self._is_of_row_alone(question):
            pronouns = self._reader.pronouns(question)
            of_row = self._rows.about_row(question, history, earlier[-1].question, items, pronouns)
            if of_row is not None:
                return [of_row]
        name = self._name_alone(question, mentions)
        if name is not None:
            ellipsis, _ = self._ellipses.complete(name.surface, history[-1], earlier, pointers, is_name=True)
            if ellipsis is not None:
                return [_as_written(name, ellipsis, self._is_alike(name, history[-1]))]
        ellipsis, none = self._ellipses.complete(question, history[-1], earlier, pointers)
        named = named_items(mentions)
        entities = [*earlier_entities(history), *self._described(history)]
        pointer_scores = pointed(entities, list(names_in(topic_text(earlier, present), history)), pointers)
        features = self._reader.read(question, entities, present, pointer_scores, named)
        nothing = self._reader.read_nothing(question, named)
        probabilities = weights.probabilities(features, nothing)[:-1] if entities else np.zeros(0)
        order = sorted(range(len(entities)), key=lambda place: -probabilities[place])
        order = self._owner_of_row(question, history[-1], order, entities)
        things = [] if nothing.fits else self._things_spoken_of(question, entities)
        order = [*things, *(place for place in order if place not in things)]
        order = order if things else self._owning(question, order, entities, present) or order
        is_of_file = not self._has_relations and self._language.talk.bare_ellipsis.match(question) is not None
        most = _NONE_OF_FILES if is_of_file else _NONE_CORRECTED if is_correction else 1.0
        # "where is it?" behind "which device is the oldest?" is no ellipsis
        is_of_row = not self._has_relations and self._reader.pronouns(question) and self._named_row(history[-1])
        completed = ellipsis if none < most and not is_of_row else None
        first = self._likeliest(question, completed, entities, present, order, probabilities, features)
        share = 1 - none / NO_ELLIPSIS
        readings = [(share, ellipsis)] if ellipsis else []
        # without relations between items, a question without pronoun does not refer to the history
        may_refer = self._has_relations or self._reader.pronouns(question)
        # "she" is the person who was spoken of, rather than a file
        best_fit = 0.0 if self._has_relations else max((each.fits for each in features), default=0.0)
        for place in order if may_refer else ():
            probability = (1 - share) * probabilities[place]
            if probability >= _LEAST and features[place].fits >= max(0.0, best_fit):
                readings.append((probability, self._with_referents(question, [entities[place]])))
        readings.sort(key=lambda reading: -reading[0])
        seen = first.text.casefold()
        others = [full for probability, full in readings if probability >= _LEAST and full.text.casefold() != seen]
        return [first, *others[:1]]

    def _is_of_row_alone(self, question: str) -> bool:
        """Return True for "and the next one?" and "until when?"; over files "when is the next meeting?" needs nothing of the history."""
        is_bound = self._language.times.boundary(question) is not Boundary.ANY
        is_short = len(question.split()) <= _SHORTEST
        return self._language.steps.names_step(question) or (is_bound and is_short)

    def _described(self, history: Sequence[Turn]) -> list[EarlierEntity]:
        """Return what the last question calls one thing of several, "the 1992 film", "the sequel": a pronoun may mean it."""
        text, types, words = history[-1]["question"], self._language.answer_types, self._language.words
        operations = self._language.operations
        spoken = [(fold(match[0]), match) for match in _WORD.finditer(text)]
        for place, (word, match) in enumerate(spoken):
            if word not in words.definite:
                continue
            behind = [form for form, _ in spoken[place + 1 : place + 1 + _DESCRIBING]]
            noun = next(
                (at for at, form in enumerate(behind) if types.names_class(form) or form in words.sequels), None
            )
            if noun is None:
                continue
            chosen = behind[: noun + 1]
            if any(form.isdecimal() or operations.is_of_degree(form) or form in words.sequels for form in chosen):
                phrase = text[match.start() : spoken[place + 1 + noun][1].end()]
                thing = Entity(id=phrase, label=phrase)
                return [EarlierEntity(thing, (len(history) - 1,), (), is_person=False, is_thing=True)]
        return []

    def _name_alone(self, question: str, mentions: Iterable[LinkedMention]) -> LinkedMention | None:
        """Return the name that is all of a question, "and Aliens?" or "same for the White Album": it asks nothing by itself."""
        talk = self._language.talk
        bare = fold(talk.also.sub("", talk.about.sub("", question), count=1))
        return next((mention for mention in mentions if mention.is_name and fold(mention.surface) == bare), None)

    def _is_alike(self, name: LinkedMention, last: Turn) -> bool:
        """Return True if a name is one of a thing of the kind that the last turn was about."""
        items = [
            name.candidates[0].id,
            *(topic["id"] for topic in last.get("representation", {}).get("entities", ())[:1]),
        ]
        kinds = [self._language.answer_types.entity_kind(item, self._kb.types(item)) for item in items if is_item(item)]
        return len(kinds) > 1 and len({*kinds}) == 1

    def _likeliest(
        self,
        question: str,
        completed: FullQuestion | None,
        entities: Sequence[EarlierEntity],
        present: range,
        order: Sequence[int],
        probabilities: np.ndarray,
        features: Sequence[ReferentFeatures],
    ) -> FullQuestion:
        """Return the likeliest reading of a question: `completed`, if it is an ellipsis, or with its referents, best first in `order`."""
        if completed:
            text = completed.text.casefold()
            has_item = bool(named_items(self._linker.link(completed.text, classes=True)))
            is_named = not entities or any(entry.entity["label"].casefold() in text for entry in entities)
            if has_item or is_named or not self._has_relations:  # most names in files are no items
                return completed
        # without relations between items, a question without pronoun does not refer to the history
        stands_alone = not self._has_relations and not self._reader.pronouns(question)
        if not order or probabilities.max() <= 1 - probabilities.sum() or stands_alone:
            return completed or FullQuestion(question)
        likely = [order[0], *(place for place in order[1:] if probabilities[place] >= _MIN_PROBABILITY)]
        # what is unlikely is not taken from a topic that is over
        of_topic = [place for place in order if entities[place].is_in(present)]
        likely = self._of_pronouns(self._reader.pronouns(question), likely, of_topic, entities, features)
        likely = self._with_topic(question, likely, of_topic, entities, features)
        referents = [entities[place] for place in likely]
        if completed:  # the referent goes behind it, in brackets
            text = completed.text.rstrip(" ?")
            name, insertion = _inserted(len(text) + 2, referents[0])
            return FullQuestion(f"{text} ({name})?", (*completed.insertions, insertion))
        return self._with_referents(question, referents)

    def _owner_of_row(
        self, question: str, last: Turn, order: list[int], entities: Sequence[EarlierEntity]
    ) -> list[int]:
        """Return an order of entities with that of the table first of which the last turn was about a row, if pronouns may mean it.

        "Where did they play in 2006?" behind the score of a final is about the club of the table, not about its opponent.
        """
        row = last.get("representation", {}).get("row")
        pronouns = self._reader.pronouns(question)
        owners = [place for place in order if row is not None and entities[place].entity["id"] == row["page"]]
        if not owners or not pronouns or not all(self._reader.may_mean(each, entities[owners[0]]) for each in pronouns):
            return order
        return [*owners, *(place for place in order if place not in owners)]

    def _owning(
        self, question: str, order: Sequence[int], entities: Sequence[EarlierEntity], present: range
    ) -> list[int]:
        """Return the places of those of the topic that have what a question names: a film, not its director, has a budget."""
        named = set(self._ellipses.properties_named(question))
        of_topic = (place for place in order if named and entities[place].is_in(present))
        return [place for place in of_topic if not named.isdisjoint(self._properties_of(entities[place].entity["id"]))]

    def _things_spoken_of(self, question: str, entities: Sequence[EarlierEntity]) -> list[int]:
        """Return the places of the things without an item that a pronoun may mean: the last answer, or what its question describes."""
        pronouns = {match[0].casefold() for match in self._reader.personal(question)}
        if pronouns.isdisjoint(self._language.words.pronouns["thing"]):
            return []
        return [place for place, each in enumerate(entities) if each.is_nameless]

    def _properties_of(self, item: str) -> Sequence[str]:
        return self._kb.properties_of(item) if is_item(item) else ()

    def _of_pronouns(
        self,
        pronouns: Sequence[str],
        likely: Sequence[int],
        of_topic: Sequence[int],
        entities: Sequence[EarlierEntity],
        features: Sequence[ReferentFeatures],
    ) -> list[int]:
        """Return the places of the likely referents that pronouns allow, and for a pronoun without one the best of the topic."""
        referents = list(likely)
        if not any(features[place].fits > 0 for place in likely):  # "when it came out" behind a turn about people
            fitting = [place for place in of_topic if features[place].fits > 0]
            referents = fitting[:1] or referents
        people = self._language.words.pronouns["person"]
        if not people.isdisjoint(pronouns):  # "where does she live?" behind "who owns Minka?" and "who owns Rex?"
            misfits = [
                place
                for place in referents
                if features[place].fits <= 0
                and any(self._reader.may_mean(pronoun, entities[place]) for pronoun in people)
            ]
            referents = [place for place in referents if place not in misfits] or referents
        for pronoun in pronouns:  # "how many goals did he score there": a person and a place
            may_mean = [place for place in of_topic if self._reader.may_mean(pronoun, entities[place])]
            if set(may_mean).isdisjoint(referents):
                referents += may_mean[:1]
        return referents

    def _with_topic(
        self,
        question: str,
        likely: list[int],
        of_topic: Sequence[int],
        entities: Sequence[EarlierEntity],
        features: Sequence[ReferentFeatures],
    ) -> list[int]:
        """Return the likely referents behind what the last turn was about: the club of a coach, the book of "the 1992 film".

        "Who followed him?" and "when did he leave?" are about an office, which one of several clubs may have given.
        """
        times, best = self._language.times, features[likely[0]]
        is_of_office = times.asks_beside(question) is not None or times.boundary(question) is not Boundary.ANY
        is_holder = is_of_office and best.fits > 0 and bool(best.last_answer or best.last_asked)
        if not is_holder and not entities[likely[0]].is_nameless:
            return likely
        spoken_of = (place for place in of_topic if features[place].last_asked or features[place].first_asked)
        topics = [place for place in spoken_of if place != likely[0] and is_item(entities[place].entity["id"])][:1]
        return [*topics, *(place for place in likely if place not in topics)]

    def _with_referents(self, question: str, referents: Sequence[EarlierEntity]) -> FullQuestion:
        return rewritten(question, *self._edits(question, referents), self._language.words.owns)

    def _asked_again(
        self, question: str, history: Sequence[Turn], earlier: Sequence[EarlierTurn]
    ) -> FullQuestion | None:
        """Return a question for the number, the sum or a part of what was listed, with the last question in it; else None."""
        operations, last = self._language.operations, earlier[-1].question
        is_of_count = operations.counting.search(last) and operations.listed_again.match(question)
        if "extent" not in history[-1] and not is_of_count:
            return None
        parts = operations.asked_again(question, last)
        if parts is None:
            return None
        before, earlier_words, behind = parts
        end = len(before) + len(earlier_words)
        insertion = Insertion(len(before), end, len(earlier) - 1, "question")
        return FullQuestion(f"{before}{earlier_words}{behind}?", (insertion,))

    def _of_last_row(self, question: str, history: Sequence[Turn]) -> FullQuestion | None:
        """Return a question for another column of the row of the last answer, with the name of that row; else None.

        "Who is the client?", "How much has been spent?" and "How many do we have?" go on about it without a pronoun.
        """
        cited = history[-1].get("top_evidences") or ()
        is_ellipsis = self._language.talk.bare_ellipsis.match(question) or self._reader.pronouns(question)
        if self._has_relations or not cited or "row" not in cited[0] or is_ellipsis:
            return None
        cells, keywords = cited[0]["row"]["cells"], self._language.properties.keywords
        many = self._language.literals.counted.search(question)
        content = keywords(question) - (keywords(many[0]) if many else frozenset())
        headers = frozenset[str]().union(*(keywords(cell["header"]) for cell in cells[1:]))
        if not content <= headers or not (content or self._language.operations.counting.match(question)):
            return None
        before = keywords(f"{history[-1].get('resolved_question', '')} {answer_text(history[-1])}")
        texts = (cell["text"] for cell in cells if any(map(str.isalpha, cell["text"])))
        # "Under 17" of a row that begins with "Football"
        name = next((text for text in texts if (words := keywords(text)) and words <= before - content), "")
        if not name:
            return None
        text = question.rstrip(" ?.!")
        start = len(text) + 2
        return FullQuestion(f"{text} ({name})?", (Insertion(start, start + len(name), len(history) - 1, "answer"),))

    def _named_row(self, turn: Turn) -> str:
        """Return the answer of a turn if it names the row of its evidence; empty if it is something else, or a person."""
        answers, text = turn.get("answers") or (), turn.get("resolved_question") or turn["question"]
        cited = next(iter(turn.get("top_evidences") or ()), None)
        # the model takes "the most expensive device" for a person
        kind = turn.get("representation", {}).get("answer_type")
        is_for_person = kind == "person" == self._language.answer_types.expected_type(text).kind
        if len(answers) != 1 or cited is None or "row" not in cited or is_for_person:
            return ""
        # of the file, and of what the row is about; not its days
        names = [entity["label"] for entity in cited["wikidata_entities"] if is_document_item(entity["id"])]
        label = answers[0]["label"]
        # "plot 4" for the 4 below "Plot"
        numbered = (cell["header"] for cell in cited["row"]["cells"] if cell["text"] == label and label.isdecimal())
        return label if label in names else f"{header} {label}" if (header := next(numbered, "")) else ""

    def _edits(
        self, question: str, referents: Sequence[EarlierEntity]
    ) -> tuple[list[tuple[str, Insertion]], list[tuple[int, int]]]:
        """Return the names of referents to insert and the pronouns to remove; the best goes to the end if no pronoun is for it."""
        inserted: list[tuple[str, Insertion]] = []
        removed: list[tuple[int, int]] = []
        words = self._language.words
        gendered = frozenset().union(*words.genders.values())
        pronouns = [*self._reader.personal(question), *words.pointing_phrase.finditer(question)]
        left = sorted(referents, key=lambda entry: not entry.is_nameless)
        for match in sorted(pronouns, key=lambda match: (match[0].casefold() not in gendered, match.start())):
            pronoun = match[0].casefold().split()[0]
            referent = next((entry for entry in left if self._reader.may_mean(pronoun, entry)), None)
            if referent is not None:
                left.remove(referent)  # two pronouns have two referents: "did they find her"
                inserted.append(_inserted(match.start(), referent))
                removed.append(match.span())
        if referents[0] in left and referents[0].entity["label"].casefold() not in question.casefold():
            inserted.append(_inserted(len(question.rstrip(" ?.!")), referents[0]))
        return inserted, removed


def _inserted(place: int, referent: EarlierEntity) -> tuple[str, Insertion]:
    entity, questions, answers = referent.entity, referent.questions, referent.answers
    is_answer = not questions or (answers and answers[-1] > questions[-1])
    turn = answers[-1] if is_answer else questions[-1]
    name = entity["label"]
    return name, Insertion(place, place + len(name), turn, "answer" if is_answer else "question", entity)


def _as_written(name: LinkedMention, full: FullQuestion, is_alike: bool) -> FullQuestion:
    """Return a question with the name of an item as its label has it: of "the wire" in small letters a question says nothing certain.

    A part of a name, "zidane", becomes the whole one if the last question was about a thing of its kind.
    """
    label = name.candidates[0].label
    start, end = full.text.casefold().find(label.casefold()), len(label)
    if start < 0 and is_alike and not name.is_certain:
        start, end = full.text.casefold().find(name.surface.casefold()), len(name.surface)
        label = (
            label.lower() if full.text == full.text.lower() else label
        )  # names in lower case are none beside capitals
    if start < 0:
        return full
    return full._replace(text=f"{full.text[:start]}{label}{full.text[start + end :]}")


def earlier_turn(turn: Turn) -> EarlierTurn:
    """Return the question in full and the answer of an earlier turn."""
    return EarlierTurn(turn.get("resolved_question") or turn["question"], answer_text(turn))


def topic_text(earlier: Sequence[EarlierTurn], present: range) -> str:
    """Return the text of the present topic for the model: the names of a topic that is over would take a share of its pointers."""
    return history_text(earlier[present.start : present.stop])


def named_items(linked: Iterable[LinkedMention]) -> dict[str, int]:
    """Return the items that a question certainly names: where each name starts, by id."""
    return {mention.candidates[0].id: mention.start for mention in linked if mention.is_name and mention.is_certain}


def names_in(text: str, history: Iterable[Turn]) -> Iterator[Mention]:
    """Yield all places in the text of a history that name an item or an answer of it."""
    names: dict[str, str] = {}
    for turn in history:
        representation = turn.get("representation", {})
        for candidate in representation.get("candidates", ()):
            if not candidate["rank"]:
                names[candidate["question_word"].casefold()] = candidate["item"]["id"]
        topics = (*representation.get("context", ()), *representation.get("entities", ()))
        for item in (*topics, *turn.get("answers", ())):
            names[item["label"].casefold()] = item["id"]
    folded = text.casefold()
    for name, entity_id in names.items():
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", folded) if name else ():
            yield Mention(start=match.start(), end=match.end(), id=entity_id)


def pointed(entities: Sequence[EarlierEntity], names: Sequence[Mention], pointers: Pointers) -> list[float]:
    """Return for each entity the greatest probability of a pointer from the question to a name of it."""
    best = dict.fromkeys((earlier.entity["id"] for earlier in entities), 0.0)
    for name in names:
        within = np.flatnonzero((pointers.tokens[:, 0] >= name["start"]) & (pointers.tokens[:, 1] <= name["end"]))
        if len(within) and name["id"] in best:
            probabilities = pointers.starts[:, 1 + within[0]] * pointers.ends[:, 1 + within[-1]]
            best[name["id"]] = max(best[name["id"]], float(probabilities.max()))
    return list(best.values())
