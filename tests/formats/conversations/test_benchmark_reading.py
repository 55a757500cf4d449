"""Published files of each benchmark, as small samples made by hand, into conversations of the ConvMix structure."""

import copy
import gzip
import json

import pytest

from convinse.config import Config
from convinse.formats.conversations.benchmark import READERS, read_benchmark
from convinse.formats.convmix import read_conversations
from convinse.support.errors import DataError
from places import DATA

WIKI = "https://www.wikidata.org/wiki/"

CONVMIX = {
    "conv_id": "1",
    "domain": "books",
    "questions": [
        {
            "turn": 0,
            "question_id": "1-0",
            "question": "When did the author of Dune live?",
            "answers": [{"id": "1920-10-08T00:00:00Z", "label": "8 October 1920"}, {"id": "1986", "label": "1986"}],
            "completed": "When did the author of Dune live?",
            "answer_src": "kb",
        },
        {"turn": 1, "question_id": "1-1", "question": "And who was it?", "answers": [{"id": "Q7934", "label": "Herbert"}]},
    ],
}  # fmt: skip

CONVQUESTIONS = {
    "conv_id": 7,
    "domain": "books",
    "seed_entity": WIKI + "Q190192?wprov=srpw1_0",
    "seed_entity_text": "Dune",
    "questions": [
        {
            "turn": 0,
            "question_id": "7-0",
            "question": "Where was the film shot?",
            "answer": f"{WIKI}Q810; {WIKI}Q28",
            "answer_text": "Jordan;Hungary",
            "paraphrased_question": ["In which countries was it shot?"],
        },
        {"turn": 1, "question_id": "7-1", "question": "When?", "answer": "12 June 1983", "answer_text": "12 June 1983"},
        {"turn": 2, "question_id": "7-2", "question": "A success?", "answer": "no", "answer_text": "No, not at all"},
        {"turn": 3, "question_id": "7-3", "question": "By?", "answer": WIKI + "Q1", "answer_text": "A; B"},
        {"turn": 4, "question_id": "7-4", "question": "Who?", "answer": f"{WIKI}Q1;{WIKI}Q2", "answer_text": "A; B; C"},
        {"turn": 5, "question_id": "7-5", "question": "What?", "answer": "n/a", "answer_text": "1984; sand"},
    ],
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

LCQUAD = {
    "question": "Who and when?",
    "complexities": ["b", "a"],
    "answers": ["Q7934", "1965-08-01T00:00:00Z", " ", "5.0"],
}

SAMPLES = {
    "convmix": CONVMIX,
    "convquestions": CONVQUESTIONS,
    "compmix": COMPMIX,
    "timequestions": TIME,
    "tiq": TIME,
    "lcquad2": LCQUAD,
}
SHAPES = [name for name in SAMPLES if name != "tiq"]


@pytest.fixture
def written(workdir):
    def write(*records, name="data.json"):
        path = workdir / name
        path.write_text(json.dumps(records))
        return path

    return write


def refused(path, benchmark):
    with pytest.raises(DataError) as caught:
        read_benchmark(path, benchmark)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def gold(conversation):
    return [[(answer["id"], answer["label"]) for answer in turn["answers"]] for turn in conversation["questions"]]


# --- each benchmark


def test_convmix_keeps_everything_but_literals_that_are_no_ids(written):
    (found,) = read_benchmark(written(CONVMIX), "convmix")
    expected = copy.deepcopy(CONVMIX)
    expected["questions"][0]["answers"][1] = {"id": "1986-01-01T00:00:00Z", "label": "1986"}
    assert found == expected


def test_convquestions(written):
    (found,) = read_benchmark(written(CONVQUESTIONS), "convquestions")
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
    for turn, given in zip(found["questions"], CONVQUESTIONS["questions"], strict=True):
        assert given.items() <= turn.items()


def test_convquestions_without_ids_of_turns(written):
    record = copy.deepcopy(CONVQUESTIONS)
    for turn in record["questions"]:
        del turn["turn"], turn["question_id"]
    (found,) = read_benchmark(written(record), "convquestions")
    assert [(turn["turn"], turn["question_id"]) for turn in found["questions"][:2]] == [(0, "7-0"), (1, "7-1")]


def test_compmix_is_one_turn(written):
    (found,) = read_benchmark(written(COMPMIX), "compmix")
    assert (found["conv_id"], found["domain"]) == ("33", "books")
    others = {key: value for key, value in COMPMIX.items() if key != "domain"}
    assert found["questions"] == [{"turn": 0, **others}]


@pytest.mark.parametrize("name", ["timequestions", "tiq"])
def test_timequestions_and_tiq_are_one_turn(written, name):
    (found,) = read_benchmark(written(TIME), name)
    assert (found["conv_id"], found["domain"]) == (12, "Ordinal+Temp.Ans")
    (turn,) = found["questions"]
    assert (turn["turn"], turn["question_id"], turn["question"]) == (0, "12", TIME["Question"])
    assert gold(found) == [[("1920-10-08T00:00:00Z", "8 October 1920"), ("Q1056254", "Nebula")]]
    assert turn["Data set"] == "dev"


def test_lcquad_is_one_turn_with_its_number_as_id(written):
    found = read_benchmark(written(LCQUAD, {"question": "Is it?", "answers": ["yes"]}), "lcquad2")
    assert [(one["conv_id"], one["questions"][0]["question_id"], one.get("domain")) for one in found] == [
        (0, "0", "a+b"),
        (1, "1", None),
    ]
    assert gold(found[0]) == [[("Q7934", "Q7934"), ("1965-08-01T00:00:00Z", "1 August 1965"), ("5", "5.0")]]
    assert gold(found[1]) == [[("Yes", "Yes")]]


def test_equal_answers_are_one(written):
    record = {"question": "Who?", "answers": ["Q1", f"{WIKI}Q1", "Q2"]}
    assert gold(read_benchmark(written(record), "lcquad2")[0]) == [[("Q1", "Q1"), ("Q2", "Q2")]]


def test_questions_without_answers_are_kept(written):
    (found,) = read_benchmark(written({**TIME, "Answer": []}), "tiq")
    assert found["questions"][0]["answers"] == []


# --- the choice of the reader


def test_every_benchmark_has_a_sample():
    assert SAMPLES.keys() == READERS.keys()


@pytest.mark.parametrize("name", SHAPES)
def test_a_record_is_recognized_by_its_own_reader_only(name):
    found = {other for other, reader in READERS.items() if reader.recognizes(SAMPLES[name])}
    assert found == ({"timequestions", "tiq"} if name == "timequestions" else {name})


@pytest.mark.parametrize("name", SHAPES)
def test_a_name_of_ones_own_leaves_it_to_the_shape(written, name):
    path = written(SAMPLES[name])
    assert read_benchmark(path, "mine") == read_benchmark(path, name)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
def test_a_file_of_another_benchmark_is_refused_with_its_name(written, name, other):
    if name != other:
        assert f"not of {other}; set benchmark: {name}" in refused(written(SAMPLES[name]), other)


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_the_embedded_conversations_are_read_as_they_are(part):
    config = Config()
    path = config.input_path(part)
    assert read_benchmark(path, config.benchmark) == read_conversations(path)


# --- files


@pytest.mark.parametrize("name", SHAPES)
def test_plain_and_packed_lists_and_lines_read_the_same(workdir, written, name):
    second = copy.deepcopy(SAMPLES[name])
    second.update({key: "other" for key in ("conv_id", "question_id", "Id") if key in second})
    records = [SAMPLES[name], second]
    expected = read_benchmark(written(*records), name)
    assert len(expected) == 2
    lines = "".join(json.dumps(record) + "\n" for record in records).encode()
    (workdir / "lines.jsonl").write_bytes(lines)
    (workdir / "lines.jsonl.gz").write_bytes(gzip.compress(lines))
    (workdir / "list.json.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + json.dumps(records).encode()))
    for file in ("lines.jsonl", "lines.jsonl.gz", "list.json.gz"):
        assert read_benchmark(workdir / file, name) == expected


@pytest.mark.parametrize("name", SHAPES)
def test_damaged_files_are_refused(workdir, name):
    path = workdir / "data.json.gz"
    whole = gzip.compress(json.dumps([SAMPLES[name]]).encode())
    path.write_bytes(whole[: len(whole) // 2])
    assert "is the file complete?" in refused(path, name)
    path.write_bytes(b"")
    assert "not valid JSON" in refused(path, name)
    path.write_bytes(json.dumps(SAMPLES[name]).encode())
    assert "expected a list" in refused(path, name)
    path.write_bytes(json.dumps([SAMPLES[name], 3]).encode())
    assert "conversation 1 is int, not an object" in refused(path, name)
    path.unlink()
    assert "No such file" in refused(path, name)


def without(record, *keys):
    changed = copy.deepcopy(record)
    place = changed
    for key in keys[:-1]:
        place = place[key]
    del place[keys[-1]]
    return changed


@pytest.mark.parametrize(
    ("name", "keys", "expected"),
    [
        ("convmix", ("conv_id",), "conversation 1: the key 'conv_id' is missing"),
        ("convmix", ("questions", 1, "question"), "conversation '1', turn 1: the key 'question' is missing"),
        ("convmix", ("questions", 0, "answers", 0, "id"), "conversation '1', turn 0, answers: the key 'id' is missing"),
        ("convquestions", ("conv_id",), "conversation 1: Object missing required field `conv_id`"),
        ("convquestions", ("questions", 3, "answer"), "missing required field `answer` - at `$.questions[3]`"),
        ("compmix", ("answers", 0, "id"), "conversation '33', turn 0, answers: the key 'id' is missing"),
        ("compmix", ("question",), "conversation 1: Object missing required field `question`"),
        ("timequestions", ("Id",), "conversation 1: Object missing required field `Id`"),
        ("timequestions", ("Answer", 1, "WikidataQid"), "required field `WikidataQid` - at `$.Answer[1]`"),
        ("timequestions", ("Answer", 0, "AnswerType"), "required field `AnswerType` - at `$.Answer[0]`"),
        ("lcquad2", ("answers",), "conversation 1: Object missing required field `answers`"),
    ],
)
def test_a_missing_key_is_named_with_its_place(written, name, keys, expected):
    first = copy.deepcopy(SAMPLES[name])
    first.update({key: "first" for key in ("conv_id", "question_id", "Id") if key in first})
    assert expected in refused(written(first, without(SAMPLES[name], *keys)), name)


def test_a_wrong_type_is_named_with_its_place(written):
    record = copy.deepcopy(CONVQUESTIONS)
    record["questions"][2]["answer"] = ["no"]
    assert "Expected `str`, got `array` - at `$.questions[2].answer`" in refused(written(record), "convquestions")


def test_an_id_that_appears_twice_is_refused(written):
    assert "'12' appears twice" in refused(written(TIME, TIME), "tiq")


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


@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
def test_convquestions_reads_as_the_same_conversations_in_the_convmix_structure():
    converted = {one["conv_id"]: one for one in read_benchmark(DATA / "convquestions/val_wd27k.json.gz", "convmix")}
    seen = 0
    for domain in ("books", "movies", "music", "soccer", "tv_series"):
        for conversation in read_benchmark(DATA / f"convquestions/val_{domain}.json.gz", "convquestions"):
            other = converted.get(str(conversation["conv_id"]))
            if other is not None:
                seen += 1
                for turn, expected in zip(conversation["questions"], other["questions"], strict=True):
                    ids = [{answer["id"] for answer in one["answers"]} for one in (turn, expected)]
                    assert (turn["question"], ids[0]) == (expected["question"], ids[1])
    assert seen == len(converted)
