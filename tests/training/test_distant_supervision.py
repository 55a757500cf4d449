"""What leads to the gold answers: of questions and their history, over a small world."""

import copy
import json
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.config import parse_config
from convinse.language.answer_types import AnswerType
from convinse.language.language import english
from convinse.support.errors import DataError
from convinse.training.distant_supervision import Annotator, annotate
from convinse.training.silver import annotated_path, predicate_words, representation_text, silver_type

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


def last(annotated, *turns):
    """The slots and the relevant turns of the last of some turns."""
    turn = annotated(*turns)[0][-1]
    (silver,) = turn["silver_SR"]
    return [list(slot) if isinstance(slot, (list, tuple)) else slot for slot in silver], turn["silver_relevant_turns"]


# --- what leads to the answer


def test_a_complete_question_leads_to_its_answer_by_itself(annotated):
    assert last(annotated, TITANIC) == ([[], ["Titanic"], ["directed"], "person"], [])
    (turn,), _ = annotated(TITANIC)
    (mention,) = turn["silver_mentions"]
    # the film of that name, not the ship, has a fact with the answer
    assert mention == {"turn": 0, "part": "question", "text": "Titanic", "evidences": 1,
                       "item": {"id": "Q44578", "label": "Titanic"}}  # fmt: skip


def test_an_answer_of_an_earlier_turn_leads_to_the_answer(annotated):
    assert last(annotated, TITANIC, ("When was he born?", BORN)) == ([[], ["James Cameron"], ["born"], "date"], [0])
    turns, _ = annotated(TITANIC, ("When was he born?", BORN))
    assert [(m["turn"], m["part"], m["item"]["id"]) for m in turns[1]["silver_mentions"]] == [(0, "answer", "Q42574")]


def test_what_an_earlier_turn_asked_about_leads_to_the_answer(annotated):
    released = ("When was it released?", ("1997-12-19T00:00:00Z", "19 December 1997"))
    assert last(annotated, TITANIC, released) == ([[], ["Titanic"], ["released"], "date"], [0])
    # the turn between is not needed
    assert last(annotated, TITANIC, ("When was he born?", BORN), released)[1] == [0]


def test_the_history_is_context_where_it_stands_beside_a_mention_of_the_question(annotated):
    role = ("Which role did Leonardo DiCaprio play in it?", ("Jack Dawson", "Jack Dawson"))
    found = [["Titanic"], ["Leonardo DiCaprio"], ["role play"], "role"]
    assert last(annotated, TITANIC, role) == (found, [0])
    assert last(annotated, ("Who directed Inception?", NOLAN), role) == ([[], *found[1:]], [])


def test_a_question_of_another_topic_needs_no_history(annotated):
    assert last(annotated, TITANIC, ("Who directed Inception?", NOLAN)) == (
        [[], ["Inception"], ["directed"], "person"],
        [],
    )
    # both films lead to the director, but the question names its own
    assert last(annotated, TITANIC, ("Who directed Avatar?", CAMERON)) == ([[], ["Avatar"], ["directed"], "person"], [])


def test_an_ellipsis_takes_the_predicate_of_the_turn_before(annotated):
    assert last(annotated, TITANIC, ("And Avatar?", CAMERON))[0] == [[], ["Avatar"], ["directed"], "person"]


def test_a_mention_stands_under_its_label_once_that_was_spoken(annotated):
    asked = ("When was Cameron born?", BORN)
    assert last(annotated, asked)[0][1] == ["Cameron"]
    assert last(annotated, TITANIC, asked)[0] == [[], ["James Cameron"], ["born"], "date"]


def test_common_answers_need_a_word_of_the_question(annotated):
    starred = ("Who starred in Inception?", DICAPRIO)
    assert last(annotated, starred, ("How tall is he?", ("1.83", "1.83")))[0][1] == ["Leonardo DiCaprio"]
    turns, counts = annotated(starred, ("How rich is he?", ("1.83", "1.83")))
    assert turns[1]["silver_SR"] == [] and counts["no evidence"] == 1


