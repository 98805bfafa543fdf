"""`longhorizon`: a seeded world that changes, told turn by turn, and questions about it.

::

    schema    what there is in the world: kinds, attributes, blocks
    world     the simulator: from a seed to entities and events   → log
    log       the append-only event log, in SQLite                → interpreter, render
    lexicon   phrasings; render turns events into what is said
    query     questions as programs; interpreter answers them from the log alone
    programs  the 15 categories; allocate draws questions evenly
    suite     a world as a scenario; files writes it out for use without the rig
"""
