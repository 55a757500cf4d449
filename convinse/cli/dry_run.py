"""`pipeline --dry-run`: what would be asked of a language model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..config import Config
    from ..pipeline import StageName


def dry_run(config: Config, combinations: list[tuple[str, ...]], options: argparse.Namespace) -> int:
    """The first prompt of a run, and how many there are at most."""
    from ..experiment import read_part
    from ..formats.stage_files import read_stage_file
    from ..language_models.model_server import DryRunError
    from ..language_models.prompts import estimated_tokens
    from ..pipeline import STAGE_NAMES, Pipeline
    from ..resources import Resources

    done_by, sources = None, combinations[0]
    if options.stage_file:
        done_by, conversations = read_stage_file(Path(options.stage_file), sources, config.evs_max_evidences)
    else:
        conversations = read_part(config, options.part or "test")
    conversations = conversations[: options.limit]
    turns = sum(len(conversation["questions"]) for conversation in conversations)
    last: StageName = options.until or "ha"
    first = 0 if done_by is None else STAGE_NAMES.index(done_by) + 1
    stages = STAGE_NAMES[first : STAGE_NAMES.index(last) + 1]
    with Resources(config, dry_run=True) as resources, Pipeline(config, resources=resources) as pipeline:
        for conversation in conversations:
            try:
                pipeline.run([conversation], sources, not options.pred_answers, done_by=done_by, until=last)
            except DryRunError as shown:
                for message in shown.body["messages"]:
                    print(f"--- {message['role']}\n{message['content']}\n")
                text = "".join(message["content"] for message in shown.body["messages"])
                print(
                    f"the first prompt of {shown.key}, about {estimated_tokens(text)} tokens; {config[shown.key].model}"
                )
                break
        modules = [(stage, getattr(pipeline, stage)) for stage in stages]
        for stage, module in modules:
            if module.requests_per_turn:
                number = turns * module.requests_per_turn * len(combinations)
                print(f"{stage}: {number} requests at most, for {turns} questions; what is kept is not asked again")
        if not any(module.requests_per_turn for _, module in modules):
            print("no stage of this configuration asks a language model; nothing was sent")
    return 0
