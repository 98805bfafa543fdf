"""Where an adapter runs: docker, process, endpoint. One protocol, three implementations."""
