"""Questions in full: pronouns, class nouns and gaps get names; what may not be meant stays as it is."""

import pytest

from convinse.language.language import english
from convinse.question_understanding.referents import Referent, may_mean
from convinse.question_understanding.resolution import after, dated, in_full, with_name

ENGLISH = english()
FILM = Referent("Q1", "Blade Runner", "thing")
BAND = Referent("Q2", "The White Stripes", "group")
WOMAN = Referent("Q3", "Jodie Foster", "person", "female")
MAN = Referent("Q4", "Spike Lee", "person", "male")
SOMEBODY = Referent("Q5", "Alex Doe", "person")
CLASSES = {"Q1": {"film", "movie"}, "Q2": {"band"}}


def is_a(referent, noun):
    return noun in CLASSES.get(referent.id, ())


@pytest.mark.parametrize(
    ("question", "mentioned", "expected"),
    [
        ("Who directed it?", [FILM], "Who directed Blade Runner?"),
        ("And how long is it?", [FILM], "How long is Blade Runner?"),
        ("what is its budget?", [FILM], "What is Blade Runner's budget?"),
        ("when did they split up?", [BAND], "When did The White Stripes split up?"),
        ("what is their first album", [BAND], "What is The White Stripes' first album"),
        ("Where was she born?", [MAN, WOMAN], "Where was Jodie Foster born (Spike Lee)?"),
        ("Did he marry her?", [MAN, WOMAN], "Did Spike Lee marry Jodie Foster?"),
        ("Did he marry her?", [SOMEBODY, MAN], "Did Spike Lee marry Alex Doe?"),  # rather who is known to be a man
        ("Is it true that he directed it?", [FILM, MAN], "Is it true that Spike Lee directed Blade Runner?"),
        ("Who directed that one?", [FILM, MAN], "Who directed Blade Runner (Spike Lee)?"),
        ("Who made the film series?", [FILM], "Who made the film series (Blade Runner)?"),
        ("who directed her in Panic Room", [WOMAN], "Who directed Jodie Foster in Panic Room"),
        ("who is her wife?", [WOMAN], "Who is Jodie Foster's wife?"),
        ("who admired her?", [WOMAN], "Who admired Jodie Foster?"),
        ("where does he live?", [SOMEBODY], "Where does Alex Doe live?"),
        ("Who wrote the film?", [WOMAN, FILM], "Who wrote the film Blade Runner (Jodie Foster)?"),
        ("who wrote the book?", [FILM], "Who wrote the book (Blade Runner)?"),
        ("Who played Rachael?", [FILM], "Who played Rachael (Blade Runner)?"),
        ("what happened that year", [FILM], "What happened that year (Blade Runner)"),
        ("where did he die?", [FILM], "Where did he die (Blade Runner)?"),
        ("Who directed Blade Runner?", [FILM], "Who directed Blade Runner?"),
        ("Who directed Alien?", [], "Who directed Alien?"),
        ("and", [], "And"),
        ("?", [FILM], "(Blade Runner)?"),
    ],
)
def test_the_question_holds_what_it_is_about(question, mentioned, expected):
    assert in_full(question, mentioned, is_a, ENGLISH).strip() == expected


