"""Clarification questions about the meaning of a name or the topic of a question, and the choice that a reply makes."""

from __future__ import annotations

import re
from collections import defaultdict

from ..knowledge_base.items import Items
from ..knowledge_base.question_names import written_names
from ..language.language import Language
from ..language.text import fold
from ..records.conversation import Turn
from ..records.literals import is_item
from ..records.replies import Clarification, PossibleMeaning
from ..records.representation import QuestionEntity
from ..resources import Resources

# chosen on the embedded conversations (train, dev, natural-dev): of 430 turns 3 are asked back
_RIVAL = 0.85  # share of the best meaning's score from which on another meaning is likely, too
_SURE = 0.6  # an answer of this probability settles the meaning
_MOST_CHOICES = 5
_WORD = re.compile(r"[^\W\d_]+")


def missing_topic(question: str, resources: Resources) -> str | None:
    """Return the pronoun (lower case) of a first question that has no topic, empty for a bare "and when?"; else None.

    Documents may be the topic of any question.
    """
    language = resources.language
    if resources.documents is not None or written_names(question, language) or any(mark in question for mark in '"“'):
        return None
    if any(mention.is_name for mention in resources.linker.link(question, classes=True)):
        return None
    spoken = _WORD.findall(question.casefold())
    places = language.words.pronouns["place"]
    pronoun = next((word for word in spoken if word in language.words.personal - places), None)
    if pronoun is None and spoken and language.talk.referring.issuperset(spoken):
        return ""
    return pronoun


def ask_for_topic(pronoun: str, language: Language) -> Clarification:
    """Return the clarification question for a pronoun of `missing_topic`."""
    if not pronoun:
        return {"question": "What is the question about?", "choices": []}
    subject = "Who" if pronoun in language.words.pronouns["person"] else "What"
    return {"question": f"{subject} do you mean by “{pronoun}”?", "choices": []}


def with_topic(question: str, pronoun: str, name: str, language: Language) -> str:
    """Return a question with a name in the place of its pronoun, or behind the question."""
    if not pronoun:
        return f"{question.rstrip(' ?')} {name}?"
    words = language.words
    noun = re.search(r"(?i)\bher (\w+)", question) if pronoun == "her" else None
    if pronoun in words.possessive or (noun is not None and noun[1].casefold() not in words.no_noun):
        name = f"{name}'s"
    return re.sub(rf"(?i)\b{pronoun}\b", lambda _: name, question, count=1)


def ask_for_meaning(turn: Turn, kb: Items) -> Clarification | None:
    """Return a clarification question if a name in an answered question has likely rival meanings, and no answer is sure."""
    answers = turn["pred_answers"]
    if "representation" not in turn or (answers and answers[0]["score"] >= _SURE and "abstained" not in turn):
        return None
    names: defaultdict[str, list[QuestionEntity]] = defaultdict(list)
    for entity in turn["representation"]["candidates"]:
        if is_item(entity["item"]["id"]) and entity["question_word"].casefold() in turn["question"].casefold():
            names[entity["question_word"]].append(entity)
    for name, entities in names.items():
        meanings = sorted(entities, key=lambda meaning: meaning["rank"])
        least = _RIVAL * meanings[0]["score"]
        likely = [meaning["item"] for meaning in meanings if meaning["score"] >= least][:_MOST_CHOICES]
        exact = {candidate.id for candidate in kb.candidates(fold(name))}
        choices: dict[tuple[str, str], PossibleMeaning] = {}  # that can be told apart: not two sections "Next meeting"
        for item in likely:
            if item["id"] in exact:
                description = kb.description(item["id"]) or ", ".join(kb.types(item["id"])[:2])
                choice: PossibleMeaning = {"id": item["id"], "label": item["label"], "description": description}
                choices.setdefault((item["label"], description), choice)
        if len(choices) > 1:
            return {"question": f"Which “{name}” do you mean?", "choices": [*choices.values()]}
    return None


def name_of(turn: Turn, item: str) -> str | None:
    """Return the name in a question that may mean an item."""
    candidates = turn["representation"]["candidates"] if "representation" in turn else []
    return next((entity["question_word"] for entity in candidates if entity["item"]["id"] == item), None)


def chosen(reply: str, choices: list[PossibleMeaning], kb: Items, language: Language) -> PossibleMeaning | None:
    """Return the choice that a reply names: by its number, id, label, or a class that no other choice has ("the TV series")."""
    said = fold(language.talk.taking_back.sub("", reply))
    number = language.talk.choosing.match(said)
    if number:
        place = int(number[1]) if number[1].isdigit() else language.talk.places.get(number[1], 0)
        if place:
            return choices[place - 1] if place <= len(choices) else None
    named = [
        choice for choice in choices if said in (fold(choice["id"]), fold(choice["label"]), fold(choice["description"]))
    ]
    if len(named) != 1:
        bare = language.words.without_article(said)
        named = [choice for choice in choices if bare and is_of_class(choice["id"], bare, kb, language)]
    return named[0] if len(named) == 1 else None


def is_of_class(item: str, folded: str, kb: Items, language: Language) -> bool:
    """Return True if an item is of the class of the last noun of folded words, and its description has their years and names."""
    types, words = language.answer_types, folded.split()
    classes = kb.types(item)
    description = set(fold(f"{kb.label(item)} {kb.description(item)} {' '.join(classes)}").split())
    is_class = words[-1] in description or not types.noun_types(words[-1]).isdisjoint(types.heads(classes))
    before = set(words[:-1]) - language.words.stop_words - description
    return is_class and not any(word.isdigit() or not language.words.is_written_small(word) for word in before)
