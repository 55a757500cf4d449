"""Learning from use: a ranking before and after it learned from simulated feedback.

    bash run.sh bench feedback

`learning`: a ranking learns from a third of the train part. With it the pipeline answers the other two thirds as in use, with
predicted history; each answer is rated up if it is right, else down, and a share of those that rate down name the right answer. The
ranking learns from the file of these ratings, as `train ha --from` does; measured are the questions of parts that neither has seen.
"""

import random
from collections.abc import Sequence

import msgspec

from convinse.config import Config, load_config
from convinse.experiment import read_part
from convinse.heterogeneous_answering.extractive import ExtractiveAnswering
from convinse.heterogeneous_answering.ranking import FILE, AnswerWeights
from convinse.pipeline import Pipeline
from convinse.records.conversation import Conversation
from convinse.records.evidence import SOURCES
from convinse.records.feedback import AnsweredQuestion, Feedback
from convinse.resources import Resources
from convinse.scoring.convqa import is_answer
from convinse.support.weights import model_bytes
from convinse.training.answer_ranking import ChoiceSet, choices_of, judged, train_weights, unlinked
from convinse.training.conversations import understand_all, with_evidences
from convinse.training.feedback import feedback_choices, learn, prior_of, tried

from .harness import Bench, Figures, Spec, note, run

_PARTS = ("dev", "natural-dev")
_STRENGTH = 10.0  # of the regularisation of the first ranking
_RATED = "and from ratings of the rest"
_SHARES = (0.0, 0.3, 1.0)  # of the wrong answers, with which the right one is given


def learning(bench: Bench) -> Figures:
    cache = str(bench.cache / "cache")
    config = load_config("config.yml", ers_cache_path=cache)
    with Resources(config) as resources:
        ha = ExtractiveAnswering(config, resources)
        note("turns of all parts ...")
        parts = {part: _choices(ha, part, read_part(config, part)[: bench.size]) for part in ("train", *_PARTS)}
        groups = sorted({choice.group for choice in parts["train"][0].choices})
        first = set(groups[::3])
        weights = train_weights([_within(learned_set, first) for learned_set in parts["train"]], _STRENGTH, "")
        rankings = {"a third of the train part": weights}
        folder = bench.work / "ranking"
        folder.mkdir()
        (folder / FILE).write_bytes(model_bytes(weights))
        conversations = [talk for talk in read_part(config, "train") if str(talk["conv_id"]) not in first]
        answered = _answered(load_config("config.yml", ers_cache_path=cache, ha_ranker=str(folder)), conversations)
        for share in _SHARES:
            file = bench.work / "feedback.jsonl"
            file.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in _ratings(answered, share)))
            learned = feedback_choices(ha, file, SOURCES)
            rows = tried(weights, learned)
            strength = min(rows, key=lambda strength: rows[strength]["log_loss"])
            note(f"{share:.0%}: regularisation {strength:g}")
            rankings[f"{_RATED}, {share:.0%} of the wrong ones with the right answer"] = learn(
                weights, learned, strength
            )
        rankings["all of it, with gold answers"] = train_weights(parts["train"], _STRENGTH, "")
    figures: dict[str, Figures] = {name: _figures(ranking, parts) for name, ranking in rankings.items()}
    bench.compare(
        f"{sum(len(conversation['questions']) for conversation in conversations)} ratings",
        ("the ranking learned from",),
        _COLUMNS,
        {(): figures},
    )
    return figures


def _choices(ha: ExtractiveAnswering, part: str, conversations: Sequence[Conversation]) -> list[ChoiceSet]:
    understand_all(conversations, ha.config, ha.resources)
    turns = [(group, turn.copy()) for group, turn in with_evidences(conversations, ha.config, SOURCES, ha.resources)]
    nameless = (
        [(group, changed) for group, turn in turns if (changed := unlinked(turn)) is not None]
        if part == "train"
        else []
    )
    return [choices_of(part, ha, turns, is_answer), choices_of(f"{part}, names", ha, nameless, is_answer)]


def _within(choice_set: ChoiceSet, groups: set[str]) -> ChoiceSet:
    return ChoiceSet(
        choice_set.name,
        *([c for c in choices if c.group in groups] for choices in (choice_set.choices, choice_set.yes_no)),
    )


def _answered(config: Config, conversations: Sequence[Conversation]) -> list[Conversation]:
    with Pipeline(config) as pipeline:
        return pipeline.run(conversations, SOURCES, use_gold_answers=False)


def _ratings(conversations: Sequence[Conversation], share: float) -> list[Feedback]:
    chance = random.Random(0)
    ratings = []
    for conversation in conversations:
        spoken = [
            AnsweredQuestion(turn["question"], [answer["answer"] for answer in turn["pred_answers"][:1]])
            for turn in conversation["questions"]
        ]
        for place, turn in enumerate(conversation["questions"]):
            is_right, is_told = turn["p_at_1"] == 1.0, chance.random() < share
            ratings.append(
                Feedback(
                    conversation=str(conversation["conv_id"]),
                    history=spoken[:place],
                    rated=spoken[place],
                    rating="up" if is_right else "down",
                    answer=turn["answers"][0]["label"] if is_told and not is_right else "",
                )
            )
    return ratings


def _figures(ranking: AnswerWeights, parts: dict[str, list[ChoiceSet]]) -> Figures:
    prior = prior_of(ranking)
    figures = {}
    for part in _PARTS:
        choices = parts[part][0].choices
        measures = judged(choices, [prior.probabilities(choice) for choice in choices])
        figures |= {f"{part} {name}": measures[name] for name in ("p_at_1", "log_loss")}
    return figures


_COLUMNS = {
    f"{part}: {title}": (f"{part} {name}", "{:.3f}")
    for part in _PARTS
    for title, name in (("P@1", "p_at_1"), ("loss", "log_loss"))
}
SPEC = Spec("feedback", __doc__, {"learning": learning}, (6, None, None))

if __name__ == "__main__":
    run(SPEC)
