"""`bench temporal`: which questions are asked, how systems are counted and compared, and the whole bench over a small world."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from bench.harness import run
from bench.temporal import __main__ as bench_of_times
from bench.temporal import questions as asked
from bench.temporal.__main__ import System, TimedAnswer
from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.resources import Resources
from handmade import dump_bytes, world
from places import ROOT
from recipes.embedded.negatives import part_of
from recipes.embedded.wikidata import knowledge_base
from recipes.temporal import FaithQuestion
from written import read_json, write

RIGHT, SECOND, NOTHING = TimedAnswer(1, 3), TimedAnswer(2, 1), TimedAnswer(None, None)


@pytest.fixture
def data(workdir, monkeypatch):
    """The world as shared data, with two questions of each data set that can be answered, and one that cannot."""
    folder = workdir / "data"
    write(folder / "wikidata-27k" / "wikidata-27k.json.gz", dump_bytes(world()).decode())
    for name, films in (("timequestions", ("Titanic", "Inception")), ("tiq", ("Avatar", "Titanic"))):
        golds = {"Titanic": "Q42574", "Avatar": "Q42574", "Inception": "Q25191"}
        entries = [
            {"Question": f"Who directed {film} before 2012?", "Temporal signal": ["BEFORE"],
             "Answer": [{"AnswerType": "Entity", "WikidataQid": golds[film]}]}
            for film in films
        ]  # fmt: skip
        nobody = {"Question": "Who directed Alien?", "Answer": [{"AnswerType": "Entity", "WikidataQid": "Q999"}]}
        write(folder / name / "dev.json.gz", [*entries, nobody])
    monkeypatch.setenv("CONVINSE_DATA", str(folder))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return folder


def question(number, item, data_set="tiq"):
    return asked.TimedQuestion(data_set, f"{data_set}-{number}", "Who?", [], ("AFTER",), item, held_out=False)


# -- which questions ---------------------------------------------------------------------------------------------------


def in_space(data, *questions):
    with closing(knowledge_base(data, Path())) as kb:
        config = parse_config({"kb_path": str(kb.path), "ers_wikipedia_dump": None, "ers_use_cache": False})
        retriever = ClocqRetriever(config, resources=Resources(config, kb=kb))
        with closing(retriever.resources):
            return asked.in_space("tiq", [FaithQuestion(text, list(gold), ()) for text, *gold in questions], retriever)


def test_an_answer_is_in_the_space_where_a_fact_of_a_linked_item_has_it(data):
    measured = in_space(
        data,
        ("Who directed Inception in 2010?", "Q999", "Q25191"),
        ("When was James Cameron born?", "1954-01-01T00:00:00Z"),  # the year of a day
        ("When was James Cameron born, then?", "1955-01-01T00:00:00Z"),
        ("Who directed Inception first?", "Q999"),
        ("Who was James Cameron, then?", "Q42574"),  # the question names it; no other item is in its facts
        ("What kind of film is Titanic?", "Q11424"),  # only what it is says so
        ("Who directed Inception in 2010?", "Q25191"),
        ("Who directed nothing?", "plutonium"),
    )
    assert (measured.looked_at, measured.gold_in_kb, measured.in_space) == (7, 3, 2)
    assert [own.text for own in measured.questions] == [
        "Who directed Inception in 2010?",
        "When was James Cameron born?",
    ]
    film, birth = measured.questions
    assert film.gold == [{"id": "Q25191", "label": "Christopher Nolan"}] and film.item == "Q25188"
    assert film.question_id != birth.question_id and birth.gold[0]["label"] == "1954"
    assert film.held_out == (part_of("tiq", "Q25188") == "dev")


def test_always_the_same_questions_are_drawn_in_their_order():
    whole = asked.TimedSet(99, 60, 50, [question(number, "Q1") for number in range(50)])
    few = asked.drawn(whole, 10)
    assert few == asked.drawn(whole, 10) and (few.looked_at, few.in_space) == (99, 50)
    places = [whole.questions.index(own) for own in few.questions]
    assert len(places) == 10 and places == sorted(set(places)) and places != list(range(10))
    assert asked.drawn(whole, None) == asked.drawn(whole, 50) == whole


def test_only_the_first_questions_are_looked_at(data):
    with closing(knowledge_base(data, Path())) as kb:
        sets = asked.read_sets(data, kb, first=1)
    assert [(own.looked_at, len(own.questions)) for own in sets.values()] == [(1, 1), (1, 1)]


def test_a_question_counts_in_its_subsets():
    own = question(1, "Q1")
    assert own.subsets == ["all", "AFTER"]
    assert own._replace(held_out=True, signals=()).subsets == ["all", "held out", asked.TIME_ASKED]


# -- how systems are counted -------------------------------------------------------------------------------------------


def test_figures_are_means_over_all_questions():
    means = bench_of_times.figures([RIGHT, SECOND, NOTHING, TimedAnswer(6, 40)])
    assert list(means.values()) == [4, 0.75, 0.25, pytest.approx((1 + 1 / 2 + 1 / 6) / 4), 0.5]
    assert set(bench_of_times.figures([]).values()) == {0}


def test_questions_about_one_item_are_swapped_together():
    def p_of(items):
        questions = [question(number, item) for number, item in enumerate(items)]
        own, theirs = ({member.question_id: result for member in questions} for result in (RIGHT, SECOND))
        return bench_of_times.compared(questions, own, theirs)

    assert p_of(["Q1"] * 8) == {"better": 8, "worse": 0, "p_value": 1, "p_value_mrr": 1}
    assert p_of([f"Q{number}" for number in range(8)])["p_value"] == pytest.approx(2 / 2**8, abs=1e-4)


def test_gains_and_losses_on_one_item_cancel():
    questions = [question(number, f"Q{number // 2}") for number in range(6)]
    own = {member.question_id: (RIGHT, NOTHING)[number % 2] for number, member in enumerate(questions)}
    theirs = {member.question_id: (NOTHING, RIGHT)[number % 2] for number, member in enumerate(questions)}
    assert bench_of_times.compared(questions, own, theirs) == {
        "better": 3, "worse": 3, "p_value": 1, "p_value_mrr": 1,
    }  # fmt: skip


def test_another_version_has_its_own_configuration_where_it_has_one(workdir):
    write("mine.yml", "name: mine\nqu: slots\n")
    write("checkout/config/lexical.yml", "name: lexical\nqu: nc_all\n")
    there = Path("checkout")
    read = bench_of_times.configuration
    assert read(System("lexical.yml", there), name="x") == {"name": "x", "qu": "nc_all"}
    assert read(System("lexical.yml"))["ha"] == "entity_voting"
    assert read(System("mine.yml", there)) == {"name": "mine", "qu": "slots"}


# -- the whole bench ---------------------------------------------------------------------------------------------------


def test_both_versions_answer_the_same_questions(data, capsys):
    run(bench_of_times.SPEC, ["--config", "lexical.yml", "--against", str(ROOT)])
    out = capsys.readouterr().out
    written = read_json("results/bench/temporal.json")["temporal"]["figures"]
    assert written["sets"]["tiq"]["looked_at"] == 3 and written["sets"]["tiq"]["gold_in_kb"] == 2
    for subsets in written["systems"].values():
        own, theirs = subsets["all"].values()
        assert own["questions"] == theirs["questions"] == 2 and own["answer_presence"] == 1
        assert own.items() <= theirs.items() and (theirs["better"], theirs["worse"], theirs["p_value"]) == (0, 0, 1)
        assert subsets["BEFORE"]["lexical.yml"] == own
    assert "TimeQuestions dev" in out and f"lexical.yml, {ROOT.name}" in out
    right = sum(subsets["all"]["lexical.yml"]["p_at_1"] for subsets in written["systems"].values())
    failed = json.loads(Path("results/bench/temporal-failures.json").read_text())
    assert len(failed) == 4 - 2 * right and all(told["answer_rank"] != 1 for told in failed)


def test_a_wrong_configuration_shows_before_anything_is_built(data):
    with pytest.raises(SystemExit, match="bench temporal: nowhere.yml: no such configuration"):
        run(bench_of_times.SPEC, ["--config", "nowhere.yml", "--work", "kept"])
    assert not list(Path("kept").iterdir())


def test_a_failure_shows_the_evidence_with_the_answer():
    texts = [f"text {number}" for number in range(15)]
    turn = {"structured_representation": "Titanic", "pred_answers": list(range(9)),
            "top_evidences": [{"evidence_text": text} for text in texts]}  # fmt: skip
    told = bench_of_times.failure(question(1, "Q1"), turn, TimedAnswer(4, 13))
    assert (told["evidences"], told["evidence_of_gold"]) == (texts[:10], "text 12")
    assert told["answers"] == [0, 1, 2, 3, 4] and told["answer_rank"] == 4
    assert bench_of_times.failure(question(1, "Q1"), turn, NOTHING)["evidence_of_gold"] is None
