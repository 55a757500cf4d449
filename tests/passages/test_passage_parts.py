import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_passage_index import zipf_rows

from convinse.cli import main
from convinse.evidence_retrieval_scoring.passage_retriever import PassageRetriever
from convinse.passages import index as searching
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters, part_folders
from convinse.passages.opening import open_index
from convinse.passages.search import Collection
from convinse.support.errors import IndexFileError, OutputError
from damaging import flip

WORDS = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=12).map(" ".join)


def same(whole, divided, question, top):
    hits = divided.search(question, top)
    assert hits == whole.search(question, top)  # numbers, ids, scores to the last bit, order
    numbers = [hit.number for hit in hits]
    assert divided.passages(numbers) == whole.passages(numbers)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(WORDS, WORDS) | st.tuples(WORDS), min_size=1, max_size=10),
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5).map(" ".join),
    st.integers(2, 6),
    st.sampled_from([Parameters(), Parameters(title_weight=0.3, k1=0.5), Parameters(title_weight=40.0, b=1.0)]),
)
def test_parts_give_what_one_piece_gives(corpus, tmp_path, texts, question, number, parameters):
    file = corpus([(str(place), *text) for place, text in enumerate(texts)])
    build_index(file, tmp_path / "whole", parameters, force=True, processes=1)
    built = build_index(file, tmp_path / "parts", parameters, force=True, processes=1, parts=number)
    assert len(built.manifests) == min(number, len(texts))
    whole, divided = PassageIndex(tmp_path / "whole"), open_index(tmp_path / "parts")
    assert (len(divided), divided.build_id) == (len(whole), whole.build_id)
    for top in (1, 3, 20):
        same(whole, divided, question, top)


@pytest.mark.parametrize("spare", [0, 10])
def test_parts_that_differ_much(corpus, tmp_path, monkeypatch, spare):
    """A term is in all passages of a part and nowhere else, lengths differ from part to part, texts are repeated across them."""
    monkeypatch.setattr(searching, "_SPARE", spare)
    rows = [(f"short-{n}", "rare w1") for n in range(150)]
    rows += zipf_rows(300, 5)
    rows += [(f"long-{n}", "w1 w2 w3 " * (1 + n % 7) + f"w{n % 11}") for n in range(150)]
    rows += [(f"again-{n}", *row[1:]) for n, row in enumerate(rows[:200])]
    build_index(corpus(rows), tmp_path / "whole", Parameters(title_weight=0.7))
    build_index(corpus(rows), tmp_path / "parts", Parameters(title_weight=0.7), parts=7)
    whole, divided = PassageIndex(tmp_path / "whole"), open_index(tmp_path / "parts")
    for question in ("rare", "rare w1", "w1", "w2 w3 w1", "w300 w17", "w0 w5 rare", "nothing", ""):
        for top in (1, 10, 500):
            same(whole, divided, question, top)


def test_parts_do_not_depend_on_how_they_are_built(corpus, tmp_path, monkeypatch):
    file = corpus(zipf_rows(300))
    file.write_text(file.read_text().replace("\n", "\n\n", 40))  # empty lines
    small = build_index(file, tmp_path / "small", processes=2, parts=5)
    monkeypatch.setattr("convinse.passages.build._BLOCK_BYTES", 700)
    monkeypatch.setattr("convinse.passages.build._LEAST_BLOCK", 700)
    many = build_index(file, tmp_path / "many", processes=1, parts=5)
    assert [(m.build_id, m.passages, m.part) for m in small.manifests] == [
        (m.build_id, m.passages, m.part) for m in many.manifests
    ]
    assert sum(manifest.passages for manifest in small.manifests) == 300
    assert len({manifest.build_id for manifest in small.manifests}) == 5


@pytest.fixture
def divided(corpus, tmp_path):
    build_index(corpus(zipf_rows(40)), tmp_path / "parts", parts=3)
    return tmp_path / "parts"


def test_a_part_that_is_missing_alone_foreign_or_damaged(divided, corpus, tmp_path):
    with pytest.raises(IndexFileError, match="part-2: is part 2 of an index; name the folder that has all parts"):
        open_index(divided / "part-2")
    (divided / "part-2").rename(tmp_path / "away")
    with pytest.raises(IndexFileError, match="part-2: is missing; bring it back"):
        open_index(divided)
    build_index(corpus(zipf_rows(30)), tmp_path / "other", parts=3)
    shutil.copytree(tmp_path / "other" / "part-2", divided / "part-2")
    with pytest.raises(IndexFileError, match="part-2: is no part of the index of .*part-1"):
        open_index(divided)
    shutil.rmtree(divided / "part-2")
    (tmp_path / "away").rename(divided / "part-2")
    assert len(open_index(divided)) == 40
    flip(divided / "part-2" / "term_passages", 0)
    with pytest.raises(IndexFileError, match="part-2/term_passages: .*altered"):
        open_index(divided).search("w1")


def test_an_index_is_replaced_whole(divided, corpus):
    with pytest.raises(OutputError, match="holds an index already; --force"):
        build_index(corpus(zipf_rows(40)), divided, parts=2)
    build_index(corpus(zipf_rows(40)), divided, parts=2, force=True)
    assert [path.name for path in part_folders(divided)] == ["part-1", "part-2"]
    build_index(corpus(zipf_rows(40)), divided, force=True)
    assert not part_folders(divided) and len(open_index(divided)) == 40


def test_a_set_in_parts_and_what_fills_up(corpus, tmp_path, capsys):
    rows = [(f"p{n}", "kot" if n == 7 else "pies") for n in range(12)]
    for name, parts in (("one", 1), ("two", 3)):
        arguments = [corpus(rows), "--output", f"sets/{name}", "--parts", parts]
        assert main(["retrieve", "index", *map(str, arguments)]) == 0
    told = capsys.readouterr().out
    assert told.count("12") >= 2 and "parts" in told
    (tmp_path / "in.tsv").write_text("one\tkot\ntwo\tkot\n")
    assert main(["retrieve", "search", "sets", str(tmp_path / "in.tsv"), "--output", "out.tsv", "--top", "5"]) == 0
    assert Path("out.tsv").read_text() == 2 * "p7\tp0\tp1\tp2\tp3\n"
    assert main(["verify", "sets"]) == 0
    Collection("sets").close()


def test_the_pipeline_takes_parts(divided, corpus, tmp_path):
    build_index(corpus(zipf_rows(40)), tmp_path / "whole")
    evidences = [
        PassageRetriever(open_index(place), 5).retrieve_passages("w1 w3 w9") for place in (divided, tmp_path / "whole")
    ]
    assert evidences[0] == evidences[1] and len(evidences[0]) == 5
