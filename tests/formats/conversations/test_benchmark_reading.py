"""Published files of each benchmark, as small samples made by hand, into conversations of the ConvMix structure."""

import copy
import gzip
import json
from pathlib import Path

import pytest

from convinse.formats.conversations.benchmark import read_benchmark, shapes
from convinse.support.errors import DataError
from places import DATA
from refusals import refused
from written import names, write, write_lines

WIKI = "https://www.wikidata.org/wiki/"


def numbered(conv_id, *questions):
    """Turns with their numbers and ids."""
    return [{"turn": place, "question_id": f"{conv_id}-{place}", **turn} for place, turn in enumerate(questions)]


LIVED = {"question": "When did the author of Dune live?", "completed": "When did the author of Dune live?", "answers": [
    {"id": "1920-10-08T00:00:00Z", "label": "8 October 1920"}, {"id": "1986", "label": "1986"}], "answer_src": "kb"}  # fmt: skip
WHO = {"question": "And who was it?", "answers": [{"id": "Q7934", "label": "Herbert"}]}
CONVMIX = {"conv_id": "1", "domain": "books", "questions": numbered("1", LIVED, WHO)}

SHOT = {
    "question": "Where was the film shot?",
    "answer": f"{WIKI}Q810; {WIKI}Q28",
    "answer_text": "Jordan;Hungary",
    "paraphrased_question": ["In which countries was it shot?"],
}
OTHERS = [
    {"question": "When?", "answer": "12 June 1983", "answer_text": "12 June 1983"},
    {"question": "A success?", "answer": "no", "answer_text": "No, not at all"},
    {"question": "By?", "answer": WIKI + "Q1", "answer_text": "A; B"},
    {"question": "Who?", "answer": f"{WIKI}Q1;{WIKI}Q2", "answer_text": "A; B; C"},
    {"question": "What?", "answer": "n/a", "answer_text": "1984; sand"},
]
CONVQUESTIONS = {
    "conv_id": 7,
    "domain": "books",
    "seed_entity": WIKI + "Q190192?wprov=srpw1_0",
    "seed_entity_text": "Dune",
    "questions": numbered("7", SHOT, *OTHERS),
}

COMPMIX = {
    "question_id": "33",
    "question": "How many novels did Frank Herbert write?",
    "domain": "books",
    "entities": [{"id": "Q7934", "label": "Frank Herbert"}],
    "answers": [{"id": "23", "label": "23 novels"}],
    "answer_src": "text",
    "convmix_question_id": "8-2",
}

TIME = {
    "Id": 12,
    "Question": "when was the author of dune born and when did he first win",
    "Temporal signal": ["OVERLAP"],
    "Temporal question type": ["Temp.Ans", "Ordinal"],
    "Answer": [
        {"AnswerType": "Value", "AnswerArgument": "1920-10-08T00:00:00Z"},
        {"AnswerType": "Entity", "WikidataQid": "Q1056254", "WikidataLabel": "Nebula", "WikipediaURL": "Q1056254"},
    ],
    "Data set": "dev",
}

ANSWERS = ["Q7934", f"{WIKI}Q7934", "1965-08-01T00:00:00Z", " ", "5.0"]
LCQUAD = {"question": "Who and when?", "complexities": ["b", "a"], "answers": ANSWERS}
TASK = {"task": "get_search_space", "question": "Who played Arya in Game of Thrones?", "parameters": {"p": 1000}}
SAMPLES = {"convmix": CONVMIX, "convquestions": CONVQUESTIONS, "compmix": COMPMIX, "timequestions": TIME, "lcquad2": LCQUAD, "tasks": TASK}  # fmt: skip
SHAPES = [*SAMPLES]
SAMPLES["tiq"] = TIME


def read(benchmark, *records):
    return read_benchmark(write("data.json", records), benchmark)


def unreadable(benchmark, *records, path=None):
    """What is said of a file of the records, or of one that is there."""
    path = path or write("data.json", records)
    return refused(DataError, lambda: read_benchmark(path, benchmark), str(path))


