"""Checks of the configuration: manifest and locks agree, and this rig can vouch for them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from memrig.model.trial import PRESETS, AnswerSpec
from memrig.submission.checks import config
from support.evidence import found


def caught(check_id, archive):
    return found(config.ARCHIVE_CHECKS, check_id, archive)


def seen(check_id, run):
    return found(config.RUN_CHECKS, check_id, run)


def with_lock(run, **changes):
    return replace(run, lock=run.lock.model_copy(update=changes))


def with_manifest(archive, **changes):
    return replace(archive, manifest=archive.manifest.model_copy(update=changes))


def with_locks(archive, **changes):
    """Every lock says something else."""
    locks = {name: lock.model_copy(update=changes) for name, lock in archive.locks.items()}
    return replace(archive, locks=locks)


def with_disclosure(archive, **changes):
    disclosure = archive.manifest.disclosure.model_copy(update=changes)
    return with_manifest(archive, disclosure=disclosure)


class TestAnArchive:
    @pytest.mark.parametrize("check", config.ARCHIVE_CHECKS, ids=lambda check: check.id)
    def test_an_honest_archive_passes(self, check, good, answered):
        """Nothing is objected to where nothing is wrong."""
        assert list(check.find(good.archive)) == list(check.find(answered.archive)) == []

    def test_another_version_is_named(self, good):
        """With what to verify it by."""
        old = with_manifest(good.archive, memrig_version="0.0.9")
        assert "verify it with memrig 0.0.9" in caught("config.version", old)[0]
        old = with_locks(good.archive, memrig_version="0.0.9")
        assert "run run: lock: memrig 0.0.9" in caught("config.version", old)[0]

    def test_another_format_of_lock_is_caught(self, good):
        """It may mean something else by the same words."""
        old = with_locks(good.archive, format="memrig.lock/0")
        assert "is of format 'memrig.lock/0'" in caught("config.version", old)[0]

    def test_another_contract_is_caught(self, good):
        """In the manifest and the lock; that of the file is compared as the archive is read."""
        other = "sha256:" + "4" * 64
        assert caught("config.contract", with_manifest(good.archive, contract=other))
        assert caught("config.contract", with_locks(good.archive, contract=other))

    def test_a_lock_that_was_changed_later_is_caught(self, good):
        """The manifest names it by its hash."""
        other = with_locks(good.archive, top_k=50)
        assert "lock_digest: the manifest has sha256:" in caught("config.runs", other)[0]

    @pytest.mark.parametrize("field", ["suite", "protocol"])
    def test_a_run_under_another_suites_name_is_caught(self, good, field):
        """A leaderboard sorts by the manifest's words."""
        entry = good.archive.manifest.runs[0].model_copy(update={field: "longmemeval"})
        other = with_manifest(good.archive, runs=(entry,))
        (message,) = caught("config.runs", other)
        assert f"{field}: the manifest has longmemeval, the lock practical" in message

    def test_a_run_that_the_manifest_does_not_name_is_caught(self, good):
        """Nor one that is not there, nor one named twice."""
        (entry,) = good.archive.manifest.runs
        assert caught("config.runs", replace(good.archive, locks={}))
        twice = with_manifest(good.archive, runs=(entry, entry))
        assert "a run is named twice: run, run" in caught("config.runs", twice)[0]

    def test_the_same_run_made_again_is_caught(self, good):
        """On another machine too: the better one would be shown."""
        (lock,) = good.archive.locks.values()
        machine = lock.machine.model_copy(update={"cores": 64})
        again = lock.model_copy(update={"machine": machine})
        both = replace(good.archive, locks={"a": lock, "b": again})
        assert "has the very inputs of run a" in caught("config.distinct", both)[0]
        other = lock.model_copy(update={"seeds": (1,)})
        assert caught("config.distinct", replace(good.archive, locks={"a": lock, "b": other})) == []

    def test_a_run_on_another_machine_is_caught(self, good):
        """One machine is disclosed."""
        machine = good.run.lock.machine.model_copy(update={"cores": 999})
        small = with_disclosure(good.archive, machine=machine)
        assert "cores: 999 → " in caught("config.machine", small)[0]

    @pytest.mark.parametrize(
        "change",
        [
            {"first": timedelta(days=-1)},
            {"first": timedelta(days=1)},
            {"last": timedelta(days=1)},
            {"last": timedelta(days=-1)},
        ],
    )
    def test_dates_that_are_not_the_runs_are_caught(self, good, change):
        """An old run is no new one."""
        ((name, shift),) = change.items()
        moved = getattr(good.archive.manifest.disclosure, name) + shift
        assert caught("config.dates", with_disclosure(good.archive, **{name: moved}))

    def test_dates_without_a_time_zone_are_compared_all_the_same(self, good):
        """They count as UTC; nothing raises."""
        shown = good.archive.manifest.disclosure
        naive = {name: getattr(shown, name).replace(tzinfo=None) for name in ("first", "last")}
        assert caught("config.dates", with_disclosure(good.archive, **naive)) == []

    def test_a_run_without_any_invocation_is_caught(self, good):
        """Nothing says when it was."""
        assert caught("config.dates", replace(good.archive, executions={})) == [
            "run run: executions: there is none"
        ]


