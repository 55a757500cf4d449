"""ConvMix's development conversations over wikidata-27k and the introductions of its items, with the configurations of config/convmix.

    bash run.sh bench convmix
    bash run.sh bench convmix --full --work DIR

Most questions of ConvMix ask for something that this data lacks, so each figure stands beside the share of its questions whose answer the
data has. By default the conversations whose first question is about an item of wikidata-27k are answered, with --full all of them; of the
two wordings of a conversation the first. Configurations whose models are trained on ConvMix's training part are left out.
"""

from convinse.config import load_config
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.pipeline import Pipeline
from convinse.records.conversation import Conversation, Turn

from .candidates import INTRODUCTIONS, build_sources
from .conversations import COLUMNS, figures
from .harness import Bench, Figures, Spec, note, run

_CONFIGURATIONS = ("wikidata-27k", "convmix/nc_all", "convmix/nc_init", "convmix/nc_prev", "convmix/nc_init_prev")
_OFFLINE = {"clocq_use_api": False, "ers_on_the_fly": False, "ers_use_cache": False}
_COLUMNS = {"turns": COLUMNS["turns"], "in the data": ("in_data", "{:.1%}"), **COLUMNS}


def dev(bench: Bench) -> Figures:
    """Answer the conversations with each configuration, with gold answers of earlier turns."""
    about_items = read_benchmark(bench.data("convmix", "dev_wd27k.json.gz"), "convmix")
    in_data = {
        (conversation["conv_id"], turn["turn"])
        for conversation in about_items
        for turn in conversation["questions"]
        if turn["answer_in_kb"] or turn["one_hop"]  # type: ignore[typeddict-item]
    }
    everything = read_benchmark(bench.data("convmix", "dev.json.gz"), "convmix") if bench.size == "all" else about_items
    first_wordings: dict[object, Conversation] = {}  # of each group the first one in the order of the file
    for conversation in everything:
        first_wordings.setdefault(conversation["group"], conversation)  # type: ignore[typeddict-item]
    conversations = list(first_wordings.values())
    if bench.size == "trial":
        conversations = conversations[:5]
    note(f"knowledge base and introductions in {bench.cache} ...")
    sources = build_sources(bench.folder, bench.cache, INTRODUCTIONS, "snapshot:model")
    item_conversations = {conversation["conv_id"] for conversation in about_items}
    groups: dict[str, dict[str, Figures]] = {}
    for configuration in _CONFIGURATIONS:
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
        if bench.size != "all":  # the same turns as `all`
            del turns["about an item of the data"]
        share = len(turns["answer in the data"])
        groups[f"{configuration}.yml"] = {
            subset: {**figures(chosen), "in_data": share / max(1, len(chosen))} for subset, chosen in turns.items()
        }
    title = f"ConvMix dev, {len(conversations)} conversations, gold answers of earlier turns"
    bench.compare(title, ("configuration", "questions"), _COLUMNS, groups)
    return {"conversations": len(conversations), "runs": groups}


SPEC = Spec("convmix", __doc__, {"dev": dev}, ("trial", "items", "all"))

if __name__ == "__main__":
    run(SPEC)
