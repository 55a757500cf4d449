"""Real conversations over wikidata-27k: every question understanding module, gold and predicted history.

    bash run.sh bench conversations
    bash run.sh bench conversations --config lexical.yml --work DIR

The conversations are those of convquestions/val_wd27k, which has each in 32 versions, one per choice between two wordings of each
of its five turns: of a group two versions, which together have each wording once; by default of 15 groups, with --full of all 46.
Gold texts count as the date or the number that they hold, a bare year as any date in it.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing

from convinse.config import load_config
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.pipeline import Pipeline
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import Entity
from convinse.records.literals import is_date
from convinse.scoring.convqa import is_answer
from recipes.embedded.wikidata import knowledge_base
from recipes.sources import needed

from .candidates import CONVQUESTIONS
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
    "MRR": ("mrr", "{:.1%}"), "Hit@5": ("h_at_5", "{:.1%}"),
}  # fmt: skip
HIT = 5
_YEAR = re.compile(r"[0-9]{4}")


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


# -- measures ----------------------------------------------------------------------------------------------------------


def is_right(entity: Entity, gold: Iterable[Entity]) -> bool:
    """Whether an entity is a gold answer: of the same id, or a date in the year if the gold answer is a bare year."""
    gold = list(gold)
    if is_answer(entity, gold):
        return True
    years = {entity["label"] for entity in gold if is_date(entity["id"]) and _YEAR.fullmatch(entity["label"])}
    return is_date(entity["id"]) and entity["id"][:4] in years


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


def conversations(bench: Bench) -> Figures:
    """All modules over facts of the knowledge base; retrieval, scoring and answering are shared by all of them."""
    versions = read_benchmark(needed(bench.folder, *CONVQUESTIONS), "convmix")
    versions_run = list(each_wording_once(versions, bench.size))
    note(f"the knowledge base of wikidata-27k in {bench.cache} ...")
    with closing(knowledge_base(bench.folder, bench.cache)) as kb:
        # the cache is of this run only: older results may be of older code
        cache = str(bench.work / "cache")
        sources = {"kb_path": str(kb.path), "ers_wikipedia_dump": None, "ers_cache_path": cache}
    default = load_config(bench.options.config, **sources)
    modules = {default.qu: {"qu": default.qu}, **MODULES}
    rows: dict[str, dict[tuple[str, str], Figures]] = {history: {} for history in HISTORIES}
    with Pipeline(default) as shared:
        for module, keys in modules.items():
            config = load_config(bench.options.config, **sources, **keys)
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
    return {"config": bench.options.config, "conversations": len(versions_run), "runs": runs}


_OPTIONS = {"--config": {"default": "wikidata-27k.yml", "metavar": "NAME", "help": "its stages (default: %(default)s)"}}
SPEC = Spec("conversations", __doc__, {"kb": conversations}, (1, 15, None), options=_OPTIONS)

if __name__ == "__main__":
    run(SPEC)
