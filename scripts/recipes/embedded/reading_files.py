"""The files of `reading/`: published reading sets in MRQA lines, and questions that a paragraph does not answer."""

from __future__ import annotations

import html
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from convinse.support.errors import DataError
from convinse.support.jsonlines import read_lines
from recipes.embedded.examples import Candidate, Example, of_part
from recipes.embedded.negatives import joined_keys, part_of
from recipes.embedded.reading_sets import Asked, on_paragraphs
from recipes.sources import needed

_LEAST_WORDS = 8  # of a line that makes its contexts one document
_HERE, _NAMED = (
    "reading: ",
    "title: ",
)  # before keys of these files, and before titles, where others are joined with them
_MISMATCHED = 0.25  # share of the questions that are asked of other paragraphs


class ReadingFile(NamedTuple):
    """What is known of a file, and how it is learned from.

    Attributes:
        name: of the file, and of the set.
        kind: sets of a kind are measured together (`held_out`).
        content, origin, licence: as the README of the folder states them; they stand in the model card.
        share: of its questions that become examples: those of stilted sets seldom do.
        titled: whether a title names a document; else every context is one.
        alike: whether its questions tell which text they are about. Where they do not ("what is the size?"), the
            text most like the question may answer it, too: negatives are random then, and no text of the file is
            another question's negative in the embedding.
    """

    name: str
    kind: str
    content: str
    origin: str
    licence: str
    share: float = 1.0
    titled: bool = True
    alike: bool = True


READING_FILES = (
    ReadingFile(
        "covidqa", "science", "biomedical articles (COVID-QA)", "XOR-COVID",
        "MIT (repository), Apache-2.0 (COVID-QA); articles: each its own (CORD-19)",
    ),
    ReadingFile(
        "drop-contrast-spans", "reasoning", "Wikipedia, from the test set of DROP", "allenai/contrast-sets",
        "CC BY-SA 4.0 (DROP)", titled=False, alike=False,
    ),
    ReadingFile(
        "hybridqa-ottqa-passages", "hops", "Wikipedia introductions that a table leads to (HybridQA, OTT-QA)",
        "wenhuchen/HybridQA, wenhuchen/OTT-QA", "MIT (repositories), CC BY-SA (texts)", alike=False,
    ),
    ReadingFile(
        "iirc-excerpts", "hops", "Wikipedia, a sentence and an excerpt that it leads to (IIRC)", "hyintell/CITB",
        "CC BY 4.0", titled=False,
    ),
    ReadingFile(
        "multihop-supporting", "hops", "Wikipedia, 2 to 4 paragraphs (HotpotQA, 2WikiMultihopQA, MuSiQue)",
        "JianGuanTHU/AMOR, AdelWang/MIGRES, hexuan21/lite_raptor, saptarshi059/TTS-project",
        "CC BY-SA 4.0 (HotpotQA), CC BY 4.0 (MuSiQue), Apache-2.0 (2WikiMultihopQA)", titled=False,
    ),
    ReadingFile(
        "qanom", "sentences", "sentences of Wikipedia and Wikinews, questions on nominalised verbs", "kleinay/QANom",
        "MIT (repository)", share=0.1, titled=False, alike=False,
    ),
    ReadingFile(
        "qasper-evidence", "science", "evidence paragraphs of NLP papers (Qasper)", "hyintell/CITB", "CC BY 4.0",
        titled=False, alike=False,
    ),
    ReadingFile(
        "qasrl-gs", "sentences", "sentences of Wikipedia and Wikinews, questions on verbs (QA-SRL)", "plroit/qasrl-gs",
        "MIT (repository)", share=0.2, titled=False, alike=False,
    ),
    ReadingFile(
        "quoref-contrast", "long", "Wikipedia, plots and biographies, from the test set of Quoref",
        "allenai/contrast-sets", "CC BY 4.0 (Quoref)",
    ),
    ReadingFile(
        "quoref-dev", "long", "Wikipedia, plots and biographies (Quoref)",
        "eladsegal/tag-based-multi-span-extraction", "CC BY 4.0 (Quoref)",
    ),
    ReadingFile(
        "quoref-train-sample", "long", "Wikipedia, plots and biographies (Quoref)", "circle-hit/SAPT",
        "CC BY 4.0 (Quoref), Apache-2.0 (Natural Instructions)", titled=False,
    ),
    ReadingFile(
        "quotesum-dev", "wikipedia", "Wikipedia paragraphs (QuoteSum)", "google-research-datasets/QuoteSum",
        "CC BY-SA 4.0",
    ),
    ReadingFile(
        "ropes-contrast", "reasoning", "a background and a situation, from the test set of ROPES",
        "allenai/contrast-sets", "CC BY 4.0 (ROPES)", titled=False, alike=False,
    ),
    ReadingFile(
        "squad-paragraphs-800", "wikipedia", "Wikipedia paragraphs (SQuAD)", "EmptyCityJK/flan-response-evaluator",
        "CC BY-SA 4.0 (SQuAD)", titled=False,
    ),
    ReadingFile(
        "squad-train-44articles", "wikipedia", "Wikipedia paragraphs, 44 training articles of SQuAD 1.1",
        "tomhosking/aqleaderboard", "CC BY-SA 4.0 (SQuAD)",
    ),
    ReadingFile(
        "squad2-paragraphs-500", "wikipedia", "Wikipedia paragraphs, 7 training articles of SQuAD 2.0",
        "alongott15/RephrasingProject", "CC BY-SA 4.0 (SQuAD)",
    ),
    ReadingFile(
        "squadshifts-amazon", "posts", "product reviews (SQuADShifts)", "modestyachts/squadshifts-website",
        "CC BY 4.0", alike=False,
    ),
    ReadingFile(
        "squadshifts-new-wiki", "wikipedia", "Wikipedia paragraphs, 48 articles outside of SQuAD (SQuADShifts)",
        "modestyachts/squadshifts-website", "CC BY 4.0",
    ),
    ReadingFile(
        "squadshifts-reddit", "posts", "posts of Reddit (SQuADShifts)", "modestyachts/squadshifts-website",
        "CC BY 4.0", titled=False, alike=False,
    ),
    ReadingFile(
        "tatqa-text", "finance", "texts of financial reports (TAT-QA)", "NExTplusplus/TAT-QA", "MIT (repository)",
        titled=False, alike=False,
    ),
    ReadingFile(
        "timeqa-human-train", "time", "Wikipedia, questions on periods (TimeQA)", "wenhuchen/Time-Sensitive-QA",
        "BSD-3-Clause (repository), CC BY-SA (texts)",
    ),
)  # fmt: skip


