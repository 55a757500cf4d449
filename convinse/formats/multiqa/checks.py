"""Cross-checks that no schema can make: whether offsets, tokens and numbers agree with the documents.

They work on documents as in the file, whatever the spelling, so that paths are those of the file. A fault makes a value
unusable. A note is a difference in spelling only: data sets with aliases give an answer's main spelling (lower case in
WikiHop, another case in TriviaQA) at the place of another spelling.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..tokens import normalize
from .schema import Fault
from .spelling import Json, is_placed

NOTE = "note"  # the rule of a difference that does no harm
_SHOWN = 60  # characters of a text in a message


def check_entry(entry: Json) -> Iterator[Fault]:
    """Yield the disagreements in a context that `schema.json` accepts."""
    documents = entry["context"]["documents"]
    for number, document in enumerate(documents):
        place = f"$.context.documents[{number}]"
        for part, tokens in (document.get("tokens") or {}).items():
            text = document.get(part)
            if isinstance(text, str):
                yield from _tokens(f"{place}.tokens.{part}", tokens, text)
            else:
                yield Fault(f"{place}.tokens.{part}", f"tokens of '{part}', which the document does not have", "")
        for part in ("text", "title", "snippet"):
            starts = ((document.get("metadata") or {}).get(part) or {}).get("sentence_start_bytes")
            size = len(document.get(part) or "")
            if starts and (starts != sorted(starts) or starts[-1] > size):
                reason = f"the starts have to rise and to lie within the {size} characters of '{part}'"
                yield Fault(f"{place}.metadata.{part}.sentence_start_bytes", reason, "")
    for number, question in enumerate(entry["qas"]):
        place = f"$.qas[{number}]"
        yield from _tokens(f"{place}.question_tokens", question.get("question_tokens") or [], question["question"])
        for key in ("supporting_context", "answers"):
            for path, instance in _instances(f"{place}.{key}", question.get(key)):
                yield from _instance(path, instance, documents)
        multi_choice = (question.get("answers") or {}).get("multi-choice") or {}
        yield from _choices(f"{place}.answers.multi-choice", multi_choice)


def _tokens(path: str, tokens: list[Any], text: str) -> Iterator[Fault]:
    packed = text.encode("utf-8", "surrogatepass")
    notes: set[str] = set()
    wrong: list[Fault] = []
    for index, token in enumerate(tokens):
        if not is_placed(token) or text.startswith(token[0], token[1]):
            continue
        word, start = token
        there = text[start : start + len(word)]
        if there.casefold() == word.casefold():
            notes.add("tokens differ from the text in case")
        elif packed.startswith(word.encode("utf-8", "surrogatepass"), start):
            notes.add("the offsets of tokens count UTF-8 bytes; all other offsets of the format count characters")
        else:
            wrong.append(Fault(f"{path}[{index}]", f"{_show(word)} is not at offset {start}: {_show(there)} is", ""))
    yield from (Fault(path, note, NOTE) for note in sorted(notes))
    yield from wrong[:1]  # the others are wrong for the same reason, as a rule


def _instances(path: str, value: Any) -> Iterator[tuple[str, Json]]:
    # all objects with a place, at any depth, except in metadata, which is free
    if isinstance(value, dict) and value.keys() & {"start_byte", "doc_id"}:
        yield path, value
    elif isinstance(value, dict):
        for key, part in value.items():
            if key != "metadata":
                yield from _instances(f"{path}.{key}", part)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _instances(f"{path}[{index}]", part)


def _instance(path: str, instance: Json, documents: list[Json]) -> Iterator[Fault]:
    number, part, start = (instance.get(name) for name in ("doc_id", "part", "start_byte"))
    if type(number) is not int:
        return
    if number >= len(documents):
        yield Fault(f"{path}.doc_id", f"{number} is not a document: the context has {len(documents)}, from 0 on", "")
        return
    whole = documents[number].get(part or "")
    if not isinstance(whole, str):
        if part is not None:
            yield Fault(f"{path}.part", f"document {number} has no text '{part}'", "")
        return
    text: str | None = instance.get("text")
    if type(start) is not int:
        return
    end = None
    if text is not None and whole.startswith(text, start):
        end = start + len(text)
    elif text is not None:
        there = whole[start : start + len(text)]
        if not letters(text) or letters(text) not in (letters(there), letters(covered(documents[number], instance))):
            yield Fault(f"{path}.start_byte", f"{_show(text)} is not at {start}: {_show(there)} is", "")
            return  # the tokens are wrong for the same reason
        yield Fault(f"{path}.text", "differs from the document in case, punctuation or articles", NOTE)
    yield from _span(path, instance, _placed_tokens(documents[number], part), start, end)


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
    span: list[int] | None = instance.get("token_inds")
    return span if span and all(type(index) is int for index in span) else None


def _span(path: str, instance: Json, tokens: list[Any], start: int, end: int | None) -> Iterator[Fault]:
    # tokens must cover `start`, and the character before `end` if the text is exact
    span = _token_span(instance)
    if not tokens or not span:
        return
    first, last = span
    if not first <= last < len(tokens):
        yield Fault(path, f"tokens {first} to {last} are not among the {len(tokens)} of the text", "")
        return
    (word, begin), (last_word, last_begin) = tokens[first], tokens[last]
    stop = last_begin + len(last_word)
    if not begin <= start < begin + max(len(word), 1):
        yield Fault(path, f"token {first} ({_show(word)}) begins at {begin}, not at start_byte {start}", "")
    elif end is not None and not last_begin < end <= stop:
        yield Fault(path, f"token {last} ({_show(last_word)}) ends at {stop}, the text of the instance at {end}", "")
    elif end is not None and (begin, stop) != (start, end):
        yield Fault(f"{path}.text", "the text does not begin and end where its tokens do", NOTE)


def _choices(path: str, answers: Json) -> Iterator[Fault]:
    count = len(answers.get("choices") or [])
    places = [(f"{path}.correct_answer_index", answers.get("correct_answer_index"))]
    for index, number in enumerate(answers.get("multi_correct_answer_indexes") or []):
        places.append((f"{path}.multi_correct_answer_indexes[{index}]", number))
    for place, number in places:
        if number is not None and number >= count:
            yield Fault(place, f"{number} is not a choice: there are {count}, from 0 on", "")


def letters(text: str) -> str:
    """Return the letters and digits of a spelling without case and articles, by which spellings are compared."""
    return "".join(filter(str.isalnum, normalize(text)))


def _show(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")
