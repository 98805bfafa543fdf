"""Pure functions from transcripts and gold to grades. No container, no network."""
