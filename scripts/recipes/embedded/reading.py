"""Reading data sets as examples: sentences and paragraphs with the places of the answers."""

import html
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from recipes.embedded.examples import Candidate, Example, Spans
from recipes.embedded.negatives import by_bm25, hard_texts, holds, joined_keys, negatives, part_of, parts_with_texts
from recipes.embedded.spans import untokenised
from recipes.sources import records

MOST_ANSWER_WORDS = 40
_SENTENCES_TOGETHER = 12  # that paragraphs are made of
_LEAST_WORDS = 8  # of a line that makes its contexts one document
_HERE, _NAMED = "reading: ", "title: "  # before keys of the files of reading/, and before titles
_MISMATCHED = 0.25  # share of the questions that are asked of other paragraphs


class DataSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A set of `data_sets.yml`, whose head says what each key is."""

    content: str
    licence: str
    origin: str = ""
    kind: str = ""
    share: float = 1.0
    titled: bool = True
    alike: bool = True
    tokenised: bool = False


_LISTED = msgspec.yaml.decode(
    Path(__file__).with_name("data_sets.yml").read_bytes(), type=dict[str, dict[str, DataSet]]
)
READING_FILES, HYBRID_FILES = _LISTED["reading"], _LISTED["hybrid"]
DATA_SETS = {name: listed_set for listed in _LISTED.values() for name, listed_set in listed.items()}
ARTICLES = [name for name, file in READING_FILES.items() if file.kind == "wikipedia" and file.titled]


class Asked(NamedTuple):
    """A question, its text, the places of the answers there and the title of the text's document."""

    question: str
    text: str
    spans: Spans
    title: str
    readable: bool = True  # False if no single one of the places is the answer

    @property
    def answers(self) -> list[str]:
        return list(dict.fromkeys(self.text[start:end] for start, end in self.spans))


def merged(rows: Iterable[Asked]) -> list[Asked]:
    """Questions asked again on the same text become one with all spans; too long answers are left out."""
    found: dict[tuple[str, str], Asked] = {}
    for row in rows:
        spans = [span for span in row.spans if len(row.text[slice(*span)].split()) <= MOST_ANSWER_WORDS]
        if spans:
            before = found.setdefault((row.text, row.question), row._replace(spans=()))
            found[row.text, row.question] = before._replace(spans=tuple(dict.fromkeys([*before.spans, *spans])))
    return list(found.values())


# -- sentences ---------------------------------------------------------------------------------------------------------


