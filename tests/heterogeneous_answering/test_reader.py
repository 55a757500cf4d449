import pytest

from case_tables import each_case
from convinse.encoder.extractive_reader import AnswerSpan
from convinse.heterogeneous_answering.reader import as_words, meaning, read_answers
from convinse.language.language import english
from convinse.language.read_evidence import ReadEvidence
from convinse.records.evidence_structure import structured
from evidences import evidence

DINKLAGE = {"id": "Q310937", "label": "Peter Dinklage"}
HOBBIT = {"id": "Q74287", "label": "The Hobbit"}
TOLKIEN = {"id": "Q892", "label": "J. R. R. Tolkien"}


def holding(*entities, surfaces=(), page=None):
    found = {"wikidata_entities": list(entities), "disambiguations": [list(pair) for pair in surfaces]}
    return evidence("not looked at", **found, **({"retrieved_for_entity": page} if page else {}))


def span(text, context=0, probability=0.5, start=0):
    return AnswerSpan(text, context, start, start + len(text), 1.0, probability, 0.1)


def as_asked(evidence_):
    """An evidence as a `Question` has it."""
    return ReadEvidence(structured(evidence_), english())


def read(spans, evidences, weights=None, fit=lambda _: 1.0, **more):
    evidences = [as_asked(evidence_) for evidence_ in evidences]
    return read_answers(spans, evidences, weights or [1.0] * len(evidences), fit, **more)


def labels(candidates):
    return [candidate.entity["label"] for candidate in candidates]


def find_entity(text, evidence_):
    return meaning(text, as_asked(evidence_), None) or as_words(text)


NAMED = holding(TOLKIEN, HOBBIT, DINKLAGE, surfaces=[("the Professor", "Q892"), ("Professor", "Q892")])


@each_case("spans", "span")
def test_the_entity_of_a_span(case):
    if "entities" not in case:
        assert find_entity(case["span"], NAMED) == {"id": case["id"], "label": case.get("label", case["id"])}
        return
    entities = [{"id": item, "label": label} for label, item in case["entities"].items()]
    evidence_ = holding(*entities, surfaces=case.get("surfaces", {}).items())
    entity = find_entity(case["span"], evidence_)
    assert entity["id"] == case["id"] and (entity in entities or entity["label"] == case["span"])


def test_a_part_of_a_date_is_the_date_of_its_place():
    evidence_ = holding() | {"evidence_text": "born on 11 June 1969 and married in June 1970"}
    spans = [span("June 1969", start=11), span("11 June", start=8), span("June 1970", start=36)]
    assert labels(read(spans, [evidence_])) == ["11 June 1969", "11 June 1969", "June 1970"]
    assert find_entity("June 1969", evidence_)["label"] == "June 1969"  # where its place is not known


def test_a_reason_is_all_that_a_span_says():
    google = {"id": "Q95", "label": "Google"}
    evidence_ = holding(google, surfaces=[("Google", "Q95")]) | {
        "evidence_text": "left as it had come to terms with Google"
    }
    spans = [
        span("it had come to terms with Google", start=8, probability=0.6),
        span("terms with Google", start=23, probability=0.3),
    ]
    assert labels(read(spans, [evidence_])) == ["Google", "Google"]
    (reason,) = read(spans, [evidence_], is_for_reason=True)
    assert reason.entity["label"] == "it had come to terms with Google" and reason.score == pytest.approx(1.0)
    assert labels(read([span("Google", start=34)], [evidence_], is_for_reason=True)) == ["Google"]


def test_each_span_has_its_share():
    evidences = [holding(TOLKIEN), holding(DINKLAGE)]
    spans = [span("Tolkien, J. R. R.", 0, 0.4), span("Peter Dinklage", 1, 0.6), span("the", 1, 1e-4)]
    assert [marked[:4] for marked in read(spans, evidences)] == [
        (DINKLAGE, pytest.approx(0.6, abs=1e-3), (1,), ("reader",)),
        (TOLKIEN, pytest.approx(0.4, abs=1e-3), (0,), ("reader",)),
    ]


