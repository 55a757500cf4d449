"""The examples over plain text that the embedded model learns from."""

import gzip
import json
import random
import re

import pytest

from convinse.support.errors import DataError
from recipes.embedded import negatives
from recipes.embedded.sample_sets import cut
from recipes.embedded.sets import TEXT_SETS
from recipes.embedded.untokenise import untokenised
from written import write_lines

EXTRACTIVE = ("qamr", "fairytaleqa", "policyqa", "qed", "multiqa_samples", "mrqa_sample")
RANKED = ("squad_sentences", "selqa", "boolq")
LINES = {"qamr/dev.jsonl": 700, "qamr/test_part.jsonl": 200, "fairytaleqa/train.jsonl": 300, "fairytaleqa/val.jsonl": 60,
         "qed/dev.jsonl": 300, "squad-sentences/pairs.jsonl": 900, "boolq/train.jsonl": 200, "boolq/dev.jsonl": 80}  # fmt: skip
WHOLE = ("policyqa", "selqa", "multiqa-samples", "mrqa-sample")


@pytest.fixture(scope="module")
def data(beginnings):
    return beginnings(LINES, WHOLE)


@pytest.fixture(scope="module")
def built(data):
    return {name: list(TEXT_SETS[name](data, 5)) for name in (*EXTRACTIVE, *RANKED)}


@pytest.fixture(scope="module")
def answering(data):
    """The sentences of SQuAD that answer each question."""
    right = {}
    for line in lines(data, "squad-sentences", "pairs"):
        right.setdefault(line["question"], set()).add(line["sentence"])
    return right


def lines(data, name, *files):
    for file in files:
        with gzip.open(data / name / f"{file}.jsonl.gz", "rt", encoding="utf-8") as opened:
            yield from map(json.loads, opened)


def marked(candidate):
    return [candidate.text[start:end] for start, end in candidate.spans]


def test_every_set_has_examples(built):
    for name, examples in built.items():
        assert examples, name
        for example in examples:
            candidates = [candidate.text for candidate in example.candidates]
            assert example.query.strip() and example.group and all(text.strip() for text in candidates)
            assert len(set(candidates)) == len(candidates), (name, example.query)
            relevant = [candidate.relevant for candidate in example.candidates]
            assert relevant == sorted(relevant, reverse=True)
        trained = [example for example in examples if example.part == "train"]
        assert sum(len(example.candidates) > 1 for example in trained) > 0.97 * len(trained), name


@pytest.mark.parametrize("name", (*EXTRACTIVE, *RANKED))
def test_no_text_is_in_both_parts(built, name):
    parts = {"train": set(), "dev": set()}
    keys = {"train": set(), "dev": set()}
    for example in built[name]:
        parts[example.part] |= {candidate.text for candidate in example.candidates}
        keys[example.part].add(example.key)
    assert not parts["train"] & parts["dev"] and not keys["train"] & keys["dev"]


def test_no_sentence_of_qamr_is_in_both_parts(built, data):
    sentences = {line["sentence"] for line in lines(data, "qamr", "dev", "test_part")}
    dev = {example.key for example in built["qamr"] if example.part == "dev"}
    assert dev and dev < sentences
    seen = {candidate.text for one in built["qamr"] if one.part == "train" for candidate in one.candidates}
    long = [sentence for sentence in dev if len(sentence) > 40]
    assert not any(sentence in text for text in seen for sentence in long)


@pytest.mark.parametrize("name", EXTRACTIVE)
def test_negatives_do_not_hold_the_answer(built, name):
    for example in built[name]:
        answers = {answer for candidate in example.candidates for answer in marked(candidate)}
        assert answers
        patterns = [re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)", re.I) for answer in answers if answer.isalnum()]
        for candidate in example.candidates:
            if not candidate.relevant:
                assert not any(pattern.search(candidate.text) for pattern in patterns), (example.query, answers)


@pytest.mark.parametrize("name", RANKED)
def test_texts_without_marked_answers_are_not_read(built, name):
    assert all(one.readable != one.relevant and not one.spans for ex in built[name] for one in ex.candidates)


