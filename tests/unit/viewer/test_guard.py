"""Who may ask the viewer, for what, and what its answers say of themselves."""

import pytest

from support.viewed import Asker, client, made_run


@pytest.fixture
def asker(tmp_path) -> Asker:
    made_run(tmp_path / "run")
    return client(tmp_path)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8765", "localhost:9", "LOCALHOST", "[::1]:80", "[::1]"]
)
async def test_this_machine_is_answered_by_its_own_names(asker, host):
    """At any port: a tunnel's is another one."""
    assert (await asker.get("/", host)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "127.0.0.1:80@evil.example",
        "0.0.0.0",
        "[::1].evil",
        "127.0.0.1:evil",
        "",
    ],
)
async def test_another_name_is_refused(asker, host):
    """A page elsewhere can have its own name point here, and would read what is shown."""
    answer = await asker.get("/", host)
    assert answer.status == 421
    assert "run" not in answer.text


async def test_two_hosts_are_refused(asker):
    """Which of them would count is anybody's guess."""
    assert (await asker.get("/", "127.0.0.1", "evil.example")).status == 421


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", ["/", "/runs/run", "/runs.json", "/nowhere"])
async def test_nothing_but_reading_is_answered(asker, method, path):
    """There is nothing here that could be changed."""
    answer = await asker.ask(method, path)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/", "/runs/run/trials", "/runs.json"])
async def test_head_says_what_get_would(asker, path):
    """The server leaves the body out."""
    head, get = await asker.ask("HEAD", path), await asker.get(path)
    assert head.status == get.status == 200
    assert head.headers["content-type"] == get.headers["content-type"]


@pytest.mark.parametrize("path", ["/", "/runs.json", "/nowhere", "/runs/run/report"])
async def test_every_answer_is_hardened(asker, path):
    """Errors too: no script, no frame, no guess at the type, nothing kept, nothing told."""
    headers = (await asker.get(path)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "script-src" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
