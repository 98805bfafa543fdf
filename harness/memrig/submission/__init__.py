"""Results that a stranger can recompute: profiles' divisions, pack, verify, rerun."""
