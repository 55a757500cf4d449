"""Finished runs for the tests of scoring: turns as the pipeline writes them."""


def entities(*ids):
    return [{"id": entity_id, "label": "any"} for entity_id in ids]


def evidence(text, *ids, source="kb"):
    return {"evidence_text": text, "source": source, "wikidata_entities": entities(*ids), "disambiguations": []}


def answers(*ids):
    return [{"answer": entity, "score": 0.5, "rank": rank} for rank, entity in enumerate(entities(*ids), 1)]


def turn(question_id, gold=("Q1",), rank=1, evidences=(), **more):
    """A turn whose right answer has the rank; 0: there is none."""
    return {
        "question_id": question_id,
        "question": "?",
        "answers": entities(*gold),
        "pred_answers": answers(*(f"wrong {place}" for place in range(1, rank)), *gold[:1] if rank else ["wrong"]),
        "top_evidences": list(evidences),
        **more,
    }


def conversation(name, *turns, **more):
    return {"conv_id": name, "domain": "books", "questions": list(turns), **more}
