import gzip
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multiqa_handmade import SAMPLES, document, entries, entry, header, question, save, saved

from convinse.formats.multiqa.files import MultiqaReader, write
from convinse.formats.multiqa.records import Entry, MultiqaHeader
from convinse.support.errors import DataError, OutputError


def rewrite(path, target):
    reader = MultiqaReader(path)
    write(target, reader.header, reader)
    return target


@pytest.mark.parametrize("indent", [None, 2])
def test_json_lines_and_pretty_printed_documents_are_read(tmp_path, indent):
    path = saved(tmp_path / "a.jsonl", entry(), entry(question("q2"), id="c2"), indent=indent)
    reader = MultiqaReader(path)
    assert reader.header.dataset_name == "Hand"
    assert [found.id for found in reader] == ["c1", "c2"]
    assert [found.id for found in reader] == ["c1", "c2"]  # a second time
    assert reader.dialect.seen["container first"] == 2


def test_a_file_without_a_header_is_read(tmp_path):
    reader = MultiqaReader(save(tmp_path / "a.jsonl", entry()))
    assert reader.header is None
    assert [found.id for found in reader] == ["c1"]


def test_faults_name_file_line_path_and_reason(tmp_path):
    broken = entry()
    broken["qas"][0]["question"] = 3
    path = save(tmp_path / "a.jsonl", header(2, 2), entry(), broken, indent=1)
    line = path.read_text().count("\n", 0, path.read_text().rindex('\n{\n "id"')) + 2
    with pytest.raises(DataError) as caught:
        list(MultiqaReader(path))
    assert str(caught.value).startswith(f"{path}:{line}: $.qas[0].question: ")


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_an_empty_file_is_refused(tmp_path, content):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match="holds no JSON document"):
        MultiqaReader(path)


def test_a_second_header_is_no_context(tmp_path):
    with pytest.raises(DataError, match=r"a\.jsonl:2: \$: "):
        list(MultiqaReader(save(tmp_path / "a.jsonl", header(), header())))


def test_writing_counts_and_keeps_the_header(tmp_path):
    wrong = header(99, 99, number_of_qas_with_gold_answers=9, flavor=None)
    path = save(tmp_path / "a.jsonl", wrong, entry(), entry(id=2))
    written = rewrite(path, tmp_path / "b.jsonl")
    first = json.loads(written.read_text("utf-8").splitlines()[0])["header"]
    assert (first["number_of_contexts"], first["number_of_qas"]) == (2, 2)
    assert first["number_of_qas_with_gold_answers"] == 2
    assert first["flavor"] is None and "flavor" in first
    assert len(written.read_text("utf-8").splitlines()) == 3


def test_packed_files_are_written_without_a_trace_of_when(tmp_path):
    path = saved(tmp_path / "a.jsonl", entry())
    one, other = rewrite(path, tmp_path / "b.jsonl.gz"), rewrite(path, tmp_path / "c.jsonl.gz")
    assert one.read_bytes() == other.read_bytes()
    assert gzip.decompress(one.read_bytes()) == rewrite(one, tmp_path / "d.jsonl").read_bytes()


def test_a_failed_write_leaves_the_old_file(tmp_path):
    target = tmp_path / "a.jsonl"
    target.write_text("old")
    found = MultiqaReader(saved(tmp_path / "b.jsonl", entry()))
    bad = Entry(id="x", context=next(iter(found)).context, qas=[], extra={"key": object()})
    with pytest.raises(OutputError, match=r"a\.jsonl: context 'x' cannot be written"):
        write(target, MultiqaHeader(), [bad])
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl"]


@given(st.lists(entries(), max_size=3))
@settings(max_examples=20)
def test_a_second_pass_gives_the_same_bytes(tmp_path_factory, documents):
    folder = tmp_path_factory.mktemp("pass")
    path = saved(folder / "a.jsonl", *documents)
    first = rewrite(path, folder / "b.jsonl")
    assert rewrite(first, folder / "c.jsonl").read_bytes() == first.read_bytes()
    assert list(MultiqaReader(first)) == list(MultiqaReader(path))


def test_memory_does_not_grow_with_the_file(tmp_path):
    def peak(contexts):
        one = entry(documents=[document("cold sea " * 50)])
        path = saved(tmp_path / f"{contexts}.jsonl", *[one] * contexts)
        tracemalloc.start()
        rewrite(path, tmp_path / "out.jsonl")
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    few, many = peak(300), peak(1500)
    assert many < few * 1.5


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the MultiQA samples are not there")
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*_sample.jsonl.gz")), ids=lambda path: path.name.split("_")[0])
def test_the_samples_lose_nothing_and_come_out_the_same_twice(tmp_path, path):
    first = rewrite(path, tmp_path / "a.jsonl")
    assert rewrite(first, tmp_path / "b.jsonl").read_bytes() == first.read_bytes()
    reader, again = MultiqaReader(path), MultiqaReader(first)
    assert list(again) == list(reader)
    assert again.header == reader.header
    assert again.dialect.is_published()
