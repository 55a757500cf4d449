"""Pages of PDF files that are drawn, and the boxes of words on them: compared with where the tests draw these words."""

import io

import pytest

from convinse.documents.evidences import document_evidences
from convinse.documents.quotes import pieces_of
from convinse.documents.readers import pdf_pages
from convinse.documents.readers.pdf import read_pdf
from convinse.documents.readers.pdf_pages import draw_page, find_on_page, page_count
from convinse.support.errors import DataError
from drawn_pdf import pdf_of

WIDTH, HEIGHT = 612, 792
PAGE = """# Harbour museum

The museum was opened in 1987. It has a large
hall. The museum shows 312 model ships, the
largest of which is six metres long.

+-------+-------+-------+
| Ship  | Sails | Masts |
+-------+-------+-------+
| Anna  | 12    | 2     |
+-------+-------+-------+
| Berta | 14    | 2     |
+-------+-------+-------+
| Clara | 14    | 14    |
+-------+-------+-------+
"""
SHIPS = "The museum shows 312 model ships, the largest of which is six metres long."


def box_of(line, start, length):
    """The box of signs that `drawn_pdf` draws, in points from the upper left corner."""
    base = 740 - 12 * line
    return 40 + 6 * start, HEIGHT - base - 7, 40 + 6 * (start + length), HEIGHT - base + 5


def is_around(box, points, size=(WIDTH, HEIGHT)):
    """Whether a box is that of some points, but for a few points of margin."""
    found = [part * length for part, length in zip(box, size * 2, strict=True)]
    return all(abs(left - right) < 4 for left, right in zip(found, points, strict=True))


def test_each_line_of_a_passage_has_its_box():
    page, (first, second) = find_on_page(pdf_of([PAGE]), 1, [SHIPS])
    assert page == 1 and is_around(first, box_of(3, 6, 37)) and is_around(second, box_of(4, 0, 36))


@pytest.mark.parametrize(("ship", "line"), [("Anna", 9), ("Berta", 11), ("Clara", 13)])
def test_equal_cells_are_those_of_the_row(ship, line):
    cells = PAGE.splitlines()[line].strip("| ").split("|")
    (box,) = find_on_page(pdf_of([PAGE]), 1, cells)[1]
    assert is_around(box, box_of(line, 2, 16 + len(cells[2].strip())))


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_boxes_turn_with_the_page(quarters):
    left, top, right, bottom = box_of(3, 6, 37)
    turned = [
        (HEIGHT - bottom, left, HEIGHT - top, right),
        (WIDTH - right, HEIGHT - bottom, WIDTH - left, HEIGHT - top),
        (top, WIDTH - right, bottom, WIDTH - left),
    ][quarters - 1]
    size = (HEIGHT, WIDTH) if quarters % 2 else (WIDTH, HEIGHT)
    assert is_around(find_on_page(pdf_of([PAGE], rotate=90 * quarters), 1, [SHIPS])[1][0], turned, size)


@pytest.mark.parametrize("matrix", ["0 1 -1 0 792 0", "-1 0 0 -1 612 792", "0 -1 1 0 -200 792", "1 0 0 1 20 -30"])
def test_boxes_turn_with_the_text(matrix):
    left, top, right, bottom = box_of(3, 6, 37)
    a, b, c, d, e, f = map(int, matrix.split())
    corners = [(x, HEIGHT - y) for x, y in ((left, top), (right, bottom))]  # from below, as the matrix counts
    (left, right), (top, bottom) = (
        sorted(values)
        for values in zip(*((a * x + c * y + e, HEIGHT - (b * x + d * y + f)) for x, y in corners), strict=True)
    )
    assert is_around(find_on_page(pdf_of([PAGE], turn=matrix), 1, [SHIPS])[1][0], (left, top, right, bottom))


