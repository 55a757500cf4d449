"""Chat completions in OpenAI's shape: by hand, and by OpenAI's own client where it is installed."""

import pytest
from tokenizers import Tokenizer

from case_tables import each_case
from convinse.serving.api import ServiceOptions, create_app
from convinse.serving.chat_completions import ChatMessage, ChatRequest, chat_question, session_after
from loopback import served
from places import ROOT
from services import ask, events, exchange

QUESTIONS = ["who directed Titanic?", "when was it released?", "who played Rose in it?", "when was she born?"]
PATH = "/v1/chat/completions"
TOKEN = "of-sixteen-letters"
LONG_LINE = "a (score 1; not sure: " * 100_000  # which a pattern would try in quadratic time


@pytest.fixture(scope="module")
def server(pipeline):
    with served(create_app(pipeline, ServiceOptions(token=TOKEN))) as port:
        yield port


def message(role, content):
    return {"role": role, "content": content}


def completed(port, messages, status=200, **more):
    return exchange(port, "POST", PATH, {"messages": messages, **more}, status, Authorization=f"Bearer {TOKEN}")


def test_messages_are_the_conversation(server, pipeline):
    messages, turns = [message("system", "Be brief.")], []
    for question in QUESTIONS:
        messages.append(message("user", question))
        value = completed(server, messages, model="convinse:kb_text", temperature=0.2, user="x")
        turns.append(value["convinse"])
        (choice,) = value["choices"]
        assert choice["finish_reason"] == "stop" and value["model"] == "convinse:kb_text"
        messages.append(choice["message"])
    assert turns == pipeline.ask(QUESTIONS, "kb_text")["questions"]
    assert len(pipeline.calls) >= len(QUESTIONS) and {len(call) for call in pipeline.calls} == {1}


def test_an_answer_is_a_line_and_its_evidences(server):
    value = completed(server, [message("user", [{"type": "text", "text": QUESTIONS[0]}])])
    first, empty, *evidences = value["choices"][0]["message"]["content"].split("\n")
    best = value["convinse"]["pred_answers"][0]
    assert first == f"James Cameron (Q42574, score {best['score']:.2f})" and empty == ""
    shown = [value["convinse"]["top_evidences"][place] for place in best["evidences"]]
    expected = [f"[{n}] {evidence['evidence_text']} ({evidence['source']})" for n, evidence in enumerate(shown, 1)]
    assert evidences == expected[:5]


def earlier_answers(text):
    """The (id, label) of the answers of an earlier turn."""
    messages = [
        ChatMessage(role="assistant", content="Hello!"),
        ChatMessage(role="user", content="a"),
        ChatMessage(role="assistant", content=text),
    ]
    _, (turn,) = chat_question(ChatRequest(messages=[*messages, ChatMessage(role="user", content="b")]))
    return [[answer["answer"]["id"], answer["answer"]["label"]] for answer in turn["pred_answers"]]


@each_case("chat_answers", "answer")
def test_an_earlier_answer_is_read_from_its_first_line(case):
    assert earlier_answers(case["line"]) == ([case["answer"]] if case["answer"] else [])


@pytest.mark.parametrize("line", ["x" * 1000, LONG_LINE])
def test_a_long_line_is_cut(line):
    assert earlier_answers(line) == [["", line[:300]]]


@each_case("chat_answers", "question")
def test_an_answer_of_another_program_is_the_entity_that_its_line_names(pipeline, case):
    messages = [ChatMessage(role="user", content=case["question"]), ChatMessage(role="assistant", content=case["line"])]
    _, earlier = chat_question(ChatRequest(messages=[*messages, ChatMessage(role="user", content="When was he born?")]))
    (turn,) = session_after(pipeline, ("kb",), earlier).conversation["questions"]
    assert [answer["answer"]["id"] for answer in turn["pred_answers"]] == ([case["id"]] if case["id"] else [])


