"""Questions inside questions, which are found first, and second readings of questions, which are tried."""

import pytest

from convinse.dialogue.earlier_answers import doubt_earlier_answers
from convinse.dialogue.second_readings import try_second_readings
from convinse.dialogue.steps import ages_between, take_steps
from convinse.language.language import english

TITANIC, CAMERON = {"id": "Q44578", "label": "Titanic"}, {"id": "Q42574", "label": "James Cameron"}
STEP = {"text": "Titanic's director", "question": "Who is Titanic's director?"}
BIRTH = {"text": "born", "question": "When was James Cameron born?", "use": "born"}


def date(iso, label):
    return {"id": f"{iso}T00:00:00Z", "label": label}


def evidence(text):
    return {"evidence_text": text, "source": "kb", "wikidata_entities": [], "score": 1.0}


def answered(question, *pairs, **more):
    """A turn with answers: pairs of an entity or a name and its probability."""
    named = [({"id": name, "label": name} if isinstance(name, str) else name, score) for name, score in pairs]
    answers = [
        {"answer": entity, "score": score, "rank": rank, "evidences": [0], "reasons": ["reader"]}
        for rank, (entity, score) in enumerate(named, 1)
    ]
    candidates = [{"item": TITANIC, "question_word": "Titanic", "score": 1.0, "rank": 0}]
    representation = {
        "context": [],
        "entities": [TITANIC],
        "predicate": "",
        "answer_type": "",
        "candidates": candidates,
    }
    found = [evidence(f"about {question}")]
    return {
        "question": question,
        "resolved_question": question,
        "representation": representation,
        "top_evidences": found,
        "pred_answers": answers,
        **more,
    }


def taken(turn, world):
    """The turn after its steps, in a world of answers by question; questions that it does not have are abstained from."""
    questions = []

    def answer(turns):
        for inner in turns:
            questions.append(inner["question"])
            unknown = {"abstained": {"reason": "the evidences do not say"}}
            found = world.get(inner["question"])
            inner.update(answered(inner["question"], *found) if found else answered(inner["question"], **unknown))

    take_steps([turn], ["kb"], 0.2, english().steps, answer)
    return turn, questions


def test_the_answer_to_a_description_takes_its_place():
    turn = answered("where was Titanic's director born", (CAMERON, 0.75), ("Southampton", 0.1), steps=[{**STEP}])
    world = {STEP["question"]: [(CAMERON, 0.9)], "where was James Cameron born": [("Kapuskasing", 0.8)]}
    turn, questions = taken(turn, world)
    assert questions == list(world) and turn["resolved_question"] == "where was James Cameron born"
    (best,) = turn["pred_answers"]
    assert (best["answer"]["label"], best["score"]) == ("Kapuskasing", pytest.approx(0.72))
    (step,) = turn["steps"]
    assert step["answer"] == CAMERON and step["score"] == 0.9 and STEP["question"] in step["evidence"]


def test_the_answer_to_the_whole_question_stays_if_it_is_more_probable_but_never_a_bridge():
    turn = answered("where was Titanic's director born", (CAMERON, 0.7), ("Canada", 0.6), steps=[{**STEP}])
    turn, _ = taken(turn, {STEP["question"]: [(CAMERON, 0.9)], "where was James Cameron born": [("Rome", 0.5)]})
    assert [(ranked["answer"]["label"], ranked["rank"]) for ranked in turn["pred_answers"]] == [("Canada", 1)]
    assert "steps" not in turn


def test_a_settled_answer_takes_no_step():
    turn, questions = taken(answered("which award did Titanic's director win", ("Oscar", 0.95), steps=[{**STEP}]), {})
    assert questions == [] and "steps" not in turn


def test_what_is_described_settles_no_place_however_probable():
    turn = answered("where was Titanic's director born", (CAMERON, 0.95), steps=[{**STEP}])
    turn, _ = taken(turn, {STEP["question"]: [(CAMERON, 0.9)], "where was James Cameron born": [("Kapuskasing", 0.8)]})
    assert turn["pred_answers"][0]["answer"]["label"] == "Kapuskasing"