def test_words_on_a_later_page_are_found_there_and_a_sentence_on_two_pages_in_part():
    first = "The ferry leaves at nine and brings the guests of the inn to the island of the"
    data = pdf_of([first, "lighthouse before noon. It returns at six.", PAGE])
    assert find_on_page(data, 1, ["It returns at six."])[0] == 2
    page, (box,) = find_on_page(data, 1, [f"{first} lighthouse before noon."])
    assert page == 1 and is_around(box, box_of(0, 0, len(first)))
    assert find_on_page(data, 1, ["Clara", "14", "14"])[0] == 3


@pytest.mark.parametrize("words", ["The museum lends 40,000 books to its guests.", "—", ""])
def test_words_that_are_not_there_have_no_box(words):
    assert find_on_page(pdf_of([PAGE]), 1, [words]) == (1, [])


def test_all_evidences_of_a_page_have_boxes():
    columns = "\n".join(
        f"{left:<34}{right}"
        for left, right in zip(
            ["The inn has nine rooms. Each", "room looks at the sea, and", "breakfast is from seven on,", "also on Sundays and feasts."],
            ["The ferry goes twice a day.", "It takes forty minutes, and", "a ticket costs nine euros", "for adults and for dogs."],
            strict=True,
        )
    )  # fmt: skip
    for data in (pdf_of([PAGE]), pdf_of([columns])):
        evidences, ((document, _), *_) = document_evidences("inn.pdf", read_pdf(data))
        places = [
            find_on_page(data, evidence["citation"]["page"], pieces_of(evidence, document["label"]))
            for evidence in evidences
        ]
        assert len(places) > 1 and all(boxes for _, boxes in places)


def test_a_page_is_drawn_with_its_words_in_their_boxes():
    image = pytest.importorskip("PIL.Image")
    data = pdf_of([PAGE, "Second page."])
    picture = image.open(io.BytesIO(draw_page(data, 1))).convert("L")
    assert picture.size == (2 * WIDTH, 2 * HEIGHT) and page_count(data) == 2
    dark = picture.point(lambda value: 255 * (value < 128))
    for box in find_on_page(data, 1, [SHIPS])[1]:
        left, top, right, bottom = (part * length for part, length in zip(box, picture.size * 2, strict=True))
        inside = dark.crop((int(left), int(top), int(right), int(bottom))).getbbox()
        assert inside[2] - inside[0] > 0.95 * (right - left)
    assert dark.crop((0, picture.height // 2, *picture.size)).getbbox() is None
    coloured = image.open(io.BytesIO(draw_page(pdf_of(["Red."], turn="1 0 0 rg 1 0 0 1 0 0"), 1)))
    assert coloured.mode == "RGB" and (255, 0, 0) in {color for _, color in coloured.getcolors(10_000)}


@pytest.mark.parametrize("page", [0, -1, 2])
def test_a_page_that_is_not_there_is_an_error(page):
    for work in (lambda: draw_page(pdf_of([PAGE]), page), lambda: find_on_page(pdf_of([PAGE]), page, [SHIPS])):
        with pytest.raises(DataError, match="no page"):
            work()


def test_large_and_slow_pages_are_limited(monkeypatch):
    image = pytest.importorskip("PIL.Image")
    wide = pdf_of([PAGE]).replace(b"[0 0 612 792]", b"[0 0 9e4 9e4]")
    width, height = image.open(io.BytesIO(draw_page(wide, 1))).size
    assert width * height <= pdf_pages.MOST_PIXELS
    monkeypatch.setattr(pdf_pages, "LONGEST_DRAWING", -1)
    with pytest.raises(DataError, match="seconds to draw"):
        draw_page(pdf_of([PAGE * 3]), 1)


def test_boxes_are_parts_of_the_page():
    data = pdf_of([PAGE], turn="1 0 0 1 -100 0")  # the left of the text is cut off
    (box, *_) = find_on_page(data, 1, [SHIPS])[1]
    assert len(box) == 4 and all(0 <= part <= 1 for part in box)
