"""The page of results: which cells are run, what is said of those that are not, how tables look."""

import json
from argparse import Namespace

import pytest
from benchmarks import results
from benchmarks.results import Entry, cell_of, entry, error_in, run_all, shown
from benchmarks.results_page import Shown, tables
from benchmarks.results_suites import SCOPE, SUITES

from memrig.model.manifest import AdapterManifest
from memrig.report.model import ModelCost
from memrig.suites.longitudinal_format import read_dataset
from memrig.suites.problems import errors_of
from support.reports import sample_report

PRACTICAL, LOCOMO = SUITES["practical"], SUITES["locomo"]
IMAGE = Entry("bm25", "images/bm25")


def manifest(**changes):
    return AdapterManifest.model_validate(
        {"name": "some", "version": "1", "image": {"build": "."}} | changes
    )


@pytest.fixture
def options(tmp_path):
    """Flags as the parser gives them."""
    return Namespace(out=tmp_path, data=None, minutes=5.0, again=False)


@pytest.fixture
def calls(monkeypatch):
    """memrig as a list of what it was called with; runs end with the codes that a test puts in."""
    made = []
    made_codes = []

    def memrig(arguments, minutes):
        made.append((arguments[0], minutes))
        if arguments[0] == "run":
            out = results.Path(arguments[arguments.index("--out") + 1])
            out.mkdir(exist_ok=True)
            (out / "report.json").write_text(sample_report().model_dump_json())
        return made_codes.pop(0) if made_codes else (0, "")

    monkeypatch.setattr(results, "memrig", memrig)
    return made, made_codes


def test_an_image_without_models_is_run_as_it_is():
    """Variants are other systems, unless they are asked for."""
    found = entry("images/some", manifest(variants={"fast": {}}))
    assert (found.adapter, found.note, found.refused) == ("images/some", "", "")


def test_an_image_that_wants_a_key_is_run_as_its_variant_without():
    """And the page says which, and what it is."""
    variants = {"big": {"models": ["gpt-x"]}, "raw": {"models": [], "description": "no LLM"}}
    found = entry("images/some", manifest(models=["gpt-x"], variants=variants))
    assert (found.name, found.adapter) == ("some-raw", "images/some+raw")
    assert found.note == "variant `raw`: no LLM"


def test_built_in_models_take_no_key_and_are_named():
    """Nobody mistakes them for an LLM."""
    assert entry("images/some", manifest(models=["local/hash-embed"])).note == (
        "with local/hash-embed"
    )


def test_an_image_that_cannot_do_without_a_key_says_so():
    """With the images that it stands on, where those come from elsewhere."""
    services = {"db": {"reference": "postgres:16", "health": {"command": ["true"]}}}
    found = entry("images/some", manifest(models=["gpt-x"], services=services))
    assert found.refused == "it asks for gpt-x, which takes a key, and stands on postgres:16"


def test_an_image_that_only_answers_is_not_searched():
    """Such as the bridges."""
    assert "only answers" in entry("images/some", manifest(modes=["native"])).refused


def test_a_finished_cell_is_not_run_again(options, calls):
    """The image is built first, in nobody's time; the second time nothing is called at all."""
    made, _ = calls
    run_all(IMAGE, [PRACTICAL], options)
    run_all(IMAGE, [PRACTICAL], options)
    assert made == [("image", None), ("run", 5.0)]
    assert shown(IMAGE, PRACTICAL, options).report == sample_report()


def test_again_sets_the_old_run_aside(options, calls):
    """It is not gone on with: the image may be another."""
    made, _ = calls
    run_all(IMAGE, [PRACTICAL], options)
    options.again = True
    run_all(IMAGE, [PRACTICAL], options)
    assert made.count(("run", 5.0)) == 2
    assert len(list((options.out / "bm25" / "practical").glob("run-*"))) == 1


def test_a_cell_that_takes_too_long_says_how_long_and_is_tried_with_more_time(options, calls):
    """Not with the same."""
    made, codes = calls
    codes += [(0, ""), (None, "")]
    run_all(IMAGE, [PRACTICAL], options)
    assert "did not finish in 5 min" in shown(IMAGE, PRACTICAL, options).why
    run_all(IMAGE, [PRACTICAL], options)
    assert made.count(("run", 5.0)) == 1
    options.minutes = 50.0
    run_all(IMAGE, [PRACTICAL], options)
    assert shown(IMAGE, PRACTICAL, options).report is not None


def test_an_image_that_cannot_be_had_fails_every_cell_and_is_tried_again(options, calls):
    """With memrig's own words."""
    made, codes = calls
    codes += [(3, "image x cannot be had")]
    run_all(IMAGE, [PRACTICAL, SUITES["longhorizon"]], options)
    assert made == [("image", None)]
    for suite in (PRACTICAL, SUITES["longhorizon"]):
        assert shown(IMAGE, suite, options).why == "could not be run: image x cannot be had"
    run_all(IMAGE, [PRACTICAL], options)
    assert shown(IMAGE, PRACTICAL, options).report is not None


def test_a_cell_without_its_data_says_which_file_it_needs(options, calls):
    """And is not counted as a failure."""
    made, _ = calls
    run_all(IMAGE, [LOCOMO], options)
    assert made == []
    assert cell_of(options.out / "bm25" / "locomo") is None
    assert shown(IMAGE, LOCOMO, options).why == "needs `locomo10.json` in --data"


def test_an_error_is_told_without_its_fix_and_this_machines_folders():
    """The page is published."""
    said = f"Building.\nerror: {results.ROOT}/images/x: cannot be had\n  at all\n  fix: load it\n"
    assert error_in(said) == "images/x: cannot be had at all"
    assert error_in("Traceback") == ""


def test_the_longitudinal_scope_is_a_dataset_of_its_own(tmp_path):
    """Its episodes and its questions, in the format of the shipped one."""
    flags = SUITES["longitudinal"].flags(None, tmp_path)
    path = results.Path(flags[flags.index("--file") + 1])
    whole = json.loads(path.read_bytes())
    assert [scope["scope_id"] for scope in whole["scopes"]] == [SCOPE]
    assert len(whole["questions"]) == 24
    problems, dataset = read_dataset(whole)
    assert dataset is not None
    assert errors_of(problems) == []


def test_a_table_stands_in_the_order_of_its_leading_figure():
    """What could not be run stands below, images with the same reason together."""
    good, bad = sample_report(), sample_report(metrics=())
    cells = [
        Shown("worse", PRACTICAL, bad),
        Shown("better", PRACTICAL, good, note="variant `raw`"),
        Shown("c", PRACTICAL, why="not run yet"),
        Shown("d", PRACTICAL, why="not run yet"),
    ]
    text = tables(cells)
    assert text.index("| better | 26.5 | 48.9 | 57.8 | 36.3 |") < text.index("| worse | n/a |")
    assert "- c, d: not run yet." in text
    assert "| better |" in text.partition("| image | version |")[2]
    assert "variant `raw`" in text


def test_the_memory_systems_own_tokens_are_counted_and_the_readers_are_not():
    """Those of ingest and search."""
    fields = {"attempts": 1, "calls": 1, "input_tokens": 1000, "output_tokens": 234, "usd": None}
    own = ModelCost(phase="ingest", purpose="memory", model="m", **fields)
    reader = ModelCost(phase="answer", purpose="reader", model="m", **fields)
    report = sample_report(costs=(own, reader))
    assert "| 1,234 |" in tables([Shown("a", PRACTICAL, report)])
    assert "| 0 |" in tables([Shown("a", PRACTICAL, sample_report())])
