"""Changed entity documents into an index: it is as if it had been built anew, byte for byte."""

import json
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convinse.config import load_config
from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.layout import ARRAYS, PROPERTIES
from convinse.knowledge_base.update import update
from convinse.pipeline import Pipeline
from convinse.support.errors import DataError, IndexFileError
from damaging import flip
from handmade import claim, document, q, string, world, write
from written import write as write_text

DOCUMENTS = {entity["id"]: entity for entity in world()}
IDS = st.sampled_from([*sorted(DOCUMENTS), "Q900001", "Q900002", "P90001"])
LABELS = st.sampled_from(["Changed", "Titanic", "James Cameron", ""])
VALUES = st.sampled_from([q("Q44578"), q("Q900001"), q("Q5"), string("short"), string("another")])


@st.composite
def entities(draw):
    name = draw(IDS)
    claims = [
        claim("P31", value, ("P642", other)) for value, other in draw(st.lists(st.tuples(VALUES, VALUES), max_size=3))
    ]
    return document(name, draw(LABELS), *(claims if name[0] == "Q" else ()), aliases=["A C"])


CHANGES = entities() | IDS.map(lambda name: {"id": name, "missing": ""})


def content(folder):
    """The bytes of an index, and what its full-text index answers: the names of the files of that are random."""
    files = {name: (folder / name).read_bytes() for name in (*ARRAYS, PROPERTIES)}
    with closing(KnowledgeBase(folder)) as kb:
        found = [
            kb.search_names(words, 3, edits) for words in (["changed"], ["cameron"], ["a", "c"]) for edits in (0, 1)
        ]
        return files, found, kb.build_id, kb.manifest.facts


@settings(max_examples=25)
@given(updates=st.lists(st.lists(CHANGES, min_size=1, max_size=4), min_size=1, max_size=3), is_answer=st.booleans())
def test_an_index_that_was_updated_is_one_that_was_built_anew(tmp_path_factory, updates, is_answer):
    folder, documents = tmp_path_factory.mktemp("law"), dict(DOCUMENTS)
    build(write(folder / "dump.json", world()), folder / "kb")
    for changes in updates:
        first = {change["id"]: change for change in reversed(changes)}
        for name, entity in first.items():
            if entity.get("labels"):  # in the place of an older one
                documents[name] = entity
            else:
                documents.pop(name, None)
        lines = "\n".join(map(json.dumps, first.values()))
        text = json.dumps({"entities": first, "success": 1}) if is_answer else lines
        update(folder / "kb", write_text(folder / "changes.json", text))
    build(write(folder / "dump.json", list(documents.values())), folder / "anew")
    assert content(folder / "kb") == content(folder / "anew")


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "entities",
    [
        {"Q44578": DOCUMENTS["Q42574"]},  # the item in the request is the key
        {"Q42574": {**DOCUMENTS["Q42574"], "redirects": {"from": "Q44578", "to": "Q42574"}}},
        {"Q44578": {"id": "Q44578", "missing": ""}},
    ],
)
def test_missing_and_redirected_items_are_removed(workdir, entities, indent):
    build(write(workdir / "dump.json", world()), workdir / "kb")
    update(workdir / "kb", write_text("answer.json", json.dumps({"entities": entities}, indent=indent)))
    with closing(KnowledgeBase(workdir / "kb")) as kb:
        assert not kb.has("Q44578") and kb.label("Q42574") == "James Cameron"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"entities": {"-1": {"missing": ""}}}', "changes.json: 1 of the first 1 lines are bad"),
        ("[\n]\n", "changes.json: holds no entity"),
        ("no entity", "changes.json: 1 of the first 1 lines are bad"),
        ('{"id": "Q99999999999", "missing": ""}', "not an id of an item"),
    ],
)
def test_a_bad_change_is_an_error_and_changes_nothing(workdir, text, fault):
    build(write(workdir / "dump.json", world()), workdir / "kb")
    before = content(workdir / "kb")
    with pytest.raises(DataError, match=fault):
        update(workdir / "kb", write_text("changes.json", text))
    assert content(workdir / "kb") == before
    with pytest.raises(IndexFileError, match="nowhere: no knowledge base here"):
        update(workdir / "nowhere", workdir / "changes.json")


def test_an_index_with_an_altered_file_is_not_updated(workdir):
    build(write(workdir / "dump.json", world()), workdir / "kb")
    flip(workdir / "kb/text")
    with pytest.raises(IndexFileError, match="text: altered since it was built"):
        update(workdir / "kb", write(workdir / "changes.json", world()[:1]))


def test_a_running_pipeline_answers_from_the_updated_index(workdir):
    build(write(workdir / "dump.json", world()), workdir / "kb")
    keys = {"kb_path": "kb", "ers_wikipedia_dump": None, "ers_use_cache": False}
    with Pipeline(load_config("lexical.yml", **keys)) as pipeline:
        session = pipeline.session("kb")
        answers = [session.ask("Who directed Titanic?")["pred_answers"][0]["answer"]["label"]]
        changed = {**DOCUMENTS["Q42574"], "labels": {"en": {"language": "en", "value": "Ida Changed"}}}
        update(workdir / "kb", write(workdir / "changes.json", [changed]))
        answers.append(session.ask("Who directed Titanic?")["pred_answers"][0]["answer"]["label"])
    assert answers == ["James Cameron", "Ida Changed"]
