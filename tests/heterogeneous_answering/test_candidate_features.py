"""What tells whether a candidate answers a question: each feature on evidences by hand."""

from math import log, log10

import pytest
from asked_turns import asked_of, meant, resources_over, thing
from literal_evidence import attribute, evidence, fact, row

from convinse.heterogeneous_answering.candidate_features import Given, asking_words, candidates
from convinse.heterogeneous_answering.ranking import AnswerCandidate
from convinse.heterogeneous_answering.values import FAR
from convinse.language.answer_types import AnswerType

IDS = {"Titanic": "Q44578", "Jaws": "Q189505", "James Cameron": "Q42574", "Kate Winslet": "Q202765", "Billy Zane": "Q213864",
       "Rose": "Q1", "drama": "Q130232", "director": "P57", "cast member": "P161", "character role": "P453",
       "publication date": "P577", "genre": "P136"}  # fmt: skip
DAYS = {
    "19 December 1997": "1997-12-19T00:00:00Z",
    "18 November 1997": "1997-11-18T00:00:00Z",
    "1998": "1998-01-01T00:00:00Z",
}
PROPERTIES = [
    ("P57", "director", ["directed by"]),
    ("P161", "cast member", ["starring", "played by"]),
    ("P577", "publication date", ["opened"]),
    ("P136", "genre", []),
]
CLASSES = {"Q42574": ("human",), "Q202765": ("human",), "Q213864": ("human",), "Q44578": ("film",)}
FACTS = {"Q42574": 99, "Q202765": 49, "Q213864": 9, "Q44578": 999}
NOTHING, SEA = Given(), thing("sea", "Q165")
TITANIC, CAMERON, WINSLET, ZANE = (
    thing(label, IDS[label]) for label in ("Titanic", "James Cameron", "Kate Winslet", "Billy Zane")
)


@pytest.fixture(scope="module")
def resources():
    return resources_over(PROPERTIES, CLASSES, FACTS)


@pytest.fixture
def ask(resources):
    """What a question asks of evidences."""
    return lambda question, *given, **more: asked_of(question, *given, resources=resources, **more)


@pytest.fixture
def find(ask):
    """The features of the candidates of a question, by their labels; `given` is what readers and others find."""

    def features(question, *evidences, given=NOTHING, **more):
        return by_label(candidates(ask(question, *evidences, **more), given))

    return features


def by_label(given):
    labels = [candidate.entity["label"] for candidate in given.given]
    assert len(set(labels)) == len(labels) == len(given.features)
    return dict(zip(labels, given.features, strict=True))


def stated(*labels, **more):
    """A fact of things that are known."""
    return {**fact(*labels, ids=[*IDS.items(), *DAYS.items()]), "score": 1.0, "retrieved_for_entity": SEA, **more}


def said(text, *labels, score=1.0, source="text", **more):
    """An evidence in which things are mentioned that are known."""
    entities = [(label, IDS[label]) for label in labels]
    return evidence(text, source, *entities, **{"score": score, "retrieved_for_entity": SEA, **more})


def read(*answers, key="read", **more):
    """What a reader gives: labels, or entities, with scores."""
    given = [
        AnswerCandidate(
            thing(answer, IDS.get(answer, answer)) if isinstance(answer, str) else answer, score, places, (key,)
        )
        for answer, score, *places in answers
    ]
    return Given(**{key: given}, **more)


DIRECTED = stated("Titanic", "director", "James Cameron")
PLAYED = stated("Titanic", "cast member", "Kate Winslet", "character role", "Rose")


# -- what is a candidate -----------------------------------------------------------------------------------------------


def test_candidates_are_in_the_order_of_the_evidences(ask):
    found = candidates(ask("Who?", DIRECTED, PLAYED), Given())
    labels = [candidate.entity["label"] for candidate in found.given]
    assert labels == ["Titanic", "James Cameron", "Kate Winslet", "Rose"]
    assert [candidate.places for candidate in found.given] == [(0, 1), (0,), (1,), (1,)]
    assert {candidate.reasons for candidate in found.given} == {("evidences",)} and found.given[0].score == 0.0
    assert candidates(ask("Who?"), Given())[:2] == ([], [])


