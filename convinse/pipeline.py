"""The pipeline of the three stages: question understanding (QU), evidence retrieval (ERS), answering (HA)."""

from __future__ import annotations

import copy
import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from .config import Config, read_config
from .dialogue.answered_turns import add_replies
from .dialogue.dialogue import Dialogue
from .dialogue.earlier_answers import doubt_earlier_answers
from .dialogue.second_readings import try_second_readings
from .dialogue.session import Session, StageReport
from .dialogue.steps import take_steps
from .documents.over import config_over
from .evidence_retrieval_scoring.base import EvidenceRetrievalScoring, retrieve
from .formats.conversations.benchmark import read_benchmark
from .heterogeneous_answering.base import HeterogeneousAnswering, answer
from .question_understanding.base import QuestionUnderstanding, turns_in_step, understand
from .records.conversation import Conversation, Turn, check_conversations
from .records.display import conversation_record
from .records.evidence import DEFAULT_SOURCES, parse_sources
from .resources import Resources
from .resources.live_lookups import look_up_facts, look_up_names
from .scoring.convqa import MEASURES, evaluate
from .stage import Stage, StageName, build, check_methods, keep_evidences, remove_results
from .support.errors import DataError
from .support.registry import find_module

StrPath = str | os.PathLike[str]
LOGGER = logging.getLogger(__name__)
STAGES: dict[StageName, type[Stage]] = {
    "qu": QuestionUnderstanding,
    "ers": EvidenceRetrievalScoring,
    "ha": HeterogeneousAnswering,
}
STAGE_NAMES: list[StageName] = list(STAGES)
_DEPTH = 2  # questions inside each other: "the wife of the actor who played McNulty"


