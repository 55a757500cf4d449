"""The table of the task's README beside one's own figures."""

import pytest

from convinse.formats.download import find_collection
from convinse.training.mrqa_reader import BASELINES, comparison, file_names


def test_the_figures_are_those_of_the_task():
    text = """(I) SQuAD 78.5 / 86.7 80.3 / 88.4|(I) HotpotQA 59.8 / 76.6 62.4 / 79.0|(I) TriviaQA Web 65.6 / 71.6 68.2 / 74.7
(I) NewsQA 50.8 / 66.8 49.6 / 66.3|(I) SearchQA 69.5 / 76.7 71.8 / 79.0|(I) NaturalQuestions 65.4 / 77.4 67.9 / 79.8
(O) DROP 25.7 / 34.5 34.6 / 43.8|(O) RACE 30.4 / 41.4 31.3 / 42.5|(O) BioASQ 47.1 / 62.7 51.9 / 66.8
(O) TextbookQA 44.9 / 53.9 47.4 / 55.7|(O) RelationExtraction 72.6 / 83.8 72.7 / 85.2|(O) DuoRC 44.8 / 54.6 46.8 / 58.0"""
    shown = [f"{row.title} {row.base[0]} / {row.base[1]} {row.large[0]} / {row.large[1]}" for row in comparison({})]
    assert shown == text.replace("\n", "|").split("|")


@pytest.mark.parametrize("name", ["mrqa-dev-in", "mrqa-dev-out"])
def test_every_downloaded_dev_set_has_a_row(name):
    names = {file.name.removesuffix(".jsonl.gz") for file in find_collection(name).files}
    rows = comparison(dict.fromkeys(names, (1.0, 2.0)))
    own = [row for row in rows[:12] if row.own is not None]
    assert len(own) == 6 and len(rows) == 13
    assert all(row.title.startswith("(I)" if name.endswith("in") else "(O)") for row in own)


def test_means_compare_the_same_sets():
    assert comparison({"SQuAD": (80.0, 90.0), "DROP": (20.0, 30.0)})[-1] == (
        "mean of 2",
        pytest.approx(((78.5 + 25.7) / 2, (86.7 + 34.5) / 2)),
        pytest.approx(((80.3 + 34.6) / 2, (88.4 + 43.8) / 2)),
        (50.0, 60.0),
    )
    rows = comparison({"SQuAD": (80.0, 90.0), "mine": (20.0, 30.0)})
    assert rows[12] == ("mine", None, None, (20.0, 30.0)) and rows[13] == ("mean of 2", None, None, (50.0, 60.0))


def test_names_of_files():
    assert file_names("TriviaQA") == file_names("TriviaQA-web") == ("TriviaQA", "TriviaQA-web")
    assert file_names("mine") == ("mine",)
    assert len({name for baseline in BASELINES for name in baseline.files}) == 15
