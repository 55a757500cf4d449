import math
import random
from collections import Counter

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from case_tables import slow_but
from convinse.passages import build as building
from convinse.passages import index as searching
from convinse.passages import layout
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import ARRAYS, Parameters
from convinse.support.errors import IndexFileError
from convinse.support.manifest import write_manifest


def zipf_rows(number, seed=1, words=400):
    """Passages of made-up words, frequent and rare; some are repeated, so that there are ties."""
    rng = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(words)]

    def text(size):
        return " ".join(f"w{word}" for word in rng.choices(range(words), weights, k=size))

    rows = []
    for place in range(number):
        content = (text(rng.randint(1, 60)), text(2))[: 2 if place % 3 else 1]
        rows.append((f"{place}-0", *(rows[place - 20][1:] if place % 50 == 49 else content)))
    return rows


def brute_force(rows, question, parameters, top):
    """All passages scored by the formula of `PassageIndex`, one after the other."""
    weight, k1, b = parameters.title_weight, parameters.k1, parameters.b
    texts = [Counter(row[1].split()) for row in rows]
    titles = [Counter(row[2].split()) if len(row) > 2 else Counter() for row in rows]
    lengths = [text.total() + weight * title.total() for text, title in zip(texts, titles, strict=True)]
    mean = sum(lengths) / len(rows)
    scored = []
    terms = dict.fromkeys(question.split())
    having = {
        term: sum(term in text or term in title for text, title in zip(texts, titles, strict=True)) for term in terms
    }
    for number, (text, title) in enumerate(zip(texts, titles, strict=True)):
        score = 0.0
        for term in terms:
            often = min(text[term], 31) + weight * min(title[term], 7)
            idf = math.log(1 + (len(rows) - having[term] + 0.5) / (having[term] + 0.5))
            score += idf * often / (often + k1 * (1 - b + b * lengths[number] / mean)) if often else 0.0
        if any(text[term] or title[term] for term in terms):
            scored.append((-round(score, 9), number))
    return [(rows[number][0], -score) for score, number in sorted(scored)[:top]]


def check_results(index, rows, question, parameters, top, tolerance=2e-9):
    hits, expected = index.search(question, top), brute_force(rows, question, parameters, top)
    assert [hit.id for hit in hits] == [name for name, _ in expected]
    assert [hit.score for hit in hits] == pytest.approx([score for _, score in expected], abs=tolerance)


WEIGHTED = Parameters(title_weight=0.5, k1=0.9, b=0.4)


@pytest.mark.parametrize("parameters", slow_but([WEIGHTED], [Parameters(), WEIGHTED, Parameters(b=0.0)]))
def test_the_results_are_those_of_brute_force(corpus, tmp_path, parameters):
    rows = zipf_rows(700)
    build_index(corpus(rows), tmp_path / "index", parameters)
    index = PassageIndex(tmp_path / "index")
    rng = random.Random(2)
    for _ in range(60):
        question = " ".join(f"w{int(rng.paretovariate(0.4)) % 420}" for _ in range(rng.randint(1, 8)))
        for top in (1, 10, 1000):
            check_results(index, rows, question, parameters, top)


SOME_WORDS = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=40).map(" ".join)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(SOME_WORDS, SOME_WORDS) | st.tuples(SOME_WORDS), min_size=1, max_size=40),
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6).map(" ".join),
    st.builds(Parameters, title_weight=st.sampled_from([0.3, 2.0, 40.0]), k1=st.sampled_from([0.5, 1.2, 3.0]),
              b=st.sampled_from([0.0, 0.4, 0.75, 1.0])),
)  # fmt: skip
def test_any_small_corpus(corpus, tmp_path, texts, question, parameters):
    rows = [(str(number), *text) for number, text in enumerate(texts)]
    build_index(corpus(rows), tmp_path / "index", parameters, force=True, processes=1)
    check_results(PassageIndex(tmp_path / "index"), rows, question, parameters, 5, tolerance=1e-6)


@pytest.fixture
def few_candidates(monkeypatch):
    """As few as are requested: then a better passage is often behind them."""
    monkeypatch.setattr(searching, "SPARE", 0)


@pytest.fixture
def segments(monkeypatch):
    """The engine gets many segments, and merges some of them."""

    class Writer(building.FullTextWriter):
        def add(self, document):
            self._writer.add_document(document)
            self._count = getattr(self, "_count", 0) + 1
            if self._count % 20 == 0:
                self._writer.commit()

    monkeypatch.setattr(building, "FullTextWriter", Writer)


TITLED = Parameters(title_weight=30.0, b=0.1)


