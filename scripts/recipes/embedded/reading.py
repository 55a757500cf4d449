"""Questions with texts that answer them as examples: sentences, paragraphs and lists of sentences, with negatives."""

import html
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from convinse.wikipedia.page import sentence_places
from recipes.embedded.data_sets import ARTICLES, DATA_SETS, READING_FILES, Source
from recipes.embedded.examples import Candidate, Example, Spans, part_of_key
from recipes.embedded.negatives import by_bm25, hard_texts, holds, joined_keys, negatives
from recipes.embedded.spans import beginning, untokenised
from recipes.sources import records

_MOST_ANSWER_WORDS = 40
_SENTENCES_TOGETHER = 12  # that paragraphs are made of
_LEAST_WORDS = 8  # of a line that makes its contexts one document
_LONGEST_PARAGRAPH = 1000  # characters of a paragraph that is only ranked
_BLOCK = 40  # sentences that follow each other
_LEAST_OF_SENTENCE = 3  # words: shorter ones are headings and marks
_LISTED = 14  # sentences of a list that do not answer
_HERE, _NAMED = "reading: ", "title: "  # before keys of MRQA files, and before titles


class MarkedQuestion(NamedTuple):
    """A question, its text, the places of the answers there and the title of the text's document."""

    question: str
    text: str
    spans: Spans
    title: str
    readable: bool = True  # False if no single one of the places is the answer

    @property
    def answers(self) -> list[str]:
        return list(dict.fromkeys(self.text[start:end] for start, end in self.spans))


def merged(rows: Iterable[MarkedQuestion]) -> list[MarkedQuestion]:
    """Join the spans of questions that are asked again on the same text; leave out answers that are too long."""
    found: dict[tuple[str, str], MarkedQuestion] = {}
    for row in rows:
        spans = [span for span in row.spans if len(row.text[slice(*span)].split()) <= _MOST_ANSWER_WORDS]
        if spans or not (row.spans or row.readable):
            before = found.setdefault((row.text, row.question), row._replace(spans=()))
            found[row.text, row.question] = before._replace(spans=tuple(dict.fromkeys([*before.spans, *spans])))
    return list(found.values())


def on_paragraphs(
    source: str, rows: Iterable[MarkedQuestion], seed: int, *, near: int = 2, hard: int = 1, at_random: bool = False
) -> Iterator[Example]:
    """Yield examples with negatives of the same document first, then of the part; a document is a group unless drawn at random."""
    rows = list(rows)
    chance = random.Random(f"{source} {seed}")
    keys = joined_keys((row.title, row.text) for row in rows)
    texts: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))  # key -> text -> its questions
    for row in rows:  # those with a long answer, too: their text is not a negative
        texts[keys[row.title]][row.text].add(row.question)
    joined = merged(rows)
    for part in ("train", "dev"):
        of_part = [row for row in joined if part_of_key(keys[row.title]) == part]
        if not of_part:
            continue
        with hard_texts([row.text for row in of_part], seed) as find:
            for row in of_part:
                key = keys[row.title]
                free = (text for text, questions in texts[key].items() if row.question not in questions)
                others = [text for text in free if not holds(text, row.answers)]
                if at_random:
                    chance.shuffle(others)
                else:
                    others = by_bm25(row.question, others)
                wrong = negatives(others[:near])
                if hard:
                    query = "" if at_random else row.question
                    wrong += find(query, near + hard - len(wrong), texts[key], row.answers)
                right = Candidate(row.text, True, row.spans if row.readable else (), row.readable)
                yield Example(row.question, (right, *wrong), source, key, source if at_random else f"{source}:{key}")


# -- MRQA lines --------------------------------------------------------------------------------------------------------


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
    for name, declared in READING_FILES.items():
        found[name] = lines = []
        for line in Source(name, declared, data, 0).lines():
            if text := line.get("context"):  # the header has none
                title = html.unescape(line.get("title", "")) if declared.titled else ""
                lines.append(_Context(text, title, title or text, line["qas"]))
                pairs += ((title or text, part) for part in (text, *long_lines(text)))
    keys = joined_keys(pairs)
    return {name: [line._replace(key=keys[line.key]) for line in lines] for name, lines in found.items()}


def long_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line.split()) >= _LEAST_WORDS]


def keys_with_reading(data: Path, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """`joined_keys` of documents of other files, from pairs (name, text), that agree with those of the MRQA files."""
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
        if not name.startswith(_HERE) and len({part_of_key(key) for key in texts_of[top]}) <= 1
    }


