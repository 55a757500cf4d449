"""`train ha` with `ha: seq2seq`: what is learned from, and that it is learned. What holds for every training: test_trainer."""

import copy
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.config import parse_config
from convinse.heterogeneous_answering.seq2seq import Seq2SeqAnswering
from convinse.support.errors import DataError, ModelError, NothingToTrainError
from convinse.training.fusion import FusionExample, fusion_example
from evidences import evidence
from refusals import refused
from tiny_models import tiny
from tiny_seq2seq import writer
from trainings import KINDS, change_json, record, same, weights
from written import write

TOLKIEN = ("the Professor", "Q892")
EVIDENCES = [evidence("a book"), evidence("the Professor wrote", "text", TOLKIEN), evidence("by Tolkien", "text")]


def learned(question="Who wrote it?", answer=("Q892", "Tolkien"), evidences=EVIDENCES, **keys):
    ha = Seq2SeqAnswering(parse_config({"ha": "seq2seq", "ha_model": "none", "ha_seq2seq": keys}))
    gold = [{"id": answer[0], "label": answer[1]}]
    return fusion_example(ha, {"question": question, "answers": gold, "top_evidences": copy.deepcopy(evidences)})


def test_the_name_of_the_best_evidence_is_to_be_written():
    texts = tuple(
        f"question: Who wrote it? context: {text}" for text in ("a book", "the Professor wrote", "by Tolkien")
    )
    assert learned() == FusionExample(texts, "the Professor")
    assert learned(evidences=EVIDENCES[::2]).wanted == "Tolkien"
    assert learned(evidences=EVIDENCES[:2], answer=("Q1", "nobody")) is None
    assert learned(evidences=[]) is None
    own = Seq2SeqAnswering(parse_config({"ha": "seq2seq", "ha_model": "none", "ha_seq2seq": {"evidences": 1}}))
    turn = {
        "question": "Who?",
        "answers": [{"id": "Q892", "label": "Tolkien"}],
        "top_evidences": copy.deepcopy(EVIDENCES),
    }
    assert fusion_example(own, turn) is None, "only what is read counts"


def test_yes_and_no_are_learned_from():
    assert learned("Is it a book?", ("Yes", "Yes")).wanted == "Yes"
    assert learned("Is it a book?", ("Q7", "seven")) is None


def test_the_command_lowers_the_loss_and_the_pipeline_takes_the_model(workdir, capfd):
    kind = KINDS["fusion"]()
    write("my.yml", kind.given("models/new", epochs=3))
    assert main(["train", "ha", "kb_text", "my.yml", "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")
    written = record("models/new")
    losses = [epoch["loss"] for epoch in written["epochs"]]
    assert len(losses) == 4 and written["best_epoch"] == losses.index(min(losses)) > 0
    assert min(losses) < 0.9 * losses[0]
    assert not same(weights("models/new", kind.task), weights(writer("t5", initializer_factor=1.0), kind.task))
    card = Path("models/new/README.md").read_text()
    for words in ("question: QUESTION title: ITEM", "- max_input_length: 60", "- learning_rate: 0.01", "P@1"):
        assert words in card, words
    write("my.yml", kind.given(model="models/new"))
    assert main(["pipeline", "kb_text", "my.yml", "--part", "dev", "--quiet"]) == 0


@pytest.mark.parametrize(
    ("base", "words"),
    [("./none", "ha_training.base: ./none: no such folder"), (tiny(), "BertConfig"), (None, "set ha_training: {base:")],
)
def test_a_base_that_cannot_be_trained(workdir, base, words):
    kind = KINDS["fusion"]()
    given = kind.given("new", base or "", model=None)
    if base is None:
        ha = Seq2SeqAnswering(parse_config(given), writer=object())
    else:
        ha = Seq2SeqAnswering(parse_config(given))
    refused((ModelError, NothingToTrainError), lambda: ha.train(("kb",)), words)


def test_nothing_to_learn_from(workdir):
    kind = KINDS["fusion"]()

    def nothing(conversations):
        for conversation in conversations:
            for turn in conversation["questions"]:
                turn |= {"answers": [{"id": "Q99999999", "label": "nothing of this name"}], "question": "Who?"}

    change_json("data/train.json", nothing)
    refused(DataError, lambda: kind.run("new"), "no evidence of the train part names a gold answer")
