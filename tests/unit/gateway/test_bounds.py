"""A pod's requests fill neither the rig's memory nor its disk."""

import asyncio

import pytest

from memrig.gateway.service import Gateway
from support.gateways import GPT, gateway_of, identity, pod_of
from support.llm_standin import Say

URL = "http://pod/v1/chat/completions"
BODY = {"model": GPT, "messages": [{"role": "user", "content": "x" * 500}]}


def bounded(standin, record=None, **bounds: float) -> Gateway:
    gateway = gateway_of(standin, mode="record" if record else "live", record=record)
    gateway.config = gateway.config.model_copy(update=bounds)
    return gateway


async def test_requests_beyond_those_in_flight_wait(standin):
    """All are answered, no more than the bound at a time."""
    standin.script = lambda _: Say("x", delay_s=2)
    async with bounded(standin, max_in_flight=2) as gateway, pod_of(gateway) as pod:
        http = await pod.http()
        calls = [asyncio.create_task(http.post(URL, json=BODY)) for _ in range(4)]
        await asyncio.sleep(1)
        assert len(standin.seen) == 2
        replies = await asyncio.gather(*calls)
    assert [reply.status_code for reply in replies] == [200] * 4


async def test_bodies_in_flight_are_bounded_together(standin):
    """What is too much beside the others is refused, and fits once they are done."""
    asked = asyncio.Event()
    standin.script = lambda _: asked.set() or Say("x", delay_s=1)
    who = identity()
    async with bounded(standin, max_bytes_in_flight=900) as gateway, pod_of(gateway, who) as pod:
        http = await pod.http()
        first = asyncio.create_task(http.post(URL, json=BODY))
        await asked.wait()
        second = await http.post(URL, json=BODY)
        assert (await first).status_code == 200
        third = await http.post(URL, json=BODY)
    assert (second.status_code, third.status_code) == (429, 200)
    assert "message" in second.json()["error"]
    assert who.fault is None


async def test_a_body_that_does_not_come_is_given_up(standin):
    """Its place is free for the next."""
    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n{"
    bounds = {"body_timeout_s": 0.2, "max_in_flight": 1}
    async with bounded(standin, **bounds) as gateway, pod_of(gateway) as pod:
        reader, writer = await asyncio.open_unix_connection(pod.socket)
        writer.write(head)
        async with asyncio.timeout(5):
            assert b" 408 " in await reader.readline()
            assert (await (await pod.http()).post(URL, json=BODY)).status_code == 200
        writer.close()


@pytest.mark.parametrize("bounds", [{"max_memory_calls": 2}, {"max_memory_bytes": 1300}])
async def test_a_memory_that_asks_without_end_is_refused(standin, record, bounds):
    """It is its own fault, and writes no more rows."""
    who = identity()
    async with bounded(standin, record, **bounds) as gateway, pod_of(gateway, who) as pod:
        http = await pod.http()
        told = [(await http.post(URL, json=BODY)).status_code for _ in range(4)]
        assert len(gateway.record.exchanges()) == 2
    assert told == [200, 200, 400, 400]
    assert who.fault is None
