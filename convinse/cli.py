"""The command line: one function call a command. Results go to standard output, logs to standard error."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .errors import ConfigError, ConvinseError, OutputError, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from .config import Config
    from .experiment import Outcome
    from .knowledge_base.index import KnowledgeBase

_INTERRUPTED = 130
_KEPT = "finished conversations are kept, run the command again to go on"
_BEST_EVIDENCES = 5  # shown by ask
_FIRST_FACTS = 20  # shown by kb search


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
        print(f"convinse: interrupted; {options.interrupted}", file=sys.stderr)
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
        sub.set_defaults(run=function, interrupted=_KEPT)
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

    _add_kb_commands(commands, common)
    _add_wikipedia_commands(commands, common)

    sub = command("evaluate", _evaluate, "measures of finished results, as one JSON object")
    sub.add_argument("task", choices=("answers",))
    sub.add_argument("files", nargs="+", metavar="FILE", help="answers: TURNS.jsonl")

    sub = command("bench", _bench, "a benchmark: prints a table and writes JSON")
    sub.add_argument("name", help="such as pipeline")

    sub = command("test", _test, "run the test suite; further arguments go to pytest")
    sub.add_argument("files", nargs="*", metavar="FILE")
    return parser


def _add_kb_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    text = "build, inspect, query or serve an embedded knowledge base"
    group = commands.add_parser("kb", help=text, description=text)
    group_commands = group.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, function: Any, text: str) -> argparse.ArgumentParser:
        sub = group_commands.add_parser(name, help=text, description=text, parents=[common])
        sub.set_defaults(run=function, interrupted="nothing was changed")
        return sub

    sub = command("build", _kb_build, "build the index of a Wikidata JSON dump")
    sub.add_argument("dump", metavar="DUMP", help="one entity a line: .json, .gz, .bz2 or .zst")
    sub.add_argument("--output", required=True, metavar="DIR", help="the index; an older one there is replaced")
    sub.add_argument("--memory", type=_size, default="4GB", metavar="SIZE", help="such as 512MB (default 4GB)")
    sub.add_argument("--language", type=_languages, default="en", metavar="CODE",
                     help="of the labels; several by comma, the preferred first (default en; mul always follows)")  # fmt: skip

    sub = command("info", _kb_info, "what an index holds")
    sub.add_argument("folder", metavar="DIR")

    sub = command("search", _kb_search, "the items of a question, and the facts around them")
    sub.add_argument("folder", metavar="DIR")
    sub.add_argument("question", metavar="QUESTION")
    sub.add_argument("--json", action="store_true", help="all of it as one JSON object, as /search_space answers")

    sub = command("serve", _kb_serve, "serve an index over the CLOCQ HTTP API until Ctrl-C")
    sub.add_argument("folder", metavar="DIR")
    sub.add_argument("--port", type=_port, default=7777, metavar="N", help="default 7777; 0 takes a free one")
    sub.add_argument("--host", default="127.0.0.1", help="the address to listen on (default 127.0.0.1: this machine)")


def _add_wikipedia_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    text = "build, import or inspect a Wikipedia dump"
    group = commands.add_parser("wikipedia", help=text, description=text)
    group_commands = group.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, function: Any, text: str) -> argparse.ArgumentParser:
        sub = group_commands.add_parser(name, help=text, description=text, parents=[common])
        sub.set_defaults(run=function, interrupted="nothing was changed")
        return sub

    sub = command("build", _wikipedia_build, "the evidences of saved HTML pages into a dump")
    sub.add_argument("pages", metavar="PAGES", help="JSON lines with title, url, qid and html; plain or .gz")
    sub.add_argument("--output", required=True, metavar="FILE", help="the dump; an older one there is replaced")
    sub.add_argument("--titles", metavar="TSV", help="title and item of other pages, for links; plain or .gz")

    sub = command("import-pickle", _wikipedia_import, "CONVINSE's pickle dump into the project's own format")
    sub.add_argument("file", metavar="FILE", help="item id -> list of evidences; plain or .gz; nothing in it is run")
    sub.add_argument("--output", required=True, metavar="FILE", help="the dump; an older one there is replaced")

    sub = command("info", _wikipedia_info, "what a dump holds")
    sub.add_argument("file", metavar="FILE")


def _size(text: str) -> int:
    """`512MB`, `4GB`, `1.5GiB` -> bytes; as with disks, a GB is 10^9 bytes and a GiB 2^30."""
    import re

    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kmgt]?)(i?)b?", text.strip().lower())
    if match is None or (match[3] and not match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is no size; give one such as 512MB or 4GB")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** " kmgt".index(match[2] or " "))


def _languages(text: str) -> tuple[str, ...]:
    codes = [code.strip() for code in text.split(",")]
    if not all(code.replace("-", "").isalnum() and code.isascii() and code == code.lower() for code in codes):
        raise argparse.ArgumentTypeError(f"'{text}' is no language code; give one such as en, or several as de,en")
    return tuple(dict.fromkeys([*codes, "mul"]))


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is no port; give a number from 0 to 65535")
    return int(text)


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
            row(
                f"answer in {source}", {**values, "answer_presence": outcome.metrics["answer_presence_per_src"][source]}
            )
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


def _kb_build(options: argparse.Namespace) -> int:
    from pathlib import Path

    from .knowledge_base.build import build

    output = Path(options.output)
    build(Path(options.dump), output, memory=options.memory, languages=options.language, quiet=options.quiet)
    _print_kb(output)
    return 0


def _kb_info(options: argparse.Namespace) -> int:
    from .config import resolve

    _print_kb(resolve(options.folder))
    return 0


def _print_kb(folder: Path) -> None:
    from rich.table import Table

    with _open_kb(folder) as kb:
        manifest = kb.manifest
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    table = Table(title=str(folder), title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name in ("items", "properties", "facts"):
        table.add_row(name, f"{getattr(manifest, name):,}")
    table.add_row("size", f"{size / 10**6:,.1f} MB ({size / max(manifest.facts, 1):.0f} bytes a fact)")
    table.add_row("languages", ", ".join(manifest.languages))
    table.add_row("build id", manifest.build_id)
    table.add_row("format", str(manifest.format))
    _console().print(table)


@contextmanager
def _open_kb(folder: Path) -> Iterator[KnowledgeBase]:
    from .knowledge_base.index import KnowledgeBase

    kb = KnowledgeBase(folder)
    try:
        yield kb
    finally:
        kb.close()


def _kb_search(options: argparse.Namespace) -> int:
    from .config import ClocqParams, Config, resolve
    from .knowledge_base.search_space import SearchSpace, fact_text
    from .knowledge_base.server import search_space_answer

    with _open_kb(resolve(options.folder)) as kb:
        found, entities = SearchSpace(kb, ClocqParams(), Config().clocq_p).search(options.question)
        descriptions = [kb.description(entity["item"]["id"]) for entity in entities]
    facts = [fact.fact for fact in found]
    if options.json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(search_space_answer(facts, entities)).decode() + "\n")
        return 0
    if not entities:
        print("no item of the knowledge base found in the question")
        return 0
    from rich.markup import escape
    from rich.table import Table

    table = Table("word", "rank", "score", "item", "label", "description")
    for entity, description in zip(entities, descriptions, strict=True):
        item = entity["item"]
        words = entity["question_word"], str(entity["rank"]), f"{entity['score']:.3f}", item["id"], item["label"]
        table.add_row(*map(escape, (*words, description)))
    _console().print(table)
    for fact in facts[:_FIRST_FACTS]:
        print(f"  {fact_text(fact)}")
    print(f"{len(facts)} facts" + (f", the first {_FIRST_FACTS} shown" if len(facts) > _FIRST_FACTS else ""))
    return 0


def _kb_serve(options: argparse.Namespace) -> int:
    from .config import resolve
    from .knowledge_base.server import serve

    folder = resolve(options.folder)
    with _open_kb(folder) as kb:
        serve(kb, options.host, options.port,
              lambda address: print(f"{folder}: the CLOCQ API is at {address} (Ctrl-C ends it)", flush=True))  # fmt: skip
    return 0


def _wikipedia_build(options: argparse.Namespace) -> int:
    from pathlib import Path

    from .wikipedia.build import build

    output, titles = Path(options.output), Path(options.titles) if options.titles else None
    built = build(Path(options.pages), output, titles, quiet=options.quiet)
    skipped = {
        "pages without an item": built.skipped,
        "bad lines": built.bad,
        "second pages of an item": built.repeated,
    }
    _print_wikipedia(output, skipped, built.seconds)
    return 0


def _wikipedia_import(options: argparse.Namespace) -> int:
    from pathlib import Path

    from .wikipedia.pickle_import import import_pickle

    output = Path(options.output)
    done = import_pickle(Path(options.file), output, quiet=options.quiet)
    _print_wikipedia(output, {"items without evidences": done.empty, "bad evidences": done.bad}, done.seconds)
    return 0


def _wikipedia_info(options: argparse.Namespace) -> int:
    from .config import resolve

    _print_wikipedia(resolve(options.file))
    return 0


def _print_wikipedia(path: Path, skipped: dict[str, int] | None = None, seconds: float | None = None) -> None:
    from contextlib import closing

    from rich.table import Table

    from .evidence import SOURCES
    from .wikipedia.dump import WikipediaDump

    with closing(WikipediaDump(path)) as dump:
        counts, build_id = dump.counts, dump.build_id
    table = Table(title=str(path), title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("pages", f"{counts['pages']:,}")
    for source in SOURCES:
        if source != "kb" or counts.get(source):
            table.add_row(f"{source} evidences", f"{counts.get(source, 0):,}")
    for name, number in (skipped or {}).items():
        table.add_row(f"skipped {name}", f"{number:,}")
    table.add_row("size", f"{path.stat().st_size / 10**6:,.1f} MB")
    table.add_row("build id", build_id)
    if seconds is not None:
        table.add_row("seconds", f"{seconds:.1f}")
    _console().print(table)


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
