"""SQuAD to MRQA and back: nothing is lost that the other format can hold."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.formats import mrqa, squad
from convinse.formats.converters import convert
from convinse.formats.tokens import normalize
from mrqa_files import write_examples
from written import read_json, write

CONTEXT = "Köln is old. 👍🏽 Köln\r\nis big, as Cologne."


def answer(text, start):
    return {"text": text, "answer_start": start}


def question(name="q1", answers=(), **more):
    return {"id": name, "question": "Which town?", "answers": list(answers), "is_impossible": False, **more}


def squad_file(*qas, context=CONTEXT, **more):
    article = {"title": "Towns", "paragraphs": [{"context": context, "qas": list(qas)}], **more}
    return write("squad.json", {"version": "v2.0", "data": [article]})


@pytest.fixture(autouse=True, scope="module")
def without_spacy():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "spacy", None)
        yield


def to_mrqa(path, name="out.jsonl"):
    _, counts = convert(path, Path(name), "mrqa")
    report = mrqa.validate(Path(name))
    assert report.problems == []
    return list(mrqa.read_examples(Path(name))), counts


def test_squad_becomes_mrqa(workdir):
    both = [answer("Köln", 0), answer("Köln", 0), answer("cologne", 33)]
    (example,), counts = to_mrqa(squad_file(question(answers=both)))
    (found,) = example.qas
    assert example.context == CONTEXT and example.extras["title"] == "Towns"
    assert (found.qid, found.question, found.answers) == ("q1", "Which town?", ["Köln", "cologne"])
    assert found.question_tokens == [("Which", 0), ("town", 6), ("?", 10)]
    assert [(a.text, a.char_spans, a.token_spans) for a in found.detected_answers] == [
        ("Köln", [(0, 3)], [(0, 0)]), ("cologne", [(33, 39)], [(10, 10)])
    ]  # fmt: skip
    counts = {what: count for what, count in counts.items() if "spaCy" not in what}
    assert counts == {"contexts": 1, "questions": 1}


def test_unanswerable_question_is_counted_and_marked(workdir):
    none = question("q2", is_impossible=True, plausible_answers=[answer("Köln", 0)])
    (example,), counts = to_mrqa(squad_file(question(answers=[answer("Köln", 0)]), none))
    answered, unanswerable = example.qas
    assert "is_impossible" not in answered.extras and unanswerable.extras["is_impossible"] is True
    assert unanswerable.answers == unanswerable.detected_answers == []
    assert counts["questions"] == 2 and [count for what, count in counts.items() if "unanswerable" in what] == [1]
    convert(Path("out.jsonl"), Path("back.json"), "squad")
    assert read_json("back.json")["data"][0]["paragraphs"][0]["qas"][1] == none


def test_squad_comes_back_from_squad_and_through_mrqa(workdir):
    qas = [question("a", [{**answer("old", 8), "answer_id": 7}])]
    qas.append(question("b", [answer("big", 25), answer("Cologne", 33)], level="x"))
    (towns,) = read_json(squad_file(*qas, source="Wiki"))["data"]
    nameless = {"title": "", "paragraphs": [{"context": "x y", "qas": [question("c", [answer("y", 2)])], "id": "p"}]}
    whole = {"version": "v2.0", "data": [towns, nameless], "dataset": "S", "split": "dev", "more": 1}
    convert(write("squad.json", whole), Path("again.json"), "squad")
    # an article without a title gets a name
    assert read_json("again.json") == {**whole, "data": [towns, {**nameless, "title": "S"}]}
    to_mrqa(Path("again.json"))
    convert(Path("out.jsonl"), Path("back.json"), "squad")
    assert read_json("back.json") == read_json("again.json")


def test_a_long_context_is_cut_and_no_question_lost(workdir):
    words = [f"w{i}" for i in range(1000)]
    text = " ".join(words)
    first, second = question("a", [answer("w3", text.index("w3"))]), question("b", [answer("w999", text.index("w999"))])
    examples, counts = to_mrqa(squad_file(first, second, context=text))
    assert [[q.qid for q in example.qas] for example in examples] == [["a"], ["b"]]
    assert all(len(example.context_tokens) == 800 for example in examples)
    assert counts["contexts"] == 2 and counts["contexts of more than 800 tokens (cut into parts)"] == 1


def test_mrqa_to_mrqa_changes_nothing(workdir):
    """Also what our own tokens and detection would have made otherwise."""
    tokens = [("U.S.", 0), ("army", 5), ("U.S.", 10)]
    found = [mrqa.DetectedAnswer("us", [(0, 3)], [(0, 0)], {"answer_start": 0})]
    question = mrqa.MrqaQuestion("1", "Who's?", [("Who's", 0), ("?", 5)], found, ["us", "U.S.", "army"], {"x": 1})
    example = mrqa.MrqaExample(
        "U.S. army U.S.", [question], tokens, {"id": "i", "title": "t", "documents": [{"u": 1}], "y": {}}
    )
    write_examples(Path("in.jsonl"), [example], mrqa.MrqaHeader("A", "dev", {"z": 1}))
    convert(Path("in.jsonl"), Path("out.jsonl"), "mrqa")
    assert list(mrqa.read_examples(Path("out.jsonl"))) == [example]
    assert mrqa.read_header(Path("out.jsonl")) == mrqa.MrqaHeader("A", "dev", {"z": 1})
    convert(Path("out.jsonl"), Path("again.jsonl"), "mrqa")
    assert Path("again.jsonl").read_bytes() == Path("out.jsonl").read_bytes()


@given(st.text("aÉb. \r\n🎉e\u0301\u200d,the", max_size=40), st.data())
def test_answers_survive_the_way_through_mrqa(tmp_path_factory, context, data):
    folder = tmp_path_factory.mktemp("way")
    spans = []
    if context:
        for _ in range(data.draw(st.integers(0, 3))):
            start = data.draw(st.integers(0, len(context) - 1))
            spans.append((start, data.draw(st.integers(start + 1, len(context)))))
    answers = [squad.SquadAnswer(context[start:end], start) for start, end in spans]
    paragraph = squad.Paragraph(context, [squad.SquadQuestion("?", "1", answers)])
    squad.write_squad(folder / "in.json", [(squad.Article([], "T"), paragraph)])
    convert(folder / "in.json", folder / "mid.jsonl", "mrqa", "squad")
    (example,) = mrqa.read_examples(folder / "mid.jsonl")
    assert mrqa.validate(folder / "mid.jsonl").problems == []
    (found,) = example.qas
    assert found.answers == list(dict.fromkeys(each.text for each in answers))
    for each in found.detected_answers:
        for (start, end), (first, last) in zip(each.char_spans, each.token_spans, strict=True):
            assert normalize(context[start : end + 1]) == normalize(each.text)
            token, offset = example.context_tokens[last]
            assert example.context_tokens[first][1] <= end and start < offset + len(token)
    visible = {(start, end - 1) for start, end in spans if context[start:end].strip()}
    assert visible == {span for each in found.detected_answers for span in each.char_spans}
    convert(folder / "mid.jsonl", folder / "out.json", "squad", "mrqa")
    ((_, paragraph),) = squad.read_squad(folder / "out.json")[1]
    (question,) = paragraph.qas
    texts = {each.text for each in question.answers} | set(question.extras.get("accepted_answers", ()))
    assert set(found.answers) <= texts and squad.validate(folder / "out.json").problems == []