@pytest.mark.parametrize("parameters", slow_but([TITLED], [Parameters(), Parameters(k1=2.0, b=1.0), TITLED]))
def test_a_better_passage_behind_the_candidates_is_found(corpus, tmp_path, few_candidates, segments, parameters):
    rows = zipf_rows(500, 3)
    build_index(corpus(rows), tmp_path / "index", parameters)
    index = PassageIndex(tmp_path / "index")
    assert len(index.manifest.files) > len(ARRAYS) + 20  # several segments
    for number in range(60):
        question = f"w{number % 9} w{number} w{number * 5}"
        for top in (1, 10):
            check_results(index, rows, question, parameters, top)


def test_words_that_an_engine_would_cut(corpus, tmp_path):
    long = "a" * 70_000
    build_index(corpus([("1", f"\ufdfa {long}"), ("2", f"{long}b allah"), ("3", "x")]), tmp_path / "index")
    index = PassageIndex(tmp_path / "index")
    assert [[hit.id for hit in index.search(word)] for word in ("\ufdfa", long, f"{long}b")] == [["1"], ["1"], ["2"]]


def test_blocks_and_processes_do_not_change_the_index(corpus, tmp_path, monkeypatch):
    rows = zipf_rows(600)
    path = corpus(rows)
    manifests = [build_index(path, tmp_path / "whole")]
    monkeypatch.setattr(building, "BLOCK_BYTES", 9000)
    manifests += [build_index(path, tmp_path / f"{number}", processes=number) for number in (1, 2)]
    assert len({(manifest.build_id, manifest.terms, manifest.postings) for manifest in manifests}) == 1
    indexes = [PassageIndex(tmp_path / name) for name in ("whole", "1", "2")]
    numbers = [0, 599, 31, 32, 33, 310]
    for index in indexes:
        assert [(passage.id, passage.text) for passage in index.passages(numbers)] == [rows[n][:2] for n in numbers]
        for question in (f"w{n} w{n // 2} w{n * 3}" for n in range(60)):
            assert index.search(question, 20) == indexes[0].search(question, 20)


def test_occurrences_count_up_to_a_limit(corpus, tmp_path):
    rows = [(str(n), " ".join(["a"] * n + ["b"] * 40), " ".join(["a"] * (n % 11))) for n in range(1, 60)]
    build_index(corpus(rows), tmp_path / "index")
    check_results(PassageIndex(tmp_path / "index"), rows, "a", Parameters(), 60)


def test_a_passage_comes_back_as_it_was(tmp_path):
    path = tmp_path / "p.jl"
    path.write_text(
        '{"text": "Zażółć", "id": "1", "meta": {"a": [1]}, "title": null}\n\n{"id":"2","text":"x","title":"T"}'
    )
    build_index(path, tmp_path / "index")
    index = PassageIndex(tmp_path / "index")
    first, second = index.passages([0, 1])
    assert (first.text, first.title, second.title) == ("Zażółć", None, "T")
    assert index.id(1) == "2" and len(index) == 2


def test_a_question_without_an_indexed_word_finds_nothing(corpus, tmp_path):
    build_index(corpus([("1", "a b"), ("2", "się")]), tmp_path / "index", Parameters("pl"))
    index = PassageIndex(tmp_path / "index")
    assert index.search("?!") == index.search("nieznane") == index.search("się") == index.search("b", 0) == []
    build_index(corpus([("2", "się")]), tmp_path / "empty", Parameters("pl"))
    assert PassageIndex(tmp_path / "empty").search("się") == []


@pytest.fixture
def built(corpus, tmp_path):
    build_index(corpus(zipf_rows(40)), tmp_path / "index", Parameters("en"))
    return tmp_path / "index"


def test_a_damaged_file_is_refused(built):
    for name in [*sorted(ARRAYS), "candidates/*.idx", "candidates/meta.json"]:
        path = next(built.glob(name))
        data = path.read_bytes()
        for content, fault in ((data[:-1], r"\d+ bytes where the manifest says"), (None, "cannot be read")):
            path.unlink()
            if content is not None:
                path.write_bytes(content)
            with pytest.raises(IndexFileError, match=f"{path.relative_to(built)}: {fault}"):
                PassageIndex(built)
        path.write_bytes(data)


def test_a_folder_that_is_no_index(built, tmp_path):
    (built / "manifest.json").unlink()
    for folder in (built, tmp_path / "nowhere"):
        with pytest.raises(IndexFileError, match="no passage index here"):
            PassageIndex(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"format": 0}, "format 0, this version reads"), ({"parameters": Parameters(analysis=0)}, "older analysis")],
)
def test_another_format_or_analysis_is_refused(built, changes, message):
    write_manifest(built, msgspec.structs.replace(layout.read_manifest(built), **changes))
    with pytest.raises(IndexFileError, match=message):
        PassageIndex(built)
