"""What the checks tell a memory, and which of it they may ask for."""

import re
from itertools import chain

from memrig.conformance import CHECKS
from memrig.conformance.context import kept_ids
from memrig.conformance.facts import facts
from memrig_proto.v1 import memory_adapter_pb2 as pb

STORED, DUPLICATE = pb.INGEST_STATUS_STORED, pb.INGEST_STATUS_DUPLICATE
REJECTED = pb.INGEST_STATUS_REJECTED


def ack(name: str, status: "pb.IngestStatus.ValueType", items: int = 0) -> pb.IngestAck:
    return pb.IngestAck(episode_id=name, status=status, stored_items=items)


def test_no_two_checks_share_a_number_or_an_id():
    """What one check leaves behind cannot pass for what another looks for."""
    told = list(chain.from_iterable(facts(check.id, 1000) for check in CHECKS))
    assert len({fact.marker for fact in told}) == len(told)
    assert len({fact.episode_id for fact in told}) == len(told)


def test_a_question_does_not_hold_its_answer():
    """A memory has to find the episode by what it is about, not by the number looked for."""
    assert all(fact.marker not in fact.query for fact in facts("any", 100))


def test_ids_are_those_of_the_contract():
    """§1.2: 1 to 64 bytes of letters, digits, _ and -."""
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", f.episode_id) for f in facts("any", 100))


def test_a_fact_is_told_by_its_source_or_by_its_number():
    """A system that names no sources is known by its texts, one that rewrites by its sources."""
    fact, other = facts("any", 2)
    assert fact.told_by(pb.Hit(source_episode_ids=[fact.episode_id]))
    assert fact.told_by(pb.Hit(text=f"locker no. {fact.marker}"))
    assert not fact.told_by(pb.Hit(text=other.text, source_episode_ids=[other.episode_id]))
    assert not fact.told_by(pb.Hit(text=f"1{fact.marker}"))


def test_stored_with_items_and_duplicate_are_kept():
    """Such an episode may be asked for; a rejected one may not."""
    acks = [ack("a", STORED, 2), ack("b", DUPLICATE), ack("c", REJECTED), ack("d", STORED)]
    assert kept_ids(acks, 5) == {"a", "b"}


def test_counts_of_zero_are_believed_where_the_total_agrees():
    """A memory that says it stored nothing is not asked."""
    assert kept_ids([ack("a", STORED), ack("b", STORED)], 0) == frozenset()


def test_counts_of_zero_say_nothing_where_the_memory_grew():
    """Items made later, in the background, show in the total of Flush."""
    assert kept_ids([ack("a", STORED), ack("b", STORED)], 7) == {"a", "b"}
