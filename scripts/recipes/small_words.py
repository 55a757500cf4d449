"""The words that texts write small (`[written_small]` of `words.txt`) anew: those that are there, and those of more texts.

    PYTHONPATH=scripts python -m recipes.small_words [--data ../shared/data]

A stem is added if it stands without a capital in at least ten paragraphs of SQuAD and SQuADShifts, within a sentence, and nine times of
ten so. Left out is what may be a slip of a name in one word that the embedded knowledge base has: "beetles" is the Beatles more often.
"""

import argparse
import re
import textwrap
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path

from rapidfuzz import process
from rapidfuzz.distance import OSA

import convinse
from convinse.config import load_config
from convinse.language.language import english
from convinse.language.text import fold
from convinse.resources import Resources
from recipes.sources import records, shared_data

_SETS = ("squad11-train", "squadshifts-amazon", "squadshifts-reddit", "squadshifts-new-wiki")
_LEAST = 10  # paragraphs, as of the articles that the first list was made of; at 20 "invoice" and "salary" are names
_SHARE = 0.9  # of a stem's paragraphs: "queen" and "jack" are as often names
_LEAST_LETTERS = 6  # of a name that is looked for with a slip
_WITHIN = re.compile(r"(?<![.!?:;\"“(\n] )(?<!^)(?<![\w'’-])([A-Za-z][a-z]{2,})(?![\w'’-])")  # not the first word
_LINE = 140  # characters


def added(data: Path) -> set[str]:
    """Return the stems that the list does not have yet."""
    words = english().words
    small, large = Counter[str](), Counter[str]()
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    lines = chain.from_iterable(records(data, "reading", f"{name}.jsonl.gz") for name in _SETS)
    for text in {line["context"] for line in lines if line.get("context")}:
        spellings = {match[1] for match in _WITHIN.finditer(text)}
        small.update({words.stem(word) for word in spellings if word.islower()})
        large.update({words.stem(word.lower()) for word in spellings if word[0].isupper()})
        for word in filter(str.islower, spellings):
            forms[words.stem(word)][word] += 1
    with Resources(load_config("config.yml")) as resources:
        titles = map(resources.kb.label, resources.kb.titles().values())
        labels = (words.without_article(fold(label)) for label in titles if label[:1].isupper())  # no class
        names = [label for label in labels if label.isalpha() and len(label) >= _LEAST_LETTERS]
    often = {stem for stem, count in small.items() if count >= _LEAST and count >= _SHARE * (count + large[stem])}
    usual = {stem: min(forms[stem].items(), key=lambda pair: (-pair[1], pair[0]))[0] for stem in often}
    return {stem for stem in often - words.written_small if not _is_slip(usual[stem], names)}


def _is_slip(word: str, names: list[str]) -> bool:
    best = process.extractOne(word, names, scorer=OSA.distance, score_cutoff=1)
    return best is not None and best[1] == 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=shared_data(), help="the shared data")
    stems = sorted(added(parser.parse_args().data) | english().words.written_small)
    path = Path(convinse.__file__).parent / "language" / "english" / "words.txt"
    text = path.read_text(encoding="utf-8")
    head, _, rest = text.partition("[written_small]\n")
    comments = "".join(line for line in rest.splitlines(keepends=True) if line.startswith("#"))
    path.write_text(f"{head}[written_small]\n{comments}{textwrap.fill(' '.join(stems), _LINE)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
