"""The wire formats: how requests, replies, streams and errors look to an SDK."""
