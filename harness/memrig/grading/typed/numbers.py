"""Quantities in texts: value, unit, and how sure it is that a number is one at all."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from memrig.grading.typed.dates import find_dates
from memrig.grading.typed.words import STOP, stem

#: A unit's possible meanings: dimension, and how many of the dimension's base units it is.
Meanings = Mapping[str, float]

_TABLE: dict[str, Meanings] = {}


def _add(names: str, meanings: Meanings) -> None:
    for name in names.split():
        _TABLE[name] = meanings


_add("% percent pct", {"%": 1})
_add("ms msec msecs millisecond milliseconds", {"duration": 0.001})
_add("s sec secs second seconds", {"duration": 1})
_add("min mins minute minutes", {"duration": 60})
_add("h hr hrs hour hours", {"duration": 3600})
_add("day days d", {"duration": 86_400})
_add("week weeks wk wks fortnight", {"duration": 604_800})
_TABLE["fortnight"] = {"duration": 1_209_600}
_add("month months mth mths", {"calendar": 1})
_add("year years yr yrs year-old years-old", {"calendar": 12})
_add("decade decades", {"calendar": 120})
_add("mm millimetre millimetres millimeter millimeters", {"length": 0.001})
_add("cm centimetre centimetres centimeter centimeters", {"length": 0.01})
_add("m metre metres meter meters", {"length": 1})
_add("km kms kilometre kilometres kilometer kilometers k", {"length": 1000})
_add("mile miles mi", {"length": 1609.344})
_add("ft foot feet", {"length": 0.3048})
_add("inch inches", {"length": 0.0254})
_add("mg milligram milligrams", {"mass": 0.001})
_add("g gram grams gramme grammes gr", {"mass": 1})
_add("kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes", {"mass": 1000})
_add("tonne tonnes", {"mass": 1e6})
_add("ml millilitre millilitres milliliter milliliters", {"volume": 0.001})
_add("l litre litres liter liters", {"volume": 1})
_add("c celsius", {"celsius": 1})
_add("o'clock oclock am", {"clock": 1})
_add("pm", {"clock": 1, "afternoon": 1})
_add("times time", {"time": 1})
_add("mbps", {"mbps": 1})
_add("gbps", {"mbps": 1000})
_add("mb megabyte megabytes", {"gb": 0.001})
_add("gb gib gigabyte gigabytes", {"gb": 1})
_add("tb terabyte terabytes", {"gb": 1000})
_add("kwh kilowatt-hour kilowatt-hours", {"kwh": 1})
_add("mwh megawatt-hour megawatt-hours", {"kwh": 1000})
_CURRENCIES = {
    "£": "gbp", "gbp": "gbp", "quid": "gbp", "€": "eur", "eur": "eur", "euro": "eur",
    "euros": "eur", "$": "usd aud cad nzd clp mxn", "usd": "usd", "us$": "usd", "a$": "aud",
    "aud": "aud", "cad": "cad", "c$": "cad", "dollar": "usd aud cad nzd",
    "dollars": "usd aud cad nzd", "buck": "usd aud cad nzd", "bucks": "usd aud cad nzd",
    "nok": "nok", "sek": "sek", "dkk": "dkk", "kr": "nok sek dkk isk", "krone": "nok dkk",
    "kroner": "nok dkk", "kronor": "sek", "krona": "sek isk", "crown": "nok sek dkk czk",
    "crowns": "nok sek dkk czk", "clp": "clp", "mxn": "mxn", "ars": "ars",
    "peso": "clp mxn ars cop", "pesos": "clp mxn ars cop", "chf": "chf", "franc": "chf",
    "francs": "chf", "¥": "jpy cny", "jpy": "jpy", "yen": "jpy", "cny": "cny", "yuan": "cny",
    "rmb": "cny", "₹": "inr", "inr": "inr", "rs": "inr", "rupee": "inr", "rupees": "inr",
    "cent": "cent", "cents": "cent", "pence": "pence",
}  # fmt: skip
for _name, _codes in _CURRENCIES.items():
    _TABLE[_name] = dict.fromkeys(_codes.split(), 1)
_TABLE["pound"] = _TABLE["pounds"] = {"gbp": 1, "mass": 453.592}
_TABLE["lb"] = _TABLE["lbs"] = {"mass": 453.592}

_MONEY = frozenset(" ".join(_CURRENCIES.values()).split())
_SYMBOL = r"£|€|\$|¥|₹|us\$|a\$|c\$|\b(?:gbp|eur|usd|aud|cad|nok|sek|dkk|clp|mxn|ars|chf|kr|rs)\.?"
#: Not within an address, a version or a code: "10.42.7.19", "4.12.1", "SEC-004512".
_NUMBER = re.compile(
    rf"(?P<prefix>(?:{_SYMBOL})\s?)?(?<![\w.])(?<![a-z]-)(?P<minus>(?<=[\s(])-(?=\d)|minus\s)?"
    r"(?P<number>\d{1,3}(?:[ ,']\d{3})+(?!\d)(?:\.\d+)?(?!\.\d)"
    r"|\d{1,3}(?:\.\d{3}){1,2}(?!\.?\d)|\d+(?:[.,]\d+)?(?!\d*\.\d))"
    r"(?P<scale>\s?(?:k|m|mn|bn|thousand|million|billion)\b)?"
    r"(?P<half>\s1/2)?(?P<ordinal>(?:st|nd|rd|th)\b)?(?P<clock>:[0-5]\d)?"
)
_SCALE = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9,
          "billion": 1e9}  # fmt: skip
_UNIT_AFTER = re.compile(
    r"[\s-]*(?P<unit>%|per\s?cent\b|o'clock\b|£|€|\$|¥|[a-z]+(?:'[a-z]+)?(?:-old\b)?)"
)
_ONE = re.compile(r"(?<![\w'-])(?P<number>one|a single)\b(?:\s+(?=[a-z])(?!another|who|that)|\W*$)")
#: Before a number: it names a position, a house or a room, or the whole that a part is of.
_BESIDE = re.compile(
    r"(?:\b(?:number|unit|room|flat|apartment|chapter|page|step|option|berth|line|route|bus|tram"
    r"|platform|question|memory|session|episode|e|out of|of|of the|of all|after|before|over the"
    r"|against|compared (?:with|to)|versus|vs"
    r")|\d\s*/|#)\s*$"
)
#: "An average of 55": no part of anything; "the average of 10, 20 and 60" are its terms.
_RESULT_OF = re.compile(
    r"\b(?:an?|in) (?:[a-z]+ )?(?:average|mean|total|difference|drop|fall|rise|increase|decrease"
    r"|reduction|gap|result|value|figure|count)\s+of\s*$"
)
#: Before a number: what something is compared with, never the answer.
_THAN = re.compile(r"\b(?:than|instead of|as opposed to)\s*$")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text. `unit` is what stands beside it, "" for nothing and "?" for some noun.

    `beside` marks what is measured against something else ("more than 850", "of the 11"): it
    is the answer only where nothing else is. `weak` is the word "one".
    """

    value: float
    unit: str
    start: int
    end: int
    noun: str = ""
    beside: bool = False
    weak: bool = False


