"""PDF files from pages drawn with signs: each sign has its place, runs of `-` are ruled lines, `|` are parts of upright ones."""

import re

_WIDTH, _HEIGHT, _SIZE = 6, 12, 10  # of a sign of Courier at 10 points, and of a line


def pdf_of(pages, rotate=0, turn="1 0 0 1 0 0", height=_HEIGHT, extra=(), trailer="", is_form=False):
    """A file of pages; `turn` is the matrix of all that is drawn, `height` that of a line, `extra` are further objects.

    A line that begins with `# ` or `## ` is larger, with `* ` bold.
    """
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Courier-Bold/Encoding/WinAnsiEncoding>>",
    ]
    for number, page in enumerate(pages):
        drawn = f"q {turn} cm {_drawn(page, height)} Q"
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Rotate {rotate}/Contents {6 + 2 * number} 0 R"
            "/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>>>"
        )
        objects.append(f"<</Length {len(drawn)}>>\nstream\n{drawn}\nendstream")
    if is_form:  # the content of the only page within another one, at half its size
        form = objects.pop().replace(
            "<<", "<</Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>", 1
        )
        objects[-1] = objects[-1].replace("<</Font", "<</XObject<</X 7 0 R>>/Font")
        objects += ["<</Length 30>>\nstream\nq .5 0 0 .5 100 100 cm /X Do Q\nendstream", form]
    return file_of([*objects, *extra], trailer)


def file_of(objects, trailer=""):
    """A file of these objects, the first of which is its catalog."""
    file, places = "%PDF-1.4\n", []
    for number, value in enumerate(objects, 1):
        places.append(len(file))
        file += f"{number} 0 obj\n{value}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    head = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<</Root 1 0 R/Size {size}{trailer}>>"
    return f"{file}{head}\nstartxref\n{len(file)}\n%%EOF\n".encode("latin-1")


def locked_pdf():
    """A file that needs a password."""
    crypt = f"<</Filter/Standard/V 1/R 2/P -4/O<{'ab' * 32}>/U<{'cd' * 32}>>>"
    return pdf_of(["Ships."], extra=[crypt], trailer="/Encrypt 7 0 R/ID[<00><00>]")


def _drawn(page, height):
    parts = []
    for number, line in enumerate(page.splitlines()):
        base = 740 - height * number
        font, size = "F1", _SIZE
        if mark := re.match(r"(#+|\*) ", line):
            font, size = ("F2", _SIZE) if mark[1] == "*" else ("F1", 20 - 4 * len(mark[1]))
            line = line[mark.end() :]
        for rule in re.finditer(r"[-+]{3,}", line):
            parts.append(_rule(rule.start(), rule.end() - 1, base, base))
        for place in (found.start() for found in re.finditer(r"[|+]", line)):
            parts.append(_rule(place, place, base - height / 2, base + height / 2))
        for words in re.finditer(r"\S+(?: \S+)*", re.sub(r"[-+]{3,}|[|]", lambda rule: " " * len(rule[0]), line)):
            text = re.sub(r"([()\\])", r"\\\1", words[0])
            parts.append(f"BT /{font} {size} Tf {40 + _WIDTH * words.start()} {base - 3} Td ({text}) Tj ET")
    return "\n".join(parts)


def _rule(first, last, bottom, top):
    half = _WIDTH / 2
    return f"{40 + _WIDTH * first + half} {bottom} m {40 + _WIDTH * last + half} {top} l S"
