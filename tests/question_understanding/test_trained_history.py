"""`qu: history`: what a model does to the choice of the history; the models here are set by hand, or the one that ships."""

import copy
import json
from pathlib import Path

import pytest

from convinse.config import load_config, parse_config, resolve
from convinse.pipeline import Pipeline
from convinse.question_understanding.history_weights import read_weights
from convinse.question_understanding.slots import Slots
from convinse.question_understanding.trained_history import TrainedHistory
from convinse.support.errors import ModelError
from convinse.support.registry import find_module
from convinse.testing import QuestionUnderstandingContract
from handmade import claim, q, world
from histories import BagOfWords, model
from written import write

ANSWERS_ONLY = model(answered_last=3.0)  # the turn before was answered with it
NOTHING = model(bias=-9.0)


@pytest.fixture
def make(world_kb):
    def module(weights, embedder=None, **keys):
        return TrainedHistory(parse_config({"qu": "history", **keys}), world_kb, weights, embedder or BagOfWords())

    return module


def play(module, *turns):
    """The last turn of a conversation of (question, answers as (id, label)), and its slots."""
    history = []
    for number, (question, *answers) in enumerate(turns):
        turn = {"turn": number, "question": question}
        module.inference_on_turn(turn, copy.deepcopy(history))
        history.append({**turn, "answers": [{"id": item, "label": label} for item, label in answers]})
    return history[-1], [slot.strip() for slot in history[-1]["structured_representation"].split("||")]


CAMERON, WINSLET = ("Q42574", "James Cameron"), ("Q202765", "Kate Winslet")
WHO_DIRECTED = ("Who directed Avatar?", CAMERON)


def test_it_has_a_name():
    assert find_module("qu", "history", Slots) is TrainedHistory


def test_a_first_turn_is_that_of_the_rules(make, world_kb):
    embedder = BagOfWords()
    _, slots = play(make(NOTHING, embedder), ("Who directed Avatar?",))
    assert slots == play(Slots(parse_config({}), world_kb), ("Who directed Avatar?",))[1]
    assert embedder.texts == [], "without a history no model is asked"


def test_what_is_likely_is_what_the_question_is_about(make):
    turn, slots = play(make(ANSWERS_ONLY), WHO_DIRECTED, ("When was he born?",))
    assert slots == ["", "James Cameron", "born", "date"]
    assert turn["resolved_question"] == "When was James Cameron born?"
    assert turn["history_used"] == [{"turn": 0, "part": "answer", "text": "James Cameron", "score": 0.881}]


def test_several_may_be_the_likeliest_first(make):
    weights = model(bias=0.0, threshold=0.5, answered_last=2.0, asked_last=1.0)
    turn, slots = play(make(weights), WHO_DIRECTED, ("When was he born?",))
    assert slots[1] == "James Cameron, Avatar"
    assert [part["score"] for part in turn["history_used"]] == [0.881, 0.731]
    assert play(make(weights, qu_history={"most": 1}), WHO_DIRECTED, ("When was he born?",))[1][1] == "James Cameron"


def test_what_is_far_less_likely_than_the_likeliest_is_not_meant(make):
    questions = (WHO_DIRECTED, ("When was he born?",))
    beside = play(make(model(bias=-1.3, threshold=0.1, answered_last=4.0)), *questions)[1]
    assert beside[1] == "James Cameron, Avatar"  # 0.21 beside 0.94
    alone = play(make(model(bias=-2.0, threshold=0.1, answered_last=4.0)), *questions)[1]
    assert alone[1] == "James Cameron"  # 0.12 beside 0.88


def test_names_of_its_own_want_a_likelier_context(make):
    likely, less = (model(bias=bias, threshold=0.1) for bias in (-0.3, -0.6))  # 0.43 and 0.35
    question = (WHO_DIRECTED, ("Where was Leonardo DiCaprio born?",))
    assert play(make(likely), *question)[1][0] != "" and play(make(less), *question)[1][:2] == ["", "Leonardo DiCaprio"]
    assert play(make(less), WHO_DIRECTED, ("When was he born?",))[1][1] != ""


def test_what_it_names_has_the_likely_things_as_context(make):
    turn, slots = play(make(ANSWERS_ONLY), WHO_DIRECTED, ("Did he direct Titanic?",))
    assert slots[:2] == ["James Cameron", "Titanic"]
    assert {part["text"] for part in turn["history_used"]} == {"James Cameron"}


def test_nothing_likely_is_a_new_topic(make):
    turn, slots = play(make(NOTHING), WHO_DIRECTED, ("Who directed Inception?",))
    assert slots[:2] == ["", "Inception"] and turn["history_used"] == []


