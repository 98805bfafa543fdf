"""Packing: what goes in, what is refused, and that it is the same every time."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import memrig
from memrig import RunConfig, __version__
from memrig.cli import submission as command
from memrig.errors import PrerequisiteError, UsageError, VerificationError
from memrig.model.canonical import canonical_json
from memrig.report.model import Report
from memrig.runs.directory import RunDirectory
from memrig.submission.archive import read_archive
from memrig.submission.keys import load_key, new_key
from memrig.submission.model import Statement
from memrig.submission.modelrecord import read_models
from memrig.submission.pack import Packed, _draft, _notes, make_statement, pack
from memrig.submission.packable import Packable, check_together


@dataclass(frozen=True)
class Made:
    """Two runs of one system: what it finds, and what the built-in reader makes of it."""

    found: Path
    read: Path
    key: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Made:
    folder = tmp_path_factory.mktemp("pack")
    common = {"adapter": "baseline:oracle", "limit": 4}
    practical = {"suite": "practical", "sample": True, "out": folder / "found"}
    longitudinal = {"suite": "longitudinal", "mode": "reader", "out": folder / "read"}
    for more in (practical, longitudinal):
        memrig.run(RunConfig.model_validate(common | more))
    new_key(folder / "key")
    return Made(folder / "found", folder / "read", folder / "key")


@pytest.fixture
def copy(made, tmp_path) -> Callable[[str], Path]:
    """A run to spoil."""

    def copied(name: str = "found") -> Path:
        return Path(shutil.copytree(made.found, tmp_path / name))

    return copied


def packed(made: Made, out: Path, *runs: Path, **options: object) -> Packed:
    return pack(runs or (made.found, made.read), out, key=made.key, **options)


def changed(path: Path, **values: object) -> None:
    """Sets fields of a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_bytes()) | values))


def test_a_packed_run_comes_out_whole(made, tmp_path):
    """Every file of a run that a verifier needs, byte for byte, and none that it must not have."""
    packed(made, tmp_path / "x.memrig")
    with read_archive(tmp_path / "x.memrig") as opened:
        assert opened.sound
        held = {path.relative_to(opened.folder) for path in opened.folder.rglob("*.*")}
        runs = opened.folder / "runs"
        for run in (made.found, made.read):
            for path in (runs / run.name).rglob("*.*"):
                if path.is_file() and path.name != "models.jsonl":
                    assert (
                        path.read_bytes() == (run / path.relative_to(runs / run.name)).read_bytes()
                    )
            assert len(list((runs / run.name / "trials").iterdir())) == len(
                list((run / "trials").iterdir())
            )
    names = {path.name for path in held}
    assert {"lock.json", "executions.jsonl", "grades.jsonl", "report.json"} <= names
    assert {"spec.json", "transcript.jsonl", "outcome.json"} <= names
    assert not [name for name in names if "gold" in name or name in {"report.html", "llm.sqlite"}]


def test_it_says_what_was_run_where_and_by_whom(made, tmp_path):
    """Runs by lock, the machine, the time from the first start to the last end, the statement."""
    said = Statement(title="the oracle", submitter="us", changed="nothing")
    manifest = packed(made, tmp_path / "x.memrig", statement=said).manifest
    locks = [RunDirectory(run).lock() for run in (made.found, made.read)]
    assert [run.lock_digest for run in manifest.runs] == [lock.digest for lock in locks]
    assert [run.suite for run in manifest.runs] == ["practical", "longitudinal"]
    assert manifest.statement == said
    assert manifest.adapter == locks[0].adapter
    assert manifest.disclosure.machine == locks[0].machine
    started = [e.started_at for r in (made.found, made.read) for e in RunDirectory(r).executions()]
    assert manifest.disclosure.first == min(started) < manifest.disclosure.last
    assert manifest.disclosure.engine == {}


