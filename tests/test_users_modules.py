"""Modules of a user's own, written as CONVINSE's are: no `super().__init__`, keys of the configuration, `train(self)`."""

import pytest

from convinse import EvidenceRetrievalScoring, HeterogeneousAnswering, Pipeline, QuestionUnderstanding
from convinse.cli import main
from convinse.config import parse_config
from evidences import evidence
from written import write


class OwnQu(QuestionUnderstanding):
    def __init__(self, config):
        self.separator = config["history_separator"]

    def inference_on_turn(self, turn, history_turns):
        questions = [earlier["question"] for earlier in history_turns]
        turn["structured_representation"] = self.separator.join([*questions, turn["question"]])
        return turn["structured_representation"]


class OwnErs(EvidenceRetrievalScoring):
    def __init__(self, config):
        self.most = config["evs_max_evidences"]
        self.score = config["my_score"]

    def evidences(self):
        return [evidence(f"text {n}", "kb", ("seven", "Q7"), score=self.score) for n in range(self.most)]

    def inference_on_turn(self, turn, sources):
        turn["top_evidences"] = self.evidences()
        return turn["top_evidences"]


class OwnHa(HeterogeneousAnswering):
    def inference_on_turn(self, turn, sources):
        entity = turn["top_evidences"][0]["wikidata_entities"][0]
        turn["pred_answers"] = [{"answer": entity, "score": 1.0, "rank": 1}]
        return turn["pred_answers"]


def configuration(qu=OwnQu, ers=OwnErs, ha=OwnHa, **keys):
    kinds = {"qu": qu, "ers": ers, "ha": ha}
    names = {stage: kind if isinstance(kind, str) else f"{__name__}:{kind.__name__}" for stage, kind in kinds.items()}
    return parse_config({"ers_use_cache": False, "evs_max_evidences": 4, "custom": {"my_score": 0.5}, **names, **keys})


def answered(config):
    """The turns of a conversation whose gold answer all evidences hold."""
    turns = [{"turn": n, "question": f"{n}?", "answers": [{"id": "Q7", "label": "seven"}]} for n in range(2)]
    with Pipeline(config) as pipeline:
        return pipeline.run([{"conv_id": "1", "questions": turns}], "kb")[0]["questions"]


def test_the_pipeline_runs_them():
    turns = answered(configuration())
    assert [turn["structured_representation"] for turn in turns] == ["0?", "0? ||| 1?"]
    for turn in turns:
        assert [found["score"] for found in turn["top_evidences"]] == [0.5] * 4
        assert [answer["answer"]["id"] for answer in turn["pred_answers"]] == ["Q7"]
        assert turn["answer_presence"] and turn["p_at_1"] == turn["mrr"] == turn["h_at_5"] == 1.0


@pytest.mark.parametrize("gold", [True, False])
def test_they_run_beside_those_of_the_project(gold):
    turn = {"turn": 0, "question": "Who directed Titanic?", "answers": [{"id": "Q42574", "label": "James Cameron"}]}
    for stage, name in (("qu", "slots"), ("ers", "native"), ("ha", "entity_voting")):
        with Pipeline(configuration(**{stage: name})) as pipeline:
            (done,) = pipeline.run([{"conv_id": "1", "questions": [turn]}], "kb", gold)[0]["questions"]
        assert done["pred_answers"] and "p_at_1" in done and "answer_presence" in done


# -- as CONVINSE's and EXPLAIGNN's own code has them --------------------------------------------------------------------


class TheirQu(QuestionUnderstanding):
    """Reads the answers of the history by `use_gold_answers`, and returns the turn."""

    def inference_on_turn(self, turn, history_turns):
        words = []
        for earlier in history_turns:
            answers = earlier["answers"] if self.use_gold_answers else earlier["pred_answers"]
            words += [answer["label"] for answer in answers]
        turn["structured_representation"] = " ".join([*words, turn["question"]])
        return turn


class TheirErs(OwnErs):
    """Writes into the turns and returns them; evidences have links without an item, and several items they are for."""

    def inference_on_turns(self, input_turns, sources=("kb",)):
        for turn in input_turns:
            self.inference_on_turn(turn, sources)
        return input_turns

    def inference_on_turn(self, turn, sources=("kb",)):
        found = {"disambiguations": [("seven", "Q7"), ("7", None), ("VII", False)],
                 "retrieved_for_entity": [{"id": "Q1", "label": "one"}, {"id": "Q2", "label": "two"}]}  # fmt: skip
        turn["top_evidences"] = [{**evidence, **found} for evidence in self.evidences()]


class TheirHa(HeterogeneousAnswering):
    """Stores the entity beside its rank, deletes the evidences, and returns the turn."""

    def inference_on_turn(self, turn, sources):
        entity = turn["top_evidences"][0]["wikidata_entities"][0]
        turn["pred_answers"] = [{"id": entity["id"], "label": entity["label"], "rank": 1, "score": 1.0}]
        del turn["top_evidences"]
        return turn


class TheirHaOfTurns(TheirHa):
    def inference_on_turns(self, input_turns, sources):
        for turn in input_turns:
            self.inference_on_turn(turn, sources)


class TheirRankedHa(TheirHa):
    """Stores the answers by EXPLAIGNN's name, and takes more than sources."""

    def inference_on_turns(self, turns, sources=("kb",), train=False):
        for turn in turns:
            self.inference_on_turn(turn, sources)
            turn["ranked_answers"] = turn.pop("pred_answers")
        return turns


