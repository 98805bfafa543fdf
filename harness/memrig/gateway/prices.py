"""What models cost: a table as data, each price with its date and where it was read."""

from collections.abc import Iterable, Mapping
from datetime import date
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memrig.errors import DataError
from memrig.model.canonical import Digest, digest_of

#: Built-in models run here and cost nothing.
BUILT_IN = "local/"
_MILLION = 1_000_000
_FIX = "see memrig/gateway/prices.json for the form"


class Price(BaseModel):
    """One model's price, in US dollars per million tokens.

    `output` is 0 for embeddings. `floating` names are moved to newer snapshots by their provider,
    so that neither price nor model is fixed. Discounts (batches, cached input) are not modelled:
    what is reckoned is never too little on their account.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    model: str = Field(min_length=1)
    input: float = Field(ge=0)
    output: float = Field(ge=0)
    source: str = Field(pattern=r"^(?:https?://\S+|built in)$")
    as_of: date
    floating: bool = False
    note: str = ""

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """The cost of a call, in US dollars."""
        return (input_tokens * self.input + output_tokens * self.output) / _MILLION


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    unit: Literal["USD per million tokens"]
    prices: tuple[Price, ...]


class PriceTable:
    """Prices by model name, as a user names it."""

    def __init__(self, prices: Iterable[Price]) -> None:
        self._prices: Mapping[str, Price] = {price.model: price for price in prices}

    @classmethod
    def load(cls, path: Path | None = None) -> "PriceTable":
        """The prices that ship with memrig, and over them those of the user's file of this form.

        Raises:
            DataError: the user's file cannot be used as it is.
        """
        shipped = _read((files("memrig.gateway") / "prices.json").read_bytes(), "prices.json")
        if path is None:
            return cls(shipped)
        try:
            data = path.read_bytes()
        except OSError as error:
            message, fix = (
                f"cannot be read ({error.strerror})",
                "give a file that you may read",
            )
            raise DataError(message, where=str(path), fix=fix) from error
        return cls((*shipped, *_read(data, str(path))))

    def price(self, model: str) -> Price | None:
        """A model's price; None where it is not known."""
        if found := self._prices.get(model):
            return found
        if model.startswith(BUILT_IN):
            newest = max(price.as_of for price in self._prices.values())
            return Price(model=model, input=0.0, output=0.0, source="built in", as_of=newest)
        return None

    def cost(self, model: str, input_tokens: int, output_tokens: int) -> float | None:
        """The cost of a call in US dollars; None where the model's price is not known."""
        price = self.price(model)
        return price.cost(input_tokens, output_tokens) if price else None

    @cached_property
    def digest(self) -> Digest:
        """The sha256 of all prices, whatever the order they were read in."""
        named = sorted(self._prices.items())
        return digest_of([price.model_dump(mode="json") for _, price in named])


def _read(data: bytes, where: str) -> tuple[Price, ...]:
    try:
        prices = _File.model_validate_json(data).prices
    except ValidationError as error:
        raise _flawed(error, where) from error
    seen: set[str] = set()
    for n, price in enumerate(prices):
        if price.model in seen:
            message = f"{price.model!r} stands there twice"
            raise DataError(message, where=f"{where}: prices[{n}].model", fix="keep one of them")
        seen.add(price.model)
    return prices


def _flawed(error: ValidationError, where: str) -> DataError:
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return DataError(f"is not JSON: {first['msg']}", where=where, fix=_FIX)
    place = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
    got = "nothing" if first["type"] == "missing" else f"{first['input']!r:.60}"
    message = f"is {got}: {first['msg'][0].lower()}{first['msg'][1:]}"
    return DataError(message, where=f"{where}: {place.lstrip('.') or '(top level)'}", fix=_FIX)
