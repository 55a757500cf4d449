"""Rules of files for a case that a question supposes: "what if I cancel too late?" of "Whoever cancels later pays 25 euros"."""

from __future__ import annotations

from ..language.read_evidence import ReadEvidence
from ..language.text import fold
from ..records.conversation import Extent
from .candidates import Computed
from .question import Question
from .sentences import is_prose, sentence_spans

_BEGINNING = 4  # letters that two words of one family share: "late", "later"


def consequences(question: Question) -> list[Computed]:
    """Return the only sentence of the files that names a case and all words by which a question asks for it; empty without one."""
    supposing = question.language.operations.supposing.match(question.in_full)
    if supposing is None or not question.is_of_files:
        return []
    case = question.in_full[supposing.end() :]
    properties, denial = question.language.properties, question.language.words.denial
    is_denied = denial.search(case) is not None
    words = properties.keywords(denial.sub(" ", case)) - properties.light_keywords
    found: dict[str, list[tuple[int, str]]] = {"exact": [], "alike": []}
    for place, read in enumerate(question.evidences if words else ()):
        for start, end in sentence_spans(read) if is_prose(read) else ():
            sentence = read.text[start:end].strip()
            if not _names_case(question, sentence, is_denied=is_denied):
                continue
            said = properties.keywords(f"{_headings(read)} {sentence}")
            if words <= said and not words.isdisjoint(properties.keywords(sentence)):
                found["exact"].append((place, sentence))
            elif {word[:_BEGINNING] for word in words} <= {word[:_BEGINNING] for word in said}:
                found["alike"].append((place, sentence))
    sentences = found["exact"] or found["alike"]
    if len({sentence for _, sentence in sentences}) != 1:
        return []
    place, sentence = sentences[0]
    return [Computed({"id": sentence, "label": sentence}, "section", (place,), extent=Extent(rows=1, files=1))]


def _names_case(question: Question, sentence: str, *, is_denied: bool) -> bool:
    """Return True if a sentence says what holds in a case, with a denial if the question has one: "whoever does not come"."""
    is_case = not question.language.operations.cases.isdisjoint(fold(sentence).split())
    return is_case and (not is_denied or question.language.words.denial.search(sentence) is not None)


def _headings(read: ReadEvidence) -> str:
    return " ".join(read.evidence["citation"]["headings"][-1:]) if "citation" in read.evidence else ""
