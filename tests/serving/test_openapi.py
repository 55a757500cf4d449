import json

import jsonschema_rs
import pytest

from convinse.pipeline import Pipeline
from convinse.serving.api_server import create_app
from convinse.serving.openapi import description
from loopback import served
from services import HeldPipeline, asked


def references(value):
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


@pytest.fixture(scope="module")
def document():
    return json.loads(json.dumps(description(asks_for_token=True)))


def test_what_is_referred_to_is_there(document):
    names = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) <= names and len(names) > 10
    assert document["security"] == [{"token": []}] and "security" not in description(asks_for_token=False)


def test_every_request_is_described_and_no_further_one(document):
    app = create_app(Pipeline.__new__(Pipeline))
    routes = {
        (route.path.replace(":int", ""), method.lower())
        for route in app.routes
        for method in route.methods
        if method != "HEAD" and route.path not in ("/", "/page/{file}")
    }
    described = {
        (path, method) for path, operations in document["paths"].items() for method in operations if method in ("get", "post", "delete")
    }  # fmt: skip
    assert described | {("/openapi.json", "get")} == routes


def test_answers_have_the_shapes_that_are_described():
    with HeldPipeline() as pipeline, served(create_app(pipeline)) as port:
        document = asked(port, "GET", "/openapi.json")
        state = asked(port, "POST", "/v1/conversations", {}, 201)
        turn = asked(port, "POST", f"/v1/conversations/{state['id']}/turns", {"question": "who directed Titanic?"})
    for name, value in (("ConversationState", state), ("Turn", turn)):
        schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        jsonschema_rs.validate(schema, value)
        with pytest.raises(jsonschema_rs.ValidationError):
            jsonschema_rs.validate(schema, {**value, "id": 5, "question": 5})
