"""Other wordings of questions, as people type them: as a request, as keywords."""

import random
import re
from pathlib import Path

import msgspec

from convinse.language.language import english


class _Words(msgspec.Struct):
    leads: list[str]
    things: list[str]
    whether: list[str]
    negatives: dict[str, str]
    modals: list[str]
    ends: list[str]


_WORDS = msgspec.yaml.decode(Path(__file__).with_suffix(".yml").read_bytes(), type=_Words)
_THING = re.compile(r"(?:what|which|who)(?: is|'s| was| are| were)(?: the| his| her| its| their)? (\w.*)", re.I)


def as_request(question: str, chance: random.Random) -> str:
    """A question for anything but yes or no as a request: behind a lead, or what it asks for alone."""
    text = question.strip(" ?.!")
    thing = _THING.fullmatch(text)
    if thing is not None and chance.random() < 0.7:
        lead, text = chance.choice(_WORDS.things), thing[1]
    else:
        lead = chance.choice(_WORDS.leads)
    return " ".join(filter(None, (lead, _lower(text, chance)))) + chance.choice(_WORDS.ends)


def as_keywords(question: str, chance: random.Random) -> str:
    """The words of a question that are not grammar, a question word in front of them in half of the cases."""
    words = re.findall(r"[\w'’.,-]*\w", question)
    common = english().words.common
    content = [word for word in words if word.casefold() not in common]
    asking = [word for word in words if word.casefold() in ("who", "when", "where", "which")]
    if "how" in map(str.casefold, words[:1]) and len(words) > 1:
        asking = words[:2]
    if chance.random() < 0.5:
        content = [*asking, *(word for word in content if word not in asking)]
    return _lower(" ".join(content or words), chance)


def as_decision(question: str, chance: random.Random) -> str:
    """A question for yes or no as a negative one ("isn't it ..."), or with another verb ("must it ...").

    Without the verb ("breakfast included?", "and in Paris?") it would look like a follow-up for anything else.
    """
    verb, _, rest = question.strip(" ?.!").partition(" ")
    if verb.lower() not in _WORDS.negatives:
        return question
    is_negative = verb.lower() in ("is", "are", "was", "were") or chance.random() < 0.5
    verb = _WORDS.negatives[verb.lower()] if is_negative else chance.choice(_WORDS.modals)
    return f"{verb} {_lower(rest, chance)}{chance.choice(_WORDS.ends)}"


def as_statement_asked(statement: str, chance: random.Random) -> str:
    """A statement as a question for yes or no."""
    return f"{chance.choice(_WORDS.whether)} {_lower(statement.strip(' .'), chance)}?"


def _lower(text: str, chance: random.Random) -> str:
    return text.lower() if chance.random() < 0.7 else text[:1].lower() + text[1:]
