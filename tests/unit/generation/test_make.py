"""Datasets in files: whole, in order, and the same bytes from the same specs."""

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

from memrig.errors import DataError, MemrigError, UsageError, VerificationError
from memrig.generate import (
    GenerateModels,
    GenerateSettings,
    check_longitudinal,
    generate_longitudinal,
)
from memrig.generation.dataset import SUMS, read_sums
from memrig.generation.make import BackEnds, Made, make, scaled
from memrig.generation.model import Draft, Finding
from memrig.generation.planner import FormulaPlanner
from memrig.generation.render import SeededRenderer
from memrig.generation.spec import Spec
from memrig.generation.specfile import BUILT_IN, built_in
from memrig.suites import longitudinal
from memrig.suites.longitudinal_lint import lint_dataset
from support.command import memrig
from support.stories import pump_spec

SHIPPED = Path(longitudinal.__file__).with_name("longitudinal_data") / "v1"
SIZES = {"40": (20, 1.0), "120": (30, 3.0)}


def ends(*findings: Finding) -> BackEnds:
    """Without models, and with a validator that finds what it is told to."""

    async def told(_: Draft) -> tuple[Finding, ...]:
        return findings

    return BackEnds(
        planner=lambda _: FormulaPlanner(),
        renderer=lambda _: SeededRenderer(),
        validate=told,
        limits=lambda _: {"one": "at most 1"},
        names={"planner": "deterministic"},
    )


async def made(*specs: Spec, findings: tuple[Finding, ...] = ()) -> Made:
    return await make("pump", specs, ends(*findings), lambda _: None)


def written(spec: Spec, folder: Path) -> str:
    path = folder / f"{spec.name}.yaml"
    path.write_text(yaml.safe_dump(spec.model_dump(mode="json", exclude_none=True)), "utf-8")
    return str(path)


@pytest.mark.parametrize("variant", SIZES)
async def test_the_shipped_dataset_is_what_the_built_in_specs_make(variant):
    """Byte by byte; the sums beside it are its own."""
    specs = [scaled(built_in(name), *SIZES[variant]) for name in BUILT_IN]
    found = await make(variant, specs, ends(), lambda _: None)
    shipped = (SHIPPED / f"{variant}.json").read_bytes()
    assert sha256(found.data).hexdigest() == sha256(shipped).hexdigest()
    listed = read_sums((SHIPPED / SUMS).read_bytes())
    assert listed[f"{variant}.json"] == sha256(shipped).hexdigest()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("variant", SIZES)
def test_the_shipped_dataset_passes_every_validator(variant):
    """Made again with all of them, provenance included."""
    settings = GenerateSettings(variant, ("builtin",), SHIPPED, *SIZES[variant])
    assert len(check_longitudinal(settings)) == 2


@pytest.mark.parametrize("variant", SIZES)
def test_the_shipped_dataset_has_no_defect(variant):
    """Not even one that a run would only warn of."""
    path = SHIPPED / f"{variant}.json"
    assert lint_dataset(json.loads(path.read_bytes())) == []


@pytest.mark.parametrize("variant", SIZES)
def test_nothing_of_the_shipped_documents_tells_where_they_belong(variant):
    """No id, scope, phase or theme stands in a text; metadata are of one size."""
    data = json.loads((SHIPPED / f"{variant}.json").read_bytes())
    for scope in data["scopes"]:
        labels = {v for e in scope["episodes"] for v in e["meta"].values() if "_" in v}
        banned = labels | {scope["scope_id"], "distractor", "red herring"}
        for episode in scope["episodes"]:
            text = episode["text"].lower()
            assert not [word for word in banned if word in text]
            assert not re.search(r"e-[0-9a-f]{10}", text)
            assert len(episode["meta"]) == 2


async def test_a_dataset_holds_what_its_plans_hold():
    """In the members that LENS has, and a name and format of ours."""
    found = await made(pump_spec())
    data, (draft,) = json.loads(found.data), found.drafts
    assert [*data] == ["format", "name", "version", "scopes", "questions"]
    (scope,) = data["scopes"]
    assert [e["episode_id"] for e in scope["episodes"]] == [
        e.episode_id for e in draft.plan.episodes
    ]
    kinds = {e["episode_id"]: e["meta"]["episode_type"] for e in scope["episodes"]}
    for question in data["questions"]:
        refs = question["ground_truth"]["required_evidence_refs"]
        assert {kinds[ref] for ref in refs} == {"signal"}
        before = [e["episode_id"] for e in scope["episodes"]][: question["checkpoint_after"]]
        assert set(refs) <= set(before)


async def test_provenance_holds_no_time_and_no_place():
    """Digests, versions, limits and counts: the same on every machine."""
    found = json.loads((await made(pump_spec())).provenance)
    (scope,) = found["scopes"]
    assert scope["spec"]["digest"].startswith("sha256:")
    assert scope["validators"] == {"one": "at most 1"}
    assert scope["episodes"] == {"distractor": 20, "signal": 20}
    assert sum(scope["questions"].values()) == 10


