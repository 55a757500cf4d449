"""Answers by when something held, from facts, lines of infoboxes and rows of tables; the questions are in tests/cases/times.yml."""

import json

import pytest

from case_tables import each_case
from convinse import Pipeline, load_config
from convinse.cli import main
from handmade import claim, document, q, quantity, time, write

PEOPLE = {"Q11": "Ida Roth", "Q12": "Per Lund", "Q13": "Una Vale"}
PROPERTIES = {
    "P31": "instance of", "P1037": "director", "P38": "currency", "P1082": "population", "P580": "start time",
    "P582": "end time", "P585": "point in time",
}  # fmt: skip
PAGE = """<div class="mw-parser-output"><table class="infobox"><tr><th>Type</th><td>Charity</td></tr><tr><th>Chairperson</th>
<td><a href="/wiki/Ida_Roth">Ida Roth</a> (1980–1986)<br><a href="/wiki/Per_Lund">Per Lund</a> (1986–2001)<br>
<a href="/wiki/Una_Vale">Una Vale</a> (2001–present)</td></tr><tr><th>Members (2011)</th><td>5,100</td></tr>
<tr><th>Members (2021)</th><td>6,300</td></tr></table><p>The Harbour Trust is an organisation.</p><h2>Treasurers</h2>
<table class="wikitable"><tr><th>Treasurer</th><th>From</th><th>To</th></tr>
<tr><td><a href="/wiki/Per_Lund">Per Lund</a></td><td>1980</td><td>1984</td></tr>
<tr><td><a href="/wiki/Una_Vale">Una Vale</a></td><td>1984</td><td>1990</td></tr>
<tr><td><a href="/wiki/Ida_Roth">Ida Roth</a></td><td>1990</td><td>1999</td></tr></table></div>"""


def year(number):
    return time(f"+{number}-00-00T00:00:00Z", 9)


def director(person, *when, rank="normal"):
    return claim("P1037", q(person), *when, rank=rank)


def population(number, counted, rank="normal"):
    return claim("P1082", quantity(f"+{number}"), ("P585", year(counted)), rank=rank)


DOCUMENTS = [
    *(document(name, label) for name, label in PROPERTIES.items()),
    document("Q5", "human"), document("Q4830453", "business"), document("Q6256", "country"), document("Q8142", "currency"),
    *(document(name, label, claim("P31", q("Q5"))) for name, label in PEOPLE.items()),
    document("Q21", "ostmark shilling", claim("P31", q("Q8142"))), document("Q22", "ostmark crown", claim("P31", q("Q8142"))),
    document(
        "Q30", "Norden Works", claim("P31", q("Q4830453")), director("Q11", ("P580", year(1990)), ("P582", year(2004))),
        director("Q12", ("P580", year(2004)), ("P582", year(2017))), director("Q13", ("P580", year(2017)), rank="preferred"),
    ),
    document(
        "Q31", "Ostmark", claim("P31", q("Q6256")), claim("P38", q("Q21"), ("P582", year(2001))),
        claim("P38", q("Q22"), ("P580", year(2001)), rank="preferred"), population(81250, 2001), population(93400, 2011),
        population(104730, 2021, rank="preferred"),
    ),
    document("Q40", "Harbour Trust", claim("P31", q("Q4830453")), title="Harbour Trust"),
]  # fmt: skip


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    folder = tmp_path_factory.mktemp("times")
    write(folder / "dump.json", DOCUMENTS)
    page = {"title": "Harbour Trust", "url": "", "qid": "Q40", "html": PAGE}
    (folder / "pages.jsonl").write_text(json.dumps(page) + "\n", encoding="utf-8")
    titles = "".join(f"{label}\t{name}\n" for name, label in {**PEOPLE, "Q40": "Harbour Trust"}.items())
    (folder / "titles.tsv").write_text(f"title\tqid\n{titles}", encoding="utf-8")
    build = ["wikipedia", "build", "pages.jsonl", "--titles", "titles.tsv", "--output", "pages.db", "--quiet"]
    assert main(["kb", "build", str(folder / "dump.json"), "--output", str(folder / "kb"), "--quiet"]) == 0
    assert main([str(folder / part) if part.startswith(("pages", "titles")) else part for part in build]) == 0
    paths = {"kb_path": str(folder / "kb"), "ers_wikipedia_dump": str(folder / "pages.db")}
    with Pipeline(load_config("config.yml", **paths, ers_use_cache=False)) as pipeline:
        yield pipeline


@each_case("times")
def test_answers_hold_at_the_time_of_the_question(pipeline, case, request):
    if "known_fault" in case:
        request.applymarker(pytest.mark.xfail(strict=True, reason=case["known_fault"]))
    (turn,) = pipeline.ask([case["question"]], case["sources"])["questions"]
    best = turn["pred_answers"][0]
    assert best["answer"]["label"] == case["answer"] and "abstained" not in turn
    if "time" in case:
        assert best["time"] == case["time"]
