"""Stubs of `memrig.v1`."""