def test_an_unknown_part_is_named():
    reason = {"abstained": {"reason": "the evidences do not say"}}
    turn, _ = taken(answered("where was Titanic's director born", ("Rome", 0.1), steps=[{**STEP}], **reason), {})
    assert turn["abstained"]["reason"] == "the evidences do not say: Who is Titanic's director?"


BORN = [(date("1954-08-16", "16 August 1954"), 0.9)]
THEN = {"text": "then", "question": "When did it come out?", "use": "then"}


def test_an_age_is_computed_from_two_dates_and_shows_both():
    world = {BIRTH["question"]: BORN, THEN["question"]: [(date("1997-12-19", "19 December 1997"), 0.8)]}
    turn, _ = taken(answered("how old was he then", ("2", 0.4), steps=[{**BIRTH}, {**THEN}]), world)
    (best,) = turn["pred_answers"]
    assert best["answer"] == {"id": "43", "label": "43 years"} and best["score"] == pytest.approx(0.72)
    assert [turn["top_evidences"][place]["evidence_text"] for place in best["evidences"]] == [
        f"about {question}" for question in world
    ]


def test_an_age_without_a_birth_is_not_known_but_one_in_a_text_is():
    steps = [{**BIRTH}, {**THEN}]
    turn, _ = taken(answered("how old was he", ("2", 0.6), steps=steps), {})
    assert turn["abstained"]["reason"].endswith("When was James Cameron born?")
    stated = answered("how old was he at the age test", ("12", 0.6), steps=[{**BIRTH}, {**THEN}])
    assert "abstained" not in taken(stated, {})[0]


def test_dates_that_give_the_same_age_count_together():
    days = [("1997-12-19", "19 December 1997"), ("1998-01-07", "7 January 1998"), ("1999-01-07", "7 January 1999")]
    released = [(date(*day), 0.2) for day in days]
    world = {BIRTH["question"]: BORN, THEN["question"]: released}
    turn, _ = taken(answered("how old was he then", ("2", 0.4), steps=[{**BIRTH}, {**THEN}]), world)
    assert [(ranked["answer"]["id"], ranked["score"]) for ranked in turn["pred_answers"]] == [
        ("43", pytest.approx(0.36)),
        ("44", pytest.approx(0.18)),
    ]


AGES = [
    (("1954-08-16", "16 August 1954"), ("1997-12-19", "19 December 1997"), {43: 1}),
    (("1954-08-16", "16 August 1954"), ("1997-08-15", "15 August 1997"), {42: 1}),
    (("1954-08-16", "16 August 1954"), ("1997-08-16", "16 August 1997"), {43: 1}),
    (("1954-08-16", "16 August 1954"), ("1997-01-01", "1997"), {43: 0.375, 42: 0.625}),
    (("1954-08-16", "16 August 1954"), ("1997-07-01", "July 1997"), {42: 1}),
    (("1954-08-16", "16 August 1954"), ("1997-09-01", "September 1997"), {43: 1}),
    (("1954-08-16", "16 August 1954"), ("1997-08-01", "August 1997"), {43: 0.5, 42: 0.5}),
    (("1954-01-01", "1954"), ("1954-01-01", "1954"), {0: 1}),
    (("1954-08-16", "16 August 1954"), ("1953-01-01", "1953"), {}),
    (("0954-08-16", "16 August 954"), ("1997-01-01", "1997"), {}),
    (("-0099-07-12", "12 July 100 BC"), ("-0043-03-15", "15 March 44 BC"), {55: 1}),
    (("-0009-01-01", "10 BC"), ("0020-01-01", "20"), {29: 0.5, 28: 0.5}),
]


@pytest.mark.parametrize(("born", "then", "ages"), AGES)
def test_ages(born, then, ages):
    assert ages_between(date(*born), date(*then)) == ages


