"""The shipped rankings of answers anew, after a change of the embedded model, of what finds answers, or of the data.

    PYTHONPATH=scripts python -m recipes.answers [--data ../shared/data] [--work cache/answers] [--ablations]

Learns from the embedded conversations to train and to choose by (all sources), also with answers that are not items: the ranking of
`ha: extractive` (`snapshot/answers`, for the narrower reader `snapshot/small`), and without a reader that of `ha: entity_voting`
(`snapshot/voting`). The former also learn from ConvMix over wikidata-27k, another knowledge base. That of questions over
documents (`snapshot/documents`) learns from collections of files (`recipes.collections`). With `--ablations` it
writes `docs/figures/ablations.json`: what each feature and each operation is worth, cross-validated by whole conversations.
The turns with their evidences are kept in the folder `work`; delete it after a change of what finds them.
"""

import argparse
import json
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from convinse.cli.documents import update_index
from convinse.config import Config, load_config, resolve
from convinse.documents.index import RANKER as DOCUMENTS
from convinse.documents.index import settings_over
from convinse.experiment import read_part
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.heterogeneous_answering.computed import OPERATIONS
from convinse.heterogeneous_answering.entity_voting import SHIPPED as VOTING
from convinse.heterogeneous_answering.entity_voting import EntityVoting
from convinse.heterogeneous_answering.extractive import ExtractiveAnswering
from convinse.heterogeneous_answering.features import Features, QuestionFeatures
from convinse.heterogeneous_answering.question import NO, YES
from convinse.heterogeneous_answering.ranking import SHIPPED
from convinse.records.conversation import Conversation, Turn, new_turn
from convinse.records.evidence import SOURCES, Evidence
from convinse.resources import Resources
from convinse.scoring.significance import p_value
from convinse.support.files import replacing
from convinse.support.logit import feature_names
from convinse.training.answer_ranking import (
    RISING,
    ChoiceSet,
    best_strength,
    choices_of,
    cross_validated,
    unlinked,
    write_ranking,
)
from convinse.training.conversations import grouped_turns
from convinse.wikipedia.page import sentence_places
from recipes.built_sources import INTRODUCTIONS, build_sources, is_right
from recipes.collections import collections, is_right_in_words
from recipes.embedded.examples import chooses, part_of_key
from recipes.embedded.statements import of_set
from recipes.figures import write_table
from recipes.sources import needed, shared_data

_COMMAND = "PYTHONPATH=scripts .venv/bin/python -m recipes.answers"
_PARTS = ("train", "dev", "natural-dev")
_NAMES = ", names"  # sets whose answers are not items
_FOREIGN = "convmix"
_SMALL = "snapshot:small"
_CONVMIX = ("convmix", "dev_wd27k.json.gz")
_BOOLQ = "boolq"  # of the embedded conversations to choose by only 23 questions ask for yes or no
_CARDS = msgspec.yaml.decode(Path(__file__).with_suffix(".yml").read_bytes(), type=dict[str, dict[str, str]])
_Turns = list[tuple[str, Turn]]


def kept_turns(
    name: str, base: str, settings: Mapping[str, str], conversations: Sequence[Conversation],
    sources: Sequence[str], work: Path,
) -> _Turns:  # fmt: skip
    """The turns of conversations, each with its group and evidences, from the folder `work` if they are there."""
    path = work / f"{Path(base).stem}-{name}.jsonl"
    if not path.is_file():
        source = work / f"{name}.json"
        source.write_text(json.dumps(conversations), encoding="utf-8")
        config = load_config(base, **settings, train_input_path=str(source.resolve()), benchmark="convmix", benchmark_path=".",
                             ers_cache_path=str(work / "cache"))  # fmt: skip
        with (
            Resources(config) as resources,
            replacing(path) as temporary,
            temporary.open("w", encoding="utf-8") as file,
        ):
            for grouped in grouped_turns(config, "train", sources, resources):
                file.write(f"{json.dumps(grouped)}\n")
    return [(group, turn) for group, turn in map(json.loads, path.read_text(encoding="utf-8").splitlines())]


