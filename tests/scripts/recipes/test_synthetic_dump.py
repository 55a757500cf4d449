import gzip
import hashlib
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.knowledge_base.dump import read_dump
from places import ROOT
from recipes import synthetic_dump

SCRIPT = ROOT / "scripts" / "recipes" / "synthetic_dump.py"
ITEMS, FACTS = 3_000, 20_000


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    path = tmp_path_factory.mktemp("synthetic") / "dump.json"
    synthetic_dump.write_dump(path, ITEMS, FACTS, 7)
    return list(read_dump(path))


def test_counts_are_as_asked(documents):
    kinds = Counter(document.kind for document in documents)
    assert kinds == {"item": ITEMS, "property": 300}
    assert len({document.id for document in documents}) == len(documents)
    assert sum(len(document.statements) for document in documents) == FACTS


def test_terms_are_realistic(documents):
    items = [document for document in documents if document.kind == "item"]
    assert all(1 <= len(item.label.split()) <= 4 and item.label[0].isupper() for item in items)
    assert 12 < sum(len(item.label) for item in items) / ITEMS < 20
    assert 1.1 < sum(len(item.aliases) for item in items) / ITEMS < 1.5
    assert 0.8 < sum(bool(item.description) for item in items) / ITEMS < 0.95
    labels = {document.id: document.label for document in documents if document.kind == "property"}
    assert labels["P31"] == "instance of" and labels["P279"] == "subclass of"
    assert len(set(labels.values())) == len(labels)


def test_values_and_qualifiers_have_their_shares(documents):
    statements = [statement for document in documents for statement in document.statements]
    qualifiers = Counter(len(statement.parts) - 1 for statement in statements)
    assert set(qualifiers) == {0, 1, 2}
    assert 0.13 < 1 - qualifiers[0] / FACTS < 0.17
    assert 0.65 < sum(statement.parts[0][1].label is None for statement in statements) / FACTS < 0.85
    assert 0.01 < sum(statement.preferred for statement in statements) / FACTS < 0.05


def test_every_object_has_a_document(documents):
    known = {document.id for document in documents}
    for document in documents:
        for statement in document.statements:
            for prop, value in statement.parts:
                assert prop in known and (value.unit is None or value.unit in known)
                assert value.label is not None or value.id in known


def test_degrees_are_skewed_on_both_sides(documents):
    out = sorted(len(document.statements) for document in documents if document.kind == "item")
    assert out[0] >= 1 and out[-1] > 10 * FACTS / ITEMS
    into = Counter(
        value.id for document in documents for s in document.statements for _, value in s.parts if value.label is None
    )
    (_, most), *_, (_, tenth) = into.most_common(10)
    assert most > 0.02 * FACTS and tenth < most / 2


def test_what_a_knowledge_base_drops_comes_on_top(workdir):
    synthetic_dump.write_dump(Path("dump.json"), ITEMS, FACTS, 7)
    text = Path("dump.json").read_text()
    assert text.count('"rank":"deprecated"') == FACTS // 100
    assert 0.4 * ITEMS < text.count('"datatype":"external-id"},"type"') < 0.6 * ITEMS


@pytest.mark.parametrize("name", ["dump.json", "dump.json.gz", "dump.json.zst"])
def test_same_seed_same_bytes(workdir, name):
    if name.endswith(".zst"):
        pytest.importorskip("zstandard")
    digests = []
    for seed in (1, 1, 2):
        synthetic_dump.write_dump(Path(name), 200, 1_000, seed)
        digests.append(hashlib.sha256(Path(name).read_bytes()).hexdigest())
    assert digests[0] == digests[1] != digests[2]
    assert sum(len(document.statements) for document in read_dump(Path(name))) == 1_000


def test_processes_do_not_change_the_bytes(workdir):
    items = synthetic_dump.CHUNK + 10  # two chunks
    command = [sys.executable, str(SCRIPT), "two.json.gz", "--items", str(items), "--facts", str(2 * items), "--quiet"]
    subprocess.run([*command, "--processes", "2", "--seed", "3"], check=True, timeout=60)
    synthetic_dump.write_dump(Path("one.json"), items, 2 * items, 3)
    assert gzip.decompress(Path("two.json.gz").read_bytes()) == Path("one.json").read_bytes()


@pytest.mark.parametrize(
    "arguments", [["dump.txt"], ["dump.json", "--items", "0"], ["dump.json", "--items", "9", "--facts", "8"]]
)
def test_wrong_arguments_are_refused(workdir, arguments):
    done = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "error:" in done.stderr and "Traceback" not in done.stderr
    assert not list(workdir.iterdir())


@given(items=st.integers(1, 120), more=st.integers(0, 500), seed=st.integers(0, 1000))
def test_any_size_is_a_whole_dump(tmp_path_factory, items, more, seed):
    path = tmp_path_factory.getbasetemp() / "any.json"
    synthetic_dump.write_dump(path, items, items + more, seed)
    documents = [document for document in read_dump(path) if document.kind == "item"]
    assert len(documents) == items
    assert sum(len(document.statements) for document in documents) == items + more