@pytest.mark.parametrize(("name", "files"), [("fairytaleqa", ("train", "val")), ("policyqa", ("dev",)), ("qed", ("dev",))])  # fmt: skip
def test_spans_of_paragraphs_are_the_answers(built, data, name, files):
    def squeezed(text):
        return re.sub(r"\s|``|''|\"", "", text)

    gold = {}
    for line in lines(data, name, *files):
        key = line["question"], squeezed(line["context"])
        gold.setdefault(key, set()).add(
            (squeezed(line["answer"]), len(squeezed(line["context"][: line["answer_start"]])))
        )
    for example in built[name]:
        text = example.candidates[0].text
        wanted = gold[example.query, squeezed(text)]
        assert {(squeezed(text[a:b]), len(squeezed(text[:a]))) for a, b in example.candidates[0].spans} <= wanted
        for answer in marked(example.candidates[0]):
            assert answer == answer.strip() and len(answer.split()) <= 40


def test_spans_of_qamr_are_those_of_writer_and_validators(built, data):
    gold = {}
    for line in lines(data, "qamr", "dev", "test_part"):
        spans = gold.setdefault((line["sentence"], line["question"]), [])
        for mark in (line, *line["validator_answers"]):
            spans.append((mark["answer_start"], mark["answer_start"] + len(mark["answer"])))
    alone = 0
    for example in built["qamr"]:
        text, spans = example.candidates[0].text, example.candidates[0].spans
        begin = text.index(example.key)
        alone += text == example.key
        wanted = list(dict.fromkeys(gold[example.key, example.query]))
        assert [(start - begin, end - begin) for start, end in spans] == wanted
    assert 0.4 < alone / len(built["qamr"]) < 0.6
    assert len(built["qamr"]) == len(gold)


def test_spans_of_samples_are_accepted_answers(built, data):
    accepted = {}
    for line in lines(data, "mrqa-sample", "NewsQA_sample"):
        for question in line["qas"]:
            accepted[question["question"]] = {answer["text"] for answer in question["detected_answers"]}
    for example in built["mrqa_sample"]:
        assert set(marked(example.candidates[0])) <= accepted[example.query]
    answers = {example.query: {" ".join(text.split()).casefold() for one in example.candidates for text in marked(one)}
               for example in built["multiqa_samples"]}  # fmt: skip
    assert answers["Who managed the Destiny's Child group?"] == {"mathew knowles"}
    assert len(answers) >= 35 and sum(len(one) == 1 for one in answers.values()) > 0.8 * len(answers)
    for example in built["multiqa_samples"]:
        for candidate in example.candidates:
            assert bool(candidate.spans) == candidate.relevant and len(candidate.text) <= 3000


def test_examples_whose_texts_overlap_share_their_group(built):
    for name in (*EXTRACTIVE, *RANKED):
        groups = {}
        for example in built[name]:
            for candidate in example.candidates:
                if candidate.relevant:
                    assert groups.setdefault(candidate.text, example.group) == example.group, name
    own = {example.key: example.group for example in built["qamr"]}
    for example in built["qamr"]:
        text = example.candidates[0].text
        if text != example.key:
            assert all(own[key] == example.group for key in own if len(key) > 40 and key in text)


def test_policyqa_is_of_its_dev_file_and_negatives_are_not_asked_the_same(built, data):
    tested = {line["context"] for line in lines(data, "policyqa", "test")}
    given = list(lines(data, "policyqa", "dev"))
    asked = {(line["context"], line["question"]) for line in given}
    site = {line["context"]: line["title"] for line in given}
    used = {candidate.text for example in built["policyqa"] for candidate in example.candidates}
    assert not used & tested and used <= site.keys() and len(used) > 0.9 * len(site.keys() - tested)
    for example in built["policyqa"]:
        for candidate in example.candidates[1:]:
            assert site[candidate.text] == example.key and (candidate.text, example.query) not in asked


