import gzip
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convinse.knowledge_base import layout
from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase
from convinse.support.errors import IndexFileError
from handmade import SOMEVALUE, claim, document, q, quantity, string, time, world, write
from places import SNAPSHOT
from written import read_json

KEPT = ("wikibase-item", "time", "quantity", "string", "monolingualtext")


@pytest.fixture
def folder(workdir):
    """An index of its own that a test may damage."""
    build(write(workdir / "dump.json", world()), workdir / "kb")
    return workdir / "kb"


def names(facts):
    return [[entity["label"] for entity in fact] for fact in facts]


def test_labels_aliases_descriptions_and_titles(world_kb):
    assert world_kb.label("Q44578") == "Titanic"
    assert world_kb.label("P57") == "director"
    assert world_kb.entity("Q892") == {"id": "Q892", "label": "J. R. R. Tolkien"}
    assert world_kb.aliases("Q1299") == ["Beatles", "Fab Four"]
    assert world_kb.aliases("Q892") == ["John Ronald Reuel Tolkien"]
    assert world_kb.description("Q25173") == "British passenger ship that sank in 1912"
    titles = world_kb.titles()
    assert titles["Titanic (1997 film)"] == "Q44578"
    assert titles["Titanic"] == "Q25173"
    assert "" not in titles


@pytest.mark.parametrize(
    "entity_id", ["Q404404", "P404404", "1997-12-19T00:00:00Z", "1.83", "", "Q", "Q0", "Q1; DROP TABLE fact", "Yes"]
)
def test_what_is_unknown_has_only_its_id(world_kb, entity_id):
    assert not world_kb.has(entity_id)
    assert world_kb.label(entity_id) == entity_id
    assert world_kb.aliases(entity_id) == []
    assert world_kb.description(entity_id) == ""
    assert world_kb.frequency(entity_id) == 0
    assert world_kb.types(entity_id) == ()
    assert world_kb.neighborhood(entity_id) == []
    assert world_kb.neighbors(entity_id) == set()


def test_types_are_classes_and_occupations_and_the_classes_above(kb_of):
    kb = kb_of(
        document("P31", "instance of"),
        document("Q5", "Human"),
        document("Q1", "Ann", claim("P31", q("Q5")), claim("P106", q("Q33999"))),
        document("Q33999", "actor", claim("P279", q("Q483501"))),
        document("Q483501", "artist", claim("P279", q("Q2500638"))),
        document("Q2500638", "creator", claim("P279", q("Q5"))),
    )
    assert set(kb.types("Q1")) == {"human", "actor", "artist", "creator"}
    assert kb.types("Q1")[:2] in (("human", "actor"), ("actor", "human"))
    assert kb.is_class("Q33999")
    assert kb.is_class("Q5")
    assert not kb.is_class("Q1")


def test_candidates_of_a_form_say_whether_it_is_the_label(world_kb):
    assert {(c.id, c.is_label) for c in world_kb.candidates("titanic")} == {("Q44578", True), ("Q25173", True)}
    assert {(c.id, c.label, c.is_label) for c in world_kb.candidates("beatles")} == {("Q1299", "The Beatles", False)}
    assert world_kb.candidates("director") == []  # properties are no candidates
    assert world_kb.candidates("Titanic") == []  # forms are folded


def test_names_are_found_by_their_words(world_kb):
    def labels(*words, edits=0):
        return [one.label for one in world_kb.search_names(words, 20, edits)]

    assert labels("cameron") == labels("cameron", "james") == ["James Cameron"]
    assert labels("cameron", "titanic") == []
    assert {one.id for one in world_kb.search_names(["rms", "titanic"], 20)} < {
        one.id for one in world_kb.search_names(["titanic"], 20)
    }
    assert labels("camerron") == []
    assert labels("camerron", edits=1) == ["James Cameron"]
    assert len(world_kb.search_names(["titanic"], 1)) == 1


def test_properties_with_their_names(world_kb):
    assert ("P57", "director", ["directed by", "film director"]) in list(world_kb.properties())
    assert all(prop[0] == "P" for prop, *_ in world_kb.properties())


