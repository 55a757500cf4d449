"""Contexts of more than 800 tokens: parts of them, each question in one."""

from hypothesis import given
from hypothesis import strategies as st

from convinse.formats.mrqa import DetectedAnswer, MrqaExample, MrqaQuestion, limit_context
from convinse.formats.tokens import TokenizedText


def example_of(words, spans):
    """A context of so many tokens, a question for each list of token spans."""
    text = TokenizedText(" ".join(f"w{i}" for i in range(words)))
    questions = []
    for number, each in enumerate(spans):
        chars = [(text.starts[first], text.ends[last]) for first, last in each]
        answers = [DetectedAnswer("x", chars, list(each), {"note": 1})] if each else []
        questions.append(MrqaQuestion(f"q{number}", "?", detected_answers=answers, answers=["x"]))
    return MrqaExample(text.text, questions, text.tokens, {"more": 1})


def test_long_context_becomes_its_beginning_and_parts_for_the_answers_behind():
    example = example_of(800, [[(799, 799)]])
    assert limit_context(example) == [example]  # it fits
    parts = limit_context(
        example_of(1700, [[(3, 4), (900, 901)], [(900, 900)], [(850, 850), (1650, 1699)], [], [(799, 800)]])
    )
    assert [[question.qid for question in part.qas] for part in parts] == [["q0", "q3"], ["q4"], ["q1", "q2"]]
    assert [part.context_tokens[0] for part in parts] == [("w0", 0), ("w400", 0), ("w800", 0)]
    first = parts[0].qas[0].detected_answers[0]
    assert first.token_spans == [(3, 4)] and first.extras == {"note": 1} and parts[0].extras == {"more": 1}


@given(st.integers(1, 60), st.integers(2, 12), st.data())
def test_parts_hold_every_question_once_and_spans_stay_true(words, limit, data):
    pair = st.tuples(st.integers(0, words - 1), st.integers(0, words - 1)).map(sorted).map(tuple)
    example = example_of(words, data.draw(st.lists(st.lists(pair, max_size=3), max_size=4)))
    texts = {}
    for part in limit_context(example, limit):
        assert len(part.context_tokens) <= limit and part.context in example.context
        for token, offset in part.context_tokens:
            assert part.context[offset : offset + len(token)] == token
        for question in part.qas:
            assert question.qid not in texts and question.answers == ["x"]
            texts[question.qid] = set()
            for answer in question.detected_answers:
                assert answer.char_spans and len(answer.char_spans) == len(answer.token_spans)
                for (start, end), (first, last) in zip(answer.char_spans, answer.token_spans, strict=True):
                    assert part.context_tokens[first][1] == start
                    assert part.context_tokens[last][1] + len(part.context_tokens[last][0]) - 1 == end
                    texts[question.qid].add(part.context[start : end + 1])
    for question in example.qas:
        spans = question.detected_answers[0].char_spans if question.detected_answers else []
        before = {example.context[start : end + 1] for start, end in spans}
        assert texts[question.qid] <= before
        fits = [
            span for answer in question.detected_answers for span in answer.token_spans if span[1] - span[0] < limit
        ]
        assert bool(texts[question.qid]) == bool(fits)  # an answer that fits into a part at all is in one
