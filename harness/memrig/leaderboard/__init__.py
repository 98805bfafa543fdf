"""A static site from a folder of submissions that verify (docs/leaderboard.md)."""
