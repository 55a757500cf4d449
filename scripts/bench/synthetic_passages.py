"""Synthetic passages and questions of any size, for measurements: the same seed gives the same bytes.

Words follow Zipf's law: the most frequent ones are real Polish function words, the others made-up stems with Polish
endings. A question has 8 words: half of them from one passage, half as frequent as words are in the corpus.
"""

import json
from pathlib import Path

import numpy as np

from convinse.support.files import replacing

CHUNK = 10_000  # passages made at a time
WORDS, SHAPE = 65.0, 6.0  # of the gamma distribution of passage lengths: 95 % have 25 to 125 words
ZIPF, SHIFT = 1.05, 2.7  # Mandelbrot's form: frequency of rank r is proportional to (r + SHIFT) ** -ZIPF
QUESTION_WORDS, FROM_PASSAGE = 8, 4
FUNCTION_WORDS = """w i na z się do że jest o nie od po to przez jak za oraz dla był jako a był ze w która który są było
    przy czy ale lub pod także tym jego roku także jej była tego może ich przed bez co być te tej po tak tylko już między ma
    został gdzie został ten ta ku u też kiedy kto""".split()
ENDINGS = "a y ie ę ą o ów om ami ach em u i owi ego emu ym ych ymi ej owy owa owe ski ska skie ł ła li ć".split()
ONSETS = "b c ch cz d dz g gr h j k kl kr l ł m n p pr prz r rz s st sz ś t tr w wr z zb ż ź".split()
VOWELS, CODAS = "a a e e i o o u y ó ą ę".split(), [*[""] * 14, "n", "r", "k", "l", "m", "st", "w", "ń"]


def vocabulary(rng: np.random.Generator, passages: int) -> np.ndarray:
    """[v] words by rank; their number grows with the corpus as Heaps' law has it."""
    size = int(min(2_000_000, max(5_000, 1_500 * passages**0.45)))
    stems: dict[str, None] = {}
    while len(stems) < size // 6 + 1:
        syllables = ("".join(rng.choice(kind) for kind in (ONSETS, VOWELS, CODAS)) for _ in range(rng.integers(1, 5)))
        stems["".join(syllables)] = None
    forms = [stem + ending for stem in stems for ending in rng.choice(ENDINGS, 6, replace=False)]
    rng.shuffle(forms)
    return np.array([*dict.fromkeys(FUNCTION_WORDS), *forms][:size], dtype=object)


def write(folder: Path, passages: int, number: int, seed: int) -> None:
    """Write `passages.jl` (id, title, text), `questions.jl` and `pairs.tsv` (the passage that a question was made from)."""
    rng = np.random.default_rng(seed)
    words = vocabulary(rng, passages)
    cumulative = np.cumsum((np.arange(len(words)) + SHIFT) ** -ZIPF)

    def drawn(count: int) -> np.ndarray:
        """[count] ranks of words."""
        return np.searchsorted(cumulative, rng.random(count) * cumulative[-1])

    every = max(1, passages // number)
    questions, pairs = [], ["question-id\tpassage-id\tscore"]
    with replacing(folder / "passages.jl") as temporary, temporary.open("w", encoding="utf-8") as file:
        for first in range(0, passages, CHUNK):
            sizes = np.clip(rng.gamma(SHAPE, WORDS / SHAPE, min(CHUNK, passages - first)), 8, 400).astype(np.int64)
            texts = np.split(drawn(int(sizes.sum())), np.cumsum(sizes)[:-1])
            for key, ranks in enumerate(texts, first):
                title, text = " ".join(words[drawn(2)]).title(), " ".join(words[ranks]).capitalize()
                file.write(json.dumps({"id": str(key), "title": title, "text": f"{text}."}, ensure_ascii=False) + "\n")
                if key % every == 0 and len(questions) < number:
                    inside = np.unique(ranks[ranks >= len(FUNCTION_WORDS)])
                    chosen = rng.choice(inside, min(FROM_PASSAGE, len(inside)), replace=False)
                    question_words = rng.permutation(np.concatenate([chosen, drawn(QUESTION_WORDS - len(chosen))]))
                    question = " ".join(words[question_words]).capitalize() + "?"
                    pairs.append(f"{len(questions)}\t{key}\t1")
                    questions.append(json.dumps({"id": str(len(questions)), "text": question}, ensure_ascii=False))
    with replacing(folder / "questions.jl") as temporary, replacing(folder / "pairs.tsv") as other:
        temporary.write_text("\n".join((*questions, "")), "utf-8")
        other.write_text("\n".join((*pairs, "")), "utf-8")
