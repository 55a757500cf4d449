"""`bench conversations`: which turns are measured, how they are counted, and the whole bench over a small world."""

from argparse import Namespace
from pathlib import Path

import pytest

from bench.conversations import __main__ as bench_of_conversations
from bench.conversations import turns as measures
from bench.harness import Bench, run
from handmade import dump_bytes, world
from written import read_json, write

YES, CAMERON = {"id": "Yes", "label": "Yes"}, {"id": "Q42574", "label": "James Cameron"}
YEAR = {"id": "1954-01-01T00:00:00Z", "label": "1954"}
DAY = {"id": "1954-08-16T00:00:00Z", "label": "16 August 1954"}


def version(number, group, *questions):
    turns = [{"turn": place, "question": text, "answers": [YES]} for place, text in enumerate(questions)]
    return {"conv_id": number, "group": group, "questions": turns}


def turn(gold=CAMERON, ranked=(), held=(), *, one_hop=True, in_kb=True, label_agrees=True):
    """A turn with answers in this order, and an evidence for each of `held`."""
    return {
        "question": "Who?", "answers": [gold], "one_hop": one_hop, "in_kb": in_kb, "label_agrees": label_agrees,
        "structured_representation": "Titanic",
        "pred_answers": [{"answer": one, "score": 0.5, "rank": rank} for rank, one in enumerate(ranked, 1)],
        "top_evidences": [{"evidence_text": f"about {one['label']}", "source": "kb", "score": 1.0,
                           "disambiguations": [], "wikidata_entities": [one]} for one in held],
    }  # fmt: skip


def item(number):
    return {"id": f"Q{number}", "label": f"item {number}"}


# -- what is measured --------------------------------------------------------------------------------------------------


def test_each_wording_of_a_group_is_measured_once():
    versions = [
        version(1, 7, "Who?", "Where?"),
        version(2, 7, "Who?", "In which place?"),
        version(3, 7, "Which one?", "Where?"),
        version(4, 7, "Which one?", "In which place?"),
        version(5, 8, "Who?", "Where?"),
        version(6, 7, "Who?", "Where?"),
    ]
    assert [one["conv_id"] for one in measures.each_wording_once(versions)] == [1, 4, 5]
    assert [one["conv_id"] for one in measures.each_wording_once(versions, 1)] == [1, 4]


def test_turns_for_speed_are_those_given_then_single_questions(workdir):
    write_lcquad(workdir, ["Who made Avatar?", "Who made Avatar?", "When?", "Where?"])
    given = [version(1, 1, "a", "b"), version(2, 1, "c", "d")]

    def questions(turns):
        found = bench_of_conversations.gather(given, workdir, turns)
        return [[one["question"] for one in conversation["questions"]] for conversation in found]

    assert questions(3) == [["a", "b"], ["c"]]
    assert questions(6) == [["a", "b"], ["c", "d"], ["Who made Avatar?"], ["When?"]]


# -- how it is counted -------------------------------------------------------------------------------------------------


def test_a_bare_year_is_any_date_in_it_and_a_day_is_no_year():
    right = measures.is_right
    assert right(DAY, [YEAR]) and right(YEAR, [YEAR]) and right(DAY, [DAY])
    assert not right(YEAR, [DAY])
    assert not right({"id": "1955-08-16T00:00:00Z", "label": "16 August 1955"}, [YEAR])
    assert not right({"id": "1954", "label": "1954"}, [DAY])


def test_a_label_counts_beside_the_id():
    wrong_id = {"id": "Q9", "label": "James  CAMERON"}
    assert measures.is_right_by_label(CAMERON, [wrong_id]) and not measures.is_right(CAMERON, [wrong_id])
    assert not measures.is_right_by_label({"id": "Q1", "label": ""}, [{"id": "Q2", "label": "?"}])


def test_figures_are_means_over_all_turns():
    turns = [
        turn(ranked=[CAMERON], held=[item(1), CAMERON]),
        turn(ranked=[item(1), CAMERON], held=[CAMERON]),
        turn(ranked=[*map(item, range(5)), CAMERON], held=[CAMERON]),
        turn(),
    ]
    found = measures.figures(turns)
    assert list(found.values()) == [4, 0.75, 0.25, pytest.approx((1 + 1 / 2 + 1 / 6) / 4, abs=1e-4), 0.5, 0.25]
    assert set(measures.figures([]).values()) == {0}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (turn(ranked=[CAMERON]), None),
        (turn(YES, [{"id": "No", "label": "No"}]), "yes or no"),
        (turn(ranked=[item(1)], held=[CAMERON], label_agrees=False), "gold id is not of the gold label"),
        (turn(ranked=[item(1), CAMERON], held=[CAMERON]), "present, ranked 2 to 5"),
        (turn(ranked=[item(1)], held=[CAMERON]), "present, not in the best 5"),
        (turn(ranked=[item(1)], held=[item(1)]), "present in no evidence"),
        (turn(ranked=[item(1)], in_kb=False, label_agrees=None), "not in the knowledge base"),
    ],
)
def test_where_a_turn_is_lost(given, reason):
    assert measures.where_lost(given) == reason