class _Answer(msgspec.Struct):
    char_spans: list[tuple[int, int]]


class _Question(msgspec.Struct):
    question: str
    detected_answers: list[_Answer]
    all_needed: bool = False


class ReadingContext(msgspec.Struct):
    """A line of a file; the header has no context."""

    context: str = ""
    title: str = ""
    qas: list[_Question] = []
    key: str = ""  # added while reading


@lru_cache(maxsize=1)
def _contexts(data: Path) -> dict[str, list[ReadingContext]]:
    """The contexts of all files with their keys: equal articles have one key in all files.

    A context without a title is its own document. Documents that share a line of eight words or more are one: so the
    paragraphs of several questions of many hops stay together, and a sentence that two files ask about.
    """
    found: dict[str, list[ReadingContext]] = {}
    pairs = []
    for file in READING_FILES:
        path = needed(data, "reading", f"{file.name}.jsonl.gz")
        found[file.name] = own = []
        for number, line in read_lines(path, ReadingContext):
            if not line.context:
                continue
            for span in (span for asked in line.qas for answer in asked.detected_answers for span in answer.char_spans):
                if not 0 <= span[0] <= span[1] < len(line.context):
                    raise DataError(
                        f"{path}:{number}: the characters {span[0]} to {span[1]} are outside of the context"
                    )
            line.title = html.unescape(line.title) if file.titled else ""
            line.key = line.title or line.context
            pairs += ((line.key, text) for text in (line.context, *long_lines(line.context)))
            own.append(line)
    keys = joined_keys(pairs)
    for own in found.values():
        for line in own:
            line.key = keys[line.key]
    return found


def long_lines(text: str) -> list[str]:
    """The lines of eight words or more: documents that share one are one document."""
    return [line for line in text.splitlines() if len(line.split()) >= _LEAST_WORDS]


