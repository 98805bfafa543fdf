"""Lines to fill a memory with: the turns of a long-horizon world, told as they stand."""

from collections.abc import Iterator
from datetime import datetime

from memrig.model.canonical import derive
from memrig.model.scenario import Episode, Turn
from memrig.suites.longhorizon.lexicon import LEXICON
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.render import told
from memrig.suites.longhorizon.spec import FEWEST_TURNS, MOST_SEED
from memrig.suites.longhorizon.world import simulate


def lines(seed: int, purpose: str, number: int) -> Iterator[Episode]:
    """So many turns of a world of its own, one an episode, as a stream."""
    with EventLog.create() as log:
        world = derive(seed, "operations", purpose) % MOST_SEED
        simulate(log, LEXICON, world, max(number, FEWEST_TURNS))
        for turn in told(log, LEXICON):
            if turn.index == number:
                return
            said = Turn(turn_id=turn.turn_id, speaker=turn.speaker, text=turn.text)
            yield Episode(
                episode_id=turn.turn_id,
                timestamp=datetime.fromisoformat(turn.told_at),
                text=turn.text,
                turns=(said,),
            )
