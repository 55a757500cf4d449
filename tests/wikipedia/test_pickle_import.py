import copyreg
import gzip
import io
import os
import pickle
import random
from collections import OrderedDict
from contextlib import closing
from pathlib import Path

import pytest

from convinse.support.errors import DataError
from convinse.wikipedia.dump import WikipediaDump
from convinse.wikipedia.pickle_import import import_pickle
from convinse.wikipedia.pickled_items import read_items
from memory import memory_below


def evidence(text, source="text", **more):
    return {"evidence_text": text, "source": source, "disambiguations": [("é", "Q1"), ("1997", "1997-01-01T00:00:00Z")],
            "wikidata_entities": [{"id": "Q1", "label": "é"}], **more}  # fmt: skip


PAGE = {"id": "Q7", "label": "seven"}
DATA = {"Q1": [evidence("one", "infobox", retrieved_for_entity=PAGE)], "Q2": [evidence(f"t {n}") for n in range(1500)],
        "Q3": [], "Q4": (evidence("a", "table"), evidence("b", score=1.5)), "Q5": [evidence("x")] * 3}  # fmt: skip


def write(data, protocol=4, name="d.pickle"):
    Path(name).write_bytes(data if isinstance(data, bytes) else pickle.dumps(data, protocol))
    return Path(name)


def content():
    with closing(WikipediaDump(Path("w.db"))) as dump:
        return {item: dump.get(item) for item in dump.items()}


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "data", [DATA, {}, {"a": 1}, {f"Q{n}": ["s", None, True, -1, 1 << 70, 0.5, {}, (), (1,)] for n in range(2500)},
             {"k": [["x"]], "l": ["y"], "m": ("a", "b"), "n": (1, ("a", "b", "c")), "o": {"p": "q"}, "r": []}]
)  # fmt: skip
def test_every_protocol_is_read_as_pickle_does(workdir, data, protocol):
    pure = io.BytesIO()
    pickle._Pickler(pure, protocol).dump(data)  # notes and frames other than the C one's
    for packed in (pickle.dumps(data, protocol), pure.getvalue(), gzip.compress(pickle.dumps(data, protocol))):
        found = list(read_items(write(packed)))
        assert found == list(data.items())


@pytest.mark.parametrize("protocol", range(6))
def test_entries_are_normalised(workdir, protocol):
    done = import_pickle(write(DATA, protocol), Path("w.db"))
    assert done.counts == {"pages": 4, "info": 1, "table": 1, "text": 1504} and (done.empty, done.bad) == (1, 0)
    found = content()
    assert found["Q1"][0] == {"evidence_text": "one", "source": "info", "wikidata_entities": [{"id": "Q1", "label": "é"}],
                              "disambiguations": [["é", "Q1"], ["1997", "1997-01-01T00:00:00Z"]], "mentions": []}  # fmt: skip
    assert [len(found[item]) for item in ("Q2", "Q4", "Q5")] == [1500, 2, 3] and "Q3" not in found


def test_what_an_evidence_was_made_from_is_read_from_its_text_at_the_import(workdir):
    import_pickle(write({"Q1": [evidence("é, Born, é, 1997", "infobox")]}), Path("w.db"))
    (found,) = content()["Q1"]
    assert found["attribute"]["path"] == ["Born"]
    assert [(value["text"], value["start"]) for value in found["attribute"]["values"]] == [("é", 9), ("1997", 12)]
    assert found["mentions"] == [
        {"start": 0, "end": 1, "id": "Q1"},
        {"start": 12, "end": 16, "id": "1997-01-01T00:00:00Z"},
    ]


def test_bad_entries_are_reported_by_item_and_too_many_stop(workdir, caplog):
    bad = {"Q8": [{}, evidence("x", "web"), evidence("\ud800"), evidence("ok")], "x": [], "Q9": 5}
    assert import_pickle(write({**DATA, **bad}), Path("w.db")).bad == 5
    assert len(content()["Q8"]) == 1
    for word in ("Q8, evidence 0", "Q8, evidence 1", "'web'", "Q8, evidence 2", "item 'x'", "Q9"):
        assert word in caplog.text
    with pytest.raises(DataError, match="11 of the first 11 evidences are bad"):
        import_pickle(write({"Q1": [{}] * 20}), Path("w2.db"))
    assert not Path("w2.db").exists()


@pytest.mark.parametrize("retrieved", [{}, {"retrieved_for_entity": [{"id": "Q1", "label": "é"}]}])
def test_a_dump_of_the_published_shape_loses_links_without_an_item_and_nothing_else(workdir, caplog, retrieved):
    """CONVINSE's annotator: pairs are tuples, of dates, of links with an item, and 30 % of links with None or False."""
    chance, links, unlinked = random.Random(7), 0, 0
    data = {}
    for page in range(1, 41):
        data[f"Q{page}"] = rows = []
        for number in range(25):
            lost = [chance.choice((None, False)) for _ in range(10) if chance.random() < 0.3]
            pairs = [("1997", "1997-01-01T00:00:00Z"), ("é", "Q1"), *((f"w{n}", item) for n, item in enumerate(lost))]
            chance.shuffle(pairs)
            links, unlinked = links + len(lost), unlinked + bool(lost)
            source = chance.choice(("text", "table", "infobox"))
            rows.append({**evidence(f"é, {number} 1997", source), "disambiguations": pairs, **retrieved})
    done = import_pickle(write(data), Path("w.db"))
    assert (done.bad, done.links, done.unlinked) == (0, links, unlinked) and links > 2500 and not caplog.text
    found = content()
    assert sum(map(len, found.values())) == 1000
    for item in found:
        for own, given in zip(found[item], data[item], strict=True):
            assert own["disambiguations"] == [list(pair) for pair in given["disambiguations"] if pair[1]]
            assert "retrieved_for_entity" not in own or not retrieved


