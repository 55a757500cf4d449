"""Questions with the classes of their answers."""

import gzip
from contextlib import closing

import pytest

from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase
from handmade import claim, document, dump_bytes, q
from recipes.embedded import answer_classes
from recipes.embedded.answer_classes import DATE, NUMBER, OTHER, TEXT, YES_NO
from written import write, write_lines

HUMAN, FILM, SHORT, CITY, TOWN, PLACE = "Q5", "Q11424", "Q24862", "Q515", "Q3957", "Q100"
BIRD, WADER, STUDENT_FILM, ODD = "Q200", "Q201", "Q202", "Q203"
UNKNOWN = "Q999999999999"  # to all knowledge bases


def world():
    for prop, label in {"P31": "instance of", "P279": "subclass of", "P57": "director"}.items():
        yield document(prop, label)
    yield document(HUMAN, "human")
    yield document(FILM, "film")
    yield document(SHORT, "short film", claim("P279", q(FILM)))
    yield document(PLACE, "place")
    yield document(CITY, "city", claim("P279", q(PLACE)))
    yield document(TOWN, "town", claim("P279", q(CITY)))
    for number in range(1000, 1040):
        yield document(f"Q{number}", f"Person {number}", claim("P31", q(HUMAN)))
        yield document(f"Q{number + 1000}", f"Film {number}", claim("P31", q(SHORT if number % 4 else FILM)), claim("P57", q(f"Q{number}")))  # fmt: skip
    yield document("Q3000", "Both", claim("P31", q(HUMAN)), claim("P31", q(TOWN)))
    yield document("Q3001", "Unclassed")
    for number, label in (
        (BIRD, "bird"),
        (WADER, "long-legged being"),
        (STUDENT_FILM, "student film of note"),
        (ODD, "odd thing"),
    ):
        yield document(number, label)
    yield document("Q3002", "Heron", claim("P31", q(WADER)), claim("P31", q(BIRD)))
    yield document("Q3003", "Duck", claim("P31", q(BIRD)))
    yield document("Q3004", "Diploma", claim("P31", q(STUDENT_FILM)), claim("P31", q(ODD)))


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    return write(tmp_path_factory.mktemp("dump") / "dump.json.gz", gzip.compress(dump_bytes(list(world()))))


