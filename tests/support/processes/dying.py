"""A memory that fails on some of its searches: one is gone with it, another only says so."""

import os

from memrig_adapters import Capabilities, Hit, Query
from memrig_adapters.fts5 import Fts5Adapter


class Dying(Fts5Adapter):
    """Finds nothing to say to its second question, and does not survive its fourth."""

    capabilities = Capabilities(name="dying", version="1.0", max_results=20)
    _asked = 0

    def search(self, query: Query) -> list[Hit]:
        self._asked += 1
        if self._asked == 2:
            raise ValueError("cannot be searched for")
        if self._asked == 4:
            os._exit(3)
        return list(super().search(query))
