"""Real conversations over wikidata-27k: every question understanding module, gold and predicted history.

    bash run.sh bench conversations
    bash run.sh bench conversations --config lexical.yml --work DIR

The conversations are those of convquestions/val_wd27k, which has each in 32 versions, one per choice between two wordings of each
of its five turns: of a group two versions, which together have each wording once; by default of 15 groups, with --full of all 46.
Gold texts count as the date or the number that they hold, a bare year as any date in it; "P@1 label" also counts answers that have
the gold label under another id, for the published ids are often wrong.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from convinse.config import Config, load_config
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.language.text import fold
from convinse.pipeline import Pipeline
from convinse.question_understanding.base import QuestionUnderstanding
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import DEFAULT_SOURCES, Entity
from convinse.records.literals import is_date
from convinse.scoring.convqa import is_answer
from convinse.support.progress import progress
from convinse.support.registry import find_module
from recipes.sources import needed

from .candidates import CONVQUESTIONS, build_sources
from .harness import Bench, Figures, Spec, note, run
from .measures import mean_reciprocal_rank, share_within

MODULES: dict[str, dict[str, str | None]] = {
    **{name: {"qu": name} for name in ("nc_all", "nc_init", "nc_prev", "nc_init_prev", "slots")},
    "slots, no qu_rewriter": {"qu": "slots", "qu_rewriter": None},
}
HISTORIES = {"gold": True, "predicted": False}  # history -> whether earlier turns count with their gold answers
SUBSETS: dict[str, Callable[[Turn], bool]] = {
    "all": lambda turn: True,
    "one_hop": lambda turn: bool(turn["one_hop"]),  # type: ignore[typeddict-item]
}
COLUMNS = {
    "turns": ("turns", "{}"), "presence": ("answer_presence", "{:.1%}"), "P@1": ("p_at_1", "{:.1%}"),
    "MRR": ("mrr", "{:.1%}"), "Hit@5": ("h_at_5", "{:.1%}"), "P@1 label": ("p_at_1_label", "{:.1%}"),
}  # fmt: skip
HIT = 5
_YEAR = re.compile(r"[0-9]{4}")
_SOURCES = {"kb": "kb", "all": DEFAULT_SOURCES}


def each_wording_once(versions: Iterable[Conversation], groups: int | None = None) -> Iterator[Conversation]:
    """Versions of each group, none of which repeats a wording: no (group, turn, question) is in two of them.

    In the order of the file, a version is taken when all of its wordings are new to its group. Of two wordings a turn
    these are two versions: the first one of the group, and the one that differs from it in every turn.
    """
    seen: dict[int, set[tuple[int, str]]] = defaultdict(set)
    for version in versions:
        group: int = version["group"]  # type: ignore[typeddict-item]
        if group not in seen and groups is not None and len(seen) >= groups:
            continue
        wordings = {(place, turn["question"]) for place, turn in enumerate(version["questions"])}
        if not wordings & seen[group]:
            seen[group] |= wordings
            yield version


# -- measures ----------------------------------------------------------------------------------------------------------


def is_right(entity: Entity, gold: Iterable[Entity]) -> bool:
    """Whether an entity is a gold answer: of the same id, or a date in the year if the gold answer is a bare year."""
    gold = list(gold)
    if is_answer(entity, gold):
        return True
    years = {entity["label"] for entity in gold if is_date(entity["id"]) and _YEAR.fullmatch(entity["label"])}
    return is_date(entity["id"]) and entity["id"][:4] in years


def is_right_by_label(entity: Entity, gold: Iterable[Entity]) -> bool:
    """Whether an entity is right, or has the label of a gold answer but for case, accents and punctuation."""
    gold = list(gold)
    return is_right(entity, gold) or (fold(entity["label"]) or "-") in {fold(entity["label"]) for entity in gold}


def rank_of_gold(turn: Turn) -> int | None:
    return next((a["rank"] for a in turn["pred_answers"] if is_right(a["answer"], turn["answers"])), None)


def place_of_gold(turn: Turn) -> int | None:
    """The place of the first top evidence with a gold answer, from 1."""
    held = (any(is_right(entity, turn["answers"]) for entity in e["wikidata_entities"]) for e in turn["top_evidences"])
    return next((place for place, right in enumerate(held, 1) if right), None)


def figures(turns: Sequence[Turn]) -> Figures:
    ranks = [rank_of_gold(turn) for turn in turns]
    labels = [is_right_by_label(own["answer"], turn["answers"]) for turn in turns for own in turn["pred_answers"][:1]]
    return {
        "turns": len(turns),
        "answer_presence": sum(place_of_gold(turn) is not None for turn in turns) / max(1, len(turns)),
        "p_at_1": share_within(ranks, 1),
        "mrr": mean_reciprocal_rank(ranks),
        "h_at_5": share_within(ranks, HIT),
        "p_at_1_label": sum(labels) / max(1, len(turns)),
    }


# -- parts -------------------------------------------------------------------------------------------------------------


class Work(NamedTuple):
    config: str
    overrides: dict[str, str]  # keys that are replaced
    conversations: list[Conversation]

    def load(self, module: str | None = None) -> Config:
        """The configuration over the bench's sources; `module` replaces its question understanding."""
        return load_config(self.config, **self.overrides, **(MODULES.get(module, {"qu": module}) if module else {}))