@pytest.fixture(scope="module")
def classes(dump, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kb") / "kb"
    build(dump, folder)
    with closing(KnowledgeBase(folder)) as kb:
        yield answer_classes.ItemClasses([kb])


def test_what_answers_are(classes):
    assert classes.of("Q1000") == [HUMAN] and set(classes.of("Q3000")) == {HUMAN, TOWN}
    assert classes.of("1952-03-11T00:00:00Z") == [DATE] and classes.of("12.5") == [NUMBER]
    assert classes.of("Yes") == classes.of("No") == [YES_NO] and classes.of("plutonium") == [TEXT]
    assert classes.of("Q3001") == classes.of("Q9") == []
    assert classes.shares(["Q1000", "Q3000", "Q9"]) == {HUMAN: 0.75, TOWN: 0.25}
    assert classes.shares(["Q9"]) == {} and classes.label(SHORT) == "short film" and classes.label(DATE) == DATE


def test_classes_join_by_their_items_and_by_their_names(classes):
    items = [f"Q{number}" for number in (*range(1000, 1040), *range(2000, 2040), *range(3000, 3005))]
    shares = [{HUMAN: 1.0}] * 5 + [{BIRD: 1.0}] * 3 + [{WADER: 1.0}, {DATE: 1.0}]
    joined = classes.joined(items, shares, 3)
    assert (
        joined[HUMAN] == HUMAN and joined[TOWN] == joined[CITY] == "Q486972" and joined["Q3624078"] == "Q6256"
    )  # as listed
    assert joined[SHORT] == FILM  # listed, too
    assert joined[BIRD] == BIRD  # frequent
    assert joined[WADER] == BIRD  # rare; its items are also birds
    assert joined[STUDENT_FILM] == FILM  # by its name
    assert "Q9" not in joined and ODD not in joined and DATE not in joined
    assert BIRD not in classes.joined(items, shares, 4) and classes.joined(items, shares, 1)[WADER] == BIRD
    assert classes.name("Q486972") == "city" and classes.name(FILM) == "film" and classes.name("Q9") == "Q9"


def test_questions_that_differ_in_names_have_one_template():
    questions = [f"Who directed the film {name}?" for name in ("Alien", "Brazil", "Clue", "Dune Part Two")]
    common = answer_classes.common_words([*questions, "who wrote it"], 0.5)
    assert common == {"who", "directed", "the", "film"}
    assert {answer_classes.template(question, common) for question in questions} == {"who directed the film _"}
    assert answer_classes.template("Dune, directed in 1984?", common) == "_ directed _"
    assert answer_classes.names_in("Who directed the film Dune Part Two, Alien?", common) == ["Dune Part Two Alien"]
    assert answer_classes.names_in("Dune, who directed the Clue?", common) == ["Dune", "Clue"]
    assert answer_classes.names_in("who directed", common) == []


@pytest.fixture
def data(tmp_path, dump):
    write(tmp_path / "wikidata-27k" / "wikidata-27k.json.gz", dump.read_bytes())
    bench = {"question": "?", "entities": [{"id": "Q2003", "label": "Film"}], "answers": [{"id": "Q1003"}]}
    write(tmp_path / "convquestions" / "val_wd27k.json.gz", [{"conv_id": "1", "questions": [bench]}])
    asked = [f"Q{n + 1000}\tP57\tQ{n}\twho directed film number{n}" for n in range(1010, 1020)]
    asked += [f"Q1\tP57\t{UNKNOWN}\twho directed film nowhere", f"Q1\tP1\t{UNKNOWN}\tof what is nothing known", "Q1010\tR57\tQ2\twhat did he direct"]  # fmt: skip
    write(tmp_path / "simplequestions-wikidata" / "annotated_wd_data_train.txt.gz", "\n".join(asked) + "\n")
    write(tmp_path / "simplequestions-wikidata" / "annotated_wd_data_valid.txt.gz", asked[0] + "\n")
    sparql = "SELECT ?answer WHERE { wd:Q7 wdt:P57 ?answer }"
    write_lines(
        tmp_path / "hybrid" / "wikidata-questions.jsonl.gz",
        {"set": "rubq2-dev", "question": "Whose film is it?", "answers": [{"id": UNKNOWN}], "sparql": sparql},
        {"set": "rubq2-dev", "question": "How long?", "answers": [{"id": None, "value": "12"}], "sparql": sparql},
        {"set": "tiq-train", "question": "Which film?", "answers": [{"id": "Q2000"}, {"id": "Q9"}], "sparql": None},
    )
    value = [{"AnswerType": "Value", "AnswerArgument": "1830-07-05T00:00:00Z"}]
    write(tmp_path / "tiq" / "dev.json.gz", [{"Id": 1, "Question": "When?", "Answer": value}])
    write(tmp_path / "timequestions" / "dev.json.gz", [{"Id": 1, "Question": "Is it?", "Answer": [{"AnswerType": "Value", "AnswerArgument": "yes"}]}])  # fmt: skip
    write(tmp_path / "lcquad2-cq" / "LC_QuAD20_CQ.dev.json.gz", [{"question": "{what} x", "answers": ["Q1000"]}, {"question": "How many?", "answers": ["7"]}])  # fmt: skip
    turns = [
        {"question": "who directed it?", "answer": "https://www.wikidata.org/wiki/Q1000", "answer_text": "Person 1000"},
        {"question": "when?", "answer": "1937", "answer_text": "1937"},
        {"question": "and who else?", "answer": "https://www.wikidata.org/wiki/Q1001", "answer_text": "Person 1000"},
    ]
    versions = [
        {"conv_id": 1, "domain": "books", "seed_entity": "https://www.wikidata.org/wiki/Q2000", "questions": turns},
        {"conv_id": 2, "domain": "books", "seed_entity": "https://www.wikidata.org/wiki/Q2000",
         "questions": [turns[0] | {"question": "director?"}, *turns[1:]]},
        {"conv_id": 3, "domain": "books", "seed_entity": "https://www.wikidata.org/wiki/Q2003",
         "questions": [turns[0] | {"question": "whose film is measured with?"}]},
    ]  # fmt: skip
    for domain in ("books", "movies", "music", "soccer", "tv_series"):
        write(tmp_path / "convquestions" / f"val_{domain}.json.gz", versions)
    book = {"context": "It has 12 parts, the first of 1937, by Ann.", "title": "Book"}
    spans = {"how many parts?": (7, 8), "when did it begin?": (30, 33), "by whom?": (39, 41)}
    qas = [{"question": text, "detected_answers": [{"char_spans": [span]}]} for text, span in spans.items()]
    write_lines(tmp_path / "reading" / "squad-train-44articles.jsonl.gz", {"header": {}}, book | {"qas": qas})
    write_lines(tmp_path / "reading" / "squadshifts-new-wiki.jsonl.gz", {"header": {}})
    for part in ("train", "dev"):
        asked = [
            {"question": f"is it {part} {n}", "title": f"T {n}", "answer": True, "passage": "It is."} for n in range(10)
        ]
        write_lines(tmp_path / "boolq" / f"{part}.jsonl.gz", *asked)
    return tmp_path


def test_questions_of_all_sets(data, tmp_path):
    typed = answer_classes.typed_questions(data, tmp_path / "work", 3)
    own = [question for question in typed.questions if question.source != "embedded"]
    by_question = {(question.source, question.question): question for question in own}
    assert len(own) == len({(question.in_full, question.source) for question in own})
    named = {key: {typed.names[name]: share for name, share in question.classes.items()} for key, question in by_question.items()}  # fmt: skip
    assert named["simplequestions", "who directed film number1010"] == {"human": pytest.approx(1)}
    # what films are directed by:
    assert named["simplequestions", "who directed film nowhere"] == {"human": pytest.approx(1)}
    assert ("simplequestions", "of what is nothing known") not in named
    assert named["simplequestions", "what did he direct"].keys() <= {"film", "short film"}
    assert named["rubq2-dev", "Whose film is it?"] == {"human": pytest.approx(1)}
    assert ("rubq2-dev", "How long?") not in named
    assert set(named["tiq-train", "Which film?"]) <= {"film", OTHER}
    assert named["tiq", "When?"] == {DATE: 1.0} and named["timequestions", "Is it?"] == {YES_NO: 1.0}
    assert named["lcquad2", "How many?"] == {NUMBER: 1.0} and ("lcquad2", "{what} x") not in named
    versions = [question for question in own if question.source == "convquestions"]
    assert {question.question for question in versions} == {"who directed it?", "director?", "when?"}
    assert len({question.key for question in versions}) == 1
    assert not any("measured" in question.question for question in own)  # of the bench
    assert named["squad-train-44articles", "how many parts?"] == {NUMBER: 1.0}
    assert named["squad-train-44articles", "when did it begin?"] == {DATE: 1.0}
    assert ("squad-train-44articles", "by whom?") not in named
    boolq = [question for question in own if question.source == "boolq"]
    assert len(boolq) == 10 and all(question.classes == {YES_NO: 1.0} for question in boolq)
    unknown = ("who directed film nowhere", "Whose film is it?", "what did he direct")
    assert all(question.known == (question.question not in unknown) for question in own)
    assert typed.joined.keys() >= {HUMAN, FILM, SHORT} and set(typed.joined.values()) <= set(typed.names)
    assert all(abs(sum(question.classes.values()) - 1) < 1e-9 for question in typed.questions)
    assert len({question.key for question in own if question.question.startswith("who directed film number")}) <= 10
    embedded = [question for question in typed.questions if question.source == "embedded"]
    assert len(embedded) > 50 and any(question.in_full != question.question for question in embedded)
    table = answer_classes.counts(typed)
    assert "| lcquad2 | 1 | " in table and "| human | " in table and f"| {DATE} | " in table
