"""The files of `reading/` as examples, questions without an answer, and texts that are held out."""

import random
import re
from functools import partial

import pytest

from convinse.support.errors import DataError
from places import DATA
from recipes.embedded import reading_files
from recipes.embedded.card import SOURCES
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.negatives import part_of
from recipes.embedded.overlap import HeldOut
from recipes.embedded.reading_files import (
    READING_FILES,
    held_out,
    keys_with_reading,
    mismatched,
    reading,
    squad2_unanswerable,
)
from recipes.embedded.sets import TEXT_SETS
from written import write_lines

FILES = {file.name: file for file in READING_FILES}
SQUAD = "squad-train-44articles"


def context(text, *questions, title=None):
    """A line of a file: each question is one with its answers, which are words of the text."""
    asked = []
    for question, *answers in questions:
        spans = [[text.index(answer), text.index(answer) + len(answer) - 1] for answer in answers]
        asked.append({"qid": question, "question": question, "answers": answers,
                      "detected_answers": [{"text": answer, "char_spans": [span]} for answer, span in zip(answers, spans, strict=True)]})  # fmt: skip
    line = {"context": text, "qas": asked}
    return line if title is None else {**line, "title": title}


def write_files(folder, **lines):
    """All files, those that are not given with nothing but a header; returns the folder of shared data."""
    for name in FILES:
        header = {"header": {"dataset": name}}
        write_lines(folder / "reading" / f"{name}.jsonl.gz", header, *lines.get(name.replace("-", "_"), ()))
    return folder


def examples(name, folder, seed=5):
    return list(reading(FILES[name], folder, seed))


def texts(example, relevant):
    return [candidate.text for candidate in example.candidates if candidate.relevant == relevant]


RIVERS = [
    context("The Oder flows through Wroclaw.", ("Which river flows through Wroclaw?", "The Oder", "Oder"), title="Oder"),
    context("Its source lies in Moravia.", ("Where does the Oder begin?", "Moravia"), title="Oder"),
    context("The Oder is 854 km long.", ("How long is the Oder?", "854 km"), title="Oder"),
]  # fmt: skip
OTHERS = [
    context(f"Hill {number} is a hill of stone.", (f"What is hill {number}?", "a hill"), title=f"Hill {number}")
    for number in range(30)
]


def test_questions_have_their_spans_and_negatives_of_their_article_first(tmp_path):
    found = examples(SQUAD, write_files(tmp_path, squad_train_44articles=[*RIVERS, *OTHERS]))
    assert len(found) == 33
    first = next(one for one in found if one.query.startswith("Which river"))
    assert first.candidates[0] == Candidate(RIVERS[0]["context"], True, ((0, 8), (4, 8)))
    assert (first.key, first.group, first.source) == ("Oder", f"{SQUAD}:Oder", SQUAD)
    wrong = texts(first, False)
    assert wrong[0] == "Its source lies in Moravia." and len(wrong) == 3  # the third paragraph holds "Oder"
    assert all(text.startswith("Hill") for text in wrong[1:])
    for one in found:
        answers = [one.candidates[0].text[start:end] for start, end in one.candidates[0].spans]
        assert not any(answer in text for answer in answers for text in texts(one, False) if one.key == "Oder")


def test_equal_articles_have_one_key_in_all_files(tmp_path):
    shared = "Both of these files ask something about this very line."
    data = write_files(
        tmp_path,
        squad_train_44articles=[context("A text of R&B.", ("What?", "R&B"), title="R&amp;B")],
        squadshifts_new_wiki=[context("A song of R&B.", ("What?", "R&B"), title="R&B")],
        ropes_contrast=[context(f"{shared}\nAda sat.", ("Who sat?", "Ada"))],
        iirc_excerpts=[context(f"{shared}\nIda ran.", ("Who ran?", "Ida")), context("Short line.\nA.", ("What?", "A"))],
        tatqa_text=[context("Short line.\nB.", ("What?", "B"))],
        squadshifts_reddit=[
            context("I have a cat.", ("What?", "a cat"), title="all"),
            context("No dog.", ("What?", "dog"), title="all"),
        ],
    )
    keys = {name: [one.key for one in examples(name, data)] for name in FILES}
    assert keys[SQUAD] == keys["squadshifts-new-wiki"] == ["R&B"]
    assert keys["ropes-contrast"] == keys["iirc-excerpts"][:1] != keys["iirc-excerpts"][1:]
    assert keys["iirc-excerpts"][1:] == ["Short line.\nA."] and keys["tatqa-text"] == ["Short line.\nB."]
    assert sorted(keys["squadshifts-reddit"]) == ["I have a cat.", "No dog."]  # its title is the same everywhere


