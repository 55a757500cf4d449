"""Learn what follow-ups are about, from conversations whose questions name what they are about (`entities`).

    python -m recipes.referents --kb FOLDER --dump FILE

Learned from are the embedded conversations (train, dev, natural-dev) and ConvMix's development part over wikidata-27k; the
history of each question is right. The first question of each conversation is asked behind turns of others, too, of which it is
not about anything. Five folds by conversation tell what each feature brings (`docs/figures/referents.json`).
"""

import argparse
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from convinse.config import SNAPSHOT, Config, load_config, resolve
from convinse.experiment import read_part
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.question_understanding.referents import FILE, NAMES, FeatureReader, ReferentFeatures, earlier_entities
from convinse.question_understanding.rewriting import earlier_turn, named_items, names_in, pointed, topic_text
from convinse.records.conversation import Conversation, Turn
from convinse.resources import Resources
from convinse.training.answer_ranking import cross_validated
from convinse.training.logit import Choice, fit
from recipes.embedded.rewrites import is_held_out
from recipes.figures import write_table
from recipes.sources import needed, shared_data, write_logit

_COMMAND = "PYTHONPATH=scripts .venv/bin/python -m recipes.referents --kb KB --dump DUMP"
_PARTS = ("train", "dev", "natural-dev")
_L2 = 1.0
_CONVMIX = 0.4  # weight of a question of ConvMix, which comes twice
_CHANGED = 0.25  # weight of a question behind another conversation: at 1 six more of 548 follow-ups lose their topic
_SEED = 7
_MOST_BEFORE = 3  # turns of another conversation before a question
_Question = tuple[Conversation, list[Turn], Turn]  # a question, its conversation, and the turns before it


def questions_in_turn(conversations: Sequence[Conversation]) -> Iterator[_Question]:
    """The questions of conversations behind those before them."""
    for conversation in conversations:
        history: list[Turn] = []
        for turn in conversation["questions"]:
            yield conversation, [*history], turn
            history.append(_in_full(turn))


def questions_behind_others(conversations: Sequence[Conversation]) -> Iterator[_Question]:
    """The first question of each conversation behind turns of one of its domain, and behind turns of one of another."""
    drawn = random.Random(_SEED)
    for conversation in conversations:
        others = [other for other in conversations if other is not conversation]
        alike = [other for other in others if other.get("domain") == conversation.get("domain")]
        for part in (alike, [other for other in others if other not in alike]):
            before = drawn.choice(part or others)["questions"][: drawn.randint(1, _MOST_BEFORE)]
            yield conversation, [*map(_in_full, before)], conversation["questions"][0]


def choices(config: Config, questions: Iterable[_Question], weight: float = 1.0) -> Iterator[Choice]:
    """The things that each question may be about; the features of the question are those of "nothing"."""
    with Resources(config) as resources:
        rewriter, reader = resources.rewriter(), FeatureReader(resources.kb, resources.pages, resources.language)
        for conversation, history, turn in questions:
            spoken = earlier_entities(history)
            present = reader.present_topic(history)
            text = topic_text(list(map(earlier_turn, history)), present)
            pointers = rewriter.pointers([turn["question"]], [text])[0]
            if not spoken or pointers is None:
                continue
            shares = pointed(spoken, list(names_in(text, history)), pointers)
            named = named_items(resources.linker.link(turn["question"], classes=True))
            features = reader.read(turn["question"], spoken, present, shares, named)
            ids = {entity["id"] for entity in turn.get("entities", [])}
            yield Choice(
                np.array(features, np.float64),
                np.array(reader.read_nothing(turn["question"], named), np.float64),
                np.array([thing.entity["id"] in ids for thing in spoken]),
                weight,
                str(conversation.get("group", conversation["conv_id"])),
            )


def _in_full(turn: Turn) -> Turn:
    question, entities = turn["question"], turn.get("entities", [])
    is_named = not entities or entities[0]["label"].casefold() in question.casefold()
    return {
        "question": question,
        "resolved_question": turn.get("completed")
        or (question if is_named else f"{question} ({entities[0]['label']})"),
        "answers": turn.get("answers", []),
        "representation": {"context": [], "entities": entities, "predicate": "", "answer_type": ""},
    }


def without(choice: Choice, feature: int) -> Choice:
    """A choice without a feature, those of "nothing" counted on."""
    every = np.ones(len(NAMES) - 1)
    every[feature] = 0
    of_things, of_nothing = np.split(every, [len(ReferentFeatures._fields)])
    return choice._replace(candidates=choice.candidates * of_things, question=choice.question * of_nothing)


def shares_right(sets: dict[str, list[Choice]]) -> list[str]:
    """The share of the choices of each set that are right, learned from other conversations."""
    every = list(chain.from_iterable(sets.values()))
    (likely,) = cross_validated([every], _L2, NAMES)
    right = [
        bool(np.append(choice.right, not choice.right.any())[chances.argmax()])
        for choice, chances in zip(every, likely, strict=True)
    ]
    parts = np.split(right, np.cumsum([len(part) for part in sets.values()])[:-1])
    return [f"{np.mean(part):.3f}" for part in parts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", required=True, metavar="DIR", help="the knowledge base of wikidata-27k")
    parser.add_argument("--dump", required=True, metavar="FILE", help="a dump of pages of its items")
    options = parser.parse_args()
    embedded = load_config("config.yml")
    real = load_config("wikidata-27k.yml", kb_path=options.kb, ers_wikipedia_dump=options.dump)
    convmix = read_benchmark(needed(shared_data(), "convmix", "dev_wd27k.json.gz"), "convmix", "dev")
    parts = {part: read_part(embedded, part) for part in _PARTS}
    sets = {part: list(choices(embedded, questions_in_turn(conversations))) for part, conversations in parts.items()}
    of_convmix = list(choices(real, questions_in_turn(convmix), _CONVMIX))
    sets |= {"convmix": [], "convmix, unseen by the head": []}
    for choice in of_convmix:
        is_unseen = is_held_out(f"convmix {choice.group}")
        sets["convmix, unseen by the head" if is_unseen else "convmix"].append(choice)
    behind = [choices(embedded, questions_behind_others(conversations), _CHANGED) for conversations in parts.values()]
    sets["behind others"] = [*chain(*behind), *choices(real, questions_behind_others(convmix), _CONVMIX * _CHANGED)]
    cells = [["all of them", *shares_right(sets)]]
    for place, name in enumerate(NAMES[:-1]):
        fewer = {part: [without(choice, place) for choice in choices] for part, choices in sets.items()}
        cells.append([f"without {name}", *shares_right(fewer)])
    counts = [f"{part} ({len(part_choices)})" for part, part_choices in sets.items()]
    title = "follow-ups whose topic is right, by five folds of conversations"
    write_table("referents", _COMMAND, ["features", *counts], cells, title=title)
    trained_on: dict[str, dict[str, int | float]] = {name: {"questions": len(part)} for name, part in sets.items()}
    logit = fit([*chain.from_iterable(sets.values())], _L2, NAMES, trained_on=trained_on)
    write_logit(logit, resolve(SNAPSHOT + "model"), FILE)


if __name__ == "__main__":
    main()