def test_a_question_without_a_name_is_about_the_likeliest_all_the_same(make):
    _, slots = play(make(model(bias=-9.0, asked_last=1.0)), WHO_DIRECTED, ("When was that released?",))
    assert slots[:2] == ["", "Avatar"]


def test_what_is_asked_for_comes_from_the_turn_before_in_an_ellipsis(make):
    turn, slots = play(make(NOTHING), WHO_DIRECTED, ("What about Inception?",))
    assert slots == ["", "Inception", "directed", "person"]
    assert turn["resolved_question"] == "Who directed Inception?"
    assert turn["history_used"] == [{"turn": 0, "part": "question", "text": "directed"}]


@pytest.mark.parametrize("answers", [[], [("1954-08-16T00:00:00Z", "16 August 1954")], [("Q999999", "Nobody")]])
def test_answers_that_are_no_items_are_passed_over(make, answers):
    _, slots = play(make(ANSWERS_ONLY), ("Who directed Avatar?", *answers), ("And when was it released?",))
    assert slots[1] == "Avatar"


def test_empty_questions(make):
    module = make(ANSWERS_ONLY)
    assert play(module, ("",))[1] == ["", "", "", ""]
    assert play(module, ("",), ("",))[1] == ["", "", "", ""]
    assert play(module, WHO_DIRECTED, ("",))[1][:2] == ["", "James Cameron"]


def test_predicted_answers_count_like_gold_ones(make):
    module = make(ANSWERS_ONLY)
    gold = [{"question": "Who directed Avatar?", "answers": [{"id": CAMERON[0], "label": CAMERON[1]}]}]
    asked = [{"turn": number, "question": text} for number, text in enumerate(("Who directed Avatar?", "Born when?"))]
    pipeline = Pipeline(parse_config({"qu": "history", "ers_use_cache": False, "ers_wikipedia_dump": None}), qu=module)
    for use_gold, answer in ((True, CAMERON), (False, WINSLET)):
        turns = [{**asked[0], **gold[0]}, {**asked[1], "answers": [{"id": "x", "label": "x"}]}]
        pipeline.ha.inference_on_turns = lambda turns, sources: [
            turn.update(pred_answers=[{"answer": {"id": WINSLET[0], "label": WINSLET[1]}, "rank": 1, "score": 1.0}])
            for turn in turns
        ]
        (done,) = pipeline.run([{"conv_id": "a", "questions": turns}], "kb", use_gold_answers=use_gold)
        assert answer[1] in done["questions"][1]["structured_representation"]


def test_a_pronoun_of_the_other_gender_excludes_a_person(kb_of):
    documents = world()
    cameron = next(one for one in documents if one["id"] == CAMERON[0])
    cameron["claims"]["P21"] = [claim("P21", q("Q6581097"))]
    module = TrainedHistory(parse_config({"qu": "history"}), kb_of(*documents), ANSWERS_ONLY, BagOfWords())
    for question, entity in {
        "Is he married?": "James Cameron",
        "Is she married?": "Avatar",
        "Did he work with her?": "James Cameron",  # one of the two is his
        "Are they married?": "James Cameron",
    }.items():
        assert play(module, WHO_DIRECTED, (question,))[1][1] == entity
    assert play(module, WHO_DIRECTED, ("Did Kate Winslet say she liked it?",))[1][0] == "James Cameron"


def test_a_rival_that_is_near_nothing_is_a_new_topic_whatever_the_model_says(make):
    module = make(model(bias=3.0))
    assert play(module, WHO_DIRECTED, ("What about Inception?",))[1][:2] == ["", "Inception"]
    assert play(module, WHO_DIRECTED, ("Did he like Inception?",))[1][0] != "", "he is of what was before"
    assert play(module, WHO_DIRECTED, ("What about Titanic?",))[1][0] != "", "it is by the same director"


def test_another_topic_ends_what_was_before(make):
    module = make(model(bias=3.0), qu_history={"most": 9})  # which finds all of the history likely
    history = [
        {"question": "Who directed Inception?", "structured_representation": "|| Inception || directed || person"},
        {"question": "What about Avatar?", "structured_representation": "|| Avatar || directed || person"},
    ]
    for one, (item, label) in zip(history, (("Q25191", "Christopher Nolan"), CAMERON), strict=True):
        one["answers"] = [{"id": item, "label": label}]
    turn = {"turn": 2, "question": "And when was it released?"}
    assert module.inference_on_turn(turn, history).split(" || ")[:2] == ["", "James Cameron, Avatar"]
    assert {part["turn"] for part in turn["history_used"]} == {1}
    history[1]["structured_representation"] = "Inception || Avatar || directed || person"  # it was asked beside it
    assert "Inception" in module.inference_on_turn(turn, history)


