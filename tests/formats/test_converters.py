"""The registry of converters, guessing of formats, documents as one text, answers in it."""

import json
from pathlib import Path

import pytest

from case_tables import each_case
from convinse.formats.converters import (
    Answer,
    Document,
    Part,
    Question,
    Record,
    Span,
    convert,
    find_converter,
    find_format,
    guess_format,
)
from convinse.formats.neutral import flatten, locate, question_id
from convinse.formats.tokens import TokenizedText
from convinse.support.errors import ConfigError, DataError, ModuleError
from written import write_lines


def record_of(case):
    documents = [Document([Part(name, text) for name, text in parts.items()]) for parts in case["documents"]]
    answers = [Answer(row["text"], [Span(*span) for span in row.get("spans", ())]) for row in case.get("answers", ())]
    return Record(documents, [Question("q", "?", answers=answers, accepted=case.get("accepted", []))])


def test_converters_are_found_by_name():
    assert find_converter("mrqa").name == "mrqa" and find_format("squad").name == "squad"
    with pytest.raises(ConfigError, match="did you mean 'squad'"):
        find_converter("squat")
    with pytest.raises(ModuleError, match="no_such_module"):
        find_converter("no_such_module:X")
    with pytest.raises(ConfigError, match="can only be read; valid: mrqa, multiqa, squad"):
        find_format("boolq")


MRQA = {"context": "a", "context_tokens": [["a", 0]], "qas": [{"qid": "1", "question": "?", "answers": []}]}
SQUAD = {"version": "1.1", "data": [{"title": "x", "paragraphs": [{"context": "{", "qas": []}]}]}


@pytest.mark.parametrize(
    "name, values, expected",
    [
        ("a", [MRQA], "mrqa"),
        ("a.gz", [{"header": {"dataset": "x", "split": "y"}}, MRQA], "mrqa"),
        ("a", ['{"header": {"dataset": "x"}}', '{"context": "' + "long {" * 100_000 + '", "qas": []}'], "mrqa"),
        ("a.json", [json.dumps(SQUAD, indent=2)], "squad"),
        ("a.gz", [{"data": [{"paragraphs": [{"context": 'a"' * 300_000}]}]}], "squad"),
    ],
)
def test_the_format_is_guessed_from_the_content(workdir, name, values, expected):
    assert guess_format(write_lines(name, *values)) == expected


@pytest.mark.parametrize(
    "values", [[""], ["nonsense"], ["[1, 2]"], [{"some": "thing"}], ['{"some": "\\"context_tokens\\": 1']]
)
def test_format_that_cannot_be_guessed_is_refused(workdir, values):
    with pytest.raises(DataError, match="--from: .*mrqa.*squad"):
        guess_format(write_lines("a", *values))


def test_a_file_is_not_written_over_itself(workdir):
    path = write_lines("a", MRQA)
    before = path.read_bytes()
    Path("link").symlink_to("a")
    for target in ("a", "link"):
        with pytest.raises(ConfigError, match="is the file to read"):
            convert(path, Path(target), "squad")
    assert path.read_bytes() == before


def test_made_ids_never_change():
    assert question_id("a", "b") == question_id("a", "b") != question_id("ab", "")
    assert question_id("Who?", "Köln") == "d63fb3df752d40dcc93033142b40dad9"  # for ever: files hold it


@each_case("neutral_records", "context")
def test_documents_become_one_context_with_the_starts_of_their_parts(case):
    flat = flatten(record_of(case))
    assert flat.text == case["context"] and flat.tokens == TokenizedText(flat.text).tokens
    assert [[*part, flat.text[start]] for part, start in flat.offsets.items()] == case["starts"]


def test_tokens_of_the_source_move_with_their_documents():
    documents = [Document([Part("text", "a.b", [("a.b", 0)])]), Document([Part("text", "c")])]
    flat = flatten(Record(documents, []))
    assert flat.tokens == [("[DOC]", 0), ("a.b", 6), ("[DOC]", 10), ("c", 16)]


@each_case("neutral_records", "located")
def test_answers_are_located_in_the_context(case):
    record = record_of(case)
    flat = flatten(record)
    located = locate(record.questions[0], flat)
    texts = [[answer.text, [[start, flat.text[start : end + 1]] for start, end in spans]] for answer, spans in located]
    assert texts == case["located"]
