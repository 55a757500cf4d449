"""`bench history`: what a question needs, how choices are counted, what weights are learnt of, and the whole bench."""

import zlib

import numpy as np
import pytest

from bench.harness import run
from bench.history import __main__ as bench_of_history
from bench.history import items, words
from convinse.language.language import english
from convinse.question_understanding.history_features import ReferentFeatures
from handmade import dump_bytes, world
from written import read_json, write, write_lines

WORDS = english().words


def turn(number, question, answers=(), **keys):
    return {"turn": number, "question": question, "answers": [{"id": name, "label": name} for name in answers], **keys}


HISTORY = [turn(0, "Who directed Titanic?", ["James Cameron"]), turn(1, "And the music?", ["James Horner"])]


def used(number, part, text):
    return {"turn": number, "part": part, "text": text}


# -- words -------------------------------------------------------------------------------------------------------------


def needs(completed, *parts):
    asked = turn(2, "When was he born?", completed=completed, history_used=list(parts))
    return words.needs_of(asked, HISTORY, WORDS)


def test_needed_are_added_words_that_the_history_has():
    found = needs("When was James Cameron of Canada born?", used(0, "answer", "James Cameron"))
    assert (found.needed, found.taken, found.both, found.reached) == (2, 2, 2, 2)  # nothing says Canada


def test_parts_are_right_that_hold_a_needed_word():
    parts = [used(0, "answer", "James Cameron"), used(1, "question", "music")]
    found = needs("When was Cameron born?", *parts)
    assert (found.needed, found.taken, found.both) == (1, 3, 1)
    assert (found.parts, found.right_parts, found.reached) == (2, 1, 1)


def test_a_part_reaches_words_that_were_not_taken_of_it():
    found = needs("When was James Horner born?", used(1, "answer", "Horner"))
    assert (found.needed, found.both, found.reached) == (2, 1, 2)


def test_word_figures_are_over_all_words():
    rows = [words.Needs(2, 2, 2, 1, 1, 2), words.Needs(2, 4, 1, 3, 1, 2), words.Needs(0, 1, 0, 1, 0, 0)]
    figures = words.word_figures(rows, ["a", "a", "b"])
    assert figures["precision"] == 3 / 7 and figures["recall"] == 3 / 4
    assert figures["f1"].value == pytest.approx(6 / 11) and figures["f1"].low < figures["f1"].value < figures["f1"].high
    assert figures["parts_right"] == 2 / 5 and figures["parts_reach"] == 1 and figures["decided"] == 2 / 3


def test_an_interval_draws_whole_groups():
    values = np.array([0.0, 1.0, 0.0, 1.0])
    assert words.interval(["a", "a", "b", "b"], lambda drawn: values[drawn].mean()) == (0.5, 0.5, 0.5)
    wide = words.interval(["a", "b", "a", "b"], lambda drawn: values[drawn].mean())
    assert wide == (0.5, 0, 1) and f"{wide:+.1f}" == "+0.5 (+0.0 to +1.0)"
    assert words.interval([], len) == (0, 0, 0)


# -- items -------------------------------------------------------------------------------------------------------------


def table(wanted, question, groups, agrees=None):
    features = np.zeros((len(wanted), len(ReferentFeatures._fields)))
    features[:, ReferentFeatures._fields.index("agrees")] = wanted if agrees is None else agrees
    wanted = np.array(wanted, bool)
    turns = [(0, place) for place in range(len(groups))]
    return items.ItemTable(features, wanted, ["Q1"] * len(wanted), np.array(question), turns, groups, {})


def test_choices_and_their_gain():
    own = table([1, 0, 1, 0], [0, 0, 1, 1], ["a", "b"])
    figures = items.choice_figures(own, own.wanted, np.array([True, True, False, False]))
    assert (figures["precision"], figures["recall"], figures["f1"]) == (1, 1, 1)
    assert figures["f1_gain"].value == 0.5
    assert items.choice_figures(own, ~own.wanted)["f1"] == 0


