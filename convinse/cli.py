"""The command line: one function call a command. Results go to standard output, logs to standard error."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .errors import ConfigError, ConvinseError, OutputError, one_line

if TYPE_CHECKING:
    from .config import Config
    from .experiment import Outcome

_INTERRUPTED = 130
_BEST_EVIDENCES = 5  # shown by ask


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, 1 (a `ConvinseError`, one line), 2 (usage), 130 (Ctrl-C)."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if rest and options.run is not _test:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    options.rest = rest
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s", force=True)
    logging.getLogger("convinse").setLevel(logging.WARNING if options.quiet else logging.INFO)
    try:
        return options.run(options) or 0
    except ConvinseError as error:
        if options.debug:
            raise
        print(f"convinse: {one_line(error)}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at its end
        return 1
    except OSError as error:
        if options.debug:
            raise
        print(f"convinse: {one_line(OutputError(one_line(error)))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("convinse: interrupted; finished conversations are kept, run the command again to go on", file=sys.stderr)
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--quiet", action="store_true", help="no progress and no log lines")
    common.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser = argparse.ArgumentParser(
        prog="convinse",
        description="Conversational question answering over heterogeneous evidence.",
        epilog="The README shows each task.",
    )
    from . import __version__

    parser.add_argument("--version", action="version", version=f"convinse {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, function: Any, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text, parents=[common])
        sub.set_defaults(run=function)
        return sub

    sub = command("pipeline", _pipeline, "run QU -> ERS -> HA over the configured conversations")
    sub.add_argument(
        "words",
        nargs="*",
        metavar="SOURCES|CONFIG",
        help="sources such as kb_text_info and a configuration, in either order",
    )
    sub.add_argument(
        "--pred-answers",
        action="store_true",
        help="earlier turns count with their predicted answers, not the gold ones",
    )
    sub.add_argument("--limit", type=_positive, metavar="N", help="only the first N conversations")
    sub.add_argument("--all-sources", action="store_true", help="every combination of source_combinations")
    sub.add_argument("--restart", action="store_true", help="run finished conversations again")
    sub.add_argument(
        "--part", choices=("train", "dev", "test"), default="test", help="the conversations to run (default test)"
    )

    sub = command("ask", _ask, "answer one conversation from the command line")
    sub.add_argument("questions", nargs="+", metavar="QUESTION")
    sub.add_argument("--sources", default=None, help="such as kb_text (default kb_text_table_info)")
    sub.add_argument("--config", default="config.yml", help="the configuration (default config.yml)")
    sub.add_argument("--json", action="store_true", help="print the conversation as one JSON object")

    sub = command("train", _train, "train one stage, or all three in order")
    sub.add_argument("stage", choices=("qu", "ers", "ha", "all"))
    sub.add_argument("words", nargs="*", metavar="SOURCES|CONFIG")

    sub = command("evaluate", _evaluate, "measures of finished results, as one JSON object")
    sub.add_argument("task", choices=("answers",))
    sub.add_argument("files", nargs="+", metavar="FILE", help="answers: TURNS.jsonl")

    sub = command("bench", _bench, "a benchmark: prints a table and writes JSON")
    sub.add_argument("name", help="such as pipeline")

    sub = command("test", _test, "run the test suite; further arguments go to pytest")
    sub.add_argument("files", nargs="*", metavar="FILE")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _sources_and_config(words: Sequence[str]) -> tuple[tuple[str, ...], Config]:
    """`[SOURCES] [CONFIG]` in either order, each once at most."""
    from .config import load_config
    from .evidence import DEFAULT_SOURCES, is_sources, parse_sources

    sources = [word for word in words if is_sources(word)]
    configs = [word for word in words if not is_sources(word)]
    if len(sources) > 1 or len(configs) > 1:
        raise ConfigError(
            f"'{' '.join(words)}': give sources such as kb_text_info and a configuration, each once at most"
        )
    wanted = parse_sources(sources[0] if sources else DEFAULT_SOURCES)
    return wanted, load_config(configs[0] if configs else "config.yml")


def _pipeline(options: argparse.Namespace) -> int:
    from .experiment import run_experiment

    sources, config = _sources_and_config(options.words)
    combinations = config.combinations if options.all_sources else [sources]
    outcomes = []
    for combination in combinations:
        outcome = run_experiment(
            config,
            combination,
            use_gold_answers=not options.pred_answers,
            limit=options.limit,
            restart=options.restart,
            quiet=options.quiet,
            part=options.part,
        )
        outcomes.append(outcome)
    _print_outcomes(outcomes, details=not options.all_sources)
    return 0


def _print_outcomes(outcomes: list[Outcome], details: bool) -> None:
    from rich.table import Table

    table = Table(title=f"{outcomes[0].metrics['num_questions']} questions", title_justify="left")
    for name in ("", "questions", "P@1", "MRR", "Hit@5", "answer presence"):
        table.add_column(name, justify="right" if name else "left")

    def row(name: str, values: dict[str, Any]) -> None:
        measures = (f"{values[key]:.3f}" for key in ("p_at_1", "mrr", "h_at_5", "answer_presence"))
        table.add_row(name, str(values["num_questions"]), *measures)

    for outcome in outcomes:
        row("_".join(outcome.sources), outcome.metrics)
        if not details:
            continue
        table.add_section()
        for domain, values in outcome.metrics["domains"].items():
            row(domain, values)
        table.add_section()
        for source, values in outcome.metrics["sources"].items():
            row(f"answer in {source}", {**values, "answer_presence": outcome.metrics["answer_presence_per_src"][source]})
    _console().print(table)
    for outcome in outcomes:
        print(f"{outcome.path}/turns.jsonl, metrics.json ({outcome.metrics['seconds']['total']:.1f} s)")


def _console():  # noqa: ANN202 - rich is imported late
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 100, highlight=False)


def _ask(options: argparse.Namespace) -> int:
    from .config import load_config
    from .evidence import DEFAULT_SOURCES, parse_sources
    from .pipeline import Pipeline

    sources = parse_sources(options.sources or DEFAULT_SOURCES)
    with Pipeline(load_config(options.config)) as pipeline:
        conversation = pipeline.ask(options.questions, sources)
    if options.json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(conversation).decode() + "\n")
        return 0
    for turn in conversation["questions"]:
        _print_turn(turn)
    return 0


def _print_turn(turn: Any) -> None:
    """A turn of `ask`: question, representation, answers with what supports them, best evidences."""
    print(f"\n> {turn['question']}\n  understood as: {turn['structured_representation'].strip()}")
    answers = turn["pred_answers"]
    if not answers:
        print("  no answer found")
    for answer in answers[:5]:
        entity = answer["answer"]
        print(f"  {answer['rank']}. {entity['label']} ({entity['id']})  {answer['score']:.3f}")
        for place in answer.get("evidences", [])[:1]:
            evidence = turn["top_evidences"][place]
            print(f"       [{evidence['source']}] {evidence['evidence_text']}")
    if turn["top_evidences"]:
        print("  best evidences:")
    for evidence in turn["top_evidences"][:_BEST_EVIDENCES]:
        print(f"    {evidence.get('score', 0.0):6.2f} [{evidence['source']}] {evidence['evidence_text']}")


def _train(options: argparse.Namespace) -> int:
    from .pipeline import STAGES, build_stage

    sources, config = _sources_and_config(options.words)
    for stage in STAGES if options.stage == "all" else [options.stage]:
        module = build_stage(stage, config)
        if type(module).train is STAGES[stage].train:  # type: ignore[attr-defined]
            print(f"{stage}: '{getattr(config, stage)}' has nothing to train")
            continue
        module.train(sources)
        module.store_cache()
    return 0


def _evaluate(options: argparse.Namespace) -> int:
    from pathlib import Path

    import msgspec

    from .benchmarks.convmix import read_conversations
    from .scoring.convqa import evaluate

    if len(options.files) != 1:
        raise ConfigError("evaluate answers takes one file: TURNS.jsonl")
    print(msgspec.json.encode(evaluate(read_conversations(Path(options.files[0])))).decode())
    return 0


def _bench(options: argparse.Namespace) -> int:
    from .config import project_root

    return _run_script(project_root() / "scripts" / f"bench_{options.name}.py", "bench", options.name)


def _test(options: argparse.Namespace) -> int:
    import importlib.util
    import subprocess
    from pathlib import Path

    from .config import project_root

    tests = project_root() / "tests"
    if not tests.is_dir():
        raise ConfigError(f"{tests}: no tests here; they belong to a checkout of the project")
    if importlib.util.find_spec("pytest") is None:
        raise ConfigError("pytest is not installed; run pip install 'convinse[test]'")
    files = [str(Path(file).resolve()) for file in options.files] or [str(tests)]
    return subprocess.call([sys.executable, "-m", "pytest", *files, *options.rest], cwd=project_root())


def _run_script(script: Any, kind: str, name: str) -> int:
    import subprocess

    if not script.is_file():
        from .errors import nearest

        known = [path.stem.removeprefix(f"{kind}_") for path in script.parent.glob(f"{kind}_*.py")]
        raise ConfigError(f"{kind}: unknown name '{name}'; {nearest(name, known)}")
    return subprocess.call([sys.executable, str(script)])
