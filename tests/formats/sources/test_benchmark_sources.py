import gzip
from itertools import islice

import pytest

from convinse.formats.converters import convert, find_converter, guess_format
from convinse.formats.mrqa import read_examples
from convinse.formats.multiqa.answers import answers_of, candidates, is_answered, texts
from convinse.formats.multiqa.files import read_entries
from convinse.formats.multiqa.from_neutral import NOT_THERE
from convinse.formats.multiqa.validate import validate
from convinse.formats.squad import read_squad
from convinse.support.errors import DataError
from convinse.support.jsonlines import read_lines
from documentation import block
from places import DATA
from written import write, write_lines


def as_multiqa(path, name):
    """The contexts of a file; its format is recognised, and what is written is valid."""
    assert guess_format(path) == name
    target = path.with_name("multiqa.out")
    counts = convert(path, target, "multiqa", quiet=True).counts
    assert NOT_THERE not in counts  # each place that the source gives is right
    assert validate(target).problems == []
    return list(read_entries(target))


def as_mrqa(path):
    convert(path, path.with_name("mrqa.out"), "mrqa", quiet=True)
    return list(read_examples(path.with_name("mrqa.out")))


def answers(question):
    return [answer for candidate in candidates(question) for answer in answers_of(candidate)]


def places(question):
    return [
        [
            (place["doc_id"], place["part"], place["start_byte"], place["text"])
            for place in answer["extractive"]["instances"]
        ]
        for answer in answers(question)
        if "extractive" in answer
    ]


def title_and_text(document):
    return document["title"], document["text"]


BOOLQ = {"question": "is ice cold", "title": "Ice", "answer": True, "passage": "Ice is cold, there is no doubt."}


def test_boolq_becomes_answers_of_yes_and_no(tmp_path):
    hot = {**BOOLQ, "question": "is ice hot", "answer": False}
    path = write_lines(tmp_path / "a.jsonl", BOOLQ, hot, {**BOOLQ, "passage": "x"})
    first, second = as_multiqa(path, "boolq")
    assert [answers(question) for question in first["qas"]] == [[{"yesno": "yes"}], [{"yesno": "no"}]]
    assert title_and_text(first["context"]["documents"][0]) == ("Ice", BOOLQ["passage"])
    assert len({question["qid"] for question in (*first["qas"], *second["qas"])}) == 3
    (example, _) = as_mrqa(path)
    assert [question.answers for question in example.qas] == [["yes"], ["no"]]
    assert not any(
        question.detected_answers for question in example.qas
    )  # `no` stands in the passage, but is not a span


HOTPOT = {
    "_id": "h1",
    "question": "In which sea is the island of the singer?",
    "answer": "Cold Sea",
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["Singer", 1], ["Island", 0], ["Island", 7], ["Gone", 0]],
    "context": [
        ["Singer", ["She sings.", " She lives on an island."]],
        ["Island", ["It is in the Cold Sea.", " The Cold Sea is large."]],
    ],
}


@pytest.mark.parametrize("layout", ["list", "lines"])
def test_hotpotqa_becomes_documents_with_supporting_context(tmp_path, layout):
    questions = [HOTPOT, {**HOTPOT, "_id": "h2", "answer": "yes"}]
    path = write_lines(tmp_path / "a.json", *([questions] if layout == "list" else questions))
    first, second = as_multiqa(path, "hotpotqa")
    singer, island = first["context"]["documents"]
    assert (singer["title"], island["title"]) == ("Singer", "Island")
    assert island["metadata"] == {"text": {"sentence_start_bytes": [0, len(HOTPOT["context"][1][1][0])]}}
    (question,) = first["qas"]
    assert (question["qid"], question["metadata"]) == ("h1", {"type": "bridge", "level": "hard"})
    assert [(fact["doc_id"], fact["start_byte"], fact["text"]) for fact in question["supporting_context"]] == [
        (0, 10, " She lives on an island."),
        (1, 0, "It is in the Cold Sea."),
    ]
    assert places(question) == [[(1, "text", 13, "Cold Sea"), (1, "text", 27, "Cold Sea")]]
    assert answers(second["qas"][0]) == [{"yesno": "yes"}]
    neutral = next(find_converter("hotpotqa").read(path).records).questions[0]
    assert [fact["start_byte"] for fact in neutral.extras["supporting_context"]] == [10, 0]
    assert as_mrqa(path)[0].context.startswith("[DOC] [TLE] Singer [PAR] She sings. She lives")


