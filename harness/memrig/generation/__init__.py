"""Makes longitudinal datasets: planner, blind renderer, validators.

The planner sees the whole storyline and writes it down as values in one data sheet an episode. The
renderer sees one sheet, and never the storyline. What comes out is checked before it is written.
"""