class Evil:
    def __init__(self, call):
        self.call = call

    def __reduce__(self):
        return self.call, (f"touch {Path.cwd()}/hacked",)


class Plain:
    pass


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("thing, word", [(Evil(os.system), r"\w+\.system"), (Evil(eval), "eval"), (OrderedDict(a=1), "OrderedDict"),
                                         (Plain(), "refused: "), (os.system, r"\w+\.system"), (len, "len")])  # fmt: skip
def test_a_hostile_pickle_is_refused_by_name_and_never_runs(workdir, protocol, thing, word):
    for data in ({"Q1": [evidence("x")], "Q2": [thing]}, thing):
        with pytest.raises(DataError, match=rf"refused: .*{word.removeprefix('refused: ')}"):
            import_pickle(write(data, protocol), Path("w.db"))
    assert [file.name for file in workdir.iterdir()] == ["d.pickle"]


@pytest.mark.parametrize("code, word", [
    (b"cos\nsystem\n(S'touch hacked'\ntR.", r"refused: os\.system"),
    (b"(S'touch hacked'\nios\nsystem\n.", "refused: "),
    (b"\x80\x02}(X\x02\x00\x00\x00Q1Pabc\nu.", r"refused: persistent id"),
    (b"\x80\x02}(X\x02\x00\x00\x00Q1K\x01Qu.", r"refused: persistent id"),
    (b"\x80\x02}(X\x02\x00\x00\x00Q1\x82\x01u.", r"refused: extension 1"),
    (b"\x80\x02}(X\x02\x00\x00\x00Q1\x83\x01\x00u.", r"refused: extension"),
    (b"\x80\x02}(X\x02\x00\x00\x00Q1}}bu.", r"refused: a call \(BUILD"),
    (b"\x80\x02}(X\x02\x00\x00\x00Q1))\x81u.", r"refused: a call \(NEWOBJ"),
    (b"\x80\x05}(X\x02\x00\x00\x00Q1\x97u.", "refused: bytes"),
    (b"\x80\x04}(X\x02\x00\x00\x00Q1\x8fu.", "refused: a set"),
    (b"\x80\x02}q\x00(X\x02\x00\x00\x00Q1h\x00u.", "refused: a dictionary that holds itself"),
    (b"\x80\x02}2.", "refused: DUP"),
    (b"\x80\x02}(X\x02\x00\x00\x00Q1h\x07u.", "damaged"),
    (b"\x80\x02}(]K\x01u.", "holds no item|damaged|no Wikidata id"),
    (b"\x80\x04}\x8d\xff\xff\xff\xff\xff\xff\xff\x0fabc.", "no pickle, or cut off"),
    (b"", "no pickle"), (b"plain text", "no pickle|refused|damaged"), (b"\x1f\x8bnot gzip at all", "no pickle"),
])  # fmt: skip
def test_odd_operations(workdir, code, word):
    with pytest.raises(DataError, match=word):
        import_pickle(write(code), Path("w.db"))
    assert [file.name for file in workdir.iterdir()] == ["d.pickle"]


def test_bytes_sets_and_extensions_are_refused(workdir):
    copyreg.add_extension(__name__, "Plain", 0x1234)
    try:
        extended = pickle.dumps({"Q1": Plain}, 2)
    finally:
        copyreg.remove_extension(__name__, "Plain", 0x1234)
    for data in (extended, {"Q1": b"x"}, {"Q1": {1}}, {"Q1": bytearray(b"x")}):
        with pytest.raises(DataError, match="refused"):
            import_pickle(write(data), Path("w.db"))
    for data in ([1], "x", 5, None):
        with pytest.raises(DataError, match="not a dictionary"):
            import_pickle(write(data), Path("w.db"))


def test_a_cut_pickle_is_a_clear_error(workdir):
    whole = pickle.dumps(DATA)
    for end in (1, 10, 1000, len(whole) - 1):
        with pytest.raises(DataError, match="cut off"):
            import_pickle(write(whole[:end]), Path("w.db"))


def test_items_leave_memory_as_they_are_complete(workdir):
    path = write({f"Q{n}": [evidence("x" * 20_000 + f"{n}{k}") for k in range(5)] for n in range(1, 301)})
    assert path.stat().st_size > 3_000_000
    with memory_below(3_000_000):
        assert sum(1 for _ in read_items(path)) == 300