def test_rankings_and_their_gain():
    own = table([1, 0, 0, 1, 0], [0, 0, 1, 1, 2], ["a", "b", "c"])
    likely = np.array([0.9, 0.1, 0.6, 0.5, 0.5])
    figures = items.ranking_figures(own, likely, np.array([0.9, 0.1, 0.5, 0.6, 0.5]))
    assert figures["first"] == 0.5 and figures["map"] == 0.75  # nothing is wanted of the third
    expected = [np.log(0.9), (np.log(0.4) + np.log(0.5)) / 2, np.log(0.5)]
    assert figures["loss"] == pytest.approx(-np.mean(expected))
    assert figures["map_gain"].value == -0.25 and figures["loss_gain"].value > 0


def group_of_fold(fold):
    return next(name for name in map(str, range(1000)) if zlib.crc32(name.encode()) % items.FOLDS == fold)


def test_weights_saw_nothing_of_the_fold_that_they_are_for():
    """In one fold the pronoun means the opposite: only the weights of that fold have not learnt so."""
    groups = [group_of_fold(fold) for fold in range(items.FOLDS) for _ in range(20)]
    question = np.repeat(np.arange(len(groups)), 2)
    wanted = np.tile([1, 0], len(groups))
    odd = items.FOLDS - 1
    agrees = np.where(np.repeat([items.fold_of(group) == odd for group in groups], 2), 1 - wanted, wanted)
    tables = {"all": table(wanted, question, groups, agrees)}
    weights = items.learnt_weights("all", tables, ["all"], "encoder")
    slopes = [own.features[ReferentFeatures._fields.index("agrees")].weight for own in weights]
    assert len(slopes) == items.FOLDS and slopes[odd] > max(slopes[:odd]) > 0
    likely = items.probabilities(tables["all"], weights)
    assert (likely[wanted == 1][:20] > 0.5).all() and (likely[wanted == 1][-20:] < 0.5).all()
    others = items.learnt_weights("other", tables, ["all"], "encoder")
    assert len({own.bias for own in others}) == 1


def test_sets_of_different_sizes_count_alike():
    many, few = (
        table([1, 0] * 60, np.arange(120), ["a"] * 120, [1, 0] * 60),
        table([0, 1] * 6, np.arange(12), ["b"] * 12, [1, 0] * 6),
    )
    tables = {"many": many, "few": few}
    weights = items.learn(tables, {name: np.ones(len(own.wanted), bool) for name, own in tables.items()}, "encoder")
    assert weights.features[ReferentFeatures._fields.index("agrees")].weight == pytest.approx(0, abs=1e-6)


# -- the whole bench ---------------------------------------------------------------------------------------------------


def test_the_bench_measures_prints_and_writes(workdir, monkeypatch, capsys):
    folder = workdir / "data"
    write(folder / "wikidata-27k" / "wikidata-27k.json.gz", dump_bytes(world()).decode())
    dialogs = []
    for dialog in range(3):
        history = ["Who made it?", "James Cameron did."]
        both = [
            ([], "Who made it?", "Who made Titanic?"),
            (history, "When was he born?", "When was James Cameron born?"),
        ]
        dialogs += [
            {
                "dialog_id": str(dialog),
                "article": article,
                "section": "",
                "history": own,
                "question": asked,
                "rewrite": rewrite,
            }
            for article in [("Titanic", "Titanic (film)", "Nobody At All")[dialog]]
            for own, asked, rewrite in both
        ]
    write_lines(folder / "hybrid" / "canard-dev.jsonl.gz", *dialogs)
    monkeypatch.setenv("CONVINSE_DATA", str(folder))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(bench_of_history, "MODULES", ("nc_prev", "slots"))
    run(bench_of_history.SPEC, ["--quick", "--work", "kept"])
    written = {part: row["figures"] for part, row in read_json("results/bench/history.json").items()}
    assert list(written) == ["words", "items", "answers"]
    canard = written["words"]["canard"]
    assert canard["questions"] == 3 and canard["need_history"] == 1 and canard["nc_prev"]["recall"] == 1
    assert canard["slots"]["recall"] == 1 and canard["slots"]["precision"] > canard["nc_prev"]["precision"]
    assert written["words"]["canard, article known"]["questions"] == 2
    known = written["items"]["canard, article known"]
    assert known["all"]["recall"] == 1 and known["history"]["recall"] == 1 and "f1_gain" in known["history, learnt"]
    assert written["answers"]["test, gold"]["history"]["better"] == 0
    out = capsys.readouterr().out
    assert "history, learnt" in out and "whether at all" in out