# --- errors


def test_a_missing_model_is_named(world_kb, workdir):
    module = TrainedHistory(parse_config({"qu_model": "./none"}), world_kb, embedder=BagOfWords())
    with pytest.raises(ModelError, match="^qu_model: none/history.json: cannot be read"):
        play(module, WHO_DIRECTED, ("When was he born?",))


def test_another_encoder_than_that_of_the_training(world_kb, workdir):
    tiny = pytest.importorskip("tiny_models")
    folder = tiny.save_model(Path("other"), task="embedding")
    module = TrainedHistory(parse_config({"qu_history": {"encoder": str(folder)}, "device": "cpu"}), world_kb)
    with pytest.raises(ModelError, match="^qu_history.encoder: other is another model .* snapshot:history was trained"):
        play(module, WHO_DIRECTED, ("When was he born?",))


def test_an_encoder_that_is_not_there(world_kb):
    pytest.importorskip("torch")
    module = TrainedHistory(parse_config({"qu_history": {"encoder": "./none"}}), world_kb)
    with pytest.raises(ModelError, match="^qu_history.encoder: ./none: no such folder"):
        play(module, WHO_DIRECTED, ("When was he born?",))


def test_the_encoder_may_be_shared_with_the_other_stages(make):
    module = make(NOTHING)
    pipeline = Pipeline(parse_config({"qu": "history", "ers_use_cache": False}), qu=module)
    assert module.model_pool is pipeline.model_pool is pipeline.ers.model_pool


def test_embeddings_are_kept_where_the_cache_is(world_kb, workdir, monkeypatch):
    tiny = pytest.importorskip("tiny_models")
    folder = tiny.save_model(Path("tiny"), task="embedding")

    def embedder(**keys):
        config = parse_config(
            {"qu_history": {"encoder": str(folder)}, "device": "cpu", "ers_cache_path": "mine", **keys}
        )
        return TrainedHistory(config, world_kb).load_encoder()[0]

    alone = embedder(ers_use_cache=False).embed(["who wrote it"])
    assert not Path("mine").exists()
    assert (embedder().embed(["who wrote it"]) == alone).all()
    again = embedder()
    monkeypatch.setattr("convinse.encoder.bi_encoder.BiEncoder.embed", None)  # nothing is left to compute
    assert (again.embed(["who wrote it"]) == alone).all()


# --- the model that ships


def test_ask_shows_the_probabilities(command):
    pytest.importorskip("torch")
    asked = ["ask", "--config", write("my.yml", "name: mine\nqu: history\ndevice: cpu\n")]
    questions = ["Who directed Titanic?", "When was he born?"]
    _, second = command(*asked, *questions).split("\n> ")[1:]
    (line,) = [line for line in second.splitlines() if "from the history" in line]
    assert "James Cameron (answer of turn 0, 0." in line
    _, turn = json.loads(command(*asked, "--json", *questions))["questions"]
    (score,) = [part["score"] for part in turn["history_used"] if part["text"] == "James Cameron"]
    assert 0.5 < score <= 1


def test_slots_still_needs_no_model(run_python):
    run_python(
        "import sys\n"
        "from convinse import Pipeline\nfrom convinse.config import parse_config\n"
        "Pipeline(parse_config({'ers_use_cache': False})).ask(['Who directed Titanic?', 'When was he born?'], 'kb')\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )


class TestContract(QuestionUnderstandingContract):
    def config(self, **overrides):
        return super().config(qu="history", **overrides)

    def make(self, config):
        return TrainedHistory(config, weights=read_weights(resolve("snapshot:history")), embedder=BagOfWords())


def test_the_shipped_model_holds_the_conversation_of_the_readme():
    pytest.importorskip("transformers", reason="needs the extra neural")
    module = TrainedHistory(load_config("config.yml"))
    asked = [("Who directed the film Titanic?", CAMERON), ("And how long is it?", ("194", "194 minute"))]
    assert play(module, *asked)[1] == ["", "Titanic", "long", "number"]
    other = ("what about Blade Runner, who directed that one?", ("Q56005", "Ridley Scott"))
    assert play(module, *asked, other)[1] == ["", "Blade Runner", "directed", "person"]
    assert play(module, *asked, other, ("And who wrote it?",))[1] == ["", "Blade Runner", "wrote", "person"]
