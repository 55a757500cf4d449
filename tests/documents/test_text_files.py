"""Files of text, of separated values and of records as blocks, with their neighbours."""

import csv
import json
import time

import pytest

from convinse.documents.evidences import title_of
from convinse.documents.model import Heading, PairsBlock, TableBlock, TextBlock
from convinse.documents.readers import separated
from convinse.documents.readers.code_pages import decoded
from convinse.documents.readers.records import read_json, read_json_lines, words_of_name
from convinse.documents.readers.separated import read_separated
from convinse.documents.readers.texts import read_text
from convinse.support.errors import DataError


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8-sig", "Łódź"), ("utf-16", "Łódź"), ("utf-32", "Łódź"), ("utf-16-le", "a plain text"), ("utf-16-be", "a plain text"),
        ("cp1252", "Le café ouvre à 9 h."), ("cp1252", "Die Brücke kostet 40 €."), ("cp1252", "It’s the day"), ("cp1252", "5 m² – 80 °C"),
        ("cp1252", "Größe"), ("cp1252", "El niño comió una piña."), ("cp1252", "Årø har færger."), ("cp1252", "©"), ("cp1252", "MÜNCHEN"),
        ("cp1252", "São Paulo é uma região."), ("cp1250", "Gdańsk leży nad Bałtykiem."), ("iso8859_2", "Łódź ma 672185 mieszkańców."),
        ("cp1250", "Příliš žluťoučký kůň"), ("cp1250", "Győr és Debrecen között őszi idő"), ("cp1251", "Калуга;337058"), ("cp1251", "МОСКВА"),
        ("cp1251", "Name: Иван"), ("koi8_r", "Калуга стоит на реке"), ("cp866", "Калуга стоит на реке"), ("cp1253", "Η Αθήνα είναι"),
        ("cp932", "上野は1883年に開業した。"), ("euc_jp", "上野は1883年に開業した。"), ("gb18030", "北京是中国的首都。"), ("big5", "臺北市是首都，人口二百萬。"),
        ("cp949", "서울은 수도이다."), ("cp1254", "Şişli ilçesi büyüktür"), ("cp850", "Müller wohnt in Köln"), ("mac_roman", "Le café est fermé à midi"),
        ("cp1252", "foo—bar ‘quoted’ 10 µg"), ("cp1252", "„Grüße“"), ("cp1252", "à"), ("cp1252", "N° 5; 80 °C"), ("cp1252", "«Où?»"), ("cp1250", "Poznań"),
        ("cp1250", "Győr"), ("cp1251", "Санкт-Петербург"), ("cp949", "서울"), ("euc_jp", "上野駅"), ("big5", "臺北"), ("gb18030", "北京"), ("cp1253", "Θεσσαλονίκη"),
        ("iso8859_2", "<?xml encoding='ISO-8859-2'?> ą"), ("cp1251", "# -*- coding: cp1251 -*- я"), ("cp932", '<meta charset="Shift_JIS">ｱ'),
    ],
)  # fmt: skip
def test_text_of_any_encoding_is_read(encoding, text):
    assert decoded(text.encode(encoding)) == text


def test_what_is_no_text_and_what_is_damaged(monkeypatch):
    assert decoded("ü".encode() * 300 + b"\xff") == "ü" * 300 + "\ufffd"
    assert decoded(b"charset=punycode \xe9t\xe9") == "charset=punycode été"
    for data in (b"\x00\x01\x02\x03", b"a\x00b", b"a\x07", b"\x89PNG\r\n\x1a\n\x00\x00"):
        with pytest.raises(DataError, match="is not text"):
            decoded(data)
    monkeypatch.setattr("convinse.documents.readers.code_pages.LONGEST_LINE", 9)
    with pytest.raises(DataError, match="has a line of more than 9 characters"):
        decoded(b"0123456789")


