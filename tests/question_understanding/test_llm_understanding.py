"""Question understanding with a language model: names become items, unknown ones stay text, other text is not a representation."""

import json

import pytest

from convinse.config import parse_config
from convinse.pipeline import Pipeline
from convinse.question_understanding.llm import LanguageModelUnderstanding
from convinse.testing import QuestionUnderstandingContract
from model_servers import completion, model_server

CAMERON, TITANIC = {"id": "Q42574", "label": "James Cameron"}, {"id": "Q44578", "label": "Titanic"}
FIRST = {"question": "Who directed Titanic?", "structured_representation": "Titanic", "answers": [CAMERON], "turn": 0}


def written(**slots):
    empty = {"question": "?", "context": [], "entities": [], "predicate": "", "answer_type": ""}
    return json.dumps({**empty, **slots})


def understood(text, question, *history):
    """What the module makes of a question where the model writes a text, and the conversation that it was shown."""
    with model_server(lambda body, request: completion(text)) as server:
        config = parse_config({"qu": "llm", "ers_use_cache": False, "qu_llm": {"base_url": server.url, "model": "m"}})
        result = LanguageModelUnderstanding(config).inference_on_turn({"question": question}, history)
    return result, server.requests[0].body["messages"][1]["content"].splitlines()


class TestContract(QuestionUnderstandingContract):
    @pytest.fixture(autouse=True)
    def served(self):
        def reply(body, request):
            question = body["messages"][1]["content"].splitlines()[-2].removeprefix("Q: ")
            return completion(written(question=question, entities=["Titanic"], predicate=question))

        with model_server(reply) as server:
            self.url = server.url
            yield

    def config(self, **overrides):
        return super().config(qu_llm={"base_url": self.url, "model": "m"}, **overrides)

    def make(self, config):
        return LanguageModelUnderstanding(config)


def test_a_name_from_the_history_keeps_its_item_and_is_noted():
    text = written(
        question="When was James Cameron born?", entities=["James Cameron"], predicate="born", answer_type="date"
    )
    result, shown = understood(text, "When was he born?", FIRST)
    assert shown[1:-1] == ["Q: Who directed Titanic?", "A: James Cameron", "Q: When was he born?"]
    assert result["structured_representation"] == " || James Cameron || born || date"
    assert result["resolved_question"] == "When was James Cameron born?"
    assert result["representation"]["entities"] == [CAMERON]
    assert result["history_used"] == [{"turn": 0, "part": "answer", "text": "James Cameron"}]
    assert result["qu_tokens"] == {"prompt": 100, "completion": 10}


def test_a_name_that_may_mean_several_items_keeps_all_of_them():
    result, _ = understood(written(question="Who directed Titanic?", entities=["Titanic"]), "Who directed Titanic?")
    meanings = [candidate["item"]["id"] for candidate in result["representation"]["candidates"]]
    assert result["representation"]["entities"][0]["id"] == meanings[0] and TITANIC["id"] in meanings


def test_a_name_without_an_item_stays_text():
    text = written(
        question="Where was Zyxgrub Quoll born?", entities=["Zyxgrub Quoll"], context=["Titanic"], predicate="born"
    )
    result, _ = understood(text, "Where was Zyxgrub Quoll born?")
    assert [name["name"] for name in result["representation"]["unlinked"]] == ["Zyxgrub Quoll"]
    assert result["representation"]["entities"] == []
    assert [entity["label"] for entity in result["representation"]["context"]] == ["Titanic"]


@pytest.mark.parametrize(
    "text",
    [
        "", "Who directed Titanic?", '{"question": "x"}', written(question=""), written(question="x" * 501),
        written(question="Where was Douglas Adams born?", entities=["Douglas Adams"]),  # of another conversation
    ],
)  # fmt: skip
def test_a_question_stands_for_itself_where_the_model_writes_no_representation(text):
    result, _ = understood(text, "Who directed Titanic?")
    assert result == {
        "structured_representation": "Who directed Titanic?",
        "qu_tokens": {"prompt": 100, "completion": 10},
    }


def test_of_a_long_conversation_the_latest_turns_are_shown():
    history = [{**FIRST, "question": f"Question number {n}, {'x' * 300}", "turn": n} for n in range(100)]
    _, shown = understood(written(), "And then?", *history)
    assert "number 99" in shown[-4] and 10 < len(shown) < 100 and shown[-2] == "Q: And then?"


def test_turns_of_all_conversations_are_asked_about_together():
    conversations = [
        {"conv_id": str(n), "questions": [{"turn": 0, "question": f"Who directed Titanic {n}?", "answers": [CAMERON]}]}
        for n in range(5)
    ]
    with model_server(lambda body, request: completion(written(entities=["Titanic"]))) as server:
        config = parse_config({"qu": "llm", "ers_use_cache": False, "qu_llm": {"base_url": server.url, "model": "m"}})
        with Pipeline(config) as pipeline:
            assert pipeline.conversations_at_once == 8
            done = pipeline.run(conversations, "kb", until="ers")
    assert len(server.requests) == 5
    assert all(conversation["questions"][0]["top_evidences"] for conversation in done)
