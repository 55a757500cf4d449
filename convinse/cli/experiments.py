"""The command that runs the pipeline over conversations: pipeline."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..support.errors import ConfigError
from .arguments import KEPT, Commands, add_cluster, add_dropped, add_words, positive, ray_workers, sources_and_config
from .ask import print_turn
from .output import say_next
from .tables import print_rows

if TYPE_CHECKING:
    from ..config import Config
    from ..experiment.run import Outcome

_COLUMNS = ("", "questions", "P@1", "MRR", "Hit@5", "answer presence")


def add(commands: Commands) -> None:
    """Add `pipeline`."""
    sub = commands.add("pipeline", _pipeline, "run QU -> ERS -> HA over the configured conversations", KEPT)
    add_words(sub)
    history = sub.add_mutually_exclusive_group()
    history.add_argument(
        "--pred-answers",
        action="store_true",
        help="earlier turns count with their predicted answers, not the gold ones",
    )
    history.add_argument(
        "--gold-answers", action="store_true", help="earlier turns count with their gold answers (default)"
    )
    sub.add_argument("--limit", type=positive, metavar="N", help="only the first N conversations")
    sub.add_argument(
        "--all-sources", "--main-results", "--source-combinations", action="store_true",
        help="every combination of source_combinations (the other names: those of CONVINSE and EXPLAIGNN)",
    )  # fmt: skip
    sub.add_argument(
        "--example", action="store_true", help="only the first question, whose turn is printed; writes nothing"
    )
    add_dropped(sub, "--dry-run", "try a language model with --limit 1")
    sub.add_argument("--until", choices=("qu", "ers"), help="stop after this stage; its results are a file for --from")
    sub.add_argument(
        "--from", dest="stage_file", metavar="FILE", help="go on from a file that qu or ers wrote, here or in CONVINSE"
    )
    sub.add_argument("--restart", action="store_true", help="run finished conversations again")
    add_cluster(sub)
    sub.add_argument(
        "--part",
        choices=("train", "dev", "test", "natural-dev", "natural", "natural-fresh", "natural-third"),
        help="the conversations to run (default test); natural, natural-fresh, natural-third: questions as people type them, natural-dev to choose by",
    )


def _pipeline(options: argparse.Namespace) -> int:
    from ..experiment import run_experiment
    from ..resources import Resources

    sources, config = sources_and_config(options.words, options.settings)
    if options.example:
        return _example(config, sources)
    if options.stage_file and (options.part or options.all_sources):
        raise ConfigError(
            "--from takes the place of --part, and its evidences are those of one combination; give it alone"
        )
    combinations = config.combinations if options.all_sources else [sources]
    with Resources(config) as resources, ray_workers(options, config.device) as workers:
        if workers is None:
            resources.models.open_ahead(config)  # beside the reading of the data, so that the bar moves early
        outcomes = [
            run_experiment(
                config,
                combination,
                use_gold_answers=not options.pred_answers,
                limit=options.limit,
                restart=options.restart,
                quiet=options.quiet,
                part=options.part or "test",
                until=options.until or "ha",
                stage_file=Path(options.stage_file) if options.stage_file else None,
                resources=resources,
                workers=workers,
            )
            for combination in combinations
        ]
    if options.until:
        for outcome in outcomes:
            metrics = outcome.metrics
            presence = f", answer presence {metrics['answer_presence']:.3f}" if "answer_presence" in metrics else ""
            print(f"{outcome.measured}{presence}")
            print(f"{outcome.path}/turns.jsonl, metrics.json ({metrics['seconds']['total']:.1f} s); go on with --from")
    else:
        _print_outcomes(outcomes, details=not options.all_sources)
    return 0


def _example(config: Config, sources: tuple[str, ...]) -> int:
    from ..experiment import read_part
    from ..pipeline import Pipeline

    first = next((c for c in read_part(config, "test") if c["questions"]), None)
    if first is None:
        raise ConfigError(f"{config.input_path()}: has no question; name other conversations in test_input_path")
    with Pipeline(config) as pipeline:
        (done,) = pipeline.run([{**first, "questions": first["questions"][:1]}], sources)
    print_turn(done["questions"][0])
    return 0


def _print_outcomes(outcomes: list[Outcome], details: bool) -> None:
    rows = [row for outcome in outcomes for row in _outcome_rows(outcome, details)]
    print(outcomes[0].measured)  # longer than the table is wide
    print_rows(None, _COLUMNS, rows)
    for outcome in outcomes:
        unanswerable = outcome.metrics["unanswerable"]
        if unanswerable["num_questions"]:
            share = f"abstained on {unanswerable['abstained']:.3f} of them"
            print(f"{unanswerable['num_questions']} questions without an answer: {share}")
        if (abstained := outcome.metrics["abstained"])["answerable"]:
            print(
                f"questions with an answer: abstained on {abstained['answerable']:.3f} of them, on {abstained['right']:.3f} of "
                "those whose first answer is right"
            )
        print(f"{outcome.path}/turns.jsonl, metrics.json ({outcome.metrics['seconds']['total']:.1f} s)")
    say_next(f"report {' '.join(str(outcome.path) for outcome in outcomes)} --output report.html", "a page of measures")


def _outcome_rows(outcome: Outcome, details: bool) -> Iterator[list[str] | None]:
    """Yield the row of a run, with `details` also those of its domains, turns, kinds and sources; None between groups."""

    def row(name: str, values: dict[str, Any]) -> list[str]:
        measures = (f"{values[key]:.3f}" for key in ("p_at_1", "mrr", "h_at_5", "answer_presence"))
        return [name, str(values["num_questions"]), *measures]

    metrics = outcome.metrics
    yield row("_".join(outcome.sources), metrics)
    if not details:
        return
    yield None
    yield from (row(domain, values) for domain, values in metrics["domains"].items())
    if len(metrics["turns"]) > 1:
        yield None
        yield from (row(f"turn {position}", values) for position, values in metrics["turns"].items())
    if metrics["kinds"]:
        yield None
        yield from (row(kind, values) for kind, values in metrics["kinds"].items())
    yield None
    for source, values in metrics["sources"].items():
        yield row(f"answer in {source}", {**values, "answer_presence": metrics["answer_presence_per_src"][source]})