def qamr(data: Path, seed: int) -> Iterator[Example]:
    """QAMR: questions on a sentence; a random half of them on a paragraph with the sentence and others around it."""
    rows = []
    for line in (line for part in ("dev", "test_part") for line in records(data, "qamr", f"{part}.jsonl.gz")):
        answers = [
            answer for answer in (line, *line["validator_answers"]) if answer["answer"] and answer["answer_start"] >= 0
        ]
        spans = tuple((answer["answer_start"], answer["answer_start"] + len(answer["answer"])) for answer in answers)
        rows.append(Asked(line["question"], line["sentence"], spans, line["sentence"]))
    by_text: dict[str, list[Asked]] = defaultdict(list)
    for row in merged(rows):
        by_text[row.text].append(row)
    chance = random.Random(f"qamr {seed}")
    for part in ("train", "dev"):
        sentences = [text for text in by_text if part_of("qamr", text) == part]
        chance.shuffle(sentences)
        number_of_sets = max(1, len(sentences) // _SENTENCES_TOGETHER)
        together = [sentences[place::number_of_sets] for place in range(number_of_sets)] if sentences else []
        mates = {text: texts for texts in together for text in texts}
        with hard_texts(sentences, seed) as find:
            for number, same_texts in enumerate(together):
                for row in (row for text in same_texts for row in by_text[text]):
                    wrong = find(row.question, 2, same_texts, row.answers)
                    text, spans = row.text, row.spans
                    if chance.random() < 0.5:
                        text, begin = _paragraph(row.text, same_texts, chance)
                        spans = tuple((start + begin, end + begin) for start, end in spans)
                        wrong = [Candidate(_wrong_paragraph(bad.text, mates, row.answers, chance)) for bad in wrong]
                    candidates = (Candidate(text, True, spans), *wrong)
                    yield Example(row.question, candidates, "qamr", row.text, f"qamr:{part}:{number}")


def _wrong_paragraph(
    sentence: str, mates: Mapping[str, Sequence[str]], answers: list[str], chance: random.Random
) -> str:
    return _paragraph(sentence, [text for text in mates[sentence] if not holds(text, answers)], chance)[0]


def _paragraph(sentence: str, others: Sequence[str], chance: random.Random) -> tuple[str, int]:
    others = [text for text in others if text != sentence]
    drawn = chance.sample(others, min(len(others), chance.randint(2, 5)))
    place = chance.randint(0, len(drawn))
    before = "".join(f"{text} " for text in drawn[:place])
    return " ".join([*drawn[:place], sentence, *drawn[place:]]), len(before)


# -- paragraphs --------------------------------------------------------------------------------------------------------


def _lines(data: Path, *names: str, tokenised: bool = False) -> Iterator[Asked]:
    for line in records(data, *names):
        text, start = line["context"], line["answer_start"]
        span = (start, start + len(line["answer"]))
        if tokenised:
            text, move = untokenised(text)
            span = move(*span)
        yield Asked(line["question"], text, (span,), line["title"])


def fairytaleqa(data: Path, seed: int) -> Iterator[Example]:
    """FairytaleQA: questions on sections of stories, the other sections as negatives."""
    rows = [row for name in ("train", "val") for row in _lines(data, "fairytaleqa", f"{name}.jsonl.gz")]
    return on_paragraphs("fairytaleqa", rows, seed, near=2, hard=1)


def qed(data: Path, seed: int) -> Iterator[Example]:
    """QED: questions of users on paragraphs of Wikipedia, without the blanks of the tokenisation."""
    return on_paragraphs("qed", _lines(data, "qed", "dev.jsonl.gz", tokenised=True), seed, near=1, hard=2)


def policyqa(data: Path, seed: int) -> Iterator[Example]:
    """PolicyQA, the dev file: questions on passages of privacy policies."""
    tested = {row.text for row in _lines(data, "policyqa", "test.jsonl.gz")}
    rows = [row for row in _lines(data, "policyqa", "dev.jsonl.gz") if row.text not in tested]
    return on_paragraphs("policyqa", rows, seed, near=2, hard=0, alike=False, group="policyqa")


def on_paragraphs(
    source: str, rows: Iterable[Asked], seed: int, *, near: int, hard: int, alike: bool = True, group: str | None = None
) -> Iterator[Example]:
    """Examples with negatives of the same document first, then of the part; a document is a group by default."""
    rows = list(rows)
    rows_read = merged(rows)
    chance = random.Random(f"{source} {seed}")
    keys = joined_keys((row.title, row.text) for row in rows)
    texts: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))  # key -> text -> its questions
    for row in rows:  # those with a long answer, too: their text is not a negative
        texts[keys[row.title]][row.text].add(row.question)
    for of_part, find in parts_with_texts(source, rows_read, lambda row: keys[row.title], lambda row: [row.text], seed):
        for row in of_part:
            key = keys[row.title]
            document = texts[key]
            free = (text for text, questions in document.items() if row.question not in questions)
            others = [text for text in free if not holds(text, row.answers)]
            if alike:
                others = by_bm25(row.question, others)
            else:
                chance.shuffle(others)
            wrong = negatives(others[:near])
            if hard:
                wrong += find(row.question if alike else "", near + hard - len(wrong), document, row.answers)
            right = Candidate(row.text, True, row.spans if row.readable else (), row.readable)
            yield Example(row.question, (right, *wrong), source, key, group or f"{source}:{key}")


# -- the files of reading/ ---------------------------------------------------------------------------------------------


class _Context(NamedTuple):
    text: str
    title: str
    key: str
    questions: list[dict[str, Any]]


@lru_cache(maxsize=1)
def _contexts(data: Path) -> dict[str, list[_Context]]:
    """The contexts of all files with their keys: equal articles have one key in all files."""
    found: dict[str, list[_Context]] = {}
    pairs = []
    for name, file in READING_FILES.items():
        found[name] = lines = []
        for line in records(data, "reading", f"{name}.jsonl.gz"):
            if text := line.get("context"):  # the header has none
                title = html.unescape(line.get("title", "")) if file.titled else ""
                lines.append(_Context(text, title, title or text, line["qas"]))
                pairs += ((title or text, part) for part in (text, *long_lines(text)))
    keys = joined_keys(pairs)
    return {name: [line._replace(key=keys[line.key]) for line in lines] for name, lines in found.items()}