def test_the_default_has_to_beat_the_naive_modules():
    def failed(presence, p_at_1, turns=9):
        bench = Bench(Namespace(), None, 1, Path(), Path())
        rows = {
            "gold": {"nc_all": (0.9, 0.5), "slots": (presence, p_at_1)},
            "predicted": {"nc_all": (0.9, 0.2), "slots": (0.5, 0.36)},
        }
        runs = {
            history: {
                m: {"one_hop": {"turns": turns, "answer_presence": row[0], "p_at_1": row[1]}} for m, row in own.items()
            }
            for history, own in rows.items()
        }
        bench_of_conversations.want(bench, "kb", "slots", runs)
        return [bound.what for bound in bench.bounds if bound.failed]

    assert failed(0.95, 0.5) == ["kb, gold: P@1 above the best nc_*"]
    assert len(failed(0.89, 0.44)) == 3 and failed(0.89, 0.44, turns=0) == []


# -- failures ----------------------------------------------------------------------------------------------------------


def test_a_failure_shows_history_answers_and_the_evidence_with_the_answer():
    failed = turn(ranked=[item(1), CAMERON], held=[*map(item, range(7)), CAMERON])
    right = turn(DAY, ranked=[DAY])
    (told,) = measures.failures([{"conv_id": "c", "domain": "movies", "questions": [right, failed]}])
    assert told["lost"] == "present, ranked 2 to 5" and told["before"] == [("Who?", [DAY])]
    assert (told["answer_rank"], told["evidence_rank"]) == (2, 8)
    assert told["pred_answers"] == failed["pred_answers"] and told["top_evidences"] == failed["top_evidences"]


# -- the whole bench ---------------------------------------------------------------------------------------------------


def write_lcquad(folder, questions):
    records = [{"question": text, "answers": ["Q42574"], "complexities": []} for text in questions]
    write(folder / "lcquad2-cq" / "LC_QuAD20_CQ.dev.json.gz", records)


def write_conversations(folder):
    """One conversation of three turns, two wordings each, in its eight versions."""
    turns = [
        (("Who directed Titanic?", "Who is the director of Titanic?"), CAMERON, True),
        (("When was he born?", "What year was he born?"), {"id": "1954", "label": "1954"}, True),
        (("Who wrote the script?", "Whose script is it?"), {"id": "Q999", "label": "Nobody"}, False),
    ]
    versions = [
        {
            "conv_id": number, "domain": "movies", "group": 0,
            "questions": [
                {"turn": place, "question_id": f"{number}-{place}", "question": wordings[number >> place & 1],
                 "answers": [gold], "entities": [], "one_hop": hop, "in_kb": hop, "label_agrees": True if hop else None}
                for place, (wordings, gold, hop) in enumerate(turns)
            ],
        }
        for number in range(8)
    ]  # fmt: skip
    write(folder / "convquestions" / "val_wd27k.json.gz", versions)


@pytest.fixture
def small_data(workdir, monkeypatch):
    folder = workdir / "data"
    write_conversations(folder)
    write_lcquad(folder, ["Who directed Avatar?", "Who directed Inception?"])
    write(folder / "wikidata-27k" / "wikidata-27k.json.gz", dump_bytes(world()).decode())
    page = {"title": "Titanic (1997 film)", "url": "u", "qid": "Q44578", "html": "<p>It was made in 1997.</p>"}
    write(folder / "wikipedia-pages" / "pages_with_qid.jsonl.gz", page)
    monkeypatch.setenv("CONVINSE_DATA", str(folder))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return folder


def test_the_bench_measures_prints_and_writes(small_data, capsys, monkeypatch):
    monkeypatch.setattr(bench_of_conversations, "MODULES", ("nc_prev",))
    arguments = ["--config", "lexical.yml", "--quick", "--work", "kept"]
    run(bench_of_conversations.SPEC, arguments)
    out = capsys.readouterr().out
    parts = read_json("results/bench/conversations.json")
    written = {part: row["figures"] for part, row in parts.items()}
    assert written["kb"]["conversations"] == 2 and list(written) == ["kb", "all", "speed"]
    runs = written["kb"]["runs"]
    assert runs.keys() == {"gold", "predicted"} and runs["gold"].keys() == {"nc_prev", "slots"}
    gold = runs["gold"]["slots"]
    assert (gold["all"]["turns"], gold["one_hop"]["turns"]) == (6, 4)
    assert (gold["one_hop"]["answer_presence"], gold["one_hop"]["p_at_1"]) == (1, 1)  # the year counts as the day
    assert written["kb"]["default_gold_lost"]["all"] == {"not in the knowledge base": 2}
    assert written["kb"]["default_gold_turns_with_pages"] == 0 < written["all"]["default_gold_turns_with_pages"]
    assert "slots (default)" in out and "8 turns, " in out
    for cache in ("cold", "warm"):
        assert written["speed"][cache]["turns"] == 8 and written["speed"][cache]["retrieval"] > 0
    failed = read_json("results/bench/conversations-failures-kb.json")
    assert "Who wrote the script?" in [told["question"] for told in failed]
    assert len(list(Path("kept").iterdir())) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--config", "nowhere.yml"], "bench conversations: nowhere.yml: no such configuration"),
        (["--config", "wrong.yml"], "bench conversations: qu: unknown module 'nc_prv'; did you mean 'nc_prev'"),
    ],
)
def test_wrong_names_show_before_anything_is_built(small_data, arguments, words):
    Path("wrong.yml").write_text("name: wrong\nqu: nc_prv\n")
    with pytest.raises(SystemExit, match=words):
        run(bench_of_conversations.SPEC, [*arguments, "--work", "kept"])
    assert not list(Path("kept").iterdir())
