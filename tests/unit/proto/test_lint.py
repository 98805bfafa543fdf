"""The contract keeps Buf's STANDARD rules, with one exception, and comments everything."""

import pytest

from support.proto_tools import SMALL, compiled, edited, script

lint = script("lint")
PATH = "shop/v1/shop.proto"


def rules_broken(text: str, folder, path: str = PATH) -> set[str]:
    (file,) = compiled(text, folder, path).file
    return {problem.rule for problem in lint.lint(file, path)}


def test_the_contract_has_no_problem():
    """`make proto` leaves nothing to mend."""
    assert [str(p) for p in lint.lint(lint.load(lint.DESCRIPTOR), lint.SOURCE)] == []


def test_every_rpc_field_and_value_of_the_contract_is_looked_at():
    """The lint reaches what it promises to reach."""
    names = {element.name for element in lint.elements(lint.load(lint.DESCRIPTOR))}
    assert {
        "MemoryAdapter",
        "MemoryAdapter.CallTool",
        "Hit.source_turn_ids",
        "IngestStatus.INGEST_STATUS_REJECTED",
    } <= names
    assert not {n for n in names if "MetadataEntry" in n or "._" in n}


def test_a_good_contract_has_no_problem(tmp_path):
    """What follows changes one thing in it each time."""
    assert rules_broken(SMALL, tmp_path) == set()


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
        ("FIELD_LOWER_SNAKE_CASE", "item_count", "itemCount"),
        ("MESSAGE_PASCAL_CASE", "message Box", "message the_box"),
        ("ONEOF_LOWER_SNAKE_CASE", "oneof payment", "oneof Payment"),
        ("RPC_PASCAL_CASE", "rpc Watch(", "rpc watch("),
        ("RPC_REQUEST_STANDARD_NAME", "Watch(WatchRequest)", "Watch(BuyResponse)"),
        ("RPC_RESPONSE_STANDARD_NAME", "Buy(BuyRequest) returns (BuyResponse)",
         "Buy(BuyRequest) returns (WatchRequest)"),
        ("RPC_REQUEST_RESPONSE_UNIQUE", "Watch(WatchRequest)", "Watch(BuyRequest)"),
        ("SERVICE_PASCAL_CASE", "service Shop", "service shop_service"),
        ("ENUM_ZERO_VALUE_SUFFIX", "COLOUR_UNSPECIFIED", "COLOUR_NONE"),
        ("ENUM_VALUE_PREFIX", "COLOUR_RED", "RED"),
        ("ENUM_VALUE_UPPER_SNAKE_CASE", "COLOUR_RED", "COLOUR_Red"),
        ("ENUM_NO_ALLOW_ALIAS", "  // Red.\n",
         "  option allow_alias = true;\n  // Rot.\n  COLOUR_ROT = 1;\n  // Red.\n"),
        ("PACKAGE_VERSION_SUFFIX", "package shop.v1;", "package shop;"),
        ("PACKAGE_DIRECTORY_MATCH", "package shop.v1;", "package shop.v2;"),
        ("COMMENT", "  // How many.\n", ""),
        ("COMMENT", "  // Red.\n", "  // -\n"),
        ("COMMENT", "// A price.\n", ""),
        ("COMMENT", "  // Watches a price.\n", ""),
        ("COMMENT", "// Sells things.\n", ""),
        ("COMMENT", "// Colours.\n", ""),
        ("COMMENT", "    // How wide.\n", ""),
    ],
)  # fmt: skip
def test_each_rule_bites(rule, old, new, tmp_path):
    """One change to a good contract, and the rule it breaks is named."""
    assert rule in rules_broken(edited(old, new), tmp_path)


def test_the_syntax_is_proto3(tmp_path):
    """Nothing older, and nothing unsaid."""
    text = 'syntax = "proto2";\n// A contract.\npackage shop.v1;\n// A thing.\nmessage Thing {}\n'
    assert rules_broken(text, tmp_path) == {"SYNTAX_SPECIFIED"}


def test_a_file_name_is_lower_snake_case(tmp_path):
    """The rule for files."""
    assert rules_broken(SMALL, tmp_path, "shop/v1/Shop.proto") == {"FILE_LOWER_SNAKE_CASE"}


def test_problems_make_the_exit_code(capsys):
    """`make proto` fails on a problem, and names it."""
    problem = lint.Problem("COMMENT", "Hit.text", "has no comment ahead of it")
    assert (lint.main([]), lint.main([problem])) == (0, 1)
    assert "Hit.text: has no comment" in capsys.readouterr().err