def long_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line.split()) >= _LEAST_WORDS]


def keys_with_reading(data: Path, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """`joined_keys` of documents of other files, from pairs (name, text), that agree with those of `reading`."""
    pairs = list(pairs)
    context_lines = [line for context in _contexts(data).values() for line in context]
    # an article is a text of its own name: so it is joined with what has its title here
    articles = ((_HERE + line.key, _NAMED + line.title.replace("_", " ")) for line in context_lines if line.title)
    texts = ((_HERE + line.key, text) for line in context_lines for text in (line.text, *long_lines(line.text)))
    joined = joined_keys((*((name, _NAMED + name) for name, _ in pairs), *pairs, *articles, *texts))
    texts_of: dict[str, set[str]] = defaultdict(set)
    for name, top in joined.items():
        if name.startswith(_HERE):
            texts_of[top].add(name.removeprefix(_HERE))
    return {
        name: min(texts_of[top], default=top)
        for name, top in joined.items()
        if not name.startswith(_HERE) and len({part_of("", key) for key in texts_of[top]}) <= 1
    }


def mrqa_file(name: str, file: str, data: Path, seed: int) -> Iterator[Example]:
    """The questions of a file of one's own, in MRQA's JSON lines, plain or compressed; contexts of one `title` are of one document."""
    rows = []
    for line in records(data, file):
        if text := line.get("context"):
            for question in line["qas"]:
                rows.append(Asked(question["question"], text, answer_places(question), line.get("title") or text))
    yield from on_paragraphs(name, rows, seed, near=2, hard=1)


def reading(name: str, data: Path, seed: int) -> Iterator[Example]:
    """The questions of a file: negatives of the same document first, then of the file, none with an answer."""
    file = READING_FILES[name]
    near, hard = (2, 1) if file.titled else (1, 2)
    group = None if file.alike else name
    rows = _share(name, data, seed, file.share)
    yield from on_paragraphs(name, rows, seed, near=near, hard=hard, alike=file.alike, group=group)


def _share(name: str, data: Path, seed: int, share: float) -> Iterator[Asked]:
    chance = random.Random(f"{name} {seed}")
    return (row for _, row in titled_rows(name, data) if chance.random() < share)


def titled_rows(name: str, data: Path) -> Iterator[tuple[str, Asked]]:
    """The questions of a file, each with the title of the article; the title of the row is the article's key."""
    for line in _contexts(data)[name]:
        text, move = untokenised(line.text) if READING_FILES[name].tokenised else (line.text, None)
        for question in line.questions:
            spans = answer_places(question)
            if move is not None:
                spans = tuple(move(*span) for span in spans)
            yield line.title, Asked(question["question"], text, spans, line.key, not question.get("all_needed"))


def answer_places(question: Mapping[str, Any]) -> Spans:
    """Where the answers of a question in MRQA's format stand, in characters."""
    return tuple((start, end + 1) for answer in question["detected_answers"] for start, end in answer["char_spans"])


def held_out(data: Path, seed: int) -> dict[str, list[Example]]:
    """The dev part of the files by kind; its articles are in no file's train part."""
    found: dict[str, list[Example]] = {}
    for name, file in READING_FILES.items():
        of_kind = found.setdefault(file.kind, [])
        of_kind += (example for example in reading(name, data, seed) if example.part == "dev")
    return found


# -- questions without an answer ---------------------------------------------------------------------------------------


def squad2_unanswerable(data: Path, seed: int) -> Iterator[Example]:
    """Questions of SQuAD 2.0 that were written to look as if the paragraph answered them."""
    for line in records(data, "hybrid", "squad2-unanswerable.jsonl.gz"):
        title = html.unescape(line["title"])
        yield Example(line["question"], (Candidate(line["context"]),), "squad2", title, f"squad2:{title}")


def mismatched(data: Path, seed: int) -> Iterator[Example]:
    """Questions on paragraphs of Wikipedia with the paragraphs of the same article that are most like them."""
    for name in ARTICLES:
        rows = _share(name, data, seed, _MISMATCHED)
        for example in on_paragraphs(name, rows, seed, near=2, hard=0):
            if len(example.candidates) > 1:
                yield replace(example, candidates=example.candidates[1:], source="mismatched")
