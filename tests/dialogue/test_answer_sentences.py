"""Answers as sentences."""

from case_tables import each_case
from convinse.dialogue.sentences import sentence_of
from convinse.language.language import english
from convinse.language.property_names import PropertyNames
from evidences import evidence

SAID = "directed, founded, written, tall {} long, born, released, capital"
PROPERTIES = PropertyNames(
    [("P50", "author", ["written by"]), ("P57", "director", ["directed by"])], english().properties
)


def turn_of(question, answers, names=("Titanic",), answer_id=None, mentioned=None, text=SAID, **more):
    ranked = [
        {"answer": {"id": answer_id or label, "label": label}, "score": 0.9, "rank": rank, "evidences": [0]}
        for rank, label in enumerate(answers, 1)
    ]
    for answer in ranked:
        answer |= {"list": True} if len(ranked) > 1 else {}
    entities = [{"id": f"Q {name}", "label": name} for name in names]
    named = [(name, f"Q {name}") for name in (names if mentioned is None else mentioned)]
    fields = {"context": [], "entities": entities, "predicate": "", "answer_type": ""}
    turn = {"question": question, "resolved_question": question, "representation": fields, "pred_answers": ranked}
    return turn | {"top_evidences": [evidence(text.format(answers[0] if answers else ""), "text", *named)]} | more


@each_case("sentences")
def test_the_sentence_of_an_answer(case):
    names = case.get("names", ["Titanic"])
    turn = turn_of(
        case["question"], case["answers"], names, case.get("id"), case.get("evidence"), case.get("text", SAID)
    )
    if "property" in case:
        (item,) = [{"id": f"Q {name}", "label": name} for name in names]
        turn["top_evidences"][0]["fact"] = [
            {"id": "", "label": case["subject"]} if "subject" in case else item,
            {"id": "", "label": case["property"]},
            turn["pred_answers"][0]["answer"],
        ]
    assert sentence_of(turn, english(), PROPERTIES) == case["sentence"]


def test_a_sentence_of_a_page_names_its_thing_itself():
    for text, sentence in (
        ("A first pilot, directed by {}", None),
        ("Titanic was directed by {}", "Ida directed Titanic [1]."),
    ):
        turn = turn_of("Who directed Titanic?", ["Ida"], text=f"Titanic, {text}")
        turn["top_evidences"][0]["retrieved_for_entity"] = {"id": "Q Titanic", "label": "Titanic"}
        assert sentence_of(turn, english(), PROPERTIES) == sentence


def test_sentences_without_an_answer():
    turn = turn_of("who?", ["Kate"], abstained={"reason": "the evidences do not say"})
    assert sentence_of(turn, english(), PROPERTIES) == "I do not know: the evidences do not say."
    assert sentence_of(turn_of("who?", []), english(), PROPERTIES) == "I do not know: nothing was found."


def test_the_evidences_that_the_answer_rests_on_are_cited():
    turn = turn_of("who directed Titanic?", ["James Cameron"])
    turn["top_evidences"] *= 8
    turn["pred_answers"][0]["evidences"] = [7, 2, 5]
    turn["attribution"] = [{"evidence": place, "without": "", "probability": 0.0} for place in (5, 7, 9)]
    assert sentence_of(turn, english(), PROPERTIES) == "James Cameron directed Titanic [1] [3]."
    turn["pred_answers"][0]["evidences"] = []
    assert sentence_of(turn, english(), PROPERTIES) is None
