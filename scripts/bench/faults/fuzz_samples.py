"""Small valid files of the formats that the project reads, written by hand; all of them are read without a complaint."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

_FILLING = range(900_001, 900_131)  # so many that one of them may be bad, which is skipped


def lines(records: Iterable[Any]) -> bytes:
    """JSON lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def document(value: Any) -> bytes:
    """One JSON document."""
    return json.dumps(value, ensure_ascii=False).encode()


def table(*rows: tuple[str, ...]) -> bytes:
    """Fields by tab."""
    return "".join("\t".join(row) + "\n" for row in rows).encode()


# Wikidata -------------------------------------------------------------------------------------------------------------


def _snak(prop: str, datatype: str, value: Any) -> dict[str, Any]:
    return {"snaktype": "value", "property": prop, "datatype": datatype, "datavalue": {"value": value, "type": "x"}}


def _item(number: int) -> dict[str, Any]:
    return {"entity-type": "item", "numeric-id": number, "id": f"Q{number}"}


def _claims(*snaks: dict[str, Any], qualified: Iterable[dict[str, Any]] = ()) -> dict[str, Any]:
    claims: dict[str, Any] = {}
    for snak in snaks:
        claim: dict[str, Any] = {"mainsnak": snak, "type": "statement", "rank": "normal"}
        claims.setdefault(snak["property"], []).append(claim)
    for snak in qualified:
        claim["qualifiers-order"] = [*claim.get("qualifiers-order", ()), snak["property"]]
        claim.setdefault("qualifiers", {})[snak["property"]] = [snak]
    return claims


def _entity(name: str, label: str, claims: Any = (), aliases: Iterable[str] = (), title: str = "") -> dict[str, Any]:
    return {
        "id": name, "type": "property" if name[0] == "P" else "item",
        "labels": {"en": {"language": "en", "value": label}},
        "descriptions": {"en": {"language": "en", "value": f"{label}, described"}},
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]} if aliases else [],
        "claims": claims or [], "sitelinks": {"enwiki": {"site": "enwiki", "title": title, "badges": []}} if title else {},
    }  # fmt: skip


_DIRECTED, _KIND, _DATE, _HEIGHT, _CAST = "P57", "P31", "P577", "P2048", "P161"
_TIME = {"time": "+1997-12-19T00:00:00Z", "timezone": 0, "precision": 11, "calendarmodel": "Q1985727"}
_AMOUNT = {"amount": "+1.83", "unit": "http://www.wikidata.org/entity/Q11573"}


def wikidata_dump() -> bytes:
    """Every datatype that is kept, a qualifier, aliases, a title; the array's brackets, as in official dumps."""
    rose = (_snak("P453", "string", "Rose"), _snak("P1476", "monolingualtext", {"text": "Rosa", "language": "de"}))
    film = _claims(
        _snak(_KIND, "wikibase-item", _item(11424)),
        _snak(_DIRECTED, "wikibase-item", _item(42574)),
        _snak(_DATE, "time", _TIME),
        _snak("P345", "external-id", "tt0120338"),
        _snak(_CAST, "wikibase-item", _item(38111)),
        qualified=rose,
    )
    person = _claims(
        _snak(_KIND, "wikibase-item", _item(5)), _snak("P569", "time", _TIME | {"precision": 9}),
        _snak(_HEIGHT, "quantity", _AMOUNT), _snak("P1082", "quantity", {"amount": "+3", "unit": "1"}),
    )  # fmt: skip
    properties = {
        _KIND: "instance of", _DIRECTED: "director", _DATE: "publication date", _HEIGHT: "height", _CAST: "cast member",
        "P453": "character role", "P569": "date of birth", "P1082": "population", "P1476": "title",
    }  # fmt: skip
    entities = [
        *(_entity(name, label, aliases=[f"{label} of"]) for name, label in properties.items()),
        *(_entity(f"Q{number}", label) for number, label in ((5, "human"), (11424, "film"), (11573, "metre"))),
        _entity("Q44578", "Titanic", film, ["Titanic film"], "Titanic (1997 film)"),
        _entity("Q42574", "James Cameron", person, ["Jim Cameron"], "James Cameron"),
        _entity("Q38111", "Leonardo DiCaprio", person, ["Leo"], "Leonardo DiCaprio"),
    ]
    entities += [_entity(f"Q{number}", f"thing {number}") for number in _FILLING]
    return b"[\n" + b",\n".join(map(document, entities)) + b"\n]\n"


# Wikipedia ------------------------------------------------------------------------------------------------------------

