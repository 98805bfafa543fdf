"""From a lock back to its scenarios: by the suite and its data, never by what the run holds."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from memrig.errors import PrerequisiteError, UsageError
from memrig.model.canonical import digest_file
from memrig.runs.config import RunConfig
from memrig.runs.lock import Lock
from memrig.runs.plan import plan
from memrig.runs.replan import respool
from memrig.suites import datasets

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "harness" / "memrig" / "suites" / "locomo_sample.json"


async def locked(out: Path, **changes: object) -> Lock:
    """The lock of a plan."""
    config = {"adapter": str(ROOT / "images" / "none"), "pod": "process", "out": out}
    return (await plan(RunConfig.model_validate(config | changes), lambda _: None)).lock


@pytest.mark.parametrize(
    "changes",
    [
        {"suite": "practical", "sample": True},
        {"suite": "practical", "limit": 5, "seeds": (1, 2)},
        {"suite": "practical", "sample": True, "isolation": "pooled"},
        {"suite": "longhorizon", "turns": 100, "questions": 15, "seeds": (7, 8)},
        {"suite": "longhorizon", "turns": 100, "questions": 15, "question_set": "holdout"},
        {"suite": "longitudinal", "sample": True, "distractors": 0.3},
        {"suite": "longmemeval", "sample": True, "granularity": "turn", "order": "date"},
        {"suite": "locomo", "sample": True, "category_labels": "paper", "limit": 4},
        {"suite": "operations", "sample": True, "turns": 100, "questions": 3},
    ],
    ids=lambda changes: "-".join(str(value) for value in changes.values()),
)
async def test_the_scenarios_are_those_of_the_plan(tmp_path, changes):
    """To the last byte: digests, counts, seeds, and what there was to note."""
    lock = await locked(tmp_path / "run", **changes)
    found = respool(lock, tmp_path / "again")
    assert found.refs == lock.scenarios
    assert found.source.sha256 == lock.data.sha256
    assert found.notes == lock.notes
    spooled = {path.name: path.read_bytes() for path in (tmp_path / "run/scenarios").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == spooled


async def test_what_the_lock_says_of_its_scenarios_is_not_believed(tmp_path):
    """They are made, and differ."""
    lock = await locked(tmp_path / "run", sample=True)
    easier = lock.scenarios[0].model_copy(update={"digest": "sha256:" + "0" * 64})
    found = respool(lock.model_copy(update={"scenarios": (easier,)}), tmp_path / "again")
    assert found.refs == lock.scenarios


async def test_only_a_file_of_answers_can_limit_the_questions_to_its_own(tmp_path):
    """A lock that says so of another pod is no plan of the rig's; nothing is missing here."""
    lock = await locked(tmp_path / "run", sample=True)
    odd = lock.model_copy(update={"options": {"only_answered": "true"}})
    with pytest.raises(UsageError, match="has no file of answers"):
        respool(odd, tmp_path / "again")


class TestData:
    """Data of one's own does not travel: it is found by its digest."""

    @pytest.fixture
    def mine(self, tmp_path: Path) -> Path:
        """A folder with a file of one's own, under another name than the run knew."""
        folder = tmp_path / "mine"
        folder.mkdir()
        (folder / "other.txt").write_text("something else\n")
        (folder / "renamed.json").write_bytes(SAMPLE.read_bytes() + b"\n")
        return folder

    @pytest.fixture
    async def lock(self, tmp_path: Path, mine: Path) -> Lock:
        """The lock of a run on it."""
        return await locked(tmp_path / "run", suite="locomo", file=mine / "renamed.json")

    @pytest.mark.parametrize("place", [".", "renamed.json"])
    async def test_it_is_found_by_digest_in_a_folder_or_as_a_file(
        self, lock, mine, tmp_path, place
    ):
        """Whatever it is called there."""
        found = respool(lock, tmp_path / "again", [mine / place])
        assert found.refs == lock.scenarios
        assert found.source.sha256 == digest_file(mine / "renamed.json")

    async def test_without_it_there_is_a_way_out(self, lock, tmp_path, monkeypatch):
        """Its name, its digest, and the flag."""
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "empty"))
        with pytest.raises(PrerequisiteError, match=lock.data.sha256) as caught:
            respool(lock, tmp_path / "again")
        assert repr(lock.data.name) in caught.value.where
        assert "--data" in caught.value.fix

    async def test_a_known_dataset_is_named_with_the_command_that_fetches_it(
        self, lock, tmp_path, monkeypatch
    ):
        """By its digest, whatever the lock calls it."""
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "empty"))
        pinned = f"sha256:{datasets.DATASETS['locomo'].sha256}"
        data = lock.data.model_copy(update={"sha256": pinned})
        with pytest.raises(PrerequisiteError) as caught:
            respool(lock.model_copy(update={"data": data}), tmp_path / "again")
        assert "`memrig data fetch locomo`" in caught.value.fix

    async def test_a_fetched_dataset_is_found_by_itself(self, lock, mine, tmp_path, monkeypatch):
        """Where `memrig data fetch` has put it."""
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
        item = datasets.DATASETS["locomo"]
        own = SimpleNamespace(file_name=item.file_name, sha256=lock.data.sha256[7:], name="locomo")
        monkeypatch.setitem(datasets.DATASETS, "locomo", own)
        store = tmp_path / "home/memrig/datasets"
        store.mkdir(parents=True)
        (store / item.file_name).write_bytes((mine / "renamed.json").read_bytes())
        assert respool(lock, tmp_path / "again").refs == lock.scenarios

    async def test_a_folder_that_is_not_there_is_told(self, lock, tmp_path):
        """Rather than looked through."""
        with pytest.raises(UsageError, match="no such folder"):
            respool(lock, tmp_path / "again", [tmp_path / "nowhere"])

    async def test_data_that_ships_is_taken_whatever_digest_the_lock_has(self, tmp_path):
        """Changed gold is no data to look for: the difference is for the verifier to see."""
        lock = await locked(tmp_path / "run", suite="practical", limit=5)
        forged = lock.data.model_copy(update={"sha256": "sha256:" + "0" * 64})
        found = respool(lock.model_copy(update={"data": forged}), tmp_path / "again")
        assert found.source.sha256 == lock.data.sha256
        assert found.refs == lock.scenarios


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"turns": "1e3"}, "is no number"),
        ({"turns": "0100"}, "is no number"),
        ({"turns": "٣٠٠"}, "is no number"),
        ({"turns": "9" * 5000}, "is no number"),
        ({"turns": "999999999"}, "turns"),
        ({"distractors": "nan?"}, "is no ratio"),
        ({"colour": "red"}, "no option 'colour'"),
        ({"question_set": "easy"}, "question set 'easy'"),
    ],
)
async def test_options_that_no_run_writes_are_refused(tmp_path, options, told):
    """An archive may say anything."""
    lock = await locked(tmp_path / "run", suite="longhorizon", sample=True)
    with pytest.raises(UsageError, match=told):
        respool(lock.model_copy(update={"options": options}), tmp_path / "again")
