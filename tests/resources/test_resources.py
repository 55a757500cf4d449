"""What a pipeline opens: when it is asked for, once, by whichever thread, until it is closed."""

import threading

import numpy as np
import pytest

from convinse.cli import main
from convinse.config import load_config, parse_config
from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.engine import Engine
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.knowledge_base import index as knowledge_bases
from convinse.knowledge_base.linking import EntityLinker
from convinse.pipeline import Pipeline
from convinse.records.representation import question_entities
from convinse.resources import Resources
from convinse.wikipedia import dump as dumps
from convinse.wikipedia.dump import write_dump
from convinse.wikipedia.stored_pages import Embedding
from evidences import evidence
from tiny_models import tiny
from written import write


@pytest.fixture
def opened(monkeypatch):
    """The names of what was opened, and the texts that were linked."""
    seen = []

    def counting(kind, method, note):
        original = getattr(kind, method)

        def counted(self, *arguments, **keys):
            seen.append(note(*arguments))
            return original(self, *arguments, **keys)

        monkeypatch.setattr(kind, method, counted)

    counting(knowledge_bases.KnowledgeBase, "__init__", lambda path: path.name)
    counting(dumps.WikipediaDump, "__init__", lambda path: path.name)
    counting(EntityLinker, "link", lambda text, *more: text)
    return seen


QUESTIONS = [
    "Which film is the best?",
    "Who directed Titanic?",
    "When was he born?",
    "And in which country?",
    "Did Kate Winslet star in it?",
]


def answers_to(questions):
    return {"conv_id": "asked", "questions": [{"question": question} for question in questions]}


@pytest.mark.parametrize(
    ("name", "second_readings"),
    [("lexical.yml", {"Did Kate Winslet star in Singin' in the Rain?"}), ("config.yml", set())],
    ids=["lexical.yml", "config.yml"],
)
def test_a_question_is_linked_as_typed_and_in_full_over_one_knowledge_base(opened, name, second_readings):
    if name == "config.yml":
        pytest.importorskip("torch")
    with Pipeline(load_config(name, ers_use_cache=False, device="cpu")) as pipeline:
        (conversation,) = pipeline.run([answers_to(QUESTIONS)], use_gold_answers=False)
    turns = conversation["questions"]
    in_full = {turn["resolved_question"] for turn in turns}
    assert set(opened) - {*QUESTIONS, *in_full, "kb", "wikipedia.db"} == second_readings
    assert opened.count("kb") == opened.count("wikipedia.db") == 1
    assert all(turn["top_evidences"] and turn["pred_answers"] for turn in turns)


def test_text_is_linked_once_where_only_text_is_given_and_without_its_type(opened):
    with Pipeline(load_config("lexical.yml", qu="nc_all", ers_use_cache=False)) as pipeline:
        pipeline.run([answers_to(["Who directed Titanic?"])], "kb")
        space = pipeline.ers.retriever.retrieve_evidences(" || Titanic || star || yes or no", ["kb"])[1]
    assert opened == ["kb", "Who directed Titanic?", "Titanic | star"]  # no page of the dump can be an evidence
    assert {entity["item"]["label"] for entity in space} == {"Titanic"}


def test_nothing_is_opened_before_it_is_asked_for(opened, workdir):
    Resources(parse_config({"kb_path": "nowhere", "ers_wikipedia_dump": "nowhere.db"}))
    assert opened == [] == list(workdir.iterdir())


def test_facts_are_embedded_without_the_dump_and_pages_by_its_vectors(workdir):
    model = str(tiny("bert", "embedding"))
    keys = {"ers_use_cache": False, "ers_wikipedia_dump": "w.db"}
    with Resources(parse_config(keys)) as resources:
        computed = resources.embeddings(model, "evs_bi_encoder").embed(["a fact"])  # there is no dump
    encoder = BiEncoder(model)
    embedding = Embedding(encoder.weights_id, encoder.dimension, "plain", lambda texts: -encoder.embed(texts))
    write_dump(workdir / "w.db", [("Q1", [evidence("a fact")])], embedding)
    with Resources(parse_config(keys)) as resources:
        embeddings = resources.embeddings(model, "evs_bi_encoder")
        assert np.array_equal(embeddings.embed(["a fact"]), computed)
        assert resources.pages is not None
        assert np.allclose(embeddings.embed(["a fact"]), -computed, atol=0.02)


