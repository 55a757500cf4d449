"""Evidences written by hand, with the dates and numbers that their texts have, and the names of some properties."""

import evidences
from convinse.language.language import english
from convinse.language.property_names import PropertyNames
from convinse.records.literals import find_literals

ENGLISH = english()
NAMES = PropertyNames(
    [
        ("P2047", "duration", ["length", "running time"]),
        ("P1113", "number of episodes", ["episodes", "series length"]),
        ("P569", "date of birth", ["born on", "birthdate"]),
        ("P50", "author", ["written by"]),
    ],
    ENGLISH.properties,
)


def evidence(text, source, *entities):
    """An evidence with the given entities and the literals of its text, in reading order."""
    literals = ((text[span.start : span.end], span.entity["id"]) for span in find_literals(text))
    return evidences.evidence(text, source, *entities, *literals)