class Pipeline:
    """The three stages of a configuration.

    The stages share files and models, see `Resources`; the reader uses the spans that a joint model
    computed while it ranked the evidences of the same turns. A pipeline is used by a single thread at a time.

    >>> with Pipeline("lexical.yml") as pipeline:
    ...     conversation = pipeline.ask(["Who directed the film Titanic?", "When was he born?"], "kb")
    >>> [turn["pred_answers"][0]["answer"]["label"] for turn in conversation["questions"]]
    ['James Cameron', '16 August 1954']

    Args:
        config: names the modules; each is built from it. A name or path is read as `load_config` does.
        over: a file, a folder, several of them or an index, which answer in place of what is configured. They are indexed as by
            `ask --over`, before the pipeline is there; what changes later is read by the next pipeline.
        use_gold_answers: the default of `run`: whether earlier turns count with their gold answers.
        qu, ers, ha: modules to use instead of the configured ones; `close` does not close what they have opened.
        resources: the shared files and models; its owner closes it. By default the pipeline has its own, and `close`, or the
            end of a `with` block, closes it.
    """

    def __init__(
        self,
        config: Config | StrPath = "config.yml",
        use_gold_answers: bool = True,
        *,
        over: StrPath | Sequence[StrPath] | None = None,
        qu: QuestionUnderstanding | None = None,
        ers: EvidenceRetrievalScoring | None = None,
        ha: HeterogeneousAnswering | None = None,
        resources: Resources | None = None,
    ) -> None:
        self.config = read_config(config)
        if over is not None:
            self.config = config_over(self.config, over)
        self.use_gold_answers = use_gold_answers
        self._is_owner = resources is None
        self.resources = resources or Resources(self.config)
        self._modules = qu, ers, ha
        self._build_stages()
        self.dialogue = Dialogue(self.resources)
        self.seconds: dict[str, float] = dict.fromkeys(STAGE_NAMES, 0.0)

    def _build_stages(self) -> None:
        qu, ers, ha = self._modules
        self.qu: QuestionUnderstanding = qu or build_stage("qu", self.config, self.resources)
        self.ers: EvidenceRetrievalScoring = ers or build_stage("ers", self.config, self.resources)
        self.ha: HeterogeneousAnswering = ha or build_stage("ha", self.config, self.resources)
        for stage in (self.qu, self.ers, self.ha):
            check_methods(stage, STAGES[stage.stage])

    @property
    def conversations_at_once(self) -> int:
        """The number of conversations per call of `run` that is fastest."""
        return max(stage.conversations_at_once for stage in (self.qu, self.ers, self.ha))

    def run(
        self,
        conversations: Iterable[Mapping[str, object]],
        sources: str | Sequence[str] = DEFAULT_SOURCES,
        use_gold_answers: bool | None = None,
        *,
        done_by: Literal["qu", "ers"] | None = None,
        until: StageName = "ha",
    ) -> list[Conversation]:
        """Answer all turns; returns new conversations with what the stages added.

        Args:
            conversations: each a `Conversation`, in the structure of ConvMix; gold answers are optional.
            sources: a combination such as `kb_text`, or a list.
            use_gold_answers: whether earlier turns count with their gold answers (if they have any) or with the
                predicted one; None: as the pipeline was built.
            done_by: the last stage whose results the turns have already, such as those of `formats.stage_files`; they stay.
            until: the last stage to run. If it is not `ha`, earlier turns without gold answers have no answers.
        """
        requested = parse_sources(sources)
        gold = self.use_gold_answers if use_gold_answers is None else use_gold_answers
        done = list(map(_copied, check_conversations(list(conversations), "conversations")))
        turns = [turn for conversation in done for turn in conversation["questions"]]
        first = 0 if done_by is None else STAGE_NAMES.index(done_by) + 1
        stages = STAGE_NAMES[first : STAGE_NAMES.index(until) + 1]
        for turn in turns:
            remove_results(turn, STAGE_NAMES[first:])
            if done_by == "ers":
                keep_evidences(self.ers, turn, None, requested, self.config.evs_max_evidences)
        by_turn: list[Conversation] = []  # without all gold answers a turn waits for the predicted answers before it
        at_once: list[Conversation] = []
        for conversation in done:
            has_gold = gold and all(turn.get("answers") for turn in conversation["questions"])
            (at_once if has_gold or not {"qu", "ha"}.issubset(stages) else by_turn).append(conversation)
        for step, histories in turns_in_step(by_turn, gold):
            self._run_stages(stages, step, histories, requested, gold)
        if "qu" in stages:
            for step, histories in turns_in_step(at_once, gold):
                self._run_stages(["qu"], step, histories, requested, gold)
        turns = [turn for conversation in at_once for turn in conversation["questions"]]
        if turns:
            self._run_stages([stage for stage in stages if stage != "qu"], turns, (), requested, gold)
        return done

    def run_with_gold_answers(
        self, sources: str | Sequence[str] = DEFAULT_SOURCES, clean_up: bool = False
    ) -> dict[str, list[Conversation]]:
        """Answer the configured test conversations; earlier turns count with their gold answers.

        Nothing is written but the log; `experiment.run_experiment` and the command `pipeline` write results.

        Args:
            sources: a combination such as `kb_text`, or a list of combinations.
            clean_up: whether to close the pipeline afterwards.

        Returns:
            The conversations by combination, with measures in each turn.
        """
        return self._run_configured(sources, True, clean_up)

    def run_with_predicted_answers(
        self, sources: str | Sequence[str] = DEFAULT_SOURCES, clean_up: bool = False
    ) -> dict[str, list[Conversation]]:
        """Answer the test conversations as `run_with_gold_answers` does; earlier turns count with their predicted answers."""
        return self._run_configured(sources, False, clean_up)

    def _run_configured(
        self, sources: str | Sequence[str], gold: bool, clean_up: bool
    ) -> dict[str, list[Conversation]]:
        conversations = read_benchmark(self.config.input_path("test"), self.config.benchmark)
        done = {}
        for combination in _several(sources):
            done[combination] = self.run(conversations, combination, gold)
            measures = evaluate(done[combination])
            kind = "gold" if gold else "predicted"
            LOGGER.info(
                "%s, %s answers: P@1 %.3f, MRR %.3f, Hit@5 %.3f, answer presence %.3f (%d questions)", combination, kind,
                *(measures[name] for name in MEASURES), measures["num_questions"],
            )  # fmt: skip
        if clean_up:
            self.close()
        return done

    def ask(self, questions: str | Sequence[str], sources: str | Sequence[str] = DEFAULT_SOURCES) -> Conversation:
        """Answer a question, or the questions of a conversation; earlier turns count with their predicted answers."""
        return conversation_record({"conv_id": "ask"}, self.turns(questions, sources))

    def turns(self, questions: str | Sequence[str], sources: str | Sequence[str] = DEFAULT_SOURCES) -> Iterator[Turn]:
        """Yield the turns of `ask`, each as soon as it is answered and before the next begins."""
        session = self.session(sources)
        for question in _several(questions):
            yield session.ask(question)

    def session(
        self, sources: str | Sequence[str] = DEFAULT_SOURCES, conversation: Conversation | None = None
    ) -> Session:
        """Return a session: a conversation to which each `ask` adds a turn.

        Args:
            sources: a combination such as `kb_text`, or a list.
            conversation: the `conversation` of an earlier session, to continue it.

        Raises:
            ConfigError: a source is unknown.
            DataError: the conversation is not one of a session; the text names the turn and the key.
        """
        return Session(self.answer_turns, sources, conversation)

    def answer_turns(
        self,
        turns: Sequence[Turn],
        histories: Sequence[Sequence[Turn]],
        sources: Sequence[str],
        report: StageReport | None = None,
        *,
        use_gold_answers: bool = False,
        until: StageName = "ha",
    ) -> None:
        """Understand and answer turns of different conversations together, in place.

        If all stages run, without gold answers, acts of talk ("thanks") are understood too, and replies are added.

        Args:
            turns: new turns with a `question`.
            histories: the turns before each of them, from `history_turn`.
            sources: the sources, from `parse_sources`.
            report: called with the name of a stage as soon as the turns have its results.
            use_gold_answers: whether earlier turns count with their gold answers.
            until: the last stage to run.
        """
        with (
            self.resources.unchanging() as is_renewed
        ):  # if an index has changed, the next question reads the new state
            if is_renewed:
                self._build_stages()
            self._answer_turns(turns, histories, sources, report, use_gold_answers, until)

    def _answer_turns(
        self,
        turns: Sequence[Turn],
        histories: Sequence[Sequence[Turn]],
        sources: Sequence[str],
        report: StageReport | None,
        use_gold_answers: bool,
        until: StageName,
    ) -> None:
        stages = STAGE_NAMES[: STAGE_NAMES.index(until) + 1]
        is_dialogue = until == "ha" and not use_gold_answers

        def compute(
            turns: Sequence[Turn], histories: Sequence[Sequence[Turn]], progress: StageReport | None = report
        ) -> None:
            self._run_stages(stages, turns, histories, sources, use_gold_answers, progress)
            if is_dialogue:
                add_replies(self.ha, turns, histories, sources, self.resources)

        if is_dialogue:
            self.dialogue.answer(turns, histories, sources, compute, partial(compute, progress=None))
        else:
            compute(turns, histories)

    def _run_stages(
        self,
        stages: Sequence[StageName],
        turns: Sequence[Turn],
        histories: Sequence[Sequence[Turn]],
        sources: Sequence[str],
        use_gold_answers: bool,
        report: StageReport | None = None,
        depth: int = _DEPTH,
    ) -> None:
        for stage in stages:
            start = time.perf_counter()
            if stage == "qu":
                if look_up_names(self.resources, turns, histories):
                    self._build_stages()
                understand(self.qu, turns, histories, use_gold_answers)
            elif stage == "ers":
                self.resources.models.clear_spans()  # they are of earlier turns
                if look_up_facts(self.resources, turns):
                    self._build_stages()
                retrieve(self.ers, turns, sources, self.config.evs_max_evidences)
            else:
                answer(self.ha, turns, sources, self.config.ha_max_answers)
            self.seconds[stage] += time.perf_counter() - start
            if report is not None and stage != "ha":
                report(stage)
        # answering again must be quick: a language model would be asked several times
        if depth and "ha" in stages and self.ha.can_answer_again:
            least = self.config.ha_abstain_below
            inner = partial(self._answer_inner, sources=sources, depth=depth - 1)
            take_steps(turns, sources, least, self.resources.language.steps, inner)
            understood = partial(
                self._run_stages, ("ers", "ha"), histories=(), sources=sources, use_gold_answers=False, depth=depth
            )
            try_second_readings(turns, sources, least, understood)
            if histories and not use_gold_answers:
                doubt_earlier_answers(turns, histories, least)
        if report is not None and "ha" in stages:
            report("ha")

    def _answer_inner(self, turns: Sequence[Turn], sources: Sequence[str], depth: int) -> None:
        """Answer questions that are parts of others, without a history."""
        if turns:
            self._run_stages(STAGE_NAMES, turns, [[]] * len(turns), sources, False, depth=depth)

    def store_cache(self) -> None:
        """Let the stages write their caches."""
        for stage in (self.qu, self.ers, self.ha):
            stage.store_cache()

    def close(self) -> None:
        """Let the stages write their caches, and close the resources unless they were given by the caller."""
        self.store_cache()
        if self._is_owner:
            self.resources.close()

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def ask(
    question: str,
    sources: str | Sequence[str] = DEFAULT_SOURCES,
    *,
    over: StrPath | Sequence[StrPath] | None = None,
    config: Config | StrPath = "config.yml",
) -> Turn:
    """Return the turn that answers one question; a `Pipeline` answers further ones without opening everything again.

    >>> ask("Who directed the film Titanic?", config="lexical.yml")["pred_answers"][0]["answer"]["label"]
    'James Cameron'
    """
    with Pipeline(config, over=over) as pipeline:
        return pipeline.session(sources).ask(question)


def build_stage(stage: StageName, config: Config, resources: Resources | None = None) -> Any:
    """Return the configured module of a stage (`qu`, `ers`, `ha`), a subclass of the stage's base class."""
    return build(find_module(stage, config[stage], STAGES[stage]), config, resources or Resources(config))


def _copied(conversation: Conversation) -> Conversation:
    try:
        return copy.deepcopy(conversation)
    except RecursionError:
        raise DataError(f"conversation '{conversation['conv_id']}': a value is nested too deep") from None


def _several(texts: str | Sequence[str]) -> Sequence[str]:
    # a caller may give one text in place of a list
    return [texts] if isinstance(texts, str) else texts
