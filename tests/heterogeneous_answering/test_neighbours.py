"""What is directly before or after a name in the order of a table."""

import pytest
from asked_turns import asked_of, thing
from literal_evidence import Known, row

from convinse.config import parse_config
from convinse.heterogeneous_answering.neighbours import next_to
from convinse.heterogeneous_answering.operations import operated
from convinse.heterogeneous_answering.question import AskedQuestion
from convinse.resources import Resources

PAGE = "Q1"
BAND = "The Foxes"
ALBUMS = [
    ("Red Barn", "1963", "Ann Lee", "3 May 1963"),
    ("Old Mill", "1963", "Bo Carr", "9 June 1963"),
    ("Green Door", "1965", "Cy Dunn", "1 March 1965"),
    ("After Noon", "1970", "Di Eames", "2 April 1970"),
]
COACHES = [
    ("Pep Alvarez", "1980", "1984"),
    ("Jo Moreno", "1984", "1986"),
    ("Ed Fuchs", "1987", "1990"),
    ("Al Gross", "1995", "1999"),
]


class Page(Known):
    """A knowledge base that knows one page."""

    def label(self, name):
        return BAND if name == PAGE else name


class OneTable(Resources):
    """Those whose dump has the tables of one page."""

    def __init__(self, *tables):
        super().__init__(parse_config({}), kb=Page({}, []))
        self.tables = tables

    @property
    def wikipedia(self):
        return self

    def table(self, page, number):
        return self.tables[number]


def table_of(caption, headers, cells, number=0):
    return [
        row(BAND, caption, *zip(headers, own, strict=True), page=PAGE, table=number, number=place)
        for place, own in enumerate(cells)
    ]


def albums(rows=ALBUMS, caption="Albums", number=0):
    return table_of(caption, ("Album", "Year", "Producer", "Released"), rows, number)


def coaches(rows=COACHES, caption="Selected coaches"):
    return table_of(caption, ("Name", "From", "To"), rows)


def asked(question, *tables, **more):
    resources = OneTable(*([evidence["row"] for evidence in table] for table in tables))
    return asked_of(question, *(evidence for table in tables for evidence in table), resources=resources, **more)


def given(question, *tables, **more):
    return [answer.entity["label"] for answer in next_to(asked(question, *tables, **more))]


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("Which album came after Old Mill?", "Green Door"),
        ("Which album did the Foxes make right after Old Mill?", "Green Door"),
        ("Which album came directly before Old Mill?", "Red Barn"),  # of one year, by its day
        ("Which album followed Old Mill?", "Green Door"),
        ("Which album did Old Mill follow?", "Red Barn"),
        ("Which album preceded Old Mill?", "Red Barn"),
        ("Which album did Old Mill precede?", "Green Door"),
        ("Which album was Old Mill followed by?", "Green Door"),
        ("Which album was followed by Old Mill?", "Red Barn"),
        ("Which album was Old Mill preceded by?", "Red Barn"),
        ("What was their next album after Old Mill?", "Green Door"),
        ("Which album came before After Noon?", "Green Door"),
        ("Who was the producer of the album after Red Barn?", "Bo Carr"),
        ("When was the album after Old Mill released?", "1 March 1965"),
    ],
)
def test_the_row_next_to_that_of_the_name_answers(question, label):
    assert given(question, albums()) == [label]


def test_rows_need_not_stand_in_their_order():
    assert given("Which album came after Old Mill?", albums(ALBUMS[::-1])) == ["Green Door"]


def test_both_rows_are_shown_and_the_reason_is_told():
    turn = asked("Which album came after Old Mill?", albums())
    (answer,) = next_to(turn)
    assert (answer.score, answer.places, answer.reasons) == (1.0, (1, 2), ("beside",))
    trust, (again,) = operated(turn)
    assert 0.5 < trust < 1 and again == answer


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("Who replaced Alvarez?", "Jo Moreno"),
        ("Who did Moreno replace?", "Pep Alvarez"),
        ("Who was Moreno replaced by?", "Ed Fuchs"),  # the year after
        ("Who was the coach of the Foxes before Moreno?", "Pep Alvarez"),
        ("Who was the successor of Pep Alvarez?", "Jo Moreno"),
        ("Who was Moreno's predecessor?", "Pep Alvarez"),
    ],
)
def test_one_coach_comes_when_the_other_goes(question, label):
    assert given(question, coaches()) == [label]