def test_squad_neighbours_come_before_hard_ones(built, data, answering):
    different = dict.fromkeys(line["sentence"] for line in lines(data, "squad-sentences", "pairs"))
    order = {sentence: place for place, sentence in enumerate(different)}
    for example in built["squad_sentences"]:
        first, near, further, *hard = (candidate.text for candidate in example.candidates)
        right = answering[example.query]
        assert first in right and not right & {near, further, *hard}
        assert order[first] // 40 == order[near] // 40 == order[further] // 40
        assert abs(order[first] - order[near]) <= abs(order[first] - order[further]) <= 5
        assert len(hard) == (example.part == "train") or example.part == "dev"
        assert all(order[first] // 40 != order[text] // 40 for text in hard)


def write_pairs(data, pairs):
    made = ({"question": question, "sentence": sentence} for question, sentence in pairs)
    write_lines(data / "squad-sentences" / "pairs.jsonl.gz", *made)


def test_another_answer_is_no_negative(tmp_path):
    pairs = [("who?", "ada did it."), ("who?", "she did it."), ("when?", "it was in may."), ("where?", "it was here.")]
    write_pairs(tmp_path, pairs)
    found = [[one.text for one in example.candidates] for example in TEXT_SETS["squad_sentences"](tmp_path, 0)]
    assert found[0] == ["ada did it.", "it was in may.", "it was here."]
    assert found[1] == ["she did it.", "it was in may.", "it was here."]


def test_answers_of_selqa(built, data):
    with gzip.open(data / "selqa" / "selqa-ass-dev.json.gz", "rt", encoding="utf-8") as file:
        gold = {row["question"]: row for row in json.load(file)}
    for example in built["selqa"]:
        row = gold[example.query]
        answers = {row["candidates"][place].strip() for place in row["answers"]}
        for candidate in example.candidates:
            assert (candidate.text in answers) == candidate.relevant


def test_equal_arguments_give_equal_examples(data, built):
    for name, examples in built.items():
        assert list(TEXT_SETS[name](data, 5)) == examples, name
    assert list(TEXT_SETS["qamr"](data, 6)) != built["qamr"]


def test_missing_data_is_named_with_the_remedy(tmp_path):
    for build in (TEXT_SETS[name] for name in (*EXTRACTIVE, *RANKED)):
        with pytest.raises(DataError, match=r"\.gz: no such data; set CONVINSE_DATA"):
            next(iter(build(tmp_path, 0)))


def test_a_span_beside_the_answer_is_refused(tmp_path):
    line = {"title": "t", "context": "one two", "question": "q", "answer": "two", "answer_start": 3}
    write_lines(tmp_path / "qed" / "dev.jsonl.gz", line)
    with pytest.raises(DataError, match=r"dev\.jsonl\.gz:1: 'two' does not stand at character 3"):
        list(TEXT_SETS["qed"](tmp_path, 0))


def test_tokens_are_written_as_usual():
    old = "He did n't ( yet ) say `` a role - play '' in 1901 , 5 % of it ; the team 's own ."
    new, move = untokenised(old)
    assert new == "He didn't (yet) say \"a role-play\" in 1901, 5% of it; the team's own."
    for part, wanted in {"`` a role - play ''": '"a role-play"', "role": "role", "1901 ,": "1901,", "did n't": "didn't",
                         "team 's own .": "team's own.", "( yet )": "(yet)", "He": "He"}.items():  # fmt: skip
        start, end = move(old.index(part), old.index(part) + len(part))
        assert new[start:end] == wanted


def test_keys_that_share_a_text_are_one():
    pairs = [("d", "1"), ("b", "2"), ("c", "1"), ("c", "2"), ("e", "3"), ("a", "4")]
    assert negatives.joined_keys(pairs) == {"a": "a", "b": "b", "c": "b", "d": "b", "e": "e"}


def test_hard_texts_are_alike_and_hold_no_answer():
    texts = ["the river flows to the sea", "a river of gold", "Rivers are long", "the mountain", "a hill", "a hill"]
    with negatives.hard_texts(texts, 1) as find:
        assert [one.text for one in find("which river is long", 1, [], [])] == ["Rivers are long"]
        found = [one.text for one in find("which river is long", 2, ["the river flows to the sea"], ["GOLD"])]
        assert found[0] == "Rivers are long" and found[1] in ("the mountain", "a hill")
        assert len(find("river", 10, [], [])) == 5
    assert negatives.holds("It is 5%.", ["%"]) and negatives.holds("U.S. Army", ["u s"])
    assert not negatives.holds("others", ["other"])


def test_long_texts_are_cut_at_sentences():
    text = "\n\n".join(f"Sentence number {number} is here." for number in range(100))
    start = text.index("50 is")
    for seed in range(40):
        found, begin = cut(text, start, start + 2, random.Random(seed), most=200)
        assert text[begin : begin + len(found)] == found and len(found) <= 200
        assert begin <= start and found.startswith("Sentence") and found.endswith("here.")
        assert "50 is" in found
    assert cut(text, 0, 3, random.Random(0), most=10**6) == (text, 0)
    found, begin = cut("word " * 100, 250, 254, random.Random(3), most=60)
    assert "word " * 100 in f"{'word ' * 100}" and begin <= 250 and begin + len(found) >= 254 and len(found) <= 60
