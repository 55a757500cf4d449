"""Evidences and turns by hand."""


def evidence(text, source="text", *entities, **more):
    """An evidence; its entities are items or literals as (label, id), each mentioned by its label; `more` are keys."""
    return {
        "evidence_text": text,
        "source": source,
        "disambiguations": [[label, item] for label, item in entities],
        "wikidata_entities": [{"id": item, "label": label} for label, item in entities],
        **more,
    }
