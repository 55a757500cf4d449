"""Question patterns: those of SimpleQuestions with the subject cut out, and hand-written ones."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from convinse.language.language import english
from convinse.language.text import fold
from convinse.support.errors import DataError
from recipes.embedded.wikidata import Words
from recipes.sources import records

FORWARD, BACKWARD, OF_QUALIFIER, BY_QUALIFIER = ">", "<", "?", "!"
_PHRASINGS = Path(__file__).with_name("phrasings.txt")
_SLOT = "\0"
_MOST_WORDS = 14
_RARE = 10  # questions that a word of a name stands in at most
_LINE = re.compile(r"(P[0-9]+(?:/P[0-9]+)?) ([><?!]) (.+)")
_CONDITION = re.compile(r"\[(\w+)\] +")
_MISPLACED = {
    "P19": frozenset(("die", "died", "death")),
    "P20": frozenset(("born", "birth")),
}  # slips of the annotators
_NAME_INSIDE = frozenset("of the and de la le von van der da di del du e y a in".split())
_AUXILIARY = frozenset("is was are were does did do has had have can could will would".split())
# words that say which subject or answer is meant, and would be wrong of another one
_SPECIFIC = frozenset(
    """american english british french german italian spanish japanese chinese indian russian canadian australian irish scottish welsh
    dutch swedish norwegian danish finnish polish greek turkish israeli jewish mexican brazilian argentine african asian european
    korean hungarian austrian swiss belgian portuguese latin united states america us usa u.s uk england britain france germany italy spain
    japan china india russia canada australia ireland scotland california texas florida illinois ohio york jersey london hollywood
    bollywood midwest southern northern eastern western south north east west county province first second third last famous popular
    female male woman man men women actress baseball basketball football hockey soccer cricket tennis rugby netflix hbo bbc nbc abc
    cbs disney nintendo sega xbox playstation ps2 wii atari dc marvel roman catholic christian islamic black white silent short indie
    independent early late old new young major minor best worst top asteroid planet celestial league grammy oscar academy""".split()
)


_CLASS_BEFORE = re.compile(r"(?:\b(?:the|a) )?\b(\w+) (?=\{[no]\})")
_CLASSES = frozenset(
    "artist musician singer person player director author writer program game episode composition track composer".split()
)


def _without_class(match: re.Match[str]) -> str:
    return "" if english().answer_types.names_class(match[1]) or match[1] in _CLASSES else match[0]


class Pattern(NamedTuple):
    """A question with {n}, {o} or {p} where the name belongs; `kind` is what it must be (empty: anything)."""

    text: str
    kind: str = ""

    @property
    def names_topic(self) -> bool:
        """Whether what is asked about stands in the question ("who came up with the screenplay" leaves it out)."""
        return re.search(r"\{[nop]\}", self.text) is not None

    def filled(self, words: Words, **more: str) -> str:
        return self.text.format(n=words.nominative, o=words.objective, p=words.possessive, **more)

    def with_pronoun(self, words: Words, **more: str) -> str:
        """The question about something already named: "the film {o}" is it alone."""
        text = _CLASS_BEFORE.sub(_without_class, self.text)
        return self._replace(text=re.sub(r"\bthe (?=\{[no]\})", "", text)).filled(words, **more)


Phrasings = Mapping[tuple[str, str], tuple[Pattern, ...]]  # by property or property/qualifier, and direction


def hand_written() -> Phrasings:
    """The patterns of `phrasings.txt`, whose head says how it is written. Raises `DataError` for another line."""
    found = {}
    for number, line in enumerate(_PHRASINGS.read_text(encoding="utf-8").splitlines(), 1):
        if match := _LINE.fullmatch(line):
            found[match[1], match[2]] = tuple(map(_written, match[3].split(" | ")))
        elif line and not line.startswith("#"):
            raise DataError(f"{_PHRASINGS}:{number}: no line of phrasings; see the head of the file for the form")
    return found


def _written(text: str) -> Pattern:
    condition = _CONDITION.match(text)
    return Pattern(text[condition.end() :], condition[1]) if condition else Pattern(text)


# -- SimpleQuestions ---------------------------------------------------------------------------------------------------


def simple_questions(data: Path, label: Callable[[str], str]) -> dict[str, tuple[Pattern, ...]]:
    """The patterns of SimpleQuestions by property (`P57`, or `R57` if the property is read backwards)."""
    questions = [
        (subject, prop, " ".join(question.lower().split()))
        for part in ("train", "valid")
        for subject, prop, _, question in records(data, "simplequestions-wikidata", f"annotated_wd_data_{part}.txt.gz")
    ]
    names = dict(records(data, "simplequestions-wikidata", "labels.tsv.gz"))
    frequency = Counter(word for _, _, question in questions for word in set(_tokens(question)))
    exact: dict[str, Counter[str]] = defaultdict(Counter)
    guessed: dict[str, Counter[str]] = defaultdict(Counter)
    for subject, prop, question in questions:
        name = names.get(subject) or label(subject)
        if name != subject:
            if found := _cut_name(question, name):
                exact[prop][found] += 1
        elif found := _cut_rare(question, frequency):
            guessed[prop][found] += 1
    counts = Counter(word for patterns in exact.values() for text in patterns for word in text.split())
    made = {}
    for prop in sorted({*exact, *guessed}):
        likely = (text for text in guessed[prop] if all(counts[word] > 2 for word in text.split() if word != _SLOT))
        texts = exact[prop] + Counter({text: guessed[prop][text] for text in likely})
        words = Counter(word for text, count in texts.items() for word in set(text.split()) for _ in range(count))
        slotted: Counter[str] = Counter()
        for text, count in texts.items():
            if _is_general(text, words) and not _MISPLACED.get(prop, frozenset()) & set(text.split()):
                slotted[_slotted(text)] += count
        patterns = tuple(Pattern(text) for text in sorted(slotted) if text and slotted[text] > 1)
        if patterns:
            made[prop] = patterns
    return made


def _tokens(text: str) -> list[str]:
    return re.findall(r"[^\s?,.]+", re.sub(r"['’]s\b", " 's", text))


def _cut_name(question: str, name: str) -> str:
    """The question with a name, given with or without its bracket, cut out; empty if the name is not in it once."""
    for form in dict.fromkeys((name, re.sub(r"\s*\([^)]*\)$", "", name))):
        found = re.split(rf"(?<!\w){re.escape(form.lower())}(?!\w)(?:\s*\([^)]*\))?", question)
        if len(found) == 2 and len(form) > 2:
            return " ".join(_tokens(f"{found[0]} {_SLOT} {found[1]}"))
    return ""


def _cut_rare(question: str, frequency: Mapping[str, int]) -> str:
    """The question with its one run of rare words cut out; empty unless it has one."""
    words = _tokens(re.sub(r"\([^)]*\)", " ", question))
    rare = [place for place, word in enumerate(words) if frequency[word] <= _RARE]
    if not rare or len(words) > _MOST_WORDS + 4:
        return ""
    first, last = rare[0], rare[-1]
    if any(place not in rare and words[place] not in _NAME_INSIDE for place in range(first, last + 1)):
        return ""
    if len(rare) < 2:  # a single one may be half of a name
        return ""
    return " ".join([*words[:first], _SLOT, *words[last + 1 :]])


def _is_general(text: str, words: Mapping[str, int]) -> bool:
    text_words = [word for word in text.split() if word != _SLOT]
    content = [word for word in text_words if word not in english().words.stop_words and word != "'s"]
    if not 2 <= len(text_words) <= _MOST_WORDS or english().answer_types.is_existential(text):
        return False
    if any(word in _SPECIFIC or words[word] < 3 or re.search(r"[0-9(){}\"]", word) for word in content):
        return False
    return bool(content) and not text.endswith((" the", " a"))


def _slotted(text: str) -> str:
    """The slot as {p} before a possessive, {n} where it is the subject, else {o}."""
    text = re.sub(rf"\b(?:the|a|an) (?={_SLOT})", "", text)
    text = re.sub(rf"^(what|who) (is|was|'s) {_SLOT} (\w+)$", rf"\1 \2 {_SLOT} 's \3", text)  # "what is x profession"
    words = text.split()
    place = words.index(_SLOT)
    if words[place + 1 : place + 2] == ["'s"]:
        words[place : place + 2] = ["{p}"]
    elif place == 0 or words[place - 1] in _AUXILIARY:
        words[place] = "{n}"
    else:
        words[place] = "{o}"
    slotted = " ".join(words).replace(" 's", "'s")
    if re.search(r"\{[no]\} (?:film|movie|album|song|book|game|show|band|music|artist)\b", slotted):
        return ""  # "what is a {o} album" takes a name only
    return slotted if slotted.count("{") == 1 else ""


# -- representations ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=50_000)
def content_words(question: str) -> tuple[str, ...]:
    """The words that a representation keeps of a question; those of `question_understanding.slots`."""
    found = re.findall(r"[\w]+(?:[-'’]\w+)*", question)
    return tuple(word for word in found if fold(word) and fold(word) not in english().words.stop_words)


def slots(context: str, name: str, question: str) -> str:
    """`context || name || words || type`, as `question_understanding.slots` writes it for a question with a pronoun."""
    words = " ".join(word for word in content_words(question) if fold(word) not in set(fold(name).split()))
    return " || ".join((context, name, words, english().answer_types.expected_type(question).label))


def generic(label: str, aliases: Iterable[str], is_person: bool) -> tuple[Pattern, ...]:
    made = []
    for name in (label, *(alias for alias in aliases if re.fullmatch(r"[a-z]+(?: [a-z]+){0,3}", alias))):
        if re.search(
            r"\b(?:of|by|with|after|in|on|for|from|at|to|as|has|is|are|was)$|^(?:has|is|are|was|uses|used)\b", name
        ):
            made += [f"{{o}} {name}", f"{{o}} {name} what", f"what is {{n}} {name}"]
            continue
        who = "who" if is_person else "what"
        made += [f"{who} is the {name} of {{o}}", f"{{p}} {name}", f"{name} of {{o}}", f"{who} is {{p}} {name}"]
        made += [f"and {{p}} {name}", f"what about {{p}} {name}"]
        if not is_person:
            made.append(f"which {name} does {{n}} have")
    return tuple(Pattern(text) for text in dict.fromkeys(made))
