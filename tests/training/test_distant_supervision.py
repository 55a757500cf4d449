"""What leads to the gold answers: of questions and their history, over a small world."""

import copy
from pathlib import Path

import pytest

from convinse.config import parse_config
from convinse.language.language import english
from convinse.support.errors import DataError
from convinse.training.distant_supervision import Annotator, annotate
from convinse.training.silver import annotated_path, predicate_words, representation_text, silver_type
from refusals import refused
from written import read_json, write

CAMERON, NOLAN, DICAPRIO = ("Q42574", "James Cameron"), ("Q25191", "Christopher Nolan"), ("Q38111", "Leonardo DiCaprio")
BORN = ("1954-08-16T00:00:00Z", "16 August 1954")
TITANIC = ("Who directed Titanic?", CAMERON)


@pytest.fixture
def config(world_index):
    def make(**keys):
        return parse_config({"kb_path": str(world_index), "ers_wikipedia_dump": None, "ers_use_cache": False, **keys})

    return make


@pytest.fixture
def annotated(config):
    """The turns of a conversation of (question, answers as (id, label)), annotated by facts; and the counts."""

    def run(*turns):
        annotator = Annotator(config(), ["kb"])
        questions = [
            {"turn": number, "question": question, "answers": [{"id": item, "label": label} for item, label in answers]}
            for number, (question, *answers) in enumerate(turns)
        ]
        counts = annotator.annotate({"conv_id": "c", "questions": questions})
        annotator.retriever.store_cache()
        return questions, counts

    return run


# --- what leads to the answer


RELEASED = ("When was it released?", ("1997-12-19T00:00:00Z", "19 December 1997"))
WHEN_BORN = ("When was he born?", BORN)
STARRED = ("Who starred in Inception?", DICAPRIO)
INCEPTION = ("Who directed Inception?", NOLAN)
ROLE = ("Which role did Leonardo DiCaprio play in it?", ("Jack Dawson", "Jack Dawson"))
AVATAR = [[], ["Avatar"], ["directed"], "person"]
HE_BORN = [[], ["James Cameron"], ["born"], "date"]


@pytest.mark.parametrize(
    ("turns", "slots", "relevant"),
    [
        pytest.param([TITANIC], [[], ["Titanic"], ["directed"], "person"], [], id="a complete question by itself"),
        pytest.param([TITANIC, WHEN_BORN], HE_BORN, [0], id="an answer of an earlier turn"),
        pytest.param([TITANIC, RELEASED], [[], ["Titanic"], ["released"], "date"], [0], id="what was asked about before"),
        pytest.param([TITANIC, WHEN_BORN, RELEASED], [[], ["Titanic"], ["released"], "date"], [0], id="no turn between"),
        pytest.param([TITANIC, ROLE], [["Titanic"], ["Leonardo DiCaprio"], ["role play"], "role"], [0],
                     id="the history is context where it stands beside a mention of the question"),
        pytest.param([INCEPTION, ROLE], [[], ["Leonardo DiCaprio"], ["role play"], "role"], [], id="and else not"),
        pytest.param([TITANIC, INCEPTION], [[], ["Inception"], ["directed"], "person"], [], id="another topic"),
        pytest.param([TITANIC, ("Who directed Avatar?", CAMERON)], AVATAR, [], id="the question names its own film"),
        pytest.param([TITANIC, ("And Avatar?", CAMERON)], AVATAR, [], id="an ellipsis has the predicate before it"),
        pytest.param([("When was Cameron born?", BORN)], [[], ["Cameron"], ["born"], "date"], [], id="as it was spoken"),
        pytest.param([TITANIC, ("When was Cameron born?", BORN)], HE_BORN, [], id="its label once that was spoken"),
        pytest.param([STARRED, ("How tall is he?", ("1.83", "1.83"))], [[], ["Leonardo DiCaprio"], ["tall"], "number"], [0],
                     id="a common answer with a word of the question"),
        pytest.param([TITANIC, ("And his special day?", BORN, ("1954-01-01T00:00:00Z", "1954"))],
                     [[], ["James Cameron"], ["special day"], "date"], [0], id="a full date is not common, its year is"),
        pytest.param([("When was Titanic's release?", RELEASED[1])], [[], ["Titanic"], ["release"], "date"], [],
                     id="a possessive ending belongs to no name"),
    ],
)  # fmt: skip
def test_what_leads_to_the_answer(annotated, turns, slots, relevant):
    turn = annotated(*turns)[0][-1]
    (silver,) = turn["silver_SR"]
    assert [list(slot) if isinstance(slot, (list, tuple)) else slot for slot in silver] == slots
    assert turn["silver_relevant_turns"] == relevant


def test_what_leads_to_the_answer_is_named(annotated):
    first, second = annotated(TITANIC, WHEN_BORN)[0]
    # the film of that name, not the ship, has a fact with the answer
    assert first["silver_mentions"] == [{"turn": 0, "part": "question", "text": "Titanic", "evidences": 1,
                                         "item": {"id": "Q44578", "label": "Titanic"}}]  # fmt: skip
    assert [(m["turn"], m["part"], m["item"]["id"]) for m in second["silver_mentions"]] == [(0, "answer", "Q42574")]


def test_common_answers_need_a_word_of_the_question(annotated):
    turns, counts = annotated(STARRED, ("How rich is he?", ("1.83", "1.83")))
    assert turns[1]["silver_SR"] == [] and counts["no evidence"] == 1


