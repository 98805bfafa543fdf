"""Breaking changes of the contract are caught against a committed descriptor."""

import pytest

from support.proto_tools import SMALL, compiled, edited, script

baseline = script("baseline")


def breaks_of(text: str, folder) -> list[str]:
    old = baseline.bare(compiled(SMALL, folder / "old"))
    return baseline.breaks(old, baseline.bare(compiled(text, folder / "new")))


def test_the_contract_breaks_nothing_of_its_baseline():
    """A breaking change needs `make proto-baseline` and a line in the changelog."""
    current = baseline.bare(baseline.load(baseline.CURRENT))
    assert baseline.breaks(baseline.load(baseline.BASELINE), current) == []


def test_the_baseline_holds_the_whole_contract():
    """An empty baseline would let everything pass."""
    (file,) = baseline.load(baseline.BASELINE).file
    assert file.package == "memrig.v1"
    assert len(file.service[0].method) == 9
    assert not file.HasField("source_code_info")


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("  uint32 item_count = 1;\n", "", "BuyRequest.item_count (1) was removed"),
        ("item_count = 1", "item_count = 9", "item_count was renumbered: 1 → 9"),
        ("item_count = 1", "pieces = 1", "was renamed: item_count → pieces"),
        ("uint32 item_count", "string item_count", "was retyped: uint32 → string"),
        ("  Colour colour", "  Box colour", "was retyped: .shop.v1.Colour → .shop.v1.BuyRequest"),
        ("repeated string lines", "string lines", "changed its label: repeated → optional"),
        ("optional string till", "string till", "label: explicit optional → optional"),
        ("  string invoice_name = 4;\n  }", "  }\n  string invoice_name = 4;",
         "changed its oneof: payment → none"),
        ("    uint32 width = 1;\n", "", "BuyRequest.Box.width (1) was removed"),
        ("map<string, string>", "map<string, uint32>", "value was retyped: string → uint32"),
        ("  COLOUR_RED = 1;\n", "", "Colour.COLOUR_RED (1) was removed"),
        ("COLOUR_RED = 1", "COLOUR_RED = 2", "COLOUR_RED was renumbered: 1 → 2"),
        ("  rpc Buy(BuyRequest) returns (BuyResponse);\n", "", "rpc shop.v1.Shop/Buy was removed"),
        ("Buy(BuyRequest)", "Buy(WatchRequest)", "changed its request"),
        ("returns (BuyResponse)", "returns (WatchResponse)", "changed its response"),
        ("(stream WatchResponse)", "(WatchResponse)", "streaming: server → unary"),
        ("Buy(BuyRequest)", "Buy(stream BuyRequest)", "streaming: unary → client"),
        ("package shop.v1;", "package shop.v2;", "shop.proto changed: shop.v1 → shop.v2"),
        ("service Shop", "service Store", "rpc shop.v1.Shop/Buy was removed"),
    ],
)  # fmt: skip
def test_each_kind_of_break_is_caught(old, new, found, tmp_path):
    """One change to a small contract, and one sentence names it."""
    assert any(found in line for line in breaks_of(edited(old, new), tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("message WatchRequest {}", "", "message shop.v1.WatchRequest was removed"),
        ("  // A box.\n  message Box {\n    // How wide.\n    uint32 width = 1;\n  }\n", "",
         "message shop.v1.BuyRequest.Box was removed"),
    ],
)  # fmt: skip
def test_a_removed_message_is_caught(old, new, found, tmp_path):
    """Nested or not."""
    text = edited(old, new)
    text = text.replace("rpc Watch(WatchRequest)", "rpc Watch(BuyRequest)")
    assert any(found in line for line in breaks_of(text, tmp_path))


def test_a_removed_enum_is_caught(tmp_path):
    """With its field's new type."""
    head, _, _ = SMALL.partition("// Colours.")
    text = head.replace("  Colour colour", "  uint32 colour")
    assert any("enum shop.v1.Colour was removed" in line for line in breaks_of(text, tmp_path))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  repeated string lines = 1;", "  repeated string lines = 1;\n  string shop = 2;"),
        ("  COLOUR_RED = 1;", "  COLOUR_RED = 1;\n  COLOUR_BLUE = 2;"),
        ("// Sells things.", "// Sells other things."),
        ("message WatchRequest {}", "message WatchRequest { string item = 1; }"),
    ],
)
def test_what_an_old_adapter_cannot_notice_is_no_break(old, new, tmp_path):
    """New fields, values and comments."""
    assert breaks_of(edited(old, new), tmp_path) == []


def test_what_breaks_the_frozen_contract_moves_no_baseline(tmp_path, monkeypatch, capsys):
    """A break is the exit code, with `--update` too, which writes nothing then."""
    old, new = tmp_path / "old" / "b.binpb", tmp_path / "new.binpb"
    old.parent.mkdir()
    old.write_bytes(compiled(SMALL, tmp_path / "a").SerializeToString())
    text = edited("item_count = 1", "item_count = 9")
    new.write_bytes(compiled(text, tmp_path / "b").SerializeToString())
    monkeypatch.setattr(baseline, "BASELINE", old)
    monkeypatch.setattr(baseline, "CURRENT", new)
    assert baseline.main([]) == 1
    assert "renumbered" in capsys.readouterr().err
    before = old.read_bytes()
    assert baseline.main(["--update"]) == 1
    assert old.read_bytes() == before
    assert baseline.main(["--force"]) == 2


def test_only_an_explicit_update_moves_the_baseline(tmp_path, monkeypatch):
    """What an old adapter cannot notice is no break, and becomes the baseline with `--update`."""
    old, new = tmp_path / "old" / "b.binpb", tmp_path / "new.binpb"
    old.parent.mkdir()
    old.write_bytes(compiled(SMALL, tmp_path / "a").SerializeToString())
    text = edited("  COLOUR_RED = 1;", "  COLOUR_RED = 1;\n  COLOUR_BLUE = 2;")
    new.write_bytes(compiled(text, tmp_path / "b").SerializeToString())
    monkeypatch.setattr(baseline, "BASELINE", old)
    monkeypatch.setattr(baseline, "CURRENT", new)
    before = old.read_bytes()
    assert baseline.main([]) == 0
    assert old.read_bytes() == before
    assert baseline.main(["--update"]) == 0
    assert old.read_bytes() != before
