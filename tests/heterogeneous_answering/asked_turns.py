"""What turns ask, over a knowledge base by hand."""

from literal_evidence import Known

from convinse.config import parse_config
from convinse.heterogeneous_answering.question import AskedQuestion
from convinse.resources import Resources


def thing(label, name=""):
    """An entity; without an id of its own it is named `Q label`."""
    return {"id": name or f"Q {label}", "label": label}


def meant(*entities, context=(), candidates=(), unlinked=()):
    """A representation of a question that is about entities; `candidates` are (entity, words of the question)."""
    spoken = [
        {"item": item, "question_word": words, "score": 1.0, "rank": rank}
        for rank, (item, words) in enumerate(candidates)
    ]
    names = [{"name": name, "pages": list(pages)} for name, pages in unlinked]
    return {"context": list(context), "entities": list(entities), "predicate": "", "answer_type": "",
            "candidates": spoken, "unlinked": names}  # fmt: skip


def resources_over(properties=(), classes=None, frequency=None):
    """Resources whose knowledge base has these properties (id, label, aliases), classes of items and numbers of facts."""
    return Resources(parse_config({}), kb=Known(classes or {}, list(properties), frequency))


def asked_of(question, *evidences, resources=None, **more):
    """What a turn asks; `more` are keys of the turn."""
    turn = {"question": question, "top_evidences": list(evidences), **more}
    return AskedQuestion.of(turn, " || ", resources or resources_over())