def test_several_threads_get_the_same(opened):
    resources, taken = Resources(parse_config({"ers_use_cache": False})), []
    together = threading.Barrier(8)

    def take():
        together.wait()
        taken.append((resources.kb, resources.linker, resources.search_space, resources.pages))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 8 and len({tuple(map(id, objects)) for objects in taken}) == 1
    assert sorted(opened) == ["kb", "wikipedia.db"]
    resources.close()


def test_closed_resources_open_again_at_the_next_use(opened):
    with Resources(parse_config({"ers_use_cache": False})) as resources:
        kb, dump = resources.kb, resources.pages
        assert kb.label("Q44578") and dump.get("Q44578") is not None
    with pytest.raises(Exception):  # noqa: B017 - whatever a closed file says
        dump.get("Q44578")
    assert resources.kb is not kb and resources.kb.label("Q44578")
    resources.close()
    assert opened.count("kb") == 2


def test_answer_types_are_kept_where_the_cache_is(workdir, monkeypatch):
    def chances(**keys):
        config = {"ha_model": "snapshot:model", "device": "cpu", "ers_cache_path": "mine", **keys}
        with Resources(parse_config(config)) as resources:
            return resources.answer_typing.likely([("Who?", "Who wrote it?")])[0].chances.tolist()

    alone = chances(ers_use_cache=False)
    assert not list(workdir.iterdir())
    assert chances() == alone
    monkeypatch.setattr(Engine, "run", None)  # nothing is left to compute
    assert chances() == alone
    with pytest.raises(TypeError):
        chances(ers_use_cache=False)


def test_a_given_knowledge_base_is_used_and_stays_open(world_kb):
    with Resources(parse_config({}), kb=world_kb) as resources:
        assert resources.kb is world_kb
    assert world_kb.label("Q44578") == "Titanic"


def test_a_pipeline_closes_its_own_resources_and_leaves_those_it_was_given(opened):
    config = parse_config({"ers_use_cache": False})
    with Resources(config) as shared:
        for _ in range(2):
            with Pipeline(config, resources=shared) as pipeline:
                assert pipeline.qu.resources is shared
                pipeline.ask(["Who directed Titanic?"], "kb")
        assert opened.count("kb") == 1
        assert shared.kb.label("Q44578")


class OwnConstructor(NativeERS):
    def __init__(self, config):
        super().__init__(config)
        self.mine = ClocqRetriever(config, resources=self.resources)

    def inference_on_turn(self, turn, sources):
        linked = question_entities(turn["representation"])
        return self.mine.retrieve_evidences(turn["structured_representation"], sources, linked)[0][:5]


def test_a_module_that_takes_the_configuration_alone_shares_them_too(opened):
    with Pipeline(parse_config({"ers_use_cache": False, "ers": f"{__name__}:OwnConstructor"})) as pipeline:
        assert pipeline.ers.resources is pipeline.resources
        pipeline.ask(["Who directed Titanic?"], "kb_text")
    assert opened.count("kb") == opened.count("wikipedia.db") == 1


def test_a_run_over_all_combinations_opens_everything_once(opened, workdir):
    path = write("own.yml", "name: own\nsource_combinations: [kb, text, kb_text]\n")
    assert main(["pipeline", str(path), "--all-sources", "--limit", "1", "--quiet"]) == 0
    assert opened.count("kb") == opened.count("wikipedia.db") == 1
    assert len(list(workdir.glob("results/own/*/turns.jsonl"))) == 3
