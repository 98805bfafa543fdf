"""Ways to cheat, and what each is caught by."""

from support.cheats import cells

CHEATS = (*cells.CHEATS,)
