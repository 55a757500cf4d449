"""The embedded data is what the issue asks for, and what ships is built from the sources that ship with it."""

from collections import Counter

import numpy as np
import pytest

from convinse.cli.verify import faults
from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.formats.convmix import read_conversations
from convinse.records.evidence import SOURCES
from convinse.records.literals import is_item
from convinse.wikipedia.dump import WikipediaDump
from places import SNAPSHOT, SNAPSHOT_SOURCES
from recipes.snapshot import build as build_snapshot

PARTS = ("train", "dev", "test")
DOMAINS = {"books", "movies", "music", "soccer", "tvseries"}


@pytest.fixture(scope="module")
def parts():
    return {part: read_conversations(SNAPSHOT / "conversations" / f"{part}.json") for part in PARTS}


@pytest.fixture(scope="module")
def conversations(parts):
    return [conversation for part in PARTS for conversation in parts[part]]


@pytest.fixture(scope="module")
def turns(conversations):
    return [turn for conversation in conversations for turn in conversation["questions"]]


@pytest.fixture(scope="module")
def answerable(turns):
    """For every turn, the sources that hold a gold answer in the evidences of the turn's gold entities."""
    retriever = ClocqRetriever(parse_config({"ers_use_cache": False}))
    found = []
    for turn in turns:
        gold = {answer["id"] for answer in turn["answers"]}
        sources = set()
        for entity in turn["entities"]:
            question_entity = {"item": entity, "question_word": entity["label"], "score": 1.0, "rank": 0}
            for evidence in retriever.retrieve_wikipedia_evidences(question_entity):
                if gold & {item["id"] for item in evidence["wikidata_entities"]}:
                    sources.add(evidence["source"])
            for fact in retriever.retrieve_kb_facts_for_item(entity["id"]):
                if gold & {item["id"] for item in [fact[0], *fact[2::2]]}:
                    sources.add("kb")
        found.append(sources)
    return found


def plain(turn, key="question"):
    return " ".join(turn[key].lower().split())


def test_the_script_builds_what_ships(kb, dump, workdir, capsys, monkeypatch):
    embedding = build_snapshot.embedding(SNAPSHOT / "model")

    def shipped(texts):
        """The shipped vectors; some of them are computed again, as all would take minutes."""
        vectors, has_vector = dump.vectors(texts)
        assert has_vector.all()
        assert np.allclose(embedding.embed(texts[::60]), vectors[::60], atol=0.02)
        return vectors

    monkeypatch.setattr(build_snapshot, "embedding", lambda model: embedding._replace(embed=shipped))
    build_snapshot.main(workdir)
    assert kb.build_id in capsys.readouterr().out
    rebuilt = WikipediaDump(workdir / "wikipedia.db")
    assert rebuilt.build_id == dump.build_id, "run scripts/recipes/snapshot/build.py"
    assert rebuilt.items() == dump.items()
    rebuilt.close()


def test_it_is_as_large_as_promised_and_a_few_megabytes_at_most(kb, dump):
    assert kb.manifest.items >= 400 and kb.manifest.facts >= 4000
    assert len(dump) >= 80
    assert len(list((SNAPSHOT_SOURCES / "pages").glob("*.html"))) == len(dump)
    files = [file for file in SNAPSHOT.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    sizes = {"model": 0, "reader": 0, "": 0}
    for file in files:
        sizes[next((name for name in sizes if name in file.parts), "")] += file.stat().st_size
    # a third of the data is the vectors of all evidences, and a sixth of the model the head that rewrites follow-ups
    assert sizes[""] < 5_000_000
    assert 20_000_000 < sizes["model"] < 33_000_000 and 60_000_000 < sizes["reader"] < 71_000_000


def test_every_page_has_an_item_and_evidences_of_prose_with_known_entities(kb, dump):
    for item in dump.items():
        assert kb.has(item), item
        sources = Counter(evidence["source"] for evidence in dump.get(item))
        assert sources["text"] >= 5, kb.label(item)
        for evidence in dump.get(item):
            for entity in evidence["wikidata_entities"]:
                assert entity["id"][0] != "Q" or kb.entity(entity["id"]) == entity
    sources = Counter(evidence["source"] for item in dump.items() for evidence in dump.get(item))
    assert min(sources[source] for source in ("text", "table", "info")) >= 200


def test_there_are_enough_conversations_of_five_turns_and_domains(parts, conversations):
    for part in PARTS:
        assert {conversation["domain"] for conversation in parts[part]} == DOMAINS, part
    assert len(conversations) >= 60
    assert len(parts["test"]) >= 30
    for conversation in conversations:
        assert [turn["turn"] for turn in conversation["questions"]] == [0, 1, 2, 3, 4]


def test_turns_are_complete(turns, kb):
    assert len({turn["question_id"] for turn in turns}) == len(turns)
    for turn in turns:
        assert turn["question"].strip() and turn["completed"].strip() and turn["answers"] and turn["entities"], turn
        assert turn["answer_source"] in SOURCES and all(answer["label"] for answer in turn["answers"]), turn
        for entity in [*filter(lambda answer: is_item(answer["id"]), turn["answers"]), *turn["entities"]]:
            assert kb.entity(entity["id"]) == entity, turn


@pytest.mark.parametrize("source", SOURCES)
def test_at_least_forty_turns_are_answerable_only_from_each_source(answerable, source):
    assert sum(found == {source} for found in answerable) >= 40


def test_most_turns_are_answerable_and_from_the_source_that_they_name(turns, answerable):
    both = zip(turns, answerable, strict=True)
    questions = [(turn, found) for turn, found in both if turn["answers"][0]["id"] not in ("Yes", "No")]
    assert sum(bool(found) for _, found in questions) >= 0.95 * len(questions)
    wrong = [turn["question_id"] for turn, found in questions if turn["answer_source"] not in found]
    assert len(wrong) <= 0.05 * len(questions), wrong


def test_no_conversation_and_no_whole_question_is_in_two_parts(parts):
    for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        for describe in (
            lambda c: c["conv_id"],
            lambda c: tuple(plain(turn) for turn in c["questions"]),
            lambda c: plain(c["questions"][0]),
        ):
            assert not {describe(c) for c in parts[one]} & {describe(c) for c in parts[other]}, (one, other)
        alone = [{plain(turn, "completed") for c in parts[part] for turn in c["questions"]} for part in (one, other)]
        assert not alone[0] & alone[1], (one, other)  # questions that stand for themselves


def test_the_wording_is_that_of_a_conversation(turns):
    follow_ups = [turn for turn in turns if turn["turn"] > 0]
    named = [any(e["label"].lower() in turn["question"].lower() for e in turn["entities"]) for turn in follow_ups]
    assert sum(named) <= 0.5 * len(follow_ups)


def test_shipped_files_match_their_checksums():
    checked = list(faults(SNAPSHOT))
    assert {path.parent.name for path, _ in checked} >= {"kb", "model", "answers", "voting", "snapshot"}
    assert [fault for _, fault in checked if fault != ""] == [], "for a file that was changed by hand: manifest.seal"
