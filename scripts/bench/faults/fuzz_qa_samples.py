"""Small valid files of question answering data and of passages; see `fuzz_samples`."""

from __future__ import annotations

from .fuzz_samples import document, lines, table

# question answering ---------------------------------------------------------------------------------------------------

_CONTEXT = "Titanic is a film by James Cameron."


def mrqa() -> bytes:
    tokens = [["Titanic", 0], ["is", 8], ["a", 11], ["film", 13], ["by", 18], ["James", 21], ["Cameron", 27], [".", 34]]
    spans = {"text": "James Cameron", "char_spans": [[21, 33]], "token_spans": [[5, 6]]}
    question = {"id": "i1", "qid": "q1", "question": "Who?", "question_tokens": [["Who", 0], ["?", 3]],
                "detected_answers": [spans], "answers": ["James Cameron", "Cameron"]}  # fmt: skip
    header = {"header": {"dataset": "Hand", "split": "dev"}}
    second = {**question, "qid": "q2", "answers": ["James Cameron"]}
    return lines([header, {"id": "", "context": _CONTEXT, "context_tokens": tokens, "qas": [question, second]}])


def squad() -> bytes:
    answers = [{"text": "James Cameron", "answer_start": 21}]
    questions = [
        {"id": "q1", "question": "Who?", "answers": answers, "is_impossible": False},
        {"id": "q2", "question": "When?", "answers": [], "is_impossible": True, "plausible_answers": answers},
    ]
    article = {"title": "Titanic", "paragraphs": [{"context": _CONTEXT, "qas": questions}]}
    return document({"version": "v2.0", "data": [article]})


def klue() -> bytes:
    question = {"guid": "q1", "question": "Who?", "question_type": 1, "is_impossible": False,
                "answers": [{"text": "James Cameron", "answer_start": 21}]}  # fmt: skip
    unanswerable = {**question, "guid": "q2", "is_impossible": True, "answers": []}
    paragraphs = [{"context": _CONTEXT, "qas": [question, unanswerable]}]
    return document({"version": "klue-mrc-v1.1", "data": [{"title": "T", "source": "x", "paragraphs": paragraphs}]})


def multiqa() -> bytes:
    instance = {"doc_id": 0, "part": "text", "start_byte": 21, "text": "James Cameron", "token_inds": [5, 6]}
    answer = {"extractive": {"answer": "James Cameron", "aliases": ["Cameron"], "instances": [instance]}}
    tokens = [["Titanic", 0], ["is", 8], ["a", 11], ["film", 13], ["by", 18], ["James", 21], ["Cameron", 27], [".", 34]]
    candidates = {"annotators_answer_candidates": [{"single_answer": answer}, {"single_answer": {"yesno": "yes"}}]}
    question = {
        "qid": "q1",
        "question": "Who?",
        "question_tokens": [["Who", 0], ["?", 3]],
        "answers": {"open-ended": candidates},
    }
    listed = {"annotators_answer_candidates": [{"list": [answer, {"number": 3}, {"date": "1997-01-01"}]}]}
    context = {
        "documents": [{"title": "Titanic", "text": _CONTEXT, "tokens": {"title": [["Titanic", 0]], "text": tokens}}]
    }
    entry = {
        "id": "c1",
        "context": context,
        "qas": [question, {**question, "qid": "q2", "answers": {"open-ended": listed}}],
    }
    counts = {"number_of_contexts": 1, "number_of_qas": 2, "number_of_qas_with_gold_answers": 2}
    header = {
        "dataset_name": "Hand",
        "split": "dev",
        "multiqa_version": "0.1.0",
        "source_url": "https://example.org",
        **counts,
    }
    return lines([{"header": header}, entry])


def hotpotqa() -> bytes:
    question = {"_id": "h1", "question": "Who?", "answer": "James Cameron", "type": "bridge", "level": "easy"}
    context = [["Titanic", [_CONTEXT, " It is long."]], ["James Cameron", ["He was born."]]]
    columns = {"title": ["Titanic"], "sentences": [[_CONTEXT]]}
    facts = {"title": ["Titanic"], "sent_id": [0]}
    return document([{**question, "context": context, "supporting_facts": [["Titanic", 0]]},
                     {**question, "_id": "h2", "context": columns, "supporting_facts": facts}])  # fmt: skip


def qamr() -> bytes:
    mark = {"answer": "James Cameron", "answer_start": 21}
    return lines([{"id": "Wiki/1/2", "sentence": _CONTEXT, "question": "Who?", **mark, "validator_answers": [mark]}])


def boolq() -> bytes:
    return lines([{"question": "is it a film", "title": "Titanic", "passage": _CONTEXT, "answer": True}] * 2)


def table_questions() -> bytes:
    return table(("id", "utterance", "context", "targetValue"), ("nt-0", "who\\p?", "csv/1.csv", "James|1997"))


def tables() -> bytes:
    return lines(
        [{"context": "csv/1.csv", "title": "T", "header": ["Name", "Year"], "rows": [["James", "1997"], ["Leo", "2"]]}]
    )


def csv_table() -> bytes:
    return b'"Name","Year"\n"James","1997"\n"a \\"b\\"","2"\n'


# passages -------------------------------------------------------------------------------------------------------------


def passages() -> bytes:
    return lines([
        {"id": "p1", "title": "Titanic", "text": _CONTEXT, "meta": {"url": "x"}}, {"id": "p2", "text": "Another text of one ship."},
        {"id": "p3", "title": "", "text": "A third passage on James and the film.", "meta": {}},
    ])  # fmt: skip


def questions() -> bytes:
    return lines([{"id": "1", "text": "Who made the film Titanic?"}, {"id": "2", "text": "a ship"}])


def questions_table() -> bytes:
    return table(("wiki", "Who made the film Titanic?"), ("wiki", "a ship"))


def expected() -> bytes:
    return table(("p1",), ("p2", "p3"))


def submission() -> bytes:
    return table(("p1", "p2", "p3"), ("p3", "p1"))


def pairs() -> bytes:
    return table(("question-id", "passage-id", "score"), ("1", "p1", "2"), ("1", "p2", "0"), ("2", "p2", "1"))


def scored_pairs() -> bytes:
    return table(("question-id", "passage-id", "score"), ("1", "p1", "2.5"), ("1", "p2", "1e-3"), ("2", "p3", "-1"))
