"""Small MultiQA documents by hand, in both spellings, and random ones."""

import json

from hypothesis import strategies as st

from convinse.formats.tokens import tokenize
from places import DATA
from written import write

SAMPLES = DATA / "multiqa-samples"

TITLE = "Bear Island"
TEXT = "Beyoncé sang on Bear Island in 1996. The island is cold; the sea is not."


def tokens(text):
    return [list(token) for token in tokenize(text)]


def document(text=TEXT, title=TITLE, **more):
    return {"title": title, "text": text, "tokens": {"title": tokens(title), "text": tokens(text)}, **more}


def instance(text="Bear Island", start=16, span=(3, 4), **more):
    return {"doc_id": 0, "part": "text", "start_byte": start, "text": text, "token_inds": list(span), **more}


def extractive(answer="Bear Island", instances=None, **more):
    return {"answer": answer, "instances": [instance()] if instances is None else instances, **more}


def candidate(**types):
    return {"single_answer": types or {"extractive": extractive()}}


def open_ended(*candidates):
    return {"open-ended": {"annotators_answer_candidates": list(candidates)}}


def question(qid="q1", answers=None, text="Where did she sing?", **more):
    return {
        "qid": qid,
        "question": text,
        "question_tokens": tokens(text),
        "answers": open_ended(candidate()) if answers is None else answers,
        **more,
    }


def entry(*questions, documents=None, **more):
    return {
        "id": "c1",
        "context": {"documents": [document()] if documents is None else documents},
        "qas": list(questions) or [question()],
        **more,
    }


def header(contexts=1, questions=1, **more):
    fields = {"dataset_name": "Hand", "split": "dev", "multiqa_version": "0.1.0"}
    return {"header": {**fields, "number_of_contexts": contexts, "number_of_qas": questions, **more}}


def save(path, *documents, indent=None):
    return write(path, "".join(json.dumps(value, ensure_ascii=False, indent=indent) + "\n" for value in documents))


def saved(path, *entries, indent=None):
    """A file with a true header."""
    questions = sum(len(value["qas"]) for value in entries)
    return save(path, header(len(entries), questions), *entries, indent=indent)


# random documents -----------------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
_NAMES = st.sampled_from(["rank", "confidence", "extra", "x y", "文", ""])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
UNKNOWN = st.dictionaries(_NAMES, JSON, max_size=2)


@st.composite
def objects(draw, **keys):
    """An object with some of the keys, in any order, some of them null, and unknown ones."""
    names = draw(st.permutations([*keys]))
    found = {name: draw(keys[name] | st.none()) for name in names if draw(st.booleans())}
    return {**found, **{key: value for key, value in draw(UNKNOWN).items() if key not in keys}}


COUNT = st.integers(0, 99)
TOKENS = st.lists(st.tuples(TEXTS, COUNT).map(list), max_size=3)
INSTANCE = objects(
    doc_id=COUNT, part=TEXTS, start_byte=COUNT, text=TEXTS, token_inds=st.lists(COUNT, min_size=2, max_size=2)
)
EXTRACTIVE = objects(answer=TEXTS, aliases=st.lists(TEXTS, max_size=2), instances=st.lists(INSTANCE, max_size=2))
VALUES = {
    "extractive": EXTRACTIVE,
    "yesno": st.sampled_from(["yes", "no"]),
    "generated_text": TEXTS,
    "date": TEXTS | objects(day=TEXTS, month=TEXTS, year=TEXTS),
    "number": st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False),
}


def filled(values):
    return values.filter(len)  # an answer and a candidate have at least one key


ANSWER = filled(objects(**VALUES))
CONTAINER_FIRST = filled(
    objects(single_answer=ANSWER, list=st.lists(ANSWER, max_size=2), set=st.lists(ANSWER, max_size=2), metadata=JSON)
)
TYPE_FIRST = filled(
    objects(
        **{
            kind: objects(single_answer=value, list=st.lists(value, max_size=2), set=st.lists(value, max_size=2))
            for kind, value in VALUES.items()
        },
        metadata=JSON,
    )
)
CANDIDATES = st.lists(CONTAINER_FIRST | TYPE_FIRST, max_size=3)
ANSWERS = objects(
    **{
        "open-ended": objects(cannot_answer=VALUES["yesno"], annotators_answer_candidates=CANDIDATES)
        | objects(cannot_answer=VALUES["yesno"], answer_candidates=CANDIDATES),
        "multi-choice": objects(
            correct_answer_index=COUNT, multi_correct_answer_indexes=st.lists(COUNT, max_size=2), choices=CANDIDATES
        ),
    }
)
PARTS = {"title": TEXTS, "text": TEXTS, "snippet": TEXTS, "url": TEXTS}
DOCUMENT = filled(objects(**PARTS, metadata=UNKNOWN, tokens=st.dictionaries(TEXTS, TOKENS, max_size=2)))
QUESTION = objects(
    question_tokens=TOKENS | st.lists(TEXTS, max_size=2),
    supporting_context=st.lists(INSTANCE, max_size=2),
    metadata=JSON,
    answers=ANSWERS,
)


@st.composite
def entries(draw):
    """A context that the schema allows, in any mix of spellings."""
    questions = []
    for number in range(draw(st.integers(0, 2))):
        questions.append({"qid": f"q{number}", "question": draw(TEXTS), **draw(QUESTION)})
    context = {"documents": draw(st.lists(DOCUMENT, max_size=2)), **draw(UNKNOWN)}
    return {**draw(UNKNOWN), "id": draw(TEXTS | st.integers(0, 9)), "context": context, "qas": questions}