def test_what_others_give_is_a_candidate_and_says_why_and_from_where(ask):
    given = Given(
        read=[
            AnswerCandidate(CAMERON, 0.6, (1,), ("reader",)),
            AnswerCandidate(thing("Jack"), 0.4, (1, 0), ("reader",)),
        ],
        voted=[AnswerCandidate(CAMERON, 0.5, (0,), ("votes",)), AnswerCandidate(ZANE, 0.5, (0,), ("votes",))],
        stated=[AnswerCandidate(thing("194", "194"), 1.0, (0,), ("numbers",))],
        ordered=[AnswerCandidate(WINSLET, 1.0, (1,), ("order",))],
    )
    found = candidates(ask("Who?", DIRECTED, PLAYED), given)
    told = {candidate.entity["label"]: (candidate.places, candidate.reasons) for candidate in found.given}
    assert told["James Cameron"] == ((1,), ("reader", "votes"))  # votes are for those that nothing better places
    assert told["Jack"] == ((1, 0), ("reader",)) and told["Billy Zane"] == ((0,), ("votes",))
    assert told["194"] == ((0,), ("numbers",)) and told["Kate Winslet"] == ((1,), ("order",))


@pytest.mark.parametrize("question", ["What year was it?", "In which year did it open?"])
def test_dates_are_years_where_a_year_is_asked_for(find, question):
    opened = [stated("Titanic", "publication date", day) for day in DAYS]
    found = find(question, *opened, given=read((thing("19 December 1997", DAYS["19 December 1997"]), 1.0, 0)))
    assert set(found) == {"Titanic", "1997", "1998"}
    assert found["1997"].support == pytest.approx(log(3)) and found["1997"].read == pytest.approx(log(1.0001))
    assert set(find("When was it?", *opened)) == {"Titanic", *DAYS}


def test_a_number_in_words_is_the_number(find):
    text = said("Titanic, It has 8 boats.")
    found = find(
        "How many boats has it?",
        text,
        given=read(("eight", 0.5, 0), ("sixty-four", 0.25, 0), ("two or three", 0.25, 0)),
    )
    assert {"8", "64", "two or three"} <= set(found) and "eight" not in found
    assert found["8"].read == pytest.approx(log(0.5001)) and found["8"].is_number == 1.0 == found["64"].is_number


def test_numbers_are_counted_as_the_question_counts(find):
    text = said("Titanic, It sold 150 million copies in 30 countries.")
    found = find("How many million copies did it sell?", text)
    assert {"150", "30"} <= set(found) and found["150"].is_number == 1.0
    assert {"150 million", "30"} <= set(find("How many copies did it sell?", text))


def test_words_that_are_the_name_of_an_item_are_the_item(find):
    found = find("Who?", said("Titanic, by James Cameron", "James Cameron"), given=read(("The JAMES Cameron", 0.7, 0)))
    assert "The JAMES Cameron" not in found and found["James Cameron"].read == pytest.approx(log(0.7001))


def test_spellings_of_the_same_words_are_one_candidate(find):
    given = read(("the Ring Bearer", 0.5, 0), ("Ring-bearer", 0.3, 0))
    found = find("Who?", said("Titanic, nobody"), given=given)
    assert [label for label in found if "ing" in label.lower()] == ["the Ring Bearer"]
    assert found["the Ring Bearer"].read == pytest.approx(log(0.8001))


ROW = row("Titanic", "Cast", ("Actor", "Danny Nucci"), ("Year", "1997"), ("Role", "Fabrizio"))
BOX = attribute("Titanic", ["Music", "Composer"], "James Horner", "1997")


