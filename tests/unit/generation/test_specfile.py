"""`spec.yaml`: read safely, and refused by file, field and value."""

import pytest
import yaml

from memrig.errors import DataError
from memrig.generation.specfile import BUILT_IN, built_in, parse_spec, read_spec
from support.stories import pump_spec

RAW = pump_spec().model_dump(mode="json", exclude_none=True)


def changed(**changes: object) -> bytes:
    return yaml.safe_dump(RAW | changes).encode()


def first(part: str, **changes: object) -> dict[str, object]:
    """The spec with its first signal, fact or question changed."""
    return {part: [RAW[part][0] | changes, *RAW[part][1:]]}


def test_a_written_spec_reads_as_it_was(tmp_path):
    """YAML in, the same spec out."""
    path = tmp_path / "pump.yaml"
    path.write_bytes(changed())
    assert read_spec(path) == pump_spec()


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_built_in_specs_are_whole(name):
    """Six domains, each under its own name, with three themes and a list of forbidden words."""
    spec = built_in(name)
    assert spec.name == name
    assert len(spec.distractors.themes) >= 3
    assert len(spec.routine) >= 12
    assert all(len(theme.events) >= 12 for theme in spec.distractors.themes)
    assert "root cause" in spec.forbidden


def test_the_built_in_specs_are_of_six_domains():
    """No two alike."""
    assert len({built_in(name).domain for name in BUILT_IN}) == 6


@pytest.mark.parametrize(
    ("changes", "field", "problem"),
    [
        ({"sotryline": "x"}, "sotryline", "not permitted"),
        ({"format": "memrig.longitudinal-spec/2"}, "format", "memrig.longitudinal-spec/1"),
        ({"storyline": ""}, "storyline", "at least 1 character"),
        ({"timeline": {"start": "soon"}}, "timeline.start", "got 'soon'"),
        (first("signals", formulas={"calm": "1" * 201}), "signals.0.formulas.calm", "200"),
        (first("signals", formulas={"clam": "1"}), "signals.inlet.formulas", "no phase 'clam'"),
        (first("signals", name="outlet"), "signals", "'outlet' stands twice"),
        (first("signals", label="Bread baked"), "signals' labels", "'bread baked' stands twice"),
        (first("facts", signal="inlett"), "facts.rise", "no signal 'inlett'"),
        (first("facts", kind="rumour"), "facts.0", "rumour"),
        (first("facts", start="calm:soon"), "facts.0.change.start", "got 'calm:soon'"),
        (first("questions", facts=["rize"]), "questions.q0.facts", "no fact 'rize'"),
        (first("questions", type="riddle"), "questions.0.type", "got 'riddle'"),
        ({"document": RAW["document"] | {"words": [9, 3]}}, "document.words", "9 to 3"),
        ({"distractors": {"ratio": 1}}, "distractors.themes", "there is none"),
    ],
)
def test_a_defect_is_named_by_file_field_and_value(changes, field, problem):
    """And says what to do about it."""
    with pytest.raises(DataError) as caught:
        parse_spec(changed(**changes), "pump.yaml")
    assert caught.value.where == f"pump.yaml: {field}"
    assert problem in caught.value.message
    assert caught.value.fix


@pytest.mark.parametrize("level", [{"above": 1, "below": 2}, {}])
def test_a_threshold_has_one_side(level):
    """Above or below."""
    onset = {"id": "x", "kind": "onset", "signal": "inlet", **level}
    with pytest.raises(DataError, match="one of above and below"):
        parse_spec(changed(facts=[onset, *RAW["facts"]]), "pump.yaml")


@pytest.mark.parametrize(
    "text",
    [
        b"a: [",
        b"a: 1\na: 2",
        b"\xff\xfe\x00",
        b"a: !!python/object/apply:os.getcwd []",
        b"? [a]\n: b",
    ],
)
def test_what_is_no_plain_yaml_is_refused(text):
    """A key that stands twice included, and whatever would build an object."""
    with pytest.raises(DataError, match=r"pump\.yaml: is no YAML"):
        parse_spec(text, "pump.yaml")


@pytest.mark.parametrize("text", [b"", b"[]", b"7"])
def test_what_is_no_mapping_is_refused(text):
    """As a whole."""
    with pytest.raises(DataError, match=r"pump\.yaml: the whole file"):
        parse_spec(text, "pump.yaml")


def test_a_file_that_is_not_there_is_named(tmp_path):
    """With the flag that named it."""
    with pytest.raises(DataError, match=r"--spec .*none\.yaml: cannot be read"):
        read_spec(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("changes", "field", "problem"),
    [
        (first("signals", noise=float("inf")), "signals.0.noise", "finite"),
        (first("signals", limit=1e300), "signals.0.limit", "less than or equal"),
        (first("signals", label="Inlet\npressure"), "signals.0.label", "one line"),
        ({"phases": [{"name": "calm", "share": float("inf")}]}, "phases.0.share", "finite"),
        ({"phases": [*RAW["phases"], {"name": "now", "share": 1}]}, "phases", "something else"),
        ({"seed": 2**53}, "seed", "less than"),
        ({"document": RAW["document"] | {"words": [200, 10**9]}}, "document.words", "no band"),
        ({"routine": ["A wall."] * 3}, "routine", "stands twice"),
        ({"routine": ["A wall.", "A gate.", "It was 7 kPa."]}, "routine", "holds a figure"),
        ({"forbidden": ["!"]}, "forbidden", "is no word"),
        (
            {"thresholds": {"stuffed": {"negative": [1, 0]}}},
            "thresholds.stuffed.negative",
            "1 to 0",
        ),
        (first("questions", facts=["rise", "rise"]), "questions.q0.facts", "stands twice"),
        (first("questions", lead="It is 7."), "questions.q0.lead", "holds a figure"),
    ],
)
def test_what_would_end_in_an_accident_later_is_refused_first(changes, field, problem):
    """Endless numbers, sentences that are none, bands upside down."""
    with pytest.raises(DataError) as caught:
        parse_spec(changed(**changes), "pump.yaml")
    assert caught.value.where == f"pump.yaml: {field}"
    assert problem in caught.value.message


@pytest.mark.parametrize("text", [b"a: 2024-02-30", b"a: " + b"9" * 6000])
def test_a_value_that_yaml_cannot_build_is_refused(text):
    """A day that no month has, a number of thousands of digits."""
    with pytest.raises(DataError, match=r"pump\.yaml: is no YAML"):
        parse_spec(text, "pump.yaml")
