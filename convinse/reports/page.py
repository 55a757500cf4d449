"""A report as one HTML file: no script, nothing from elsewhere, every text escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from ..version import __version__
from .comparison import differing
from .content import ReportTable, letters, tables
from .pictures import calibration_picture, can_draw, presence_picture
from .reported_run import ReportedRun, ReportedTurn

MOST_SHOWN = 200  # questions of a kind of difference between two runs
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light; --line: #d9dde3; --soft: #f5f6f8; --dim: #5b6470; --good: #006b4f; --bad: #a33b00; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; max-width: 1080px; margin: 2rem auto 4rem; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.4rem 0 .3rem; } h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p.note { color: var(--dim); margin: .1rem 0 .6rem; max-width: 48rem; }
nav a { margin-right: 1rem; } a { color: #0057a3; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { border-bottom-color: #8a93a0; font-weight: 600; } td.text, th.text { text-align: left; }
figure { margin: .8rem 0; } figure svg { max-width: 100%; height: auto; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; } summary { cursor: pointer; padding: .45rem .8rem; }
summary .gold { color: var(--dim); } summary .dim { float: right; } details[open] summary { border-bottom: 1px solid var(--line); background: var(--soft); }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1.2rem; padding: .6rem .9rem 1rem; } .sides > div { min-width: 0; overflow-wrap: anywhere; }
.sides h4 { margin: .2rem 0; font-size: .95rem; } ol { margin: .3rem 0; padding-left: 1.4rem; } li { margin: .15rem 0; }
.right { color: var(--good); font-weight: 600; } .wrong { color: var(--bad); } .dim { color: var(--dim); }
.source { display: inline-block; min-width: 2.6rem; color: var(--dim); font-size: .85em; } li.holds { background: #e6f4ee; }
@media (max-width: 720px) { .sides { grid-template-columns: 1fr; } }
"""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str) -> Markup:
    """An element; children that are no `Markup` are escaped, as attributes are; `class_` stands for `class`."""
    shown = "".join(f' {key.rstrip("_")}="{html.escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{shown}>{_joined(children)}</{name}>")


def _joined(children: Iterable[str]) -> Markup:
    return Markup("".join(child if isinstance(child, Markup) else html.escape(child) for child in children))


def page(runs: Sequence[ReportedRun], title: str = "Runs of convinse") -> str:
    """The report of runs over the same questions.

    Raises:
        DependencyError: the extra `ir` is not installed.
    """
    sections: list[tuple[str, str, Markup]] = []
    drawn = _pictures(runs)
    for table in tables(runs):
        picture = drawn.get(table.name, Markup(""))
        sections.append((table.name, table.title, _joined([_table(table), picture])))
    sections += [
        (f"differing-{letter}", f"Where {letter} differs from A", _differing(runs[0], run, letter))
        for letter, run in list(zip(letters(runs), runs, strict=True))[1:]
    ]
    missing = "" if can_draw() else " For pictures install the extra plots."
    body = [
        element("h1", title),
        element("p", f"Written by convinse {__version__}. Measures are computed anew from answers and evidences.{missing}", class_="note"),
        element("nav", *(element("a", heading, href=f"#{name}") for name, heading, _ in sections)),
        *(element("section", element("h2", heading), content, id=name) for name, heading, content in sections),
    ]  # fmt: skip
    head = _joined(
        [Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width">'),
         Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
         element("title", title), element("style", Markup(_STYLE))]
    )  # fmt: skip
    content = "\n".join(body)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{content}</body></html>\n'


def _table(table: ReportTable) -> Markup:
    def kind(place: int, cells: Sequence[str]) -> dict[str, str]:
        is_text = place == 0 or table.columns[place] in ("run", "measure")
        return {"class_": "text"} if is_text else {}

    head = element(
        "tr", *(element("th", name, **kind(place, table.columns)) for place, name in enumerate(table.columns))
    )
    rows = [
        element("tr", *(element("td", cell, **kind(place, row)) for place, cell in enumerate(row)))
        for row in table.rows
    ]
    note = element("p", table.note, class_="note") if table.note else Markup("")
    return _joined(
        [note, element("div", element("table", element("thead", head), element("tbody", *rows)), class_="wide")]
    )


def _pictures(runs: Sequence[ReportedRun]) -> dict[str, Markup]:
    if not can_draw():
        return {}
    named = letters(runs)
    drawn = {
        "presence": (presence_picture(named, runs), "Answer presence by the number of evidences"),
        "calibration": (calibration_picture(named, runs), "Share of right answers by their probability"),
    }
    return {
        name: element("figure", Markup(picture), role="img", **{"aria-label": text})
        for name, (picture, text) in drawn.items()
    }


def _differing(first: ReportedRun, run: ReportedRun, letter: str) -> Markup:
    parts = []
    for what, names in zip((f"Right in {letter} only", "Right in A only"), differing(first, run), strict=True):
        parts.append(element("h3", f"{what}: {len(names)}"))
        if len(names) > MOST_SHOWN:
            parts.append(element("p", f"The first {MOST_SHOWN} of them are shown.", class_="note"))
        for name in names[:MOST_SHOWN]:
            before = first.turns[name]
            gold = element("span", f" → {', '.join(before.gold)}", class_="gold")
            summary = element("summary", before.question, gold, element("span", name, class_="dim"))
            sides = element("div", _side("A", before), _side(letter, run.turns[name]), class_="sides")
            parts.append(element("details", summary, sides))
    return _joined(parts)


def _side(letter: str, turn: ReportedTurn) -> Markup:
    answers = [
        element("li", element("span", answer.label, class_="right" if answer.is_right else "wrong"), f" {answer.score:.3f}") for answer in turn.answers
    ]  # fmt: skip
    evidences = [
        element("li", element("span", evidence.source, class_="source"), " ", evidence.text, **({"class_": "holds"} if evidence.has_answer else {}))
        for evidence in turn.evidences
    ]  # fmt: skip
    place = (
        f"a gold answer is in evidence {turn.first_place} of {turn.num_evidences}"
        if turn.first_place
        else f"no gold answer in {turn.num_evidences} evidences"
    )
    return element(
        "div",
        element("h4", letter),
        element("div", f"understood as {turn.understood}", class_="dim"),
        element("ol", *answers) if answers else element("p", "no answer"),
        element("div", f"abstained: {turn.abstained}", class_="dim") if turn.abstained else Markup(""),
        element("div", place, class_="dim"),
        element("ol", *evidences),
    )
