"""The registry of converters, guessing of formats, documents as one text, answers in it."""

import importlib.metadata
import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from case_tables import each_case
from convinse.formats import converters
from convinse.formats.converters import (
    Answer,
    Document,
    Part,
    Question,
    Record,
    Span,
    convert,
    converter_names,
    find_converter,
    find_format,
    flatten,
    guess_format,
    locate,
    question_id,
    read_head,
)
from convinse.formats.tokens import TokenizedText
from convinse.support import progress
from convinse.support.errors import ConfigError, DataError, ModuleError
from convinse.support.jsonlines import read_lines
from written import write_lines

SOURCE = """
from convinse.formats.converters import *
from convinse.support.jsonlines import read_lines

class Mine(Converter):
    def read(self, path):
        return Dataset("Mine", "", (self._record(value) for _, value in read_lines(path)))

    def _record(self, value):
        answers = [Answer(value["answer"], [Span(value["start"], value["answer"])])]
        return Record([Document([Part("text", value["passage"])])], [Question("", value["question"], answers=answers)])
"""


def record_of(case):
    documents = [Document([Part(name, text) for name, text in parts.items()]) for parts in case["documents"]]
    answers = [Answer(row["text"], [Span(*span) for span in row.get("spans", ())]) for row in case.get("answers", ())]
    return Record(documents, [Question("q", "?", answers=answers, accepted=case.get("accepted", []))])


def test_every_format_is_found_by_its_name():
    assert {"mrqa", "squad"} <= set(converter_names()) and {"mrqa", "squad"} <= set(converter_names(writable=True))
    assert set(converter_names(writable=True)) <= set(converter_names())
    assert all(find_converter(name).name == name for name in converter_names())


def test_unknown_name_is_refused():
    with pytest.raises(ConfigError, match="did you mean 'squad'"):
        find_converter("squat")
    with pytest.raises(ModuleError, match="no_such_module"):
        find_converter("no_such_module:X")


def test_users_class_converts(workdir):
    Path("my_data.py").write_text(SOURCE)
    source = write_lines("in.jsonl", {"passage": "In Köln.", "start": 3, "answer": "Köln", "question": "Where?"})
    try:
        done = convert(source, Path("out.jsonl"), "mrqa", "my_data:Mine")
        with pytest.raises(ConfigError, match="can only be read"):
            find_format("my_data:Mine")
    finally:
        sys.modules.pop("my_data", None)
    assert (done.source, done.target) == ("my_data:Mine", "mrqa")
    assert {name: done.counts[name] for name in ("contexts", "questions")} == {"contexts": 1, "questions": 1}
    header, example = (value for _, value in read_lines(Path("out.jsonl")))
    assert header["header"]["dataset"] == "Mine"
    assert example["qas"][0]["detected_answers"] == [{"text": "Köln", "char_spans": [[3, 6]], "token_spans": [[1, 1]]}]
    assert example["qas"][0]["qid"] == question_id("Where?", "In Köln.")


def test_plug_in_is_found_by_its_name(workdir, monkeypatch):
    Path("plugged_data.py").write_text(SOURCE)
    point = EntryPoint("plugged", "plugged_data:Mine", "convinse.converters")
    for module in (converters, importlib.metadata):
        monkeypatch.setattr(module, "entry_points", lambda group: [point] if group == "convinse.converters" else [])
    assert "plugged" in converter_names()
    assert type(find_converter("plugged")).__name__ == "Mine"


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
    "values",
    [[""], ["nonsense"], ["[1, 2]"], [{"some": "thing"}], ['{"some": "\\"context_tokens\\": 1'], [MRQA, SQUAD]],
)
def test_format_that_cannot_be_guessed_is_refused(workdir, values):
    with pytest.raises(DataError, match="looks like mrqa and squad" if SQUAD in values else "--from: .*mrqa.*squad"):
        guess_format(write_lines("a", *values))


def test_head_of_a_file_has_the_keys_of_all_levels(workdir):
    head = read_head(write_lines("a", {"a": [{"b": 1}, {"c.d": {"e": "f: {"}}], "g": "h"}, {"i": 'j"k": 1'}))
    assert head.keys == {"a", "a.b", "a.c.d", "a.c.d.e", "g", "i"}


def test_guessed_format_is_logged(workdir, caplog):
    caplog.set_level("INFO", logger="convinse")
    convert(write_lines("a", MRQA), Path("b.json"), "squad")
    assert "read as mrqa" in caplog.text and "--from" in caplog.text
    caplog.clear()
    convert(Path("a"), Path("b.json"), "squad", "mrqa")
    assert not caplog.text


def test_a_file_is_not_written_over_itself(workdir):
    path = write_lines("a", MRQA)
    before = path.read_bytes()
    Path("link").symlink_to("a")
    for target in ("a", "link"):
        with pytest.raises(ConfigError, match="is the file to read"):
            convert(path, Path(target), "squad")
    assert path.read_bytes() == before


def test_a_broken_source_leaves_the_older_target(workdir):
    Path("out").write_text("old")
    for to in ("mrqa", "squad"):
        with pytest.raises(DataError, match="a:2"):
            convert(write_lines("a", MRQA, "{"), Path("out"), to, "mrqa")
    assert Path("out").read_text() == "old" and sorted(p.name for p in Path().iterdir()) == ["a", "out"]


def test_made_ids_never_change():
    assert question_id("a", "b") == question_id("a", "b") != question_id("ab", "")
    assert question_id("Who?", "Köln") == "d63fb3df752d40dcc93033142b40dad9"  # for ever: files hold it


@each_case("neutral_records", "context")
def test_documents_become_one_context_with_the_starts_of_their_parts(case):
    flat = flatten(record_of(case))
    assert flat.context == case["context"] and flat.tokens == TokenizedText(flat.context).tokens
    assert [[*part, flat.context[start]] for part, start in flat.offsets.items()] == case["starts"]


def test_tokens_of_the_source_move_with_their_documents():
    documents = [Document([Part("text", "a.b", [("a.b", 0)])]), Document([Part("text", "c")])]
    flat = flatten(Record(documents, []))
    assert flat.tokens == [("[DOC]", 0), ("a.b", 6), ("[DOC]", 10), ("c", 16)]


@each_case("neutral_records", "located")
def test_answers_are_located_in_the_context(case):
    record = record_of(case)
    flat = flatten(record)
    located = locate(record.questions[0], flat, TokenizedText(flat.context, flat.tokens))
    texts = [
        [answer.text, [[start, flat.context[start : end + 1]] for start, end in spans]] for answer, spans in located
    ]
    assert texts == case["located"]


def test_long_conversion_logs_its_progress_unless_quiet(workdir, monkeypatch, caplog):
    caplog.set_level("INFO", logger="convinse")
    monkeypatch.setattr(progress, "LOG_EVERY", 0.0)
    values = [{**MRQA, "qas": [{"qid": str(i), "question": "?"}]} for i in range(3)]
    convert(write_lines("a", *values), Path("b"), "mrqa", "mrqa")
    assert "reading a: 2 contexts" in caplog.text and "3 contexts" in caplog.text
    caplog.clear()
    convert(Path("a"), Path("b"), "mrqa", "mrqa", quiet=True)
    assert not caplog.text