def test_the_same_runs_give_the_same_bytes(made, tmp_path):
    """In whatever order they are named."""
    first, second = tmp_path / "1.memrig", tmp_path / "2.memrig"
    digest = packed(made, first).digest
    assert packed(made, second, made.read, made.found).digest == digest
    assert first.read_bytes() == second.read_bytes()


def test_the_models_come_along(made, tmp_path):
    """Every exchange with the reader, with its request."""
    packed(made, tmp_path / "x.memrig")
    with read_archive(tmp_path / "x.memrig") as opened:
        folder = opened.folder / "runs" / "read"
        with read_models(folder / "models.jsonl", folder / "llm.sqlite") as models:
            assert len(models.exchanges) >= 4
            assert {one.request for one in models.exchanges.values()} <= models.requests.keys()
        assert not (opened.folder / "runs" / "found" / "models.jsonl").exists()


def test_grades_are_made_anew(made, copy, tmp_path):
    """What lies in the folder is not believed: packing grades the transcripts again."""
    run = copy()
    right = run.joinpath("grades.jsonl").read_bytes()
    run.joinpath("grades.jsonl").write_bytes(right.replace(b"1", b"0"))
    packed(made, tmp_path / "x.memrig", run)
    with read_archive(tmp_path / "x.memrig") as opened:
        assert (opened.folder / "runs/found/grades.jsonl").read_bytes() == right


def test_the_submitter_hears_what_readers_will_be_told(made, tmp_path):
    """Not Docker, no name, a sample: none is hidden, none is forbidden."""
    notes = "\n".join(packed(made, tmp_path / "x.memrig").notes)
    assert "open division" in notes
    assert "--submitter" in notes
    assert "sample" in notes


def unfinished(run: Path) -> None:
    shutil.rmtree(next(path for path in (run / "trials").iterdir() if "audit" not in path.name))


def other_version(run: Path) -> None:
    changed(run / "lock.json", memrig_version="0.0.9")


def other_contract(run: Path) -> None:
    changed(run / "lock.json", contract="sha256:" + "0" * 64)


def other_plan(run: Path) -> None:
    path = next((run / "specs").iterdir())
    changed(path, seed=7)


def never_ended(run: Path) -> None:
    (run / "executions.jsonl").unlink()


def replayed(run: Path) -> None:
    path = run / "executions.jsonl"
    changed(path, llm="replay-strict")
    path.write_bytes(path.read_bytes().rstrip(b"\n") + b"\n")


def no_run(run: Path) -> None:
    (run / "lock.json").unlink()


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (unfinished, "not whole"),
        (other_version, "memrig 0.0.9"),
        (other_contract, "contract sha256:0000"),
        (other_plan, "specs"),
        (never_ended, "came to its end"),
        (replayed, "replayed"),
        (no_run, "holds no run"),
    ],
)
def test_a_run_that_nobody_could_verify_is_refused(made, copy, tmp_path, spoil, told):
    """With the reason and the fix, and nothing is written."""
    run = copy()
    spoil(run)
    with pytest.raises(UsageError) as caught:
        packed(made, tmp_path / "x.memrig", run)
    assert told in caught.value.message
    assert caught.value.fix
    assert not (tmp_path / "x.memrig").exists()


def test_a_changed_transcript_is_refused(made, copy, tmp_path):
    """Packing verifies the chain, as grading does."""
    path = next(copy().glob("trials/*/transcript.jsonl"))
    path.write_bytes(path.read_bytes().replace(b"question", b"quastion"))
    with pytest.raises(VerificationError):
        packed(made, tmp_path / "x.memrig", tmp_path / "found")


def test_a_run_without_its_models_is_refused(made, tmp_path):
    """Nobody could check what they said."""
    run = Path(shutil.copytree(made.read, tmp_path / "read"))
    (run / "llm.sqlite").unlink()
    with pytest.raises(UsageError, match="local/extractive"):
        packed(made, tmp_path / "x.memrig", run)