def keys_with_reading(data: Path, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """`joined_keys` of documents of other files, from pairs (name, text), that agree with those of `reading`.

    A document has the key of the documents here that share a text with it, or that are called so. It has none where
    these are in both parts: no part may have it then.

    Args:
        data: the shared data.
        pairs: the name of a document is its title where it is an article of Wikipedia.
    """
    pairs = list(pairs)
    known = [line for own in _contexts(data).values() for line in own]
    # an article is a text of its own name: so it is joined with what has its title here
    articles = ((_HERE + line.key, _NAMED + line.title.replace("_", " ")) for line in known if line.title)
    texts = ((_HERE + line.key, text) for line in known for text in (line.context, *long_lines(line.context)))
    joined = joined_keys((*((name, _NAMED + name) for name, _ in pairs), *pairs, *articles, *texts))
    own: dict[str, set[str]] = defaultdict(set)
    for name, top in joined.items():
        if name.startswith(_HERE):
            own[top].add(name.removeprefix(_HERE))
    keys = {}
    for name, top in joined.items():
        here = own[top]
        if not name.startswith(_HERE) and len({part_of("", key) for key in here}) <= 1:
            keys[name] = min(here, default=top)
    return keys


def reading(file: ReadingFile, data: Path, seed: int) -> Iterator[Example]:
    """The questions of a file: negatives of the same document first, then of the file, none with an answer.

    A question of which all answers are needed is ranked and not read: the reader marks one span.
    """
    near, hard = (2, 1) if file.titled else (1, 2)
    yield from on_paragraphs(
        file.name, _rows(file, data, seed, file.share), seed, near=near, hard=hard, alike=file.alike,
        group=None if file.alike else file.name,
    )  # fmt: skip


def _rows(file: ReadingFile, data: Path, seed: int, share: float) -> Iterator[Asked]:
    """A share of the questions of a file."""
    chance = random.Random(f"{file.name} {seed}")
    return (row for _, row in titled_rows(file, data) if chance.random() < share)


def titled_rows(file: ReadingFile, data: Path) -> Iterator[tuple[str, Asked]]:
    """The questions of a file, each with the title of the article; the title of the row is the article's key."""
    for line in _contexts(data)[file.name]:
        for asked in line.qas:
            spans = ((start, end + 1) for answer in asked.detected_answers for start, end in answer.char_spans)
            yield line.title, Asked(asked.question, line.context, tuple(spans), line.key, not asked.all_needed)


# -- questions without an answer ---------------------------------------------------------------------------------------


class _Unanswerable(msgspec.Struct):
    title: str
    context: str
    question: str


def squad2_unanswerable(data: Path, seed: int) -> Iterator[Example]:
    """Questions of SQuAD 2.0 that were written to look as if the paragraph answered them."""
    for _, line in read_lines(needed(data, "hybrid", "squad2-unanswerable.jsonl.gz"), _Unanswerable):
        title = html.unescape(line.title)
        candidates = (Candidate(line.context),)
        yield Example(line.question, candidates, "squad2", title, f"squad2:{title}")


def mismatched(data: Path, seed: int) -> Iterator[Example]:
    """Questions on paragraphs of Wikipedia with the paragraphs of the same article that are most like them.

    Keys are those of `reading`. None of the paragraphs holds a string that answers.
    """
    for file in READING_FILES:
        if file.kind == "wikipedia" and file.titled:
            rows = _rows(file, data, seed, _MISMATCHED)
            for example in on_paragraphs(file.name, rows, seed, near=2, hard=0):
                if len(example.candidates) > 1:
                    yield replace(example, candidates=example.candidates[1:], source="mismatched")


def held_out(data: Path, seed: int) -> dict[str, list[Example]]:
    """The dev part of the files by kind; its articles are in no file's train part.

    `wikipedia` is what is like SQuAD. The shipped model of the first recipe has learned from sentences of the 44
    articles: measure it on `squadshifts-new-wiki` (the examples' `source`).
    """
    found: dict[str, list[Example]] = {}
    for file in READING_FILES:
        found.setdefault(file.kind, []).extend(of_part(reading(file, data, seed), "dev"))
    return found
