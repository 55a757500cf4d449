"""Questions of turns, over a knowledge base by hand."""

from literal_evidence import Known, item_id

from convinse.config import parse_config
from convinse.heterogeneous_answering.question import questions_of
from convinse.resources import Resources


def thing(label, name=""):
    """An entity; without an id of its own its label makes one."""
    return {"id": name or item_id(label), "label": label}


def representation_of(*entities, context=(), unlinked=()):
    """A representation of a question that is about entities; `unlinked` are names without an item."""
    names = [{"name": name} for name in unlinked]
    return {"context": list(context), "entities": list(entities), "predicate": "", "answer_type": "", "candidates": [],
            "unlinked": names}  # fmt: skip


def knowledge_over(properties=(), classes=None, frequency=None, typing=None):
    """Resources with these properties (id, label, aliases), classes of items and numbers of facts, without tables."""
    kb = Known(classes or {}, list(properties), frequency)
    over = type("HandmadeResources", (Resources,), {"answer_typing": typing, "rows": lambda *_: []})
    return over(parse_config({}), kb=kb)


def question_of(text, *evidences, knowledge=None, **more):
    turn = {"question": text, "top_evidences": list(evidences), **more}
    return questions_of([turn], knowledge or knowledge_over())[0]