def test_texts_of_cells_and_values_that_name_nothing_are_candidates(find):
    found = find("Who?", ROW, BOX)
    assert {"Danny Nucci", "Fabrizio", "James Horner", "1997"} <= set(found)
    assert found["Danny Nucci"].is_words == found["Danny Nucci"].in_row == 1.0 == found["James Horner"].in_box
    assert found["1997"].is_date == found["1997"].in_row == 1.0
    long = row("Titanic", "Cast", ("Note", "one two three four five six seven eight nine"), ("More", "—"))
    assert {label for label in find("Who?", long) if " " in label or label == "—"} == set()


def test_a_cell_with_the_name_of_an_item_is_the_item(find):
    found = find("Who?", PLAYED, row("Titanic", "Cast", ("Actor", "Kate Winslet")))
    assert set(found) == {"Titanic", "Kate Winslet", "Rose"} and found["Kate Winslet"].sources == 1.0


def test_a_cell_with_a_literal_that_nothing_mentions_is_no_name(find):
    given = row("Titanic", "Cast", ("Since", "May 1997 at sea"), ("Actor", "Danny Nucci"))
    assert set(find("Who?", {**given, "mentions": [], "wikidata_entities": []})) == {"Danny Nucci"}


@pytest.mark.parametrize(
    ("text", "is_name"),
    [("Space Pilot 3000", True), ('"Space Pilot 3000"', True), ("“9 to 5”", True), ('"1984"', False), ("Kill Bill: Volume 2", True), ("12 episodes", False), ("US$5 million", False),
     ("about 3,000", False)],
)  # fmt: skip
def test_a_title_with_a_number_is_a_name(find, text, is_name):
    assert (text in find("Which episode?", row("Futurama", "Episodes", ("Title", text)))) == is_name


def test_a_cell_that_mentions_an_item_is_no_name_of_its_own(find):
    given = row("Titanic", "Cast", ("Actor", "Kate Winslet (young)"))
    start = given["evidence_text"].index("Kate")
    given["wikidata_entities"] = [WINSLET]
    given["mentions"] = [{"start": start, "end": start + len("Kate Winslet"), "id": WINSLET["id"]}]
    assert set(find("Who?", given)) == {"Kate Winslet"}


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("It was played by Danny Nucci.", {"Danny Nucci"}),
        ("It was Danny Nucci's film, and Danny Nucci’s role.", {"Danny Nucci"}),
        ("Made by John F. Kennedy in Berlin, Germany and so on.", {"John F. Kennedy"}),
        ("It starred Danny Nucci, Ewan Stewart.", {"Danny Nucci", "Ewan Stewart"}),
        ("Made by Mary-Jane Watson-Parker O'Brien.", {"Mary-Jane Watson-Parker O'Brien"}),
        ("Made by Danny and Nobody else.", set()),  # a word alone
        ("Made by Kate Winslet herself.", {"Kate Winslet"}),  # the item
    ],
)
def test_names_in_sentences_are_candidates(find, sentence, names):
    labels = ["Titanic", *(["Kate Winslet"] if "Kate" in sentence else [])]
    found = find("Who?", said(f"Titanic, {sentence}", *labels))
    assert set(found) - {"Titanic"} == names
    for name in names - {"Kate Winslet"}:
        assert found[name].is_words == found[name].in_text == 1.0


# -- shares ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["read", "voted", "stated"])
def test_shares_are_logarithms(find, origin):
    found = find("Who?", DIRECTED, given=read(("James Cameron", 0.4, 0), ("James Cameron", 0.2, 0), key=origin))
    for name in ("read", "voted", "stated"):
        share = 0.6 if name == origin else 0.0
        assert getattr(found["James Cameron"], name) == pytest.approx(log(share + 1e-4))
        assert getattr(found["Titanic"], name) == pytest.approx(log(1e-4))
    assert found["James Cameron"].ordered == 0.0