WRAPPED = (
    "The hall by the harbour was built in 1901 and it has 1\n200 lamps. It was the termi-\nnal of a well-known\n line."
)


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("Rules\n\nNo anchor.\n\nUse\n^^^\n\nBy day.", [Heading("Rules", 1, 1), TextBlock("No anchor.", 3), Heading("Use", 2, 5), TextBlock("By day.", 8)]),
        ("Use\n\"\"\"\nBy day.", [Heading("Use", 2, 1), TextBlock("By day.", 3)]),
        ("=====\nTitle\n=====\n\nText.", [Heading("Title", 2, 2), TextBlock("Text.", 5)]),
        ("It rains.\n\nNOTES\n\nIt snows.\n\nEND", [TextBlock("It rains.", 1), Heading("NOTES", 2, 3), TextBlock("It snows.", 5), TextBlock("END", 7)]),
        ("Buy:\n- rope\n- tar\n  and wax\n1. go\n• x", [TextBlock("Buy:", 1), *(TextBlock(item, line, kind="item") for item, line in (("rope", 2), ("tar and wax", 3), ("go", 5), ("x", 6)))]),
        ("Name: Ida\nHome town: Bergen\n", [PairsBlock([("Name", "Ida"), ("Home town", "Bergen")], 1)]),
        ("Anna: Hello.\nPer: Good day.\nAnna: Bye.", [TextBlock("Anna: Hello.", 1, kind="item"), TextBlock("Per: Good day.", 2, kind="item"), TextBlock("Anna: Bye.", 3, kind="item")]),
        ("Note: it rains.", [TextBlock("Note: it rains.", 1)]),
        ("See http://a.example\nand http://b.example for more.", [TextBlock("See http://a.example and http://b.example for more.", 1)]),
        ("So:\n\n    for (x in y) {\n      go();\n    }\n", [TextBlock("So:", 1), TextBlock("for (x in y) {\n  go();\n}", 3, kind="code")]),
        ("Title\r\n\r\n        Once upon a time.\r\n", [Heading("Title", 1, 1), TextBlock("Once upon a time.", 3)]),
        ("Keep at <= 8 °C. A List<String>,\n^1.2 and <none>.", [TextBlock("Keep at <= 8 °C. A List<String>, ^1.2 and <none>.", 1)]),
        (WRAPPED, [TextBlock("The hall by the harbour was built in 1901 and it has 1 200 lamps. It was the terminal of a well-known line.", 1)]),
        ("Room 12\n45 seats\nFloor 3\n200 lamps", [TextBlock(text, line, kind="item") for line, text in enumerate(("Room 12", "45 seats", "Floor 3", "200 lamps"), 1)]),
        ("There are 1\n200 lamps.", [TextBlock("There are 1 200 lamps.", 1)]),
        ("-5 °C at night.\n\n-----\n\nFine.", [TextBlock("-5 °C at night.", 1), TextBlock("Fine.", 5)]),
        ("Der Leuchtturm wurde im Hafen gebaut am\n12. März 1901 und steht.", [TextBlock("Der Leuchtturm wurde im Hafen gebaut am 12. März 1901 und steht.", 1)]),
        ("12. März 1901\n\n2. tar", [TextBlock("12. März 1901", 1, kind="item"), TextBlock("tar", 3, kind="item")]),
        ("Rope\nAuthor: Ida\nYear: 1901\n\nIt is long.", [Heading("Rope", 1, 1), PairsBlock([("Author", "Ida"), ("Year", "1901")], 2), TextBlock("It is long.", 5)]),
        ("It rains.\nHalls\n-----\nIt snows.\n*****\nIt is warm.", [TextBlock("It rains.", 1), Heading("Halls", 2, 2), TextBlock("It snows.", 4), TextBlock("It is warm.", 6)]),
        (f"{'Never wrapped. ' * 20}\n{'Another line. ' * 20}", [TextBlock(("Never wrapped. " * 20).strip(), 1), TextBlock(("Another line. " * 20).strip(), 2)]),
        ("So:\n\n    $ pip install x", [TextBlock("So:", 1), TextBlock("$ pip install x", 3, kind="code")]),
        ("", []),
    ],
)  # fmt: skip
def test_text_gives_blocks(text, blocks):
    assert read_text(text.encode()).blocks == blocks


def test_the_title_of_a_text():
    texts = [b"Rules\n\nA.", b"Rules", b"It rains.\n\nB."]
    assert [title_of("notes.txt", read_text(data)) for data in texts] == ["Rules", "notes", "notes"]


