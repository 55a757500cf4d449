"""The questions of FAITH's data sets, and answers as data sets write them."""

from recipes import temporal
from written import write


def test_questions_have_their_signals_and_the_answers_that_are_written(workdir):
    entries = [
        {
            "Question": " who  ruled before elizabeth ii", "Temporal signal": ["BEFORE"],
            "Answer": [{"AnswerType": "Entity", "WikidataQid": "Q280856"}, {"AnswerType": "Value", "AnswerArgument": ""}],
        },
        {
            "Question": "When?", "Temporal signal": ["No signal"],
            "Answer": [{"AnswerType": "Value", "AnswerArgument": "1939-01-01T00:00:00Z"}],
        },
    ]  # fmt: skip
    assert list(temporal.faith_questions(write("dev.json.gz", entries))) == [
        ("who ruled before elizabeth ii", ["Q280856"], ("BEFORE",)),
        ("When?", ["1939-01-01T00:00:00Z"], ()),
    ]


def test_answers_as_the_data_sets_write_them():
    entity = temporal.answer_entity
    labels = {"Q1": "Alien"}.get
    assert entity("Q1", labels) == {"id": "Q1", "label": "Alien"}
    assert entity("1939-01-01T00:00:00Z", labels)["label"] == "1939"
    assert entity("22 June 2001", labels)["id"] == entity("2001-06-22T00:00:00Z", labels)["id"]
    assert entity("1050", labels) == {"id": "1050-01-01T00:00:00Z", "label": "1050"}
    assert entity("14", labels) is None and entity("plutonium", labels) is None
