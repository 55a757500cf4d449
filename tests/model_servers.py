"""A server of models on loopback that answers as a test says, and notes the requests."""

import json
import re
import threading
from contextlib import contextmanager
from types import SimpleNamespace

from loopback import Handler, Server, cut, running, status


def completion(text, finish="stop", tokens=None, **message):
    """A chat completion of a text; `tokens` are (token, logprob) pairs."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    if tokens is not None:
        choice["logprobs"] = {
            "content": [{"token": token, "logprob": logprob, "bytes": None} for token, logprob in tokens]
        }
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}


def answers(*pairs):
    """The text of an answer: (answer, numbers of evidences) pairs."""
    return json.dumps({"answers": [{"answer": answer, "evidences": list(numbers)} for answer, numbers in pairs]})


def error(message, status=400, **headers):
    """A refusal in OpenAI's shape."""
    return status, {"error": {"message": message, "type": "invalid_request_error"}}, headers


@contextmanager
def model_server(reply):
    """A server that answers what `reply(body, request)` gives: a value, or (status, value, headers); bytes go out as they are."""

    class Model(Handler):
        def answer(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = SimpleNamespace(path=self.path, headers=self.headers, body=body)
            self.server.requests.append(request)
            value = reply(body, request)
            if isinstance(value, bytes):
                cut(value)(self)
                return
            code, value, headers = value if isinstance(value, tuple) else (200, value, {})
            status(code, json.dumps(value).encode(), content_type="application/json", **headers)(self)

        do_POST = answer  # noqa: N815

    server = Server(("127.0.0.1", 0), Model)
    server.requests, server.stopped = [], threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}/v1"
    with running(server):
        yield server


def shown(body):
    """The evidences that a prompt shows, by their numbers."""
    lines = (re.match(r"\[(\d+)\] \(\w+\) (.*)", line) for line in body["messages"][1]["content"].splitlines())
    return {int(line[1]): line[2] for line in lines if line}


def citing(words):
    """A reply: the words, citing the first evidence that has them; no answer without one."""

    def reply(body, request):
        numbers = [number for number, text in shown(body).items() if words in text]
        return completion(answers(*([(words, numbers[:1])] if numbers else [])))

    return reply