class TestARun:
    @pytest.mark.parametrize("check", config.RUN_CHECKS, ids=lambda check: check.id)
    def test_an_honest_run_passes(self, check, good, answered):
        """Nothing is objected to where nothing is wrong."""
        assert list(check.find(good.run)) == list(check.find(answered.run)) == []

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"suite": "mine"}, "suite 'mine' is not installed here"),
            ({"protocol": "locomo-any"}, "practical has no protocol 'locomo-any'"),
            ({"mode": "telepathy"}, "practical has no mode 'telepathy'"),
            ({"plugins": {"grader": "kind==1"}}, "plugins: the lock has {'grader': 'kind==1'}"),
        ],
    )
    def test_a_suite_that_is_not_the_installed_one_is_caught(self, good, change, text):
        """Its questions could not be made again."""
        assert text in seen("config.suite", with_lock(good.run, **change))[0]

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"grader": "practical/1"}, "is 'practical/1', installed here is 'practical/"),
            ({"protocol": "mine"}, "no grader is installed here for protocol 'mine'"),
            ({"mode": "native"}, "practical does not grade mode native"),
            ({"judge": "gpt-4o"}, "practical has no use for a judge"),
        ],
    )
    def test_another_grader_is_caught(self, good, change, text):
        """A version, a protocol, a mode or a judge that do not fit."""
        assert text in " ".join(seen("config.grader", with_lock(good.run, **change)))

    def test_a_protocol_without_its_judge_is_caught(self, good):
        """Typed grades would stand in for a judge's."""
        run = with_lock(good.run, protocol="answer-judge")
        assert "needs a judge, the lock names none" in " ".join(seen("config.grader", run))

    def test_answers_in_a_mode_without_any_are_caught(self, good):
        """And a mode that answers, without what makes them."""
        assert seen("config.answer", with_lock(good.run, answer=AnswerSpec(model="m")))
        assert seen("config.answer", with_lock(good.run, mode="reader"))

    def test_an_answer_by_nobody_is_caught(self, answered):
        """Mode reader calls a model."""
        answer = answered.run.lock.answer.model_copy(update={"model": ""})
        assert "names no model" in seen("config.answer", with_lock(answered.run, answer=answer))[0]

    def test_prompts_of_ones_own_are_caught(self, answered):
        """They are named by their hash."""
        answer = answered.run.lock.answer.model_copy(update={"prompts": "sha256:" + "5" * 64})
        run = with_lock(answered.run, answer=answer)
        assert "this rig's are sha256:" in seen("config.answer", run)[0]

    def test_a_budget_goes_by_its_own_name(self, good):
        """A preset is what it is, and what was set by hand has no name."""
        for preset in PRESETS.values():
            assert seen("config.budget", with_lock(good.run, budget=preset)) == []
        large = PRESETS["extended"].model_copy(update={"preset": "constrained"})
        assert (
            "is called 'constrained'" in seen("config.budget", with_lock(good.run, budget=large))[0]
        )
        tiny = good.run.lock.budget.model_copy(update={"preset": "tiny"})
        assert "is called 'tiny'" in seen("config.budget", with_lock(good.run, budget=tiny))[0]

    def test_prices_of_ones_own_are_caught(self, answered):
        """Nor may there be none where models are paid."""
        run = with_lock(answered.run, prices="sha256:" + "6" * 64)
        assert "those that ship with memrig" in seen("config.prices", run)[0]
        assert seen("config.prices", with_lock(answered.run, prices="")) == [
            "run run: lock.prices: is empty, and the run calls models"
        ]
