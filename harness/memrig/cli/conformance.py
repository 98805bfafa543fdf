"""`memrig conformance`."""
