"""Sets of questions over wikidata-27k that answers are judged by: ConvQuestions, ConvMix, TimeQuestions and TIQ.

Gold texts count as the date or the number that they hold, a bare year as any date in it.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import NamedTuple

from convinse.config import load_config, parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.knowledge_base.search_space import is_named
from convinse.pipeline import Pipeline
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import Entity, Evidence
from convinse.records.literals import is_item
from convinse.records.representation import QuestionEntity
from convinse.resources import Resources
from recipes.built_sources import CONVQUESTIONS, INTRODUCTIONS, build_sources, is_right, knowledge_base
from recipes.embedded.examples import part_of_key
from recipes.embedded.lists import answers_of_facts, single_questions
from recipes.sources import needed

from .harness import Bench, Figures, note
from .measures import mean_reciprocal_rank, share_within

COLUMNS = {
    "turns": ("turns", "{}"), "presence": ("answer_presence", "{:.1%}"), "P@1": ("p_at_1", "{:.1%}"),
    "MRR": ("mrr", "{:.1%}"), "Hit@5": ("h_at_5", "{:.1%}"),
}  # fmt: skip
HIT = 5
WIKIDATA_27K = "wikidata-27k.yml"
HISTORIES = {"gold": True, "predicted": False}  # history -> whether earlier turns count with their gold answers


def figures(turns: Sequence[Turn]) -> Figures:
    ranks, present = [], 0
    for turn in turns:
        gold = turn["answers"]
        ranks.append(next((a["rank"] for a in turn["pred_answers"] if is_right(a["answer"], gold)), None))
        evidences = turn["top_evidences"]
        present += any(is_right(entity, gold) for evidence in evidences for entity in evidence["wikidata_entities"])
    return {
        "turns": len(turns),
        "answer_presence": present / max(1, len(turns)),
        "p_at_1": share_within(ranks, 1),
        "mrr": mean_reciprocal_rank(ranks),
        "h_at_5": share_within(ranks, HIT),
    }


# -- ConvQuestions ------------------------------------------------------------------------------------------------------

MODULES: dict[str, dict[str, str | None]] = {
    **{name: {"qu": name} for name in ("nc_all", "nc_init", "nc_prev", "nc_init_prev", "slots")},
    "slots, no qu_rewriter": {"qu": "slots", "qu_rewriter": None},
}
SUBSETS: dict[str, Callable[[Turn], bool]] = {
    "all": lambda turn: True,
    "one_hop": lambda turn: bool(turn["one_hop"]),  # type: ignore[typeddict-item]
}


def each_wording_once(versions: Iterable[Conversation], groups: int | None = None) -> Iterator[Conversation]:
    """Versions of each group, none of which repeats a wording: no (group, turn, question) is in two of them."""
    seen: dict[int, set[tuple[int, str]]] = defaultdict(set)
    for version in versions:
        group: int = version["group"]  # type: ignore[typeddict-item]
        if group not in seen and groups is not None and len(seen) >= groups:
            continue
        wordings = {(place, turn["question"]) for place, turn in enumerate(version["questions"])}
        if not wordings & seen[group]:
            seen[group] |= wordings
            yield version


def convquestions(bench: Bench) -> Figures:
    """Every module of question understanding over facts of the knowledge base; the other stages are shared by all of them.

    The conversations of val_wd27k are there in 32 versions, one per choice between two wordings of each of their five turns: of a
    group two versions are run, which together have each wording once.
    """
    versions = read_benchmark(needed(bench.folder, *CONVQUESTIONS), "convmix")
    versions_run = list(each_wording_once(versions, bench.size.groups))
    note(f"the knowledge base of wikidata-27k in {bench.cache} ...")
    with closing(knowledge_base(bench.folder, bench.cache)) as kb:
        # the cache is of this run only: older results may be of older code
        cache = str(bench.work / "cache")
        sources = {"kb_path": str(kb.path), "ers_wikipedia_dump": None, "ers_cache_path": cache}
    default = load_config(WIKIDATA_27K, **sources)
    modules = {default.qu: {"qu": default.qu}, **MODULES}
    rows: dict[str, dict[tuple[str, str], Figures]] = {history: {} for history in HISTORIES}
    with Pipeline(default) as shared:
        for module, keys in modules.items():
            config = load_config(WIKIDATA_27K, **sources, **keys)
            pipeline = Pipeline(config, ers=shared.ers, ha=shared.ha, resources=shared.resources)
            for history, use_gold in HISTORIES.items():
                note(f"{module}, {history} history ...")
                done = pipeline.run(versions_run, "kb", use_gold)
                turns = [turn for conversation in done for turn in conversation["questions"]]
                for subset, is_in in SUBSETS.items():
                    rows[history][module, subset] = figures([turn for turn in turns if is_in(turn)])
            pipeline.qu.store_cache()
    title = f"{len(versions_run)} conversations, evidences of kb; the default is {default.qu}"
    bench.compare(title, ("history", "module", "subset"), COLUMNS, rows)
    runs = {
        f"{history}, {module}, {subset}": row
        for history, measured in rows.items()
        for (module, subset), row in measured.items()
    }
    return {"conversations": len(versions_run), "runs": runs}


# -- ConvMix ------------------------------------------------------------------------------------------------------------

_OF_CONVMIX = ("wikidata-27k", "convmix/nc_all", "convmix/nc_init", "convmix/nc_prev", "convmix/nc_init_prev")
_OFFLINE = {"clocq_use_api": False, "ers_on_the_fly": False, "ers_use_cache": False}
_CONVMIX_COLUMNS = {"turns": COLUMNS["turns"], "in the data": ("in_data", "{:.1%}"), **COLUMNS}


def convmix(bench: Bench) -> Figures:
    """ConvMix's development conversations with the configurations of config/convmix, with gold answers of earlier turns.

    Most of its questions ask for something that wikidata-27k and the introductions of its items lack, so each figure stands beside the
    share of its questions whose answer the data has. Of the two wordings of a conversation the first is put. Configurations whose models
    are trained on ConvMix's training part are left out.
    """
    about_items = read_benchmark(bench.data("convmix", "dev_wd27k.json.gz"), "convmix")
    in_data = {
        (conversation["conv_id"], turn["turn"])
        for conversation in about_items
        for turn in conversation["questions"]
        if turn["answer_in_kb"] or turn["one_hop"]  # type: ignore[typeddict-item]
    }
    everything = (
        read_benchmark(bench.data("convmix", "dev.json.gz"), "convmix") if bench.size.convmix == "all" else about_items
    )
    first_wordings: dict[object, Conversation] = {}  # of each group the first one in the order of the file
    for conversation in everything:
        first_wordings.setdefault(conversation["group"], conversation)  # type: ignore[typeddict-item]
    conversations = list(first_wordings.values())
    if bench.size.convmix == "trial":
        conversations = conversations[:5]
    note(f"knowledge base and introductions in {bench.cache} ...")
    sources = build_sources(bench.folder, bench.cache, INTRODUCTIONS, "snapshot:model")
    item_conversations = {conversation["conv_id"] for conversation in about_items}
    groups: dict[str, dict[str, Figures]] = {}
    for configuration in _OF_CONVMIX:
        note(f"{configuration} ...")
        with Pipeline(load_config(f"{configuration}.yml", **sources, **_OFFLINE)) as pipeline:
            answered = pipeline.run(conversations, "kb_text_table_info", use_gold_answers=True)
        turns: dict[str, list[Turn]] = {"all": [], "about an item of the data": [], "answer in the data": []}
        for conversation in answered:
            for turn in conversation["questions"]:
                turns["all"].append(turn)
                if conversation["conv_id"] in item_conversations:
                    turns["about an item of the data"].append(turn)
                if (conversation["conv_id"], turn["turn"]) in in_data:
                    turns["answer in the data"].append(turn)
        if bench.size.convmix != "all":  # the same turns as `all`
            del turns["about an item of the data"]
        share = len(turns["answer in the data"])
        groups[f"{configuration}.yml"] = {
            subset: {**figures(chosen), "in_data": share / max(1, len(chosen))} for subset, chosen in turns.items()
        }
    title = f"ConvMix dev, {len(conversations)} conversations, gold answers of earlier turns"
    bench.compare(title, ("configuration", "questions"), _CONVMIX_COLUMNS, groups)
    return {"conversations": len(conversations), "runs": groups}


# -- TimeQuestions and TIQ ----------------------------------------------------------------------------------------------

SETS = {"timequestions": "TimeQuestions dev", "tiq": "TIQ dev"}
SEED = 5  # of the questions that are drawn
_TEMPORAL = (WIKIDATA_27K, "lexical.yml")
COUNTS = {
    "different": ("looked_at", "{}"), "gold item in the knowledge base": ("gold_in_kb", "{}"),
    "answer in the space": ("in_space", "{}"), "asked": ("asked", "{}"),
}  # fmt: skip
_CLASSES = frozenset(("P31", "P279"))


class TimedQuestion(NamedTuple):
    conversation: Conversation
    subsets: list[str]


def in_space(
    name: str, questions: Iterable[Turn], retriever: ClocqRetriever, most: int | None
) -> tuple[Figures, list[TimedQuestion]]:
    """Return counts, and of the different questions of a data set those whose answer is in their space, or some of them."""
    kb = retriever.kb
    chosen: list[TimedQuestion] = []
    looked_at = gold_in_kb = 0
    for text, question in {question["question"]: question for question in questions}.items():
        looked_at += 1
        gold = answers_of_facts(question, kb)
        gold_in_kb += any(is_item(entity["id"]) for entity in gold)
        if not gold:
            continue
        facts, linked = retriever.retrieve_KB_facts(text)
        items = [entity["item"]["id"] for entity in linked if is_named(entity)]
        if items and any(tells(fact, gold, linked) for fact in facts):
            held_out = ["held out"] if part_of_key(items[0]) == "dev" else []
            turn: Turn = {"turn": 0, "question_id": f"{name}-{looked_at}", "question": text, "answers": gold}
            said: list[str] = question.get("Temporal signal", [])  # type: ignore[typeddict-item]
            signals = [signal for signal in said if signal != "No signal"] or ["a time is asked for"]
            conversation: Conversation = {"conv_id": f"{name}-{looked_at}", "domain": name, "questions": [turn]}
            chosen.append(TimedQuestion(conversation, ["all", *held_out, *signals]))
    counts = {"looked_at": looked_at, "gold_in_kb": gold_in_kb, "in_space": len(chosen)}
    if most is not None and len(chosen) > most:
        chosen = [chosen[place] for place in sorted(random.Random(SEED).sample(range(len(chosen)), most))]
    return {**counts, "asked": len(chosen)}, chosen


def tells(evidence: Evidence, gold: list[Entity], linked: Iterable[QuestionEntity]) -> bool:
    """Return True if a fact holds a gold answer together with a linked item that is not this answer."""
    entities = evidence["wikidata_entities"]
    if evidence["fact"][1]["id"] in _CLASSES:
        return False
    present = {entity["item"]["id"] for entity in linked} & {entity["id"] for entity in entities}
    return any(is_right(entity, gold) and present - {entity["id"]} for entity in entities)


def temporal(bench: Bench) -> Figures:
    """Temporal questions over the dated statements of wikidata-27k, answered from facts.

    Only questions whose answer is in their space are put: a fact that is retrieved for the question holds a gold answer together with an
    item that is linked in the question and is not this answer. The class of a thing ("Paris, instance of, capital") does not count. To
    rank and to read the embedded model has learned from questions of TimeQuestions; "held out" are those about items that it kept for
    its dev part.
    """
    with closing(knowledge_base(bench.folder, bench.cache, dated=True)) as kb:
        note("looking for questions whose answer is in their space ...")
        keys = {"kb_path": str(kb.path), "ers_wikipedia_dump": None, "ers_use_cache": False}
        config = parse_config(keys)
        retriever = ClocqRetriever(config, resources=Resources(config, kb=kb))
        found = {
            name: in_space(
                name,
                islice(single_questions(bench.folder, f"{name}/dev.json.gz"), bench.size.timed),
                retriever,
                bench.size.put,
            )
            for name in SETS
        }
    counts = {SETS[name]: numbers for name, (numbers, _) in found.items()}
    bench.compare("questions", ("data set",), COUNTS, {(): counts})
    tables: Figures = {name: {} for name in SETS}
    for configuration in _TEMPORAL:
        note(f"{configuration} ...")
        with Pipeline(load_config(configuration, **keys)) as pipeline:
            for name, (_, questions) in found.items():
                done = pipeline.run([question.conversation for question in questions], "kb")
                turns: dict[str, list[Turn]] = {"all": [], "held out": []}
                for question, answered in zip(questions, done, strict=True):
                    for subset in question.subsets:
                        turns.setdefault(subset, []).append(answered["questions"][0])
                for subset, chosen in turns.items():
                    tables[name].setdefault(subset, {})[configuration] = figures(chosen)
    for name, groups in tables.items():
        bench.compare(f"{SETS[name]}, answer in the space, evidences of kb", ("subset", "system"), COLUMNS, groups)
    return {"systems": tables}
