"""Conversations with rewrites: beside each question a form of it that stands alone, written by a person.

The embedded conversations have it as `completed`. CANARD's are brought into the same shape: what a sentence that answers
names is what a later question may be about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from convinse.config import load_config
from convinse.formats.convmix import read_conversations
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.linking import EntityLinker
from convinse.language.text import Words, fold
from convinse.question_understanding.referents import Referent
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import Entity
from recipes.embedded.rewrites import Rewrite, canard

_NAMED = 0.5  # the least share of a label's content words: "Zappa" is Frank Zappa
_QUALIFIER = re.compile(r"\s*\((.*)\)$")  # of a title: "Hugo (film)"


class Rewritten(NamedTuple):
    """A conversation whose turns have a `completed`.

    Attributes:
        group: its article, else itself; what is learned of a group is not measured on it.
        known: whether the knowledge base has an item of what it is about.
    """

    group: str
    known: bool
    conversation: Conversation


def embedded(part: str) -> list[Rewritten]:
    """The conversations of a part (`train`, `dev`, `test`) that ship with the package."""
    conversations = read_conversations(load_config("lexical.yml").input_path(part))
    return [Rewritten(str(own["conv_id"]), True, own) for own in conversations]


def canard_conversations(data: Path, kb: KnowledgeBase, linker: EntityLinker) -> Iterator[Rewritten]:
    """CANARD's conversations (dev), in the order of the file.

    The first question is asked in full, for who asked it had the title of the article before their eyes. The answers of a
    turn are its text, whose id is the text, then the items that it names; the answer to a last question is not known.
    """
    for dialog_id, lines in groupby(canard(data), lambda line: line.dialog_id):
        rewrites = list(lines)
        answers = [*(rewrite.history[-1] for rewrite in rewrites[1:]), ""]
        turns = [
            _turn(place, rewrite, text, linker)
            for place, (rewrite, text) in enumerate(zip(rewrites, answers, strict=True))
        ]
        article = rewrites[0].article
        yield Rewritten(article, _has_article(kb, article), {"conv_id": dialog_id, "questions": turns})


def _turn(place: int, rewrite: Rewrite, answer: str, linker: EntityLinker) -> Turn:
    items: dict[str, Entity] = {}
    for mention in linker.link(answer):
        best, surface = mention.candidates[0], mention.surface
        # one word that is only an alias ("West") mostly means something else
        if mention.is_name and (" " in surface or fold(surface) == fold(best.label)):
            items[best.id] = best.entity
    answers: list[Entity] = [{"id": answer, "label": answer}] if answer else []
    question = rewrite.question if rewrite.history else rewrite.rewrite
    turn: Turn = {"turn": place, "question": question, "answers": [*answers, *items.values()]}
    turn["completed"] = rewrite.rewrite  # type: ignore[typeddict-unknown-key]
    return turn


def _has_article(kb: KnowledgeBase, title: str) -> bool:
    """Whether an item has the title as its label, and its qualifier, if any, among the words of its classes."""
    qualifier = _QUALIFIER.search(title)
    item = next((own for own in kb.candidates(fold(_QUALIFIER.sub("", title)), 1) if own.is_label), None)
    if item is None or qualifier is None:
        return item is not None
    classes = {word for name in kb.types(item.id) for word in name.split()}
    return not classes.isdisjoint(fold(qualifier[1]).split())


def added_words(question: str, rewrite: str, words: Words) -> set[str]:
    """The stems of the content words that a rewrite adds to its question."""
    return set(words.stems(rewrite)) - set(words.stems(question))


def added_items(referents: Sequence[Referent], question: str, rewrite: str, words: Words) -> set[str]:
    """The ids of those referents that a rewrite names and its question does not.

    A name counts where at least half of the content words of the label are in the rewrite, one of which it adds. Of two labels
    with the same added words the one counts of which more is there; one whose added words are part of another's does not.
    """
    whole, added = set(words.stems(rewrite)), added_words(question, rewrite, words)
    matches: dict[str, tuple[set[str], float]] = {}
    for referent in referents:
        label = set(words.stems(referent.label))
        if label & added and len(label & whole) >= _NAMED * len(label):
            matches[referent.id] = (label & added, len(label & whole) / len(label))
    return {own for own, match in matches.items() if not _is_covered(match, matches.values())}


def _is_covered(match: tuple[set[str], float], matches: Iterable[tuple[set[str], float]]) -> bool:
    added, share = match
    return any(added < others or (added == others and share < larger) for others, larger in matches)
