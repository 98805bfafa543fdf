"""Each broken rule is caught by the checks that name it, and by no others."""

import pytest

from memrig.conformance import ConformanceReport
from memrig.conformance.context import DEADLINES
from support import wrong_adapters as wrong
from support.right_adapter import Memory, OnlyAnswers

CAUGHT_BY = {
    wrong.AcknowledgesTwice: {
        "ingest.one",
        "ingest.full-message",
        "ingest.many-messages",
        "ingest.same-id-again",
        "ingest.same-text-other-id",
        "ingest.one-character",
        "ingest.megabyte",
        "ingest.timestamps",
        "ingest.metadata",
        "backpressure.open-stream",
        "backpressure.slow-reader",
    },
    wrong.LosesEverySeventh: {
        "flush.all-findable",
        "longitudinal.no-future",
        "longitudinal.checkpoints",
    },
    wrong.IndexesOnceOnly: {
        "flush.new-after-search",
        "longitudinal.no-future",
        "longitudinal.checkpoints",
    },
    # What nobody sent is no source of a chunk either, and may be an episode yet to come.
    wrong.ClaimsUnknownSources: {
        "sources.acknowledged",
        "longitudinal.chunk-sources",
        "longitudinal.no-future",
    },
    wrong.LosesTurnIds: {"sources.turns"},
    wrong.IgnoresLimit: {"search.limit-one", "search.limit-between", "search.limit-max-results"},
    # What is left of before is also claimed, and never was acknowledged in this memory.
    wrong.KeepsAfterReset: {
        "reset.empties",
        "reset.forgets-ids",
        "search.empty-memory",
        "sources.acknowledged",
        "longitudinal.scopes-apart",
        "longitudinal.no-future",
    },
    wrong.RemembersIdsAfterReset: {
        "reset.forgets-ids",
        "forget.then-again",
        "longitudinal.no-future",
        "search.rebuilt",
    },
    wrong.AnotherBootIdInFlush: {"boot-id.every-response"},
    wrong.CrashesOnEmptyQuery: {"search.empty-query-refused"},
    wrong.DeclaresRetrieveInVain: {
        "flags.retrieve",
        "retrieve.from-hit",
        "retrieve.unknown-ref",
        "retrieve.empty-ref-refused",
        "longitudinal.chunk-retrieved",
    },
    wrong.ForgetsUndeclared: {"flags.forget"},
    wrong.AnswersFromACacheAfterForget: {"forget.gone"},
    wrong.ScoresNan: {"search.scores"},
    wrong.RanksWorstFirst: {"search.scores"},
    # It also answers the crowd otherwise than the one who asked first.
    wrong.LearnsFromQuestions: {"search.questions-leave-memory-alone", "concurrent.searches"},
    wrong.MixesUpSearchesAtOnce: {"concurrent.searches"},
    wrong.IgnoresFilters: {"filter.timestamp", "filter.metadata", "filter.before-limit"},
    wrong.TakesAnyFilter: {"filter.unknown-refused", "filter.malformed-refused"},
    wrong.IgnoresAsOf: {"as-of.honoured"},
    wrong.KeepsAsciiOnly: {"ingest.unicode"},
    wrong.StuckAfterACancelledIngest: {"cancel.ingest"},
    wrong.SaysItStoresNothing: {"ingest.counts-honest"},
    wrong.HasNoHealth: {"health.service"},
    wrong.DiesOfEmoji: {"ingest.one-character"},
    wrong.LosesSourcesOfChunks: {"longitudinal.chunk-sources"},
    wrong.RetrievesTheFirstChunk: {"longitudinal.chunk-retrieved"},
    wrong.RetrievesFromBeforeReset: {"longitudinal.scopes-apart"},
    wrong.GuessesWhatComesNext: {"longitudinal.no-future"},
    wrong.SearchesUndeclared: {"flags.search"},
    # There is one answer, and what is left of before may take its place.
    wrong.OnlyAnswersAndKeepsAfterReset: {
        "ingest.same-id-again",
        "ingest.out-of-order",
        "limits.message-too-large",
        "reset.empties",
        "reset.forgets-ids",
        "longitudinal.scopes-apart",
        "longitudinal.no-future",
    },
    wrong.OnlyAnswersByChance: {
        "search.repeatable",
        "search.questions-leave-memory-alone",
        "concurrent.searches",
    },
    wrong.KeepsTwoCheckpoints: {"longitudinal.checkpoints"},
}

