"""memrig: a test rig for AI memory systems."""

__version__ = "0.1.0"