def titled_rows(name: str, data: Path) -> Iterator[tuple[str, MarkedQuestion]]:
    """The questions of a file, each with the title of the article; the title of the row is the article's key."""
    for line in _contexts(data)[name]:
        text, move = untokenised(line.text) if READING_FILES[name].tokenised else (line.text, None)
        for question in line.questions:
            spans = answer_places(question)
            if move is not None:
                spans = tuple(move(*span) for span in spans)
            yield (
                line.title,
                MarkedQuestion(question["question"], text, spans, line.key, not question.get("all_needed")),
            )


def answer_places(question: Mapping[str, Any]) -> Spans:
    """Where the answers of a question in MRQA's format stand, in characters."""
    return tuple((start, end + 1) for answer in question["detected_answers"] for start, end in answer["char_spans"])


def rows_of(source: Source) -> Iterator[MarkedQuestion]:
    """The questions of a set with their texts, one after the other; contexts of one title are of one document."""
    declared = source.declared
    if declared.format == "mrqa":
        yield from (row for _, row in titled_rows(source.name, source.data))
    elif declared.format == "own":  # lines of MRQA, whose articles may be in no other set
        for line in source.lines():
            for question in line.get("qas", ()):
                text = line["context"]
                yield MarkedQuestion(question["question"], text, answer_places(question), line.get("title") or text)
    else:
        apart = {line["context"] for file in declared.apart for line in records(source.data, file)}
        for line in source.lines():
            if "passage" in line:  # which answers as a whole
                yield MarkedQuestion(line["question"], line["passage"], (), line["title"], readable=False)
            elif line["context"] not in apart:
                text, span = line["context"], (line["answer_start"], line["answer_start"] + len(line["answer"]))
                if declared.tokenised:
                    text, move = untokenised(text)
                    span = move(*span)
                yield MarkedQuestion(line["question"], text, (span,), line["title"])


def _share_of(source: Source, share: float) -> Iterator[MarkedQuestion]:
    chance = source.chance()
    return (row for row in rows_of(source) if chance.random() < share)


def marked(source: Source) -> Iterator[Example]:
    """A share of the questions of a set on their texts."""
    declared = source.declared
    rows = _share_of(source, declared.share)
    return on_paragraphs(
        source.name, rows, source.seed, near=declared.near, hard=declared.hard, at_random=declared.random
    )


def mismatched(source: Source) -> Iterator[Example]:
    """Questions on articles of Wikipedia with the paragraphs of the same article that are most like them."""
    for article in ARTICLES:
        of_article = source._replace(name=article, declared=DATA_SETS[article])
        rows = _share_of(of_article, source.declared.share)
        for example in on_paragraphs(article, rows, source.seed, hard=0):
            if len(example.candidates) > 1:
                yield replace(example, candidates=example.candidates[1:], source=source.name)


def articles(source: Source) -> Iterator[Example]:
    """Questions on articles of Wikipedia with the sentences of the whole article, as evidences have them: the title in front."""
    chance = source.chance()
    for article in ARTICLES:
        rows: dict[tuple[str, str], list[MarkedQuestion]] = defaultdict(list)
        for title, row in titled_rows(article, source.data):
            rows[title.replace("_", " ").split(" (")[0], row.title].append(row)
        for (name, key), of_article in rows.items():
            places = []
            for text in dict.fromkeys(row.text for row in of_article):
                places += [(text, start, end) for start, end in sentence_places(text)]
            evidences = [f"{name}, {text[start:end]}" for text, start, end in places]
            for row in merged(of_article):
                if (
                    chance.random() >= source.declared.share
                ):  # a list takes 7 ms, of which hardly one of ten is learned from
                    continue
                right = {}
                for evidence, (text, start, end) in zip(evidences, places, strict=True):
                    ahead = len(name) + 2 - start
                    inside = (span for span in row.spans if text == row.text and start <= span[0] and span[1] <= end)
                    if spans := tuple((first + ahead, last + ahead) for first, last in inside):
                        right[evidence] = Candidate(evidence, True, spans)
                free = (text for text in dict.fromkeys(evidences) if text not in right)
                best = by_bm25(row.question, [text for text in free if not holds(text, row.answers)])[:_LISTED]
                if right and best:
                    candidates, of_file = (*right.values(), *negatives(best)), f"{article}, sentences"
                    yield Example(row.question, candidates, of_file, key, f"{of_file}:{key}")


# -- texts without a place -------------------------------------------------------------------------------------------


def unanswerable(source: Source) -> Iterator[Example]:
    for line in source.lines():
        title = html.unescape(line["title"])
        yield Example(line["question"], (Candidate(line["context"]),), source.name, title, f"{source.name}:{title}")


