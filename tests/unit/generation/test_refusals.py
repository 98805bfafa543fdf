"""A spec that leaks is refused by the name of the validator, and nothing is written."""

import json
from pathlib import Path

import pytest
import yaml

from memrig.errors import DataError, GatewayError
from memrig.generate import (
    GenerateModels,
    GenerateSettings,
    check_longitudinal,
    generate_longitudinal,
)
from memrig.generation.render import document
from support.command import memrig
from support.llm_standin import LlmStandIn, Seen
from support.stories import brief_in, figures, pump_spec, sheet_in


def leaky(**changes: object) -> dict[str, object]:
    """The pump's spec, as its author would write it, changed."""
    return pump_spec().model_dump(mode="json", exclude_none=True) | changes


def _routine() -> dict[str, object]:
    sentence = "The bearing was heard again."
    return leaky(routine=[sentence, "The gate was painted.", "The wall was painted."])


def _theme() -> dict[str, object]:
    spec = leaky()
    spec["distractors"]["themes"][0]["events"][0] = "The cook spoke of the valve's backlash."
    return spec


def _single() -> dict[str, object]:
    """A synthesis question of values of one day, and one that needs two."""
    spec = leaky()
    spec["questions"][0] |= {
        "facts": ["at", "tank_at", "rise"],
        "prompt": "What do the sheets show, first and last?",
    }
    return spec


def _control() -> dict[str, object]:
    spec = leaky()
    spec["questions"][-1]["facts"] = ["rise"]
    return spec


def _types() -> dict[str, object]:
    spec = leaky()
    spec["questions"] = spec["questions"][1:]
    return spec


def _band() -> dict[str, object]:
    spec = leaky()
    spec["thresholds"] = {"stuffed": {"longitudinal": [0.9, 1.0]}}
    return spec


LEAKS = {
    "forbidden-words": _routine,
    "dissimilar": _theme,
    "single-episode-coverage": _single,
    "control-answerable": _control,
    "question-form": _types,
    "stuffed-band": _band,
}


def file_of(spec: dict[str, object], folder: Path) -> Path:
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(spec), "utf-8")
    return path


@pytest.mark.parametrize("name", LEAKS)
def test_a_spec_that_leaks_is_refused_by_name_of_the_validator(tmp_path, name):
    """Whatever the leak; the spec is named too, and the folder stays empty."""
    out = tmp_path / "out"
    settings = GenerateSettings("d", (str(file_of(LEAKS[name](), tmp_path)),), out)
    with pytest.raises(DataError) as caught:
        generate_longitudinal(settings)
    assert f"spec pump: validator {name}: " in caught.value.where
    assert caught.value.fix
    assert not out.exists()


def test_the_spec_that_they_are_made_from_is_written(tmp_path):
    """Else they might be refused for something else; and it can be checked."""
    settings = GenerateSettings("d", (str(file_of(leaky(), tmp_path)),), tmp_path / "out")
    written = generate_longitudinal(settings)
    assert check_longitudinal(settings).items() <= written.items()


def test_the_command_refuses_with_exit_code_2(tmp_path):
    """The message names validator, episode, and what to do."""
    path = file_of(_routine(), tmp_path)
    done = memrig("generate", "longitudinal", "--spec", path, "--out", "out", cwd=tmp_path)
    assert done.code == 2
    told = " ".join(done.err.split())
    assert "validator forbidden-words" in told
    assert "'bearing'" in told
    assert "fix:" in told
    assert not (tmp_path / "out").exists()


# -------------------------------------------------------------------------------- with a renderer


def test_documents_by_a_model_pass_the_same_validators_and_replay(tmp_path, monkeypatch):
    """Through the gateway, recorded; and again from the record to the same bytes."""
    style = pump_spec().document

    def write(seen: Seen) -> str:
        return document(sheet_in(seen.text), style, 0)

    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-of-a-test")
    path, out = str(file_of(leaky(), tmp_path)), tmp_path / "out"
    models = GenerateModels(renderer="gpt-test-1")
    with LlmStandIn.in_thread(write) as standin:
        monkeypatch.setenv("OPENAI_BASE_URL", standin.openai_url)
        written = generate_longitudinal(GenerateSettings("d", (path,), out, models=models))
    again = GenerateModels(renderer="gpt-test-1", llm="replay-strict", record=out / "d.llm.sqlite")
    checked = check_longitudinal(GenerateSettings("d", (path,), out, models=again))
    assert checked.items() <= written.items()
    assert len(checked) == 2


def test_a_story_by_a_model_passes_the_same_validators_and_replays(tmp_path, monkeypatch):
    """Its figures are within the formulas' ranges, so that the facts hold."""
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-of-a-test")
    path, out = str(file_of(leaky(), tmp_path)), tmp_path / "out"
    models = GenerateModels(planner="gpt-test-1")
    with LlmStandIn.in_thread(lambda seen: json.dumps(figures(brief_in(seen.text)))) as standin:
        monkeypatch.setenv("OPENAI_BASE_URL", standin.openai_url)
        written = generate_longitudinal(GenerateSettings("d", (path,), out, models=models))
        assert len(standin.seen) == len(pump_spec().phases)
    again = GenerateModels(planner="gpt-test-1", llm="replay-strict", record=out / "d.llm.sqlite")
    checked = check_longitudinal(GenerateSettings("d", (path,), out, models=again))
    assert checked.items() <= written.items()


def test_a_model_that_writes_no_document_is_named_with_the_episode(tmp_path, monkeypatch):
    """Spec, episode, what was wrong; and no empty text is written."""
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-of-a-test")
    path, out = str(file_of(leaky(), tmp_path)), tmp_path / "out"
    with LlmStandIn.in_thread(lambda _: "Nothing happened.") as standin:
        monkeypatch.setenv("OPENAI_BASE_URL", standin.openai_url)
        settings = GenerateSettings("d", (path,), out, models=GenerateModels(renderer="gpt-test-1"))
        with pytest.raises(GatewayError, match="asked 3 times") as caught:
            generate_longitudinal(settings)
    assert "spec pump: " in caught.value.where
    assert " episode " in caught.value.where
    assert not (out / "d.json").exists()