def test_a_full_date_is_not_common_though_its_year_is_an_answer_too(annotated):
    born = ("And his special day?", BORN, ("1954-01-01T00:00:00Z", "1954"))
    assert last(annotated, TITANIC, born)[0][1] == ["James Cameron"]


def test_a_possessive_ending_belongs_to_no_name(annotated):
    released = ("When was Titanic's release?", ("1997-12-19T00:00:00Z", "19 December 1997"))
    assert last(annotated, released) == ([[], ["Titanic"], ["release"], "date"], [])


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
    assert (
        turns[1]["silver_SR"] == [] and turns[1]["silver_relevant_turns"] is None and turns[1]["silver_mentions"] == []
    )


def test_turns_after_one_that_teaches_nothing_still_know_it(annotated):
    unknown = ("Who wrote Titanic?", ("Q404404", "nobody we know"))
    released = ("When was it released?", ("1997-12-19T00:00:00Z", "19 December 1997"))
    _, counts = annotated(unknown, released)
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
    assert (
        silver_type(question, [{"id": answer, "label": "x"}], english().answer_types, lambda item_id: types).label
        == label
    )


def test_the_type_can_be_read_back():
    found = silver_type("And?", [{"id": "Q1", "label": "x"}], english().answer_types, lambda item_id: ["film series"])
    assert english().answer_types.parse_label(found.label) == found == AnswerType("item", ("series",))


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
        Path(f"{part}.json").write_text(json.dumps(CONVERSATIONS))
    return config(name="mine", benchmark_path=str(workdir))


def test_each_part_is_written_with_all_that_it_had(benchmark):
    done = annotate(benchmark, ["kb"], quiet=True)
    assert [part.path for part in done] == [
        Path(f"results/mine/annotated_{part}.json") for part in ("train", "dev", "test")
    ]
    assert done[0].counts == {"turns": 2, "annotated": 2, "lean on earlier turns": 1}
    assert sorted(path.name for path in Path("results/mine").iterdir()) == sorted(part.path.name for part in done)
    (conversation,) = json.loads(done[1].path.read_text())
    assert conversation["questions"][1]["silver_SR"] == [[[], ["James Cameron"], ["born"], "date"]]
    stripped = copy.deepcopy(conversation)
    for turn in stripped["questions"]:
        for key in ("silver_SR", "silver_relevant_turns", "silver_mentions"):
            turn.pop(key)
    assert [stripped] == CONVERSATIONS


def test_nothing_is_written_where_a_part_is_missing(benchmark):
    Path("test.json").unlink()
    with pytest.raises(
        DataError, match="test.json: no such file; check test_input_path and benchmark_path, or annotate another"
    ):
        annotate(benchmark, ["kb"], quiet=True)
    assert not Path("results").exists()
    assert [part.path for part in annotate(benchmark, ["kb"], ["dev"], quiet=True)] == [
        annotated_path(benchmark, "dev")
    ]


def test_an_older_file_stays_where_annotation_fails(benchmark):
    (old,) = annotate(benchmark, ["kb"], ["dev"], quiet=True)
    before = old.path.read_bytes()
    Path("dev.json").write_text("[{")
    with pytest.raises(DataError, match="dev.json"):
        annotate(benchmark, ["kb"], ["dev"], quiet=True)
    assert old.path.read_bytes() == before


def test_the_command(benchmark, world_index, capsys):
    Path("my.yml").write_text(f"name: mine\nkb_path: {world_index}\nbenchmark_path: .\ners_wikipedia_dump: null\n")
    assert main(["annotate", "kb", "my.yml", "--part", "dev", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "turns, by evidences of kb" in out and "results/mine/annotated_dev.json" in out
    row = next(line for line in out.splitlines() if "dev" in line and "│" in line)
    assert [cell.strip() for cell in row.strip("│ ").split("│")][:4] == ["dev", "2", "2", "1"]
    assert main(["annotate", "kb", "my.yml", "--part", "train"]) == 0
    Path("train.json").unlink()
    assert main(["annotate", "kb", "my.yml", "--part", "train"]) == 1
    assert "--part" in capsys.readouterr().err