def gold(conversation):
    return [[(answer["id"], answer["label"]) for answer in turn["answers"]] for turn in conversation["questions"]]


# --- each benchmark


def test_convmix_keeps_everything_but_literals_that_are_no_ids():
    (found,) = read("convmix", CONVMIX)
    expected = copy.deepcopy(CONVMIX)
    expected["questions"][0]["answers"][1] = {"id": "1986-01-01T00:00:00Z", "label": "1986"}
    assert found == expected


def test_convquestions():
    (found,) = read("convquestions", CONVQUESTIONS)
    assert (found["conv_id"], found["domain"]) == (7, "books")
    assert gold(found) == [
        [("Q810", "Jordan"), ("Q28", "Hungary")],
        [("1983-06-12T00:00:00Z", "12 June 1983")],
        [("No", "No")],
        [("Q1", "A; B")],  # which of the labels is whose cannot be known
        [("Q1", "Q1"), ("Q2", "Q2")],
        [("1984-01-01T00:00:00Z", "1984"), ("sand", "sand")],
    ]
    assert found["questions"][0]["entities"] == [{"id": "Q190192", "label": "Dune"}]
    for turn, published in zip(found["questions"], CONVQUESTIONS["questions"], strict=True):
        assert published.items() <= turn.items()


def test_compmix_is_one_turn():
    (found,) = read("compmix", COMPMIX)
    assert (found["conv_id"], found["domain"]) == ("33", "books")
    others = {key: value for key, value in COMPMIX.items() if key != "domain"}
    assert found["questions"] == [{"turn": 0, **others}]


@pytest.mark.parametrize("name", ["timequestions", "tiq"])
def test_timequestions_and_tiq_are_one_turn(name):
    (found,) = read(name, TIME)
    assert (found["conv_id"], found["domain"]) == (12, "Ordinal+Temp.Ans")
    (turn,) = found["questions"]
    assert (turn["turn"], turn["question_id"], turn["question"]) == (0, "12", TIME["Question"])
    assert gold(found) == [[("1920-10-08T00:00:00Z", "8 October 1920"), ("Q1056254", "Nebula")]]
    assert turn["Data set"] == "dev"


def test_lcquad_is_one_turn_with_its_number_as_id():
    found = read("lcquad2", LCQUAD, {"question": "Is it?", "answers": ["yes"]})
    ids = [(row["conv_id"], row["questions"][0]["question_id"], row.get("domain")) for row in found]
    assert ids == [(0, "0", "a+b"), (1, "1", None)]
    assert gold(found[0]) == [[("Q7934", "Q7934"), ("1965-08-01T00:00:00Z", "1 August 1965"), ("5", "5.0")]]
    assert gold(found[1]) == [[("Yes", "Yes")]]


# --- the choice of the reader


@pytest.mark.parametrize("name", SHAPES)
def test_shape_of_a_record_tells_its_benchmark(name):
    assert shapes(SAMPLES[name]) == (["timequestions", "tiq"] if name == "timequestions" else [name])
    assert read("mine", SAMPLES[name]) == read(name, SAMPLES[name])
    other = "compmix" if name == "convmix" else "convmix"
    assert f"not of {other}; set benchmark: {name}" in unreadable(other, SAMPLES[name])


# --- files


def test_plain_and_packed_lists_and_lines_read_the_same():
    records = [CONVMIX, {**CONVMIX, "conv_id": "other"}]
    expected = read("convmix", *records)
    write_lines("lines.jsonl", records[0], "", records[1])
    write_lines("lines.jsonl.gz", *records)
    write("list.json.gz", "\ufeff" + json.dumps(records))
    assert [read_benchmark(Path(file), "convmix") for file in names()] == [expected] * 4


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (gzip.compress(json.dumps([CONVMIX]).encode(), mtime=0)[:100], "is the file complete?"),
        (b"", "not valid JSON"),
        (CONVMIX, "expected a list"),
        ([CONVMIX, 3], "conversation 1 is int, not an object"),
    ],
)
def test_damaged_files_are_refused(content, fault):
    assert fault in unreadable("convmix", path=write("data.json.gz", content))


