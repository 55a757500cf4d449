"""Pairs to train on: what is read, mined and held out, and what is refused."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from convinse.support.errors import DataError
from convinse.training.passage_pairs import JudgedQuestion, Pair, hold_out, read_examples, read_pairs
from refusals import refused
from written import write_lines

ROWS = [
    ("p0", "kot kot kot"),
    ("p1", "kot i pies", "Zwierzęta"),
    ("p2", "kot i długi opis czegoś innego"),
    ("p3", "ryba w wodzie"),
    ("p4", "pies na podwórku"),
    ("p5", "zupełnie coś innego"),
]


@pytest.fixture
def index(corpus, tmp_path):
    build_index(corpus(ROWS), tmp_path / "index", Parameters("pl"))
    return PassageIndex(tmp_path / "index")


@pytest.fixture
def read(index, tmp_path):
    def examples(pairs, questions=('{"id": "1", "text": "kot"}', '{"id": "2", "text": "pies"}'), candidates=10):
        files = write_lines(tmp_path / "pairs.tsv", *pairs), write_lines(tmp_path / "questions.jl", *questions)
        return read_examples(*files, index, candidates)

    return examples


def test_numbers_of_ids(index):
    assert index.numbers(["p4", "p0", "nothing", "p", ""]) == {"p4": 4, "p0": 0}
    assert index.numbers([]) == {}


def test_numbers_over_several_blocks(index, monkeypatch):
    monkeypatch.setattr("convinse.passages.index.IDS_AT_ONCE", 4)
    assert index.numbers([f"p{n}" for n in range(6)]) == {f"p{n}": n for n in range(6)}


def test_pairs_with_and_without_header(tmp_path):
    expected = [Pair(2, "1", "p0", 1.0), Pair(4, "1", "p1", 0.0), Pair(5, "2", "p0", 2.5)]
    rows = ["question-id\tpassage-id\tscore", "1\tp0\t1", "", "1\tp1\t0", "2\tp0\t2.5"]
    assert read_pairs(write_lines(tmp_path / "a", *rows)) == expected
    assert read_pairs(write_lines(tmp_path / "b", *rows[1:])) == [
        pair._replace(line=pair.line - 1) for pair in expected
    ]


def test_negatives_are_the_candidates_that_are_not_relevant(read):
    kot, pies = read(["1\tp2\t1", "1\tp3\t0", "1\tp0\t3", "2\tp4\t1"])
    assert kot.query == "kot"
    assert kot.right == (0, 2)  # the higher score first
    assert kot.ranked == (0, 1, 2) and kot.wrong == (3, 1)  # what was judged so comes first
    assert set(pies.ranked) == {1, 4} and pies.right == (4,) and pies.wrong == (1,)


def test_as_many_candidates_as_asked_for(read):
    kot, _ = read(["1\tp2\t1", "2\tp4\t1"], candidates=2)
    assert kot.ranked == (0, 1) and kot.right == (2,) and kot.wrong == (0, 1)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["1\tp0\t1", "2\tp9\t1"], r"pairs.tsv:2: passage 'p9' is not in the index .*index$"),
        (["1\tp0\t1", "7\tp1\t1"], r"pairs.tsv:2: question '7' is not in .*questions.jl$"),
        (["1\tp0\t1"], r"questions.jl:2: question '2' has no pair in .*pairs.tsv$"),
        (["2\tp0\t1", "1\tp0\t0", "1\tp1\t-1"], r"pairs.tsv:2: question '1' has no passage with a score above 0"),
        (["1\tp0\tyes"], r"pairs.tsv:1: the score 'yes' is no number"),
        (["question-id\tpassage-id\tscore", "1\tp0\tnan"], r"pairs.tsv:2: the score 'nan' is no number"),
        (["1\tp0\tinf"], r"pairs.tsv:1: the score 'inf' is no number"),
        (["1\tp0"], r"pairs.tsv:1: expected question id, passage id and score"),
        (["1\tp0\t1", "1\tp0\t2"], r"pairs.tsv:2: passage 'p0' of question '1' has two scores"),
        ([], r"pairs.tsv: no pairs"),
        (["question-id\tpassage-id\tscore"], r"pairs.tsv: no pairs"),
    ],
)
def test_bad_pairs_name_file_and_line(read, pairs, message):
    assert re.search(message, refused(DataError, lambda: read(pairs)))


def test_lines_of_questions_count_empty_ones(read):
    questions = ['{"id": "1", "text": "kot"}', "", '{"id": "2", "text": "pies"}']
    refused(DataError, lambda: read(["1\tp0\t1"], questions), "questions.jl:3: question '2' has no pair")


def test_other_bytes(tmp_path):
    (tmp_path / "pairs.tsv").write_bytes(b"1\tp0\t1\n1\t\xff\t1\n")
    refused(DataError, lambda: read_pairs(tmp_path / "pairs.tsv"), "pairs.tsv:2: no UTF-8")


def example(*right):
    return JudgedQuestion(str(right), right, (), ())


@given(st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=3), min_size=2, max_size=40),
       st.floats(0.01, 0.99), st.integers(0, 9))  # fmt: skip
def test_no_relevant_passage_is_in_both_parts(right, share, seed):
    examples = [example(*passages) for passages in right]
    try:
        train, dev = hold_out(examples, share, seed)
    except DataError:
        connected = set(right[0])
        for _ in right:
            connected.update(*(passages for passages in right if connected & set(passages)))
        assert all(connected & set(passages) for passages in right)
        return
    assert train and dev and len(train) + len(dev) == len(examples)
    assert not {n for question in train for n in question.right} & {n for question in dev for n in question.right}
    assert hold_out(examples, share, seed) == (train, dev)


def test_the_share_is_held_out():
    examples = [example(number) for number in range(100)]
    parts = [hold_out(examples, 0.2, seed) for seed in (1, 2)]
    assert all(len(dev) == 20 for _, dev in parts) and parts[0] != parts[1]
    assert all(train == sorted(train, key=examples.index) for train, _ in parts)
    assert len(hold_out(examples, 0.001, 1)[1]) == 1


def test_a_large_group_of_questions_is_not_held_out():
    examples = [example(0, number) for number in range(1, 50)] + [example(100), example(200)]
    for seed in range(5):
        train, dev = hold_out(examples, 0.04, seed)
        assert len(dev) == 2 and all(question.right[0] >= 100 for question in dev)
        assert len(hold_out(examples, 0.001, seed)[1]) == 1


def test_questions_that_hang_together_cannot_be_held_out():
    connected = [example(1, 2), example(2, 3), example(3)]
    refused(DataError, lambda: hold_out(connected, 0.5, 1), "no question can be held out")
    refused(DataError, lambda: hold_out([example(1)], 0.5, random.randrange(9)), "no question can be held out")
