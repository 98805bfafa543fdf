"""A model as the renderer: what it is told, what is taken from it, and what is asked again."""

from collections.abc import Callable

import pytest

from memrig.errors import GatewayError
from memrig.gateway.config import GatewayConfig, GatewayMode
from memrig.gateway.service import Gateway
from memrig.generation.llm_renderer import renderer_of
from memrig.generation.model import Sheet
from memrig.generation.planner import plan_by_formula
from memrig.generation.render import document
from memrig.generation.spec import DocumentStyle
from support.fake_chat import ScriptedChat, says
from support.gateways import CLAUDE, GPT, QUICK, upstreams_of
from support.llm_standin import LlmStandIn, Say, Seen
from support.stories import STYLE, pump_spec, sheet_in, sheet_of

SHEET = sheet_of()


def written(sheet: Sheet = SHEET, seed: int = 3) -> str:
    """A good document."""
    return document(sheet, STYLE, seed)


async def rendered(chat: ScriptedChat, forbidden: tuple[str, ...] = ()) -> str:
    return await renderer_of(chat, "m", forbidden=forbidden).render(SHEET, STYLE, 1)


async def test_a_good_reply_is_the_document():
    """As it was written, in one call charged to generation."""
    chat = ScriptedChat([says(written())])
    assert await rendered(chat) == written()
    (context,) = chat.contexts
    assert (context.phase, context.purpose, context.attempt) == ("generate", "renderer", 0)
    assert sheet_in(chat.requests[0].messages[0].text) == SHEET


async def test_a_fence_around_the_reply_is_taken_off():
    """Models put documents into code fences."""
    assert await rendered(ScriptedChat([says(f"```markdown\n{written()}\n```")])) == written()


async def test_nothing_of_the_story_is_in_a_prompt():
    """Not storyline, phase, theme, fact, question, id, kind, forbidden word or another episode."""
    spec = pump_spec()
    plan = plan_by_formula(spec)
    episode = next(e for e in plan.episodes if e.kind == "signal" and e.number == 15)
    good = document(episode.sheet, spec.document, 4)
    chat = ScriptedChat([says("too short"), says(f"{good} bearing"), says(good)])
    renderer = renderer_of(chat, "m", forbidden=spec.forbidden)
    await renderer.render(episode.sheet, spec.document, 4)

    told = "\n".join(
        message.text for request in chat.requests for message in request.messages
        if message.role == "user"
    ) + chat.requests[0].system  # fmt: skip
    own = {reading.value for section in episode.sheet.sections for reading in section.readings}
    others = {
        reading.value
        for other in plan.episodes
        for section in other.sheet.sections
        for reading in section.readings
    }
    hidden = [spec.storyline, "SECRETSTORY", "wear", "kitchen", "distractor", "signal", "phase",
              "root cause", "correlat", episode.episode_id, spec.name + "-", "question",
              *(fact.text for q in plan.questions for fact in q.facts),
              *(q.prompt for q in plan.questions)]  # fmt: skip
    assert [word for word in hidden if word in told] == []
    assert [value for value in others - own if f'"{value}"' in told] == []
    # The one forbidden word that it used itself is named back to it, and only then.
    first = chat.requests[0].system + chat.requests[0].messages[0].text
    assert "bearing" not in first
    assert "bearing" in told


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (written().replace("37.35", "37.4"), "with its value 37.35"),
        (written().replace("gauge d", "the fourth"), '"gauge d"'),
        (written().replace("2024-03-04", "Monday"), "the day 2024-03-04 is not given"),
        (written() + "Read at 06:40.\n", "06:40"),
        (written() + "There was a leak.\n", "words that may not be used: leak"),
        (written() + "more " * 400, "expected 200 to 450"),
        ("# Site log", "words, expected 200 to 450"),
        ("", "the reply is empty"),
        (Say("cut", stop="length"), "cut off"),
        (Say("I must not", stop="refusal"), "refusal"),
    ],
)
async def test_a_bad_document_is_asked_for_again_with_what_was_wrong(bad, problem):
    """And the next one is taken."""
    reply = says(bad) if isinstance(bad, str) else says(bad.text, stop_reason=bad.stop)
    chat = ScriptedChat([reply, says(written())])
    assert await rendered(chat, ("leak",)) == written()
    assert problem in chat.requests[1].messages[-1].text
    assert [context.attempt for context in chat.contexts] == [0, 1]


async def test_after_three_bad_documents_it_ends_with_an_error_by_name():
    """Never with an empty or a half document."""
    chat = ScriptedChat([says("nothing much")])
    with pytest.raises(GatewayError, match="asked 3 times") as caught:
        await rendered(chat)
    assert len(chat.requests) == 3
    assert "Site log, Northgate, 2024-03-04" in caught.value.where
    assert "words, expected" in caught.value.message
    assert caught.value.kind == "malformed"


async def test_a_provider_that_fails_is_an_error_as_it_is():
    """It is no reply that could be asked for again."""
    with pytest.raises(GatewayError, match="down"):
        await rendered(ScriptedChat([GatewayError("down")]))


# -------------------------------------------------------------------------------- over real HTTP


def gateway(mode: GatewayMode, record, model: str, standin: LlmStandIn | None = None) -> Gateway:
    """A gateway in front of the stand-in, or of nobody."""
    upstreams = upstreams_of(standin) if standin else ()
    config = GatewayConfig(
        mode=mode, record=record, models=frozenset({model}), retry=QUICK, upstreams=upstreams
    )
    return Gateway(config, environment={})


def writer(style: DocumentStyle) -> Callable[[Seen], str]:
    """A model that writes good documents from the sheet it is shown, at its second attempt."""

    def write(seen: Seen) -> str:
        if "Reply again" not in seen.text:
            return "Which length?"
        return document(sheet_in(seen.text.split("\nWhich length?")[0]), style, 8)

    return write


@pytest.mark.parametrize("model", [GPT, CLAUDE])
async def test_a_recorded_rendering_replays_to_the_same_bytes(tmp_path, model):
    """With no provider at all."""
    plan = plan_by_formula(pump_spec())
    style, record = plan.spec.document, tmp_path / "record.sqlite"
    sheets = [(episode.sheet, number) for number, episode in enumerate(plan.episodes[:4])]
    async with (
        LlmStandIn(writer(style)) as standin,
        gateway("record", record, model, standin) as chat,
    ):
        renderer = renderer_of(chat, model)
        made = [await renderer.render(sheet, style, seed) for sheet, seed in sheets]
        assert len(standin.seen) == 8
    async with gateway("replay-strict", record, model) as chat:
        renderer = renderer_of(chat, model)
        again = [await renderer.render(sheet, style, seed) for sheet, seed in sheets]
    assert made == again
    assert made == [document(sheet, style, 8) for sheet, _ in sheets]
