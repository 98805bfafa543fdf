"""The forward pass of all-MiniLM-L6-v2 as an ONNX graph that reads the weights where they lie.

BERT (Devlin et al. 2019) of six layers, twelve heads and 384 dimensions, then the mean of the token
vectors (Reimers and Gurevych 2019). Inputs: `ids` int64 [texts, tokens], `positions` int64
[tokens], `bias` float32 [texts, 1, 1, tokens] (0, or far below 0 where there is no token) and
`share` float32 [texts, 1, tokens] (1 / how many tokens, or 0). Output: `mean` float32
[texts, 1, 384].
"""

import math
from collections.abc import Sequence
from typing import Final

from memrig_adapters.embedding import wire
from memrig_adapters.embedding.wire import FLOAT, INT64, Attribute, Stored

DIMENSIONS: Final = 384
LAYERS: Final = 6
HEADS: Final = 12
_OPSET: Final = 20  # the first that has Gelu
_EPSILON: Final = 1e-12


def graph_of(tensors: Sequence[Stored], file: str) -> bytes:
    """The ONNX file, some 20 kB, for weights that lie in `file`."""
    found = _Graph()
    state = found.layer_norm(_embedded(found), "embeddings.LayerNorm")
    for number in range(LAYERS):
        state = _layer(found, state, f"encoder.layer.{number}")
    found.nodes.append(wire.node("MatMul", ("share", state), "mean"))
    width = DIMENSIONS // HEADS
    constants = (
        wire.integers("split", (0, 0, HEADS, width)),
        wire.integers("joined", (0, 0, DIMENSIONS)),
        wire.integers("first", (0,)),
        wire.scalar("scale", 1 / math.sqrt(width)),
    )
    return wire.model(
        found.nodes,
        (*constants, *(wire.stored(t, file) for t in tensors if t.name in found.used)),
        (
            wire.value("ids", INT64, ("texts", "tokens")),
            wire.value("positions", INT64, ("tokens",)),
            wire.value("bias", FLOAT, ("texts", 1, 1, "tokens")),
            wire.value("share", FLOAT, ("texts", 1, "tokens")),
        ),
        (wire.value("mean", FLOAT, ("texts", 1, DIMENSIONS)),),
        _OPSET,
    )


class _Graph:
    """Nodes in the order of their making, each with a name for its output."""

    def __init__(self) -> None:
        self.nodes: list[bytes] = []
        self.used: set[str] = set()

    def add(self, kind: str, *inputs: str, **attributes: Attribute) -> str:
        output = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(wire.node(kind, inputs, output, attributes))
        return output

    def weight(self, name: str) -> str:
        self.used.add(name)
        return name

    def dense(self, state: str, name: str) -> str:
        # Kept as [out, in] in the file; onnxruntime turns them round once, when it loads the graph.
        turned = self.add("Transpose", self.weight(f"{name}.weight"), perm=(1, 0))
        return self.add("Add", self.add("MatMul", state, turned), self.weight(f"{name}.bias"))

    def layer_norm(self, state: str, name: str) -> str:
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", state, weight, bias, axis=-1, epsilon=_EPSILON)


def _embedded(graph: _Graph) -> str:
    name = "embeddings.{}_embeddings.weight".format
    words = graph.add("Gather", graph.weight(name("word")), "ids")
    places = graph.add("Gather", graph.weight(name("position")), "positions")
    kind = graph.add("Gather", graph.weight(name("token_type")), "first")
    return graph.add("Add", words, graph.add("Add", places, kind))


def _layer(graph: _Graph, state: str, name: str) -> str:
    attended = graph.dense(_attention(graph, state, name), f"{name}.attention.output.dense")
    state = graph.layer_norm(
        graph.add("Add", attended, state), f"{name}.attention.output.LayerNorm"
    )
    inner = graph.add("Gelu", graph.dense(state, f"{name}.intermediate.dense"))
    outer = graph.dense(inner, f"{name}.output.dense")
    return graph.layer_norm(graph.add("Add", outer, state), f"{name}.output.LayerNorm")


def _attention(graph: _Graph, state: str, name: str) -> str:
    def heads(part: str, perm: tuple[int, ...]) -> str:
        dense = graph.dense(state, f"{name}.attention.self.{part}")
        return graph.add("Transpose", graph.add("Reshape", dense, "split"), perm=perm)

    query, key = heads("query", (0, 2, 1, 3)), heads("key", (0, 2, 3, 1))
    scores = graph.add("Mul", graph.add("MatMul", query, key), "scale")
    weights = graph.add("Softmax", graph.add("Add", scores, "bias"), axis=-1)
    mixed = graph.add("MatMul", weights, heads("value", (0, 2, 1, 3)))
    return graph.add("Reshape", graph.add("Transpose", mixed, perm=(0, 2, 1, 3)), "joined")