@pytest.mark.parametrize("question", ["Who replaced Ed Fuchs?", "Who was the coach before Al Gross?"])
def test_between_spans_with_a_gap_someone_may_be_missing(question):
    assert given(question, coaches()) == []


def test_a_selection_does_not_tell_what_is_next():
    assert given("Which album came after Old Mill?", albums(caption="Selected albums")) == []


@pytest.mark.parametrize(
    "question",
    [
        "Which album came after After Noon?",  # the last
        "Which album came before Red Barn?",
        "Which album came before 1965?",  # a year
        "Which album came after Blue Sky?",
        "Which album came out the year after?",
        "Who died after Old Mill?",  # of which the table says nothing
        "Who was Old Mill named after?",
        "Which album did Ann Lee's band the Wolves make after Old Mill?",
        "Who was the producer of After Noon?",  # a title
        "Who stands next to Old Mill?",
        "Which album has Old Mill?",
        "How many albums came before Green Door?",  # all of them, not the one
        "Did Old Mill come after Red Barn?",
    ],
)
def test_other_questions_get_nothing(question):
    assert given(question, albums()) == []


def test_a_title_of_an_item_is_no_question_for_what_is_after_it():
    day = thing("The Day After Old Mill")
    turn = albums()
    turn[0]["wikidata_entities"].append(day)
    assert given("Who was the producer of The Day After Old Mill?", turn) == []
    assert given("Which album came after Old Mill?", turn) == ["Green Door"]


def test_the_order_must_be_told():
    twice = [*ALBUMS, ("Old Mill", "1968", "Bo Carr", "1 May 1968")]
    assert given("Which album came after Old Mill?", albums(twice)) == []  # in two rows
    shared = [*ALBUMS, ("Mud", "1965", "Bo Carr", "1 March 1965")]
    assert given("Which album came after Old Mill?", albums(shared)) == []  # two on that day
    assert given("Which album came before Mud?", albums(shared)) == []  # itself shares its day
    headers = ("Album", "Producer")
    undated = table_of("Albums", headers, [(name, producer) for name, _, producer, _ in ALBUMS])
    assert given("Which album came after Old Mill?", undated) == []
    counted = [(str(place), name) for place, (name, *_) in enumerate(ALBUMS, 1)]
    assert given("Which album came after Old Mill?", table_of("Albums", ("No.", "Album"), counted)) == ["Green Door"]


def test_tables_that_differ_give_nothing():
    live = [("Old Mill", "1963", "Bo Carr", "9 June 1963"), ("Mud", "1964", "Bo Carr", "2 May 1964")]
    assert given("Which album came after Old Mill?", albums(), albums(live, number=1)) == []
    assert given("Which album came after Old Mill?", albums(), albums(number=1)) == ["Green Door"]


def test_the_beginning_of_a_name_is_no_name():
    assert given("Which album came after Old?", albums()) == []
    assert given("Who replaced Pep?", coaches()) == []


def test_a_follow_up_is_read_in_full():
    in_full = "Which album came after Old Mill?"
    assert given("Which one came after it?", albums(), resolved_question=in_full) == ["Green Door"]


def test_a_name_without_an_item_is_of_the_kind_of_its_column(monkeypatch):
    table = coaches()
    table[0]["row"]["cells"][0]["entities"].append(thing("Pep Alvarez"))
    fits = {"Q Pep Alvarez": 0.9}
    monkeypatch.setattr(AskedQuestion, "fit", lambda self, entity: fits.get(entity["id"], 0.0))
    assert given("Who replaced Jo Moreno?", table) == ["Ed Fuchs"]
    fits.clear()
    assert given("Who replaced Jo Moreno?", table) == []
