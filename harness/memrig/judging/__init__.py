"""Asks judges through the gateway and keeps their verdicts; grading itself stays pure."""