def test_what_an_operation_gives_counts_as_far_as_it_is_trusted(find):
    found = find("Who?", DIRECTED, given=read(("James Cameron", 0.5, 0), key="ordered", trust=0.8))
    assert found["James Cameron"].ordered == pytest.approx(0.4) and found["Titanic"].ordered == 0.0


# -- the expected type -------------------------------------------------------------------------------------------------


def test_how_well_a_candidate_fits(find):
    found = find("Who was it?", DIRECTED, ROW, stated("Titanic", "publication date", "19 December 1997"))
    assert found["James Cameron"].fit == 0.0 and found["James Cameron"].suits == 1.0
    assert found["19 December 1997"].suits == 0.0 and found["19 December 1997"].fit == pytest.approx(log(1e-3))
    assert found["Danny Nucci"].suits == 1.0  # a name may be a person
    kinds = {label: found[label].kind for label in ("James Cameron", "Titanic", "19 December 1997", "Danny Nucci")}
    assert kinds == {
        "James Cameron": 0.0,
        "Titanic": 0.0,
        "19 December 1997": pytest.approx(log(1e-3)),
        "Danny Nucci": 0.0,
    }
    assert find("When was it?", ROW)["Danny Nucci"].suits == 0.0


def test_what_a_candidate_is(find):
    given = read(("a boat", 1.0, 0))
    found = find("What?", said("Titanic, It has 8 boats.", "Titanic"), stated("Titanic", "genre", "drama"),
                 stated("Titanic", "publication date", "1998"), given=given)  # fmt: skip
    flags = {label: (own.is_date, own.is_number, own.is_words, own.lower) for label, own in found.items()}
    assert flags == {"Titanic": (0, 0, 0, 0), "8": (0, 1, 0, 0), "drama": (0, 0, 0, 1), "1998": (1, 0, 0, 0),
                     "a boat": (0, 0, 1, 1)}  # fmt: skip


def test_the_words_of_a_candidate(find):
    given = read(("Danny van Nucci", 0.5, 0), ("so far", 0.5, 0))
    found = find("Who?", DIRECTED, given=given)
    assert (found["Danny van Nucci"].capitals, found["Danny van Nucci"].length) == (pytest.approx(2 / 3), 2.0)
    assert found["so far"].capitals == 0.0 == found["James Cameron"].capitals and found["Titanic"].length == 0.0


def test_a_part_of_another_name_is_no_name(find):
    given = read(("Cameron", 0.3, 0), ("James", 0.3, 0), ("Camer", 0.3, 0), ("James  Cameron of Titanic", 0.1, 0))
    found = find("Who?", DIRECTED, given=given)
    assert {label: own.part for label, own in found.items()} == {
        "Titanic": 0.0, "James Cameron": 0.0, "Cameron": 1.0, "James": 1.0, "Camer": 0.0, "James  Cameron of Titanic": 0.0,
    }  # fmt: skip


def test_what_is_well_known_has_a_higher_prior(find):
    found = find("Who?", DIRECTED, ROW)
    assert found["James Cameron"].prior == pytest.approx(log10(100) / 5)
    assert found["James Cameron"].known == found["James Cameron"].prior * found["James Cameron"].suits
    found = find("Who was it?", DIRECTED, ROW)
    assert (
        found["James Cameron"].known == found["James Cameron"].prior > found["Titanic"].known < found["Titanic"].prior
    )
    assert found["Titanic"].prior == pytest.approx(log10(1000) / 5) and found["Danny Nucci"].prior == 0.0


# -- the evidences -----------------------------------------------------------------------------------------------------


