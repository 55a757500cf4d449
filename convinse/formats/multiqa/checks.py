"""Cross-checks that no schema can make: whether offsets, tokens and numbers agree with the documents.

They work on documents as they stand in the file, whatever the dialect, so that paths are those of the file. A fault is
what cannot be used as it stands. A note is what differs in spelling only: data sets with aliases give an answer's own
spelling (lower case in WikiHop, another case in TriviaQA) at the place of another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..tokens import normalize
from .schema import json_path

_SHOWN = 60  # characters of a text in a message
_PARTS = ("text", "title", "snippet")

Path = tuple[str | int, ...]


class Finding(NamedTuple):
    """A fault (`is_fault`) or a note, at a JSON path of a document."""

    path: str
    reason: str
    is_fault: bool = True


def _fault(path: Path, reason: str) -> Finding:
    return Finding(json_path(path), reason)


def _note(path: Path, reason: str) -> Finding:
    return Finding(json_path(path), reason, is_fault=False)


def check_entry(entry: Any) -> Iterator[Finding]:
    """What disagrees in a context; values of a wrong type are skipped, as the schema names them."""
    documents = _list(_dict(_dict(entry).get("context")).get("documents"))
    for number, document in enumerate(documents):
        document = _dict(document)
        place: Path = ("context", "documents", number)
        for part, tokens in _dict(document.get("tokens")).items():
            text = document.get(part)
            if not isinstance(text, str):
                yield _fault((*place, "tokens", part), f"tokens of '{part}', which the document does not have")
                continue
            yield from _tokens((*place, "tokens", part), _list(tokens), text)
        for part in _PARTS:
            yield from _sentences((*place, "metadata", part), document, part)
    for number, question in enumerate(_list(_dict(entry).get("qas"))):
        question = _dict(question)
        here: Path = ("qas", number)
        if isinstance(question.get("question"), str):
            yield from _tokens((*here, "question_tokens"), _list(question.get("question_tokens")), question["question"])
        for path, instance in _instances(question, here):
            yield from _instance(path, instance, documents)
        yield from _choices(
            (*here, "answers", "multi-choice"), _dict(_dict(question.get("answers")).get("multi-choice"))
        )


def _tokens(path: Path, tokens: list[Any], text: str) -> Iterator[Finding]:
    """One fault for a part, with the number of tokens that are not at their offsets; one note for each other kind."""
    wrong: list[int] = []
    spelled = counted = 0
    packed: bytes | None = None
    for index, token in enumerate(tokens):
        if not _is_token(token):
            continue
        word, start = token
        if text.startswith(word, start):
            continue
        if _same(text[start : start + len(word)], word):
            spelled += 1
            continue
        if packed is None:
            packed = b"" if text.isascii() else text.encode("utf-8", "surrogatepass")
        if packed and _same(packed[start : start + len(word.encode())].decode("utf-8", "replace"), word):
            counted += 1
        else:
            wrong.append(index)
    if counted:
        reason = f"the offsets of {counted} tokens count UTF-8 bytes; all other offsets of the format count characters"
        yield _note(path, reason)
    if spelled:
        yield _note(path, f"{spelled} tokens differ from the text in case")
    if wrong:
        word, start = tokens[wrong[0]]
        if counted and packed:
            there = packed[start : start + len(word.encode())].decode("utf-8", "replace")
        else:
            there = text[start : start + len(word)]
        more = f"; {len(wrong) - 1} more tokens of this text are not at their offsets" if len(wrong) > 1 else ""
        yield _fault((*path, wrong[0]), f"{_show(word)} is not at offset {start}: {_show(there)} is{more}")


def _sentences(path: Path, document: dict[str, Any], part: str) -> Iterator[Finding]:
    starts = _dict(_dict(document.get("metadata")).get(part)).get("sentence_start_bytes")
    starts = [start for start in _list(starts) if type(start) is int]
    text = document.get(part)
    if starts and not isinstance(text, str):
        yield _fault(path, f"sentences of '{part}', which the document does not have")
    elif starts and (starts != sorted(starts) or starts[-1] > len(text or "")):
        yield _fault(
            (*path, "sentence_start_bytes"),
            f"the starts have to rise and to lie within the {len(text or '')} characters of '{part}'",
        )


def _instances(question: dict[str, Any], path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """All objects that say where something stands, at any depth; not those in metadata, which is free."""
    todo: list[tuple[Path, Any]] = [
        ((*path, key), question.get(key)) for key in ("supporting_context", "answers") if question.get(key)
    ]
    while todo:
        place, value = todo.pop()
        if isinstance(value, list):
            inner: list[tuple[Path, Any]] = [((*place, index), part) for index, part in enumerate(value)]
            todo += reversed([pair for pair in inner if isinstance(pair[1], (dict, list))])
        elif isinstance(value, dict):
            if "start_byte" in value or "doc_id" in value or "doc_ind" in value:
                yield place, value
            else:
                inner = [((*place, key), part) for key, part in value.items() if key != "metadata"]
                todo += reversed([pair for pair in inner if isinstance(pair[1], (dict, list))])


def _instance(path: Path, instance: dict[str, Any], documents: list[Any]) -> Iterator[Finding]:
    key = "doc_id" if "doc_id" in instance else "doc_ind"
    number, start, text = instance.get(key), instance.get("start_byte"), instance.get("text")
    if type(number) is not int:
        return
    if not 0 <= number < len(documents):
        yield _fault((*path, key), f"{number} is no document: the context has {len(documents)}, from 0 on")
        return
    part = instance.get("part")
    document = _dict(documents[number])
    whole = document.get(part) if isinstance(part, str) else None
    if not isinstance(whole, str):
        if part is not None:
            yield _fault((*path, "part"), f"document {number} has no text '{part}'")
        return
    tokens = [token for token in _list(_dict(document.get("tokens")).get(str(part))) if _is_token(token)]
    span = instance.get("token_inds", instance.get("start_end_tokens"))
    span = span if isinstance(span, list) and len(span) == 2 and all(type(index) is int for index in span) else None
    if type(start) is not int or start < 0:
        return
    end = None
    if isinstance(text, str):
        if whole.startswith(text, start):
            end = start + len(text)
        else:
            finding = _text_finding(path, whole, start, text, _covered(whole, tokens, span, start))
            yield finding
            if finding.is_fault:  # the tokens are wrong for the same reason
                return
    if span is not None and tokens:
        yield from _span(path, span, tokens, start, end)


def _text_finding(path: Path, whole: str, start: int, text: str, covered: str) -> Finding:
    """Why the text of an instance is not what stands at its offset."""
    there = whole[start : start + len(text)]
    if _same(there, text):
        return _note((*path, "text"), "differs from the document in case")
    if letters(text) and letters(text) in (letters(there), letters(covered)):
        return _note((*path, "text"), "differs from the document in punctuation or articles")
    packed = whole.encode("utf-8", "surrogatepass")
    if not whole.isascii() and packed.startswith(text.encode("utf-8", "surrogatepass"), start):
        right = len(packed[:start].decode("utf-8", "replace"))
        reason = f"{start} counts UTF-8 bytes; offsets of the format count characters, which gives {right}"
        return _fault((*path, "start_byte"), reason)
    if start >= len(whole):
        return _fault((*path, "start_byte"), f"{start} is outside of the text ({len(whole)} characters)")
    return _fault((*path, "start_byte"), f"{_show(text)} is not at {start}: {_show(there)} is")


def _covered(whole: str, tokens: list[Any], span: list[int] | None, start: int) -> str:
    """The text from `start` to the last token of a span that begins there."""
    if span is None or not 0 <= span[0] <= span[1] < len(tokens) or tokens[span[0]][1] != start:
        return ""
    word, begin = tokens[span[1]]
    return whole[start : begin + len(word)]


def _span(path: Path, span: list[int], tokens: list[Any], start: int, end: int | None) -> Iterator[Finding]:
    """Whether tokens cover what they should: `start`, and the character before `end` where the text is exact."""
    first, last = span
    if not 0 <= first <= last < len(tokens):
        yield _fault(path, f"tokens {first} to {last} are not among the {len(tokens)} of the text")
        return
    word, offset = tokens[first]
    if not offset <= start < offset + max(len(word), 1):
        yield _fault(path, f"token {first} ({_show(word)}) begins at {offset}, not at start_byte {start}")
        return
    if end is not None:
        word, begin = tokens[last]
        if not begin < end <= begin + len(word):
            reason = f"token {last} ({_show(word)}) ends at {begin + len(word)}, the text of the instance at {end}"
            yield _fault(path, reason)
            return
        if offset != start or begin + len(word) != end:
            yield _note(path, "the text does not begin and end where its tokens do")


def _choices(path: Path, answers: dict[str, Any]) -> Iterator[Finding]:
    known = len(_list(answers.get("choices")))
    single = answers.get("correct_answer_index")
    several = _list(answers.get("multi_correct_answer_indexes"))
    places: list[tuple[Path, Any]] = [(("correct_answer_index",), single)]
    places += [(("multi_correct_answer_indexes", index), number) for index, number in enumerate(several)]
    for place, number in places:
        if type(number) is int and not 0 <= number < known:
            yield _fault((*path, *place), f"{number} is no choice: there are {known}, from 0 on")


def letters(text: str) -> str:
    """What two spellings of an answer share: letters and digits without case, and no articles."""
    return "".join(filter(str.isalnum, normalize(text)))


def _is_token(token: Any) -> bool:
    return (
        isinstance(token, list)
        and len(token) == 2
        and isinstance(token[0], str)
        and type(token[1]) is int
        and token[1] >= 0
    )


def _same(text: str, spelling: str) -> bool:
    return text == spelling or text.casefold() == spelling.casefold()


def _show(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
