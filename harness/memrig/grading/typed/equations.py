"""Sums that an answer works out in signs: "(13 % + 98 %) / 2 = 55.5 %" says 55.5 %."""

import re

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_UNIT = r"(?:\s?(?:%|£|€|\$|[a-z]+\b))?"
_TERM = rf"(?:[£€$]\s?)?(?:{_NUMBER}){_UNIT}"
_LEFT = re.compile(
    rf"(?P<left>(?:\(\s*)*{_TERM}(?:\s*\)?\s*[-+*x/]\s*(?:\(\s*)*{_TERM})+\s*\)?)\s*=\s*"
    rf"(?P<right>-?(?:[£€$]\s?)?(?:{_NUMBER}))"
)
_TOKEN = re.compile(rf"{_NUMBER}|[-+*x/()]")


def worked_out(folded: str) -> str:
    """A folded text with what stands left of an equals sign blanked out, where the sum comes out.

    What does not come out is left as it is: then its terms compete with its result.
    """
    for found in list(_LEFT.finditer(folded)):
        value = _value(_TOKEN.findall(found["left"]))
        said = found["right"].replace(",", "").lstrip("-£€$ ")
        decimals = len(said.partition(".")[2])
        rounded = [value, 100 * value] if value is not None else []
        if any(abs(abs(one) - float(said)) <= 0.5 * 10**-decimals + 1e-9 for one in rounded):
            start, end = found.span("left")
            folded = f"{folded[:start]}{' ' * (end - start)}{folded[end:]}"
    return folded


def _value(tokens: list[str]) -> float | None:
    """What an expression comes to, with the usual precedence; None where it is none."""
    try:
        value, rest = _sum(tokens)
    except (IndexError, ValueError, ZeroDivisionError):
        return None
    return value if not rest else None


def _sum(tokens: list[str]) -> tuple[float, list[str]]:
    value, tokens = _product(tokens)
    while tokens and tokens[0] in "+-":
        other, rest = _product(tokens[1:])
        value, tokens = (value + other if tokens[0] == "+" else value - other), rest
    return value, tokens


def _product(tokens: list[str]) -> tuple[float, list[str]]:
    value, tokens = _factor(tokens)
    while tokens and tokens[0] in "*x/":
        other, rest = _factor(tokens[1:])
        value, tokens = (value / other if tokens[0] == "/" else value * other), rest
    return value, tokens


def _factor(tokens: list[str]) -> tuple[float, list[str]]:
    if tokens[0] == "(":
        value, rest = _sum(tokens[1:])
        if rest[0] != ")":
            raise ValueError(rest[0])
        return value, rest[1:]
    return float(tokens[0].replace(",", "")), tokens[1:]
