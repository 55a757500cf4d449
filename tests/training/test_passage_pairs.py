"""Judged pairs to train on: read, mined and held out; lines that cannot be used are in tests/cases/faulty_pairs.yml."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from case_tables import each_case
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from convinse.support.errors import DataError
from convinse.training.passage_pairs import JudgedQuestion, hold_out, read_examples, read_pairs
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
QUESTIONS = ['{"id": "1", "text": "kot"}', '{"id": "2", "text": "pies"}']


@pytest.fixture
def index(corpus, tmp_path):
    build_index(corpus(ROWS), tmp_path / "index", Parameters("pl"))
    return PassageIndex(tmp_path / "index")


@pytest.fixture
def read(index, tmp_path):
    def examples(pairs, questions=QUESTIONS, candidates=10):
        files = write_lines(tmp_path / "pairs.tsv", *pairs), write_lines(tmp_path / "questions.jl", *questions)
        return read_examples(*files, index, candidates)

    return examples


def test_pairs_with_and_without_header(tmp_path):
    expected = [(2, "1", "p0", 1.0), (4, "1", "p1", 0.0), (5, "2", "p0", 2.5)]
    rows = ["question-id\tpassage-id\tscore", "1\tp0\t1", "", "1\tp1\t0", "2\tp0\t2.5"]
    assert read_pairs(write_lines(tmp_path / "a", *rows)) == expected
    without = read_pairs(write_lines(tmp_path / "b", *rows[1:]))
    assert without == [(line - 1, *rest) for line, *rest in expected]


def test_negatives_are_as_many_candidates_as_asked_for_that_are_not_relevant(read):
    kot, pies = read(["1\tp2\t1", "1\tp3\t0", "1\tp0\t3", "2\tp4\t1"])
    assert (kot.query, kot.right) == ("kot", (0, 2))  # the higher score first
    assert kot.ranked == (0, 1, 2) and kot.wrong == (3, 1)  # judged wrong comes first
    assert set(pies.ranked) == {1, 4} and pies.right == (4,) and pies.wrong == (1,)
    kot, _ = read(["1\tp2\t1", "2\tp4\t1"], candidates=2)
    assert kot.ranked == (0, 1) and kot.right == (2,) and kot.wrong == (0, 1)


@each_case("faulty_pairs")
def test_faulty_pairs_name_file_and_line(read, case):
    assert re.search(case["message"], refused(DataError, lambda: read(case["pairs"])))


def test_lines_are_counted_with_empty_ones_and_other_bytes_are_named(read, tmp_path):
    message = "questions.jl:3: question '2' has no pair"
    refused(DataError, lambda: read(["1\tp0\t1"], [QUESTIONS[0], "", QUESTIONS[1]]), message)
    (tmp_path / "pairs.tsv").write_bytes(b"1\tp0\t1\n1\t\xff\t1\n")
    refused(DataError, lambda: read_pairs(tmp_path / "pairs.tsv"), "pairs.tsv:2: is not UTF-8")


# --- held-out questions


def example(*right):
    return JudgedQuestion(str(right), right, (), ())


PASSAGES = st.lists(st.integers(0, 30), min_size=1, max_size=3)


@given(st.lists(PASSAGES, min_size=2, max_size=40), st.floats(0.01, 0.99), st.integers(0, 9))
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


def test_the_share_is_held_out_in_order_but_no_large_group():
    examples = [example(number) for number in range(100)]
    parts = [hold_out(examples, 0.2, seed) for seed in (1, 2)]
    assert all(len(dev) == 20 for _, dev in parts) and parts[0] != parts[1]
    assert all(train == sorted(train, key=examples.index) for train, _ in parts)
    assert len(hold_out(examples, 0.001, 1)[1]) == 1
    examples = [example(0, number) for number in range(1, 50)] + [example(100), example(200)]
    for seed in range(5):
        train, dev = hold_out(examples, 0.04, seed)
        assert len(dev) == 2 and all(question.right[0] >= 100 for question in dev)
        assert len(hold_out(examples, 0.001, seed)[1]) == 1


@pytest.mark.parametrize("examples", [[example(1, 2), example(2, 3), example(3)], [example(1)]])
def test_questions_that_hang_together_cannot_be_held_out(examples):
    refused(DataError, lambda: hold_out(examples, 0.5, 1), "no question can be held out")
