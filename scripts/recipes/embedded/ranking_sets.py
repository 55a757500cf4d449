"""Data sets that say which text answers a question, but not where: sentences of sections and articles, passages."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from convinse.language.language import english
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import by_bm25, joined_keys, negatives, parts_with_texts
from recipes.sources import records

_BLOCK = 40  # sentences that follow each other
_LEAST_WORDS = 3  # of a sentence: shorter ones are headings and marks
_VERDICTS = {"entailed": 1.0, "neutral": 0.5, "contradicted": 0.0}
_ATTRIBUTES = 4  # of a box, that a statement is judged by: as many as the pipeline reads, or nearly


class Decided(NamedTuple):
    """A question for yes or no, or a statement, with a passage."""

    question: str
    passage: str
    yes: float  # whether the passage says yes (1) or no (0); 0.5 if it does not say
    key: str  # that its parts go by


def squad_sentences(data: Path, seed: int) -> Iterator[Example]:
    """Sentences of SQuAD: the two nearest that do not answer, then the hardest of other blocks."""
    lines = records(data, "squad-sentences", "pairs.jsonl.gz")
    pairs = list(dict.fromkeys((line["question"], line["sentence"]) for line in lines))
    different = list(dict.fromkeys(sentence for _, sentence in pairs))
    block_of = {text: number // _BLOCK for number, text in enumerate(different)}
    right: dict[str, set[str]] = defaultdict(set)
    for question, sentence in pairs:
        right[question].add(sentence)

    def key(pair: tuple[str, str]) -> str:
        return f"block {block_of[pair[1]]}"

    for rows, find in parts_with_texts("squad", pairs, key, lambda pair: [pair[1]], seed):
        for question, sentence in rows:
            start = block_of[sentence] * _BLOCK
            block = different[start : start + _BLOCK]
            place = block.index(sentence)
            others = [at for at, text in enumerate(block) if text not in right[question]]
            near = sorted(others, key=lambda at, place=place: (abs(at - place), at))[:2]
            wrong = [*negatives(block[at] for at in near), *find(question, 1, [*block, *right[question]])]
            candidates = (Candidate(sentence, True, readable=False), *wrong)
            name = key((question, sentence))
            yield Example(question, candidates, "squad", name, f"squad:{name}")


def selqa(data: Path, seed: int) -> Iterator[Example]:
    """SelQA: which sentences of a section of Wikipedia answer a question; the others are the negatives."""
    rows = list(records(data, "selqa", "selqa-ass-dev.json.gz"))
    keys = joined_keys(
        (row["article"], text.strip()) for row in rows for text in filter(_is_sentence, row["candidates"])
    )
    for row in rows:
        question, texts, key = (
            row["question"],
            [text.strip() for text in row["candidates"]],
            keys.get(row["article"], ""),
        )
        right = list(dict.fromkeys(texts[place] for place in sorted(row["answers"]) if _is_sentence(texts[place])))
        others = list(dict.fromkeys(text for text in texts if text not in right and _is_sentence(text)))
        if right:
            relevant = (Candidate(text, True, readable=False) for text in right)
            candidates = (*relevant, *negatives(by_bm25(question, others)))
            yield Example(question, candidates, "selqa", key, f"selqa:{key}")


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= _LEAST_WORDS


def boolq_questions(data: Path) -> list[Decided]:
    """All questions of BoolQ, each once."""
    rows: dict[tuple[str, str], tuple[str, bool]] = {}  # question and passage -> title, answer
    for line in (line for part in ("train", "dev") for line in records(data, "boolq", f"{part}.jsonl.gz")):
        rows.setdefault((line["question"], line["passage"]), (line["title"], line["answer"]))
    keys = joined_keys((title, text) for (_, text), (title, _) in rows.items())
    return [Decided(question, text, float(yes), keys[title]) for (question, text), (title, yes) in rows.items()]


def infotabs_statements(data: Path, part: Literal["train", "dev"] = "train") -> list[Decided]:
    """Statements of InfoTabS, each with the attributes of its infobox that share most with it, in the form of evidences."""
    statements = []
    for line in records(data, "infotabs", f"{part}.jsonl.gz"):
        said, title = line["hypothesis"], line["title"]
        box = [", ".join([title, name, *values]) for name, values in line["attributes"]]
        best = sorted(place for place, _ in english().bm25.order(said, box)[:_ATTRIBUTES])
        statements.append(Decided(said, ". ".join(box[place] for place in best), _VERDICTS[line["label"]], title))
    return statements


def boolq(data: Path, seed: int) -> Iterator[Example]:
    """BoolQ: yes/no questions with a passage that decides them; negatives are passages under other titles."""
    rows = boolq_questions(data)
    passages: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        passages[row.key].add(row.passage)
    for of_part, find in parts_with_texts("boolq", rows, lambda row: row.key, lambda row: [row.passage], seed):
        for question, text, _, key in of_part:
            candidates = (Candidate(text, True, readable=False), *find(question, 2, passages[key]))
            yield Example(question, candidates, "boolq", key, f"boolq:{key}")
