"""The units and currencies behind and before numbers."""

from __future__ import annotations

import re

CURRENCY = "$€£¥₹₽₩₺₪฿₴₦₱₫₿₡₲₵₸"
_MONEY = "usd eur gbp chf nok sek dkk kr pln zł czk kč inr pound pounds dollar dollars euro euros yen rupees francs roubles rubles pesos"
MONEY_WORDS = _MONEY.replace(" ", "|")  # behind an amount, which is no year then: "1290 kr"; a regular expression
# Units of a quantity from large to small: "5 ft 11 in" is a single length.
_CHAINS = (
    ("mi mile miles", "yd yard yards", "ft feet foot ' ′ ’", "in inch inches \" ″ ” ''"),
    ("y yr yrs year years", "month months", "week weeks", "d day days", "h hr hrs hour hours", "m min mins minute minutes",
     "s sec secs second seconds"),
    ("st stone", "lb lbs pound pounds", "oz ounce ounces"),
    ("gal gallon gallons", "qt quart quarts", "pint pints"),
    ("dollar dollars euro euros", "cent cents"),
    ("km", "m metre metres meter meters", "cm", "mm"),
    ("t tonnes", "kg", "g"),
    ("° degrees", "' ′ ’", "\" ″ ”"),
)  # fmt: skip
UNIT_RANKS = [{word: rank for rank, words in enumerate(chain) for word in words.split()} for chain in _CHAINS]
_MEASURES = (
    "% ‰ percent °c °f km² km2 m² m2 m³ m3 kmh km/h m/s mph ha g mg hz khz mhz ghz w kw mw gw kb mb gb tb hp cc"
    " hectare hectares acre acres kilometre kilometres kilometer kilometers centimetre centimetres centimeter centimeters"
    " millimetre millimetres gram grams kilogram kilograms ton tons tonne litre litres liter liters knots watts kilowatts"
    " megawatts gigawatts l ml cl dl hl µl μl µg μg rpm kwh mwh kcal kj bar mbar hpa kpa db ppm"
)
_UNIT_WORDS = {*_MEASURES.split(), *_MONEY.split(), *(word for ranks in UNIT_RANKS for word in ranks)} - {
    *"dy'’\"”",
    "in",
    "st",
    "t",
    "''",
}
_WORDS_OF_UNIT = "|".join(sorted(map(re.escape, _UNIT_WORDS), key=len, reverse=True))
UNIT = re.compile(
    rf"[\s-]?(?:(?:square|cubic|sq\.?|cu\.?)\s\w+|per\s?cent|degrees?\s(?:celsius|fahrenheit)|°\s?[cf]|{_WORDS_OF_UNIT})"
    rf"(?:\s?(?:/|per\s)\s?[a-z]+[²³]?)?(?!\w)|\sin(?=\s(?:tall|long|wide|high|deep|thick)|[.,;)]|\s*$)|\s?[{CURRENCY}](?![0-9])",
    re.IGNORECASE,
)
# words of a unit -> the unit that values are compared in, and its factor
IN_BASE: dict[str, tuple[str, float]] = {
    word: (base, factor)
    for base, sizes in {
        "m": {"km kilometre kilometres kilometer kilometers": 1000.0, "m metre metres meter meters": 1.0, "cm": 0.01, "mm": 0.001,
              "mi mile miles": 1609.344, "yd yard yards": 0.9144, "ft foot feet": 0.3048,
              "inch inches": 0.0254},
        "kg": {"t ton tons tonne tonnes": 1000.0, "kg kilogram kilograms": 1.0, "g gram grams": 0.001, "mg": 1e-6, "µg μg": 1e-9, "st stone": 6.35029318, "lb lbs": 0.45359237, "oz ounce ounces": 0.028349523125},
        "s": {"week weeks": 604800.0, "d day days": 86400.0, "h hr hrs hour hours": 3600.0, "min mins minute minutes": 60.0, "s sec secs second seconds": 1.0},
        "byte": {"b byte bytes": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
        "w": {"w watt watts": 1.0, "kw kilowatt kilowatts": 1e3, "mw megawatt megawatts": 1e6, "gw": 1e9},
        "l": {"l litre litres liter liters": 1.0, "hl": 100.0, "dl": 0.1, "cl": 0.01, "ml": 0.001, "µl μl": 1e-6},
        "": {"thousand": 1e3, "lakh": 1e5, "million": 1e6, "mn": 1e6, "crore": 1e7, "billion": 1e9, "bn": 1e9, "trillion": 1e12, "tn": 1e12},
    }.items()
    for words, factor in sizes.items()
    for word in words.split()
}  # fmt: skip
BASE_UNITS = frozenset(base for base, _ in IN_BASE.values() if base)
_IN_MONEY = re.compile(rf"[{CURRENCY}]|\b(?:{MONEY_WORDS})\b", re.IGNORECASE)
_IN_TIME = re.compile(rf"[\d\w][ -](?:{'|'.join(word for word in UNIT_RANKS[1] if len(word) > 1)})\W*$", re.IGNORECASE)
_CLOCK = re.compile(r"\d\d?:\d\d(?!\d)")


def quantity_of(text: str) -> str:
    """Return what an amount is of, money, time or another quantity that its unit names; empty without a unit.

    >>> quantity_of("€18"), quantity_of("three months"), quantity_of("12 km"), quantity_of("25")
    ('money', 'time', 'other', '')
    """
    if _IN_MONEY.search(text):
        return "money"
    if _IN_TIME.search(text):
        return "time"
    has_unit = any(unit.end() == len(text) for unit in UNIT.finditer(text))
    return "other" if has_unit or _CLOCK.search(text) else ""
