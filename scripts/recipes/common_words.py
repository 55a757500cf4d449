"""The words that English texts write small, for `convinse/language/english/common_words.txt`: names are not told by them alone.

    PYTHONPATH=scripts .venv/bin/python -m recipes.common_words

They are read from the paragraphs of Wikipedia articles in hybrid/multihop-paragraphs, each article once.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from convinse.config import project_root
from convinse.language.language import english
from convinse.language.text import fold
from convinse.support.files import replacing
from recipes.sources import json_lines, needed, shared_data

LEAST = 10  # articles that write a word small; with 3 the links of 3 of 1,358 questions differ
_SMALL = re.compile(r"(?<![\w'’.-])[^\W\d_]+(?![\w'’-]|\.\w)")
_HEADER = """\
# Common words by the texts that have them; written by scripts/recipes/common_words.py.

[stems]
# Stems of the words that stand without a capital in at least {least} of {articles} articles of Wikipedia: such a word is hardly a name by
# itself, nor misspelt.
"""


def articles(data: Path) -> dict[str, str]:
    texts: dict[str, str] = {}
    for line in json_lines(needed(data, "hybrid", "multihop-paragraphs.jsonl.gz")):
        for paragraph in line["paragraphs"]:
            texts.setdefault(paragraph["title"], paragraph["text"])
    return texts


def small_stems(texts: Iterable[str], least: int = LEAST) -> list[str]:
    """The stems of the folded words that at least `least` texts write small, sorted."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({fold(word) for word in set(_SMALL.findall(text)) if word.islower()})
    stem = english().words.stem
    return sorted({stem(word) for word, count in counts.items() if count >= least and word.isalpha()})


def main() -> None:
    texts = articles(shared_data())
    stems = small_stems(texts.values())
    path = project_root() / "convinse" / "language" / "english" / "common_words.txt"
    with replacing(path) as temporary:
        header = _HEADER.format(articles=len(texts), least=LEAST)
        temporary.write_text(f"{header}{textwrap.fill(' '.join(stems), 150)}\n", encoding="utf-8")
    print(f"{path}: {len(stems)} stems")


if __name__ == "__main__":
    main()