def test_the_best_evidence_and_how_many_hold_a_candidate(find):
    found = find(
        "Who?",
        said("Titanic, by James Cameron", "James Cameron", score=2.0),
        said("Titanic, James Cameron and Kate Winslet", "James Cameron", "Kate Winslet", score=0.5),
        said("Titanic, also with Kate Winslet", "Kate Winslet", score=4.0),
        {**PLAYED, "score": 0.0},
    )
    scores = {label: (own.score, own.first, own.support, own.sources) for label, own in found.items()}
    assert scores["James Cameron"] == (0.5, 1.0, pytest.approx(log(3)), 0.0)
    assert scores["Kate Winslet"] == (1.0, 0.5, pytest.approx(log(4)), 1.0)
    assert scores["Rose"] == (0.0, 0.25, pytest.approx(log(2)), 0.0)


def test_where_a_candidate_stands_in_its_best_evidence(find):
    given = [PLAYED, said("Rose, in a text", "Rose", "James Cameron"), said("Titanic, Jaws", "Jaws", source="infobox"),
             said("Jaws, James Cameron", "Jaws", "James Cameron", source="table"), ROW]  # fmt: skip
    found = find("Who?", *given)
    places = ("as_object", "as_subject", "as_qualifier", "in_row", "in_box", "in_text")
    stands = {label: [name for name in places if getattr(own, name)] for label, own in found.items()}
    assert stands == {
        "Titanic": ["as_subject"], "Kate Winslet": ["as_object"], "Rose": ["as_qualifier"], "James Cameron": ["in_text"],
        "Jaws": ["in_box"], "Danny Nucci": ["in_row"], "1997": ["in_row"], "Fabrizio": ["in_row"],
    }  # fmt: skip


def test_how_much_of_a_property_is_asked_for(find):
    found = find("Who directed it?", DIRECTED, PLAYED)
    assert found["James Cameron"].asked == 1.0 and found["Kate Winslet"].asked == 0.0
    assert (found["James Cameron"].inverse, found["Titanic"].asked, found["Titanic"].inverse) == (0.0, 0.0, 1.0)
    assert found["James Cameron"].rest_asked == 1.0 and found["Kate Winslet"].rest_asked == 0.0
    found = find("Who was directed by it on the stage?", DIRECTED)
    assert found["James Cameron"].rest_asked == pytest.approx(1 / 2)
    found = find("Which date?", stated("Titanic", "publication date", "1998"))
    assert found["1998"].asked == pytest.approx(1 / 2)  # a half of the property's name


def test_a_header_and_an_attribute_are_asked_for_like_a_property(find):
    found = find("Which actor and composer was it?", ROW, BOX)
    asked = {label: own.asked for label, own in found.items()}
    assert asked["Danny Nucci"] == 1.0 == asked["James Horner"] and asked["Fabrizio"] == 0.0
    assert find("Whose music was it?", BOX)["James Horner"].asked == 1.0  # what stands above it


def test_the_value_of_a_qualifier_is_asked_for_by_the_property_too(find):
    assert find("Who was the cast?", PLAYED)["Rose"].asked == pytest.approx(1 / 2)
    found = find("Which role?", PLAYED)
    assert found["Rose"].asked == 1 / 2 and found["Kate Winslet"].asked == 0.0


def test_how_many_words_of_the_question_an_evidence_has(find):
    text = said("Titanic, It was directed by James Cameron on a boat.", "Titanic", "James Cameron")
    found = find("Who directed Titanic in Mexico?", text, representation=meant(TITANIC))
    assert found["James Cameron"].covered == pytest.approx(1 / 2)  # directed; what it is about is no word of it
    assert find("Who is James, the cook?", text)["James Cameron"].covered == 0.0  # its own words do not count
    assert find("Who starred in it?", PLAYED)["Kate Winslet"].covered == 1.0  # in the other words of the property
    assert find("Was it?", text)["James Cameron"].covered == 0.0


