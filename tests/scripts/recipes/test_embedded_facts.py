"""Structured evidences that the embedded model learns from: facts, rows of tables, retrieved evidences."""

import gzip
import itertools
import json

import pytest

from convinse.support.errors import DataError
from handmade import claim, document, dump_bytes, q, quantity, time
from places import DATA, ROOT
from recipes.embedded import facts, patterns, tables, turns, wikidata
from written import write, write_lines

NAMES = ["wikidata-27k", "convquestions", "simplequestions-wikidata", "wikitablequestions", "timequestions"]
needs_data = pytest.mark.skipif(
    not all((DATA / name).is_dir() for name in NAMES), reason="no shared data; set CONVINSE_DATA"
)
HUMAN, FILM, MALE, FEMALE, CITY, DRAMA, PRIZE = "Q5", "Q11424", "Q6581097", "Q6581072", "Q515", "Q130232", "Q90"
FILMS, PEOPLE, PLACES = range(1000, 1030), range(2000, 2030), range(3000, 3006)
SEED, GOLD = "Q1000", "Q1001"


def world():
    """Films with crew, people with places, a prize: enough for each kind of question."""
    properties = {
        "P31": "instance of", "P57": "director", "P58": "screenwriter", "P161": "cast member", "P453": "character role", "P577": "publication date",
        "P136": "genre", "P19": "place of birth", "P569": "date of birth", "P21": "sex or gender", "P166": "award received", "P1686": "for work",
        "P2047": "duration", "P106": "occupation",
    }  # fmt: skip
    yield from (document(key, label) for key, label in properties.items())
    classes = {
        HUMAN: "human", FILM: "film", MALE: "male", FEMALE: "female", CITY: "city", DRAMA: "drama film", PRIZE: "Golden Cup", "Q7727": "minute",
        "Q201": "film genre", "Q28389": "screenwriter",
    }  # fmt: skip
    for key, label in classes.items():
        yield document(key, label, *([claim("P31", q("Q201"))] if key == DRAMA else []))
    for place in PLACES:
        yield document(f"Q{place}", f"Town {place}", claim("P31", q(CITY)))
    for number in PEOPLE:
        yield document(
            f"Q{number}", f"Ann Person{number}", claim("P31", q(HUMAN)), claim("P21", q(FEMALE if number % 2 else MALE)),
            claim("P19", q(f"Q{PLACES[number % len(PLACES)]}")), claim("P569", time(f"+19{number % 60 + 30}-03-04T00:00:00Z")),
            claim("P106", q("Q28389")), claim("P166", q(PRIZE), ("P1686", q(f"Q{FILMS[number % len(FILMS)]}"))),
        )  # fmt: skip
    for place, number in enumerate(FILMS):
        crew = [f"Q{PEOPLE[(place + shift) % len(PEOPLE)]}" for shift in range(5)]
        yield document(
            f"Q{number}", f"Film, Part {number}", claim("P31", q(FILM)), claim("P57", q(crew[0])), claim("P58", q(crew[1])),
            *(claim("P161", q(one), ("P453", q(f"Q{PEOPLE[(place + 9) % len(PEOPLE)]}"))) for one in crew[2:]),
            claim("P136", q(DRAMA)), claim("P577", time(f"+20{place:02d}-05-06T00:00:00Z")), claim("P2047", quantity("+90", "Q7727")),
        )  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A folder of shared data as small as it gets, and a folder to build in."""
    folder = tmp_path_factory.mktemp("data")
    write(folder / "wikidata-27k" / "wikidata-27k.json.gz", gzip.compress(dump_bytes(list(world()))))
    turn = {"question": "?", "entities": [{"id": SEED, "label": "Film"}], "answers": [{"id": GOLD}, {"id": "1999"}]}
    write(folder / "convquestions" / "val_wd27k.json.gz", [{"conv_id": "1", "questions": [turn]}])
    asked = [f"Q{FILMS[n]}\tP57\tQ{PEOPLE[n]}\twho directed the film film, part {FILMS[n]}" for n in range(9)]
    asked += [f"Q8{n}\tP57\tQ9{n}\twho was the american director of zz{n} yy{n}" for n in range(9)]
    asked += [f"Q8{n}\tP57\tQ9{n}\twho directed the film xx{n} of ww{n}?" for n in range(9)]
    write(folder / "simplequestions-wikidata" / "annotated_wd_data_train.txt.gz", "\n".join(asked) + "\n")
    write(folder / "simplequestions-wikidata" / "annotated_wd_data_valid.txt.gz", "\n".join(asked[:1]) + "\n")
    write(folder / "simplequestions-wikidata" / "labels.tsv.gz", "P57\tdirector\n")
    return folder, tmp_path_factory.mktemp("built")


@pytest.fixture(scope="module")
def made(small):
    return list(facts.facts(*small, 3))


@pytest.fixture(scope="module")
def index(small):
    """The facts by their text."""
    known = wikidata.Facts(*small)
    known.kb.close()
    return {fact.text: fact for told in known.by_subject.values() for fact in told}


def test_spans_are_labels_of_the_facts(index, made):
    assert len(made) > 100
    asked = set()
    for example in made:
        for candidate in example.candidates:
            fact = index[candidate.text]
            if candidate.relevant:
                whole = candidate.text[slice(*candidate.spans[0])]
                assert whole in (fact.labels[0], *fact.labels[2::2])
                asked.add(fact.labels.index(whole))
            else:
                assert candidate.spans == ()
    assert asked == {0, 2, 4}  # the subject, the object, the qualifier


def test_nothing_is_learned_of_the_bench(index, made):
    seen = {entity for example in made for one in example.candidates for entity in index[one.text].ids}
    assert SEED not in seen and "Q1002" in seen
    subjects = {index[one.text].subject for example in made for one in example.candidates}
    assert GOLD not in subjects and f"Film, Part {GOLD[1:]}" not in {example.key for example in made}


def test_the_key_is_the_subject_and_parts_share_no_text(index, made):
    assert {example.part for example in made} == {"train", "dev"}
    texts = {part: {one.text for e in made if e.part == part for one in e.candidates} for part in ("train", "dev")}
    assert not texts["train"] & texts["dev"]
    assert all(index[example.candidates[0].text].labels[0] == example.key for example in made)


def test_facts_of_the_same_subject_and_property_are_no_negatives(index, made):
    checked = 0
    for example in made:
        right = [index[one.text] for one in example.candidates if one.relevant]
        wrong = [index[one.text] for one in example.candidates if not one.relevant]
        assert wrong and not {fact.text for fact in right} & {fact.text for fact in wrong}
        place = right[0].labels.index(example.candidates[0].text[slice(*example.candidates[0].spans[0])])
        if place == 2 and right[0].ids[3:4] != ("P453",):  # a question for the values of a property
            checked += 1
            assert not any((fact.subject, fact.prop) == (right[0].subject, right[0].prop) for fact in wrong)
    assert checked > 50


def test_the_same_seed_gives_the_same_examples(small, made):
    assert list(facts.facts(*small, 3)) == made
    assert list(facts.facts(*small, 4)) != made


def test_questions_have_the_shapes_of_the_pipeline(made):
    films = [example for example in made if example.group.startswith("facts:Q10")]
    assert any(example.query.startswith(f" || Film, Part {example.group[-4:]} || ") for example in films)
    assert any("the film" in example.query.lower() or " it" in example.query.lower() for example in films)
    people = [example.query for example in made if example.group.startswith("facts:Q20")]
    assert any(query.startswith("Ann Person") and " she" in query.lower() for query in people)
    assert not any("{" in example.query for example in made)


def test_patterns_need_a_name_that_is_cut_out(small):
    folder, _ = small
    labels = {f"Q{n}": f"Film, Part {n}" for n in FILMS}
    found = patterns.simple_questions(folder, lambda item: labels.get(item, item))
    assert [pattern.text for pattern in found["P57"]] == ["who directed the film {o}"]  # not the American one


def test_a_pronoun_takes_no_class_before_it():
    words = wikidata.Words
    pattern = patterns.Pattern("who directed the film {o}")
    assert pattern.filled(words.named("Alien")) == "who directed the film Alien"
    assert pattern.with_pronoun(words("it", "it", "its")) == "who directed it"
    assert patterns.Pattern("who won the {n}").with_pronoun(words("it", "it", "its")) == "who won it"
    assert words.named("James").possessive == "James'"


def test_phrasings_are_read_and_faults_named(tmp_path):
    assert len(patterns.hand_written().found) > 250
    file = tmp_path / "phrasings.txt"
    for line, fault in (("P57 >", "no line"), ("P57 > who is {x}", "slot"), ("P57 > [cat] who is {n}", "condition")):
        file.write_text(f"# head\n{line}\n")
        with pytest.raises(DataError, match=rf"phrasings.txt:2: .*{fault}"):
            patterns.hand_written(file)


def test_a_representation_has_four_slots():
    assert patterns.slots("", "Alien", "when did it come out?") == " || Alien || come out || date"


def test_spans_of_years_and_numbers():
    told = wikidata.Told
    date = told(("Q1", "P577", "1979-05-25T00:00:00Z"), ("Alien, the film", "publication date", "25 May 1979"))
    assert [date.text[slice(*span)] for span in date.spans([2], "what year was it?")] == ["25 May 1979", "1979"]
    assert len(date.spans([2], "when was it?")) == 1
    length = told(("Q1", "P2047", "117"), ("Alien", "duration", "117 minute"))
    assert [length.text[slice(*span)] for span in length.spans([2], "how long?")] == ["117 minute", "117"]


# -- tables ------------------------------------------------------------------------------------------------------------


def test_rows_are_verbalised_with_the_places_of_their_cells():
    rows = tables.verbalised("Renaissance (band)", ["Year", "Chart\nUK"], [["1969", "60 & 61"], ["", "35[1]"]])
    assert [row.text for row in rows] == [
        "Renaissance, Year is 1969, Chart UK is 60 & 61",
        "Renaissance, Chart UK is 35",
    ]
    assert [{column: row.text[slice(*span)] for column, span in row.cells.items()} for row in rows] == [
        {0: "1969", 1: "60 & 61"},
        {1: "35"},
    ]


def test_questions_that_one_cell_answers(tmp_path):
    folder = tmp_path / "wikitablequestions"
    table = {"context": "a", "title": "Some Page (page)", "header": ["Team", "Wins"], "rows": [["Reds", "3"], ["“Blues”", "5"], ["Greens", "5"]]}  # fmt: skip
    write_lines(folder / "tables.jsonl.gz", table)
    lines = [
        "id\tutterance\tcontext\ttargetValue", "1\twho won three times?\ta\tReds", "2\twhat team is blue?\ta\tBlues", "3\twho won five times?\ta\tBlues|Greens",
        "4\thow many teams?\ta\t3", "5\twhat did the blues win?\ta\t5", "6\twho is yellow?\ta\tYellows",
    ]  # fmt: skip
    write_lines(folder / "training.tsv.gz", *lines)
    found = list(tables.tables(tmp_path, 1))
    assert [example.candidates[0].text for example in found] == [
        "Some Page, Team is Reds, Wins is 3",
        "Some Page, Team is “Blues”, Wins is 5",
    ]
    assert [e.candidates[0].text[slice(*e.candidates[0].spans[0])] for e in found] == ["Reds", "Blues"]
    assert [len(example.candidates) for example in found] == [3, 3] and {example.key for example in found} == {"a"}


# -- one turn ----------------------------------------------------------------------------------------------------------


def test_facts_that_hold_the_answer_against_others(small):
    folder, work = small
    entries = [
        {"Question": f"who directed Film, Part {number}?", "Answer": [{"WikidataQid": f"Q{PEOPLE[place]}"}]}
        for place, number in enumerate(FILMS)
    ]
    entries.append({"Question": f"is Film, Part {FILMS[3]} long?", "Answer": [{"WikidataQid": f"Q{PEOPLE[3]}"}]})
    write(folder / "timequestions" / "dev.json.gz", entries)
    found = list(turns.timequestions(folder, work, 1))
    assert len(found) > 15
    for example in found:
        texts = [one.text for one in example.candidates]
        right = example.candidates[0]
        label = f"Ann Person{PEOPLE[int(example.key[1:]) - FILMS[0]]}"
        assert right.text == f"Film, Part {example.key[1:]}, director, {label}"
        assert right.text[slice(*right.spans[0])] == label
        assert len(texts) == len(set(texts)) and not any(label in one.text for one in example.candidates[1:])
    assert not {SEED, GOLD} & {example.key for example in found}


def test_train_conversations_only(tmp_path):
    found = list(turns.conversations(tmp_path, tmp_path, 1))
    path = ROOT / "convinse" / "snapshot" / "conversations" / "train.json"
    assert {example.key for example in found} <= {one["conv_id"] for one in json.loads(path.read_text())}
    assert len(found) > 100 and any(" || " in example.query for example in found)
    for example in found:
        right = {one.text for one in example.candidates if one.relevant}
        assert not right & {one.text for one in example.candidates if not one.relevant}


# -- shared data -------------------------------------------------------------------------------------------------------


@needs_data
def test_facts_of_the_shared_data(tmp_path):
    for name in ("convquestions", "simplequestions-wikidata"):
        (tmp_path / name).symlink_to(DATA / name)
    with gzip.open(DATA / "wikidata-27k" / "wikidata-27k.json.gz", "rb") as file:
        items = iter(range(1500))
        lines = [line for line in file if b'"type":"property"' in line[:40] or next(items, None) is not None]
    dump = b"".join(lines).rstrip().rstrip(b",]") + b"\n]\n"
    write(tmp_path / "wikidata-27k" / "wikidata-27k.json.gz", gzip.compress(dump, 1))
    bench = wikidata.bench_items(DATA)
    assert len(bench.seeds) > 30 and len(bench.answers) > 50
    known = wikidata.Facts(tmp_path, tmp_path / "work")
    try:
        assert not bench.items & known.by_subject.keys()
        assert not any(bench.seeds & set(fact.ids) for told in known.by_subject.values() for fact in told)
        found = list(itertools.islice(facts.Questions(known, DATA, 1).all(), 600))
        index = {fact.text: fact for told in known.by_subject.values() for fact in told}
    finally:
        known.kb.close()
    assert len(found) == 600
    for example in found:
        right = [index[one.text] for one in example.candidates if one.relevant]
        wrong = [index[one.text] for one in example.candidates if not one.relevant]
        assert right[0].labels[0] == example.key and example.part == wikidata.part_of_fact(right[0])
        assert {wikidata.part_of_fact(fact) for fact in right + wrong} == {example.part}
        whole = [one.text[slice(*one.spans[0])] for one in example.candidates if one.relevant]
        assert all(label in (fact.labels[0], *fact.labels[2::2]) for label, fact in zip(whole, right, strict=True))


@needs_data
def test_rows_of_the_shared_data(beginnings):
    folder = beginnings({"wikitablequestions/tables.jsonl": 120, "wikitablequestions/training.tsv": 10**9}, ())
    found = list(tables.tables(folder, 1))
    assert len(found) > 100
    for example in found:
        right = {one.text for one in example.candidates if one.relevant}
        wrong = [one.text for one in example.candidates if not one.relevant]
        assert right and wrong and not right & set(wrong) and len(wrong) == len(set(wrong)) <= 5
        assert all(one.spans for one in example.candidates if one.relevant)
