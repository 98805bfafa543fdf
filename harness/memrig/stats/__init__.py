"""Intervals, and summaries of grades."""
