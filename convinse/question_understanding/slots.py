"""A structured representation without training: what linking, pronouns and ellipsis say of the history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from itertools import pairwise

from ..answer_typing import Asking, LikelyClasses, asked_together
from ..config import Config
from ..knowledge_base.index import KnowledgeBase
from ..knowledge_base.linking import LinkedMention
from ..language.answer_types import AnswerType, AnswerTypes
from ..language.text import fold
from ..records.conversation import Turn, Understanding
from ..records.evidence import Entity
from ..records.representation import QuestionEntity, Representation, read_slots, render
from ..resources import Resources
from .base import QuestionUnderstanding
from .history import history_part, origins
from .parallels import Parallel, Parallels
from .pointing import Name, Pointing
from .referents import Asked, ChosenReferents, Focus, Referent, as_referent, may_mean, recent
from .resolution import after, completed, dated, in_full, with_name
from .roles import Roles
from .unlinked import UnlinkedNames, as_candidates

_CAPITALS = re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_NEIGHBORS = 1000  # items beside an item that are looked at
_KEPT_ITEMS = 256  # whose neighbors stay in memory: what is talked about; 90 KB for an item with a thousand
_CLEARLY = 2  # times the facts of a namesake: the one that is meant where nothing else tells
_OWN_TYPES = 2  # the nearest classes of an item; classes above them are shared too widely
_BACK = 5  # turns of which half a sentence may change a name
_BESIDE = 200  # characters on either side of a mention in which the noun beside it is looked for


class Slots(QuestionUnderstanding):
    """`context || question entities || predicate words || expected answer type`, after CONVINSE's representation.

    - question entities: the names in the question; else what its pronoun refers to; else, in an ellipsis, what the
      turn before was about;
    - context: the topic of the conversation, unless the question names another thing of the same class;
    - predicate words: the content words of the question; those of the turn before when the question has none of its
      own ("What about ...?");
    - expected answer type: what the answer type head of `ha_model` tells of the question in full; without such a head
      from the question words, else from the turn before.

    All but the predicate and the type are items with their ids, which stay what they are through the conversation; a question
    is linked once.

    Args:
        config: `kb_path`, `clocq_params`, `sr_delimiter` and, for its answer type head, `ha_model` are used.
        resources: what the stages of a pipeline share.
    """

    def __init__(self, config: Config, resources: Resources | None = None) -> None:
        super().__init__(config, resources)
        self._near = lru_cache(maxsize=_KEPT_ITEMS)(lambda item_id: self.kb.neighbors(item_id, _NEIGHBORS))

    @property
    def kb(self) -> KnowledgeBase:
        """The knowledge base that questions are linked to."""
        return self.resources.kb

    @cached_property
    def _roles(self) -> Roles:
        return Roles(self.kb, self.language, self._referent, self._neighbors)

    @cached_property
    def _pointing(self) -> Pointing:
        return Pointing(self.kb, self.language, self._is_a, self._is_rival)

    @cached_property
    def _parallels(self) -> Parallels:
        return Parallels(self.resources.wikipedia, self.language)

    @cached_property
    def _unlinked(self) -> UnlinkedNames:
        return UnlinkedNames(self.kb, self.language, self.resources.wikipedia)

    def inference_on_turn(self, turn: Turn, history_turns: Sequence[Turn]) -> Understanding:
        """Fill the slots; see the base class."""
        return asked_together(self.resources.answer_typing, [self._filled(turn, history_turns)])[0]

    def inference_on_turns(
        self, turns: Sequence[Turn], histories: Sequence[Sequence[Turn]]
    ) -> Sequence[str | Understanding]:
        """Fill the slots of all turns, whose answer types are asked for together; see the base class."""
        if type(self).inference_on_turn is not Slots.inference_on_turn:  # a subclass does more than fill slots
            return super().inference_on_turns(turns, histories)
        work = [self._filled(turn, history) for turn, history in zip(turns, histories, strict=True)]
        return asked_together(self.resources.answer_typing, work)

    def _filled(self, turn: Turn, history_turns: Sequence[Turn]) -> Asking[Understanding]:
        question = turn["question"]
        history: list[Turn] = [
            {"turn": place, **earlier, "representation": self._representation(earlier)}
            for place, earlier in enumerate(history_turns)
        ]
        foci = [self._focus(earlier) for earlier in history]
        if history:
            answers = [answer["id"] for answer in history[-1].get("answers", ())]
            question = dated(question, _in_full(history[-1]), answers, self.language)
            question = self._with_that(question, history[-1])
        talked_about, told = foci, history  # of all turns: what was talked about is known by its name for good
        start = self._topic_start(foci, history)
        foci, history = foci[start:], history[start:]
        linked = self.resources.linker.link(question, classes=True)
        source, parallel = self._parallel(question, history)
        if parallel is not None:  # the page knows better than the linker whom "mia" means
            linked = [own for own in linked if not _overlaps(own, parallel) or own.candidates[0].id in parallel.items]
        mentions = self._meant(question, [mention for mention in linked if mention.is_name], talked_about, told)
        if mentions and self.language.conversation.turning.search(question):
            foci, history = [], []
        named = self._named(question, mentions, talked_about)
        role = self._roles.find(question, mentions, named or list(recent(foci)))
        named += [referent for referent in role.meant if referent not in named]
        blank = self.language.conversation.turning.sub(lambda match: " " * len(match[0]), role.outside(question))
        predicate = self._predicate(blank, mentions, named)
        number, elliptical = len(predicate), bool(history) and self._is_elliptical(question, predicate, bool(named))
        patterns = self.language.conversation
        # "and the three years from 2013", "and in the last season"
        is_when = patterns.years.search(question) is not None or self._is_frame(question) or self._is_nth(question)
        before = history[-1] if elliptical and (is_when or not self._roles.asks_property(predicate)) else None
        if parallel is not None:
            elliptical, before = True, source
        # "And when they came second?" asks the same of another time
        is_clause = (
            before is not None
            and not patterns.complete.search(question)
            and bool(patterns.question_word.search(question))
        )
        if before is not None:
            predicate = self._inherit(predicate, before, is_clause, parallel.old if parallel is not None else "")
        answer_type, likely = yield from self._expected("" if is_clause else question, before)
        asked = Asked(question, tuple(named), tuple(predicate), answer_type, elliptical, likely)
        entities, context, scores = self._choose(asked, foci, history)
        if parallel is not None:
            entities, context = self._in_parallel(parallel, bool(named), entities, context)
        if not named and not scores and not self._points(question):
            entities, context = self._with_property(predicate, entities, context, talked_about)
        spoken = []
        if foci:
            spoken = [Name(mention.start, mention.end, self._meaning(mention, talked_about)) for mention in mentions]
            spoken += [Name(role.start, role.end, person) for person in role.meant]
            pointed = self._pointing.lacking(question, spoken, (*(() if named else entities), *context), foci)
            if named:
                context = tuple(dict.fromkeys((*pointed, *context)))
            elif pointed and before is None and self.language.conversation.that_one.search(question):
                entities = tuple(pointed)
            else:  # in an ellipsis, what was asked about comes first
                entities = tuple(dict.fromkeys((*entities, *pointed) if before is not None else (*pointed, *entities)))
        taken_of_history = context if named else (*entities, *context)
        unplaced = self._pointing.unmeant(question, spoken, taken_of_history)
        own = {mention.candidates[0].id for mention in mentions}
        taken = [referent for referent in (*entities, *context) if referent.id not in own]
        used = origins(taken, talked_about, told, scores)
        known = candidates([*entities, *context], mentions, set(recent(talked_about)), scores)
        items = {candidate["item"]["id"]: None for candidate in known}
        spoken_of = (referent for focus in talked_about for referent in (*focus.by_salience, *focus.told))
        words = {word for referent in (*spoken_of, *named) for word in fold(referent.label).split()}
        unlinked = self._unlinked.find(question, mentions, words, list(items))
        if before is not None:
            if predicate[number:]:
                place = next(place for place, earlier in enumerate(history) if earlier is before)
                used.append(history_part(history, place, "question", " ".join(predicate[number:])))
            earlier = before["representation"].get("unlinked", ())
            resolved = with_name(_in_full(before), question, unlinked, earlier, self.language)
            if parallel is not None:
                resolved = completed(parallel.in_full, [referent.label for referent in (*entities, *context)])
            if resolved is None:
                resolved, rest = after(_in_full(before), question, named, entities, foci[-1].asked, self.language)
                unplaced += [rest] if rest else []
        else:
            mentioned = context if named else [*entities, *context]
            resolved = in_full(role.named(question), mentioned, self._is_a, self.language)
        if self.resources.answer_typing is not None:
            answer_type = (yield resolved if is_clause else question, resolved).told
        known += self._namesakes([*entities, *context])
        pointing = not self.language.words.personal.isdisjoint(fold(question).split())
        if not items or not (named or pointing):  # else the question is tied to what is known
            known += as_candidates((name for name in unlinked if not (items and name["name"].islower())), items.keys())
        if not known:  # it is about nothing that has a name
            rare = self._unlinked.rare(predicate)
            known = as_candidates([{"name": " ".join(rare), "pages": self._unlinked.pages([], rare)}], set())
        representation: Representation = {
            "context": [referent.entity for referent in context],
            "entities": [referent.entity for referent in entities],
            "predicate": " ".join(predicate),
            "answer_type": answer_type.label,
            "candidates": known or [meaning for mention in linked for meaning in mention.meanings],  # it may mean these
        }
        if unlinked:
            representation["unlinked"] = unlinked
        if unplaced:
            representation["unplaced"] = unplaced
        return {
            "structured_representation": render(representation, self.config.sr_delimiter),
            "representation": representation,
            "resolved_question": resolved,
            "history_used": used,
        }

    def _choose(self, asked: Asked, foci: Sequence[Focus], history: Sequence[Turn]) -> ChosenReferents:
        """What the question names, or else what of the history it is about; and its context."""
        entities = list(asked.named) or self._refer(asked.question, foci)
        return ChosenReferents(tuple(entities), tuple(self._context(asked.question, entities, bool(asked.named), foci)))

    @property
    def _types(self) -> AnswerTypes:
        return self.language.answer_types

    def _referent(self, entity_id: str, label: str) -> Referent:
        return as_referent(self.kb, self._types, entity_id, label)

    def _is_a(self, referent: Referent, noun: str) -> bool:
        types = self.kb.types(referent.id) if referent.id.startswith("Q") else ()
        if self._types.is_character([noun]) and not self._types.is_character(types):
            return False  # both are humans, by the nouns of their classes
        own = self._types.heads(types)
        return not own.isdisjoint(self._types.noun_types(noun))

    def _representation(self, turn: Turn) -> Representation:
        """The representation of an earlier turn; one that another module gave as a string is linked."""
        if "representation" in turn:
            return turn["representation"]
        slots = read_slots(turn.get("structured_representation", ""), self.config.sr_delimiter)
        mentions = self.resources.linker.link(turn["question"] if slots is None else slots.entities)
        entities = [mention.candidates[0].entity for mention in mentions]
        if slots is None:
            return {"context": [], "entities": entities, "predicate": "", "answer_type": ""}
        context: list[Entity] = [{"id": slots.context, "label": slots.context}] if slots.context else []
        predicate, answer_type = slots.predicate, slots.answer_type
        return {"context": context, "entities": entities, "predicate": predicate, "answer_type": answer_type}

    def _focus(self, turn: Turn) -> Focus:
        asked = (item for item in turn["representation"]["entities"] if item["id"] != item["label"])  # else told before
        items = [self._referent(item["id"], item["label"]) for item in asked]
        answers = [self._referent(a["id"], a["label"]) for a in turn.get("answers", []) if self.kb.has(a["id"])]
        return Focus(tuple(items), tuple(answers), self._pointing.told(turn))

    def _topic_start(self, foci: Sequence[Focus], history: Sequence[Turn]) -> int:
        """The place of the latest turn that took up another topic and has no context: what was before is over."""
        turning = self.language.conversation.turning
        for place in range(len(foci) - 1, 0, -1):
            if history[place]["representation"]["context"]:
                continue
            turns = bool(foci[place].asked and turning.search(history[place]["question"]))
            if turns or self._is_new_topic(foci[place].asked, foci[:place]):
                return place
        return 0

    def _is_new_topic(self, named: Sequence[Referent], foci: Sequence[Focus]) -> bool:
        """Whether some item is a rival of an item that was asked about, and no item is near anything talked about or on the
        page of what was asked about."""
        if not any(self._is_rival(referent, named) for focus in foci for referent in focus.asked):
            return False
        near = {item for referent in recent(foci) for item in (referent.id, *self._neighbors(referent))}
        if not near.isdisjoint(referent.id for referent in named):
            return False
        pages = {referent.id for focus in foci for referent in focus.asked}
        return not any(self._unlinked.tells(page, referent.label) for page in pages for referent in named)

    def _meant(
        self, question: str, mentions: Sequence[LinkedMention], foci: Sequence[Focus], history: Sequence[Turn]
    ) -> list[LinkedMention]:
        """The mentions without those that the question hardly means: what is not certain has to be near what was talked about.

        Before anything was talked about, the text itself has to tell which one of several namesakes is meant.
        """
        near: set[str] | None = None
        unknown = {
            word
            for turn in history
            for answer in turn.get("answers", [])
            if not self.kb.has(answer["id"])
            for word in fold(answer["label"]).split()
        }
        kept = []
        for mention in mentions:
            if mention.is_certain or known_as(mention, foci):
                kept.append(mention)
            elif not foci:
                if self._is_told_apart(mention, mentions):
                    kept.append(mention)
            elif self._stands_alone(question, mention):
                kept.append(mention)
            elif fold(mention.surface) not in unknown:  # else somebody is meant whom the knowledge base does not know
                if near is None:
                    near = {item for referent in recent(foci) for item in (referent.id, *self._neighbors(referent))}
                beside = tuple(candidate for candidate in mention.candidates if candidate.id in near)
                if beside:
                    kept.append(mention._replace(candidates=beside))
        return kept

    def _is_told_apart(self, mention: LinkedMention, mentions: Iterable[LinkedMention]) -> bool:
        """Whether one of several namesakes is far better known, or in a fact with something else that the question names."""
        best, *namesakes = mention.candidates
        if all(_CLEARLY * self.kb.frequency(namesake.id) <= self.kb.frequency(best.id) for namesake in namesakes):
            return True
        return any(best.id in self._near(name.candidates[0].id) for name in mentions if name is not mention)

    def _stands_alone(self, question: str, mention: LinkedMention) -> bool:
        """Whether a question has nothing but a name in full: "And friends?", not "Who are her friends?"."""
        best = mention.candidates[0]
        patterns = self.language.conversation
        if patterns.complete.search(question) or patterns.year.fullmatch(mention.surface):  # "And 1984?"
            return False
        left = fold(question.replace(mention.surface, " ", 1)).split()
        return self.language.words.common.issuperset(left) and fold(mention.surface) in self._names(best.id)

    def _names(self, entity_id: str) -> set[str]:
        return {fold(name) for name in (self.kb.label(entity_id), *self.kb.aliases(entity_id))}

    def _named(self, question: str, mentions: Iterable[LinkedMention], foci: Sequence[Focus]) -> list[Referent]:
        named: list[Referent] = []
        for mention in mentions:
            named.append(self._meaning(mention, foci))
        covered = " ".join(fold(mention.surface) for mention in mentions).split()
        words = {fold(word) for word in re.findall(r"(?<!^)\b[A-Z][\w'’-]+", question)}
        words -= self.language.words.common.union(covered)
        for referent in recent(foci):
            own = words.intersection(fold(referent.label).split())
            if own and referent not in named and referent.kind not in ("date", "number"):
                named.append(referent)
                words -= own
        single = {fold(name[0]) for name in _CAPITALS.finditer(question) if name.start() and " " not in name[0]}
        if foci and words & single:
            named += self._people_near(words & single, recent(foci))
        return named

    def _meaning(self, mention: LinkedMention, foci: Sequence[Focus]) -> Referent:
        return known_as(mention, foci) or self._referent(mention.candidates[0].id, mention.candidates[0].label)

    def _people_near(self, words: set[str], talked_about: Iterable[Referent]) -> list[Referent]:
        """The people in facts with what was talked about whose names hold a word of the question: "Jack" of a band."""
        people: list[Referent] = []
        for referent in talked_about:
            for item in sorted(self._neighbors(referent), key=lambda item: (-self.kb.frequency(item), int(item[1:]))):
                label = self.kb.label(item)
                own = words.intersection(fold(label).split())
                if own and self._referent(item, label).kind == "person":
                    people.append(self._referent(item, label))
                    words = words - own
        return people

    def _refer(self, question: str, foci: Sequence[Focus]) -> list[Referent]:
        """What the pronouns of the question, or its silence, refer to."""
        words = set(fold(question).split())
        talked_about = list(recent(foci))
        pronouns = self.language.words.pronouns
        for kind, forms in pronouns.items():
            if not words & forms:
                continue
            if kind == "group":  # "they": a group, or several people
                for meant in ("group", "person"):
                    if match := [referent for referent in talked_about if referent.kind == meant]:
                        return match[:1]
            match = [r for r in talked_about if any(may_mean(form, r, self.language.words) for form in words & forms)]
            if kind == "thing":  # "it" is rather what was asked about than a thing that answered in passing
                things = ("thing", "group")
                asked = [referent for focus in reversed(foci) for referent in focus.asked if referent.kind in things]
                last = [referent for focus in foci[-1:] for referent in focus.answered if referent.kind in things]
                answered = [referent for referent in last if referent.label[:1].isupper()]
                match = [*answered[:1], *asked[:1]] if answered else asked or match
                return list(dict.fromkeys(match))[:2]
            if match:
                return match[:1]
        for noun in self.language.conversation.definite_noun.findall(question.lower()):
            if self._types.names_class(noun):  # "the series": the latest thing of that class
                match = [referent for referent in talked_about if self._is_a(referent, noun)]
                if match:
                    return match[:1]
        if not foci:
            return []
        return list(foci[-1].asked[:2]) or [r for r in talked_about if r.kind not in ("date", "number")][:1]

    def _points(self, question: str) -> bool:
        """Whether a question has words for something of its own: "it", "the film", a name that is not known."""
        words = fold(question).split()
        if not self.language.words.personal.isdisjoint(words) or any(
            name.start() for name in _CAPITALS.finditer(question)
        ):
            return True
        definite = self.language.words.definite
        return any(word in definite and self._types.names_class(noun) for word, noun in pairwise(words))

    def _with_property(
        self,
        predicate: Sequence[str],
        entities: tuple[Referent, ...],
        context: tuple[Referent, ...],
        foci: Sequence[Focus],
    ) -> tuple[tuple[Referent, ...], tuple[Referent, ...]]:
        """What a question without a name or a pronoun is about, and its context: the latest thing that has the asked property,
        where `entities` lack it."""
        asked = self._roles.asked_properties(predicate)
        if not asked or any(self._roles.has_any(referent, asked) for referent in entities):
            return entities, context
        latest = (referent for referent in recent(foci) if self._roles.has_any(referent, asked))
        holder = next(latest, None)
        if holder is None:
            return entities, context
        return (holder,), tuple(dict.fromkeys(item for item in (*entities, *context) if item != holder))

    def _context(
        self, question: str, entities: Sequence[Referent], is_named: bool, foci: Sequence[Focus]
    ) -> list[Referent]:
        """The topic of the conversation, unless the question turns to another thing of the same class."""
        asked = [referent for focus in foci for referent in focus.asked]
        topic = next((r for r in asked if r.kind not in ("place", "people")), asked[0] if asked else None)
        if topic is None or topic in entities:
            return []
        turns = is_named and self.language.words.personal.isdisjoint(fold(question).split())
        return [] if turns and self._is_rival(topic, entities) else [topic]

    def _is_rival(self, topic: Referent, entities: Iterable[Referent]) -> bool:
        """Whether one of the items is of the class of the topic, and shares no fact with it."""
        kinds = set(self.kb.types(topic.id)[:_OWN_TYPES])
        alike = [item.id for item in entities if kinds & set(self.kb.types(item.id)[:_OWN_TYPES])]
        return bool(alike) and not self._neighbors(topic).issuperset(alike)

    def _neighbors(self, referent: Referent) -> set[str]:
        return self._near(referent.id) if referent.id.startswith("Q") else set()

    def _predicate(self, question: str, mentions: Iterable[LinkedMention], named: Iterable[Referent]) -> list[str]:
        rest = list(question)
        for mention in mentions:
            start, end = mention.start, mention.end
            # "the film Titanic", "the Titanic movie": the noun says what is named, not what is asked
            begin = max(0, start - _BESIDE)
            before = self.language.conversation.noun_before_name.search(question[begin:start])
            after = re.match(r"\s+(\w+)", question[end : end + _BESIDE])
            if before and self._types.names_class(before[1].lower()):
                start = begin + before.start(1)
            elif after and self._types.names_class(after[1].lower()):
                end += after.end(1)
            rest[start:end] = " " * (end - start)
        in_names = {word for referent in named for word in fold(referent.label).split()}
        words = re.findall(r"[\w]+(?:[-'’]\w+)*", "".join(rest))
        left_out = self.language.words.stop_words | in_names
        return [word for word in words if fold(word) and fold(word) not in left_out]

    def _is_elliptical(self, question: str, predicate: Sequence[str], is_named: bool) -> bool:
        """Whether the question leans on the question before for what it asks."""
        patterns, common = self.language.conversation, self.language.words.common
        leans = bool(patterns.ellipsis.search(question)) and not patterns.complete.search(question)
        if (
            is_named
            and patterns.question_word.search(question)
            and not self.language.words.pronouns["person"].isdisjoint(fold(question).split())
        ):
            return False  # "Who was she in Titanic?"
        return (
            leans
            or self._is_frame(question)
            or self._is_nth(question)
            or all(fold(word) in common for word in predicate)
        )

    def _is_frame(self, question: str) -> bool:
        patterns = self.language.conversation
        rest = self._rest(question)
        return any(pattern.fullmatch(rest) for pattern in (patterns.framed, patterns.years))

    def _is_nth(self, question: str) -> bool:
        """Whether a question says nothing but a place in an order: "and the first one?"."""
        return self.language.conversation.nth.fullmatch(self._rest(question)) is not None

    def _rest(self, question: str) -> str:
        patterns = self.language.conversation
        return patterns.about.sub("", patterns.opening.sub("", question)).strip(" ?.,!")

    def _inherit(self, predicate: list[str], before: Turn, is_clause: bool, replaced: str) -> list[str]:
        """The words of a predicate, then those of the question before without the name that was `replaced`."""
        stems = self.language.words.stems
        own = set(stems(" ".join(predicate)))
        gone = set(fold(replaced).split())
        earlier = [word for word in before["representation"]["predicate"].split() if not gone & set(fold(word).split())]
        patterns = self.language.conversation
        if any(map(patterns.year.fullmatch, predicate)):  # "And in 2014?" is not about the year before
            earlier = [word for word in earlier if not patterns.year.fullmatch(word)]
        small = self.language.common.small
        # "And Kif?" gives another name than the one before
        if not replaced and predicate and not any(map(self._is_plain, predicate)):
            earlier = [word for word in earlier if word.casefold() in small]
        clause = patterns.time_clause.search(before["question"])
        if clause is not None and is_clause:
            earlier = [word for word in earlier if word not in clause[0].split()]
        return predicate + [word for word in earlier if not set(stems(word)) & own]

    def _is_plain(self, word: str) -> bool:
        return word.casefold() in self.language.common.small or any(map(str.isdigit, word))

    def _parallel(self, question: str, history: Sequence[Turn]) -> tuple[Turn | None, Parallel | None]:
        """The turn before of which half a sentence changes a name, and how; see `Parallels`."""
        if self.language.conversation.complete.search(question) or self._roles.is_property(question):
            return None, None
        for earlier in reversed(history[-_BACK:]):
            meant = earlier["representation"]
            items = (*meant["entities"], *meant["context"], *(named["item"] for named in meant.get("candidates", ())))
            pages = dict.fromkeys(item["id"] for item in items)
            parallel = self._parallels.find(question, _in_full(earlier), pages)
            if parallel is not None:
                return earlier, parallel
        return None, None

    def _namesakes(self, meant: Sequence[Referent]) -> list[QuestionEntity]:
        """The items of the same name whose pages tell of what has no page: the book, where the film is meant."""
        names: dict[str, QuestionEntity] = {}
        ids = {referent.id for referent in meant}
        for referent in meant:
            if referent.kind != "thing" or self._unlinked.has_page(referent.id):
                continue
            heads = self._types.heads(self.kb.types(referent.id)[:_OWN_TYPES])
            for namesake in self.kb.candidates(fold(referent.label)):
                if namesake.id not in ids and any(self._unlinked.tells(namesake.id, head) for head in heads):
                    names[namesake.id] = QuestionEntity(
                        item=self.kb.entity(namesake.id), question_word=referent.label, score=0.5, rank=1
                    )
        return list(names.values())

    def _with_that(self, question: str, before: Turn) -> str:
        """A question with the name of a thing that the question before asked about, and no item is, in the place of "that one".

        It is meant where the answer is no thing.
        """
        names = [name["name"] for name in before["representation"].get("unlinked", ())]
        that = self.language.conversation.that_one.search(question)
        answers = (self._referent(answer["id"], answer["label"]) for answer in before.get("answers", ()))
        if that is None or len(names) != 1 or before["representation"]["answer_type"] != "person":
            return question
        if any(answer.kind in ("thing", "group") for answer in answers if answer.id.startswith("Q")):
            return question
        return f"{question[: that.start()]}{names[0]}{question[that.end() :]}"

    def _in_parallel(
        self, parallel: Parallel, is_named: bool, entities: Sequence[Referent], context: Sequence[Referent]
    ) -> tuple[tuple[Referent, ...], tuple[Referent, ...]]:
        """What half a sentence is about, and its context: without the name that it replaces, with the item of the page that
        has both names."""
        page = self._referent(parallel.page, self.kb.label(parallel.page))
        replaced = fold(parallel.old)
        entities = [item for item in entities if fold(item.label) != replaced]
        context = [item for item in context if fold(item.label) != replaced]
        if page not in (*entities, *context) and fold(page.label) != replaced:
            (context if is_named else entities).append(page)
        return tuple(entities), tuple(context)

    def _expected(self, question: str, before: Turn | None) -> Asking[tuple[AnswerType, LikelyClasses | None]]:
        """The type that a question asks for, and the classes where the configured model tells them."""
        if self.resources.answer_typing is not None:
            in_full = question if before is None else _in_full(before)
            likely = yield question, in_full
            return likely.told, likely
        answer_type = self._types.expected_type(question)
        lacking = before is not None and answer_type.kind == "any"
        if before is None or not lacking or self.language.conversation.asks_anew.search(question):
            return answer_type, None
        inherited = before["representation"]["answer_type"]
        return self._types.parse_label(inherited) if inherited else answer_type, None


def _overlaps(mention: LinkedMention, parallel: Parallel) -> bool:
    return mention.start < parallel.end and parallel.start < mention.end


def _in_full(turn: Turn) -> str:
    return turn.get("resolved_question") or turn["question"]


def known_as(mention: LinkedMention, foci: Sequence[Focus]) -> Referent | None:
    """What a name stands for in this conversation, the latest first; None where nothing of that name was talked about.

    A name that may mean several items means the one that was talked about, and one word of a name the person or group:
    "Jack" is Jack White where he was.
    """
    meanings = {candidate.id for candidate in mention.candidates}
    name = fold(mention.surface)
    for referent in recent(foci):
        own = fold(referent.label)
        if referent.id in meanings or own == name:
            return referent
        if " " not in name and referent.kind in ("person", "group") and name in own.split():
            return referent
    return None


def candidates(
    referents: Iterable[Referent], mentions: Iterable[LinkedMention], known: Set[Referent], scores: Mapping[str, float]
) -> list[QuestionEntity]:
    """The items to look at for what a question is about, best first: what a name may mean besides, comes last."""
    meanings = {mention.candidates[0].id: mention for mention in mentions}
    entities: list[QuestionEntity] = []
    for referent in referents:
        mention = meanings.get(referent.id)
        if mention is not None and referent not in known:
            entities += mention.meanings
        elif referent.id.startswith("Q"):
            score = scores.get(referent.id, 1.0)
            entities.append(QuestionEntity(item=referent.entity, question_word=referent.label, score=score, rank=0))
    first: dict[str, QuestionEntity] = {}
    for entity in sorted(entities, key=lambda entity: entity["rank"]):
        first.setdefault(entity["item"]["id"], entity)
    return list(first.values())