@pytest.mark.parametrize("kind", ["boolq", "hotpotqa"])
def test_questions_without_answers_are_read(tmp_path, kind):
    good = {"boolq": BOOLQ, "hotpotqa": HOTPOT}[kind]
    unlabelled = {key: good[key] for key in good if key in ("_id", "question", "context", "title", "passage")}
    convert(write_lines(tmp_path / "a.json", unlabelled), tmp_path / "out", "multiqa", kind, quiet=True)
    (found,) = read_entries(tmp_path / "out")
    assert not is_answered(found["qas"][0]) and "supporting_context" not in found["qas"][0]


QAMR = {
    "id": "s/1/0", "sentence": "Ice is cold and hard.", "question": "What is cold?", "answer": "Ice", "answer_start": 0,
    "validator_answers": [{"answer": "Ice is cold", "answer_start": 0}, {"answer": "Ice", "answer_start": 0}],
}  # fmt: skip


def test_qamr_has_an_answer_for_each_annotator(tmp_path):
    alone = {**QAMR, "validator_answers": []}
    more, of_another = {"id": "s/1/1", "question": "What is hard?"}, {"id": "s/2/0", "sentence": "Ice."}
    path = write_lines(tmp_path / "a.jsonl", QAMR, {**alone, **more}, {**alone, **of_another})
    first, second = as_multiqa(path, "qamr")
    assert [question["qid"] for question in first["qas"]] == ["s/1/0", "s/1/1"]
    assert places(first["qas"][0]) == [[(0, "text", 0, text)] for text in ("Ice", "Ice is cold", "Ice")]  # by annotator
    assert (first["id"], second["id"]) == ("s/1", "s/2")


WRONG_HOTPOT = r"a\.json:2: no question of HotpotQA: "


@pytest.mark.parametrize(
    ("name", "good", "change", "reason"),
    [
        ("boolq", BOOLQ, {"answer": "yes"}, r"a\.json:2: .*answer"),
        ("hotpotqa", HOTPOT, {"context": None}, f"{WRONG_HOTPOT}.*array"),
        ("hotpotqa", HOTPOT, {"question": 3}, f"{WRONG_HOTPOT}.*str"),
        ("hotpotqa", HOTPOT, {"supporting_facts": [["x"]]}, f"{WRONG_HOTPOT}.*length 2"),
        ("hotpotqa", {}, {"_id": "h"}, "the key 'context' is missing"),
        ("qamr", QAMR, {"answer_start": 4}, r"a\.json:2: id 's/1/0': 'Ice' does not stand at character 4"),
    ],
)
def test_fault_of_a_line_names_it(tmp_path, name, good, change, reason):
    path = write_lines(tmp_path / "a.json", good, {**good, **change})
    with pytest.raises(DataError, match=reason):
        convert(path, tmp_path / "out", "multiqa", name, quiet=True)


QUESTIONS = (
    "id\tutterance\tcontext\ttargetValue\n"
    "nt-1\twho was first?\tcsv/1-csv/1.csv\tAnn\n"
    "nt-2\twho were the others?\tcsv/1-csv/1.csv\tBob|Cy \\p Co\n"
    "nt-3\thow many are there?\tcsv/1-csv/1.csv\t3\n"
)
TABLE = {
    "context": "csv/1-csv/1.csv",
    "title": "Race",
    "header": ["Rank", "Who"],
    "rows": [["1", "Ann"], ["2", "Bob"], ["", "Cy | Co"]],
}


def table_questions(folder, tables=True, questions=QUESTIONS):
    if tables:
        write_lines(folder / "tables.jsonl.gz", TABLE)
    return write(folder / "training.tsv", questions)


def test_wikitablequestions_become_tables_with_their_cells(tmp_path):
    (found,) = as_multiqa(table_questions(tmp_path / "data"), "wikitablequestions")
    (document,) = found["context"]["documents"]
    assert title_and_text(document) == ("Race", "Rank | Who\n1 | Ann\n2 | Bob\n | Cy | Co")
    assert document["table"][1] == [{"text": "1"}, {"text": "Ann"}] and found["id"] == "csv/1-csv/1.csv"
    single, several, count = found["qas"]
    assert places(single) == [[(0, "text", 15, "Ann")]]
    assert [texts(answer) for answer in candidates(several)[0]["list"]] == [["Bob"], ["Cy | Co"]]
    assert places(several) == [[(0, "text", 23, "Bob")], [(0, "text", 30, "Cy | Co")]]
    assert answers(count) == [{"generated_text": "3"}]


