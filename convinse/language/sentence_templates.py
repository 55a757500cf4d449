"""Templates that turn a question and its answer into a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from .word_lists import Phrases, Renamed, WordLists, WordSet

_ARROW = " -> "


class SentenceTemplates(WordLists):
    """Forms of questions with their sentences; `sentences.txt` explains the lists."""

    file = "sentences.txt"
    templates: Phrases
    past: WordSet
    be: WordSet
    participle: WordSet
    role: WordSet
    units: Renamed
    stated: Renamed
    aside: WordSet
    openings: WordSet

    def matching(self, question: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield the sentence of each form that a whole question has, and the words of the question for its placeholders."""
        for form, sentence in self._forms:
            if match := form.fullmatch(question.strip()):
                yield sentence, match.groupdict()

    def relation(self, question: str, words: Mapping[str, str]) -> str:
        """Return the words of a question of a template that say what it asks of its item; `words` are those of its placeholders."""
        named = [words[name] for name in ("past", "role", "participle") if name in words]
        said = question.lower().replace(words["item"].lower(), "")
        return " ".join(named) or " ".join(stated for name, stated in self.stated.items() if name in said)

    def measure(self, label: str) -> str | None:
        """Return a measure as English writes it, such as "112 minutes" for "112 minute"; None if its unit is unknown."""
        number, _, unit = label.partition(" ")
        if not number.replace(",", "").replace(".", "").isdigit():
            return None
        if number == "1":
            return label if unit in self.units else None
        plural = self.units.get(unit, unit)
        return f"{number} {plural}" if plural in self.units.values() else None

    @cached_property
    def _forms(self) -> list[tuple[re.Pattern[str], str]]:
        # the form of a question, with the group `item`, and its sentence, with `{item}` and the kind of answer
        choices = {name: "|".join(sorted(getattr(self, name))) for name in ("past", "be", "participle", "role")}
        openings = "|".join(sorted(self.openings))
        forms = []
        for template in self.templates:
            question, _, sentence = template.partition(_ARROW)
            for name, words in choices.items():
                question = question.replace(f"{{{name}}}", f"(?P<{name}>{words})")
            question = question.replace("{item}", "(?P<item>.+?)")
            forms.append((re.compile(rf"(?:(?:{openings}),? )?{question}[ ?.!]*", re.IGNORECASE), sentence))
        return forms
