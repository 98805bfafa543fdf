"""Ways to cheat, and the check that catches each; and those that no check can."""

from support.cheats import (
    asking,
    audits,
    cells,
    claims,
    figures,
    frame,
    hits,
    judge,
    models,
    story,
    unseen,
)

CHEATS = (
    *cells.CHEATS,
    *frame.CHEATS,
    *story.CHEATS,
    *hits.CHEATS,
    *models.CHEATS,
    *asking.CHEATS,
    *judge.CHEATS,
    *audits.CHEATS,
    *claims.CHEATS,
    *figures.CHEATS,
)
UNSEEN = unseen.UNSEEN
