"""Evidences written by hand, with the dates and numbers that their texts have, and the names of some properties."""

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
    found = [*entities]
    for span in find_literals(text):
        found.append((text[span.start : span.end], span.entity["id"]))
    return {
        "evidence_text": text,
        "source": source,
        "disambiguations": [list(pair) for pair in found],
        "wikidata_entities": [{"id": entity, "label": surface} for surface, entity in found],
    }
