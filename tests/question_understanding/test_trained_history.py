"""`qu: history`: what a model does to the choice of the history; the models here are set by hand, or the one that ships."""

from pathlib import Path

import pytest

from convinse.config import load_config, parse_config, resolve
from convinse.pipeline import Pipeline
from convinse.question_understanding.history_weights import read_weights
from convinse.question_understanding.slots import Slots
from convinse.question_understanding.trained_history import TrainedHistory
from convinse.support.errors import ModelError
from convinse.testing import QuestionUnderstandingContract
from handmade import claim, q, world
from histories import BagOfWords, model, play
from opened import resources_of

ANSWERS_ONLY = model(answered_last=3.0)  # the turn before was answered with it
NOTHING = model(bias=-9.0)


def made(config, weights, embedder=None, resources=None):
    module = TrainedHistory(config, resources)
    module.weights, module.embedder = weights, embedder or BagOfWords()
    return module


@pytest.fixture
def make(world_kb):
    def module(weights, embedder=None, **keys):
        return made(parse_config({"qu": "history", **keys}), weights, embedder, resources_of(world_kb))

    return module


CAMERON = ("Q42574", "James Cameron")
WHO_DIRECTED = ("Who directed Avatar?", CAMERON)


def test_a_first_turn_is_that_of_the_rules(make, world_kb):
    embedder = BagOfWords()
    _, slots = play(make(NOTHING, embedder), ("Who directed Avatar?",))
    assert slots == play(Slots(parse_config({}), resources_of(world_kb)), ("Who directed Avatar?",))[1]
    assert embedder.texts == [], "without a history no model is asked"


BORN, SEVERAL = "When was he born?", model(bias=0.0, threshold=0.5, answered_last=2.0, asked_last=1.0)
LIKELY, LESS_LIKELY = (model(bias=bias, threshold=0.1) for bias in (-0.3, -0.6))  # 0.43 and 0.35
EVERYTHING = model(bias=3.0)
# by rule: (weights, question after `WHO_DIRECTED`, the slots from the first on)
CHOSEN = {
    "what is likely is what the question is about": [(ANSWERS_ONLY, BORN, ["", "James Cameron", "born", "date"])],
    "several may be, the likeliest first": [(SEVERAL, BORN, ["", "James Cameron, Avatar"])],
    "what is far less likely than the likeliest is not meant": [
        (model(bias=-1.3, threshold=0.1, answered_last=4.0), BORN, ["", "James Cameron, Avatar"]),  # 0.21 beside 0.94
        (model(bias=-2.0, threshold=0.1, answered_last=4.0), BORN, ["", "James Cameron"]),  # 0.12 beside 0.88
    ],
    "names of its own want a likelier context": [
        (LIKELY, "Where was Leonardo DiCaprio born?", ["James Cameron, Avatar"]),
        (LESS_LIKELY, "Where was Leonardo DiCaprio born?", ["", "Leonardo DiCaprio"]),
        (LESS_LIKELY, BORN, ["", "James Cameron, Avatar"]),
    ],
    "what it names has the likely things as context": [
        (ANSWERS_ONLY, "Did he direct Titanic?", ["James Cameron", "Titanic"]),
    ],
    "nothing likely is a new topic": [(NOTHING, "Who directed Inception?", ["", "Inception"])],
    "a question without a name is about the likeliest all the same": [
        (model(bias=-9.0, asked_last=1.0), "When was that released?", ["", "Avatar"]),
    ],
    "what is asked for comes from the turn before in an ellipsis": [
        (NOTHING, "What about Inception?", ["", "Inception", "directed", "person"]),
    ],
    "a rival that is near nothing is a new topic whatever the model says": [
        (EVERYTHING, "What about Inception?", ["", "Inception"]),
        (EVERYTHING, "Did he like Inception?", ["James Cameron, Avatar"]),  # he is of what was before
        (EVERYTHING, "What about Titanic?", ["James Cameron, Avatar"]),  # it is by the same director
    ],
}  # fmt: skip


@pytest.mark.parametrize("rule", CHOSEN)
def test_what_of_the_history_a_question_is_about(make, rule):
    for weights, question, slots in CHOSEN[rule]:
        assert play(make(weights), WHO_DIRECTED, (question,))[1][: len(slots)] == slots


def test_at_most_so_many(make):
    assert play(make(SEVERAL, qu_history={"most": 1}), WHO_DIRECTED, (BORN,))[1][1] == "James Cameron"


@pytest.mark.parametrize(
    ("weights", "question", "used", "resolved"),
    [
        (ANSWERS_ONLY, BORN, [("answer", "James Cameron", 0.881)], "When was James Cameron born?"),
        (SEVERAL, BORN, [("answer", "James Cameron", 0.881), ("question", "Avatar", 0.731)], None),
        (ANSWERS_ONLY, "Did he direct Titanic?", [("answer", "James Cameron", 0.881)], None),
        (NOTHING, "Who directed Inception?", [], None),
        (NOTHING, "What about Inception?", [("question", "directed", None)], "Who directed Inception?"),
    ],
)
def test_the_history_used_and_the_question_in_full(make, weights, question, used, resolved):
    turn, _ = play(make(weights), WHO_DIRECTED, (question,))
    assert all(part["turn"] == 0 for part in turn["history_used"])
    assert [(part["part"], part["text"], part.get("score")) for part in turn["history_used"]] == used
    assert resolved in (None, turn["resolved_question"])