def test_a_neighbourhood_is_subject_facts_then_object_facts_then_qualifier_facts(kb_of):
    kb = kb_of(
        document("Q1", "one", claim("P1", q("Q4"), ("P2", q("Q2"))), claim("P1", q("Q2"))),
        document("Q2", "two", claim("P1", q("Q3")), claim("P2", string("text"))),
        document("P1", "to"),
    )
    wanted = [["two", "to", "Q3"], ["two", "P2", "text"], ["one", "to", "two"], ["one", "to", "Q4", "P2", "two"]]
    assert names(kb.neighborhood("Q2")) == wanted
    for limit in range(5):
        assert names(kb.neighborhood("Q2", limit)) == wanted[:limit]
    assert kb.neighbors("Q2") == {"Q1", "Q3", "Q4"}  # items: a shared number or year connects nothing
    assert [kb.frequency(item) for item in ("Q1", "Q2")] == [2, 4]


def test_a_fact_shows_dates_and_quantities_with_their_unit(world_kb):
    facts = world_kb.neighborhood("Q38111")
    assert [
        {"id": "Q38111", "label": "Leonardo DiCaprio"},
        {"id": "P569", "label": "date of birth"},
        {"id": "1974-11-11T00:00:00Z", "label": "11 November 1974"},
    ] in facts
    assert ["Leonardo DiCaprio", "height", "1.83 metre"] in names(facts)
    assert ["Titanic", "cast member", "Leonardo DiCaprio", "character role", "Jack Dawson"] in names(facts)
    (height,) = [fact for fact in facts if fact[1]["id"] == "P2048"]
    assert height[2]["id"] == "1.83"


def skeleton(fact):
    """A fact's ids, literals left open."""
    return tuple(part if isinstance(part, str) and part[:1] in "QP" and part[1:].isdigit() else None for part in fact)


def brute_force(documents):
    """Item -> its facts, read from entity documents without the project's code."""
    found = {}
    for one in documents:
        if one["type"] != "item" or not (one["labels"] and ("en" in one["labels"] or "mul" in one["labels"])):
            continue
        for statement in [s for group in (one["claims"] or {}).values() for s in group]:
            main = usable(statement["mainsnak"])
            if statement["rank"] == "deprecated" or main is None:
                continue
            fact = [one["id"], statement["mainsnak"]["property"], main]
            for prop in statement.get("qualifiers-order") or statement.get("qualifiers") or []:
                for snak in statement["qualifiers"][prop]:
                    if usable(snak) is not None:
                        fact += [prop, usable(snak)]
            for item in {part for part in fact if isinstance(part, str) and part[0] == "Q"}:
                found.setdefault(item, Counter())[skeleton(fact)] += 1
    return found


def usable(snak):
    """An item's id, True for a literal, None for what is no value."""
    if snak["snaktype"] != "value" or snak["datatype"] not in KEPT:
        return None
    value = snak["datavalue"]["value"]
    if snak["datatype"] == "time" and value["precision"] < 9:
        return None
    return value["id"] if snak["datatype"] == "wikibase-item" else True


_ITEM = st.integers(1, 6).map(lambda number: q(f"Q{number}"))
_LITERAL = st.sampled_from(
    [quantity("+5"), time("+1952-03-11T00:00:00Z"), time("+1950-00-00T00:00:00Z", 8), string("x"), SOMEVALUE]
)
_SNAK = st.one_of(_ITEM, _ITEM, _LITERAL)
_PROP = st.sampled_from(["P1", "P2", "P31"])
_CLAIM = st.builds(
    lambda prop, value, qualifiers, rank: claim(prop, value, *qualifiers, rank=rank),
    _PROP,
    _SNAK,
    st.lists(st.tuples(_PROP, _SNAK), max_size=3),
    st.sampled_from(["normal", "normal", "preferred", "deprecated"]),
)
_DOCUMENTS = st.lists(st.lists(_CLAIM, max_size=5), min_size=1, max_size=5)


@settings(max_examples=20)
@given(_DOCUMENTS)
def test_the_neighbourhood_of_an_item_is_a_brute_force_reading_of_the_dump(tmp_path_factory, claims):
    folder = tmp_path_factory.mktemp("random")
    documents = [
        document(f"Q{number}", f"item {number}" if number != 3 else "", *some) for number, some in enumerate(claims, 1)
    ]
    anchor = document("Q7", "anchor", claim("P1", q("Q8")))  # an index needs a fact
    build(write(folder / "d.json", [*documents, anchor]), folder / "kb")
    kb = KnowledgeBase(folder / "kb")
    wanted = brute_force(documents)
    for number in [one for one in range(1, len(documents) + 1) if one != 3]:  # Q3 has no document
        facts = kb.neighborhood(f"Q{number}")
        assert Counter(skeleton([entity["id"] for entity in fact]) for fact in facts) == wanted.get(
            f"Q{number}", Counter()
        )
        assert kb.frequency(f"Q{number}") == len(facts)
        assert kb.frequencies(f"Q{number}")[0] == sum(fact[0]["id"] == f"Q{number}" for fact in facts)
    kb.close()