def test_a_run_is_packed_once(made, copy, tmp_path):
    """Neither twice by name, nor as a copy under another name."""
    with pytest.raises(UsageError, match="by this name"):
        packed(made, tmp_path / "x.memrig", made.found, made.found)
    with pytest.raises(UsageError, match="made twice"):
        packed(made, tmp_path / "x.memrig", made.found, copy("again"))


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("cores", 99, "one machine: cores"),
        ("version", "9", f"system: baseline:oracle {__version__} and baseline:oracle 9"),
        ("name", "fts5", f"system: baseline:oracle {__version__} and fts5 {__version__}"),
        ("pod", "docker", "in a pod of kind baseline and in one of kind docker"),
        ("images", {"adapter": "sha256:1"}, "one memory system: images.adapter"),
    ],
)
def test_runs_that_do_not_go_together_are_refused(made, copy, field, value, told):
    """One archive is of one system, on one machine."""
    lock = RunDirectory(made.read).lock()
    part = "machine" if field == "cores" else "adapter"
    other = getattr(lock, part).model_copy(update={field: value})
    changed_lock = lock.model_copy(update={part: other})
    runs = [
        Packable(path.name, RunDirectory(path), one, ())
        for path, one in ((made.found, RunDirectory(made.found).lock()), (made.read, changed_lock))
    ]
    with pytest.raises(UsageError) as caught:
        check_together(runs)
    assert told in caught.value.message


@pytest.mark.parametrize("name", ["my run", ".hidden", "-x", "läufe", "a" * 130])
def test_a_folder_whose_name_no_archive_may_hold_is_refused(made, copy, tmp_path, name):
    """Before anything is graded."""
    with pytest.raises(UsageError, match="by this name"):
        packed(made, tmp_path / "x.memrig", copy(name))


@pytest.mark.parametrize(
    ("out", "told"),
    [
        ("x.zip", "no name"),
        ("none/x.memrig", "not there"),
        ("d.memrig", "folder"),
        ("f.memrig", "not overwritten"),
        ("/proc/x.memrig", "nothing can be written"),
    ],
)
def test_an_archive_that_cannot_be_written_is_refused(made, tmp_path, out, told):
    """Before anything is graded; and one that is there may be somebody's only copy."""
    (tmp_path / "d.memrig").mkdir()
    (tmp_path / "f.memrig").write_text("mine", "utf-8")
    said: list[str] = []
    with pytest.raises(UsageError, match=told):
        packed(made, tmp_path / out, say=said.append)
    assert said == []
    assert (tmp_path / "f.memrig").read_text("utf-8") == "mine"


def test_the_folder_of_several_runs_is_told_from_a_run(made, tmp_path):
    """As a profile's tier leaves one; the runs are named as they are to be given."""
    with pytest.raises(UsageError, match="holds 2 runs, and is none") as caught:
        packed(made, tmp_path / "x.memrig", made.found.parent)
    assert caught.value.fix == f"name them: {made.found} {made.read}"


def test_without_a_key_nothing_is_packed(made, tmp_path):
    """Exit code 3: an archive that nobody stands for is none."""
    with pytest.raises(PrerequisiteError, match="key"):
        pack([made.found], tmp_path / "x.memrig", key=tmp_path / "none")


def test_an_image_is_asked_of_containers_only(made, tmp_path):
    """A baseline has none; that is told before anything is graded."""
    said: list[str] = []
    with pytest.raises(UsageError, match="no image"):
        packed(made, tmp_path / "x.memrig", images=True, say=said.append)
    assert said == []


def test_an_image_that_is_gone_is_named_before_anything_is_graded(
    made, copy, tmp_path, monkeypatch
):
    """By the container that it was of, with the ways out."""

    async def gone(digests):
        return tuple(digests)

    monkeypatch.setattr("memrig.submission.pack.missing_images_of", gone)
    run, said = copy(), list[str]()
    adapter = json.loads((run / "lock.json").read_bytes())["adapter"]
    changed(run / "lock.json", adapter=adapter | {"images": {"adapter": "sha256:6c5"}})
    with pytest.raises(PrerequisiteError, match=r"container 'adapter'.*sha256:6c5") as caught:
        packed(made, tmp_path / "x.memrig", run, images=True, say=said.append)
    assert "leave --with-image out" in caught.value.fix
    assert said == []


