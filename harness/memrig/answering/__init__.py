"""How a question becomes an answer: retrieval, reader, agent, native (architecture §6)."""