def test_the_best_evidence_is_asked_for_covers_the_question_and_has_a_score(find):
    directed = [{**DIRECTED, "score": 0.5}, {**PLAYED, "score": 1.0}]
    found = find("Who directed it in Mexico?", *directed)
    assert found["James Cameron"].best == pytest.approx(1.0 * (1 / 2) * (0.5 / 1.0))
    assert found["Kate Winslet"].best == 0.0
    assert found["Titanic"].best == found["James Cameron"].best  # whose property it is
    day = find("Which date in Mexico?", stated("Titanic", "publication date", "1998"))["1998"]
    assert day.asked == 1 / 2 and 0.0 < day.best == day.asked * day.covered


def test_nearness_to_the_words_of_the_question(find):
    text = said(
        "Titanic, directed by James Cameron, and then there also was Kate Winslet beside Danny Nucci",
        "James Cameron",
        "Kate Winslet",
    )
    found = find("Who directed it?", text)
    assert 1.0 >= found["James Cameron"].near > found["Kate Winslet"].near > found["Danny Nucci"].near > FAR
    assert find("Who sang?", text)["James Cameron"].near == FAR


def test_what_the_question_is_about_is_in_the_evidence(find):
    text = said(
        "He is James Cameron", "James Cameron", retrieved_for_entity=TITANIC
    )  # which was retrieved for it, but does not mention it
    assert find("Who?", text, representation=meant(TITANIC))["James Cameron"].subjects == 1.0
    jaws = stated("Jaws", "director", "James Cameron", retrieved_for_entity=SEA)
    both = meant(TITANIC, context=[thing("Jaws", IDS["Jaws"])])
    found = find("Who?", DIRECTED, representation=both)
    assert found["James Cameron"].subjects == 1 / 2
    found = find("Who?", DIRECTED, PLAYED, jaws, representation=meant(TITANIC))
    assert found["Jaws"].subjects == 0.0 and found["James Cameron"].subjects == 1.0  # the most of its evidences
    # without a representation it is about what the evidences were retrieved for
    own = {"retrieved_for_entity": TITANIC}
    assert find("Who?", {**DIRECTED, **own}, jaws)["James Cameron"].subjects == 1 / 2
    assert find("Who?", {**DIRECTED, **own}, {**PLAYED, **own})["James Cameron"].subjects == 1.0


# -- what stands below the same name -----------------------------------------------------------------------------------


CAST = [stated("Titanic", "cast member", name) for name in ("Kate Winslet", "Billy Zane")]


def test_a_crowd_below_the_same_name(find):
    found = find("Who?", *CAST, DIRECTED)
    crowds = {label: own.crowd for label, own in found.items()}
    assert crowds["Kate Winslet"] == crowds["Billy Zane"] == pytest.approx(log(3))  # the film stands there, too
    assert crowds["James Cameron"] == pytest.approx(log(2)) == crowds["Titanic"]  # of the smaller one
    assert find("Who?", said("Titanic, James Cameron", "James Cameron"))["James Cameron"].crowd == 0.0


def test_the_foremost_below_a_name_has_the_most_facts(find):
    known = [mentioning(row("Titanic", "Cast", ("Actor", entity["label"])), entity) for entity in (WINSLET, ZANE)]
    cast = [*known, row("Titanic", "Cast", ("Actor", "Danny Nucci"))]
    found = find("Who?", *cast)
    assert found["Kate Winslet"].foremost == 0.0 and found["Billy Zane"].foremost == pytest.approx(log(10 / 50))
    assert found["Danny Nucci"].foremost == 0.0  # nothing is known of him
    assert find("Who?", said("Titanic, Billy Zane", "Billy Zane"))["Billy Zane"].foremost == 0.0


def mentioning(evidence, *entities):
    """An evidence that mentions items where it has their labels."""
    evidence["wikidata_entities"] = list(entities)
    places = ((evidence["evidence_text"].index(entity["label"]), entity) for entity in entities)
    evidence["mentions"] = [
        {"start": start, "end": start + len(entity["label"]), "id": entity["id"]} for start, entity in places
    ]
    return evidence