@pytest.mark.parametrize(
    ("turn", "outcome"),
    [
        (("Is he rich?", ("Yes", "Yes")), "yes or no"),
        (("Who?",), "no gold answer"),
        (("Did James Cameron direct it?", CAMERON), "names its answer"),
        (("Who wrote it?", ("Q404404", "nobody we know")), "no evidence"),
    ],
)
def test_turns_that_teach_nothing_are_counted(annotated, turn, outcome):
    turns, counts = annotated(TITANIC, turn)
    assert counts == {"turns": 2, "annotated": 1, outcome: 1}
    silver = [turns[1][key] for key in ("silver_SR", "silver_relevant_turns", "silver_mentions")]
    assert silver == [[], None, []]


def test_turns_after_one_that_teaches_nothing_still_know_it(annotated):
    _, counts = annotated(("Who wrote Titanic?", ("Q404404", "nobody we know")), RELEASED)
    assert counts == {"turns": 2, "no evidence": 1, "annotated": 1, "lean on earlier turns": 1}


# --- the slots


def test_predicate_words_are_those_in_no_mention():
    assert predicate_words(
        "Who directed The Hobbit and The Hobbit 2, please?", english().words, ["The Hobbit", "the hobbit 2"]
    ) == ["directed"]
    assert predicate_words("And what about it?", english().words, []) == []
    assert predicate_words("Is Ann in Annie?", english().words, ["Ann"]) == ["Annie"]
    assert predicate_words("When was Aretha born in franklin?", english().words, [], ["Aretha Franklin"]) == [
        "born",
        "franklin",
    ]


@pytest.mark.parametrize(
    ("question", "answer", "types", "label"),
    [
        ("Which award was it given?", "Q1", ["literary award", "award"], "award"),
        ("Which critic hated it?", "Q1", ["human"], "person"),
        ("Where is it?", "Q1", ["city of the united states", "city"], "place"),
        ("And?", "Q1", ["film series", "series"], "series"),
        ("And?", "Q1", ["school of thought"], "school"),
        ("And?", "1952-03-11T00:00:00Z", [], "date"),
        ("Who?", "12", [], "number"),
        ("And?", "Q1", [], ""),
        ("Whose song is that?", "Q1", [], "person"),
        ("Which libertarian award was it?", "Q1", ["science fiction award"], "award"),
        ("Which role is his?", "Jack Dawson", [], "role"),
    ],
)
def test_the_type_is_what_is_asked_for_where_it_fits_else_that_of_the_answer(question, answer, types, label):
    found = silver_type(question, [{"id": answer, "label": "x"}], english().answer_types, lambda item_id: types)
    assert found.label == label


def test_a_representation_as_text():
    silver = [[["Titanic", "a  film"], ["James Cameron"], ["born", "grew up"], "place"]]
    assert representation_text(silver, " || ", "x") == "Titanic, a film || James Cameron || born grew up || place"
    assert representation_text([[[], ["b"], [], None]], " ## ", "x") == "## b ##  ##"
    assert representation_text([], " || ", "x") is None and representation_text(None, " || ", "x") is None


@pytest.mark.parametrize(
    "broken", ["a || b || c || d", ["a"], [["a", "b", "c", "d"]], [[[], [], []]], [[[1], [], [], ""]]]
)
def test_a_broken_representation_is_named(broken):
    with pytest.raises(DataError, match="^here: silver_SR is no list of"):
        representation_text(broken, " || ", "here")


# --- files


CONVERSATIONS = [
    {
        "conv_id": "a",
        "mine": 1,
        "questions": [
            {"turn": 0, "question": TITANIC[0], "answers": [{"id": CAMERON[0], "label": CAMERON[1]}], "note": "kept"},
            {"turn": 1, "question": "When was he born?", "answers": [{"id": BORN[0], "label": BORN[1]}]},
        ],
    }
]


@pytest.fixture
def benchmark(config, workdir):
    for part in ("train", "dev", "test"):
        write(f"{part}.json", CONVERSATIONS)
    return config(name="mine", benchmark_path=str(workdir))


def test_each_part_is_written_with_all_that_it_had(benchmark):
    done = annotate(benchmark, ["kb"], quiet=True)
    paths = [Path(f"results/mine/annotated_{part}.json") for part in ("train", "dev", "test")]
    assert list(done) == paths
    assert done[paths[0]] == {"turns": 2, "annotated": 2, "lean on earlier turns": 1}
    assert sorted(Path("results/mine").iterdir()) == sorted(done)
    (conversation,) = read_json(paths[1])
    assert conversation["questions"][1]["silver_SR"] == [[[], ["James Cameron"], ["born"], "date"]]
    stripped = copy.deepcopy(conversation)
    for turn in stripped["questions"]:
        for key in ("silver_SR", "silver_relevant_turns", "silver_mentions"):
            turn.pop(key)
    assert [stripped] == CONVERSATIONS


def test_nothing_is_written_where_a_part_is_missing(benchmark):
    Path("test.json").unlink()
    message = "test.json: no such file; check test_input_path and benchmark_path, or annotate another"
    refused(DataError, lambda: annotate(benchmark, ["kb"], quiet=True), message)
    assert not Path("results").exists()
    assert list(annotate(benchmark, ["kb"], ["dev"], quiet=True)) == [annotated_path(benchmark, "dev")]