_HTML = """<div class="mw-parser-output"><table class="infobox"><tbody><tr><th>Directed by</th><td>
<a href="/wiki/James_Cameron" title="James Cameron">James Cameron</a></td></tr><tr><th>Release date</th><td>December 19, 1997</td>
</tr></tbody></table><p><b>Titanic</b> is a 1997 film by <a href="/wiki/James_Cameron" title="James Cameron">James Cameron</a>. It
has <a href="/wiki/Leonardo_DiCaprio">DiCaprio</a>.</p><h2>Cast</h2><table class="wikitable"><tbody><tr><th>Actor</th>
<th colspan="2">Role</th></tr><tr><td rowspan="2"><a href="/wiki/Leonardo_DiCaprio">Leonardo DiCaprio</a></td><td>Jack</td><td>1</td>
</tr><tr><td>Jack Dawson</td><td>2,000</td></tr></tbody></table><ul><li>An item of a list, 11 October 1999.</li></ul></div>"""


def saved_pages() -> bytes:
    """Three pages, of which one has its item by its title."""
    pages = [
        ("Titanic (1997 film)", "Q44578", _HTML),
        ("James Cameron", "Q42574", _HTML),
        ("Leonardo DiCaprio", None, _HTML),
    ]
    pages += [(f"Thing {number}", f"Q{number}", "<p>A thing.</p>") for number in _FILLING]
    return lines({"title": title, "url": "https://example.org", "qid": qid, "html": html} for title, qid, html in pages)


def titles() -> bytes:
    return table(("title", "item"), ("James Cameron", "Q42574"), ("Leonardo DiCaprio", "Q38111"))


def evidence(text: str, source: str = "text") -> dict[str, Any]:
    """An evidence as the pipeline writes it, and CONVINSE's dumps have it."""
    return {
        "evidence_text": text, "source": source, "disambiguations": [["Titanic", "Q44578"], ["1997", "1997-01-01T00:00:00Z"]],
        "wikidata_entities": [{"id": "Q44578", "label": "Titanic"}, {"id": "1997-01-01T00:00:00Z", "label": "1997"}],
    }  # fmt: skip


def pickled_items() -> dict[str, Any]:
    filling = {f"Q{number}": [evidence(f"thing {number}")] for number in _FILLING}
    return {"Q44578": [evidence("Titanic is of 1997."), evidence("a, b", "table")], "Q42574": [], **filling}


# conversations --------------------------------------------------------------------------------------------------------


def _turn(number: int, question: str, **more: Any) -> dict[str, Any]:
    answers = [{"id": "Q42574", "label": "James Cameron"}]
    return {"turn": number, "question_id": f"c-{number}", "question": question, "answers": answers, **more}


def conversations() -> list[dict[str, Any]]:
    """Of the ConvMix structure; the second has a question without an answer."""
    first = [
        _turn(0, "who directed Titanic?", entities=[{"id": "Q44578", "label": "Titanic"}]),
        _turn(1, "when was he born?"),
    ]
    second = [{**_turn(0, "how tall is Leonardo DiCaprio?"), "question_id": "d-0", "answers": [], "kind": "number"}]
    return [
        {"conv_id": "c", "domain": "movies", "questions": first},
        {"conv_id": "d", "domain": "movies", "questions": second},
    ]


def finished_turns(right: bool = True) -> bytes:
    """A `turns.jsonl` as the pipeline writes it."""
    records = conversations()
    for turn in (turn for record in records for turn in record["questions"]):
        entity = {"id": "Q42574" if right else "Q5", "label": "x"}
        answer = {"answer": entity, "score": 0.5, "rank": 1, "evidences": [0], "reasons": ["votes"]}
        measures = {"p_at_1": float(right), "mrr": float(right), "h_at_5": float(right), "answer_presence": True}
        turn |= {
            "structured_representation": " || Titanic || directed || person", "top_evidences": [evidence("Titanic, director")],
            "pred_answers": [answer], "answer_presence_per_src": {"kb": True, "text": False}, **measures,
        }  # fmt: skip
    return lines(records)


def convquestions() -> bytes:
    item = "https://www.wikidata.org/wiki/Q44578"
    turns = [
        {"turn": 0, "question_id": 1, "question": "who directed Titanic?", "answer": "https://www.wikidata.org/wiki/Q42574",
         "answer_text": "James Cameron", "paraphrase": "director?"},
        {"turn": 1, "question_id": 2, "question": "when?", "answer": "19 December 1997;Yes", "answer_text": "19 December 1997;Yes"},
    ]  # fmt: skip
    return document(
        [{"conv_id": 1, "domain": "movies", "seed_entity": item, "seed_entity_text": "Titanic", "questions": turns}]
    )