def file_sets(data: Path, work: Path) -> tuple[list[ChoiceSet], Config]:
    """The choices of questions over collections of files, and a configuration that answers them."""
    sets: dict[str, ChoiceSet] = {}
    for part, files, conversations in collections(data, work / "files"):
        index, folder = work / "index" / files.name, work / f"{part} {files.name}"
        folder.mkdir(exist_ok=True)
        update_index(index, [files], "snapshot:model", quiet=True)
        settings = settings_over(index)
        titles = {talk["questions"][0]["question"]: str(talk["group"]) for talk in conversations if "group" in talk}
        grouped = kept_turns("turns", "config.yml", settings, conversations, SOURCES, folder)
        turns = [(titles.get(turn["question"], group), turn) for group, turn in grouped]
        with ExitStack() as stack:
            module = world_of("config.yml", {}, settings, folder, stack).module
            learned = choices_of(part, module, turns, is_right_in_words)
        before = sets.setdefault(part, ChoiceSet(part, [], []))
        before.choices.extend(learned.choices)
        before.yes_no.extend(learned.yes_no)
    return list(sets.values()), module.config


class World(NamedTuple):
    module: ExtractiveAnswering | EntityVoting
    turns: dict[str, _Turns]


def every_set(worlds: Sequence[World]) -> list[ChoiceSet]:
    """The choices of each set of turns."""
    return [choices_of(name, module, part, is_right) for module, turns in worlds for name, part in turns.items()]


def learned_sets(sets: Sequence[ChoiceSet]) -> list[ChoiceSet]:
    """The choices that the order of candidates is learned from: of ConvMix the questions with a right candidate."""
    learned = []
    for name, choices, yes_no in sets:
        if name == _FOREIGN:
            choices, yes_no = [choice for choice in choices if choice.right.any()], []
        learned.append(ChoiceSet(name, choices, yes_no))
    return learned


def turns_of(base: str, work: Path) -> dict[str, _Turns]:
    parts = {part: read_part(load_config(base), part) for part in _PARTS}
    turns = {part: kept_turns(part, base, {}, file, SOURCES, work) for part, file in parts.items()}
    if base != "lexical.yml":
        for part in _PARTS[:2]:
            nameless = ((group, unlinked(turn)) for group, turn in turns[part])
            turns[part + _NAMES] = [(group, kept_turn) for group, kept_turn in nameless if kept_turn is not None]
    return turns


def convmix_turns(settings: Mapping[str, str], data: Path, work: Path) -> dict[str, _Turns]:
    """The turns of ConvMix (dev) over wikidata-27k; of the two wordings of a conversation the first."""
    groups: dict[Any, Conversation] = {}
    for conversation in read_benchmark(needed(data, *_CONVMIX), "convmix"):
        groups.setdefault(conversation.get("group", conversation["conv_id"]), conversation)
    return {_FOREIGN: kept_turns(_FOREIGN, "wikidata-27k.yml", settings, list(groups.values()), SOURCES, work)}


def decided_set(module: ExtractiveAnswering, data: Path) -> ChoiceSet:
    """The questions of BoolQ that the yes/no head has not learned from, with the sentences of their passages as evidences."""
    turns: _Turns = []
    for question, passage, yes, key in of_set(_BOOLQ, data):
        if part_of_key(key) == "dev" and chooses(key):
            evidences = [
                Evidence(
                    evidence_text=f"{key}, {passage[start:end]}",
                    source="text",
                    wikidata_entities=[],
                    disambiguations=[],
                    score=1.0,
                )
                for start, end in sentence_places(passage)
            ]
            text, answers = f"{question[:1].upper()}{question[1:]}?", [YES if yes else NO]
            turn = new_turn(question=text, resolved_question=text, top_evidences=evidences, answers=answers)
            turns.append((key, turn))
    return ChoiceSet(_BOOLQ, [], choices_of(_BOOLQ, module, turns, is_right).yes_no)


def world_of(base: str, turns: dict[str, _Turns], settings: Mapping[str, str], work: Path, stack: ExitStack) -> World:
    """The answering module of a configuration, whose resources are closed with `stack`."""
    config = load_config(base, **settings, ers_cache_path=str(work / "cache"))
    resources = stack.enter_context(Resources(config))
    kind = EntityVoting if config.ha == "entity_voting" else ExtractiveAnswering
    return World(kind(config, resources), turns)


# -- ablations ---------------------------------------------------------------------------------------------------------


