"""Sentence embeddings for adapters that compare vectors, on the adapter's own CPU."""

from memrig_adapters.embedding.embedder import SentenceEmbedder, Vectors
from memrig_adapters.embedding.minilm import MiniLm
from memrig_adapters.embedding.weights import WeightsError

__all__ = ["MiniLm", "SentenceEmbedder", "Vectors", "WeightsError"]
