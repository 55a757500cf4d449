"""SQuAD files: typed reading, errors by JSON path, writing."""

import json
from itertools import groupby
from pathlib import Path

import pytest

from case_tables import cases, each_case, slow_but
from convinse.formats import squad
from convinse.formats.converters import convert, find_converter
from convinse.support.errors import DataError
from memory import memory_below
from refusals import refused
from written import read_json, write


def document(**changes):
    answer = {"text": "Köln", "answer_start": 3}
    question = {"id": "q1", "question": "Wo?", "answers": [answer], "is_impossible": False}
    paragraph = {"context": "In Köln.", "qas": [question]}
    article = {"title": "T", "paragraphs": [paragraph]}
    whole = {"version": "v2.0", "data": [article]}
    for key, value in changes.items():
        next(part for part in (answer, question, paragraph, article, whole) if key in part)[key] = value
    return whole


def written(value):
    return write("data.json", value)


def everything(path):
    """All that is in a file, read to the end."""
    found, paragraphs = squad.read_squad(path)
    return found.version, found.extras, list(paragraphs)


@pytest.mark.parametrize("name", ["data.json", "data.json.gz"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("indent", [None, 2])
def test_file_is_read_packed_marked_and_indented(name, mark, indent):
    content = mark + json.dumps(document(), indent=indent, ensure_ascii=False)
    paragraph = squad.Paragraph("In Köln.", [squad.SquadQuestion("Wo?", "q1", [squad.SquadAnswer("Köln", 3)])])
    assert everything(write(name, content)) == ("v2.0", {}, [(squad.Article([], "T"), paragraph)])


def test_squad_1_and_klue_are_read():
    whole = {"data": [{"paragraphs": [{"context": "a b", "qas": [{"guid": "g", "question": "?", "answers": []}]}]}]}
    ((article, paragraph),) = squad.read_squad(written(whole))[1]
    (question,) = paragraph.qas
    assert question.id == "g" and not question.is_impossible and question.extras == {}
    assert article == squad.Article([], "")


def with_unknown_keys():
    whole = document()
    whole["more"] = whole["data"][0]["source"] = whole["data"][0]["paragraphs"][0]["document_id"] = [1]
    question = whole["data"][0]["paragraphs"][0]["qas"][0]
    question |= {"plausible_answers": [{"text": "In", "answer_start": 0, "x": None}], "y": {}}
    question["answers"][0]["answer_id"] = 9
    return whole


def reversed_keys(value):
    """The same document with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("order", [dict, reversed_keys])
def test_unknown_keys_come_back_wherever_they_stand(workdir, order):
    whole = with_unknown_keys()
    source = written(order(whole))
    for target in (workdir / "out.json", workdir / "again.json"):
        data, paragraphs = squad.read_squad(source)
        squad.write_squad(target, paragraphs, data.version, data.extras)
        assert read_json(target) == whole
        source = target
    assert (workdir / "again.json").read_bytes() == (workdir / "out.json").read_bytes()


@pytest.mark.parametrize("titles", ["", "A", "AB", "AABA", "ABAB"])
def test_neighbours_of_one_title_are_an_article_and_others_begin_a_new_one(workdir, titles):
    paragraphs = [(squad.Article([], title), squad.Paragraph(str(n), [])) for n, title in enumerate(titles)]
    squad.write_squad(workdir / "a.json", iter(paragraphs))
    articles = read_json(workdir / "a.json")["data"]
    assert "".join(article["title"] for article in articles) == "".join(title for title, _ in groupby(titles))
    assert list(squad.read_squad(workdir / "a.json")[1]) == paragraphs


@each_case("squad", "change")
def test_fault_of_a_record_names_its_path(case):
    path = written(document(**case["change"]))
    refused(DataError, lambda: everything(path), str(path), *case["fault"])


DEEP = b"[" * 100_000
CONTENTS = [(case["content"].encode(), case["fault"]) for case in cases("squad", "content")]
CONTENTS += [
    (b"\x1f\x8b\x08broken", ":1: cannot be read"),
    (DEEP, "Expected `object`, got `array`"),
    (b'{"data": ' + DEEP, "Expected `object`, got `array` - at `$.data[0]`"),
    (b'{"more": ' + DEEP, "nested too deep"),
]


@pytest.mark.parametrize(("content", "fault"), CONTENTS, ids=[fault for _, fault in CONTENTS])
def test_file_of_another_content_is_refused(content, fault):
    path = written(content)
    refused(DataError, lambda: everything(path), "data.json", fault)
    refused(DataError, lambda: squad.validate(path), "data.json")


def test_id_that_appears_twice_is_refused_with_its_first_place():
    whole = document()
    whole["data"] *= 2
    again = r"\$\.data\[1\]\.paragraphs\[0\]\.qas\[0\].*'q1' appears twice \(first in \$\.data\[0\]\.paragraphs\[0\]\)"
    with pytest.raises(DataError, match=again):
        everything(written(whole))
    whole = document()
    whole["data"][0]["paragraphs"][0]["qas"] *= 2
    with pytest.raises(DataError, match=r"qas\[1\]: the id 'q1' appears twice"):
        everything(written(whole))
    assert len(squad.validate(written(whole)).problems) == 1


def test_validation_counts_and_finds_faults():
    counts = {"articles": 1, "paragraphs": 1, "questions": 1, "unanswerable": 0, "answers": 1}
    assert squad.validate(written(document())) == ([], [], {"format": "squad", "version": "v2.0", **counts})
    assert "at 2 is ' Köl', not 'Köln'" in squad.validate(written(document(answer_start=2))).problems[0]
    assert "no id" in squad.validate(written(document(id=""))).problems[0]
    assert "yet it has answers" in squad.validate(written(document(is_impossible=True))).warnings[0]
    assert len(squad.validate(written(document(answer_start=99))).problems) == 1


# flat memory ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", slow_but(["mrqa"], ["mrqa", "multiqa"]))
def test_a_conversion_holds_one_context(workdir, to):
    text = " ".join("x" * 100 for _ in range(50))
    paragraphs = [squad.Paragraph(f"{number} {text}", [squad.SquadQuestion("?", f"{number}")]) for number in range(600)]
    squad.write_squad(Path("a.json"), ((squad.Article([], "T"), paragraph) for paragraph in paragraphs))
    assert Path("a.json").stat().st_size > 3_000_000
    find_converter("squad")  # imports all of them
    with memory_below(8 << 20):
        convert(Path("a.json"), Path("b.jsonl"), to, quiet=True)
        convert(Path("b.jsonl"), Path("c.json"), "squad", quiet=True)
    found = [paragraph for _, paragraph in squad.read_squad(Path("c.json"))[1]]
    assert [(each.context, each.qas) for each in found] == [(each.context, each.qas) for each in paragraphs]
