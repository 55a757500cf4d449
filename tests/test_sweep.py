"""A grid of settings: what is tried, what is refused, what is left behind."""

import pytest

from convinse.support.errors import ConfigError
from convinse.sweep import read_sweep
from refusals import refused
from written import json_lines, read_json, write

FILE = """
name: tries
config: lexical.yml
sources: kb
limit: 2
grid:
  evs_max_evidences: [5, 50]
  clocq_params.k: [1, AUTO]
"""


def test_every_combination_is_tried_and_the_best_stands_first(workdir, command):
    write("sweep.yml", FILE)
    told = command("sweep", "sweep.yml", "--quiet")
    assert "questions of dev, the best setting first" in told
    assert "clocq_params.k" in told
    tried = read_json("results/tries/sweep.json")
    assert sorted((own["settings"]["evs_max_evidences"], str(own["settings"]["clocq_params.k"])) for own in tried) == [
        (5, "1"), (5, "AUTO"), (50, "1"), (50, "AUTO")]  # fmt: skip
    measures = [own["metrics"]["p_at_1"] for own in tried]
    assert measures == sorted(measures, reverse=True)
    for own in tried:
        conversations = json_lines(f"results/tries/{own['folder']}/kb/turns.jsonl")
        evidences = [len(turn["top_evidences"]) for own in conversations for turn in own["questions"]]
        assert max(evidences) <= own["settings"]["evs_max_evidences"]
    assert command("sweep", "sweep.yml", "--quiet").splitlines()[-1] == "results/tries/sweep.json"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[5, 50]", "[5, none]", ["sweep.yml: evs_max_evidences: none, clocq_params.k: 1", "evs_max_evidences"]),
        ("evs_max_evidences", "evs_max_evidence", ["evs_max_evidences"]),
        ("clocq_params.k", "clocq_params.kk", ["clocq_params", "kk"]),
        ("clocq_params.k", "seed.k", ["'seed' has no keys"]),
        ("[1, AUTO]", "[]", ["grid"]),
        ("clocq_params.k: [1, AUTO]", "seed: [" + "1, " * 600 + "]", ["1200 combinations"]),
        ("limit: 2", "part: test", ["part", "natural-dev"]),
        ("sources: kb", "sources: books", ["books"]),
        ("clocq_params.k: [1, AUTO]", "device: [cpu, cuda]", ["device makes no other results"]),
        ("name: tries", "name: ../tries", ["name"]),
    ],
)
def test_what_cannot_be_tried_is_told_before_anything_is(workdir, old, new, words):
    write("sweep.yml", FILE.replace(old, new))
    refused(ConfigError, lambda: read_sweep("sweep.yml"), "sweep.yml", *words)