def compmix() -> bytes:
    question = {
        "question_id": "7",
        "question": "Who directed Titanic?",
        "domain": "movies",
        "answer_src": "kb",
        "entities": [],
    }
    return document(
        [{**question, "answers": [{"id": "Q42574", "label": "James Cameron"}], "answer_text": "James Cameron"}]
    )


def timequestions() -> bytes:
    entity = {"AnswerType": "Entity", "WikidataQid": "Q42574", "WikidataLabel": "James Cameron"}
    value = {"AnswerType": "Value", "AnswerArgument": "1997-12-19T00:00:00Z"}
    common = {"Temporal question type": ["Explicit"], "Temporal signal": ["BEFORE"]}
    return document([{"Id": number, "Question": "who directed Titanic?", "Answer": [answer], **common}
                     for number, answer in enumerate((entity, value))])  # fmt: skip


def lcquad() -> bytes:
    return document([{"question": "who directed Titanic?", "answers": ["Q42574", "1997"], "complexities": ["simple"]}])


def annotated() -> bytes:
    """Conversations that `annotate` went through."""
    records = conversations()
    for turn in (turn for record in records for turn in record["questions"]):
        mention = {"item": {"id": "Q44578", "label": "Titanic"}, "turn": 0, "part": "question", "text": "Titanic"}
        silver = [["Titanic"], ["Titanic"], ["directed", "by"], "person"]
        turn |= {"silver_SR": [silver], "silver_relevant_turns": [0], "silver_mentions": [mention]}
    return document(records)


# servers --------------------------------------------------------------------------------------------------------------


def mediawiki() -> bytes:
    """What the API says to each of the questions that are asked."""
    page = {"title": "Titanic (1997 film)", "text": _HTML, "revid": 1, "redirects": [{"from": "Titanic", "to": "Titanic (1997 film)"}],
            "properties": {"wikibase_item": "Q44578"}}  # fmt: skip
    linked = [{"title": "Titanic", "pageprops": {"wikibase_item": "Q44578"}}]
    query = {"pages": linked, "normalized": [{"from": "titanic", "to": "Titanic"}], "redirects": []}
    entities = {"Q44578": {"sitelinks": {"enwiki": {"site": "enwiki", "title": "Titanic (1997 film)"}}}}
    return document({"entities": entities, "parse": page, "query": query, "batchcomplete": True})


def clocq() -> bytes:
    mentioned = {"item": {"id": "Q44578", "label": "Titanic"}, "question_word": "titanic", "score": 0.5, "rank": 0}
    fact = [
        {"id": "Q44578", "label": "Titanic"},
        {"id": "P577", "label": "date"},
        {"id": '"1997-12-19T00:00:00Z"', "label": None},
    ]
    return document({"kb_item_tuple": [mentioned], "search_space": [fact, fact]})


# settings -------------------------------------------------------------------------------------------------------------

FOREIGN_CONFIGURATION = b"""name: fuzz
qu: sr
ers: rers
ha: fid
log_level: INFO
sr_architecture: BART
sr_num_beams: 20
sr_delimiter: "||"
source_combinations:
  - - kb
  - - kb
    - text
clocq_params: {k: AUTO, d: 20, h_match: 0.4, bm25_limit: False}
benchmark_path: _benchmarks/convmix
ers_cache_path: _data/er_cache.pickle
ers_wikipedia_dump: _data/wikipedia_dump.pickle
fid_lr: 0.00005
ha_max_answers: 50
"""
CONFIGURATION = b"""name: fuzz
qu: slots
qu_sr: {num_beams: 2}
ers: native
ha: entity_voting
benchmark: convmix
source_combinations: [kb, [kb, text], kb_text_info]
clocq_params: {k: AUTO, d: 20, h_match: 0.4, bm25_limit: false}
ers_use_cache: true
ers_passage_index: null
ers_wikipedia_api: https://en.wikipedia.org/w/api.php
ers_deadline: 5.0
evr_max_evidence_length: 400
evs: bm25
evs_cascade: {lexical: 20, dense: 20, lexical_share: 0.3}
evs_training: {learning_rate: 3e-5, epochs: 2}
ha_max_answers: 5
ha_training:
  trains: ranking
  output: models/ranking
device: cpu
precision: fp32
token_budget: 4096
seed: 42
custom:
  mine: {a: [1, 2], b: text}
"""
READER_SETTINGS = b"""base: models/base
output: models/reader
train_folder: data/train
dev_folders: [data/dev, data/dev-out]
train_sets: null
examples: 100
epochs: 1
learning_rate: 3e-5
batch_size: 4
max_length: 128
stride: 32
negative_windows: 0.1
device: cpu
"""