def test_documents_of_other_files_have_the_keys_of_these(tmp_path):
    titles = {part_of("", title): title for title in (f"Town_{number}" for number in range(40))}
    near, far = titles["dev"].replace("_", " "), titles["train"].replace("_", " ")
    line = "In this line are more than eight words of a text."
    data = write_files(
        tmp_path,
        squad_train_44articles=[context(f"{near} is old.", ("What?", "old"), title=titles["dev"]), context(f"{far} is old.", ("What?", "old"), title=titles["train"])],
        iirc_excerpts=[context(f"{line}\nShort.", ("Which?", "line"))],
    )  # fmt: skip
    pairs = [("Shared", line), (near, "Some text."), ("Alone", "A text."), ("Alike", "A text."), ("Third", f"{near} is old."),
             ("Both", f"{near} is old."), ("Both", f"{far} is old."), ("Linked", "One more."), ("Both", "One more.")]  # fmt: skip
    assert keys_with_reading(data, pairs[:5]) == {
        "Shared": f"{line}\nShort.", near: titles["dev"], "Third": titles["dev"], "Alone": "Alike", "Alike": "Alike",
    }  # fmt: skip
    # who shares texts of both parts is in none, and all that are joined with him
    assert keys_with_reading(data, pairs).keys() == {"Shared", "Alone", "Alike"}


def test_answers_that_are_all_needed_are_ranked_and_not_read(tmp_path):
    line = context("Ada and Ida came.", ("Who came?", "Ada", "Ida"), ("Who was first?", "Ada"), title="t")
    line["qas"][0]["all_needed"] = True
    other = context("Ida left.", ("Who left?", "Ida"), title="t")
    more = context("Nobody was there.", ("Who was there?", "Nobody"), title="t")
    found = {
        one.query: one for one in examples(SQUAD, write_files(tmp_path, squad_train_44articles=[line, other, more]))
    }
    assert found["Who came?"].candidates[0] == Candidate("Ada and Ida came.", True, readable=False)
    assert texts(found["Who came?"], False) == ["Nobody was there."]  # "Ida left." holds a part of the answer
    assert found["Who was first?"].candidates[0] == Candidate("Ada and Ida came.", True, ((0, 3),))


def test_where_a_question_does_not_tell_its_text_negatives_are_random(tmp_path):
    lines = [context(f"The size is {number}.", ("What is the size?", f"{number}")) for number in range(100, 140)]
    data = write_files(tmp_path, squadshifts_reddit=lines, squad_paragraphs_800=lines)
    posts, paragraphs = examples("squadshifts-reddit", data), examples("squad-paragraphs-800", data)
    assert {one.group for one in posts} == {"squadshifts-reddit"}
    assert len({one.group for one in paragraphs}) == 40
    trained = [one for one in posts if one.part == "train"]
    assert all(len(one.candidates) == 4 for one in trained)
    assert len({text for one in trained for text in texts(one, False)}) > 30  # BM25 has the same order for all of them
    assert len({text for one in paragraphs if one.part == "train" for text in texts(one, False)}) < 10


def test_of_stilted_files_only_a_share_is_built(tmp_path):
    lines = [context(f"Thing {number} does something.", ("What does something?", "Thing")) for number in range(400)]
    data = write_files(tmp_path, qanom=lines, squad_paragraphs_800=lines)
    assert 20 < len(examples("qanom", data)) < 65 and FILES["qanom"].share == 0.1
    assert len(examples("squad-paragraphs-800", data)) == 400
    assert examples("qanom", data, seed=5) == examples("qanom", data, seed=5) != examples("qanom", data, seed=6)


def test_a_span_outside_of_its_text_is_refused(tmp_path):
    line = context("Ada came.", ("Who came?", "Ada"))
    line["qas"][0]["detected_answers"][0]["char_spans"] = [[4, 9]]
    data = write_files(tmp_path, tatqa_text=[line])
    with pytest.raises(DataError, match=r"tatqa-text\.jsonl\.gz:2: the characters 4 to 9 are outside of the context"):
        examples("tatqa-text", data)


def test_missing_files_are_named_with_the_remedy(tmp_path):
    for build in (*(partial(reading, file) for file in READING_FILES), squad2_unanswerable, mismatched):
        with pytest.raises(DataError, match=r"\.gz: no such data; set CONVINSE_DATA"):
            next(iter(build(tmp_path, 0)))


# -- questions without an answer ---------------------------------------------------------------------------------------


def test_unanswerable_questions_have_no_relevant_text(tmp_path):
    line = {"title": "Oder", "context": "The Oder flows.", "qid": "q", "question": "Who flows?", "plausible": ["Oder"]}
    write_lines(tmp_path / "hybrid/squad2-unanswerable.jsonl.gz", line)
    (found,) = squad2_unanswerable(tmp_path, 0)
    assert (found.query, found.candidates, found.key) == ("Who flows?", (Candidate("The Oder flows."),), "Oder")
    assert not found.answered


