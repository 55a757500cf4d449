"""Files of the MRQA format as examples: found, read, drawn from."""

import re
from collections import Counter
from functools import partial

import pytest

from convinse.support.errors import ConfigError, DataError
from convinse.training.mrqa_reader import dev_questions, find_sets, train_examples
from places import DATA
from refusals import refused
from toy_reading import mrqa_line, toy_examples
from written import write, write_lines


@pytest.fixture
def file(workdir):
    return lambda *lines, name="set.jsonl": write_lines(workdir / name, *lines)


def line(context, *questions):
    return {
        "context": context,
        "qas": [{"qid": f"{context}{n}", "question": "who?", **question} for n, question in enumerate(questions)],
    }


def spans(*pairs):
    return {"detected_answers": [{"text": "", "char_spans": [list(pair)]} for pair in pairs], "answers": ["x"]}


@pytest.mark.parametrize("name", ["set.jsonl", "set.jsonl.gz"])
def test_spans_of_all_answers_become_exclusive(file, name):
    path = file(
        {"header": {"dataset": "x"}},
        line("one two", spans((4, 6), (0, 2), (4, 6))),
        line("three", spans((0, 4)), spans((1, 1))),
        name=name,
    )
    found = train_examples(path, None, 1)
    assert [(example.context, example.spans) for example in found] == [
        ("one two", ((0, 3), (4, 7))),
        ("three", ((0, 5),)),
        ("three", ((1, 2),)),
    ]
    assert found[1].context is found[2].context  # kept once


@pytest.fixture
def toys(file):
    """A file of so many toy examples, without header and tokens."""
    return lambda number, **name: file(*(mrqa_line(e, str(n)) for n, e in enumerate(toy_examples(1, number))), **name)


def test_no_header_and_no_tokens_are_fine(toys):
    assert train_examples(toys(5), None, 1) == toy_examples(1, 5)


def test_questions_without_a_place_are_left_out_unless_impossible(file):
    path = file(line("one", {"answers": ["x"]}, spans((0, 2)), {"is_impossible": True}))
    assert [example.spans for example in train_examples(path, None, 1)] == [((0, 3),), ()]


def test_a_sample_is_seeded_and_every_question_is_as_likely(toys):
    path = toys(40)
    everything = train_examples(path, None, 1)
    assert train_examples(path, 10, 3) == train_examples(path, 10, 3) != train_examples(path, 10, 4)
    counts = Counter()
    for seed in range(200):
        drawn = train_examples(path, 10, seed)
        assert len(drawn) == 10
        counts.update(everything.index(example) for example in drawn)
    assert min(counts[place] for place in range(40)) > 25 and max(counts.values()) < 80  # of 50
    assert train_examples(path, 99, 1) == everything


def test_dev_questions_have_accepted_answers(file):
    path = file(line("one", spans((0, 2)), {"answers": []}, {"answers": ["elsewhere"]}))
    answers = {question.qid: question.answers for question in dev_questions(path, None, 1)}
    assert answers == {"one0": ["x"], "one2": ["elsewhere"]}


def test_the_original_sample():
    path = DATA / "mrqa-sample/NewsQA_sample.jsonl.gz"
    if not path.is_file():
        pytest.skip("needs the shared data")
    found = train_examples(path, None, 1)
    assert len(found) > 3 and all(
        0 <= start < end <= len(example.context) for example in found for start, end in example.spans
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{"], r"set.jsonl:1: not valid JSON"),
        ([line("one", spans((0, 3)))],
         r"set.jsonl:1: qid 'one0': the character span \[0, 3\] is outside of the context \(3 characters\)"),
        ([line("", spans()), line("two", spans((2, 1)))], r"set.jsonl:2: qid 'two0': the character span \[2, 1\]"),
        ([{"qas": []}], r"set.jsonl:1: no 'context'"),
        ([{"context": ""}], r"set.jsonl:1: no 'qas'"),
        ([line("one", spans((0, 1)) | {"qid": ["7"]})], r"set.jsonl:1: .*qid"),
        ([line("one", {"answers": ["x"]})], r"set.jsonl: no question with an answer in its context"),
        ([{"header": {}}], r"set.jsonl: no question"),
    ],
)  # fmt: skip
def test_bad_files(file, lines, message):
    assert re.search(message, refused(DataError, lambda: train_examples(file(*lines), None, 1)))


def test_a_truncated_file(toys):
    path = toys(200, name="set.jsonl.gz")
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match=r"set.jsonl.gz:\d+: cannot be read"):
        train_examples(path, None, 1)


def test_no_dev_questions(file):
    with pytest.raises(DataError, match="set.jsonl: no question with accepted answers"):
        dev_questions(file(line("one", {"answers": []})), None, 1)


# --- finding them


def test_files_are_found_by_name(workdir):
    for name in ("dev/SQuAD.jsonl.gz", "dev/notes.txt", "other/mine.jsonl", "dev/NaturalQuestionsShort.jsonl"):
        write(workdir / name)
    both = find_sets([workdir / "dev", workdir / "other"], "dev_folders")
    assert {name: path.name for name, path in both.items()} == {
        "SQuAD": "SQuAD.jsonl.gz", "NaturalQuestionsShort": "NaturalQuestionsShort.jsonl", "mine": "mine.jsonl"}  # fmt: skip
    chosen = find_sets([workdir / "dev"], "train_folder", ["NaturalQuestions", "SQuAD"])
    assert list(chosen) == ["NaturalQuestionsShort", "SQuAD"]
    with pytest.raises(ConfigError, match=r"train_sets: no SQuADs.jsonl .* did you mean 'SQuAD'\?"):
        find_sets([workdir / "dev"], "train_folder", ["SQuADs"])
    (workdir / "other/SQuAD.jsonl").touch()
    (workdir / "empty").mkdir()
    for folders, words in (
        (["dev", "other"], ["the data set is there twice"]),
        (["none"], ["No such file or directory: ", "none"]),
        (["empty"], ["empty: no NAME.jsonl"]),
    ):
        refused(ConfigError, partial(find_sets, [workdir / name for name in folders], "my_key"), "my_key: ", *words)
