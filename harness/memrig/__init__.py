"""memrig: a test rig for AI memory systems."""