#: One saves all up, and is waited for.
QUICK = {"ingest_idle": 0.5}
#: Asked only what is near the broken rule.
CAUGHT_AMONG = {
    wrong.KeepsItsBootIdOverARestart: (("restart", "reset"), {"restart.new-process"}),
    wrong.DeclaresMoreAfterARestart: (("restart", "as-of"), {"restart.new-process"}),
    wrong.KeepsHalfOverARestart: (("restart", "reset"), {"restart.whole-or-empty"}),
    wrong.BringsBackWhatResetRemoved: (("restart", "reset"), {"restart.reset-lasts"}),
    wrong.SavesItsAcksUp: (("backpressure", "cancel"), {"backpressure.open-stream"}),
    wrong.RanksByTheClock: (
        ("search.rebuilt", "search.repeatable", "search.scores", "filter"),
        {"search.rebuilt"},
    ),
    wrong.TakesTimeToGoForward: (
        ("ingest", "flush"),
        {"ingest.out-of-order", "ingest.timestamps"},
    ),
    wrong.DropsAcksOfAStreamThatIsReadLate: (
        ("backpressure", "ingest"),
        {"backpressure.slow-reader", "ingest.many-messages"},
    ),
    wrong.SaysALotOfItself: (("capabilities", "flags"), {"capabilities.limitations"}),
}


def with_status(report: ConformanceReport, *statuses: str) -> set[str]:
    return {result.id for result in report.results if result.status in statuses}


#: Caught by a crowd of searches, which takes ten seconds.
LONG = (wrong.MixesUpSearchesAtOnce,)


@pytest.mark.parametrize(
    "memory",
    [
        pytest.param(memory, marks=[pytest.mark.slow] if memory in LONG else [])
        for memory in CAUGHT_BY
    ],
    ids=[memory.__name__ for memory in CAUGHT_BY],
)
async def test_a_broken_rule_fails_the_checks_of_that_rule_alone(memory, checked):
    """A fault is reported under the names that describe it, and nowhere else."""
    report = await checked(memory)
    assert with_status(report, "failed", "error") == CAUGHT_BY[memory]
    assert not report.conforms
    assert report.exit_code == 4


@pytest.mark.parametrize("memory", CAUGHT_AMONG, ids=lambda memory: memory.__name__)
async def test_a_rule_of_restarts_streams_and_rebuilds_is_caught_by_its_name(memory, checked):
    """So are these, asked a part of the checks."""
    groups, expected = CAUGHT_AMONG[memory]
    report = await checked(memory, *groups, deadlines=DEADLINES.model_copy(update=QUICK))
    assert with_status(report, "failed", "error") == expected


async def test_a_memory_that_keeps_the_contract_passes_every_check_that_applies(checked):
    """With every optional part declared, two checks say nothing, and all others pass."""
    report = await checked(Memory)
    assert with_status(report, "failed", "error") == set()
    assert with_status(report, "not_applicable") == {"ingest.counts-honest", "as-of.refused"}
    assert report.conforms
    assert report.exit_code == 0


async def test_a_memory_that_only_answers_is_asked_instead_of_searched(checked):
    """What it was told has to be in its answers; ranks, limits and filters do not apply."""
    report = await checked(OnlyAnswers)
    assert with_status(report, "failed", "error") == set()
    passed = with_status(report, "passed")
    assert {
        "flags.search",
        "flush.all-findable",
        "reset.empties",
        "longitudinal.no-future",
    } <= passed
    assert {"search.scores", "filter.unknown-refused", "longitudinal.chunk-sources"} <= with_status(
        report, "not_applicable"
    )
