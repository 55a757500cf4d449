import gzip
import json

import pytest

from recipes.operations import is_right, measured

HEADER = ["Year", "Album", "Producer"]
ROWS = [
    ["1983", "Kill", "Paul Curcio"],
    ["1984", "Ride", "Flemming Rasmussen"],
    ["1986", "Master", "Flemming Rasmussen"],
]
QUESTIONS = [
    ("what was the first album?", "Kill"),
    ("who produced the last album?", "Paul Curcio"),  # the gold answer is wrong
    ("who sings?", "Nobody"),
]


def test_right_and_wrong_answers_are_counted_by_operation(tmp_path):
    folder = tmp_path / "wikitablequestions"
    folder.mkdir()
    table = {"context": "a", "title": "Metallica", "header": HEADER, "rows": ROWS}
    with gzip.open(folder / "tables.jsonl.gz", "wt") as file:
        file.write(json.dumps(table) + "\n")
    with gzip.open(folder / "training.tsv.gz", "wt") as file:
        file.write("id\tutterance\tcontext\ttargetValue\n")
        file.writelines(f"{number}\t{question}\ta\t{gold}\n" for number, (question, gold) in enumerate(QUESTIONS))
    assert measured(tmp_path, 10) == {("order", True): 1, ("order", False): 1}


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ({"id": "Kill 'Em All", "label": "Kill 'Em All"}, '"kill \'em all"', True),
        ({"id": "1963-03-22T00:00:00Z", "label": "22 March 1963"}, "1963", True),
        ({"id": "1963-03-22T00:00:00Z", "label": "22 March 1963"}, "1964", False),
        ({"id": "1250", "label": "1250"}, "1,250", True),
    ],
)
def test_an_answer_is_right_in_any_spelling(answer, gold, right):
    assert is_right(answer, gold) is right
