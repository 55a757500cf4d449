import bz2
import gzip

import pytest

from convinse.passages import build as building
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from convinse.support.errors import DataError, OutputError
from written import write

GOOD = '{"id": "1", "text": "jeden"}\n'


@pytest.mark.parametrize(
    ("line", "message"), [('{"id": "a b", "text": "x"}', "white space"), ('{"text": "\xff"}', "not valid")]
)
@pytest.mark.parametrize("processes", [1, 2])
def test_a_bad_line_is_named(tmp_path, monkeypatch, line, message, processes):
    monkeypatch.setattr(building, "BLOCK_BYTES", 10)
    path = tmp_path / "p.jl"
    path.write_bytes((GOOD + "\n").encode() + line.encode("latin-1") + b"\n" + GOOD.encode())
    with pytest.raises(DataError, match=message) as error:
        build_index(path, tmp_path / "index", processes=processes)
    assert str(error.value).startswith(f"{path}:3: ") and "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == [path]


def test_packed_files_and_a_byte_order_mark(tmp_path):
    good = GOOD.encode()
    for number, data in enumerate((gzip.compress(good), bz2.compress(good), b"\xef\xbb\xbf" + good)):
        (tmp_path / "p.jl").write_bytes(data)
        build_index(tmp_path / "p.jl", tmp_path / f"{number}")
        assert [hit.id for hit in PassageIndex(tmp_path / f"{number}").search("jeden")] == ["1"]


def test_nothing_is_overwritten_without_force(corpus, tmp_path):
    path, output = corpus([("1", "jeden")]), tmp_path / "index"
    build_index(path, output)
    with pytest.raises(OutputError, match="holds an index already; --force replaces it"):
        build_index(path, output)
    build_index(path, output, Parameters("pl"), force=True)
    assert PassageIndex(output).parameters.language == "pl"
    (output / "manifest.json").write_text("{")
    build_index(path, output, force=True)
    PassageIndex(output)


def test_another_folder_is_never_replaced(corpus, tmp_path):
    (tmp_path / "mine").mkdir()
    build_index(corpus([("1", "jeden")]), tmp_path / "mine")  # an empty folder may be filled
    write(tmp_path / "other" / "thesis.txt", "x")
    for force in (False, True):
        with pytest.raises(OutputError, match="exists and is not a passage index"):
            build_index(corpus([("1", "jeden")]), tmp_path / "other", force=force)
    assert (tmp_path / "other" / "thesis.txt").read_text() == "x"


@pytest.mark.parametrize("parameters", [{"k1": 0}, {"b": 1.5}, {"title_weight": -1}, {"k1": float("nan")}])
def test_parameters_out_of_range(corpus, tmp_path, parameters):
    path = corpus([("1", "jeden")])
    with pytest.raises(DataError, match="the weight must be 0 or more"):
        build_index(path, tmp_path / "index", Parameters(**parameters))
    with pytest.raises(DataError, match="give 64MB or more"):
        build_index(path, tmp_path / "index", memory=1000)