def test_a_memory_system_that_never_served_is_told(made, copy, monkeypatch):
    """Its zeros are those of nothing; the first fault says why."""
    report = Report.model_validate_json((made.found / "report.json").read_bytes())
    counts = report.questions.model_copy(update={"outcomes": {"adapter_crashed(exit)": 24}})
    dead = report.model_copy(update={"questions": counts, "faults": ("it went", "and again")})
    monkeypatch.setattr("memrig.submission.packable.build_report", lambda _: dead)
    notes = packed(made, copy().parent / "x.memrig", copy("again")).notes
    assert "the memory system never served in again: it went" in notes
    monkeypatch.undo()
    assert not [
        note for note in packed(made, made.key.parent / "y.memrig").notes if "never" in note
    ]


def test_the_digest_names_the_manifest(made, tmp_path):
    """By the bytes that were signed."""
    done = packed(made, tmp_path / "x.memrig")
    with read_archive(done.file) as opened:
        assert opened.manifest_digest == done.digest
        assert opened.manifest_bytes == canonical_json(done.manifest)


@pytest.mark.parametrize(
    ("names", "profile"),
    [(("p", "p"), ("p", "sha256:p")), (("p", ""), ("", "")), (("p", "q"), ("", ""))],
)
def test_a_profile_is_named_where_all_runs_name_it(made, names, profile):
    """One run of another kind, and the archive is of none; the submitter hears why."""
    runs = []
    for name, path in zip(names, (made.found, made.read), strict=True):
        values = {"profile": name, "profile_digest": name and f"sha256:{name}"}
        directory = RunDirectory(path)
        lock = directory.lock().model_copy(update=values)
        runs.append(Packable(path.name, directory, lock, tuple(directory.executions())))
    manifest = _draft(runs, None, ())
    assert (manifest.profile, manifest.profile_digest) == profile
    told = any("profile p" in note for note in _notes(runs, manifest))
    assert told is (not manifest.profile)


def test_whoever_packs_process_pods_hears_that_they_name_folders(made):
    """Their command and their log hold paths of the submitter's machine."""
    directory = RunDirectory(made.found)
    runs = [Packable("p", directory, directory.lock(), tuple(directory.executions()))]
    manifest = _draft(runs, None, ())
    for pod in ("process", "docker"):
        adapter = manifest.adapter.model_copy(update={"pod": pod})
        notes = "\n".join(_notes(runs, manifest.model_copy(update={"adapter": adapter})))
        assert ("name folders" in notes) is (pod == "process")


def test_the_command_says_what_it_wrote(made, tmp_path, capsys):
    """Digest, signer and runs on standard output; what it is doing on the other."""
    out = tmp_path / "x.memrig"
    command.pack([made.found], out, submitter="us", key=made.key)
    shown = capsys.readouterr()
    with read_archive(out) as opened:
        assert opened.manifest
        digest = opened.manifest_digest.removeprefix("sha256:")
        assert f"manifest   {digest}\n" in shown.out
        assert opened.manifest.statement.submitter == "us"
    assert load_key(made.key).fingerprint in shown.out
    assert "found: practical, practical" in shown.out
    assert "grading" in shown.err


def test_a_statement_has_an_end():
    """The flag is named."""
    with pytest.raises(UsageError) as caught:
        make_statement(changed="x" * 5001)
    assert (caught.value.where, caught.value.fix) == ("--changed", "say it shorter")


def test_a_statement_is_text():
    """What the shell gave may be no UTF-8: that is not mended by fewer words."""
    with pytest.raises(UsageError) as caught:
        make_statement(title="\udcff")
    assert (caught.value.where, caught.value.fix) == ("--title", "give it as UTF-8")
