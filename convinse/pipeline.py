"""QU -> ERS -> HA over conversations. Knows the three base classes only."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

from .config import Config
from .evidence_retrieval_scoring.base import EvidenceRetrievalScoring
from .heterogeneous_answering.base import HeterogeneousAnswering
from .question_understanding.base import QuestionUnderstanding, understand
from .records.conversation import Conversation, Turn, check_conversations
from .records.evidence import DEFAULT_SOURCES, parse_sources
from .resources import Resources
from .stage import build
from .support.registry import find_module
from .turn_results import all_returned, keep_all_evidences, keep_answers, without_results

STAGES = {"qu": QuestionUnderstanding, "ers": EvidenceRetrievalScoring, "ha": HeterogeneousAnswering}


class Pipeline:
    """The three stages of a configuration.

    The stages share what is opened, see `Resources`, and with `ha_share_pass` the reader takes what a joint model has read
    while it ranked the evidences of the same turns. One thread uses a pipeline at a time.

    Args:
        config: names the modules; each is built from it.
        qu, ers, ha: modules to use instead of the named ones; they keep what they have opened.
        resources: what the modules share; its owner closes it. By default the pipeline has its own, and `close`, or the end
            of a `with` block, closes it.
    """

    def __init__(
        self,
        config: Config,
        *,
        qu: QuestionUnderstanding | None = None,
        ers: EvidenceRetrievalScoring | None = None,
        ha: HeterogeneousAnswering | None = None,
        resources: Resources | None = None,
    ) -> None:
        self.config = config
        self._is_owner = resources is None
        self.resources = resources or Resources(config)
        self.qu: QuestionUnderstanding = qu or build_stage("qu", config, self.resources)
        self.ers: EvidenceRetrievalScoring = ers or build_stage("ers", config, self.resources)
        self.ha: HeterogeneousAnswering = ha or build_stage("ha", config, self.resources)
        self.seconds = {"qu": 0.0, "ers": 0.0, "ha": 0.0}

    @property
    def conversations_at_once(self) -> int:
        """How many conversations `run` is best given together."""
        return max(self.qu.conversations_at_once, self.ers.conversations_at_once)

    def run(
        self,
        conversations: Iterable[Conversation],
        sources: str | Sequence[str] = DEFAULT_SOURCES,
        use_gold_answers: bool = True,
    ) -> list[Conversation]:
        """Answer all turns; returns new conversations with what the stages added.

        Args:
            conversations: in the ConvMix structure; gold answers are optional.
            sources: a combination such as `kb_text`, or a list.
            use_gold_answers: whether earlier turns count with their gold answers (where they have any) or with the
                predicted one.
        """
        wanted = parse_sources(sources)
        done = [
            copy.deepcopy(conversation) for conversation in check_conversations(list(conversations), "conversations")
        ]
        for conversation in done:
            for turn in conversation["questions"]:
                without_results(turn)
        # with gold answers nothing of a turn waits for the evidences of those before it
        gold = use_gold_answers and all(turn.get("answers") for c in done for turn in c["questions"])
        for number in range(max((len(conversation["questions"]) for conversation in done), default=0)):
            turns = self._understood(done, number, use_gold_answers)
            if not gold:
                self._answer(turns, wanted)
        if gold:
            self._answer([turn for conversation in done for turn in conversation["questions"]], wanted)
        return done

    def ask(self, questions: Sequence[str], sources: str | Sequence[str] = DEFAULT_SOURCES) -> Conversation:
        """Answer the questions of one conversation; earlier turns count with their predicted answers."""
        return {"conv_id": "ask", "questions": list(self.turns(questions, sources))}

    def turns(self, questions: Sequence[str], sources: str | Sequence[str] = DEFAULT_SOURCES) -> Iterator[Turn]:
        """As `ask`: the turns, each as soon as it is answered and before the next is begun."""
        wanted = parse_sources(sources)
        turns: list[Turn] = [{"turn": number, "question": question} for number, question in enumerate(questions)]
        asked = check_conversations([{"conv_id": "ask", "questions": turns}], "conversations")
        for number in range(len(turns)):
            (turn,) = self._understood(asked, number, use_gold_answers=False)
            self._answer([turn], wanted)
            yield turn

    def _understood(self, conversations: list[Conversation], number: int, use_gold_answers: bool) -> list[Turn]:
        start = time.perf_counter()
        turns = understand(self.qu, conversations, number, use_gold_answers)
        self.seconds["qu"] += time.perf_counter() - start
        return turns

    def _answer(self, turns: list[Turn], sources: Sequence[str]) -> None:
        self.resources.models.forget()  # what was read for other turns
        start = time.perf_counter()
        retrieved = self.ers.inference_on_turns(turns, sources)
        keep_all_evidences(self.ers, turns, retrieved, sources, self.config.evs_max_evidences)
        middle = time.perf_counter()
        answered = all_returned(self.ha, self.ha.inference_on_turns(turns, sources), turns)
        for turn, answers in zip(turns, answered, strict=True):
            keep_answers(self.ha, turn, answers, self.config.ha_max_answers)
        self.seconds["ers"] += middle - start
        self.seconds["ha"] += time.perf_counter() - middle

    def store_cache(self) -> None:
        """Let the stages store what they keep between runs."""
        for stage in (self.qu, self.ers, self.ha):
            stage.store_cache()

    def close(self) -> None:
        """Let the stages store what they keep, and close what the pipeline opened."""
        self.store_cache()
        if self._is_owner:
            self.resources.close()

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def build_stage(stage: str, config: Config, resources: Resources | None = None) -> Any:
    """The module of a stage (`qu`, `ers`, `ha`) that the configuration names; it inherits the stage's base class."""
    return build(find_module(stage, getattr(config, stage), STAGES[stage]), config, resources or Resources(config))
