"""Sets that `bench model` ranks and nothing is learned of: texts of their dev part are held out of all others."""

from collections.abc import Iterator
from pathlib import Path

from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import by_bm25, joined_keys, negatives
from recipes.sources import records

_BLOCK = 40  # sentences that follow each other
_LEAST_WORDS = 3  # of a sentence: shorter ones are headings and marks


def squad_sentences(data: Path, seed: int) -> Iterator[Example]:
    """Questions of SQuAD with the sentence that answers; blocks of sentences are in one part."""
    lines = records(data, "squad-sentences", "pairs.jsonl.gz")
    pairs = dict.fromkeys((line["question"], line["sentence"]) for line in lines)
    number_of = {text: number for number, text in enumerate(dict.fromkeys(sentence for _, sentence in pairs))}
    for question, sentence in pairs:
        key = f"block {number_of[sentence] // _BLOCK}"
        yield Example(question, (Candidate(sentence, True, readable=False),), "squad_sentences", key)


def selqa(data: Path, seed: int) -> Iterator[Example]:
    """SelQA: which sentences of a section of Wikipedia answer a question; the others are the negatives."""
    rows = [
        (row, [text.strip() for text in row["candidates"]]) for row in records(data, "selqa", "selqa-ass-dev.json.gz")
    ]
    keys = joined_keys((row["article"], text) for row, texts in rows for text in filter(_is_sentence, texts))
    for row, texts in rows:
        right = dict.fromkeys(texts[place] for place in sorted(row["answers"]) if _is_sentence(texts[place]))
        others = list(dict.fromkeys(text for text in texts if text not in right and _is_sentence(text)))
        if right:
            relevant = (Candidate(text, True, readable=False) for text in right)
            candidates = (*relevant, *negatives(by_bm25(row["question"], others)))
            yield Example(row["question"], candidates, "selqa", keys[row["article"]])


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= _LEAST_WORDS