def test_the_embedded_neighbourhoods_are_a_brute_force_reading_of_the_entity_documents():
    with gzip.open(SNAPSHOT / "entities.json.gz", "rt", encoding="utf-8") as file:
        documents = [json.loads(line.strip().rstrip(",")) for line in file if line.strip() not in ("[", "]", "")]
    wanted = brute_force(documents)
    kb = KnowledgeBase(SNAPSHOT / "kb")
    items = sorted(one["id"] for one in documents if one["type"] == "item")
    assert len(items) >= 400
    for item in items[::7]:
        facts = kb.neighborhood(item, 100_000)
        assert Counter(skeleton([entity["id"] for entity in fact]) for fact in facts) == wanted.get(item, Counter()), (
            item
        )
    kb.close()


def test_a_missing_folder_is_a_clear_error(workdir):
    with pytest.raises(IndexFileError, match=r"nowhere.*kb_path"):
        KnowledgeBase(workdir / "nowhere")
    assert list(workdir.iterdir()) == []


def files_of(folder):
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_reading_by_several_readers_at_once_changes_nothing_on_disk(folder):
    before = files_of(folder)
    with closing(KnowledgeBase(folder)) as one, closing(KnowledgeBase(folder)) as two, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda kb: kb.neighborhood("Q44578"), (one, two, one, two)))
        one.search_names(["titanic"], 3)
    assert all(facts == found[0] and len(facts) == 5 for facts in found)
    assert files_of(folder) == before


def test_a_read_only_index_opens(folder):
    for file in folder.iterdir():
        file.chmod(0o400)
    folder.chmod(0o500)
    with closing(KnowledgeBase(folder)) as kb:
        assert kb.label("Q44578") == "Titanic"
    folder.chmod(0o700)


def flipped(data):
    """With one bit changed in the middle."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


HARMS = {
    "missing": (None, ""),
    "empty": (lambda data: b"", ""),
    "half": (lambda data: data[: len(data) // 2], ""),
    "cut": (lambda data: data[: int(len(data) * 0.99)], ""),
    "altered": (flipped, "altered.*"),
}
FILES = ["items", "tokens", "text", "postings", "form_hash", "properties.json", "names/meta.json"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("harm", "words"), HARMS.values(), ids=HARMS)
def test_a_harmed_file_is_a_clear_error_at_opening(folder, name, harm, words):
    data = (folder / name).read_bytes()
    (folder / name).unlink()
    if harm is not None:
        (folder / name).write_bytes(harm(data))
    with pytest.raises(IndexFileError, match=rf"{name}.*{words}build it again"):
        KnowledgeBase(folder)
    assert (folder / name).exists() == (harm is not None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        *(
            (content, r"manifest\.json.*build it again")
            for content in (b"", b'{"format": 1', b"{}", b"[]", b'{"format": "1"}', b"\xff\xfe")
        ),
        ({"format": 99}, "format 99"),
        ({"licence": "CC0"}, None),  # of a newer version of the format
    ],
    ids=str,
)
def test_a_damaged_manifest_is_a_clear_error_and_more_keys_are_none(folder, change, words):
    manifest = read_json(folder / "manifest.json")
    (folder / "manifest.json").write_bytes(
        change if isinstance(change, bytes) else json.dumps({**manifest, **change}).encode()
    )
    if words is None:
        with closing(KnowledgeBase(folder)) as kb:
            assert kb.build_id == manifest["build_id"]
    else:
        with pytest.raises(IndexFileError, match=words):
            KnowledgeBase(folder)


def test_a_large_file_is_checked_by_samples_at_opening_and_whole_on_demand(folder):
    checks = layout.CHECKS._replace(whole=0, blocks=3, block_bytes=8)
    files = {name: checks.record(folder / name) for name in layout.read_manifest(folder).files}
    checks.check(folder, files)
    data = bytearray((folder / "text").read_bytes())
    data[len(data) // 2 + 20] ^= 1  # between the samples
    (folder / "text").write_bytes(data)
    checks.check(folder, files)
    with pytest.raises(IndexFileError, match="text: altered"):
        checks.check(folder, files, every_byte=True)
    data[-1] ^= 1  # in the last sample
    (folder / "text").write_bytes(data)
    with pytest.raises(IndexFileError, match="text: altered"):
        checks.check(folder, files)
