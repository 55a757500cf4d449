"""The base class of question understanding modules, and what they are given of earlier turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..records.conversation import Conversation, Turn, Understanding
from ..records.evidence import Entity
from ..stage import Stage
from ..turn_results import keep_understanding, results_of


class QuestionUnderstanding(Stage):
    """Question understanding (QU): from a question and its history to its representation.

    A module of your own inherits this class, implements `inference_on_turn` and is named in the configuration as
    `qu: package.module:Class`.

    Attributes:
        use_gold_answers: whether earlier turns count with their gold answers, in the run that is going on.
    """

    stage = "qu"
    use_gold_answers = True

    def inference_on_turn(self, turn: Turn, history_turns: Sequence[Turn]) -> str | Understanding:
        """The intent-explicit representation of one question.

        Args:
            turn: the current turn; its `answers` are not to be looked at.
            history_turns: the earlier turns, oldest first, with `question`, `structured_representation`, `answers` (the
                gold ones, or, with `--pred-answers`, the predicted one), and `turn`, `representation` and
                `resolved_question` where they have them (and `pred_answers` with `--pred-answers`).

        Returns:
            The representation as a string, or all that is known: see `Understanding`. Of a `representation` with ids, the
            items are not linked again.
        """
        return self._batch([turn], [history_turns])[0]  # type: ignore[no-any-return]

    def inference_on_turns(
        self, turns: Sequence[Turn], histories: Sequence[Sequence[Turn]]
    ) -> Sequence[str | Understanding]:
        """The representations of turns of different conversations, each with its history."""
        return [self.inference_on_turn(turn, history) for turn, history in zip(turns, histories, strict=True)]


def history_turn(turn: Turn, use_gold_answers: bool) -> Turn:
    """What a later turn may know of an earlier turn: its gold answers where wanted and known, else its best predicted answer."""
    answers = turn.get("answers") if use_gold_answers else None
    if not answers:
        answers = [ranked["answer"] for ranked in turn.get("pred_answers", [])[:1]]
        if "abstained" in turn:  # a guess is no item that later questions are about
            answers = [{"id": answer["label"], "label": answer["label"]} for answer in answers]
    known: Turn = {
        "question": turn["question"],
        "structured_representation": turn.get("structured_representation", ""),
        "answers": answers,
    }
    if not use_gold_answers and "pred_answers" in turn:
        # where modules in CONVINSE's style look: there the entity stands beside its rank
        known["pred_answers"] = [{**answer["answer"], **answer} for answer in turn["pred_answers"]]  # type: ignore[typeddict-unknown-key]
    for key in ("turn", "representation", "resolved_question"):
        if key in turn:
            known[key] = turn[key]
    if not use_gold_answers:
        _keep_talk(known, turn)
    meant = turn.get("representation")
    if meant is not None and not meant["entities"] and not use_gold_answers:
        known["representation"] = {**meant, "entities": found_about(turn)}
    return known


_OF_TALK = ("act", "clarification", "actual_question", "replaces", "meanings", "abstained")


def _keep_talk(known: Turn, turn: Turn) -> None:
    """Keep what talk about a turn needs: how it was said, and the first evidence that its best answer rests on."""
    for key in _OF_TALK:
        if key in turn:
            known[key] = turn[key]  # type: ignore[literal-required]
    if "parts" in turn:
        known["parts"] = [history_turn(part, use_gold_answers=False) for part in turn["parts"]]
    reasons = [reason["evidence"] for reason in turn.get("attribution", [])]
    places = reasons or [place for ranked in turn.get("pred_answers", [])[:1] for place in ranked.get("evidences", [])]
    if places:
        known["top_evidences"] = [turn["top_evidences"][places[0]]]


def found_about(turn: Turn) -> list[Entity]:
    """The item that the evidence of a turn's best answer was retrieved for, unless it abstained; later turns are about it where
    linking found nothing."""
    best = turn.get("pred_answers", [])[:1]
    places = best[0].get("evidences", [])[:1] if best and "abstained" not in turn else []
    evidences = [turn["top_evidences"][place] for place in places if place < len(turn.get("top_evidences", ()))]
    return [evidence["retrieved_for_entity"] for evidence in evidences if "retrieved_for_entity" in evidence]


def turns_in_step(
    conversations: Sequence[Conversation], use_gold_answers: bool
) -> Iterator[tuple[list[Turn], list[list[Turn]]]]:
    """The first turns of all conversations with their histories, then the second ones, and so on.

    The turns of a step must be understood, and answered unless gold answers count, before the next step is asked for.
    """
    for number in range(max((len(conversation["questions"]) for conversation in conversations), default=0)):
        reached = [c["questions"] for c in conversations if number < len(c["questions"])]
        histories = [[history_turn(earlier, use_gold_answers) for earlier in turns[:number]] for turns in reached]
        yield [turns[number] for turns in reached], histories


def understand(
    module: QuestionUnderstanding, turns: Sequence[Turn], histories: Sequence[Sequence[Turn]], use_gold_answers: bool
) -> None:
    """Let a module represent turns of different conversations, each with its history of `history_turn`s.

    Raises:
        ModuleError: the module made no representation of a turn.
    """
    module.use_gold_answers = use_gold_answers
    results = results_of(module, module.inference_on_turns(turns, histories), turns)
    for turn, understanding in zip(turns, results, strict=True):
        keep_understanding(module, turn, understanding)
