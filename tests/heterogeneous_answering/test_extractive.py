import copy

import pytest
from answer_models import answer_model
from literal_evidence import Known

from convinse.config import parse_config
from convinse.encoder.answer_classes import AnswerClasses
from convinse.encoder.extractive_reader import AnswerSpan
from convinse.encoder.heads import AnswerTypeHead, YesNoHead
from convinse.encoder.question_readers import YesNoReader
from convinse.formats.convmix import read_conversations
from convinse.heterogeneous_answering.extractive import ExtractiveAnswering
from convinse.pipeline import Pipeline
from convinse.records.literals import is_item
from convinse.resources import Resources
from convinse.testing import without
from evidences import evidence, same_ranking
from tiny_models import Counted, copy_of, joint, tiny, torch

MODEL = str(tiny(task="question-answering"))
SOURCES = ("kb", "text", "table", "info")
FILM, DIRECTOR, ACTOR = ("Titanic", "Q44578"), ("James Cameron", "Q42574"), ("Kate Winslet", "Q202765")
TITANIC, CAMERON, WINSLET = ({"id": item, "label": label} for label, item in (FILM, DIRECTOR, ACTOR))
ADDED = ("pred_answers", "abstained", "p_at_1", "mrr", "h_at_5")


@pytest.fixture(scope="module")
def turns():
    """Turns of two conversations of the snapshot, as the module gets them."""
    config = parse_config({"ers_use_cache": False, "evs_max_evidences": 15})
    with Pipeline(config) as pipeline:
        done = pipeline.run(read_conversations(config.input_path("test"))[:2], SOURCES)
    return [without(turn, *ADDED) for conversation in done for turn in conversation["questions"]]


def module(**keys):
    return ExtractiveAnswering(parse_config({"ha": "extractive", "ha_model": MODEL, "device": "cpu", **keys}))


def test_turns_together_are_as_turn_by_turn(turns):
    made = module()
    together = made.inference_on_turns(copy.deepcopy(turns), SOURCES)
    alone = [made.inference_on_turn(turn, SOURCES) for turn in copy.deepcopy(turns)]
    for one, other in zip(together, alone, strict=True):
        same_ranking(one, other)
    assert sum(map(len, together)) > 10


def test_all_turns_are_read_together_and_evidences_once(turns):
    made = module(token_budget=10**6)
    counted = Counted(made.reader.engine)
    made.inference_on_turns([copy.deepcopy(turn) for turn in (*turns[:2], *turns[:2])], SOURCES)
    assert len(counted.batches) == 1
    pairs = {
        (turn["structured_representation"], e["evidence_text"]) for turn in turns[:2] for e in turn["top_evidences"]
    }
    assert counted.sequences == len(pairs)


def test_answers_name_the_evidences_that_support_them(turns):
    for turn, answers in zip(turns, module().inference_on_turns(copy.deepcopy(turns), SOURCES), strict=True):
        assert all(1 <= len(set(answer["evidences"])) == len(answer["evidences"]) <= 3 for answer in answers)
        for answer in answers:
            if is_item(answer["answer"]["id"]):
                support = [turn["top_evidences"][place] for place in answer["evidences"]]
                items = [one["retrieved_for_entity"] for one in support if "retrieved_for_entity" in one]
                held = [entity for one in support for entity in one["wikidata_entities"]]
                assert answer["answer"]["id"] in {entity["id"] for entity in [*items, *held]}


class Fixed:
    """A reader that marks given words; it stands for a trained one."""

    def __init__(self, *words):
        self.words = words
        self.questions = []

    row_form = "plain"

    def read_all(self, questions, contexts, top_k=None):
        self.questions += questions
        self.texts = contexts
        return [
            [
                AnswerSpan(word, place, text.index(word), text.index(word) + len(word), 1.0, 0.5, 0.1)
                for place, text in enumerate(texts) for word in self.words if word in text
            ]
            for texts in contexts
        ]  # fmt: skip


CLASSES = {"Q42574": ("human",), "Q202765": ("human",), "Q44578": ("film",), "Q208909": ("record label",)}
KB = Known(CLASSES, [("P57", "director", ["directed by"]), ("P577", "publication date", ["opened"])])


def said(text, *entities, score=1.0):
    return evidence(text, "text", *entities, disambiguations=[], retrieved_for_entity=TITANIC, score=score)


def turn_with(question, *evidences, **more):
    return {"question": question, "top_evidences": list(evidences), **more}


def answered(turn, *words, **keys):
    reader, config = Fixed(*words), parse_config(keys)
    made = ExtractiveAnswering(config, Resources(config, kb=KB), reader)
    before = copy.deepcopy(turn)
    answers = made.inference_on_turn(turn, SOURCES)
    assert without(turn, "abstained") == without(before, "abstained")  # a module returns; it writes nothing else
    return answers, reader


@pytest.fixture
def ranked_by(tmp_path):
    """Settings of a ranking by hand: these weights of features, which are taken as they are; "none" is never likely."""

    def settings(yes_no=None, **weights):
        answer_model(yes_no, none=-50.0, **weights).write(tmp_path)
        return {"ha_ranker": str(tmp_path)}

    return settings


def test_the_representation_is_read(ranked_by):
    turn = turn_with("Which film?", said("Titanic by James Cameron", FILM, DIRECTOR))
    answers, reader = answered(turn, "Titanic", "James Cameron", **ranked_by(read=1.0))
    assert [answer["answer"]["label"] for answer in answers][-1] == "James Cameron"
    assert reader.questions == ["Which film?"]
    turn["structured_representation"] = "|| Titanic || which || film"
    assert answered(turn, "x")[1].questions == ["|| Titanic || which || film"]


