"""What tests of the service share: a pipeline that can be held, and requests."""

import http.client
import json
import threading
from contextlib import closing

from convinse import Pipeline, load_config
from patience import PATIENCE


class HeldPipeline(Pipeline):
    """A pipeline without a model, which waits after question understanding while `go` is not set; notes what it is asked together."""

    def __init__(self):
        super().__init__(load_config("lexical.yml", ers_use_cache=False))
        self.calls, self.stages = [], []
        self.entered, self.go = threading.Event(), threading.Event()
        self.go.set()

    def hold(self):
        self.calls, self.stages = [], []
        self.entered.clear()
        self.go.clear()

    def answer_turns(self, turns, histories, sources, report=None):
        self.calls.append([turn["question"] for turn in turns])

        def held_report(stage):
            self.entered.set()
            assert self.go.wait(PATIENCE)
            self.stages.append(stage)
            if any("fail" in turn["question"] for turn in turns):
                raise ValueError("a secret")
            if report is not None:
                report(stage)

        super().answer_turns(turns, histories, sources, held_report)


def ask(port, method, path, value=None, **headers):
    """Status, headers and body of a request; an object is sent as JSON, bytes as they are."""
    body = json.dumps(value).encode() if isinstance(value, dict) else value
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        headers_ = {name.replace("_", "-"): text for name, text in headers.items()}
        connection.request(method, path, body, {"Content-Type": "application/json", **headers_})
        response = connection.getresponse()
        return response.status, response.headers, response.read()


def exchange(port, method, path, value=None, status=200, **headers):
    """The JSON of a request's answer, which has a status."""
    found, _, body = ask(port, method, path, value, **headers)
    assert found == status, body
    return json.loads(body)


def begun(port, **body):
    return f"/v1/conversations/{exchange(port, 'POST', '/v1/conversations', body, 201)['id']}"


def turn_of(port, path, question, **more):
    """The next turn of a conversation, which asks a question."""
    return exchange(port, "POST", f"{path}/turns", {"question": question, **more})


def events(body):
    """The events of a stream: their names, and what they tell."""
    found = []
    for block in body.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            data = lines["data"]
            found.append((lines.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return found
