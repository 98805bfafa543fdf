"""`lock.json`: every input by content; the same command resumes, another one is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.errors import UsageError
from memrig.grading.base import load_grader
from memrig.runs.lock import (
    Lock,
    check_lock,
    differences,
    grader_lock,
    plugins_lock,
    this_machine,
)
from support.fake_memory import fake_adapter
from support.plans import small_lock
from support.scenarios import small_scenario

FLAT = st.dictionaries(st.sampled_from("abcde"), st.integers(0, 3), max_size=5)


@pytest.fixture
def lock(tmp_path) -> Lock:
    """A lock over three scenarios."""
    return small_lock(tmp_path / "scenarios")


def saved(lock: Lock, tmp_path):
    path = tmp_path / "lock.json"
    path.write_text(lock.model_dump_json(indent=1))
    return path


def changed(lock: Lock, **changes: object) -> Lock:
    return Lock.model_validate(lock.model_dump() | changes)


CHANGES = {
    "contract": "sha256:1",
    "suite": "locomo",
    "protocol": "locomo-any",
    "grader": "practical/9",
    "category_labels": "paper",
    "sample": True,
    "isolation": "reset",
    "repeats": 2,
    "limit": 10,
    "top_k": 5,
    "audit": True,
    "naive": True,
    "memrig_version": "9.9.9",
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_changed_input_is_refused_and_named(field, lock, tmp_path):
    """The field, its old value and its new one."""
    path = saved(lock, tmp_path)
    with pytest.raises(UsageError) as caught:
        check_lock(path, changed(lock, **{field: CHANGES[field]}))
    old, new = getattr(lock, field), CHANGES[field]
    assert f"{field}: {old!r:.50}"[:40] in caught.value.message
    assert repr(new) in caught.value.message
    assert caught.value.where == str(path)
    assert "--out" in caught.value.fix


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"budget": {"wall_time_s": 1}}, "budget.wall_time_s: 5.0 → 1.0"),
        ({"deadlines": {"search": 9}}, "deadlines.search: 2.0 → 9.0"),
        ({"plugins": {"suite": "mine==2"}}, "plugins.suite: None → 'mine==2'"),
        ({"seeds": (8, 9)}, "seeds: [7] → [8, 9]"),
        ({"notes": ("x",)}, "notes: 0 items → 1 items"),
        ({"adapter": fake_adapter(start_timeout_s=9)},
         "adapter.manifest.start_timeout_s: 5.0 → 9.0"),
    ],
)  # fmt: skip
def test_a_change_deep_inside_is_named_by_its_path(change, field, lock, tmp_path):
    """Not as two long values."""
    with pytest.raises(UsageError) as caught:
        check_lock(saved(lock, tmp_path), changed(lock, **change))
    assert field in caught.value.message


def test_an_image_that_was_built_anew_is_said_to_be(lock, tmp_path):
    """No flag of the first command brings it back; other changes beside it are told as ever."""
    old, new = (
        changed(
            lock, adapter=fake_adapter().model_copy(update={"images": {"adapter": f"sha256:{n}"}})
        )
        for n in (1, 2)
    )
    path = saved(old, tmp_path)
    with pytest.raises(UsageError, match=r"image that was built anew.*sha256:1") as caught:
        check_lock(path, new)
    assert "load the image" in caught.value.fix
    with pytest.raises(UsageError, match="other inputs"):
        check_lock(path, changed(new, repeats=2))


def test_changed_data_is_named_by_its_digest(lock, tmp_path):
    """The scenario that differs, by its place."""
    other = small_lock(
        tmp_path, *[small_scenario(n, halves=n == "two") for n in ("one", "two", "three")]
    )
    with pytest.raises(UsageError, match=r"scenarios\[1\]\.digest: 'sha256:"):
        check_lock(saved(lock, tmp_path), other)


def test_many_differences_are_cut_and_counted(lock, tmp_path):
    """Five are enough to see what happened."""
    with pytest.raises(UsageError, match=r"\(and 8 more\)"):
        check_lock(saved(lock, tmp_path), changed(lock, **CHANGES))


def test_equal_content_is_an_equal_run(lock, tmp_path):
    """However the file is laid out."""
    assert check_lock(saved(lock, tmp_path), changed(lock))
    assert changed(lock).digest == lock.digest


def test_a_new_folder_has_no_lock_yet(lock, tmp_path):
    """Nothing to compare with."""
    assert not check_lock(tmp_path / "none.json", lock)


@pytest.mark.parametrize("content", ["{}", "not json", '{"format": "memrig.lock/9"}'])
def test_what_is_no_lock_of_this_version_is_refused(content, lock, tmp_path):
    """A message, not a traceback."""
    path = tmp_path / "lock.json"
    path.write_text(content)
    with pytest.raises(UsageError, match="not a lock of this version") as caught:
        check_lock(path, lock)
    assert caught.value.where == str(path)


@pytest.mark.parametrize("field", CHANGES)
def test_every_input_is_in_the_digest(field, lock):
    """It names the run and seeds its statistics."""
    assert changed(lock, **{field: CHANGES[field]}).digest != lock.digest


@given(FLAT, FLAT)
def test_differences_are_exactly_the_keys_that_differ(old, new):
    """None too many, none missing."""
    expected = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    assert {line.split(":")[0] for line in differences(old, new)} == expected


def test_a_machine_says_what_latencies_depend_on():
    """Processor, cores, memory, kernel."""
    machine = this_machine()
    assert machine.cores >= 1
    assert machine.memory_bytes > 2**20
    assert machine.cpu
    assert machine.kernel


@pytest.mark.parametrize("protocol", ["locomo-any", "practical"])
def test_a_grader_is_locked_by_protocol_and_version(protocol):
    """As its grades name it."""
    grader = load_grader(protocol)
    assert grader_lock(grader) == f"{protocol}/{grader.version}"


def test_memrigs_own_suites_and_graders_are_no_plugins():
    """The rig's version names them."""
    assert plugins_lock("locomo", "locomo-any") == {}


def test_a_plugin_is_locked_by_its_distribution_and_version(tmp_path, monkeypatch):
    """A new version of it is another run."""
    folder = tmp_path / "lab-1.4.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1.4\n")
    (folder / "entry_points.txt").write_text(
        "[memrig.suites]\nlab-suite = lab:SUITE\n[memrig.graders]\nlab-any = lab:GRADER\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert plugins_lock("lab-suite", "practical") == {"suite": "lab==1.4"}
    assert plugins_lock("locomo", "lab-any") == {"grader": "lab==1.4"}
    assert plugins_lock("lab-suite", "lab-any") == {"suite": "lab==1.4", "grader": "lab==1.4"}