PICTURE = {"type": "image_url", "image_url": {"url": "x"}}
UNUSABLE = [
    message("user", [PICTURE]),
    message("assistant", [{"type": "refusal", "refusal": "No."}]),
    message("user", [{"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}]),
    {"role": "assistant", "content": None, "refusal": "No.", "audio": {"id": "a"}},
]
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def test_parts_that_cannot_be_used_are_passed_over_in_earlier_messages(server):
    with_text = message("user", [{"type": "text", "text": QUESTIONS[0]}, PICTURE])
    called = [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {**message("tool", "x"), "tool_call_id": "c"},
    ]
    messages = [
        *UNUSABLE,
        with_text,
        message("assistant", "James Cameron"),
        *called,
        message("user", "when was he born?"),
    ]
    value = completed(server, messages)
    assert value["choices"][0]["message"]["content"].startswith("16 August 1954")
    assert completed(server, [with_text])["choices"][0]["message"]["content"].startswith("James Cameron")


def test_of_a_long_conversation_the_last_turns_count():
    messages = [ChatMessage(role="user", content=f"question {n}") for n in range(40)]
    question, earlier = chat_question(ChatRequest(messages=messages))
    assert question == "question 39" and [turn["turn"] for turn in earlier] == list(range(9, 39))


def test_a_stream_is_the_same_answer(server):
    messages = [message("user", QUESTIONS[0])]
    whole = completed(server, messages)
    value = {"messages": messages, "stream": True, "stream_options": {"include_usage": True}}
    _, _, body = ask(server, "POST", PATH, value, Authorization=f"Bearer {TOKEN}")
    names, chunks = zip(*events(body), strict=True)
    assert set(names) == {""} and chunks[-1] == "[DONE]" and b"\n\n: ers\n\n" in body
    first, *middle, last, usage = chunks[:-1]
    assert (
        first["choices"][0]["delta"]["role"] == "assistant"
        and usage["choices"] == []
        and usage["usage"] == whole["usage"]
    )
    text = "".join(chunk["choices"][0]["delta"]["content"] for chunk in middle)
    assert text == whole["choices"][0]["message"]["content"]
    assert last["choices"][0]["finish_reason"] == "stop" and last["convinse"] == whole["convinse"]
    assert {chunk["id"] for chunk in chunks[:-1]} == {first["id"]} != {whole["id"]}


def test_tokens_are_those_of_the_embedded_model(server):
    """Counted by hand: the pieces of the vocabulary, without the marks of beginning and end."""
    messages = [message("user", "who directed Titanic?"), message("assistant", "James Cameron (Q42574, score 0.98)\n\n[1] x"), message("user", "and Avatar?")]  # fmt: skip
    value = completed(server, messages)
    usage = value["usage"]
    assert usage["prompt_tokens"] == len("who directed titanic ?".split()) + len("james cameron".split()) + len("and avatar ?".split())  # fmt: skip
    text = value["choices"][0]["message"]["content"]
    tokenizer = Tokenizer.from_file(str(ROOT / "convinse/snapshot/model/tokenizer.json"))
    assert usage["completion_tokens"] == len(tokenizer.encode(text, add_special_tokens=False)) > len(text.split())
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


# -- OpenAI's client ---------------------------------------------------------------------------------------------------


@pytest.fixture
def client(server, closed):
    openai = pytest.importorskip("openai")
    return closed(openai.OpenAI(base_url=f"http://127.0.0.1:{server}/v1", api_key=TOKEN, max_retries=0))


def checked(value):
    """An answer, which has the types that the client says it has: the client itself checks nothing."""
    type(value).model_validate_json(value.model_dump_json(exclude={"convinse"}), strict=True)
    return value


def test_parameters_that_have_no_meaning_here_are_passed_over(client):
    model = "convinse:kb_text"
    plain = client.chat.completions.create(model=model, messages=[message("user", QUESTIONS[0])])
    answer = client.chat.completions.create(
        model=model, messages=[message("developer", "x"), {**message("user", QUESTIONS[0]), "name": "a"}],
        temperature=0.3, top_p=1, max_tokens=5, max_completion_tokens=5, n=1, seed=1, stop=["."], user="x", logprobs=False,
        tools=[{"type": "function", "function": {"name": "f"}}], tool_choice="auto", response_format={"type": "text"},
        metadata={"a": "b"}, extra_body={"top_k": 3},
    )  # fmt: skip
    assert answer.choices[0].message.content == plain.choices[0].message.content and answer.model == model
    assert checked(answer).usage == plain.usage and answer.convinse["question"] == QUESTIONS[0]


def test_the_client_streams(client):
    messages = [message("user", QUESTIONS[0])]
    whole = checked(client.chat.completions.create(model="convinse", messages=messages))
    text = whole.choices[0].message.content
    chunks = list(map(checked, client.chat.completions.create(model="convinse", messages=messages, stream=True)))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == text
    assert chunks[-1].convinse["question"] == QUESTIONS[0]
    with client.chat.completions.stream(model="convinse", messages=messages) as stream:
        assert stream.get_final_completion().choices[0].message.content == text
    *_, last = client.chat.completions.create(
        model="convinse", messages=messages, stream=True, stream_options={"include_usage": True}
    )
    assert checked(last).usage == whole.usage and not last.choices


def test_the_client_reads_errors(client):
    openai = pytest.importorskip("openai")
    assert checked(client.models.retrieve("convinse:kb_text")).owned_by == "convinse"
    assert [checked(model).id for model in client.models.list()][:2] == ["convinse", "convinse:kb"]

    def create(messages, model="convinse", **more):
        return client.chat.completions.create(model=model, messages=messages, **more)

    with pytest.raises(openai.NotFoundError, match="no model 'gpt'"):
        create([message("user", "x")], "gpt")
    with pytest.raises(openai.NotFoundError, match="no model 'gpt'"):
        client.models.retrieve("gpt")
    with pytest.raises(openai.BadRequestError, match="the last one must be of the role 'user'"):
        create([])
    for text in ("x" * 2001, "x" * 10_000_001):
        with pytest.raises(openai.APIStatusError, match="2001|10000000") as raised:
            create([message("user", text)])
        assert raised.value.status_code == 413 and raised.value.type == "invalid_request_error"
    with pytest.raises(openai.APIError, match="the server failed"):
        list(create([message("user", "fail")], stream=True))
    with pytest.raises(openai.InternalServerError, match="the server failed"):
        create([message("user", "fail")])
    with pytest.raises(openai.AuthenticationError, match="token") as raised:
        client.with_options(api_key="x").models.list()
    assert raised.value.type == "authentication_error"