SEPARATED = [
    ("tools", "sep=;\nname;weight\nAnvil;54\n", [["name", "weight"], ["Anvil", "54"]], [2, 3], ""),
    ("inches", 'p\td\ts\nA\t"H" bolt\t4\nB\t"19 inch\t7\nC\tflat\t9\nD\tnut\t3\nE\t6" clamp\t1\n', [["p", "d", "s"], ["A", '"H" bolt', "4"], ["B", '"19 inch', "7"], ["C", "flat", "9"], ["D", "nut", "3"], ["E", '6" clamp', "1"]], [1, 2, 3, 4, 5, 6], ""),
    ("quoted", 'a,b\n"x, y",1\n"say ""hi""",2\n', [["a", "b"], ["x, y", "1"], ['say "hi"', "2"]], [1, 2, 3], ""),
    ("decimal commas", "a;b;c\nx;7,5;1.249,00\ny;2,25;3,50\n", [["a", "b", "c"], ["x", "7,5", "1.249,00"], ["y", "2,25", "3,50"]], [1, 2, 3], ""),
    ("broken cells", 'a,b\n"1 Main St,\nOslo",5\nq,6\n', [["a", "b"], ["1 Main St, Oslo", "5"], ["q", "6"]], [1, 2, 4], ""),
    ("one column", "name\nSmith, John\nDoe, Jane\n", [["name"], ["Smith, John"], ["Doe, Jane"]], [1, 2, 3], ""),
    ("one column of numbers", "people\n1,234\n5,678\n", [["people"], ["1,234"], ["5,678"]], [1, 2, 3], ""),
    ("thousands", 'city\tpeople\nOslo\t1,234\nRome\t2,345\n', [["city", "people"], ["Oslo", "1,234"], ["Rome", "2,345"]], [1, 2, 3], ""),
    ("comments", "# of 2020, by us\na,b,c\n1,2,3\n\n4,5,6\n", [["a", "b", "c"], ["1", "2", "3"], ["", "", ""], ["4", "5", "6"]], [2, 3, 4, 5], "of 2020, by us"),
    ("a title", "Stock of tools\n\nname,weight,room\nAnvil,54,A\n", [["name", "weight", "room"], ["Anvil", "54", "A"]], [3, 4], "Stock of tools"),
    ("a title in a sheet", "Stock,,\nname,weight,room\nAnvil,54,A\n", [["name", "weight", "room"], ["Anvil", "54", "A"]], [2, 3], "Stock"),
    ("ends", "a|b|\n1|2|\n3|4|\n", [["a", "b"], ["1", "2"], ["3", "4"]], [1, 2, 3], ""),
    ("ragged", "a,b,c\n1,2\n3,4,5,6\n7,8,9\n", [["a", "b", "c", ""], ["1", "2", "", ""], ["3", "4", "5", "6"], ["7", "8", "9", ""]], [1, 2, 3, 4], ""),
    ("blanks", 'a, b\n1, "x, y"\n', [["a", "b"], ["1", "x, y"]], [1, 2], ""),
    ("prose", "id,text\n1,It rains; it snows\n2,So | so\n", [["id", "text"], ["1", "It rains; it snows"], ["2", "So | so"]], [1, 2, 3], ""),
    ("identifiers", "name,placeOfDeath,gdp_share\nAda,Varn,7.3\n", [["name", "place of death", "gdp share"], ["Ada", "Varn", "7.3"]], [1, 2], ""),
    ("no identifiers", "lake,area km2\nTarn,9\n", [["lake", "area km2"], ["Tarn", "9"]], [1, 2], ""),
    ("never closed", 'a,b\n1,"open\n2,x\n3,y\n', [["a", "b"], ["1", '"open'], ["2", "x"], ["3", "y"]], [1, 2, 3, 4], ""),
    ("names above", "Report,2020\nBy,Ida\n\nname,a,b,c\nx,1,2,3\n", [["name", "a", "b", "c"], ["x", "1", "2", "3"]], [4, 5], "Report, 2020; By, Ida"),
    ("no first head", ",2020,2021\nOslo,1,2\n", [["", "2020", "2021"], ["Oslo", "1", "2"]], [1, 2], ""),
    ("times", "at;what\n2020-01-02 10:30;on, then off\n2020-01-03 11:00;off, then on\n", [["at", "what"], ["2020-01-02 10:30", "on, then off"], ["2020-01-03 11:00", "off, then on"]], [1, 2, 3], ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rows", "lines", "caption"), [case[1:] for case in SEPARATED])
def test_separated_values_give_a_table(text, rows, lines, caption):
    assert read_separated(text.encode()).blocks == [TableBlock(rows, caption=caption, lines=lines)]


def test_the_delimiter_is_found_more_often_than_by_the_standard_library():
    """What `csv.Sniffer` makes of the same files: it is right where the first rows are the table's own."""

    def sniffed(text):
        try:
            dialect = csv.Sniffer().sniff(text, ",;\t|")
        except csv.Error:
            dialect = csv.excel
        return [[cell.strip() for cell in row] for row in csv.reader(text.splitlines(), dialect) if any(row)]

    right = [sniffed(text) == [list(row) for row in rows] for _, text, rows, _, _ in SEPARATED]
    assert sum(right) < len(SEPARATED) / 2


def test_limits_of_separated_values(monkeypatch):
    monkeypatch.setattr(separated, "MOST_CELLS", 6)
    document = read_separated(b"a,b\n1,2\n3,4\n5,6\n7,8\n")
    assert (len(document.blocks[0].rows), document.left_out) == (3, ["2 of 5 rows"])
    document = read_separated(b"1,2,3,4,5,6,7,8")
    assert (document.blocks[0].rows, document.left_out) == ([list("123456")], ["2 of 8 columns"])
    assert read_separated(b"\n\n").blocks == []


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ('[{"name":"Cod","price":1.50,"size":{"maxLength":1e3}},{"name":"Hake","wild":true,"price":null}]', [TableBlock([["name", "price", "size max length", "wild"], ["Cod", "1.50", "1e3", ""], ["Hake", "", "", "true"]], heads=1)]),
        ('{"server":{"port":7777,"host":null,"tags":["a","b"]}}', [PairsBlock([("server port", "7777"), ("server tags", "a, b")])]),
        ('{"dependencies":{"wheel":"^1.2","axle":"<= 5.0"}}', [PairsBlock([("dependencies wheel", "^1.2"), ("dependencies axle", "<= 5.0")])]),
        ('{"year":2020,"shipList":[{"id":1},{"id":2}]}', [PairsBlock([("year", "2020")]), Heading("ship list", 2), TableBlock([["id"], ["1"], ["2"]], heads=1)]),
        ('{"a":{"b":[{"x":12345678901234567890123}]}}', [Heading("a b", 2), TableBlock([["x"], ["12345678901234567890123"]], heads=1)]),
        ('[["a","b"],[1,2.0]]', [TableBlock([["a", "b"], ["1", "2.0"]])]),
        ('["a",2]', [TextBlock("a", kind="item"), TextBlock("2", kind="item")]),
        ('"a"', [TextBlock("a")]),
        ("[]", []),
        ("{}", []),
        ('{"a":1}\n{"a":2}', [TableBlock([["a"], ["1"], ["2"]], heads=1, lines=[0, 1, 2])]),
        (json.dumps([{"id": 7, "title": "Tides", "text": "High. " * 60}]), [Heading("Tides", 2), PairsBlock([("id", "7"), ("title", "Tides")]), TextBlock(("High. " * 60).strip())]),
    ],
)  # fmt: skip
def test_json_gives_blocks(text, blocks):
    assert read_json(text.encode()).blocks == blocks