@pytest.mark.parametrize("headers", [("Actor", "Star"), ("Star", "Actor"), ("Player", "Star"), ("Star", "Player")])
def test_of_two_names_with_as_many_the_one_with_the_most_facts_counts(find, headers):  # sets have no order to go by
    first, second = (
        [mentioning(row("Titanic", "Cast", (header, label["label"])), label) for label in cast]
        for header, cast in zip(headers, [(ZANE, WINSLET), (ZANE, SEA)], strict=True)
    )
    assert find("Who?", *first, *second)["Billy Zane"].foremost == pytest.approx(log(10 / 50))


def test_the_earliest_and_the_latest_of_the_dates_below_a_name(find):
    found = find("When?", *(stated("Titanic", "publication date", day) for day in DAYS), DIRECTED)
    assert [label for label, own in found.items() if own.earliest] == ["18 November 1997"]
    assert [label for label, own in found.items() if own.latest] == ["1998"]
    alone = find("When?", stated("Titanic", "publication date", "1998"))["1998"]
    assert alone.earliest == alone.latest == 0.0  # of one there is no order


def test_years_before_christ_are_earlier(find):
    days = [("44 BC", "-0043-01-01T00:00:00Z"), ("31", "0031-01-01T00:00:00Z"), ("384 BC", "-0383-01-01T00:00:00Z")]
    facts = [fact("Titanic", "publication date", label, ids=[*IDS.items(), (label, day)]) for label, day in days]
    found = find("When?", *facts)
    assert (found["384 BC"].earliest, found["44 BC"].earliest, found["31"].latest) == (1.0, 0.0, 1.0)


# -- the question ------------------------------------------------------------------------------------------------------


def test_what_a_candidate_repeats_of_the_question(find):
    own = [DIRECTED, PLAYED]
    found = find("What did James make?", *own)
    assert (
        found["James Cameron"].echoes == 1 / 2 and found["Kate Winslet"].echoes == 0.0 == found["James Cameron"].offered
    )
    found = find("Who made it, James Cameron or Winslet?", *own)
    assert found["James Cameron"].offered == 1.0 == found["James Cameron"].echoes
    assert found["Kate Winslet"].offered == 1 / 2 and found["Titanic"].offered == 0.0


def test_the_question_in_full_is_repeated_too(find):
    more = {"representation": meant(TITANIC), "resolved_question": "What did Kate make?"}
    found = find("And what did James?", DIRECTED, PLAYED, **more)
    assert found["James Cameron"].echoes == 1 / 2 == found["Kate Winslet"].echoes


def test_a_part_of_a_name_is_not_offered(find):
    found = find("Was it James Cameron or Kate Winslet, who made it?", DIRECTED, given=read(("Cameron", 1.0, 0)))
    assert found["Cameron"].echoes == 1.0 and found["Cameron"].offered == 0.0 < found["James Cameron"].offered


def test_what_the_question_is_about(find):
    own = meant(CAMERON, candidates=[(CAMERON, "the king of the world")])
    found = find("Who?", DIRECTED, PLAYED, representation=own)
    flags = {label: (own.own, own.about, own.renamed) for label, own in found.items()}
    assert flags == {"Titanic": (0, 0, 0), "James Cameron": (0, 1, 1), "Kate Winslet": (0, 0, 0), "Rose": (0, 0, 0)}


OWN = [{**own, "retrieved_for_entity": TITANIC} for own in (DIRECTED, PLAYED)]


@pytest.mark.parametrize(
    ("question", "more", "is_candidate"),
    [
        ("Who directed it?", {}, False),  # whose property is asked for
        ("Who?", {}, False),
        ("Titanic or Avatar?", {}, True),
        ("Who?", {"given": read(("Titanic", 1.0, 0), key="ordered")}, True),
        ("Who?", {"given": read(("Titanic", 1.0, 0))}, False),
        ("Who?", {"representation": meant(TITANIC, candidates=[(TITANIC, "the ship")])}, True),
        ("Who?", {"representation": meant(TITANIC, candidates=[(TITANIC, "titanic")])}, False),
    ],
)
def test_what_evidences_were_retrieved_for_is_seldom_an_answer(find, question, more, is_candidate):
    found = find(question, *OWN, **more)
    assert ("Titanic" in found) is is_candidate and "James Cameron" in found
    assert {label: own.own for label, own in found.items() if own.own} == ({"Titanic": 1.0} if is_candidate else {})


