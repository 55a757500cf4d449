"""Synthetic passages and questions of any size, for measurements: the same seed gives the same bytes.

    python scripts/recipes/synthetic_passages.py OUTPUT_FOLDER [--passages 7097322] [--questions 1291] [--seed 1]

Writes `passages.jl` (id, title, text, meta), `questions.jl` and `pairs.tsv` (the passage that a question was made from).
Words follow Zipf's law: the most frequent ones are real Polish function words, the others made-up stems with Polish
endings. Articles have a few words of their own that come back in all their passages. A question has 8 words: half of them
from one passage (in another inflection, as a question would have them), half as frequent as words are in the corpus.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from convinse.support.blocks import cores
from convinse.support.files import replacing
from convinse.support.progress import progress
from convinse.support.workers import in_order

PASSAGES, QUESTIONS, SEED = 7_097_322, 1_291, 1
CHUNK = 10_000  # passages made at a time
WORDS = 65.0  # of a passage, on average
SHAPE = 6.0  # of the gamma distribution of passage lengths: 95 % have 25 to 125 words
ZIPF, SHIFT = 1.05, 2.7  # Mandelbrot's form: frequency of rank r is proportional to (r + SHIFT) ** -ZIPF
ARTICLE = 5  # passages of an article, on average
OWN_WORDS, OWN_SHARE = 12, 0.12  # words of an article's own, and their share of its text
QUESTION_WORDS, FROM_PASSAGE = 8, 4
FUNCTION_WORDS = """w i na z się do że jest o nie od po to przez jak za oraz dla był jako a był ze w która który są było
    przy czy ale lub pod także tym jego roku także jej była tego może ich przed bez co być te tej po tak tylko już między ma
    został gdzie został ten ta ku u też kiedy kto""".split()
ENDINGS = "a y ie ę ą o ów om ami ach em u i owi ego emu ym ych ymi ej owy owa owe ski ska skie ł ła li ć".split()
ONSETS = "b c ch cz d dz g gr h j k kl kr l ł m n p pr prz r rz s st sz ś t tr w wr z zb ż ź".split()
VOWELS, CODAS = "a a e e i o o u y ó ą ę".split(), [*[""] * 14, "n", "r", "k", "l", "m", "st", "w", "ń"]


class Plan(NamedTuple):
    """All that the chunks share."""

    passages: int
    seed: int
    words: np.ndarray  # [v] of objects: a word for each rank, its forms side by side
    cumulative: np.ndarray  # [v] the distribution over ranks


def make_plan(passages: int, seed: int) -> Plan:
    """The vocabulary grows with the corpus as Heaps' law has it."""
    size = int(min(2_000_000, max(5_000, 1_500 * passages**0.45)))
    rng = np.random.default_rng([seed, 0])
    stems = _stems(rng, size // 6 + 1)
    endings = rng.permuted(np.tile(np.arange(len(ENDINGS)), (len(stems), 1)), axis=1)[:, :6]
    forms = [stem + ENDINGS[end] for stem, row in zip(stems, endings.tolist(), strict=True) for end in row]
    # the forms of a stem are not equally frequent, and not neighbours in frequency either
    jitter = rng.normal(0, 1.2, len(forms))
    order = np.argsort(np.log(np.arange(len(forms)) + 30) + jitter, kind="stable")
    words = [*dict.fromkeys(FUNCTION_WORDS), *(forms[place] for place in order.tolist())][:size]
    weights = (np.arange(len(words)) + SHIFT) ** -ZIPF
    return Plan(passages, seed, np.array(words, dtype=object), np.cumsum(weights) / weights.sum())


def _stems(rng: np.random.Generator, number: int) -> list[str]:
    """Different made-up stems of one to four syllables."""
    found: dict[str, None] = {}
    while len(found) < number:
        sizes = rng.integers(1, 5, number)
        parts = [rng.integers(0, len(kind), (number, 4)) for kind in (ONSETS, VOWELS, CODAS)]
        for size, onset, vowel, coda in zip(sizes.tolist(), *(part.tolist() for part in parts), strict=True):
            found["".join(ONSETS[onset[n]] + VOWELS[vowel[n]] + CODAS[coda[n]] for n in range(size))] = None
    return sorted(list(found)[:number], key=lambda stem: len(stem) // 3)  # the frequent words are short


class Chunk(NamedTuple):
    """Word ranks of some passages."""

    ranks: np.ndarray  # of all words, one after the other
    starts: np.ndarray  # [n + 1]
    articles: np.ndarray  # [n]
    within: np.ndarray  # [n] number of the passage in its article
    own: np.ndarray  # [articles of the chunk, OWN_WORDS]


def make_chunk(plan: Plan, number: int) -> Chunk:
    """The passages `number * CHUNK` and following."""
    first = number * CHUNK
    size = min(CHUNK, plan.passages - first)
    rng = np.random.default_rng([plan.seed, 1, number])
    sizes = np.clip(rng.gamma(SHAPE, WORDS / SHAPE, size), 8, 400).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    article = np.cumsum(rng.random(size) < 1 / ARTICLE)
    began = np.maximum.accumulate(np.where(np.diff(article, prepend=-1) > 0, np.arange(size), 0))
    ranks = _draw(plan, rng, int(starts[-1]))
    own = _draw(plan, rng, (int(article[-1]) + 1) * OWN_WORDS)
    own = np.maximum(own, rng.integers(len(FUNCTION_WORDS), len(plan.words), len(own)) // 20).reshape(-1, OWN_WORDS)
    mine = rng.random(len(ranks)) < OWN_SHARE
    of_word = np.repeat(article, sizes)
    ranks[mine] = own[of_word[mine], rng.integers(0, OWN_WORDS, int(mine.sum()))]
    return Chunk(ranks, starts, first + article, np.arange(size) - began, own)


def _draw(plan: Plan, rng: np.random.Generator, number: int) -> np.ndarray:
    ranks = np.searchsorted(plan.cumulative, rng.random(number))
    return np.minimum(ranks, len(plan.words) - 1)


def chunk_lines(plan: Plan, number: int) -> bytes:
    """The JSON lines of a chunk."""
    chunk = make_chunk(plan, number)
    words = plan.words[chunk.ranks].tolist()
    starts, articles, within = chunk.starts.tolist(), chunk.articles.tolist(), chunk.within.tolist()
    titles = [" ".join(row).title() for row in plan.words[chunk.own[:, :2]].tolist()]
    base = articles[0] - int(articles[0] - number * CHUNK)
    lines = []
    for place, (article, passage) in enumerate(zip(articles, within, strict=True)):
        text = " ".join(words[starts[place] : starts[place + 1]]).capitalize()
        lines.append(
            f'{{"id": "{article}-{passage}", "title": "{titles[article - base]}", "text": "{text}.", '
            f'"meta": {{"article_id": {article}, "passage_id": {passage}}}}}\n'
        )
    return "".join(lines).encode()


def questions(plan: Plan, number: int) -> Iterator[tuple[str, str, str]]:
    """(id, text, id of the passage it was made from)."""
    rng = np.random.default_rng([plan.seed, 2])
    step = max(1, plan.passages // number)
    wanted = {}
    for question in range(min(number, plan.passages)):
        wanted.setdefault(question * step // CHUNK, []).append((question, question * step % CHUNK))
    for chunk_number, places in wanted.items():
        chunk = make_chunk(plan, chunk_number)
        for question, place in places:
            inside = np.unique(chunk.ranks[chunk.starts[place] : chunk.starts[place + 1]])
            inside = inside[inside >= len(FUNCTION_WORDS)]
            chosen = rng.choice(inside, min(FROM_PASSAGE, len(inside)), replace=False) if len(inside) else inside
            others = _draw(plan, rng, QUESTION_WORDS - len(chosen))
            words = plan.words[rng.permutation(np.concatenate([chosen, others]))].tolist()
            yield str(question), " ".join(words).capitalize() + "?", f"{chunk.articles[place]}-{chunk.within[place]}"


def write(folder: Path, passages: int, number: int, seed: int, quiet: bool = False) -> None:
    """Write the three files; what is there is replaced when the new ones are whole."""
    plan = make_plan(passages, seed)
    chunks = range(-(-passages // CHUNK))
    with (
        replacing(folder / "passages.jl") as temporary,
        temporary.open("wb") as file,
        progress("writing passages", passages, "passages", quiet) as advance,
        closing(in_order(chunks, partial, (chunk_lines, plan), cores(), "the passages", "make fewer")) as parts,
    ):
        for lines in parts:
            file.write(lines)
            advance(lines.count(b"\n"))
    with replacing(folder / "questions.jl") as temporary, replacing(folder / "pairs.tsv") as pairs:
        rows = list(questions(plan, number))
        temporary.write_text("".join(f'{{"id": "{one}", "text": "{text}"}}\n' for one, text, _ in rows), "utf-8")
        header = "question-id\tpassage-id\tscore\n"
        pairs.write_text(header + "".join(f"{one}\t{passage}\t1\n" for one, _, passage in rows), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    write(options.output, options.passages, options.questions, options.seed)


if __name__ == "__main__":
    main()
