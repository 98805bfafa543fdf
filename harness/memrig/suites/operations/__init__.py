"""`operations`: what it takes to run a memory, and what becomes of it when something breaks."""
