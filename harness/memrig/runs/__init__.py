"""Plan, execute, resume: a run is a folder that the same command goes on filling."""
