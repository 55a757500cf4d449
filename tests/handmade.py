"""Small Wikidata dumps in the official JSON format, written by hand."""

import json


def _value(datatype, value):
    return {"snaktype": "value", "datatype": datatype, "datavalue": {"value": value}}


def q(item_id):
    return _value("wikibase-item", {"entity-type": "item", "numeric-id": int(item_id[1:]), "id": item_id})


def time(stamp, precision=11):
    return _value("time", {"time": stamp, "timezone": 0, "precision": precision, "calendarmodel": "Q1985727"})


def quantity(amount, unit="1"):
    unit = unit if unit == "1" else f"http://www.wikidata.org/entity/{unit}"
    return _value("quantity", {"amount": amount, "unit": unit})


def string(text):
    return _value("string", text)


def monolingual(text, language="en"):
    return _value("monolingualtext", {"text": text, "language": language})


def external_id(text):
    return _value("external-id", text)


SOMEVALUE = {"snaktype": "somevalue", "datatype": "wikibase-item"}
NOVALUE = {"snaktype": "novalue", "datatype": "wikibase-item"}


def claim(prop, value, *qualifiers, rank="normal"):
    """A statement; `qualifiers` are (property, value) pairs."""
    found = {"mainsnak": {"property": prop, **value}, "type": "statement", "rank": rank}
    if qualifiers:
        found["qualifiers-order"] = list(dict.fromkeys(name for name, _ in qualifiers))
        found["qualifiers"] = {
            name: [{"property": name, **snak} for other, snak in qualifiers if other == name]
            for name in found["qualifiers-order"]
        }
    return found


def document(entity_id, label, *claims, aliases=(), description="", title=""):
    """An entity document; an empty map is [], as in real dumps."""
    grouped = {}
    for one in claims:
        grouped.setdefault(one["mainsnak"]["property"], []).append(one)
    return {
        "id": entity_id,
        "type": "item" if entity_id[0] == "Q" else "property",
        "labels": {"en": {"language": "en", "value": label}} if label else [],
        "descriptions": {"en": {"language": "en", "value": description}} if description else [],
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]} if aliases else [],
        "claims": grouped or [],
        "sitelinks": {"enwiki": {"site": "enwiki", "title": title, "badges": []}} if title else [],
    }


def dump_bytes(documents):
    """The documents as a dump writes them: one a line, between brackets, with commas."""
    return ("[\n" + ",\n".join(json.dumps(one) for one in documents) + "\n]\n").encode()


def write(path, documents):
    path.write_bytes(dump_bytes(documents))
    return path


FILM, SERIES, HUMAN, BAND, SHIP = "Q11424", "Q5398426", "Q5", "Q215380", "Q11446"


def born(day):
    return claim("P569", time(f"+{day}T00:00:00Z"))


def human(item_id, label, *claims, **more):
    return document(item_id, label, claim("P31", q(HUMAN)), *claims, **more)


def film(item_id, label, director, day, *claims, **more):
    dates = [claim("P577", time(f"+{day}T00:00:00Z"))] if day else []
    return document(item_id, label, claim("P31", q(FILM)), claim("P57", q(director)), *claims, *dates, **more)


BOOK = "Q7725634"
PROPERTIES = {
    "P31": ("instance of", "is a"),
    "P57": ("director", "directed by", "film director"),
    "P50": ("author", "writer", "written by"),
    "P161": ("cast member", "starring", "actor"),
    "P453": ("character role",),
    "P569": ("date of birth", "born on"),
    "P577": ("publication date", "release date"),
    "P2048": ("height",),
    "P527": ("has part", "member"),
    "P106": ("occupation",),
    "P279": ("subclass of",),
}


def world():
    """Films, a series, a ship, people and a band: enough to tell names, types and contexts apart."""
    pictures = "sequence of images that give the impression of movement"
    roles = [
        claim("P161", q(actor), ("P453", string(role)))
        for actor, role in (("Q38111", "Jack Dawson"), ("Q202765", "Rose"))
    ]
    ship = [
        claim("P31", q(SHIP)),
        claim("P577", time("+1911-05-31T00:00:00Z")),
        claim("P2048", quantity("+53.3", "Q11573")),
    ]
    actor, director = claim("P106", q("Q33999")), claim("P106", q("Q2526255"))
    height = claim("P2048", quantity("+1.83", "Q11573"))
    thrones = [claim("P31", q(SERIES)), claim("P577", time("+2011-04-17T00:00:00Z"))]
    hobbit = [claim("P31", q(BOOK)), claim("P50", q("Q892")), claim("P577", time("+1937-09-21T00:00:00Z"))]
    beatles = [claim("P31", q(BAND)), claim("P527", q("Q1203")), claim("P527", q("Q2599"))]
    titanic = {"description": "1997 American romantic disaster film", "title": "Titanic (1997 film)"}
    liner = {"description": "British passenger ship that sank in 1912", "title": "Titanic"}
    avatar = {"description": "2009 American science fiction film", "title": "Avatar (2009 film)"}
    leo = {"aliases": ["Leo DiCaprio"], "description": "American actor", "title": "Leonardo DiCaprio"}
    series = {"description": "American fantasy television series", "title": "Game of Thrones"}
    tolkien = {"aliases": ["John Ronald Reuel Tolkien"], "description": "English author"}
    return [
        *(document(name, label, aliases=aliases) for name, (label, *aliases) in PROPERTIES.items()),
        document("Q11573", "metre"),
        document(FILM, "film", aliases=["movie"], description=pictures),
        document(SERIES, "television series", aliases=["TV series"]),
        document(HUMAN, "human"),
        document(BAND, "musical group", aliases=["band"]),
        document(SHIP, "ship", description="large buoyant watercraft"),
        document(BOOK, "literary work", aliases=["book"]),
        document("Q33999", "actor", claim("P31", q("Q28640"))),
        document("Q28640", "profession"),
        document("Q2526255", "film director", claim("P31", q("Q28640"))),
        film("Q44578", "Titanic", "Q42574", "1997-12-19", *roles, **titanic),
        document("Q25173", "Titanic", *ship, aliases=["RMS Titanic"], **liner),
        film("Q24871", "Avatar", "Q42574", "2009-12-10", **avatar),
        film(
            "Q25188",
            "Inception",
            "Q25191",
            None,
            claim("P161", q("Q38111")),
            description="2010 science fiction film",
            title="Inception",
        ),
        human("Q42574", "James Cameron", director, born("1954-08-16"), title="James Cameron"),
        human("Q25191", "Christopher Nolan", born("1970-07-30")),
        human("Q38111", "Leonardo DiCaprio", actor, born("1974-11-11"), height, **leo),
        human("Q202765", "Kate Winslet", actor, born("1975-10-05"), description="English actress"),
        document("Q23572", "Game of Thrones", *thrones, aliases=["GoT"], **series),
        human("Q892", "J. R. R. Tolkien", born("1892-01-03"), **tolkien),
        document("Q74287", "The Hobbit", *hobbit, description="1937 novel", title="The Hobbit"),
        document(
            "Q8337", "Harry Potter", claim("P31", q(BOOK)), claim("P50", q("Q34660")), description="fantasy novels"
        ),
        human("Q34660", "J. K. Rowling", born("1965-07-31")),
        document("Q1299", "The Beatles", *beatles, aliases=["Beatles", "Fab Four"], title="The Beatles"),
        human("Q1203", "John Lennon", born("1940-10-09")),
        human("Q2599", "Paul McCartney", born("1942-06-18")),
    ]
