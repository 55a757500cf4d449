"""The parts of `bench model` that say what the model costs, and whether precisions agree."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from bench.model import evidence, speed
from bench.model.model import Model
from bench.model.sets import SEED, sample
from bench.model.setup import Bench, counted, table_of

if TYPE_CHECKING:
    from convinse.encoder.precision import Precision

# what issue 9 asks for
ONE_PASS, TURN_MS = 1.1, 150
_TABLES = 100  # questions over tables that precisions are compared on
SAME = {"int8": 0.97, "bf16": 0.98}  # answers as fp32 has them


def speed_part(bench: Bench) -> None:
    """Milliseconds of ranking and reading 200 evidences in one pass, and of ranking 20."""
    asked = evidence.asked_of(bench.pools.questions, bench.pools.evidences[evidence.WIDE])
    number = bench.size.turns + 1
    precisions: tuple[Precision, ...] = ("bf16", "fp32") if bench.on_gpu else ("int8", "fp32")
    table = table_of("milliseconds of a turn, medians", ("what", "precision", "turns", "ms", "ratio", "wanted"), 2)
    rows: dict[str, Any] = {}
    many = speed.turns_of(asked, 200, number)
    for precision in precisions:
        models = [bench.other(precision, one_pass=one_pass) for one_pass in (False, True, False)]
        times = speed.milliseconds(speed.one_pass_systems(*models), many)
        medians = {name: statistics.median(values) for name, values in times.items()}
        ratios = {name: median / medians[speed.RANKING] for name, median in medians.items()}
        rows[f"200 evidences, {precision}"] = {"turns": len(many) - 1, "ms": medians, "ratios": ratios}
        bench.want(f"speed, {precision}: one pass to ranking alone", ratios[speed.ONE_PASS], ONE_PASS, False)
        for name, median in medians.items():
            wanted = f"<= {ONE_PASS}" if name == speed.ONE_PASS else ""
            what = f"200 evidences, {name}"
            table.add_row(what, precision, str(len(many) - 1), f"{median:.0f}", f"{ratios[name]:.2f}", wanted)
        table.add_section()
    few = speed.turns_of(asked, 20, number)
    systems = speed.ranking_systems({precision: bench.other(precision, one_pass=False) for precision in precisions})
    medians = {name: statistics.median(times) for name, times in speed.milliseconds(systems, few).items()}
    rows["20 evidences"] = {"turns": len(few) - 1, "ms": medians}
    for name, median in medians.items():
        wanted = f"< {TURN_MS}" if name == precisions[0] else ""
        table.add_row("20 evidences, ranking alone", name, str(len(few) - 1), f"{median:.1f}", "", wanted)
    bench.want(f"speed, {precisions[0]}: ms of 20 evidences", medians[precisions[0]], TURN_MS, False)
    bench.console.print(table)
    bench.figures["speed"] = rows


def agreement_part(bench: Bench) -> None:
    """How often another precision gives the answers and the best evidence of fp32 on the CPU."""
    import torch

    others = {"int8, cpu": bench.other("int8", "cpu")}
    if torch.cuda.is_available():
        others["bf16, cuda"] = bench.other("bf16", "cuda")
    paragraphs = [question for questions in bench.sets.paragraphs.values() for question in questions]
    asked = evidence.asked_of(bench.pools.questions, bench.pools.evidences[evidence.RETRIEVED])
    asked += sample(bench.sets.ranked["tables"], _TABLES, SEED)
    number = len(bench.sets.sentences) + len(paragraphs) + len(asked)

    def found_by(name: str, model: Model) -> speed.Found:
        with counted(name, number) as advance:
            return speed.found_by(model, bench.sets.sentences, paragraphs, asked, advance)

    reference = bench.other("fp32", "cpu")
    wanted = found_by("fp32, cpu", reference)
    title = f"the same as fp32 on a CPU: {len(wanted.answers)} answers, {len(wanted.best)} best evidences"
    table = table_of(title, ("precision", "answers", "best evidence", "no NaN", "answers wanted"), 1)
    rows: dict[str, Any] = {"answers": len(wanted.answers), "best evidences": len(wanted.best)}
    for name, model in {"fp32, cpu": reference, **others}.items():
        sound = speed.always_numbers(model, paragraphs[0].query)
        rows[name] = {"always numbers": sound}
        bench.want(f"agreement, {name}: scores of odd texts are numbers", float(sound), 1)
        if model is reference:
            table.add_row(name, "", "", "yes" if sound else "NO", "")
            continue
        shares = speed.agreement(wanted, found_by(name, model))
        rows[name] |= shares
        bench.want(f"agreement, {name}: the same answers", shares["answers"], SAME[str(model.precision)])
        cells = (f"{shares['answers']:.3f}", f"{shares['best text']:.3f}", "yes" if sound else "NO")
        table.add_row(name, *cells, f">= {SAME[str(model.precision)]}")
    bench.console.print(table)
    bench.figures["agreement"] = rows