def rights(sets: Sequence[ChoiceSet], l2: float, columns: Sequence[int]) -> dict[str, np.ndarray]:
    """[n] of each part whether the best candidate is right, by weights of some features learned from other conversations."""
    names = feature_names([Features._fields[column] for column in columns], QuestionFeatures._fields)
    choices = [
        [choice._replace(candidates=choice.candidates[:, columns]) for choice in choice_set.choices]
        for choice_set in sets
    ]
    right = {}
    for full, chosen, likely in zip(sets, choices, cross_validated(choices, l2, names, RISING), strict=True):
        best = [chances[:-1].argmax() if len(chances) > 1 else None for chances in likely]
        pairs = zip(chosen, best, strict=True)
        right[full.name] = np.array([place is not None and choice.right[place] for choice, place in pairs], float)
    return right


def compared(sets: Sequence[ChoiceSet], whole: Mapping[str, np.ndarray], right: Mapping[str, np.ndarray]) -> list[str]:
    """P@1 of each part without something, the questions that it loses and wins, and the p-value by conversations."""
    shares, groups, lost, won = [], defaultdict[str, float](float), 0, 0
    for name, choices, _ in sets:
        if name.endswith(_NAMES):
            continue
        gaps = right[name] - whole[name]
        shares.append(f"{right[name].mean():.3f}")
        lost, won = lost + int((gaps < 0).sum()), won + int((gaps > 0).sum())
        for choice, gap in zip(choices, gaps, strict=True):
            groups[f"{name} {choice.group}"] += gap
    return [" / ".join(shares), f"{lost}, {won}", f"{p_value(groups.values()):.2f}"]


def ablations(worlds: Sequence[World]) -> dict[str, list[str]]:
    sets = learned_sets(every_set(worlds))
    l2, _ = best_strength(sets)
    every = list(range(len(Features._fields)))
    whole = rights(sets, l2, every)
    rows = {"nothing": [compared(sets, whole, whole)[0], "", ""]}
    for place, name in enumerate(Features._fields):
        fewer = [column for column in every if column != place]
        rows[f"`{name}`"] = compared(sets, whole, rights(sets, l2, fewer))
    for name, operation in list(OPERATIONS.items()):
        del OPERATIONS[name]
        without = learned_sets(every_set(worlds))
        rows[f"operation `{name}`"] = compared(without, whole, rights(without, l2, every))
        OPERATIONS[name] = operation
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=shared_data(), help="the shared data")
    parser.add_argument("--work", type=Path, default=Path("cache/answers"), metavar="FOLDER")
    parser.add_argument("--ablations", action="store_true", help="write docs/figures/ablations.json, too")
    options = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    logging.getLogger("convinse").setLevel(logging.INFO)
    figures: dict[str, dict[str, list[str]]] = {}
    for base, output in (("config.yml", SHIPPED), ("small.yml", _SMALL), ("lexical.yml", VOTING)):
        work = options.work / Path(base).stem
        work.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            worlds = [world_of(base, turns_of(base, work), {}, work, stack)]
            module = worlds[0].module
            if output != VOTING:
                models = {key: getattr(module.config, key) for key in ("evs_model", "ha_model")}
                settings = {**build_sources(options.data, options.work, INTRODUCTIONS, "snapshot:model"), **models}
                turns = convmix_turns(settings, options.data, work)
                worlds.append(world_of("wikidata-27k.yml", turns, settings, work, stack))
            sets = every_set(worlds)
            if output != VOTING:
                sets.append(decided_set(module, options.data))
            # seven of ten questions of ConvMix have no answer in the data: they teach how sure an answer is
            none_sets = [] if output == VOTING else [part for part in sets if not part.name.endswith(_NAMES)]
            write_ranking(learned_sets(sets), module.config, resolve(output), _CARDS["turns"], none_sets)
            if options.ablations and output != _SMALL:
                figures[module.config.ha] = ablations(worlds)
    work = options.work / "documents"
    work.mkdir(parents=True, exist_ok=True)
    write_ranking(*file_sets(options.data, work), resolve(DOCUMENTS), _CARDS["documents"])
    if options.ablations:
        columns = ("without", *(cell for name in figures for cell in (name, "lost, won", "p")))
        title = f"P@1 on {' / '.join(_PARTS)} (/ convmix)"
        rows = [
            [name, *chain.from_iterable(of_stage[name] for of_stage in figures.values())]
            for name in next(iter(figures.values()))
        ]
        write_table("ablations", f"{_COMMAND} --ablations", columns, rows, title=title)


if __name__ == "__main__":
    main()