def test_a_value_of_the_asked_property_is_an_answer_whatever_evidences_were_retrieved_for(find):
    assert "Titanic" in find("Who directed Jaws?", *OWN, stated("Jaws", "director", "Titanic"))


def test_the_words_that_ask_leave_out_names(ask):
    asked = ask("Who directed Titanic with James?", DIRECTED, representation=meant(TITANIC))
    assert asking_words(asked) == {"direct", "jame"}  # of a name only a part stands there
    asked = ask("And it?", representation=meant(CAMERON), resolved_question="Who did James Cameron marry?")
    assert asking_words(asked) == {"marri"}


# -- circumstances -----------------------------------------------------------------------------------------------------


def test_the_circumstances_of_a_question(ask):
    own = [{**DIRECTED, "score": 0.5}, {**PLAYED, "score": 0.25}]
    asked = ask("Who directed it in Mexico?", *own, representation=meant(TITANIC))
    found = candidates(asked, read(("James Cameron", 0.4, 0), surest=0.7))
    best = max(own.fit for own in found.features)
    expected = {"candidates": pytest.approx(log(5)), "score": 0.5, "read": 0.7, "fit": best, "asked": 1.0, "covered": 1 / 2,
                "subjects": 1.0, "linked": 1.0, "unknown": 1.0, "pages": 0.0}  # fmt: skip
    assert {name: getattr(found.circumstances, name) for name in expected} == expected


def test_the_circumstances_of_a_question_without_evidences(ask):
    found = candidates(ask("Who directed Titanic?"), Given()).circumstances
    told = {name: value for name, value in found._asdict().items() if value}
    assert told == {"fit": pytest.approx(log(1e-3)), "unknown": 1.0}


@pytest.mark.parametrize(("source", "pages"), [("text", 1.0), ("infobox", 1.0), ("table", 1.0), ("kb", 0.0)])
def test_whether_there_are_pages(ask, source, pages):
    own = said("Titanic, James Cameron", "James Cameron", source=source)
    assert candidates(ask("Who?", DIRECTED, own), Given()).circumstances.pages == pages


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("Who directed Titanic?", 0),
        ("Who is James Cameron's wife?", 0),
        ("Who is James Cameron’s wife?", 0),
        ("Did Brindle Oakshott know James?", 2),
        ("Mexico?", 0),  # a word at the beginning has a capital anyway
        ("So what. Mexico then?", 0),
    ],
)
def test_capitalised_words_that_no_evidence_has(ask, question, unknown):
    assert candidates(ask(question, DIRECTED), Given()).circumstances.unknown == unknown


def test_the_model_tells_what_fits_where_there_is_one(ask):
    class Likely:
        expected, fit_of_name = AnswerType("person"), 0.25

        def fit(self, entity_id):
            return 0.5

    asked = ask("Who?", DIRECTED, ROW)
    object.__setattr__(asked, "likely", Likely())
    found = by_label(candidates(asked, Given()))
    assert found["James Cameron"].fit == pytest.approx(log(0.5)) and found["Danny Nucci"].suits == 0.25


def test_one_of_a_class_is_listed(find):
    instance = {**fact("Jaws", "instance of", "Titanic", ids=[*IDS.items(), ("instance of", "P31")]), "score": 1.0}
    found = find("What is it?", instance, DIRECTED)
    assert found["Jaws"].listed == 1.0 and found["Titanic"].listed == found["James Cameron"].listed == 0.0
