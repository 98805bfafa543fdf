"""What people see of a run: terminal, JSON, one-file HTML."""
