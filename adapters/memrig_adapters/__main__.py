"""`python -m memrig_adapters`: the same as `memrig-adapter`."""

from memrig_adapters.cli import main

main()
