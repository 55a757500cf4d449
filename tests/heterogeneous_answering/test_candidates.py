import pytest
from asked_turns import knowledge_over, question_of, representation_of, thing
from literal_evidence import ENGLISH, attribute, evidence, fact, item_id, row

from convinse.heterogeneous_answering.admission import kind_test
from convinse.heterogeneous_answering.candidates import Computed, EntityCandidate
from convinse.heterogeneous_answering.finding import entity_roles, find_candidates, unlinked_names
from convinse.heterogeneous_answering.ranked_answers import AnswerCandidate
from convinse.language.read_evidence import ReadEvidence

KNOWLEDGE = knowledge_over(
    [("P57", "director", ["directed by"]), ("P735", "given name", ["first name"])],
    {item_id("Golden Bear"): ("award",), **{item_id(name): ("human",) for name in ("Ann", "Ida Roth", "Per Lund")}},
)


def found(text, *evidences, about=(), read=(), computed=(), **more):
    question = question_of(text, *evidences, knowledge=KNOWLEDGE, representation={**representation_of(*about), **more})
    read = [AnswerCandidate({"id": name, "label": name}, 0.5, (0,), ("reader",)) for name in read]
    return [candidate.entity["label"] for candidate in find_candidates(question, read, computed)]


ALIEN = fact("Alien", "director", "Ridley Scott")


def test_every_entity_is_a_candidate_but_what_the_question_is_about():
    assert found("Who directed Alien?", ALIEN, about=[thing("Alien")]) == ["Ridley Scott"]


@pytest.mark.parametrize(
    ("text", "about", "evidences"),
    [
        ("Who is Richard Bachman?", "Stephen King", [fact("Stephen King", "genre", "horror")]),  # by another name
        ("What is the first name of Ann?", "Ann", [fact("Ann Lee", "given name", "Ann")]),  # a property has it as value
    ],
)
def test_the_subject_of_a_question_may_answer_it(text, about, evidences):
    assert about in found(text, *evidences, about=[thing(about)])


def test_the_title_of_an_infobox_is_no_value_of_it():
    box = attribute("Ann", ["Spouse"], "Cy Dee (m. 1958)")
    box |= {"mentions": [{"start": 0, "end": 3, "id": item_id("Ann")}], "wikidata_entities": [thing("Ann")]}
    assert found("Who is Ann's spouse?", box, about=[thing("Ann")], read=["Cy Dee"]) == ["Cy Dee"]


def test_in_a_choice_only_what_is_offered_may_answer():
    texts = [
        evidence("Ann, Ann and Bob met Carl.", "text", *((name, item_id(name)) for name in ("Ann", "Bob", "Carl")))
    ]
    assert found("Was it Ann or Bob?", *texts, about=[thing("Ann")]) == ["Ann", "Bob"]
    assert found("Was it Dora or Emil?", *texts) == ["Ann", "Bob", "Carl"]  # neither is known


def test_a_question_for_a_number_asks_for_no_words_and_no_award():
    evidences = [
        fact("Ann", "award received", "Golden Bear"),
        evidence("Ann Marie Lee won 3 prizes.", "text", ("Bob", item_id("Bob"))),
    ]
    labels = found("How many prizes did she win?", *evidences, read=["three", "Some Words"], answer_type="number")
    assert "3" in labels and not {"Golden Bear", "Some Words", "Ann Marie Lee"} & set(labels)
    assert "Bob" in labels  # a type alone excludes nothing


@pytest.mark.parametrize(
    ("text", "evidence_", "label", "is_possible"),
    [
        ("How tall is Ann?", attribute("Ann", ["Children"], "2"), "2", False),
        ("How tall is Ann?", attribute("Ann", ["Height"], "2"), "2", True),
        ("How tall is Ann?", attribute("Ann", ["Children"], "2"), "Children, 2", False),
        ("How large was the crowd?", attribute("Ann", ["Largest audience"], "198"), "198", True),
        ("How many prizes did Ann win?", fact("Ann", "award received", "Golden Bear"), "Golden Bear", False),
        ("How many prizes did Ann win?", evidence("She was at the 65th show.", "text"), "65th", False),
        ("Who won the prize?", evidence("It was Bob.", "text", ("Bob", item_id("Bob"))), "Bob", True),
    ],
)
def test_an_amount_is_a_number_of_what_is_measured(text, evidence_, label, is_possible):
    representation = {**representation_of(thing("Ann")), "answer_type": "number" if text[0] == "H" else "person"}
    question = question_of(text, evidence_, knowledge=KNOWLEDGE, representation=representation)
    entity = thing(label) if label == "Golden Bear" else {"id": label, "label": label}
    candidate = EntityCandidate(entity, best_places=(0,))
    assert kind_test(question)(candidate) is is_possible


