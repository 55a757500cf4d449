"""CONVINSE's pickle dump: what becomes of its evidences, and that a pickle of anything else is one line and never runs."""

import gzip
import os
import pickle
from collections import OrderedDict
from contextlib import closing
from pathlib import Path

import pytest

from convinse.support.errors import DataError
from convinse.wikipedia import pickle_import
from convinse.wikipedia.build import Changed
from convinse.wikipedia.dump import WikipediaDump
from convinse.wikipedia.pickle_import import import_pickle


def evidence(text, source="text", **more):
    return {"evidence_text": text, "source": source, "disambiguations": [("é", "Q1"), ("1997", "1997-01-01T00:00:00Z")],
            "wikidata_entities": [{"id": "Q1", "label": "é"}], **more}  # fmt: skip


PAGE = {"id": "Q7", "label": "seven"}
DATA = {"Q1": [evidence("one", "infobox", retrieved_for_entity=PAGE)], "Q2": [evidence(f"t {n}") for n in range(1500)],
        "Q3": [], "Q4": (evidence("a", "table"), evidence("b", score=1.5, rank=1 << 70)), "Q5": [evidence("x")] * 3}  # fmt: skip


def imported(data, protocol=4):
    Path("d.pickle").write_bytes(data if isinstance(data, bytes) else pickle.dumps(data, protocol))
    return import_pickle(Path("d.pickle"), Path("w.db"))


def content():
    with closing(WikipediaDump(Path("w.db"))) as dump:
        return {item: dump.get(item) for item in dump.items()}


def check_refused(data, words, protocol=4):
    with pytest.raises(DataError, match=words) as caught:
        imported(data, protocol)
    assert "\n" not in str(caught.value) and [path.name for path in Path().iterdir()] == ["d.pickle"]


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_entries_of_every_protocol_are_normalised(workdir, protocol, pack):
    done = imported(pack(pickle.dumps(DATA, protocol)))
    assert done == Changed(added=4, skipped=1)
    with closing(WikipediaDump(Path("w.db"))) as dump:
        assert dump.counts == {"pages": 4, "info": 1, "table": 1, "text": 1504}
    found = content()
    assert found["Q1"][0] == {"evidence_text": "one", "source": "info", "wikidata_entities": [{"id": "Q1", "label": "é"}],
                              "disambiguations": [["é", "Q1"], ["1997", "1997-01-01T00:00:00Z"]], "mentions": []}  # fmt: skip
    assert [len(found[item]) for item in ("Q2", "Q4", "Q5")] == [1500, 2, 3] and "Q3" not in found


def test_bad_entries_are_reported_by_item_and_too_many_stop(workdir, caplog):
    bad = {"Q8": [{}, evidence("x", "web"), evidence("\ud800"), evidence("ok")], "x": [], "Q9": 5}
    assert imported({**DATA, **bad}).bad == 5
    assert len(content()["Q8"]) == 1
    for word in ("Q8, evidence 0", "Q8, evidence 1", "'web'", "Q8, evidence 2", "item 'x'", "Q9"):
        assert word in caplog.text
    Path("w.db").unlink()
    check_refused({"Q1": [{}] * 20}, "11 of the first 11 evidences are bad")


def test_links_without_an_item_are_dropped(workdir):
    """CONVINSE's annotator notes None or False as the item of a link that leads to none."""
    imported({"Q1": [evidence("é a b", disambiguations=[("a", None), ("é", "Q1"), ("b", False)])]})
    assert content()["Q1"][0]["disambiguations"] == [["é", "Q1"]]


class Evil:
    def __init__(self, call):
        self.call = call

    def __reduce__(self):
        return self.call, (f"touch {Path.cwd()}/hacked",)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    ("value", "word"),
    [(Evil(os.system), r"\w+\.system"), (Evil(eval), "eval"), (OrderedDict(a=1), "OrderedDict"), (len, "len")],
)
def test_a_hostile_pickle_is_refused_by_name_and_never_runs(workdir, protocol, value, word):
    check_refused({"Q1": [evidence("x")], "Q2": [value]}, rf"refused: .*{word}", protocol)


KEY = b"\x80\x02}(X\x02\x00\x00\x00Q1"


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (b"cos\nsystem\n(S'touch hacked'\ntR.", r"refused: os\.system"),
        (b"(S'touch hacked'\nios\nsystem\n.", "refused"),
        (KEY + b"Pabc\nu.", "persistent"),
        (KEY + b"K\x01Qu.", "persistent"),
        (KEY + b"\x82\x01u.", "is not a pickle of plain data"),
        (KEY + b"}}bu.", "holds no item"),
        (KEY + b"))\x81u.", "is not a pickle"),
        (KEY + b"\x97u.", "is not a pickle"),
        (KEY + b"X\x02\x00\x00\x00os)Ru.", "is not a pickle"),
        (b"\x80\x02]r\xff\xff\xff\xff.", "the pickle is list, not a dictionary"),  # a reference that no memory holds
        (KEY + b"h\x07u.", "is not a pickle"),
        (b"\x80\x04}\x8d\xff\xff\xff\xff\xff\xff\xff\x0fabc.", "is not a pickle"),
        (b"\x80\x05}\x96\xff\xff\xff\xff\x0f\x00\x00\x00abc.", "is not a pickle"),
        (b"\x80\x02}((" + b"(" * 300_000 + b"t" * 300_000 + b"K\x01u.", "is not a pickle"),
        (b"\x80\x02})" + b"q\x00h\x00\x86" * 60 + b"K\x01s.", "is not a pickle"),  # a key that takes ages to hash
        (b"\x80\x02}q\x00(X\x02\x00\x00\x00Q1h\x00u.", "holds no item"),
        (pickle.dumps(DATA)[:1000], "cut off"),
        (b"", "cut off"),
        (b"\x1f\x8bnot gzip at all", "cannot be read"),
    ],
)
def test_odd_operations_are_one_line(workdir, code, word):
    check_refused(code, word)


def test_a_small_pickle_cannot_stand_for_much(workdir, monkeypatch):
    shared = []
    for _ in range(60):
        shared = [shared, shared]
    check_refused({"Q1": [evidence("x", shared)]}, "holds no item with evidences")
    check_refused({f"Q{n}": [evidence("x" * 1_000_000)] * 20 for n in range(1, 9)}, "more than 10 times what it holds")
    check_refused(gzip.compress(pickle.dumps({"Q1": ["x" * 30_000_000]})), "more than 16 MB unpacked")
    monkeypatch.setattr(pickle_import, "LARGEST_PICKLE", 1000)
    check_refused(DATA, "larger than 0 GB")