@pytest.mark.parametrize(
    ("name", "keys", "expected"),
    [
        ("convmix", ("conv_id",), "conversation 0: the key 'conv_id' is missing"),
        (
            "convmix",
            ("questions", 0, "answers", 0, "id"),
            "conversation '1', turn 0: an answer: the key 'id' is missing",
        ),
        ("convquestions", ("questions", 3, "answer"), "conversation 0: the key 'answer' is missing"),
        ("compmix", ("question",), "conversation 0: the key 'question' is missing"),
        ("timequestions", ("Answer", 1, "WikidataQid"), "conversation 0: the key 'WikidataQid' is missing"),
        ("lcquad2", ("answers",), "conversation 0: the key 'answers' is missing"),
    ],
)
def test_a_missing_key_is_named_with_its_place(name, keys, expected):
    record = place = copy.deepcopy(SAMPLES[name])
    for key in keys[:-1]:
        place = place[key]
    del place[keys[-1]]
    assert expected in unreadable(name, record)


def test_a_value_of_another_form_is_named_with_its_record():
    assert "conversation 0: has another form: 'int' object" in unreadable("lcquad2", {**LCQUAD, "answers": 3})


# --- the real files

REAL = {  # file: benchmark, conversations, turns
    **{f"convquestions/val_{domain}": ("convquestions", 448, 2240) for domain in ("books", "movies", "music", "soccer", "tv_series")},
    "convquestions/val_wd27k": ("convmix", 1472, 7360),
    "timequestions/dev": ("timequestions", 3236, 3236),
    "tiq/dev": ("tiq", 4542, 4542),
    "lcquad2-cq/LC_QuAD20_CQ.dev": ("lcquad2", 2000, 2000),
    "lcquad2-cq/ConvQuestions_FQ.dev": ("lcquad2", 338, 338),
}  # fmt: skip


@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
@pytest.mark.parametrize("name", REAL)
def test_the_published_files_are_read_whole(name):
    benchmark, conversations, turns = REAL[name]
    found = read_benchmark(DATA / f"{name}.json.gz", benchmark)
    assert len(found) == conversations
    assert sum(len(conversation["questions"]) for conversation in found) == turns


CLOCQ_FILE = {
    "dev": [{"question": "Who played Arya?", "answers": ["Q234363"], "any": ["other", "key"]}, {"question": "Creator?", "answers": ["Q1", "Q2"]}],
    "test": [{"question": "What year was the Wizard of Oz released?", "answers": ["1939"]}],
}  # fmt: skip


def test_a_benchmark_file_of_clocq_has_its_parts(tmp_path):
    file = tmp_path / "benchmark.json"
    file.write_text(json.dumps(CLOCQ_FILE))
    dev = read_benchmark(file, "clocq", "dev")
    assert [turn["answers"] for conversation in dev for turn in conversation["questions"]] == [
        [{"id": "Q234363", "label": "Q234363"}],
        [{"id": "Q1", "label": "Q1"}, {"id": "Q2", "label": "Q2"}],
    ]
    assert dev[0]["questions"][0]["any"] == ["other", "key"]
    (conversation,) = read_benchmark(file, "lcquad2")
    assert conversation["questions"][0]["answers"] == [{"id": "1939-01-01T00:00:00Z", "label": "1939"}]
    with pytest.raises(DataError, match="no part 'train'; its parts are dev, test"):
        read_benchmark(file, "clocq", "train")


def test_the_questions_of_a_file_of_tasks_are_conversations(tmp_path):
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps([{"task": "get_label", "kb_item": "Q31043671"}, TASK]))
    (conversation,) = read_benchmark(file, "tasks")
    assert conversation == {"conv_id": 1, "questions": [{**TASK, "turn": 0, "question_id": "1"}]}
    assert read_benchmark(file, "embedded") == [conversation]