def test_what_a_description_names_is_not_the_answer():
    turn = answered("which film had Titanic's director made before", (CAMERON, 0.1), steps=[{**STEP}])
    inner = "which film had James Cameron made before"
    turn, _ = taken(turn, {STEP["question"]: [(CAMERON, 0.9)], inner: [(TITANIC, 0.9), ("Aliens", 0.06)]})
    best = turn["pred_answers"][0]
    assert (best["answer"]["label"], best["score"]) == ("Aliens", pytest.approx(0.9 * 0.6))


def test_a_probable_answer_takes_a_step_if_the_thing_inside_is_of_its_kind():
    step = {"text": "the actor who played Jack", "question": "Who played Jack?"}
    turn = answered("who recommended the actor who played Jack", ("DiCaprio", 0.95), steps=[step])
    world = {step["question"]: [("DiCaprio", 0.9)], "who recommended DiCaprio": [("Cameron", 0.7)]}
    turn, questions = taken(turn, world)
    assert questions == list(world) and turn["pred_answers"][0]["answer"]["label"] == "Cameron"


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        ([date("1997-01-01", "1997"), date("1997-12-19", "19 December 1997")], "43"),
        ([date("1997-01-01", "1997"), date("1998-12-19", "19 December 1998")], "42"),
        ([date("1997-12-19", "19 December 1997"), date("1997-02-01", "1 February 1997")], "43"),
        ([date("1997-01-01", "1997"), date("1997-02-01", "1 February 1997")], "42"),
    ],
)
def test_a_day_in_the_year_of_the_best_answer_makes_an_age_exact(dates, expected):
    then = {"text": "it came out", "question": "When did it come out?", "use": "then"}
    turn = answered("how old was James Cameron when it came out", steps=[{**BIRTH}, then])
    scores = [0.6, 0.1]
    turn, _ = taken(
        turn,
        {
            BIRTH["question"]: [(date("1954-08-16", "16 August 1954"), 0.9)],
            then["question"]: list(zip(dates, scores, strict=True)),
        },
    )
    assert turn["pred_answers"][0]["answer"]["id"] == expected


@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [(0.3, 0.5, "second"), (0.5, 0.6, "first"), (0.6, 0.9, "first"), (0.1, 0.2, "second")],
    ids=["unsure", "not much more probable", "sure", "both unsure"],
)
def test_the_reading_that_finds_the_more_probable_answer_stays(first, second, stays):
    reading = {"structured_representation": "", "resolved_question": "who directed Brazil?"}
    turn = answered("who directed it?", ("first", first), second_reading=reading)

    def answer(turns):
        for other in turns:
            assert other["question"] == "who directed it?" and "answers" not in other
            other.update({**answered("", ("second", second)), **reading})

    try_second_readings([turn], ["kb"], 0.2, answer)
    assert turn["pred_answers"][0]["answer"]["label"] == stays and "second_reading" not in turn
    assert turn["resolved_question"] == (reading["resolved_question"] if stays == "second" else "who directed it?")
    score = turn["pred_answers"][0]["score"]
    assert score == pytest.approx(second * 0.75 if stays == "second" else first)
    assert ("abstained" in turn) == (score < 0.2)


@pytest.mark.parametrize(
    ("parts", "score", "is_kept"),
    [
        ([{"turn": 0, "part": "answer", "text": "first"}], 0.45, True),
        ([{"turn": 1, "part": "answer", "text": "second"}], 0.3, False),  # behind a guess it is one, too
        ([{"turn": 1, "part": "question", "text": "Titanic"}], 0.5, True),
        ([], 0.5, True),
    ],
)
def test_an_answer_behind_a_doubtful_one_is_doubtful(parts, score, is_kept):
    history = [{**answered("a?", ("first", 0.8)), "turn": 0}, {**answered("b?", ("second", 0.2)), "turn": 1}]
    turn = answered("when was it?", ("then", 0.5), history_used=parts)
    doubt_earlier_answers([turn], [history], 0.4)
    assert turn["pred_answers"][0]["score"] == pytest.approx(score) and ("abstained" not in turn) is is_kept