def meanings(unit: str) -> Meanings:
    """What a unit may mean; a unit of no table is a dimension of its own, by its stem."""
    name = unit.strip().lower()
    if name in _TABLE:
        return _TABLE[name]
    last = name.split()[-1] if name.split() else ""
    return {stem(last): 1} if last else {}


def find_numbers(folded: str) -> list[Quantity]:
    """The quantities of a folded text, in order, without what belongs to a date."""
    dates = [date for date in find_dates(folded) if date.month is not None]
    found = []
    for match in _NUMBER.finditer(folded):
        start, end = match.span("number")
        if any(date.start < end and start < date.end for date in dates):
            continue
        quantity = _quantity(folded, match)
        if quantity is not None:
            found.append(quantity)
    for match in _ONE.finditer(folded):
        unit, noun, end = _unit(folded, match.end("number"))
        found.append(Quantity(1, unit, match.start(), end, noun, weak=True))
    found = sorted(found, key=lambda quantity: quantity.start)
    return _joined(folded, _shared(folded, found))


def _quantity(folded: str, match: re.Match[str]) -> Quantity | None:
    ahead = folded[max(0, match.start() - 40) : match.start()]
    if match["ordinal"] or _THAN.search(ahead):
        return None
    if match["clock"]:
        hour = int(match["number"]) + int(match["clock"][1:]) / 60
        return Quantity(hour, "o'clock", match.start("number"), match.end())
    prefix = (match["prefix"] or "").strip().rstrip(".")
    value = _value(match["number"], money=bool(prefix)) + (0.5 if match["half"] else 0)
    end = match.end()
    scale = (match["scale"] or "").strip()
    if scale == "m" and not prefix:  # metres
        scale, end = "", match.end("number")
    value *= _SCALE.get(scale, 1) * (-1 if match["minus"] else 1)
    unit, noun, after = (prefix, "", end) if prefix else _unit(folded, end)
    if unit == "pm" and value < 12:
        value += 12
    if _MONEY.intersection(meanings(unit)) and re.fullmatch(r"\d{1,3}\.\d{3}", match["number"]):
        value *= 1000 if not prefix else 1
    return Quantity(value, unit, match.start(), after, noun, beside=_beside(ahead))