def test_the_expected_type_and_the_score_of_evidences_count(ranked_by):
    found = [
        said("in Titanic Kate Winslet played", ACTOR, score=2.0),
        said("on 19 December 1997 by James Cameron", DIRECTOR),
    ]
    who = turn_with("Who was it?", *found)
    words, read = ("Kate Winslet", "James Cameron", "19 December 1997"), ranked_by(read=1.0)
    answers = answered(who, *words, **read)[0]
    assert [a["answer"] for a in answers[:2]] == [WINSLET, CAMERON]
    assert [a["score"] for a in answers[:2]] == pytest.approx([2 / 3, 1 / 3], abs=1e-3)
    assert "19 December 1997" not in [a["answer"]["label"] for a in answers]
    when = turn_with("When was it?", *found)
    assert answered(when, *words, **read)[0][0]["answer"]["id"] == "1997-12-19T00:00:00Z"
    for scores in ((0.0, 0.0), (-1.0, -2.0)):  # of a scorer that knows no better: all count the same
        for each, score in zip(found, scores, strict=True):
            each["score"] = score
        assert [a["score"] for a in answered(who, *words, **read)[0][:2]] == [pytest.approx(0.5, abs=0.01)] * 2


@pytest.mark.parametrize(
    ("question", "is_covered"),
    [("Is James Cameron the director?", True), ("and did James Cameron direct it?", True), ("Has he won?", False)],
)
def test_questions_for_yes_or_no_are_not_read(question, is_covered, ranked_by):
    turn = turn_with(question, said("James Cameron is the director and did direct it", DIRECTOR))
    for weight, first in ((3.0, "Yes"), (-3.0, "No")):
        answers, reader = answered(turn, "James Cameron", **ranked_by({"covered": weight}))
        assert reader.questions == [] and [answer["reasons"] for answer in answers] == [["yes_no"]] * 2
        assert {answer["answer"]["id"] for answer in answers} == {"Yes", "No"}
        assert answers[0]["answer"]["id"] == (first if is_covered else "No")
        assert ("abstained" in turn) is not is_covered


def test_scores_are_probabilities_of_at_most_one_in_all(turns):
    for answers in module(ha_max_answers=10**6).inference_on_turns(copy.deepcopy(turns), SOURCES):
        total = sum(answer["score"] for answer in answers)
        is_yes_or_no = {answer["answer"]["id"] for answer in answers} == {"Yes", "No"}
        assert total == pytest.approx(1) if is_yes_or_no else 0 <= total <= 1.001


def test_an_evidence_without_words_has_no_answer():
    assert module().inference_on_turns([turn_with("Who?", said(" "))], SOURCES) == [[]]


def test_the_yes_no_head_of_the_model_judges(tmp_path):
    folder = copy_of(joint(), tmp_path / "model")
    assert module(ha_model=str(folder)).judge is None and module().judge is None
    torch.manual_seed(1)
    YesNoHead(32, 2, 1, 64).save(folder)
    pair = ("was titanic a film", "titanic the film by james cameron")
    judge = module(ha_model=str(folder)).judge
    assert judge([pair]) == pytest.approx(YesNoReader(folder, "cpu").probabilities([pair]).tolist(), abs=1e-6)


def test_the_answer_type_head_of_the_model_tells_what_is_expected(tmp_path):
    folder = copy_of(joint(), tmp_path / "model")
    assert module(ha_model=str(folder)).resources.answer_typing is None is module().resources.answer_typing
    torch.manual_seed(1)
    names = {name: name for name in ("Q5", "date", "number", "yes or no", "text", "other item")}
    head = AnswerTypeHead(32, 1, AnswerClasses(names, names, {}), 2, 8)
    with torch.no_grad():
        head.classes.bias[3] = 50.0
    head.save(folder)
    turn = turn_with("And the film?", evidence("titanic the film by james cameron", score=1.0))
    made = module(ha_model=str(folder))
    typing = made.resources.answer_typing
    (likely,) = typing.likely([("And the film?", "And the film?")])
    assert likely.expected.kind == "yesno" and likely.fit("Yes") == pytest.approx(1)
    (answers,) = made.inference_on_turns([turn], SOURCES)
    assert {ranked["answer"]["id"] for ranked in answers} == {"Yes", "No"}


def test_rows_are_read_in_the_form_that_the_model_was_shown():
    config, reader = parse_config({}), Fixed("Kate Winslet [lowest", "highest")
    made = ExtractiveAnswering(config, Resources(config, kb=KB), reader)
    cell = {"header": "Who", "text": "Kate Winslet", "entities": [WINSLET], "start": 16, "column": 0, "rank": "lowest"}
    row = {"caption": "", "section": "", "rank": "last", "cells": [cell]}
    found = evidence(
        "Titanic, Who is Kate Winslet", "table", ACTOR, row=row, mentions=[{"start": 16, "end": 28, "id": ACTOR[1]}]
    )
    turn = turn_with("Who was the youngest?", {**found, "score": 1.0, "retrieved_for_entity": TITANIC})
    (answer,) = made.inference_on_turn(turn, SOURCES)
    assert (answer["answer"]["label"], answer["reasons"]) == ("Kate Winslet", ["evidences"])
    assert reader.texts == [["Titanic, Who is Kate Winslet"]]
    reader.row_form = "ranked"
    (answer,) = made.inference_on_turn(turn, SOURCES)
    assert (answer["answer"]["label"], answer["reasons"]) == ("Kate Winslet", ["reader"])
    assert reader.texts == [["Titanic [last], Who: Kate Winslet [lowest]"]]
