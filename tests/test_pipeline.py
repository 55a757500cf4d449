"""The pipeline: what flows between the stages, with gold and with predicted answers."""

import copy

import pytest

from convinse import EvidenceRetrievalScoring, HeterogeneousAnswering, Pipeline, QuestionUnderstanding, load_config
from convinse.config import parse_config
from convinse.formats.convmix import read_conversations
from convinse.support.errors import ConfigError, DataError
from evidences import evidence
from refusals import refused

CONFIG = parse_config({"ers_use_cache": False})


class Recorder(QuestionUnderstanding):
    def __init__(self, config):
        super().__init__(config)
        self.histories = []

    def inference_on_turn(self, turn, history_turns):
        self.histories.append([(t["question"], [a["id"] for a in t["answers"]]) for t in history_turns])
        turn["structured_representation"] = turn["question"]
        return turn["structured_representation"]


class OneEvidence(EvidenceRetrievalScoring):
    def inference_on_turn(self, turn, sources):
        return [evidence(turn["question"], sources[0], ("one", "Q1"))]


class FixedAnswer(HeterogeneousAnswering):
    def inference_on_turn(self, turn, sources):
        return [{"answer": {"id": "Q9", "label": "nine"}, "score": 1.0, "rank": 1}]


def conversations():
    return [
        {"conv_id": "a", "extra": 1, "questions": [
            {"turn": 0, "question": "one?", "answers": [{"id": "Q1", "label": "one"}], "note": "kept"},
            {"turn": 1, "question": "two?", "answers": [{"id": "Q2", "label": "two"}]},
        ]},
        {"conv_id": "b", "questions": [{"turn": 0, "question": "three?", "answers": [{"id": "q9", "label": ""}]}]},
    ]  # fmt: skip


def make(qu=None, ers=None, ha=None, config=CONFIG):
    stages = {"qu": qu or Recorder(config), "ers": ers or OneEvidence(config), "ha": ha or FixedAnswer(config)}
    return Pipeline(config, **stages)


def test_a_conversation_that_is_nested_too_deep_is_named():
    deep = []
    for _ in range(5000):
        deep = [deep]
    first, second = conversations()
    refused(
        DataError, lambda: make().run([first, {**second, "more": deep}], "kb"), "conversation 'b'", "nested too deep"
    )


@pytest.mark.parametrize(("keys", "answer_id"), [({}, "Q1"), ({"use_gold_answers": False}, "Q9")])
def test_earlier_turns_have_their_gold_or_predicted_answers(keys, answer_id):
    qu = Recorder(CONFIG)
    make(qu).run(conversations(), "kb", **keys)
    assert qu.histories == [[], [], [("one?", [answer_id])]]


@pytest.mark.parametrize("gold", [True, False])
def test_one_turn_of_every_conversation_is_understood_at_a_time(gold):
    class Batches(Recorder):
        def inference_on_turns(self, turns, histories):
            self.seen.append(([turn["question"] for turn in turns], [len(history) for history in histories]))
            return [turn["question"].upper() for turn in turns]

    qu = Batches(CONFIG)
    qu.seen = []
    done = make(qu).run(conversations(), "kb", gold)
    assert qu.seen == [(["one?", "three?"], [0, 0]), (["two?"], [1])]
    assert [turn["structured_representation"] for c in done for turn in c["questions"]] == ["ONE?", "TWO?", "THREE?"]


def test_the_largest_batch_of_the_stages_is_asked_for():
    qu, ers = Recorder(CONFIG), OneEvidence(CONFIG)
    assert make(qu, ers).conversations_at_once == 1
    qu.conversations_at_once, ers.conversations_at_once = 3, 2
    assert make(qu, ers).conversations_at_once == 3
    ers.conversations_at_once = 32
    assert make(qu, ers).conversations_at_once == 32


def test_turns_get_the_documented_keys_and_keep_their_own():
    input_ = conversations()
    before = copy.deepcopy(input_)
    done = make().run(input_, "text_kb")
    assert input_ == before
    first = done[0]["questions"][0]
    assert done[0]["extra"] == 1 and first["note"] == "kept"
    assert first["answer_presence"] is True and first["answer_presence_per_src"] == {"kb": True, "text": False}
    assert (first["p_at_1"], first["mrr"], first["h_at_5"]) == (0.0, 0.0, 0.0)
    assert done[1]["questions"][0]["p_at_1"] == 1.0  # ids without regard to case


def test_a_second_run_does_not_see_the_results_of_the_first():
    done = make().run(conversations(), "kb")
    done[0]["questions"][0] |= {
        "history_used": [{"turn": 9, "part": "answer", "text": "old"}],
        "resolved_question": "old",
    }

    class Silent(OneEvidence):
        def inference_on_turn(self, turn, sources):
            assert "top_evidences" not in turn and "pred_answers" not in turn
            return []

    again = make(ers=Silent(CONFIG)).run(done, "kb")
    assert all(turn["top_evidences"] == [] for c in again for turn in c["questions"])
    assert not {"history_used", "resolved_question"} & again[0]["questions"][0].keys()


def test_a_pipeline_takes_the_name_of_a_configuration_and_a_single_question():
    with Pipeline("lexical.yml") as pipeline:
        assert pipeline.config == load_config("lexical.yml")
        (turn,) = pipeline.ask("Who directed the film Titanic?", "kb")["questions"]
    assert turn["pred_answers"][0]["answer"]["label"] == "James Cameron"


def test_the_turns_of_a_conversation_come_as_they_are_answered(lexical):
    """The same as all at once; before a turn is asked for, nothing of it is understood."""
    questions = ["Who directed the film Titanic?", "When was he born?"]
    turns = lexical.turns(questions, "kb_text")
    first = copy.deepcopy(next(turns))
    assert first["pred_answers"][0]["answer"]["label"] == "James Cameron"
    seconds = dict(lexical.seconds)
    assert [first, *turns] == lexical.ask(questions, "kb_text")["questions"]
    assert all(lexical.seconds[stage] > seconds[stage] > 0 for stage in seconds)
    refused(ConfigError, lambda: next(lexical.turns(questions, "kb_txt")), "kb, text, table, info")


@pytest.mark.slow
def test_results_do_not_depend_on_the_cache(tmp_path):
    data = read_conversations(load_config().input_path("dev"))[:1]
    plain = Pipeline(load_config(ers_use_cache=False)).run(data)
    cached = load_config(ers_cache_path=str(tmp_path / "cache"))
    for _ in range(2):
        with Pipeline(cached) as pipeline:
            assert pipeline.run(data) == plain


def test_a_question_without_words_has_no_answer(lexical):
    (turn,) = lexical.ask(["?!"])["questions"]
    assert turn["pred_answers"] == []
