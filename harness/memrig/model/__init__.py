"""Frozen types that every other package speaks in."""
