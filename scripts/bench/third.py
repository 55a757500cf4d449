"""Questions as people type them that nothing was chosen by: over the embedded data, over wikidata-27k and over saved pages.

    bash run.sh bench third
    bash run.sh bench third --parts embedded --limit 1
    bash run.sh bench third --work DIR

The embedded conversations are those of `--part natural-third`; third.json has the others. Those over wikidata-27k have the
introductions of its items, those over saved pages have these. Earlier turns count with their predicted answers.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from convinse.cli.arguments import positive
from convinse.config import Config, load_config
from convinse.experiment import read_part
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.pipeline import Pipeline
from convinse.records.conversation import Conversation
from convinse.scoring.convqa import evaluate

from .candidates import INTRODUCTIONS, SAVED, build_sources
from .harness import Bench, Figures, Spec, note, run

_PAGES = {"w27k": INTRODUCTIONS, "pages": SAVED}
_COLUMNS = {
    "conversations": ("conversations", "{}"),
    "right": ("right", "{}"),
    "of": ("num_questions", "{}"),
    "P@1": ("p_at_1", "{:.3f}"),
    "Hit@5": ("h_at_5", "{:.3f}"),
    "presence": ("answer_presence", "{:.3f}"),
    "calibration error": ("calibration_error", "{:.3f}"),
}


def figures_of(conversations: Sequence[Conversation]) -> Figures:
    """The measures of answered conversations; `right` of `num_questions` have an answer and are answered with it first."""
    measures = evaluate(conversations)
    right = sum(bool(turn.get("p_at_1")) for conversation in conversations for turn in conversation["questions"])
    return {**measures, "conversations": len(conversations), "right": right}


def third(bench: Bench, name: str) -> Figures:
    """Answer the conversations of a set; the figures of all sets together are printed with those of the last one."""
    config, conversations = _read(bench, name)
    with Pipeline(config, use_gold_answers=False) as pipeline:
        answered = pipeline.run(conversations[: bench.options.limit])
    sets: dict[str, list[Conversation]] = bench.state
    sets[name] = answered
    rows = {set_name: figures_of(done) for set_name, done in sets.items()}
    if name == bench.options.parts[-1]:
        rows["together"] = figures_of([conversation for done in sets.values() for conversation in done])
        bench.compare("questions that nothing was chosen by", ("set",), _COLUMNS, {(): rows})
    return rows


def _read(bench: Bench, name: str) -> tuple[Config, list[Conversation]]:
    if name == "embedded":
        config = load_config("config.yml", ers_use_cache=False)
        return config, read_part(config, "natural-third")
    note(f"knowledge base and pages of {name} in {bench.cache} ...")
    keys = build_sources(bench.folder, bench.cache, _PAGES[name], "snapshot:model")
    conversations = read_benchmark(Path(__file__).with_name("third.json"), "convmix")
    return load_config("wikidata-27k.yml", **keys, ers_use_cache=False), [
        conversation for conversation in conversations if f"-{name}-" in conversation["conv_id"]
    ]


SPEC = Spec(
    "third",
    __doc__,
    {name: partial(third, name=name) for name in ("embedded", *_PAGES)},
    options={"--limit": {"type": positive, "metavar": "N", "help": "the first N conversations of each set"}},
    prepare=lambda bench: {},
)

if __name__ == "__main__":
    run(SPEC)
