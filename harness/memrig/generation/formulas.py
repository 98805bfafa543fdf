"""Arithmetic of specs: a small expression language, exact and the same on every machine.

Values are decimal fractions of 28 digits, not binary ones: what a processor or its mathematical
library does with the last bit never reaches a document.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, DecimalException, localcontext

#: Larger than anything measured; what goes beyond is a slip in a formula.
LARGEST = Decimal(10) ** 12
MOST_NODES, LARGEST_POWER = 100, 64
NAMES = ("t", "n", "last")

_CONTEXT = Context(prec=28, rounding=ROUND_HALF_EVEN, Emin=-9999, Emax=9999)
_PI = Decimal("3.141592653589793238462643383279502884197")


class FormulaError(ValueError):
    """A formula that is refused, or has no value."""


def _power(base: Decimal, exponent: Decimal) -> Decimal:
    if abs(exponent) > LARGEST_POWER:
        raise FormulaError(f"a power of {exponent} is beyond {LARGEST_POWER}")
    return base**exponent


def _sine(x: Decimal) -> Decimal:
    """By its series, since decimal has none; whole turns are taken off first."""
    x -= (x / (2 * _PI)).to_integral_value() * 2 * _PI
    total, term, k = Decimal(0), x, 1
    while abs(term) > Decimal(10) ** -27:
        total += term
        term = -term * x * x / ((k + 1) * (k + 2))
        k += 2
    return total


_BINARY: Mapping[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Decimal], Decimal]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_ONE: Mapping[str, Callable[[Decimal], Decimal]] = {
    "abs": abs,
    "sqrt": Decimal.sqrt,
    "exp": Decimal.exp,
    "sin": _sine,
}
_MANY: Mapping[str, Callable[..., Decimal]] = {"min": min, "max": max}


@dataclass(frozen=True, slots=True)
class Formula:
    """A parsed formula. `names` are those of `NAMES` that it uses."""

    source: str
    tree: ast.expr
    names: frozenset[str]

    def value(self, known: Mapping[str, Decimal]) -> Decimal:
        """The formula's value for these values of its names.

        Raises:
            FormulaError: it has none (a division by zero), or is too large.
        """
        with localcontext(_CONTEXT):
            try:
                value = _value(self.tree, known)
            except (DecimalException, OverflowError) as error:
                raise FormulaError(f"{self.source!r} has no value: {error!r}") from error
        if not value.is_finite() or abs(value) > LARGEST:
            raise FormulaError(f"{self.source!r} is {value:.3E}, beyond {LARGEST:.0E}")
        return value


def parse(source: str) -> Formula:
    """Reads a formula: numbers, `t`, `n`, `last`, ``+ - * / **``, min, max, abs, sqrt, exp, sin.

    Raises:
        FormulaError: it holds something else.
    """
    try:
        tree = ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise FormulaError(f"{source!r} is no formula") from error
    nodes = list(ast.walk(tree))
    if len(nodes) > MOST_NODES:
        raise FormulaError(f"{source!r} is longer than {MOST_NODES} parts")
    _check(tree, source)
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    return Formula(source, tree, frozenset(used & set(NAMES)))


def _check(node: ast.expr, source: str) -> None:
    for inner in _operands(node, source):
        _check(inner, source)


def _operands(node: ast.expr, source: str) -> list[ast.expr]:
    """What a node computes with; refuses what is no arithmetic."""
    match node:
        case ast.Constant(value=value) if type(value) in (int, float):
            return []
        case ast.Name(id=name) if name in NAMES:
            return []
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return [left, right]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return [operand]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if (name in _ONE and len(args) == 1) or (name in _MANY and len(args) > 1):
                return args
    raise FormulaError(f"{source!r} holds {ast.unparse(node)!r}, which is not allowed")


def _value(node: ast.expr, known: Mapping[str, Decimal]) -> Decimal:
    match node:
        case ast.Constant(value=value):
            return Decimal(str(value))
        case ast.Name(id=name):
            return known[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_value(left, known), _value(right, known))
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](_value(operand, known))
        case ast.Call(func=ast.Name(id=name), args=args):
            values = [_value(arg, known) for arg in args]
            return _ONE[name](*values) if name in _ONE else _MANY[name](*values)
    raise FormulaError(f"{ast.unparse(node)!r} was not checked")


def shown(value: Decimal, decimals: int) -> Decimal:
    """The value as it stands in a document: rounded half to even, never minus zero."""
    rounded = value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN)
    return abs(rounded) if rounded == 0 else rounded