def test_json_lines_have_lines():
    assert read_json_lines(b'{"a":"x"}\n\n{"a":"y\xe2\x80\xa8z"}\n').blocks == [
        TableBlock([["a"], ["x"], ["y\u2028z"]], heads=1, lines=[0, 1, 3])
    ]
    long = [json.dumps({"name": name, "text": "long " * 50}) for name in "AB"]
    places = [(type(block), block.line) for block in read_json_lines("\n".join(long).encode()).blocks]
    assert places == [(kind, line) for line in (1, 2) for kind in (Heading, PairsBlock, TextBlock)]
    sparse = "\n".join(json.dumps({f"k{number}": number}) for number in range(999))
    assert read_json_lines(sparse.encode()).blocks[998] == PairsBlock([("k998", "998")], 999)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("placeOfDeath", "place of death"), ("gdp_share", "gdp share"), ("GDP", "GDP"), ("HTTPServer", "HTTP server"), ("net-weight", "net weight"),
        ("Unit Price", "Unit Price"), ("x2", "x2"), ("A-100", "A-100"), ("PlaceOfBirth", "place of birth"), ("Name", "Name"), ("userID", "user ID"),
        ("UNIT_PRICE", "UNIT PRICE"), ("_id", "id"), ("2020-01-02", "2020-01-02"), ("area_km2", "area km2"), ("a.b", "a.b"), ("", ""), ("Größe", "Größe"),
        ("iPhone", "iPhone"), ("GitHub", "GitHub"), ("pH", "pH"), ("kWh", "kWh"), ("McDonald", "McDonald"), ("Saint-Denis", "Saint-Denis"), ("größteStadt", "größte stadt"),
    ],
)  # fmt: skip
def test_names_are_words(name, words):
    assert words_of_name(name) == words


@pytest.mark.parametrize(
    ("reader", "data"),
    [
        (read_json, b"[" * 200_000), (read_json, b'{"a":' * 99 + b"1" + b"}" * 99), (read_json, b"{'a': 1}"), (read_json_lines, b'{"a":1}\nb'),
        (read_text, b"x" * 20_000_000), (read_separated, b"," * 20_000_000), (read_separated, b'a,"' + b"x\n" * 99_999),
    ],
)  # fmt: skip
def test_hostile_files_cost_little(reader, data):
    start = time.process_time()
    try:
        reader(data)
    except DataError as error:
        assert str(error) and "\n" not in str(error)
    assert time.process_time() - start < 2
