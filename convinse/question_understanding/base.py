"""The base class of question understanding modules, and the history that they read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..records.conversation import Conversation, Turn, Understanding, new_turn
from ..records.evidence import Entity, question_items
from ..records.literals import is_item
from ..stage import Stage, inferred, keep_understanding, results_of

_OF_TALK = ("act", "clarification", "actual_question", "replaces", "meanings", "abstained", "extent")


class QuestionUnderstanding(Stage):
    """Question understanding (QU): from a question and its history to its representation.

    A module of your own inherits this class, implements `inference_on_turn` and is named in the configuration as
    `qu: package.module:Class`.

    >>> class WholeHistory(QuestionUnderstanding):
    ...     def inference_on_turn(self, turn, history_turns):
    ...         return " ".join(earlier["question"] for earlier in [*history_turns, turn])
    >>> history = [{"question": "Who directed Titanic?"}]
    >>> WholeHistory(load_config("lexical.yml")).inference_on_turn({"question": "When was he born?"}, history)
    'Who directed Titanic? When was he born?'

    Attributes:
        use_gold_answers: earlier turns count with their gold answers in the current run.
    """

    stage = "qu"
    use_gold_answers = True

    def inference_on_turn(self, turn: Turn, history_turns: Sequence[Turn]) -> str | Understanding:
        """Return the intent-explicit representation of a question.

        Args:
            turn: the current turn; its `answers` must not be read.
            history_turns: the earlier turns, oldest first, with `question`, `structured_representation`, `answers` (the gold
                answers, or, with `--pred-answers`, the predicted answer), and, if set, `turn`, `representation` and
                `resolved_question` (and `pred_answers` with `--pred-answers`).

        Returns:
            The representation as a string, or an `Understanding`. Items of a `representation` with ids are not linked again.
        """
        return self.inference_on_turns([turn], [history_turns])[0]

    def inference_on_turns(
        self, turns: Sequence[Turn], histories: Sequence[Sequence[Turn]]
    ) -> Sequence[str | Understanding]:
        """Return the representations of turns of different conversations with their histories."""
        return [self.inference_on_turn(turn, history) for turn, history in zip(turns, histories, strict=True)]


def history_turn(turn: Turn, use_gold_answers: bool) -> Turn:
    """Return an earlier turn for later turns: with its gold answers if they are used and present, else its best predicted answer."""
    answers = turn.get("answers") if use_gold_answers else None
    if not answers:
        answers = [ranked["answer"] for ranked in turn.get("pred_answers", [])[:1]]
        if "abstained" in turn:  # later questions are hardly about a guess: it is no item
            answers = [{"id": answer["label"], "label": answer["label"]} for answer in answers]
        elif answers and "definition" in turn["pred_answers"][0].get("reasons", ()):
            thing = answers[0]["id"]  # they are about what was described, not about the description
            answers = [] if is_item(thing) else [{"id": thing, "label": thing}]
    earlier = new_turn(
        question=turn["question"], structured_representation=turn.get("structured_representation", ""), answers=answers
    )
    for key in ("turn", "representation", "resolved_question"):
        if key in turn:
            earlier[key] = turn[key]
    if use_gold_answers:
        return earlier
    if "pred_answers" in turn:
        # modules in CONVINSE's style expect the entity beside its rank
        earlier["pred_answers"] = [{**answer["answer"], **answer} for answer in turn["pred_answers"]]  # type: ignore[typeddict-unknown-key]
    # talk about the turn needs its reading, and the first evidence that its best answer rests on
    for key in _OF_TALK:
        if key in turn:
            earlier[key] = turn[key]  # type: ignore[literal-required]
    if "parts" in turn:
        earlier["parts"] = [history_turn(part, use_gold_answers=False) for part in turn["parts"]]
    places = [reason["evidence"] for reason in turn.get("attribution", [])]
    if not places and turn.get("pred_answers"):
        places = [*turn["pred_answers"][0].get("evidences", ())]
    if places:
        earlier["top_evidences"] = [turn["top_evidences"][places[0]]]
    representation = turn.get("representation")
    if representation is not None and "abstained" in turn and "unlinked" in representation:
        # "he" behind "who is X?" is X, still unknown
        names: list[Entity] = [{"id": name["name"], "label": name["name"]} for name in representation["unlinked"]]
        earlier["representation"] = {**representation, "entities": [*names, *representation["entities"]]}
        earlier["answers"] = []
    elif representation is not None and not representation["entities"]:
        # nothing was linked: later turns are about the item of the best answer's evidence
        best = turn.get("pred_answers", [])[:1] if "abstained" not in turn else []
        cited = [place for ranked in best for place in ranked.get("evidences", [])[:1]]
        evidences = [turn["top_evidences"][place] for place in cited if place < len(turn.get("top_evidences", ()))]
        earlier["representation"] = {**representation, "entities": question_items(evidences)}
    return earlier


def turns_in_step(
    conversations: Sequence[Conversation], use_gold_answers: bool
) -> Iterator[tuple[list[Turn], list[list[Turn]]]]:
    """Yield the first turns of all conversations with their histories, then the second turns, and so on.

    The turns of a step must be understood, and answered unless gold answers count, before the next step is read.
    """
    for number in range(max((len(conversation["questions"]) for conversation in conversations), default=0)):
        reached = [c["questions"] for c in conversations if number < len(c["questions"])]
        histories = [[history_turn(earlier, use_gold_answers) for earlier in turns[:number]] for turns in reached]
        yield [turns[number] for turns in reached], histories


def understand(
    module: QuestionUnderstanding, turns: Sequence[Turn], histories: Sequence[Sequence[Turn]], use_gold_answers: bool
) -> None:
    """Let a module represent turns of different conversations, with their histories of `history_turn`s.

    Raises:
        ModuleError: the module made no representation of a turn.
    """
    module.use_gold_answers = use_gold_answers
    results = results_of(module, inferred(module, QuestionUnderstanding, turns, histories), turns)
    for turn, understanding in zip(turns, results, strict=True):
        keep_understanding(module, turn, understanding)