@pytest.mark.parametrize(
    ("before", "question", "named", "replaced", "expected"),
    [
        ("Who directed Alien?", "What about Blade Runner?", [FILM], [Referent("Q9", "Alien", "thing")],
         "Who directed Blade Runner?"),
        ("Who directed Spike Lee in Alien?", "And Blade Runner?", [FILM], [MAN, Referent("Q9", "Alien", "thing")],
         "Who directed Spike Lee in Blade Runner?"),
        # another time, or what is at another place
        ("What won Blade Runner in 1982?", "what about 1983?", [], [FILM], "What won Blade Runner in 1983?"),
        ("What won Blade Runner in 1982?", "and from 1983 to 1985?", [], [FILM], "What won Blade Runner from 1983 to 1985?"),
        ("Who coached them from 2009 to 2011?", "and the years from 2013", [], [], "Who coached them the years from 2013?"),
        ("Who was in the 1982 film?", "and in 1984?", [], [], "Who was in the 1984 film?"),
        ("Who was in the 1982 film?", "and the book of 1984?", [], [], "Who was in the film? the book of 1984?"),
        ("Who hosted when they won?", "And when they lost?", [], [], "Who hosted when they lost?"),
        ("Who was Ann in the 1982 film?", "and mr doe in the series?", [], [], "Who was mr doe in the series?"),
        ("Who wrote it?", "And Blade Runner?", [FILM], [MAN], "Who wrote it? Blade Runner?"),
        ("Who sings it in season 2 of Alien?", "and in the last season?", [], [], "Who sings it in the last season of Alien?"),
        ("Who sings it in the last season?", "in season 4?", [], [], "Who sings it in season 4?"),
        ("Who sings it in Alien?", "and on the radio?", [], [], "Who sings it in Alien? on the radio?"),
        # what stands behind the same preposition
        ("What did she play in House of Ann?", "and in Blade Runner", [FILM], [], "What did she play in Blade Runner?"),
        ("Who won the prize for Ann's score?", "for director?", [], [], "Who won the prize for director?"),
        ("Which song of Ann Doe is in it?", "of Bob Roe?", [], [], "Which song of Bob Roe is in it?"),
        # a number in an order, and a year alone
        ("How long is season two?", "the first?", [], [], "How long is the first season?"),
        ("Who made their second album?", "and the third one", [], [], "Who made their third album?"),
        ("Who coached them from 2004 to 2008?", "2008 to 2010?", [], [], "Who coached them from 2008 to 2010?"),
        ("Where was the final of 2014?", "of 2018?", [], [], "Where was the final of 2018?"),
        # words of its own stay
        ("Where was Spike Lee born?", "And when?", [MAN], [MAN], "When was Spike Lee born?"),
        ("Where was Spike Lee born?", "When?", [MAN], [MAN], "When was Spike Lee born?"),
        ("Who is Spike Lee?", "When?", [MAN], [MAN], "Who is Spike Lee? When?"),
        ("Where was Spike Lee born?", "And when was Jodie Foster?", [WOMAN], [MAN],
         "Where was Jodie Foster born? when was Jodie Foster?"),
        ("Where was Spike Lee born?", "And the mother?", [MAN], [MAN], "Where was Spike Lee born? the mother?"),
        ("Who directed Alien?", "And The Stripes?", [BAND], [Referent("Q9", "Alien", "thing")],
         "Who directed The White Stripes?"),
        ("Who won Alien?", "And Blade Runner in 1983?", [FILM], [Referent("Q9", "Alien", "thing")],
         "Who won Blade Runner? Blade Runner in 1983?"),
    ],
)  # fmt: skip
def test_a_question_that_leans_on_the_one_before(before, question, named, replaced, expected):
    assert after(before, question, named, named, replaced, ENGLISH).text == expected


def test_what_it_is_about_and_does_not_name_takes_no_place():
    before = "When was Spike Lee born?"
    completed = after(before, "and who else?", [], [FILM, MAN], [MAN], ENGLISH)
    assert completed == (f"{before} who else (Blade Runner)?", "who else?")
    assert after(before, "and in 1999?", [], [], [], ENGLISH).unplaced == "in 1999?"
    assert after("Who won in 1998?", "and in 1999?", [], [], [], ENGLISH).unplaced == ""


@pytest.mark.parametrize(
    ("question", "before", "answers", "expected"),
    [
        ("who was their coach that year", "Who won in 2000?", [], "who was their coach in 2000"),
        ("In that year?", "When was it?", ["1994-10-14T00:00:00Z"], "in 1994?"),  # the answer tells
        ("and two years later?", "Who won the final of 1998?", ["Q1"], "and in 2000?"),
        ("3 years earlier?", "Who won in 1998?", [], "in 1995?"),
        ("and the next year", "Who won in 1998?", [], "and in 1999"),
        ("the previous year?", "Who won in 1998?", [], "in 1997?"),
        ("who won the year after?", "Who won in 1998?", [], "who won in 1999?"),
        ("Who won the year after the war?", "Who won in 1998?", [], "Who won the year after the war?"),
        ("some years later?", "Who won in 1998?", [], "some years later?"),
        ("that year?", "Who won?", ["Q1"], "that year?"),
        ("Who won that year?", "Who won in 1998?", ["-0044-03-15T00:00:00Z"], "Who won that year?"),
    ],
)
def test_a_year_that_the_turn_before_tells(question, before, answers, expected):
    assert dated(question, before, answers, ENGLISH) == expected


@pytest.mark.parametrize(
    ("question", "named", "replaced", "expected"),
    [
        ("and puddy?", ["puddy"], ["kramer"], "Who was puddy in Seinfeld?"),
        ("What about Puddy?", ["Puddy"], ["Kramer"], "Who was Puddy in Seinfeld?"),
        ("and puddy?", ["puddy"], [], None),
        ("and puddy?", ["puddy"], ["newman"], None),  # not in the question before
        ("and puddy's father?", ["puddy"], ["kramer"], None),  # says more
        ("and puddy or bania?", ["puddy", "bania"], ["kramer"], None),
    ],
)
def test_a_name_without_an_item_takes_the_place_of_another(question, named, replaced, expected):
    new, old = ([{"name": name, "pages": []} for name in names] for names in (named, replaced))
    assert with_name("Who was kramer in Seinfeld?", question, new, old, ENGLISH) == expected


@pytest.mark.parametrize(
    ("pronoun", "meant", "not_meant"),
    [("she", [WOMAN, SOMEBODY], [MAN]), ("it", [BAND], [MAN]), ("they", [BAND, MAN], [FILM]), ("who", [], [MAN])],
)
def test_pronouns_mean_what_they_may_mean(pronoun, meant, not_meant):
    for referents, expected in ((meant, True), (not_meant, False)):
        assert [may_mean(pronoun, referent, ENGLISH.words) for referent in referents] == [expected] * len(referents)
