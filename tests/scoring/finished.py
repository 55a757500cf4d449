"""Finished runs for the tests of scoring: turns as the pipeline writes them."""


def entities(*ids):
    return [{"id": entity_id, "label": "any"} for entity_id in ids]


def evidence(text, *ids, source="kb"):
    return {"evidence_text": text, "source": source, "wikidata_entities": entities(*ids), "disambiguations": []}


def turn(question_id, gold=("Q1",), rank=1, evidences=(), **more):
    """A turn whose right answer has the rank; 0: there is none."""
    return {
        "question_id": question_id,
        "question": "?",
        "answers": entities(*gold),
        "p_at_1": float(rank == 1),
        "mrr": 1 / rank if rank else 0.0,
        "h_at_5": float(0 < rank <= 5),
        "answer_presence": any(entity["id"] in gold for one in evidences for entity in one["wikidata_entities"]),
        "top_evidences": list(evidences),
        **more,
    }


def conversation(name, *turns, **more):
    return {"conv_id": name, "domain": "books", "questions": list(turns), **more}
