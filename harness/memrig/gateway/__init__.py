"""The LLM gateway: the only code that holds a key (architecture §5)."""