def test_tables_of_the_original_release_are_read(tmp_path):
    path = table_questions(tmp_path / "data", tables=False)
    table = '"Rank","Who"\n"1","Ann \\"A\\""\n"2","Bob\nB"\n"3","Cy | Co"\n'
    write(tmp_path / "csv" / "1-csv" / "1.csv", table)
    (found,) = as_multiqa(path, "wikitablequestions")
    (document,) = found["context"]["documents"]
    assert document["text"] == 'Rank | Who\n1 | Ann "A"\n2 | Bob B\n3 | Cy | Co'
    assert document["table"][2] == [{"text": "2"}, {"text": "Bob\nB"}]
    assert answers(found["qas"][0]) == [{"generated_text": "Ann"}]


@pytest.mark.parametrize(
    ("questions", "reason"),
    [
        (QUESTIONS.replace("1.csv\tAnn", "2.csv\tAnn"), "question 'nt-1' is on the table 'csv/1-csv/2.csv'"),
        (QUESTIONS.replace("\tAnn", ""), r"training\.tsv:2: 3 columns, where the first line names 4"),
        (QUESTIONS.replace("utterance", "question"), r"training\.tsv:1: no column 'utterance'"),
    ],
)
def test_fault_of_table_questions_is_named(tmp_path, questions, reason):
    path = table_questions(tmp_path / "data", questions=questions)
    with pytest.raises(DataError, match=reason):
        convert(path, tmp_path / "out", "multiqa", "wikitablequestions", quiet=True)


# a data set of a user, as in docs/datasets.md -------------------------------------------------------------------------


def test_a_converter_is_one_class_in_one_file(tmp_path, monkeypatch):
    source = block("docs/datasets.md", "python")
    assert len(source.splitlines()) <= 20
    (tmp_path / "trivia_converter.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    path = write_lines(tmp_path / "a.jsonl", {"q": "Where is it?", "text": "It is here.", "spans": [[6, "here"]]})
    convert(path, tmp_path / "out", "multiqa", "trivia_converter:Trivia", quiet=True)
    assert validate(tmp_path / "out").problems == []
    (found,) = read_entries(tmp_path / "out")
    assert places(found["qas"][0]) == [[(0, "text", 6, "here")]]
    assert find_converter("trivia").read(path).name == "Trivia"  # by its name once it is imported
    convert(path, tmp_path / "squad.json", "squad", "trivia", quiet=True)
    ((_, paragraph),) = read_squad(tmp_path / "squad.json").paragraphs
    assert paragraph.qas[0].answers[0].answer_start == 6


# the data sets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "name"), [("dev.jsonl.gz", "boolq"), ("dev.jsonl.gz", "qamr"), ("training.tsv.gz", "wikitablequestions")]
)
def test_published_data_sets_convert(tmp_path, file, name):
    source = DATA / name / file
    if not source.is_file():
        pytest.skip(f"{source} is not there")
    with gzip.open(source) as packed:
        (tmp_path / "data").write_bytes(b"".join(islice(packed, 101)))
    count = 100 if name == "wikitablequestions" else 101
    if name == "wikitablequestions":
        (tmp_path / "tables.jsonl.gz").symlink_to(source.parent / "tables.jsonl.gz")
    assert guess_format(tmp_path / "data") == name
    assert convert(tmp_path / "data", tmp_path / "multiqa", "multiqa", quiet=True).counts["questions"] == count
    assert validate(tmp_path / "multiqa").problems == []
    for to in ("mrqa", "squad"):
        assert convert(tmp_path / "multiqa", tmp_path / to, to, quiet=True).counts["questions"] == count
    qids = {question.qid for example in read_examples(tmp_path / "mrqa") for question in example.qas}
    assert len(qids) == count
    if name == "boolq":
        labels = [line["answer"] for _, line in read_lines(tmp_path / "data")]
        assert [
            answers(question) == [{"yesno": "yes"}]
            for found in read_entries(tmp_path / "multiqa")
            for question in found["qas"]
        ] == labels