def pairs(source: Source) -> Iterator[Example]:
    """Questions with the sentence that answers; blocks of sentences that follow each other are in one part."""
    questions = dict.fromkeys((line["question"], line["sentence"]) for line in source.lines())
    number_of = {text: number for number, text in enumerate(dict.fromkeys(sentence for _, sentence in questions))}
    for question, sentence in questions:
        key = f"block {number_of[sentence] // _BLOCK}"
        yield Example(question, (Candidate(sentence, True, readable=False),), source.name, key)


def sections(source: Source) -> Iterator[Example]:
    """Questions with the sentences of a section of Wikipedia: those that answer, then the others."""
    rows = [(row, [text.strip() for text in row["candidates"]]) for row in source.lines()]
    keys = joined_keys((row["article"], text) for row, texts in rows for text in filter(_is_sentence, texts))
    for row, texts in rows:
        right = dict.fromkeys(texts[place] for place in sorted(row["answers"]) if _is_sentence(texts[place]))
        others = [text for text in dict.fromkeys(texts) if text not in right and _is_sentence(text)]
        if right:
            relevant = (Candidate(text, True, readable=False) for text in right)
            wrong = negatives(by_bm25(row["question"], others))
            yield Example(row["question"], (*relevant, *wrong), source.name, keys[row["article"]])


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= _LEAST_OF_SENTENCE


def supporting(source: Source) -> Iterator[Example]:
    """Questions with supporting against distracting paragraphs, which are ranked, not read."""
    name, questions = source.name, list(source.lines())
    pages = [(page["title"], page["text"]) for line in questions for page in line["paragraphs"]]
    # in the MRQA files the title stands in front of each line
    keys = keys_with_reading(
        source.data, ((title, form) for title, text in pages for form in (text, f"{title}: {text}"))
    )
    for line in questions:
        held = [page for page in line["paragraphs"] if page["title"] in keys]
        key = next((keys[page["title"]] for page in held if page["supporting"]), None)
        if key is None:
            continue
        texts: dict[bool, dict[str, None]] = {True: {}, False: {}}
        for page in held:
            if part_of_key(keys[page["title"]]) == part_of_key(key):
                text = beginning(f"{page['title']}, {page['text']}", _LONGEST_PARAGRAPH)
                texts[page["supporting"]][text] = None
        wrong = [text for text in by_bm25(line["question"], list(texts[False])) if text not in texts[True]]
        if wrong:
            right = (Candidate(text, True, readable=False) for text in texts[True])
            yield Example(line["question"], (*right, *negatives(wrong)), name, key, f"{name}:{key}")


# -- sentences ---------------------------------------------------------------------------------------------------------


def sentences(source: Source) -> Iterator[Example]:
    """Questions on a sentence; a random half of them on a paragraph with the sentence and others around it."""
    name, rows = source.name, []
    for line in source.lines():
        answers = [row for row in (line, *line["validator_answers"]) if row["answer"] and row["answer_start"] >= 0]
        spans = tuple((row["answer_start"], row["answer_start"] + len(row["answer"])) for row in answers)
        rows.append(MarkedQuestion(line["question"], line["sentence"], spans, line["sentence"]))
    by_text: dict[str, list[MarkedQuestion]] = defaultdict(list)
    for row in merged(rows):
        by_text[row.text].append(row)
    chance = source.chance()
    for part in ("train", "dev"):
        texts = [text for text in by_text if part_of_key(text) == part]
        chance.shuffle(texts)
        count = max(1, len(texts) // _SENTENCES_TOGETHER)
        together = [texts[place::count] for place in range(count)] if texts else []
        mates = {text: group for group in together for text in group}
        with hard_texts(texts, source.seed) as find:
            for number, group in enumerate(together):
                for row in (row for text in group for row in by_text[text]):
                    wrong = find(row.question, 2, group, row.answers)
                    text, spans = row.text, row.spans
                    if chance.random() < 0.5:
                        text, begin = _paragraph(row.text, group, chance)
                        spans = tuple((start + begin, end + begin) for start, end in spans)
                        for place, bad in enumerate(wrong):
                            free = [mate for mate in mates[bad.text] if not holds(mate, row.answers)]
                            wrong[place] = Candidate(_paragraph(bad.text, free, chance)[0])
                    candidates = (Candidate(text, True, spans), *wrong)
                    yield Example(row.question, candidates, name, row.text, f"{name}:{part}:{number}")


def _paragraph(sentence: str, others: Sequence[str], chance: random.Random) -> tuple[str, int]:
    others = [text for text in others if text != sentence]
    drawn = chance.sample(others, min(len(others), chance.randint(2, 5)))
    place = chance.randint(0, len(drawn))
    before = "".join(f"{text} " for text in drawn[:place])
    return " ".join([*drawn[:place], sentence, *drawn[place:]]), len(before)
