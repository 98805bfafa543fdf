"""Prices are data: each has a source and a date, and what is not known is not guessed."""

import json
from datetime import date

import pytest

from memrig.errors import DataError
from memrig.gateway.prices import Price, PriceTable

TABLE = PriceTable.load()
NAMED = [
    "gpt-4o-2024-08-06",
    "gpt-4o",
    "gpt-4o-mini",
    "gpt-4o-mini-2024-07-18",
    "gpt-4.1",
    "gpt-4.1-mini",
    "gpt-5",
    "gpt-5-mini",
    "gpt-5-nano",
    "o3",
    "o4-mini",
    "text-embedding-3-small",
    "text-embedding-3-large",
    "claude-haiku-4-5",
    "claude-haiku-4-5-20251001",
    "claude-sonnet-4-5-20250929",
    "claude-opus-4-5-20251101",
    "openai/gpt-4o",
    "openai/gpt-4o-2024-08-06",
    "openai/gpt-4o-mini",
    "anthropic/claude-sonnet-4.5",
]
MINE = {
    "model": "mine",
    "input": 1.5,
    "output": 2,
    "source": "https://x.test/",
    "as_of": "2026-01-02",
}


def written(folder, *prices, **other):
    path = folder / "mine.json"
    path.write_text(json.dumps({"unit": "USD per million tokens", "prices": prices} | other))
    return path


@pytest.mark.parametrize("model", NAMED)
def test_models_that_users_name_have_a_price_with_a_source_and_a_date(model):
    """A stranger can check the number where it was read."""
    price = TABLE.price(model)
    assert price is not None
    assert price.source.startswith("https://")
    assert date(2024, 1, 1) < price.as_of < date(2030, 1, 1)


@pytest.mark.parametrize(
    ("alias", "snapshot"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("gpt-5-mini", "gpt-5-mini-2025-08-07"),
        ("claude-haiku-4-5", "claude-haiku-4-5-20251001"),
    ],
)
def test_a_name_without_a_date_is_marked_as_floating(alias, snapshot):
    """It may mean another model tomorrow; the dated one does not."""
    assert TABLE.price(alias).floating
    assert not TABLE.price(snapshot).floating


def test_embeddings_cost_their_input_alone():
    """There are no output tokens to charge."""
    assert TABLE.cost("text-embedding-3-small", 1_000_000, 5) == pytest.approx(0.02)


def test_a_cost_counts_input_and_output_per_million_tokens():
    """2.50 and 10 dollars a million, for 1,000 and 100 tokens."""
    assert TABLE.cost("gpt-4o-2024-08-06", 1000, 100) == pytest.approx(0.0035)


def test_a_built_in_model_costs_nothing():
    """It runs here."""
    assert TABLE.cost("local/extractive", 10**9, 10**9) == 0.0
    assert TABLE.price("local/extractive").source == "built in"


def test_an_unknown_model_has_no_price_rather_than_none_to_pay():
    """A run with a money budget must not start on a guess."""
    assert TABLE.price("gpt-unheard-of") is None
    assert TABLE.cost("gpt-unheard-of", 1, 1) is None


def test_a_users_file_adds_and_overrides(tmp_path):
    """The last word is the user's; the rest of the table stays."""
    mine = PriceTable.load(written(tmp_path, MINE, MINE | {"model": "gpt-4o", "input": 9.0}))
    assert mine.price("mine") == Price(
        model="mine", input=1.5, output=2.0, source="https://x.test/", as_of=date(2026, 1, 2)
    )
    assert mine.price("gpt-4o").input == 9.0
    assert mine.price("o3") == TABLE.price("o3")


def test_the_digest_is_of_the_prices_and_not_of_their_order():
    """Equal tables have equal digests, other prices another one."""
    one, two = TABLE.price("o3"), TABLE.price("gpt-5")
    assert PriceTable([one, two]).digest == PriceTable([two, one]).digest
    dearer = one.model_copy(update={"input": 3.0})
    assert PriceTable([dearer, two]).digest != PriceTable([one, two]).digest
    assert TABLE.digest == PriceTable.load().digest


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        ({"input": -1}, "prices[0].input", "is -1: "),
        ({"input": "2.5"}, "prices[0].input", "is '2.5': "),
        ({"output": None}, "prices[0].output", "is None: "),
        ({"as_of": "lately"}, "prices[0].as_of", "is 'lately': "),
        ({"source": "my uncle"}, "prices[0].source", "is 'my uncle': "),
        ({"modle": "x"}, "prices[0].modle", "is 'x': "),
    ],
)
def test_a_bad_price_is_refused_with_file_field_value_and_fix(tmp_path, change, place, said):
    """The reader finds the line and knows what to write."""
    path = written(tmp_path, MINE | change)
    with pytest.raises(DataError) as caught:
        PriceTable.load(path)
    assert caught.value.where == f"{path}: {place}"
    assert caught.value.message.startswith(said)
    assert "prices.json" in caught.value.fix


def test_a_missing_field_is_named(tmp_path):
    """A price without a date is no price."""
    path = written(tmp_path, {key: value for key, value in MINE.items() if key != "as_of"})
    with pytest.raises(DataError, match="is nothing: field required") as caught:
        PriceTable.load(path)
    assert caught.value.where.endswith("prices[0].as_of")


def test_another_unit_is_refused(tmp_path):
    """A price a thousand tokens, read as one a million, would be a thousandfold wrong."""
    with pytest.raises(DataError) as caught:
        PriceTable.load(written(tmp_path, MINE, unit="USD per thousand tokens"))
    assert caught.value.where.endswith(": unit")


def test_a_model_that_stands_twice_is_refused(tmp_path):
    """Nobody could tell which price holds."""
    with pytest.raises(DataError, match="'mine' stands there twice") as caught:
        PriceTable.load(written(tmp_path, MINE, MINE))
    assert caught.value.where.endswith("prices[1].model")


@pytest.mark.parametrize(
    ("data", "said"),
    [("{", "is not JSON"), ("[" * 100_000, "is not JSON"), ("[]", "is \\[\\]")],
)
def test_a_file_of_another_form_is_refused(tmp_path, data, said):
    """Neither broken JSON nor a list is a price table."""
    path = tmp_path / "mine.json"
    path.write_text(data)
    with pytest.raises(DataError, match=said) as caught:
        PriceTable.load(path)
    assert caught.value.fix


def test_a_file_that_is_not_there_is_named(tmp_path):
    """With the system's reason."""
    path = tmp_path / "none.json"
    with pytest.raises(DataError, match="cannot be read \\(No such file") as caught:
        PriceTable.load(path)
    assert caught.value.where == str(path)
    assert caught.value.fix