def test_mismatched_paragraphs_are_of_the_article_and_hold_no_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_files, "_MISMATCHED", 1.0)
    data = write_files(tmp_path, squad_train_44articles=[*RIVERS, *OTHERS])
    found = {one.query: one for one in mismatched(data, 5)}
    assert found.keys() == {line["qas"][0]["question"] for line in RIVERS}  # a hill has no other paragraph
    for one in found.values():
        assert (one.key, one.source, one.answered) == ("Oder", "mismatched", False)
        assert set(texts(one, False)) <= {line["context"] for line in RIVERS}
    assert texts(found["Which river flows through Wroclaw?"], False) == ["Its source lies in Moravia."]
    assert len(texts(found["How long is the Oder?"], False)) == 2


def test_relevant_candidates_stand_in_front():
    right, wrong = Candidate("a", True), Candidate("b")
    assert Example("q", (right, right, wrong), "s", "k").answered
    for candidates in ((), (wrong, right), (right, wrong, right)):
        with pytest.raises(ValueError, match="s: 'q' does not have its relevant candidates in front"):
            Example("q", candidates, "s", "k")


# -- held out ----------------------------------------------------------------------------------------------------------


def words(text):
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize("seed", range(4))
def test_texts_meet_where_they_share_eight_words_in_a_row(seed):
    chance = random.Random(seed)

    def text():
        return " ".join(chance.choices(["a", "b", "The", "end,", "x-y"], k=chance.randint(1, 24)))

    given = [text() for _ in range(60)]
    runs = {tuple(words(one)[place : place + 8]) for one in given for place in range(len(words(one)) - 7)}
    held, seen = HeldOut(given), set()
    for _ in range(400):
        one = text()
        wanted = any(tuple(words(one)[place : place + 8]) in runs for place in range(len(words(one)) - 7))
        assert held.meets(one.upper()) == wanted, one
        seen.add(wanted)
    assert seen == {True, False}
    assert not HeldOut([]).meets(given[0]) and not HeldOut(["too short"]).meets("too short")


def test_examples_lose_the_texts_that_are_held_out():
    one, two, free = (" ".join(f"{name}{number}" for number in range(12)) for name in ("one", "two", "free"))
    held = HeldOut([f"Before {one}", two])

    def kept(*candidates):
        found = held.without(Example("q", candidates, "s", "k", "g"))
        return None if found is None else found.candidates

    right, wrong = Candidate(free, True, ((0, 4),)), Candidate(f"{free}!")
    assert kept(right, wrong) == (right, wrong)
    assert kept(right, Candidate(one), wrong) == (right, wrong)
    assert kept(Candidate(two, True), right, Candidate(one)) == (right,)
    assert kept(Candidate(two, True), wrong) is None  # not a question without an answer
    assert kept(Candidate(one), wrong) == (wrong,) and kept(Candidate(one)) is None


# -- the files themselves ----------------------------------------------------------------------------------------------


def test_all_files_are_sets_and_stand_in_the_card():
    assert len(FILES) == len(READING_FILES) and FILES.keys() | {"squad2_unanswerable", "mismatched"} <= TEXT_SETS.keys()
    for name, file in FILES.items():
        assert SOURCES[name][1] == file.licence and file.content in SOURCES[name][0] and file.origin in SOURCES[name][0]
        assert 0 < file.share <= 1
    if (DATA / "reading").is_dir():
        assert {path.name for path in (DATA / "reading").glob("*.gz")} == {f"{name}.jsonl.gz" for name in FILES}


@pytest.fixture(scope="module")
def data(beginnings):
    lines = {f"reading/{name}.jsonl": 41 for name in FILES}
    return beginnings({**lines, "hybrid/squad2-unanswerable.jsonl": 400}, ())


@pytest.fixture(scope="module")
def built(data):
    return {name: list(TEXT_SETS[name](data, 5)) for name in (*FILES, "mismatched", "squad2_unanswerable")}


def test_no_article_and_no_text_is_in_both_parts(built):
    parts = {"train": set(), "dev": set()}
    for name, found in built.items():
        assert found, name
        for one in found:
            parts[one.part] |= {candidate.text for candidate in one.candidates} | {one.key}
    assert parts["dev"] and not parts["train"] & parts["dev"]


def test_negatives_do_not_hold_the_answer(built):
    for name, found in built.items():
        for one in found:
            candidates = one.candidates[0]
            answers = [candidates.text[start:end] for start, end in candidates.spans]
            patterns = [
                re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)", re.I) for answer in answers if answer.isalnum()
            ]
            for text in texts(one, False):
                assert text.strip() and not any(pattern.search(text) for pattern in patterns), (name, one.query)


def test_the_held_out_examples_are_the_dev_parts_by_kind(built, data):
    found = held_out(data, 5)
    assert found.keys() == {file.kind for file in READING_FILES}
    for kind, own in found.items():
        wanted = [one for file in READING_FILES if file.kind == kind for one in built[file.name] if one.part == "dev"]
        assert own == wanted
    assert found["wikipedia"]
