"""The organiser's audit of real processes: honest runs are made again, made-up ones are not."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import memrig
from memrig import RunConfig
from memrig.errors import IncompleteError, PrerequisiteError, UsageError
from memrig.leaderboard.audits import read_audits
from memrig.pod.images import resolve
from memrig.submission.archive import read_archive
from memrig.submission.keys import new_key
from memrig.submission.pack import pack
from memrig.submission.rerun import RerunOptions, rerun
from memrig.submission.system import find_system
from memrig.submission.verify import verify
from memrig.suites.base import SuiteOptions, load_suite
from support.cheating import baked_table, cheating
from support.command import memrig as command
from support.source import ROOT
from support.submissions import KINDS, Json, Submissions, submissions
from support.tampering import Cheat, Tampering, tampered

__all__ = ["submissions"]

pytestmark = pytest.mark.slow

BM25 = str(ROOT / "images" / "bm25")
HONEST = RerunOptions(cells=5, adapter=BM25, fresh_seeds=True)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """An organiser's."""
    new_key(tmp_path / "organiser")
    return tmp_path / "organiser"


class TestHonest:
    """A deterministic memory."""

    @pytest.mark.parametrize("kind", ["practical", "longhorizon", "reader"])
    def test_is_reproduced_to_the_letter(
        self, submissions: Submissions, tmp_path: Path, key: Path, kind: str
    ) -> None:
        """And does as well under seeds that it could not know."""
        done = rerun(submissions(kind), HONEST, out=tmp_path / "x.audit.json", key=key)
        assert done.audit.passed, done.audit.summary
        assert [cell.differing for cell in done.audit.cells] == [0]
        assert done.audit.tolerances[0].rule == "exact"
        (fresh,) = done.audit.fresh
        assert fresh.made == ("worlds" if kind == "longhorizon" else "ids")
        assert "process pod: not isolated, not leaderboard-eligible" in done.audit.notes

    def test_the_same_questions_under_other_ids_are_compared_in_pairs(
        self, submissions: Submissions, tmp_path: Path, key: Path
    ) -> None:
        """And a canary of the fresh seed's own is planted."""
        done = rerun(submissions("practical"), HONEST, out=tmp_path / "x.audit.json", key=key)
        (fresh,) = done.audit.fresh
        assert fresh.questions == fresh.claimed_questions == 24
        assert all(row.claimed == row.found for row in fresh.metrics)
        assert {row.audit: row.verdict for row in fresh.audits}["canary"] == "passed"

    def test_a_copy_with_one_other_line_is_another_system(
        self, submissions: Submissions, tmp_path: Path, key: Path
    ) -> None:
        """What is run again is what was claimed, by content."""
        with read_archive(submissions("practical")) as opened:
            assert opened.manifest is not None
            claimed = opened.manifest.adapter
        copy = tmp_path / "bm25"
        copy.mkdir()
        for path in (ROOT / "images" / "bm25").iterdir():
            if path.is_file():
                (copy / path.name).write_bytes(path.read_bytes())
        assert find_system(claimed, str(copy), tmp_path, (), print).adapter == claimed
        (copy / "more.py").write_text("# one other line\n", "utf-8")
        with pytest.raises(UsageError, match=r"inputs\.adapter"):
            find_system(claimed, str(copy), tmp_path, (), print)

    def test_the_runs_can_be_kept(
        self, submissions: Submissions, tmp_path: Path, key: Path
    ) -> None:
        """For a look at what was found."""
        options = replace(HONEST, fresh_seeds=False, keep=tmp_path / "kept")
        rerun(submissions("practical"), options, out=tmp_path / "x.audit.json", key=key)
        (folder,) = (tmp_path / "kept").iterdir()
        assert memrig.score(folder).questions.settled == 24
        with pytest.raises(UsageError, match="is not empty"):
            rerun(submissions("practical"), options, out=tmp_path / "y.audit.json", key=key)


def better_hits(forgery: Tampering) -> None:
    """Puts evidence first wherever it was found at all, and changes nothing else."""
    options = SuiteOptions(load_suite("practical").protocols[0], sample=True)
    gold = {
        name: set(found.evidence)
        for scenario in load_suite("practical").scenarios(options)
        for name, found in scenario.gold.items()
    }
    changed = 0

    def better(record: Json) -> None:
        nonlocal changed
        first, *rest = record["searches"][0]["hits"]
        evidence = gold[record["question_id"]]
        right = next((hit for hit in rest if evidence & set(hit["episodes"])), None)
        if right is None or evidence & set(first["episodes"]):
            return
        for name in ("ref_id", "text", "episodes", "turns", "timestamp"):
            first[name], right[name] = right[name], first[name]
        changed += 1

    forgery.edit_each("question", better)
    assert changed > 5


BETTER = Cheat(
    name="better-hits",
    kind="practical",
    what="puts the evidence first",
    gain="a perfect rank of what was found",
    caught="",
    forge=better_hits,
)


