"""Commands that measure results: evaluate TASK."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .arguments import Commands, add_dropped
from .output import print_json


def add(commands: Commands) -> None:
    """`evaluate answers`, `compare`, `mrqa`, `squad`, `klue-mrc`, `poleval`."""
    commands = commands.group("evaluate", "measures of finished results, as one JSON object")
    sub = commands.add(
        "answers", _answers, "P@1, MRR, Hit@5 and answer presence, from answers, evidences and gold answers"
    )
    sub.add_argument(
        "file", metavar="TURNS.jsonl", help="written by `pipeline`, or conversations of others with answers"
    )

    sub = commands.add(
        "compare", _compare, "whether two pipeline runs over the same questions differ by more than chance"
    )
    sub.add_argument("first", metavar="TURNS_A.jsonl", help="written by `pipeline`, or a JSON list of others")
    sub.add_argument("second", metavar="TURNS_B.jsonl", help="its means less those of the first are the differences")

    sub = commands.add("mrqa", _mrqa, "exact match and F1 of MRQA 2019")
    sub.add_argument("data", metavar="DATA", help="a .jsonl or .jsonl.gz file, its URL, or a folder of NAME.jsonl[.gz]")
    sub.add_argument("predictions", metavar="PREDICTIONS", help="a JSON object {qid: text}, or a folder of NAME.json")
    sub.add_argument("--skip-no-answer", action="store_true", help="leave out questions without a prediction")

    sub = commands.add("squad", _squad, "exact match and F1 of SQuAD 2.0, and the best no-answer thresholds")
    sub.add_argument("data", metavar="DATA", help="a SQuAD 1.1 or 2.0 JSON file, or its URL")
    sub.add_argument("predictions", metavar="PREDICTIONS", help='a JSON object {id: text}, "" for no answer')
    _add_probabilities(sub)

    sub = commands.add("klue-mrc", _klue_mrc, "the 13 values of KLUE-MRC")
    sub.add_argument("data", metavar="DATA", help="a KLUE-MRC or SQuAD 2.0 JSON file, or its URL")
    sub.add_argument(
        "predictions", metavar="PREDICTIONS", help="{id: text}, or {id, prediction_text, no_answer_probability} as list or lines"
    )  # fmt: skip
    _add_probabilities(sub)
    for option in ("--char-f1", "--rouge-w", "--keep-articles"):
        add_dropped(sub, option, "the values are the 13 of the metric card")

    sub = commands.add(
        "poleval", _poleval, "NDCG@10, MRR@10 and recall of PolEval 2022's passage retrieval, in percent"
    )
    sub.add_argument("expected", metavar="EXPECTED", help="expected.tsv (ids a line) or pairs.tsv (with its header)")
    sub.add_argument("submission", metavar="SUBMISSION", help="ids a line, or scored pairs")
    sub.add_argument("--questions", metavar="IN.tsv", help="names the sets (default: in.tsv beside EXPECTED)")
    sub.add_argument(
        "--official", action="store_true", help="count an id that a line repeats at each of its places, as GEval does"
    )


def _add_probabilities(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--na-probs", metavar="FILE", help="a JSON object {id: probability that there is no answer}")
    parser.add_argument(
        "--na-prob-thresh",
        metavar="T",
        type=float,
        default=1.0,
        help='above it a prediction counts as "" (default 1.0)',
    )


def _answers(options: argparse.Namespace) -> int:
    from ..formats.convmix import read_measurable
    from ..scoring.convqa import evaluate, measure_anew

    conversations = read_measurable(Path(options.file))
    measure_anew(conversations)
    return _print(evaluate(conversations))


def _compare(options: argparse.Namespace) -> int:
    from ..scoring.significance import compare

    return _print(compare(Path(options.first), Path(options.second)))


def _mrqa(options: argparse.Namespace) -> int:
    from ..formats.download import local_files
    from ..scoring.answer_files import paired_files, read_mrqa_answers, read_predictions
    from ..scoring.mrqa import MACRO, evaluate, macro_average
    from ..support.errors import DataError

    def measure(data: Path, predictions: Path) -> dict[str, float]:
        return evaluate(read_mrqa_answers(data), read_predictions(predictions), options.skip_no_answer, str(data))

    with local_files(options.data, options.predictions) as (data, predictions):
        if not data.is_dir() and not predictions.is_dir():
            return _print(measure(data, predictions))
        pairs = paired_files(data, predictions)
        if MACRO in pairs:
            raise DataError(f"{pairs[MACRO][0]}: no data set can be called '{MACRO}', the name of the average")
        results = {name: measure(*files) for name, files in pairs.items()}
        return _print({**results, MACRO: macro_average(results)})


def _squad(options: argparse.Namespace) -> int:
    from ..formats.download import local_files
    from ..scoring.answer_files import read_predictions, read_probabilities, read_squad_references
    from ..scoring.squad2 import evaluate

    with local_files(options.data, options.predictions) as (data, predicted):
        answers = {qid: texts for qid, (texts, _) in read_squad_references(data).items()}
        predictions = read_predictions(predicted)
    probabilities = read_probabilities(Path(options.na_probs)) if options.na_probs else None
    return _print(evaluate(answers, predictions, probabilities, options.na_prob_thresh))


def _klue_mrc(options: argparse.Namespace) -> int:
    from ..formats.download import local_files
    from ..scoring.answer_files import read_probabilities, read_squad_references, read_triples
    from ..scoring.klue_mrc import evaluate
    from ..support.errors import DataError

    with local_files(options.data, options.predictions) as (data, predicted):
        gold = read_squad_references(data)
        predictions = read_triples(predicted)
    if options.na_probs:
        probabilities = read_probabilities(Path(options.na_probs))
        for prediction in predictions:
            if prediction.get("no_answer_probability") is not None:
                raise DataError(f"{options.predictions}: holds probabilities already; leave out --na-probs")
            prediction["no_answer_probability"] = probabilities.get(str(prediction.get("id")))
    references = [
        {"id": qid, "answers": {"text": texts}, "unanswerable": is_unanswerable}
        for qid, (texts, is_unanswerable) in gold.items()
    ]
    return _print(evaluate(predictions, references, options.na_prob_thresh))


def _poleval(options: argparse.Namespace) -> int:
    from ..formats.download import local_files
    from ..scoring.poleval import evaluate, read_expected, read_submission

    questions = [options.questions] if options.questions else []
    with local_files(options.expected, options.submission, *questions) as (gold, submission, *in_tsv):
        expected = read_expected(gold, *in_tsv)
        return _print(evaluate(expected, read_submission(submission, expected), options.official))


def _print(result: dict[str, Any]) -> int:
    print_json(result)
    return 0