@pytest.mark.parametrize(
    ("words", "label"),
    [("the hobbit", "The Hobbit"), ("Tolkien", "J. R. R. Tolkien"), ("Kubrick", "Kubrick"), ("Lee", "Lee")],
)
def test_words_that_are_a_name_or_a_surname_of_an_item_are_that_item(words, label):
    names = ("The Hobbit", "J. R. R. Tolkien", "Ann Lee", "Bob Lee")
    text = evidence("It was said.", "text", *((name, item_id(name)) for name in names))
    assert label in found("Who?", text, read=[words])
    assert len(found("Who?", text, read=[words])) == len(names) + (label not in names)


def test_dates_are_years_if_a_year_is_asked_for_and_numbers_are_in_the_scale():
    opened = evidence("It opened on 19 December 1997.", "text", ("19 December 1997", "1997-12-19T00:00:00Z"))
    assert found("In which year did it open?", opened, answer_type="date") == ["1997"]
    copies = evidence("It sold 3000000 copies.", "text", ("3000000", "3000000"))
    assert found("How many million copies did it sell?", copies) == ["3"]
    assert found("How many sold?", read=["twelve"], answer_type="number") == ["12"]


def test_readings_and_computed_results_add_to_a_candidate():
    question = question_of(
        "Who directed it?", ALIEN, knowledge=KNOWLEDGE, representation=representation_of(thing("Alien"))
    )
    scott = thing("Ridley Scott")
    computed = Computed(scott, "role", (0,))
    read = [AnswerCandidate(scott, 0.7, (0,), ("reader",))]
    merged = next(candidate for candidate in find_candidates(question, read, [computed]) if candidate.entity == scott)
    assert (merged.read, merged.computed, merged.places, merged.reasons) == (1.0, computed, (0,), ("role", "reader"))


@pytest.mark.parametrize(
    ("words", "entity"),
    [("6 months", "6"), ("13 February 2026", "2026-02-13T00:00:00Z"), ("1984", "1984"), ("B-7", "B-7")],
)
def test_a_cell_that_is_a_value_in_full_is_the_value_that_is_read(words, entity):
    computed = Computed({"id": words, "label": words}, "cell", (0,))
    stands = evidence(f"Acker, Notice, {words}", "info")
    question = question_of(
        "What is the notice of Acker?", stands, knowledge=KNOWLEDGE, representation=representation_of()
    )
    assert [found.entity["id"] for found in find_candidates(question, [], [computed]) if found.computed] == [entity]


def test_a_reading_counts_for_the_office_holder_at_that_time():
    text = "Harbour Trust, Chairperson, Ida Roth (1980–1986), Per Lund (1986–2001)"
    held = evidence(text, "info", *((name, item_id(name)) for name in ("Ida Roth", "Per Lund")))
    question = question_of("Who was the chairperson of the Harbour Trust in 1990?", held, knowledge=KNOWLEDGE)
    read = AnswerCandidate(thing("Ida Roth"), 0.6, (0,), ("reader",))
    shares = {candidate.entity["label"]: candidate.read for candidate in find_candidates(question, [read])}
    assert shares == {"Per Lund": 1.0}  # and no year is a person


def roles(evidence_):
    return [
        (role.kind, role.entity["label"], [label.text for label in role.labels])
        for role in entity_roles(0, ReadEvidence(evidence_, ENGLISH), ENGLISH)
    ]


def test_roles_in_facts_rows_boxes_and_sentences():
    award = fact("Ann", "award received", "Golden Bear", "point in time", "1999")
    assert roles(award) == [
        ("subject", "Ann", ["award received"]),
        ("object", "Golden Bear", ["award received"]),
        ("qualifier", "1999", ["point in time", "award received"]),
    ]
    assert roles(row("It", "Cast", ("Actor", "Some One"), ("Year", "1999"))) == [
        ("row", "1999", ["Year"]), ("row", "Some One", ["Actor"]),
    ]  # fmt: skip
    assert roles(attribute("It", ["Release", "Running time"], "194 minutes")) == [
        ("box", "194", ["Release", "Running time", "minutes"])
    ]
    ((kind, label, (unit,)),) = roles(evidence("It lasts 5 minutes or so.", "text"))
    assert (kind, label) == ("text", "5") and unit.startswith("minutes")


@pytest.mark.parametrize(
    ("evidence_", "names"),
    [
        (row("It", "", ("Role", "The Master"), ("Year", "1999"), ("Title", '"Space Pilot 3000"')),
         ["The Master", '"Space Pilot 3000"']),
        (attribute("It", ["Born"], "5 March 1950", "Some Place"), ["Some Place"]),
        (evidence("It was Mary Ann Lee's, and London's.", "text"), ["Mary Ann Lee"]),
    ],
)  # fmt: skip
def test_names_without_an_item(evidence_, names):
    assert [text for text, _ in unlinked_names(ReadEvidence(evidence_, ENGLISH))] == names