def _beside(ahead: str) -> bool:
    """Whether what stands before a number makes it a part of something else."""
    return _BESIDE.search(ahead) is not None and _RESULT_OF.search(ahead) is None


def _value(text: str, *, money: bool) -> float:
    grouped = re.fullmatch(r"\d{1,3}(?:([ ,'.])\d{3})(?:\1\d{3})*(\.\d+)?", text)
    if grouped and (grouped[1] != "." or money or text.count(".") > 1):
        return float(text.replace(grouped[1], "", text.count(grouped[1]) - bool(grouped[2])
                                  if grouped[1] == "." else -1))  # fmt: skip
    return float(text.replace(",", "."))


def _unit(folded: str, end: int) -> tuple[str, str, int]:
    """The unit after a number, else the noun there, and where it ends."""
    match = _UNIT_AFTER.match(folded, end)
    if match is None:
        return "", "", end
    word = re.sub(r"per\s?cent", "%", match["unit"]).removesuffix("-old")
    if word in _TABLE:
        return word, "", match.end()
    if word in STOP or word.endswith("ly"):
        return "", "", end
    return "?", " ".join(re.findall(r"[a-z]+", folded[end : end + 60])[:4]), end


_PAIRED = re.compile(r"\s+(?:to|and|or)\s+")


def _shared(folded: str, found: list[Quantity]) -> list[Quantity]:
    """ "From 1,070 to 1,204 tickets": the first number is one of tickets too."""
    shared = list(found)
    for place in reversed(range(len(shared) - 1)):
        bare, next_ = shared[place], shared[place + 1]
        between = folded[bare.end : next_.start]
        year = 1500 <= bare.value < 2200 and bare.value.is_integer()
        if not bare.unit and not year and not bare.weak and _PAIRED.fullmatch(between):
            shared[place] = replace(bare, unit=next_.unit, noun=next_.noun)
    return shared


def _joined(folded: str, found: list[Quantity]) -> list[Quantity]:
    """ "4 hours and 37 minutes" is one quantity."""
    joined: list[Quantity] = []
    for quantity in found:
        last = joined[-1] if joined else None
        if last is not None and _continues(folded, last, quantity):
            scale = next(iter(meanings(quantity.unit).values()))
            whole = next(iter(meanings(last.unit).values()))
            value = last.value + quantity.value * scale / whole
            joined[-1] = replace(last, value=value, end=quantity.end)
        else:
            joined.append(quantity)
    return joined


def _continues(folded: str, last: Quantity, quantity: Quantity) -> bool:
    if last.unit in ("", "?") or quantity.unit in ("", "?") or last.unit == quantity.unit:
        return False
    if re.fullmatch(r"\s*(?:,|and)?\s*", folded[last.end : quantity.start]) is None:
        return False
    one, other = meanings(last.unit), meanings(quantity.unit)
    joint = set(one) & set(other) & {"duration", "calendar", "length", "mass"}
    return any(other[name] < one[name] for name in joint)