async def test_two_scopes_of_one_name_are_refused():
    """Their ids would be the same."""
    with pytest.raises(DataError, match=r"scope_id: 'pump' stands twice"):
        await made(pump_spec(), pump_spec(seed=2))


async def test_a_finding_refuses_the_dataset_by_the_validators_name():
    """With the place, and how many more there are."""
    finding = Finding("forbidden-words", "episode 3", "holds 'leak'", "take it out")
    with pytest.raises(DataError) as caught:
        await made(pump_spec(), findings=(finding, finding))
    assert caught.value.where == "spec pump: validator forbidden-words: episode 3"
    assert "1 more finding" in caught.value.message
    assert caught.value.fix == "take it out"


@pytest.mark.parametrize(("episodes", "ratio"), [(1, None), (501, None), (None, 21), (None, -1)])
def test_a_size_that_no_spec_has_is_refused(episodes, ratio):
    """The bounds are those of a spec."""
    with pytest.raises(DataError, match="expected"):
        scaled(pump_spec(), episodes, ratio)


def test_the_same_spec_writes_the_same_bytes_anywhere(tmp_path):
    """Into two folders, from two places; check finds nothing to say."""
    found = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        settings = GenerateSettings("pumps", (written(pump_spec(), folder),), folder / "out")
        generate_longitudinal(settings)
        check_longitudinal(settings)
        found.append({path.name: path.read_bytes() for path in (folder / "out").iterdir()})
    assert found[0] == found[1]
    assert sorted(found[0]) == ["SHA256SUMS", "pumps.json", "pumps.provenance.json"]


def test_check_names_a_file_that_was_changed(tmp_path):
    """By so much as a byte; a lost sum, too."""
    settings = GenerateSettings("pumps", (written(pump_spec(), tmp_path),), tmp_path / "out")
    with pytest.raises(VerificationError, match=r"pumps\.json"):
        check_longitudinal(settings)
    generate_longitudinal(settings)
    data = settings.out / "pumps.json"
    kept = data.read_bytes()
    data.write_bytes(kept.replace(b"kPa", b"bar", 1))
    with pytest.raises(VerificationError, match=r"pumps\.json: is not what its specs make"):
        check_longitudinal(settings)
    data.write_bytes(kept)
    (settings.out / SUMS).write_text("", "utf-8")
    with pytest.raises(VerificationError, match="has another sum"):
        check_longitudinal(settings)


def test_a_second_dataset_in_a_folder_keeps_the_sums_of_the_first(tmp_path):
    """Names in order."""
    spec = (written(pump_spec(), tmp_path),)
    generate_longitudinal(GenerateSettings("b", spec, tmp_path / "out"))
    generate_longitudinal(GenerateSettings("a", spec, tmp_path / "out", episodes=25))
    listed = read_sums((tmp_path / "out" / SUMS).read_bytes())
    names = ["a.json", "a.provenance.json", "b.json", "b.provenance.json"]
    assert [*listed] == names
    for name in names:
        assert listed[name] == sha256((tmp_path / "out" / name).read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".x"])
def test_a_name_that_is_none_for_a_file_is_refused(name, tmp_path):
    """Nothing is written outside of the folder."""
    with pytest.raises(UsageError, match="--name"):
        generate_longitudinal(GenerateSettings(name, ("builtin",), tmp_path))


def test_sums_that_are_none_are_refused_by_their_line():
    """Rather than lost."""
    with pytest.raises(DataError, match="SHA256SUMS: line 2"):
        read_sums(b"a" * 64 + b"  x.json\nnonsense\n")


@pytest.mark.slow
def test_the_command_writes_and_says_what_it_wrote(tmp_path):
    """Then compares, with the same flags and --check."""
    spec = written(pump_spec(), tmp_path)
    flags = ("generate", "longitudinal", "--spec", spec, "--out", "out", "--episodes", "20")
    done = memrig(*flags, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    data = tmp_path / "out" / "longitudinal.json"
    assert sha256(data.read_bytes()).hexdigest() in done.out
    assert memrig(*flags, "--check", cwd=tmp_path).code == 0
    data.write_bytes(data.read_bytes() + b"\n")
    assert memrig(*flags, "--check", cwd=tmp_path).code == 6


@pytest.mark.slow
def test_a_spec_that_leaks_is_refused_by_the_command_and_nothing_is_written(tmp_path):
    """Exit code 2, and the validator's name."""
    spec = pump_spec(routine=["The bearing was greased.", "A door stuck.", "A lamp was lit."])
    done = memrig(
        "generate", "longitudinal", "--spec", written(spec, tmp_path), "--out", "out", cwd=tmp_path
    )
    assert done.code == 2
    assert "validator forbidden-words" in done.err
    assert "bearing" in done.err
    assert not (tmp_path / "out").exists()


def test_a_model_that_is_not_to_be_had_is_said_before_anything_is_made(tmp_path, monkeypatch):
    """No key, no call: exit code 3."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    models = GenerateModels(renderer="gpt-4o")
    spec = (written(pump_spec(), tmp_path),)
    with pytest.raises(MemrigError) as caught:
        generate_longitudinal(GenerateSettings("p", spec, tmp_path / "out", models=models))
    assert caught.value.exit_code == 3
