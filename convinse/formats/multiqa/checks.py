"""Cross-checks that no schema can make: whether offsets, tokens and numbers agree with the documents.

They work on documents as in the file, whatever the dialect, so that paths are those of the file. A fault makes a value
unusable. A note is a difference in spelling only: data sets with aliases give an answer's main spelling (lower case in
WikiHop, another case in TriviaQA) at the place of another spelling.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..tokens import normalize
from .dialects import Json, is_placed
from .schema import Fault, json_path

NOTE = "note"  # the rule of a difference that does no harm
_SHOWN = 60  # characters of a text in a message

Path = tuple[str | int, ...]


def _fault(path: Path, reason: str) -> Fault:
    return Fault(json_path(path), reason, "")


def _note(path: Path, reason: str) -> Fault:
    return Fault(json_path(path), reason, NOTE)


def check_entry(entry: Json) -> Iterator[Fault]:
    """Yield the disagreements in a context that `schema.json` accepts."""
    documents = entry["context"]["documents"]
    for number, document in enumerate(documents):
        place: Path = ("context", "documents", number)
        for part, tokens in (document.get("tokens") or {}).items():
            text = document.get(part)
            if isinstance(text, str):
                yield from _tokens((*place, "tokens", part), tokens, text)
            else:
                yield _fault((*place, "tokens", part), f"tokens of '{part}', which the document does not have")
        yield from _sentences((*place, "metadata"), document)
    for number, question in enumerate(entry["qas"]):
        here: Path = ("qas", number)
        yield from _tokens((*here, "question_tokens"), question.get("question_tokens") or [], question["question"])
        for key in ("supporting_context", "answers"):
            for path, instance in _instances((*here, key), question.get(key)):
                yield from _instance(path, instance, documents)
        multi_choice = (question.get("answers") or {}).get("multi-choice") or {}
        yield from _choices((*here, "answers", "multi-choice"), multi_choice)


def _tokens(path: Path, tokens: list[Any], text: str) -> Iterator[Fault]:
    packed = text.encode("utf-8", "surrogatepass")
    wrong: list[tuple[int, str]] = []  # the index of a token, and the text at its offset
    spelled = counted = False
    for index, token in enumerate(tokens):
        if not is_placed(token) or text.startswith(token[0], token[1]):
            continue
        word, start = token
        there = text[start : start + len(word)]
        if _same(there, word):
            spelled = True
        elif _same(_at_byte(packed, start, word), word):
            counted = True
        else:
            wrong.append((index, there))
    if counted:
        yield _note(path, "the offsets of tokens count UTF-8 bytes; all other offsets of the format count characters")
    if spelled:
        yield _note(path, "tokens differ from the text in case")
    if wrong:
        index, there = wrong[0]
        word, start = tokens[index]
        there = _at_byte(packed, start, word) if counted else there
        more = f"; {len(wrong) - 1} more tokens of this text are not at their offsets" if len(wrong) > 1 else ""
        yield _fault((*path, index), f"{_show(word)} is not at offset {start}: {_show(there)} is{more}")


def _at_byte(packed: bytes, start: int, word: str) -> str:
    return packed[start : start + len(word.encode("utf-8", "surrogatepass"))].decode("utf-8", "replace")


def _sentences(path: Path, document: Json) -> Iterator[Fault]:
    for part in ("text", "title", "snippet"):
        starts = ((document.get("metadata") or {}).get(part) or {}).get("sentence_start_bytes")
        size = len(document.get(part) or "")
        if starts and (starts != sorted(starts) or starts[-1] > size):
            reason = f"the starts have to rise and to lie within the {size} characters of '{part}'"
            yield _fault((*path, part, "sentence_start_bytes"), reason)


def _instances(path: Path, value: Any) -> Iterator[tuple[Path, Json]]:
    # all objects with a place, at any depth, except in metadata, which is free
    if isinstance(value, dict) and value.keys() & {"start_byte", "doc_id", "doc_ind"}:
        yield path, value
    elif isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            if key != "metadata":
                yield from _instances((*path, key), part)


def _instance(path: Path, instance: Json, documents: list[Json]) -> Iterator[Fault]:
    key = "doc_id" if "doc_id" in instance else "doc_ind"
    number, part, start = (instance.get(name) for name in (key, "part", "start_byte"))
    text: str | None = instance.get("text")
    if type(number) is not int:
        return
    if number >= len(documents):
        yield _fault((*path, key), f"{number} is no document: the context has {len(documents)}, from 0 on")
        return
    whole = documents[number].get(part or "")
    if not isinstance(whole, str):
        if part is not None:
            yield _fault((*path, "part"), f"document {number} has no text '{part}'")
        return
    if type(start) is not int:
        return
    end = start + len(text) if text is not None and whole.startswith(text, start) else None
    if text is not None and end is None:
        finding = _text_finding(path, whole, start, text, covered(documents[number], instance))
        yield finding
        if finding.rule != NOTE:  # the tokens are wrong for the same reason
            return
    tokens = _placed_tokens(documents[number], part)
    if tokens and (span := _token_span(instance)):
        yield from _span(path, span, tokens, start, end)


def _text_finding(path: Path, whole: str, start: int, text: str, in_tokens: str) -> Fault:
    there = whole[start : start + len(text)]
    if _same(there, text):
        return _note((*path, "text"), "differs from the document in case")
    if letters(text) and letters(text) in (letters(there), letters(in_tokens)):
        return _note((*path, "text"), "differs from the document in punctuation or articles")
    packed = whole.encode("utf-8", "surrogatepass")
    if packed.startswith(text.encode("utf-8", "surrogatepass"), start):
        right = len(packed[:start].decode("utf-8", "replace"))
        reason = f"{start} counts UTF-8 bytes; offsets of the format count characters, which gives {right}"
    elif start >= len(whole):
        reason = f"{start} is outside of the text ({len(whole)} characters)"
    else:
        reason = f"{_show(text)} is not at {start}: {_show(there)} is"
    return _fault((*path, "start_byte"), reason)


def covered(document: Json, instance: Json) -> str:
    """Return the text from the start of an instance to the end of its last token; empty if its first is not at the start."""
    tokens = _placed_tokens(document, instance["part"])
    first, last = _token_span(instance) or (0, -1)
    start = instance["start_byte"]
    if not first <= last < len(tokens) or tokens[first][1] != start:
        return ""
    word, begin = tokens[last]
    return str(document[instance["part"]][start : begin + len(word)])


def _placed_tokens(document: Json, part: Any) -> list[Any]:
    return [token for token in (document.get("tokens") or {}).get(part) or [] if is_placed(token)]


def _token_span(instance: Json) -> list[int] | None:
    span: list[int] | None = instance.get("token_inds", instance.get("start_end_tokens"))
    return span if span and all(type(index) is int for index in span) else None


def _span(path: Path, span: list[int], tokens: list[Any], start: int, end: int | None) -> Iterator[Fault]:
    # tokens must cover `start`, and the character before `end` if the text is exact
    first, last = span
    if not first <= last < len(tokens):
        yield _fault(path, f"tokens {first} to {last} are not among the {len(tokens)} of the text")
        return
    (word, begin), (last_word, last_begin) = tokens[first], tokens[last]
    stop = last_begin + len(last_word)
    if not begin <= start < begin + max(len(word), 1):
        yield _fault(path, f"token {first} ({_show(word)}) begins at {begin}, not at start_byte {start}")
    elif end is not None and not last_begin < end <= stop:
        yield _fault(path, f"token {last} ({_show(last_word)}) ends at {stop}, the text of the instance at {end}")
    elif end is not None and (begin, stop) != (start, end):
        yield _note((*path, "text"), "the text does not begin and end where its tokens do")


def _choices(path: Path, answers: Json) -> Iterator[Fault]:
    count = len(answers.get("choices") or [])
    places: list[tuple[Path, Any]] = [(("correct_answer_index",), answers.get("correct_answer_index"))]
    several = enumerate(answers.get("multi_correct_answer_indexes") or [])
    places += [(("multi_correct_answer_indexes", index), number) for index, number in several]
    for place, number in places:
        if number is not None and number >= count:
            yield _fault((*path, *place), f"{number} is no choice: there are {count}, from 0 on")


def letters(text: str) -> str:
    """Return the letters and digits of a spelling without case and articles, by which spellings are compared."""
    return "".join(filter(str.isalnum, normalize(text)))


def _same(text: str, spelling: str) -> bool:
    return text.casefold() == spelling.casefold()


def _show(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")
