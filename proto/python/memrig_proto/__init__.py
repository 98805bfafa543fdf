"""The contract package; stubs live in `memrig_proto.v1`."""
