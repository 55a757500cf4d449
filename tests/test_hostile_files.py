"""Every reader of files: any bytes give records or one error of one line, and small files that stand for much end soon."""

import bz2
import gzip
import json
import pickle
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse import load_config
from convinse.formats import mrqa, squad
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.formats.converters import find_converter, guess_format
from convinse.formats.convmix import read_conversations, read_measurable
from convinse.formats.multiqa import validate as multiqa
from convinse.formats.poleval.questions import read_questions
from convinse.formats.stage_files import read_stage_file
from convinse.formats.visualize import examples
from convinse.knowledge_base.dump import read_dump
from convinse.passages.build import build_index
from convinse.scoring import answer_files, poleval
from convinse.support.blocks import read_blocks
from convinse.support.errors import ConvinseError, DataError
from convinse.support.jsonlines import read_documents, read_lines
from convinse.support.limits import LONGEST_LINE
from convinse.support.zstd import zstd
from convinse.training.passage_pairs import read_pairs
from convinse.wikipedia.build import build as build_pages
from convinse.wikipedia.pickle_import import import_pickle
from handmade import world
from patience import BUSY


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def converted(name):
    return lambda path: list(find_converter(name).read(path).records)


TEXT = "Titanic is a film by James Cameron."
TOKENS = [["Titanic", 0], ["is", 8], ["a", 11], ["film", 13], ["by", 18], ["James", 21], ["Cameron", 27], [".", 34]]
SPANS = {"text": "James Cameron", "char_spans": [[21, 33]], "token_spans": [[5, 6]]}
MRQA = lines(
    {"header": {"dataset": "Hand", "split": "dev"}},
    {"context": TEXT, "context_tokens": TOKENS, "qas": [
        {"qid": "q1", "question": "Who?", "question_tokens": [["Who", 0], ["?", 3]], "detected_answers": [SPANS], "answers": ["Cameron"]}
    ]},
)  # fmt: skip
SQUAD = lines({"version": "v2.0", "data": [{"title": "Titanic", "paragraphs": [{"context": TEXT, "qas": [
    {"id": "q1", "question": "Who?", "answers": [{"text": "James Cameron", "answer_start": 21}], "is_impossible": False}
]}]}]})  # fmt: skip
INSTANCE = {"doc_id": 0, "part": "text", "start_byte": 21, "text": "James Cameron", "token_inds": [5, 6]}
ANSWER = {"single_answer": {"extractive": {"answer": "James Cameron", "instances": [INSTANCE]}}}
MULTIQA = lines(
    {"header": {"dataset_name": "Hand", "split": "dev", "number_of_contexts": 1, "number_of_qas": 1}},
    {"id": "c1", "context": {"documents": [{"title": "Titanic", "text": TEXT, "tokens": {"text": TOKENS}}]}, "qas": [
        {"qid": "q1", "question": "Who?", "answers": {"open-ended": {"annotators_answer_candidates": [ANSWER]}}}
    ]},
)  # fmt: skip
HOTPOTQA = lines([{"_id": "h1", "question": "Who?", "answer": "James Cameron", "context": [["Titanic", [TEXT]]], "supporting_facts": [["Titanic", 0]]}])  # fmt: skip
BOOLQ = lines({"question": "is it a film", "title": "Titanic", "passage": TEXT, "answer": True})
ITEM = {"id": "Q1", "label": "James Cameron"}
EVIDENCE = {
    "evidence_text": TEXT, "source": "text", "wikidata_entities": [ITEM], "disambiguations": [["James Cameron", "Q1"]]
}  # fmt: skip
TURN = {
    "turn": 0, "question_id": "1-0", "question": "Who?", "answers": [ITEM], "structured_representation": "|| Titanic || Who ||",
    "top_evidences": [EVIDENCE], "pred_answers": [{"answer": ITEM, "score": 0.5, "rank": 1}],
}  # fmt: skip
CONVERSATION = {"conv_id": "1", "domain": "movies", "questions": [TURN]}
PAGES = lines({"title": "Titanic", "qid": "Q1", "url": "x", "html": f"<p>{TEXT}</p><table><tr><th>a<td>b</table>"})
CONFIGURATION = b"name: mine\nqu: slots\nclocq_params: {k: 1, p_setting: 10}\nha_max_answers: 3\nsource_combinations: [kb, kb_text]\n"

