"""The list of common words is what the recipe reads in texts."""

from convinse.language.language import english
from recipes.common_words import small_words


def test_words_that_several_texts_write_small():
    texts = [
        "The king met Kate's friend. O'Neill's well-known a.k.a. was kept, in café 3rd.",
        "A king of friends. Friend of Kate, a café",
        "King of the friend's kate",
    ]
    assert small_words(texts, 2) == ["cafe", "king", "of"]
    assert small_words(texts[:1] * 2, 3) == []


def test_the_shipped_list_tells_words_from_names():
    small = english().common.small
    assert {"king", "lost", "friends", "alien", "singer", "directed"} <= small
    assert small.isdisjoint(["metallica", "dracula", "casablanca", "draculla", "seinfeld"])
