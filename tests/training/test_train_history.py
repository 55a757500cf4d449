"""`train qu` for `qu: history`: from annotated files to a model that has learned what follow-ups are about."""

from pathlib import Path

import numpy as np
import pytest

import written
from convinse.cli import main
from convinse.config import parse_config
from convinse.encoder.checkpoint import folder_id
from convinse.question_understanding.history_weights import FILE, read_weights
from convinse.question_understanding.trained_history import TrainedHistory
from convinse.support.errors import DataError, OutputError
from convinse.training.history import best_threshold, measure, train_history
from convinse.training.trainer import _RECORD
from histories import BagOfWords
from opened import resources_of
from refusals import refused
from trainings import change_json, record

FILMS = {"Titanic": "Q44578", "Avatar": "Q24871", "Inception": "Q25188"}
DIRECTORS = {"Titanic": ("Q42574", "James Cameron"), "Avatar": ("Q42574", "James Cameron"), "Inception": ("Q25191", "Christopher Nolan")}  # fmt: skip


def conversation(film, follow_ups):
    """A first question about a film, then (question, whether it is about the director or the film)."""
    director, name = DIRECTORS[film]
    turns = [{"turn": 0, "question": f"Who directed {film}?", "answers": [{"id": director, "label": name}]}]
    for place, (question, who) in enumerate(follow_ups, 1):
        item = {"id": director, "label": name} if who == "director" else {"id": FILMS[film], "label": film}
        mention = {"turn": 0, "part": "question", "text": "it", "item": item, "evidences": 1}
        turns.append({"turn": place, "question": question, "answers": [], "silver_mentions": [mention]})
    return {"conv_id": film, "questions": turns}


FOLLOW_UPS = [("When was he born?", "director"), ("When was it released?", "film")]


def write(folder="results/mine", train=FOLLOW_UPS, dev=FOLLOW_UPS):
    for part, follow_ups in (("train", train), ("dev", dev)):
        written.write(Path(folder, f"annotated_{part}.json"), [conversation(film, follow_ups) for film in FILMS])


class Module(TrainedHistory):
    """With an encoder that is no neural model."""

    def load_encoder(self):
        return BagOfWords(), "bag"


@pytest.fixture
def module(world_kb, workdir):
    write()
    return lambda **keys: Module(
        parse_config({"name": "mine", "qu": "history", **keys}), resources=resources_of(world_kb)
    )


def test_a_model_learns_what_pronouns_mean(module):
    folder = train_history(module())
    assert folder == Path("results/mine/qu_model")
    assert record(folder)["dev, model"] == {"precision": 1.0, "recall": 1.0, "f2": 1.0}
    assert record(folder)["dev, slots"]["precision"] < 1
    weights = {feature.name: feature.weight for feature in read_weights(folder).features}
    assert weights["agrees"] > 0 > weights["disagrees"]
    assert "| agrees | +" in (folder / "README.md").read_text()
    trained = module(qu_model=str(folder))
    history = [{"question": "Who directed Titanic?", "structured_representation": "|| Titanic || directed || person",
                "answers": [{"id": "Q42574", "label": "James Cameron"}]}]  # fmt: skip
    turn = {"question": "When was he born?"}
    understanding = trained.inference_on_turn(turn, history)
    assert understanding["structured_representation"] == " || James Cameron || born || date"
    assert [part["text"] for part in understanding["history_used"]] == ["James Cameron"]


def test_training_twice_gives_the_same_bytes(module):
    folders = [train_history(module(qu_training={"output": f"models/{number}"})) for number in range(2)]
    for name in (FILE, _RECORD, "README.md"):
        assert len({(folder / name).read_bytes() for folder in folders}) == 1
    assert written.names("models") == ["0", "1"]


def test_what_it_was_trained_with_is_written(module, world_kb):
    origin = read_weights(train_history(module())).trained_with
    assert origin.kb == world_kb.build_id and origin.turns == 6 and len(origin.train) == 64
    write(train=FOLLOW_UPS[:1])
    assert read_weights(train_history(module())).trained_with.train != origin.train


def test_a_model_trained_anew_is_another_run(module):
    first = folder_id(train_history(module()))
    write(train=FOLLOW_UPS[:1])
    assert folder_id(train_history(module())) != first


def test_turns_that_tell_nothing_are_passed_over(module):
    write(train=[*FOLLOW_UPS, ("Who else?", "film")])

    def silence(conversations):
        for conversation in conversations:
            conversation["questions"][3]["silver_mentions"] = []

    change_json("results/mine/annotated_train.json", silence)
    assert read_weights(train_history(module())).trained_with.turns == 6


# --- errors


def test_a_missing_file_says_how_to_make_it(module):
    Path("results/mine/annotated_dev.json").unlink()
    refused(DataError, lambda: train_history(module()), "annotated_dev.json: no such file; run bash run.sh annotate")


def test_a_file_without_any_history_is_named(module):
    write(dev=[])
    message = "annotated_dev.json: its silver_mentions tell nothing of the history"
    refused(DataError, lambda: train_history(module()), message)
    assert not Path("results/mine/qu_model").exists()


@pytest.mark.parametrize("mentions", [3, ["he"], [{"turn": 0}], [{"turn": "0", "item": {}}]])
def test_broken_mentions_are_named_with_their_place(module, mentions):
    change_json(
        "results/mine/annotated_train.json", lambda content: content[1]["questions"][2].update(silver_mentions=mentions)
    )
    place = "annotated_train.json: conversation 'Avatar', turn 2: silver_mentions: "
    refused(DataError, lambda: train_history(module()), place)


def test_a_folder_of_the_user_is_not_replaced(module):
    Path("own").mkdir()
    Path("own/file").write_text("mine")
    refused(
        OutputError, lambda: train_history(module(qu_training={"output": "own"})), "name another qu_training.output"
    )


# --- the parts


def test_measures():
    chosen, wanted = np.array([True, True, False, False]), np.array([True, False, True, False])
    assert measure(chosen, wanted) == {"precision": 0.5, "recall": 0.5, "f2": 0.5}
    assert measure(~(chosen | ~chosen), wanted) == {"precision": 0, "recall": 0, "f2": 0}


def test_the_threshold_rather_takes_too_much_than_too_little():
    likely = np.array([0.1, 0.2, 0.3, 0.9])
    assert 0.3 < best_threshold(likely, np.array([False, False, False, True])) < 0.9
    assert 0.1 < best_threshold(likely, np.array([False, True, False, True])) < 0.2
    assert best_threshold(likely, np.ones(4, bool)) < 0.1


def test_the_command(workdir, capsys):
    pytest.importorskip("torch")
    write()
    Path("my.yml").write_text("name: mine\nqu: history\ndevice: cpu\n")
    assert main(["train", "qu", "my.yml"]) == 0
    assert "name it in qu_model" in capsys.readouterr().err
    assert read_weights(Path("results/mine/qu_model")).encoder
