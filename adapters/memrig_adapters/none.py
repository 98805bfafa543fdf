"""The memory that remembers nothing: the floor under every table."""

from collections.abc import Sequence

from memrig_adapters.adapter import Adapter
from memrig_adapters.types import Capabilities, Episode, Hit, Query


class NoneAdapter(Adapter):
    """Acknowledges every episode, stores none, finds none."""

    capabilities = Capabilities(name="none", version="1.0", max_results=1000)

    def ingest(self, _episode: Episode) -> int:
        """Stores no item."""
        return 0

    def flush(self) -> int:
        """Has nothing to wait for; holds 0 items."""
        return 0

    def search(self, _query: Query) -> Sequence[Hit]:
        """Finds nothing."""
        return []

    def reset(self) -> None:
        """Has nothing to empty."""