def quality_part(bench: Bench, name: str) -> Figures:
    """All modules over one combination of sources; retrieval, scoring and answering are shared by all of them."""
    work, sources = bench.state, _SOURCES[name]
    default = work.load()
    rows: dict[str, dict[tuple[str, str], Figures]] = {history: {} for history in HISTORIES}
    turns_of_default: list[Turn] = []
    with Pipeline(default) as shared:
        for module in [default.qu, *(name for name in MODULES if name != default.qu)]:
            pipeline = Pipeline(work.load(module), ers=shared.ers, ha=shared.ha, resources=shared.resources)
            for history, use_gold in HISTORIES.items():
                turns = _answered(pipeline, work.conversations, sources, use_gold, f"{sources}, {module}, {history}")
                turns_of_default = turns_of_default or turns  # with gold history
                for subset, is_in in SUBSETS.items():
                    rows[history][module, subset] = figures([turn for turn in turns if is_in(turn)])
            pipeline.qu.store_cache()
    with_pages = sum(any(e["source"] != "kb" for e in turn["top_evidences"]) for turn in turns_of_default)
    title = f"{name}: {with_pages} of {len(turns_of_default)} turns of {default.qu} (default) have evidences of pages"
    bench.compare(title, ("history", "module", "subset"), COLUMNS, rows)
    runs = {
        f"{history}, {module}, {subset}": own
        for history, measured in rows.items()
        for (module, subset), own in measured.items()
    }
    return {"config": work.config, "conversations": len(work.conversations), "runs": runs}


def _answered(
    pipeline: Pipeline, conversations: Sequence[Conversation], sources: str, use_gold: bool, title: str
) -> list[Turn]:
    """The answered turns, as many conversations at once as the pipeline likes."""
    step, turns = pipeline.conversations_at_once, []
    with progress(title, len(conversations), "conversations") as advance:
        for place in range(0, len(conversations), step):
            done = pipeline.run(conversations[place : place + step], sources, use_gold)
            turns += [turn for conversation in done for turn in conversation["questions"]]
            advance(len(done))
    return turns


def prepare(bench: Bench) -> Work:
    config = bench.options.config
    for module in (load_config(config).qu, *(str(own["qu"]) for own in MODULES.values())):
        find_module("qu", module, QuestionUnderstanding)
    note(f"knowledge base and pages of wikidata-27k in {bench.kept} ...")
    # the cache is of this run only: older results may be of older code
    overrides = {**build_sources(bench.folder, bench.kept), "ers_cache_path": str(bench.work / "cache")}
    versions = read_benchmark(needed(bench.folder, *CONVQUESTIONS), "convmix")
    return Work(config, overrides, list(each_wording_once(versions, bench.size)))


_OPTIONS = {"--config": {"default": "wikidata-27k.yml", "metavar": "NAME", "help": "its stages (default: %(default)s)"}}
_PARTS = {name: partial(quality_part, name=name) for name in _SOURCES}
SPEC = Spec("conversations", __doc__, _PARTS, (1, 15, None), options=_OPTIONS, prepare=prepare)

if __name__ == "__main__":
    run(SPEC)
