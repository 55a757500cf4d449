"""Learn when a header of a table means what a question asks for: the two numbers of `heterogeneous_answering.column_meanings`.

    PYTHONPATH=scripts python -m recipes.column_meanings [--data ../shared/data]

Learned from are questions of SimpleQuestions (train) that have no word of the label of the property that they ask for: a row of
labels of which one is right, and the same row without it. Prints the scale of cosines and the score of "none of these".
"""

import argparse
import gzip
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from convinse.documents.vectors import embedding_of
from convinse.language.language import english
from recipes.sources import needed, shared_data

_FOLDER = "simplequestions-wikidata"
_COMMON = 60  # properties of which the others of a row are drawn
_FEWEST, _MOST = 3, 7  # others of a row
_OF_A_PROPERTY = 25  # questions at most
_L2 = 1e-4
_SEED = 0


class Row(NamedTuple):
    """A question without its name, and labels, the right one first."""

    question: str
    headers: list[str]


def rows(data: Path) -> Iterator[Row]:
    """The questions with labels of properties that share no word with them."""
    with gzip.open(needed(data, _FOLDER, "labels.tsv.gz"), "rt", encoding="utf-8") as file:
        labels = dict(line.rstrip("\n").split("\t")[:2] for line in file if "\t" in line)
    with gzip.open(needed(data, _FOLDER, "annotated_wd_data_train.txt.gz"), "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t")[:4] for line in file]
    drawn = random.Random(_SEED)
    drawn.shuffle(lines)
    common = [label for label, _ in Counter(line[1] for line in lines).most_common(_COMMON)]
    keywords, names_of = english().properties.keywords, english().literals.names_of
    counts: Counter[str] = Counter()
    for subject, property_id, _, question in lines:
        name, header = labels.get(subject, ""), labels.get(property_id, "")
        is_usable = name and header and not property_id.startswith("R") and name.casefold() in question.casefold()
        if not is_usable or counts[property_id] == _OF_A_PROPERTY:
            continue
        words = keywords(_with(question, name, ""))
        words = words.union(*map(names_of, words))
        if keywords(header) & words:
            continue
        counts[property_id] += 1
        others = [labels[other] for other in drawn.sample(common, 8) if other != property_id and other in labels]
        others = [other for other in others if not keywords(other) & words][: drawn.randint(_FEWEST, _MOST)]
        yield Row(_with(question, name, "it"), [header, *others])


def _with(question: str, name: str, pronoun: str) -> str:
    for word in (name, *name.split()):
        question = re.sub(rf"\b{re.escape(word)}\b('s)?", pronoun, question, flags=re.IGNORECASE)
    return " ".join(question.split())


def fitted(examples: list[tuple[np.ndarray, bool]]) -> tuple[float, float]:
    """The scale of cosines and the score of "none" with the least loss; each example is cosines, and whether the first is right."""

    def loss(weights: np.ndarray) -> float:
        total = 0.0
        for cosines, is_first in examples:
            scores = np.append(weights[0] * cosines, weights[1])
            total += float(np.logaddexp.reduce(scores) - scores[0 if is_first else -1])
        return total / len(examples) + _L2 * float(weights[0] ** 2)

    scale, none = minimize(loss, np.zeros(2), method="L-BFGS-B").x
    return float(scale), float(none)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=shared_data(), help="the shared data")
    embed = embedding_of("snapshot:model").embed
    examples: list[tuple[np.ndarray, bool]] = []
    for row in rows(parser.parse_args().data):
        vectors = embed([row.question, *row.headers]).astype(float)
        cosines = vectors[1:] @ vectors[0]
        examples += [(cosines, True), (cosines[1:], False)] if len(cosines) > 1 else [(cosines, True)]
    scale, none = fitted(examples)
    print(f"{sum(is_first for _, is_first in examples)} questions: scale {scale:.1f}, none {none:.1f}")


if __name__ == "__main__":
    main()
