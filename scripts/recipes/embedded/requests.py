"""Other wordings of questions, as people type them: as a request, as keywords."""

import random
import re

from convinse.language.language import english

# before a question
_LEADS = (
    "do you know", "can you tell me", "could you tell me", "would you know", "does anyone know", "is it known", "have you any idea",
    "do the files say", "does the text say", "i would like to know", "i want to know", "i wonder", "tell me", "please tell me",
    "find out", "can you find out", "any idea",
)  # fmt: skip
# before the thing that a question "what is the ..." asks for
_THINGS = (
    "the", "a", "", "", "", "is there a", "do you have the", "have you got the", "can you find the", "can i get the", "show me the",
    "give me the", "i need the", "looking for the", "list the", "what about the", "find the",
)  # fmt: skip
_WHETHER = (
    "do you know if", "can you tell me whether", "is it true that", "i would like to know whether", "tell me if", "find out if",
    "does the text say that", "is it right that",
)  # fmt: skip
_THING = re.compile(r"(?:what|which|who)(?: is|'s| was| are| were)(?: the| his| her| its| their)? (\w.*)", re.I)
_NEGATIVES = {
    "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "does": "doesn't", "do": "don't", "did": "didn't",
    "can": "can't", "has": "hasn't", "have": "haven't", "will": "won't", "could": "couldn't", "would": "wouldn't",
}  # fmt: skip
_MODALS = ("must", "should", "may", "might", "shall", "need", "could", "would")
_ENDS = ("?", "", "", " please")


def as_request(question: str, chance: random.Random) -> str:
    """A question for anything but yes or no as a request: behind a lead, or what it asks for alone."""
    text = question.strip(" ?.!")
    thing = _THING.fullmatch(text)
    if thing is not None and chance.random() < 0.7:
        lead, text = chance.choice(_THINGS), thing[1]
    else:
        lead = chance.choice(_LEADS)
    return " ".join(filter(None, (lead, _lower(text, chance)))) + chance.choice(_ENDS)


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
    if verb.lower() not in _NEGATIVES:
        return question
    is_negative = verb.lower() in ("is", "are", "was", "were") or chance.random() < 0.5
    verb = _NEGATIVES[verb.lower()] if is_negative else chance.choice(_MODALS)
    return f"{verb} {_lower(rest, chance)}{chance.choice(_ENDS)}"


def as_statement_asked(statement: str, chance: random.Random) -> str:
    """A statement as a question for yes or no."""
    return f"{chance.choice(_WHETHER)} {_lower(statement.strip(' .'), chance)}?"


def _lower(text: str, chance: random.Random) -> str:
    return text.lower() if chance.random() < 0.7 else text[:1].lower() + text[1:]