READERS = {
    "Wikidata dump": (lines(*world()[:3]), [lambda path: list(read_dump(path))]),
    "passages": (lines({"id": "1", "text": TEXT}), [lambda path: build_index(path, path.with_name("index"), force=True)]),
    "saved pages": (PAGES, [lambda path: build_pages(path, path.with_name("pages.db"), processes=1)]),
    "pickle": (pickle.dumps({"Q1": [EVIDENCE]}), [lambda path: import_pickle(path, path.with_name("items.db"))]),
    "MRQA": (MRQA, [converted("mrqa"), mrqa.validate, answer_files.read_mrqa_answers, lambda path: list(examples(path))]),
    "SQuAD": (SQUAD, [converted("squad"), squad.validate, answer_files.read_squad_references]),
    "MultiQA": (MULTIQA, [converted("multiqa"), multiqa.validate]),
    "HotpotQA": (HOTPOTQA, [converted("hotpotqa"), guess_format]),
    "BoolQ": (BOOLQ, [converted("boolq"), guess_format]),
    "predictions": (
        lines({"q1": "James Cameron", "q2": ""}),
        [answer_files.read_predictions, answer_files.read_probabilities, answer_files.read_triples],
    ),
    "conversations": (
        lines([CONVERSATION]),
        [read_conversations, read_measurable, lambda path: read_stage_file(path, ("text",), 100), lambda path: read_benchmark(path, "convquestions")],
    ),
    "questions": (lines({"id": "1", "text": "Who?", "dataset": "d"}) , [read_questions]),
    "judged pairs": (b"question-id\tpassage-id\tscore\n1\tp1\t1\n", [read_pairs, poleval.read_expected]),
    "configuration": (CONFIGURATION, [load_config]),
}  # fmt: skip
VALUES = [*rb'null -1 0.5 1e999 true "x" "\ud800" [] {} [[[]]]'.split(), b"9" * 5000, b"\xff"]


@st.composite
def damaged(draw, sample):
    """Other bytes than those of a sample: any, some exchanged, or another value in place of one."""
    if draw(st.booleans()):
        tokens = [match.span() for match in re.finditer(rb'"[^"\n]*"|-?\d+|true|false|null|\w+', sample)]
        start, end = draw(st.sampled_from(tokens))
        return sample[:start] + draw(st.sampled_from(VALUES)) + sample[end:]
    start, end = (draw(st.integers(0, len(sample))) for _ in range(2))
    data = sample[:start] + draw(st.binary(max_size=8)) + sample[end:]
    return draw(st.sampled_from([bytes, gzip.compress]))(data)


@pytest.mark.parametrize("name", READERS)
def test_any_bytes_are_records_or_one_line(name, tmp_path_factory):
    sample, readers = READERS[name]
    path = tmp_path_factory.mktemp("hostile") / "data.yml"
    path.write_bytes(sample)
    assert any(works(read, path) for read in readers)

    @given(damaged(sample))
    def check(data):
        path.write_bytes(data)
        for read in readers:
            works(read, path)

    check()


def works(read, path):
    """Whether a file is read; what it raises must be an error of one line."""
    try:
        read(path)
    except ConvinseError as error:
        assert str(error) and "\n" not in str(error)
        return False
    return True


LINE = b'[{"a": "' + b" " * (LONGEST_LINE + 10)
DEEP = b"[" * 60_000 + b"]" * 60_000
OBJECTS = b'{"a":' * 20_000 + b"1" + b"}" * 20_000
PACKERS = {"gz": lambda data: gzip.compress(data, 1), "bz2": bz2.compress, "zst": zstd.compress}
WHOLE = [squad.read_squad, answer_files.read_squad_references, answer_files.read_predictions, read_conversations]
LINED = [
    lambda path: list(read_lines(path)),
    lambda path: list(read_documents(path)),
    lambda path: list(read_documents(path, unwrap=True)),
    lambda path: list(read_blocks(path, 1 << 16)),
    lambda path: list(read_dump(path)),
    mrqa.validate,
    lambda path: build_index(path, path.with_name("index")),
]


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.parametrize(
    ("readers", "message"), [(WHOLE, "more than 16 MB unpacked, 20 times its size"), (LINED, "longer than 16 MB")], ids=["whole", "lines"]
)  # fmt: skip
def test_a_packed_file_cannot_fill_the_memory(workdir, pack, readers, message):
    path = workdir / "bomb"
    path.write_bytes(PACKERS[pack](LINE))
    assert path.stat().st_size < 1 << 17
    for read in readers:
        with pytest.raises(DataError, match=f"bomb.*{message}"):
            read(path)


@pytest.mark.parametrize("content", [DEEP, OBJECTS, b'{"data": ' + DEEP + b"}", b'{"a": "' + b"[" * 120_000], ids=["lists", "objects", "data", "string"])  # fmt: skip
@pytest.mark.parametrize(
    "read", [*WHOLE, *LINED[:3], multiqa.validate, guess_format, converted("hotpotqa"), converted("mrqa")]
)
def test_what_is_nested_deep_or_has_no_end_is_one_line_soon(workdir, content, read):
    path = workdir / "deep.json"
    path.write_bytes(content)
    start = time.monotonic()
    works(read, path)
    assert time.monotonic() - start < BUSY
