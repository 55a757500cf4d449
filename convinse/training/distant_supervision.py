"""Distant supervision of question understanding: the mentions in a question and its history that lead to the gold answer.

After CONVINSE (Christmann et al., SIGIR 2022): the items that the question and earlier turns mention (gold answers included)
are looked up; an item whose evidences hold a gold answer leads to it. CONVINSE looks at facts only; here the evidences
of all sources count, and words of the question tell evidences about the answer from those that hold it by chance.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Literal, cast

import msgspec

from ..config import Config
from ..evidence_retrieval_scoring.bm25 import QueryExpansion
from ..evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from ..formats.conversations.benchmark import read_benchmark
from ..knowledge_base.search_space import is_named
from ..records.conversation import Conversation, Turn, new_turn
from ..records.evidence import Entity
from ..records.facts import fact_text
from ..records.literals import is_date, is_number
from ..scoring.convqa import normalize_id
from ..support.files import replacing
from ..support.progress import progress
from .silver import (
    AnnotatedTurn,
    LeadingMentions,
    SilverMention,
    annotated_path,
    predicate_words,
    silver_representation,
    silver_type,
)  # fmt: skip

PARTS = ("train", "dev", "test")

# what becomes of a turn
ANNOTATED, LEANING = "annotated", "lean on earlier turns"
NO_ANSWER, YES_OR_NO, NAMED, NOT_FOUND = "no gold answer", "yes or no", "names its answer", "no evidence"
OUTCOMES = (ANNOTATED, LEANING, NO_ANSWER, YES_OR_NO, NAMED, NOT_FOUND)
_POSSESSIVE = re.compile(r"['’]s$")
_CACHED_ITEMS = 2048  # whose evidences are in memory


# a mention, the overlap of the question with its best evidence that holds the answer, and all entities of those that hold it
_Lead = tuple[SilverMention, float, frozenset[str]]


class Annotator:
    """An annotator of conversations by the evidences of some sources, with the retrieval of a configuration."""

    def __init__(self, config: Config, sources: Sequence[str]) -> None:
        self.retriever = ClocqRetriever(config)
        self._language = self.retriever.resources.language
        self._sources = frozenset(sources)
        self._pieces = lru_cache(maxsize=_CACHED_ITEMS)(self._read_pieces)
        self._expansion = QueryExpansion(self.retriever.kb.properties(), self._language)

    def annotate(self, conversation: Conversation) -> Counter[str]:
        """Add the keys of `AnnotatedTurn` to every turn; returns the number of turns with each outcome, and of `turns`."""
        counts: Counter[str] = Counter(turns=len(conversation["questions"]))
        mentioned: list[list[SilverMention]] = []  # in each earlier turn
        predicate: list[str] = []  # of the turn before
        for place, turn in enumerate(conversation["questions"]):
            number = turn.get("turn", place)
            _, entities = self.retriever.retrieve_KB_facts(turn["question"])
            named = filter(is_named, entities)
            spoken = ((_POSSESSIVE.sub("", entity["question_word"]), entity["item"]) for entity in named)
            mentions = self._mentions(number, "question", spoken)
            leading: LeadingMentions = ([], [])
            outcome = self._unsuitable(turn, mentions)
            texts = (mention["text"] for mention in mentions)
            question_words = predicate_words(turn["question"], self._language.words, texts) or predicate
            if outcome is None:
                leading = self._find(turn, mentions, mentioned, question_words)
                outcome = ANNOTATED if any(leading) else NOT_FOUND
            counts[outcome] += 1
            of_question, of_history = leading
            if of_history:
                counts[LEANING] += 1
            turn |= self._annotation(turn, leading, conversation["questions"][:place], predicate)
            predicate = question_words
            answers = ((answer["label"], answer) for answer in turn.get("answers", []))
            mentioned.append([*(of_question or mentions), *self._mentions(number, "answer", answers)])
        return counts

    def _annotation(
        self, turn: Turn, leading: LeadingMentions, earlier: Sequence[Turn], before: Sequence[str]
    ) -> AnnotatedTurn:
        of_question, of_history = leading
        mentions = [*of_question, *of_history]
        if not mentions:
            return cast("AnnotatedTurn", {"silver_SR": [], "silver_relevant_turns": None, "silver_mentions": mentions})
        texts = (mention["text"] for mention in of_question)
        names = (mention["item"]["label"] for mention in of_history)
        predicate = predicate_words(turn["question"], self._language.words, texts, names) or before
        types = self._language.answer_types
        answer_type = silver_type(turn["question"], turn["answers"], types, self.retriever.kb.types)
        spoken = [turn["question"]]
        for before_turn in earlier:
            spoken += [before_turn["question"], *(answer["label"] for answer in before_turn.get("answers", []))]
        annotation = new_turn(
            silver_SR=[silver_representation(leading, predicate, answer_type, spoken)],
            silver_relevant_turns=sorted({mention["turn"] for mention in of_history}),
            silver_mentions=mentions,
        )
        return cast("AnnotatedTurn", annotation)

    def _mentions(
        self, number: int, part: Literal["question", "answer"], spoken: Iterable[tuple[str, Entity]]
    ) -> list[SilverMention]:
        mentions = []
        for text, item in spoken:  # common nouns and countries tell little of a question
            is_common_noun = item["label"][:1].islower() and item["label"].replace(" ", "").isalpha()
            if item["id"].startswith("Q") and not is_common_noun and not self._is_country(item["id"]):
                mentions.append(SilverMention(turn=number, part=part, text=text, item=item, evidences=0))
        return mentions

    def _is_country(self, item_id: str) -> bool:
        return self._language.answer_types.is_country(self.retriever.kb.types(item_id))

    @staticmethod
    def _unsuitable(turn: Turn, mentions: Iterable[SilverMention]) -> str | None:
        answers = {normalize_id(answer["id"]) for answer in turn.get("answers", [])}
        if not answers:
            return NO_ANSWER
        if answers & {"yes", "no"}:
            return YES_OR_NO
        # all evidences of an item hold it
        return NAMED if any(normalize_id(mention["item"]["id"]) in answers for mention in mentions) else None

    def _find(
        self,
        turn: Turn,
        mentions: Sequence[SilverMention],
        mentioned: Sequence[Sequence[SilverMention]],
        question_words: Sequence[str],
    ) -> LeadingMentions:
        # all leading mentions of the question with those of the history that stand in the same evidences, or else the
        # mentions of the history whose evidences share most with the question
        common = {normalize_id(answer["id"]) for answer in turn["answers"] if self._is_common(answer)}
        answers = {normalize_id(answer["id"]) for answer in turn["answers"]}
        target = (answers, common, self._expansion.weights(" ".join(question_words)))
        question_leads = self._leads(mentions, *target)
        named = {mention["item"]["id"] for mention in mentions}
        history: dict[str, SilverMention] = {}
        for mention in chain.from_iterable(reversed(mentioned)):  # the latest mention of an item
            item_id = mention["item"]["id"]
            if item_id not in named and normalize_id(item_id) not in answers:
                history.setdefault(item_id, mention)
        leads = self._leads(history.values(), *target)
        if question_leads:
            beside = frozenset().union(*(ids for _, _, ids in question_leads))
            chosen = [mention for mention, _, _ in leads if normalize_id(mention["item"]["id"]) in beside]
        else:
            most = max((overlap for _, overlap, _ in leads), default=0.0)
            chosen = [mention for mention, overlap, _ in leads if overlap >= most]
        return [mention for mention, _, _ in question_leads], chosen

    def _leads(
        self, mentions: Iterable[SilverMention], answers: set[str], common: set[str], weights: dict[str, float]
    ) -> list[_Lead]:
        stems = self._language.words.stems
        leads: dict[tuple[int, str, str], _Lead] = {}
        for mention in mentions:
            place = (mention["turn"], mention["part"], mention["text"])
            if place in leads:
                continue
            item = mention["item"]
            names = set(stems(item["label"])) | set(stems(mention["text"]))
            overlaps: list[float] = []
            beside: set[str] = set()
            for text, ids in self._pieces(item["id"]):
                held = answers & ids
                if held:
                    present = set(stems(text)) - names
                    overlap = sum(weight for word, weight in weights.items() if word in present)
                    if overlap or held - common:
                        overlaps.append(overlap)
                        beside |= ids
            if overlaps:
                leads[place] = ({**mention, "evidences": len(overlaps)}, max(overlaps), frozenset(beside))
        return list(leads.values())

    def _is_common(self, answer: Entity) -> bool:
        # years, numbers and countries stand in many evidences that are not about them
        is_year = is_date(answer["id"]) and answer["label"].lstrip("-").isdigit()
        return is_year or is_number(answer["id"]) or (answer["id"].startswith("Q") and self._is_country(answer["id"]))

    def _read_pieces(self, item_id: str) -> list[tuple[str, frozenset[str]]]:
        # the texts of an item's evidences, with the ids of their entities
        pieces: list[tuple[str, Sequence[Entity]]] = []
        if "kb" in self._sources:
            facts = self.retriever.retrieve_kb_facts_for_item(item_id)
            pieces += [(fact_text(fact), (fact[0], *fact[2::2])) for fact in facts]
        if self._sources - {"kb"}:
            evidences = self.retriever.wikipedia.retrieve_wp_evidences(item_id)
            pieces += [
                (evidence["evidence_text"], evidence["wikidata_entities"])
                for evidence in evidences
                if evidence["source"] in self._sources
            ]
        return [(text, frozenset(normalize_id(entity["id"]) for entity in entities)) for text, entities in pieces]


def annotate(
    config: Config, sources: Sequence[str], parts: Sequence[str] = PARTS, quiet: bool = False
) -> dict[Path, Counter[str]]:
    """Annotate parts of the configured benchmark; return the number of turns with each outcome, and of all `turns`, by file.

    Raises `DataError` if the file of a part is missing (before the first is annotated), or is not of the benchmark.
    """
    paths = {part: config.existing_input_path(part) for part in parts}
    annotator = Annotator(config, sources)
    done = {}
    try:
        for part, file in paths.items():
            conversations = read_benchmark(file, config.benchmark, part)
            counts, questions = Counter[str](), sum(len(conversation["questions"]) for conversation in conversations)
            with progress(f"annotate {part}", questions, "questions", quiet) as advance:
                for conversation in conversations:
                    counts.update(annotator.annotate(conversation))
                    advance(len(conversation["questions"]))
            with replacing(path := annotated_path(config, part)) as temporary:
                temporary.write_bytes(msgspec.json.format(msgspec.json.encode(conversations), indent=1) + b"\n")
            done[path] = counts
    finally:
        annotator.retriever.store_cache()
    return done