@pytest.mark.parametrize("answers", [[], [("1954-08-16T00:00:00Z", "16 August 1954")], [("Q999999", "Nobody")]])
def test_answers_that_are_no_items_are_passed_over(make, answers):
    _, slots = play(make(ANSWERS_ONLY), ("Who directed Avatar?", *answers), ("And when was it released?",))
    assert slots[1] == "Avatar"


def test_empty_questions(make):
    module = make(ANSWERS_ONLY)
    assert play(module, ("",))[1] == ["", "", "", ""]
    assert play(module, ("",), ("",))[1] == ["", "", "", ""]
    assert play(module, WHO_DIRECTED, ("",))[1][:2] == ["", "James Cameron"]


def test_a_pronoun_of_the_other_gender_excludes_a_person(kb_of):
    documents = world()
    cameron = next(one for one in documents if one["id"] == CAMERON[0])
    cameron["claims"]["P21"] = [claim("P21", q("Q6581097"))]
    module = made(parse_config({"qu": "history"}), ANSWERS_ONLY, resources=resources_of(kb_of(*documents)))
    for question, entity in {
        "Is he married?": "James Cameron",
        "Is she married?": "Avatar",
        "Did he work with her?": "James Cameron",  # one of the two is his
        "Are they married?": "James Cameron",
    }.items():
        assert play(module, WHO_DIRECTED, (question,))[1][1] == entity
    context = play(module, WHO_DIRECTED, ("Did Kate Winslet say she liked it?",))[1][0]
    assert context.split(", ") == ["Avatar", "James Cameron"]  # "it" is no person


def test_another_topic_ends_what_was_before(make):
    module = make(model(bias=3.0), qu_history={"most": 9})  # which finds all of the history likely
    history = [
        {"question": "Who directed Inception?", "structured_representation": "|| Inception || directed || person"},
        {"question": "What about Avatar?", "structured_representation": "|| Avatar || directed || person"},
    ]
    for one, (item, label) in zip(history, (("Q25191", "Christopher Nolan"), CAMERON), strict=True):
        one["answers"] = [{"id": item, "label": label}]
    turn = {"turn": 2, "question": "And when was it released?"}
    understanding = module.inference_on_turn(turn, history)
    assert understanding["structured_representation"].split(" || ")[:2] == ["", "James Cameron, Avatar"]
    assert {part["turn"] for part in understanding["history_used"]} == {1}
    history[1]["structured_representation"] = "Inception || Avatar || directed || person"  # it was asked beside it
    assert "Inception" in module.inference_on_turn(turn, history)["structured_representation"]


# --- errors


def test_another_encoder_than_that_of_the_training(workdir):
    tiny = pytest.importorskip("tiny_models")
    folder = tiny.save_model(Path("other"), task="embedding")
    module = TrainedHistory(parse_config({"qu_history": {"encoder": str(folder)}, "device": "cpu"}))
    with pytest.raises(ModelError, match="^qu_history.encoder: other is another model .* snapshot:history was trained"):
        play(module, WHO_DIRECTED, ("When was he born?",))


def test_an_encoder_that_is_not_there():
    pytest.importorskip("torch")
    module = TrainedHistory(parse_config({"qu_history": {"encoder": "./none"}}))
    with pytest.raises(ModelError, match="^qu_history.encoder: ./none: no such folder"):
        play(module, WHO_DIRECTED, ("When was he born?",))


def test_the_encoder_may_be_shared_with_the_other_stages():
    pipeline = Pipeline(parse_config({"qu": "history", "ers_use_cache": False}))
    assert pipeline.qu.resources is pipeline.resources is pipeline.ers.resources is pipeline.ha.resources


def test_embeddings_are_kept_where_the_cache_is(workdir, monkeypatch):
    tiny = pytest.importorskip("tiny_models")
    folder = tiny.save_model(Path("tiny"), task="embedding")

    def embedder(**keys):
        config = parse_config(
            {"qu_history": {"encoder": str(folder)}, "device": "cpu", "ers_cache_path": "mine", **keys}
        )
        return TrainedHistory(config).load_encoder()[0]

    alone = embedder(ers_use_cache=False).embed(["who wrote it"])
    assert not Path("mine").exists()
    assert (embedder().embed(["who wrote it"]) == alone).all()
    again = embedder()
    monkeypatch.setattr("convinse.encoder.bi_encoder.BiEncoder.embed", None)  # nothing is left to compute
    assert (again.embed(["who wrote it"]) == alone).all()


# --- the model that ships


class TestContract(QuestionUnderstandingContract):
    def config(self, **overrides):
        return super().config(qu="history", **overrides)

    def make(self, config):
        return made(config, read_weights(resolve("snapshot:history")))


def test_the_shipped_model_holds_the_conversation_of_the_readme():
    pytest.importorskip("transformers", reason="needs the extra neural")
    module = TrainedHistory(load_config("config.yml"))
    asked = [("Who directed the film Titanic?", CAMERON), ("And how long is it?", ("194", "194 minute"))]
    assert play(module, *asked)[1] == ["", "Titanic", "long", "number"]
    other = ("what about Blade Runner, who directed that one?", ("Q56005", "Ridley Scott"))
    assert play(module, *asked, other)[1] == ["", "Blade Runner", "directed", "person"]
    assert play(module, *asked, other, ("And who wrote it?",))[1] == ["", "Blade Runner", "wrote", "person"]
