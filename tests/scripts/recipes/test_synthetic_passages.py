import json
from collections import Counter

import pytest

from convinse.passages.analysis import stop_words
from recipes import synthetic_passages


def read(plan, chunk=0):
    return [json.loads(line) for line in synthetic_passages.chunk_lines(plan, chunk).splitlines()]


@pytest.fixture(scope="module")
def passages():
    return read(synthetic_passages.make_plan(3000, 1))


def test_the_same_seed_gives_the_same_bytes():
    one, two, other = (synthetic_passages.chunk_lines(synthetic_passages.make_plan(500, seed), 0) for seed in (1, 1, 2))
    assert one == two != other


def test_passages_look_like_text(passages):
    assert len({passage["id"] for passage in passages}) == len(passages) == 3000
    words = [passage["text"].lower().rstrip(".").split() for passage in passages]
    assert 60 < sum(map(len, words)) / len(words) < 70
    counts = Counter(word for row in words for word in row)
    ranked = [number for _, number in counts.most_common()]
    assert counts.most_common(1)[0][0] in stop_words("pl") and 5 < ranked[0] / ranked[20] < 40
    first = passages[0]
    assert first["id"] == f"{first['meta']['article_id']}-{first['meta']['passage_id']}"
    titles = {}
    for passage in passages:
        assert titles.setdefault(passage["meta"]["article_id"], passage["title"]) == passage["title"]
    assert 400 < len(titles) < 800


def test_ids_are_unique_over_chunks():
    plan = synthetic_passages.make_plan(2 * synthetic_passages.CHUNK + 5, 3)
    ids = [passage["id"] for chunk in range(3) for passage in read(plan, chunk)]
    assert len(ids) == len(set(ids)) == 2 * synthetic_passages.CHUNK + 5


def test_questions_share_words_with_their_passage(passages):
    texts = {passage["id"]: set(passage["text"].lower().rstrip(".").split()) for passage in passages}
    found = list(synthetic_passages.questions(synthetic_passages.make_plan(3000, 1), 100))
    assert len(found) == 100
    for _, text, passage in found:
        words = text.lower().rstrip("?").split()
        assert len(words) == 8 and len(texts[passage].intersection(words)) >= 3