def test_weights_of_evidences_and_the_fit_of_answers():
    evidences = [holding(TOLKIEN), holding(DINKLAGE)]
    spans = [span("J. R. R. Tolkien", 0, 0.5), span("Peter Dinklage", 1, 0.5)]
    assert labels(read(spans, evidences, [0.2, 1.0])) == ["Peter Dinklage", "J. R. R. Tolkien"]
    assert labels(read(spans, evidences, [1.0, 0.2])) == ["J. R. R. Tolkien", "Peter Dinklage"]
    assert labels(read(spans, evidences, [1.0, 0.2], lambda entity: float(entity == DINKLAGE))) == ["Peter Dinklage"]
    assert read(spans, evidences, fit=lambda _: 0.0) == []
    assert read(spans, evidences, [0.0, 0.0]) == [] == read([], [])
    scores = [answer.score for answer in read(spans, evidences, [1.0, 0.6], lambda e: 0.5 if e == DINKLAGE else 1)]
    assert scores == [pytest.approx(1 / 1.3, abs=1e-6), pytest.approx(0.3 / 1.3, abs=1e-6)]


BUTLER, TROUBLE = {"id": "Q219368", "label": "Judith Butler"}, {"id": "Q1", "label": "Gender Trouble"}


@each_case("spans", "part")
def test_a_part_of_a_mention_stands_for_its_item(case):
    text = "Tina Turner read Gender Trouble, Judith Butler wrote it in Berkeley Hall with Dinklage the poet by Judith"
    turner = {"id": "Q131814", "label": "Tina Turner"}
    mentions = [
        {"start": text.index(name), "end": text.index(name) + len(name), "id": item}
        for name, item in (
            ("Tina Turner", turner["id"]), ("Gender Trouble", "Q1"), ("Judith Butler", "Q219368"), ("Berkeley Hall", "Q7"),
            ("Dinklage the poet", DINKLAGE["id"]),
        )
    ]  # fmt: skip
    evidence_ = {**holding(BUTLER, TROUBLE, DINKLAGE, turner, page=turner), "evidence_text": text, "mentions": mentions}
    spans = [span(case["part"], start=text.index(case["part"]))]
    (answer,) = read(spans, [evidence_], fit=lambda entity: 0.4 if entity == turner else 1.0)
    labels_of = {entity["id"]: entity["label"] for entity in evidence_["wikidata_entities"]}
    assert answer.entity == {"id": case["id"], "label": labels_of.get(case["id"], case["id"])}


@each_case("spans", "marked")
def test_a_span_is_of_whole_words_and_has_the_article_of_a_name(case):
    assert labels(read([span(case["marked"], start=case["start"])], [evidence(case["text"])])) == [case["whole"]]


@pytest.mark.parametrize(
    ("value", "marked"), [("555 0142", "0142"), ("MX-40", "40"), ("4QP", "4"), ("47 22 33 44 55", "22 33")]
)
def test_a_part_of_a_code_is_the_code(value, marked):
    text = f"Hall, Phone, {value}"
    part = {"text": value, "entities": [], "start": text.index(value)}
    evidence_ = {**evidence(text), "source": "info", "attribute": {"path": ["Phone"], "values": [part]}}
    assert labels(read([span(marked, start=text.index(marked))], [evidence_])) == [value]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [("s), The Gunners", ["The Gunners"]), ("s", []), ("Nickname(s)", ["Nickname(s)"]), ("Gunners", ["The Gunners"]), ("Arsenal", ["Arsenal"])],
)  # fmt: skip
def test_an_answer_of_an_infobox_does_not_begin_inside_a_label(marked, expected):
    text = "Arsenal F.C., Nickname(s), The Gunners"
    value = {"header": "", "text": "The Gunners", "entities": [], "start": text.index("The"), "column": 0}
    row = holding() | {
        "evidence_text": text,
        "source": "info",
        "attribute": {"path": ["Nickname(s)"], "values": [value]},
    }
    start = text.index(marked) if marked != "s" else text.index("(s)") + 1
    assert labels(read([span(marked, start=start)], [row])) == expected


@pytest.mark.parametrize(("text", "expected"), [("A Star Is Born, 2018", []), ("A, B", ["A"])])
def test_an_article_without_its_noun_is_no_answer(text, expected):
    assert labels(read([span("A")], [holding() | {"evidence_text": text}])) == expected


def test_a_part_of_a_written_day_is_the_day():
    text = "upgrade, start, 2026-04-14 09:00"
    marked = [span("14 09:00", start=text.index("14")), span("09:00", start=text.index("09:00"))]
    assert labels(read(marked, [holding() | {"evidence_text": text}])) == ["14 April 2026", "09:00"]
