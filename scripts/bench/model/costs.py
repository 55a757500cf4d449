"""The parts of `bench model` that say what the model costs, and whether precisions agree."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from ..harness import Bench, Figures
from . import evidence, speed
from .model import Model
from .sets import SEED, sample
from .setup import counted

if TYPE_CHECKING:
    from convinse.encoder.precision import Precision

ONE_PASS, TURN_MS = 1.1, 150
_TABLES = 100  # questions over tables that precisions are compared on
SAME = {"int8": 0.97, "bf16": 0.98}  # answers as fp32 has them


def speed_part(bench: Bench) -> Figures:
    """Milliseconds of ranking and reading 200 evidences in one pass, and of ranking 20."""
    setup = bench.state
    asked = evidence.asked_of(setup.pools.questions, setup.pools.evidences[evidence.WIDE])
    number = bench.size.turns + 1
    precisions: tuple[Precision, ...] = ("bf16", "fp32") if setup.on_gpu else ("int8", "fp32")
    table: list[list[str] | None] = []
    figures: Figures = {}
    many = speed.turns_of(asked, 200, number)
    for precision in precisions:
        models = [setup.other(precision, one_pass=one_pass) for one_pass in (False, True, False)]
        times = speed.milliseconds(speed.one_pass_systems(*models), many)
        medians = {name: statistics.median(values) for name, values in times.items()}
        ratios = {name: median / medians[speed.RANKING] for name, median in medians.items()}
        figures[f"200 evidences, {precision}"] = {"turns": len(many) - 1, "ms": medians, "ratios": ratios}
        bench.want(f"speed, {precision}: one pass to ranking alone", ratios[speed.ONE_PASS], ONE_PASS, False)
        for name, median in medians.items():
            wanted = f"<= {ONE_PASS}" if name == speed.ONE_PASS else ""
            cells = (str(len(many) - 1), f"{median:.0f}", f"{ratios[name]:.2f}", wanted)
            table.append([f"200 evidences, {name}", precision, *cells])
        table.append(None)
    few = speed.turns_of(asked, 20, number)
    systems = speed.ranking_systems({precision: setup.other(precision, one_pass=False) for precision in precisions})
    medians = {name: statistics.median(times) for name, times in speed.milliseconds(systems, few).items()}
    figures["20 evidences"] = {"turns": len(few) - 1, "ms": medians}
    for name, median in medians.items():
        wanted = f"< {TURN_MS}" if name == precisions[0] else ""
        table.append(["20 evidences, ranking alone", name, str(len(few) - 1), f"{median:.1f}", "", wanted])
    bench.want(f"speed, {precisions[0]}: ms of 20 evidences", medians[precisions[0]], TURN_MS, False)
    columns = ("what", "precision", "turns", "ms", "ratio", "wanted")
    bench.show("milliseconds of a turn, medians", columns, table, 2)
    return figures


def agreement_part(bench: Bench) -> Figures:
    """How often another precision gives the answers and the best evidence of fp32 on the CPU."""
    import torch

    setup = bench.state
    others = {"int8, cpu": setup.other("int8", "cpu")}
    if torch.cuda.is_available():
        others["bf16, cuda"] = setup.other("bf16", "cuda")
    paragraphs = [question for questions in setup.sets.paragraphs.values() for question in questions]
    asked = evidence.asked_of(setup.pools.questions, setup.pools.evidences[evidence.RETRIEVED])
    asked += sample(setup.sets.ranked["tables"], _TABLES, SEED)
    number = len(setup.sets.sentences) + len(paragraphs) + len(asked)

    def answers_of(name: str, model: Model) -> speed.Answers:
        with counted(name, number) as advance:
            return speed.answers_of(model, setup.sets.sentences, paragraphs, asked, advance)

    reference = setup.other("fp32", "cpu")
    wanted = answers_of("fp32, cpu", reference)
    table = []
    figures: dict[str, Any] = {"answers": len(wanted.answers), "best evidences": len(wanted.best)}
    for name, model in {"fp32, cpu": reference, **others}.items():
        sound = speed.always_numbers(model, paragraphs[0].query)
        figures[name] = {"always numbers": sound}
        bench.want(f"agreement, {name}: scores of odd texts are numbers", float(sound), 1)
        said = "yes" if sound else "NO"
        if model is reference:
            table.append((name, "", "", said, ""))
            continue
        least = SAME[str(model.precision)]
        shares = speed.agreement(wanted, answers_of(name, model))
        figures[name] |= shares
        bench.want(f"agreement, {name}: the same answers", shares["answers"], least)
        table.append((name, f"{shares['answers']:.3f}", f"{shares['best text']:.3f}", said, f">= {least}"))
    title = f"the same as fp32 on a CPU: {len(wanted.answers)} answers, {len(wanted.best)} best evidences"
    bench.show(title, ("precision", "answers", "best evidence", "no NaN", "answers wanted"), table)
    return figures
