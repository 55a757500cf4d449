"""Evidences by hand, their vectors, and rankings that are equal but for the last digits of their scores."""

import copy

import numpy as np
import pytest

from convinse.wikipedia.stored_pages import Embedding


def evidence(text, source="text", *entities, **more):
    """An evidence; its entities are items or literals as (label, id), each mentioned by its label; `more` are keys."""
    return {
        "evidence_text": text,
        "source": source,
        "disambiguations": [[label, item] for label, item in entities],
        "wikidata_entities": [{"id": item, "label": label} for label, item in entities],
        **more,
    }


def by_letters(texts):
    """Vectors by the letters of texts."""
    counts = np.array([[text.count(letter) for letter in "aeinorst"] for text in texts], np.float32)
    return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)


LETTERS = Embedding("letters", 8, "plain", by_letters)


def texts(evidences):
    return [evidence["evidence_text"] for evidence in evidences]


def scores(ranked):
    return [record["score"] for record in ranked]


def same_ranking(ranked, expected, tolerance=1e-5):
    """Check that evidences or answers are the same but for small differences of scores."""
    assert scores(ranked) == pytest.approx(scores(expected), abs=tolerance)
    assert [{**record, "score": None} for record in ranked] == [{**record, "score": None} for record in expected]


def same_spans(found, expected, tolerance=1e-4):
    """Check that readings have the same answers at the same places but for small differences of scores."""
    for mine, theirs in zip(found, expected, strict=True):
        assert len(mine) == len(theirs)
        of_place = {(span.context, span.start, span.end): span for span in mine}
        for span in theirs:
            other = of_place[span.context, span.start, span.end]
            assert other.text == span.text
            for name in ("score", "probability", "no_answer"):
                assert getattr(other, name) == pytest.approx(getattr(span, name), abs=tolerance)


def together_as_alone(make, turns, key, sources):
    """Check that a module does with turns together what it does with each alone; returns the turns of the former."""
    together, alone = copy.deepcopy(turns), copy.deepcopy(turns)
    assert make().inference_on_turns(together, sources) == [turn[key] for turn in together]
    module = make()
    for turn, single in zip(together, alone, strict=True):
        module.inference_on_turns([single], sources)
        same_ranking(turn[key], single[key])
        assert {**turn, key: None} == {**single, key: None}
    return together