@pytest.mark.parametrize("ha", [TheirHa, TheirHaOfTurns, TheirRankedHa])
def test_modules_in_the_style_of_their_code(ha):
    turns = answered(configuration(TheirQu, TheirErs, ha))
    assert [turn["structured_representation"] for turn in turns] == ["0?", "seven 1?"]
    for turn in turns:
        assert turn["p_at_1"] == 1.0 and turn["answer_presence"] is True
        assert turn["pred_answers"] == [{"answer": {"id": "Q7", "label": "seven"}, "rank": 1, "score": 1.0}]
        assert turn["top_evidences"][0]["disambiguations"] == [("seven", "Q7")]
        assert turn["top_evidences"][0]["retrieved_for_entity"] == {"id": "Q1", "label": "one"}


def test_their_question_understanding_sees_predicted_answers_where_these_count():
    turns = [{"turn": n, "question": f"{n}?", "answers": [{"id": "Q8", "label": "eight"}]} for n in range(2)]
    with Pipeline(configuration(TheirQu, TheirErs, TheirHa), False) as pipeline:
        (done,) = pipeline.run([{"conv_id": "1", "questions": turns}], "kb")
        (gold,) = pipeline.run([{"conv_id": "1", "questions": turns}], "kb", True)
    assert done["questions"][1]["structured_representation"] == "seven 1?"
    assert gold["questions"][1]["structured_representation"] == "eight 1?"


THEIRS = """
import os, sys
from convinse.evaluation import answer_presence, hit_at_5, mrr_score, precision_at_1
from convinse.evidence_retrieval_scoring.bm25_es import BM25Scoring
from convinse.evidence_retrieval_scoring.clocq_er import ClocqRetriever
from convinse.evidence_retrieval_scoring.evidence_retrieval_scoring import EvidenceRetrievalScoring
from convinse.evidence_retrieval_scoring.wikipedia_retriever.wikipedia_retriever import WikipediaRetriever
from convinse.heterogeneous_answering.heterogeneous_answering import HeterogeneousAnswering
from convinse.library.utils import get_config, get_logger
from convinse.question_understanding.question_understanding import QuestionUnderstanding


class TheirBM25(EvidenceRetrievalScoring):
    def __init__(self, config):
        self.config = config
        self.logger = get_logger(__name__, config)
        self.retriever = ClocqRetriever(config)
        self.scoring = BM25Scoring(config)

    def inference_on_turn(self, turn, sources=["kb", "text", "table", "info"]):
        intent = turn["structured_representation"]
        evidences, _ = self.retriever.retrieve_evidences(intent, sources)
        turn["top_evidences"] = self.scoring.get_top_evidences(intent, evidences)
        self.logger.info(f"{len(turn['top_evidences'])} of {len(evidences)} evidences")
        return turn["top_evidences"]

    def store_cache(self):
        self.retriever.store_cache()
"""


def test_a_class_with_convinses_import_paths_runs_as_it_stands(workdir, capsys):
    """It has the imports and the form of CONVINSE's `ClocqBM25`."""
    write("their_module.py", THEIRS)
    write("theirs.yml", "base: lexical.yml\nname: theirs\ners: their_module:TheirBM25\nevs_max_evidences: 7\n")
    assert main(["pipeline", "kb_info", "theirs.yml", "--limit", "1"]) == 0
    printed = capsys.readouterr()
    assert "answer presence" in printed.out.lower() and "7 of " in printed.err
    import their_module as theirs

    with Pipeline(theirs.get_config("theirs.yml")) as pipeline:
        turn = pipeline.ask("Who directed the film Titanic?", "kb")["questions"][0]
    gold = [{"id": "Q42574", "label": "James Cameron"}]
    is_present, answering = theirs.answer_presence(turn["top_evidences"], gold)
    assert is_present and len(turn["top_evidences"]) == 7 and 0 < len(answering) < 7
    assert theirs.mrr_score(turn["pred_answers"], gold) == theirs.precision_at_1(turn["pred_answers"], gold) == 1
    assert theirs.hit_at_5([], gold) == theirs.mrr_score([], gold) == 0


OWN = """
import logging
from convinse import EvidenceRetrievalScoring

class Own(EvidenceRetrievalScoring):
    def __init__(self, config):
        super().__init__(config)
        self.logger.info("by self.logger")
        logging.getLogger(__name__).info("by the logger of the module")

    def inference_on_turn(self, turn, sources):
        return open("words.txt").read()
"""


def test_a_command_shows_the_log_of_a_module_and_says_whose_an_error_of_the_system_is(workdir, capsys):
    write("own_module.py", OWN)
    write("own.yml", "base: lexical.yml\ners: own_module:Own\n")
    assert main(["pipeline", "kb", "own.yml", "--limit", "1"]) == 1
    *log, error = capsys.readouterr().err.splitlines()
    assert log[:2] == ["by self.logger", "by the logger of the module"]
    place = f"own_module:Own ({workdir / 'own_module.py'}, line 12)"
    assert error == f"convinse: {place}: No such file or directory: words.txt"


def test_the_configured_conversations_run_by_their_names_for_it(workdir, caplog):
    turns = [{"turn": n, "question": f"{n}?", "answers": [{"id": f"Q{7 + n}", "label": f"gold {n}"}]} for n in range(2)]
    write("test.json", [{"conv_id": "1", "questions": turns}])
    config = configuration(TheirQu, TheirErs, TheirHa, benchmark_path=str(workdir))
    caplog.set_level("INFO", "convinse")
    with Pipeline(config) as pipeline:
        gold = pipeline.run_with_gold_answers(["kb", "kb_text"])
        predicted = pipeline.run_with_predicted_answers("kb", clean_up=True)
    second = [done["kb"][0]["questions"][1]["structured_representation"] for done in (gold, predicted)]
    assert second == ["gold 0 1?", "seven 1?"] and list(gold) == ["kb", "kb_text"]
    assert "kb, predicted answers: P@1 0.500" in caplog.text and "(2 questions)" in caplog.text
