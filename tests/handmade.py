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


def world():
    """Films, a series, a ship, people and a band: enough to tell names, types and contexts apart."""
    return [
        document("P31", "instance of", aliases=["is a"]),
        document("P57", "director", aliases=["directed by", "film director"]),
        document("P50", "author", aliases=["writer", "written by"]),
        document("P161", "cast member", aliases=["starring", "actor"]),
        document("P453", "character role"),
        document("P569", "date of birth", aliases=["born on"]),
        document("P577", "publication date", aliases=["release date"]),
        document("P2048", "height"),
        document("P527", "has part", aliases=["member"]),
        document("P106", "occupation"),
        document("P279", "subclass of"),
        document("Q11573", "metre"),
        document(
            FILM, "film", aliases=["movie"], description="sequence of images that give the impression of movement"
        ),
        document(SERIES, "television series", aliases=["TV series"]),
        document(HUMAN, "human"),
        document(BAND, "musical group", aliases=["band"]),
        document(SHIP, "ship", description="large buoyant watercraft"),
        document("Q7725634", "literary work", aliases=["book"]),
        document("Q33999", "actor", claim("P31", q("Q28640"))),
        document("Q28640", "profession"),
        document("Q2526255", "film director", claim("P31", q("Q28640"))),
        document(
            "Q44578",
            "Titanic",
            claim("P31", q(FILM)),
            claim("P57", q("Q42574")),
            claim("P161", q("Q38111"), ("P453", string("Jack Dawson"))),
            claim("P161", q("Q202765"), ("P453", string("Rose"))),
            claim("P577", time("+1997-12-19T00:00:00Z")),
            description="1997 American romantic disaster film",
            title="Titanic (1997 film)",
        ),
        document(
            "Q25173",
            "Titanic",
            claim("P31", q(SHIP)),
            claim("P577", time("+1911-05-31T00:00:00Z")),
            claim("P2048", quantity("+53.3", "Q11573")),
            aliases=["RMS Titanic"],
            description="British passenger ship that sank in 1912",
            title="Titanic",
        ),
        document(
            "Q24871",
            "Avatar",
            claim("P31", q(FILM)),
            claim("P57", q("Q42574")),
            claim("P577", time("+2009-12-10T00:00:00Z")),
            description="2009 American science fiction film",
            title="Avatar (2009 film)",
        ),
        document(
            "Q25188",
            "Inception",
            claim("P31", q(FILM)),
            claim("P57", q("Q25191")),
            claim("P161", q("Q38111")),
            description="2010 science fiction film",
            title="Inception",
        ),
        document(
            "Q42574",
            "James Cameron",
            claim("P31", q(HUMAN)),
            claim("P106", q("Q2526255")),
            claim("P569", time("+1954-08-16T00:00:00Z")),
            title="James Cameron",
        ),
        document("Q25191", "Christopher Nolan", claim("P31", q(HUMAN)), claim("P569", time("+1970-07-30T00:00:00Z"))),
        document(
            "Q38111",
            "Leonardo DiCaprio",
            claim("P31", q(HUMAN)),
            claim("P106", q("Q33999")),
            claim("P569", time("+1974-11-11T00:00:00Z")),
            claim("P2048", quantity("+1.83", "Q11573")),
            aliases=["Leo DiCaprio"],
            description="American actor",
            title="Leonardo DiCaprio",
        ),
        document(
            "Q202765",
            "Kate Winslet",
            claim("P31", q(HUMAN)),
            claim("P106", q("Q33999")),
            claim("P569", time("+1975-10-05T00:00:00Z")),
            description="English actress",
        ),
        document(
            "Q23572",
            "Game of Thrones",
            claim("P31", q(SERIES)),
            claim("P577", time("+2011-04-17T00:00:00Z")),
            aliases=["GoT"],
            description="American fantasy television series",
            title="Game of Thrones",
        ),
        document(
            "Q892",
            "J. R. R. Tolkien",
            claim("P31", q(HUMAN)),
            claim("P569", time("+1892-01-03T00:00:00Z")),
            aliases=["John Ronald Reuel Tolkien"],
            description="English author",
        ),
        document(
            "Q74287",
            "The Hobbit",
            claim("P31", q("Q7725634")),
            claim("P50", q("Q892")),
            claim("P577", time("+1937-09-21T00:00:00Z")),
            description="1937 novel",
            title="The Hobbit",
        ),
        document(
            "Q8337",
            "Harry Potter",
            claim("P31", q("Q7725634")),
            claim("P50", q("Q34660")),
            description="fantasy novels",
        ),
        document("Q34660", "J. K. Rowling", claim("P31", q(HUMAN)), claim("P569", time("+1965-07-31T00:00:00Z"))),
        document(
            "Q1299",
            "The Beatles",
            claim("P31", q(BAND)),
            claim("P527", q("Q1203")),
            claim("P527", q("Q2599")),
            aliases=["Beatles", "Fab Four"],
            title="The Beatles",
        ),
        document("Q1203", "John Lennon", claim("P31", q(HUMAN)), claim("P569", time("+1940-10-09T00:00:00Z"))),
        document("Q2599", "Paul McCartney", claim("P31", q(HUMAN)), claim("P569", time("+1942-06-18T00:00:00Z"))),
    ]