def test_a_forged_archive_verifies_and_is_caught_by_a_rerun(
    submissions: Submissions, tmp_path: Path, key: Path
) -> None:
    """It is consistent, graded, chained and signed; it only never happened."""
    file = tampered(submissions("practical"), tmp_path / "forged.memrig", BETTER)
    assert verify(file).passed
    done = command("submission", "rerun", file, "--adapter", BM25, "--key", key, cwd=tmp_path)
    assert done.code == 6, done.err
    assert "DISAGREES" in done.out
    assert "rank: 1 → " in " ".join(done.out.split())
    record = tmp_path / "forged.audit.json"
    assert record.exists()
    honest = rerun(submissions("practical"), HONEST, out=tmp_path / "ok.audit.json", key=key)
    marks = read_audits(tmp_path, [honest.key], print)
    assert sorted(mark.passed for found in marks.values() for mark in found) == [False, True]


def test_a_memory_that_never_serves_shows_nothing(tmp_path: Path, key: Path) -> None:
    """All its zeros agree with each other; whoever packs it hears why."""
    folder = cheating(tmp_path, "Nobody")
    config = RunConfig(
        adapter=str(folder), suite="practical", sample=True, pod="process", out=tmp_path / "run"
    )
    with pytest.raises(IncompleteError, match="never served"):
        memrig.run(config)
    file = tmp_path / "x.memrig"
    packed = pack([tmp_path / "run"], file, key=key)
    assert [note for note in packed.notes if "never served in run" in note]
    assert verify(file).passed
    with pytest.raises(IncompleteError, match="no cell was served"):
        rerun(file, RerunOptions(adapter=str(folder), fresh_seeds=True), key=key)
    assert not (tmp_path / "x.audit.json").exists()


@dataclass(frozen=True)
class Cheated:
    """A submission of a memory that brought its answers along."""

    file: Path
    adapter: Path


#: Data that everybody has, and a world that one published seed makes.
BAKED: Mapping[str, Mapping[str, object]] = {
    "practical": {"suite": "practical", "limit": 20, "audits": True},
    "longhorizon": KINDS["longhorizon"],
}


@pytest.fixture(scope="module", params=sorted(BAKED))
def baked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Cheated:
    """Its table is made from what was published."""
    name = str(request.param)
    folder = tmp_path_factory.mktemp(f"baked-{name}")
    suite = load_suite(name)
    options = SuiteOptions(suite.protocols[0], category_labels=suite.label_sets[0])
    if name == "longhorizon":
        options = replace(options, seed=42, turns=200, questions=20)
    table = baked_table(suite.scenarios(options), folder / "table.json")
    adapter = cheating(folder, "Table", table)
    fields = {**BAKED[name], "adapter": str(adapter), "pod": "process", "out": folder / "run"}
    report = memrig.run(RunConfig.model_validate(fields))
    assert report.value("recall_any@10").value == 1.0
    new_key(folder / "key")
    pack([folder / "run"], folder / "baked.memrig", key=folder / "key")
    return Cheated(folder / "baked.memrig", adapter)


class TestTable:
    """Answers that were baked in."""

    def test_verifies_and_passes_on_what_was_published(
        self, baked: Cheated, tmp_path: Path, key: Path
    ) -> None:
        """It did happen, and happens again."""
        assert verify(baked.file).passed
        options = RerunOptions(cells=5, adapter=str(baked.adapter))
        done = rerun(baked.file, options, out=tmp_path / "x.audit.json", key=key)
        assert done.audit.passed, done.audit.summary

    def test_is_caught_by_fresh_seeds(self, baked: Cheated, tmp_path: Path, key: Path) -> None:
        """Of a fresh world it knows nothing; of data as published, it finds no canary."""
        options = RerunOptions(cells=5, adapter=str(baked.adapter), fresh_seeds=True)
        done = rerun(baked.file, options, out=tmp_path / "x.audit.json", key=key)
        assert not done.audit.passed
        assert all(cell.agrees for cell in done.audit.cells)
        (fresh,) = done.audit.fresh
        if fresh.made == "worlds":
            assert all(row.claimed == 1 and row.found == 0 for row in fresh.metrics)
        else:
            assert {row.audit: row.verdict for row in fresh.audits}["canary"] == "failed"


@pytest.mark.docker
@pytest.mark.timeout(600)
class TestDocker:
    """Images by digest."""

    def test_an_image_that_is_nowhere_is_named_with_the_ways_to_get_it(
        self, tmp_path: Path
    ) -> None:
        """Exit code 3: the machine lacks something."""
        found = asyncio.run(resolve(BM25, "docker"))
        lost = found.model_copy(update={"images": {"adapter": "sha256:" + "0" * 64}})
        with pytest.raises(PrerequisiteError, match="sha256:000") as caught:
            find_system(lost, "", tmp_path, (), print)
        assert "--adapter FOLDER" in caught.value.fix
        assert "--with-image" in caught.value.fix

    @pytest.mark.parametrize("given", ["", BM25])
    def test_a_memory_in_a_container_is_reproduced_to_the_letter(
        self, tmp_path: Path, key: Path, given: str
    ) -> None:
        """By its digest on the daemon, or built again from the same inputs."""
        config = RunConfig(
            adapter=BM25, suite="practical", sample=True, pod="docker", out=tmp_path / "run"
        )
        memrig.run(config)
        file = tmp_path / "x.memrig"
        pack([tmp_path / "run"], file, key=key)
        done = rerun(file, RerunOptions(adapter=given, fresh_seeds=True), key=key)
        assert done.audit.passed, done.audit.summary
        assert done.audit.system.pod == "docker"
        assert ("local daemon" in done.audit.system.how) == (not given)
