"""The scripts beside the contract, as modules, and small contracts to try them on."""

import importlib.util
import sys
from importlib.resources import files
from pathlib import Path
from types import ModuleType

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc

ROOT = Path(__file__).parents[2]
PROTO = ROOT / "proto"

SMALL = """\
syntax = "proto3";
// A small contract.
package shop.v1;
// Sells things.
service Shop {
  // Buys a thing.
  rpc Buy(BuyRequest) returns (BuyResponse);
  // Watches a price.
  rpc Watch(WatchRequest) returns (stream WatchResponse);
}
// What is bought.
message BuyRequest {
  // How many.
  uint32 item_count = 1;
  // Of what colour.
  Colour colour = 2;
  // How it is paid for.
  oneof payment {
    // By card.
    string card_number = 3;
    // By invoice.
    string invoice_name = 4;
  }
  // Said at the till.
  optional string till_note = 5;
  // Notes by language.
  map<string, string> translations = 6;
  // A box.
  message Box {
    // How wide.
    uint32 width = 1;
  }
}
// What came of it.
message BuyResponse {
  // The receipt.
  repeated string lines = 1;
}
// What is watched.
message WatchRequest {}
// A price.
message WatchResponse {}
// Colours.
enum Colour {
  // None.
  COLOUR_UNSPECIFIED = 0;
  // Red.
  COLOUR_RED = 1;
}
"""


def script(name: str) -> ModuleType:
    """A script of proto/ as a module."""
    spec = importlib.util.spec_from_file_location(f"proto_{name}", PROTO / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def compiled(text: str, folder: Path, path: str = "shop/v1/shop.proto") -> FileDescriptorSet:
    """The descriptor set, comments included, of a contract's text."""
    source, out = folder / path, folder / "out.binpb"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text, "utf-8")
    arguments = ["protoc", f"-I{folder}", f"-I{files('grpc_tools') / '_proto'}"]
    arguments += [f"--descriptor_set_out={out}", "--include_source_info", path]
    assert protoc.main(arguments) == 0
    return FileDescriptorSet.FromString(out.read_bytes())


def edited(old: str, new: str) -> str:
    """The small contract with one change."""
    assert SMALL.count(old) == 1, old
    return SMALL.replace(old, new)
