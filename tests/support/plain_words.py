"""Names and pools for worlds of tests: numbered, so that no wording can change a digest."""

from functools import cache


class PlainWords:
    """What the simulator needs of a lexicon."""

    @cache  # noqa: B019
    def pool(self, name: str) -> tuple[str, ...]:
        """Sixty numbered values."""
        return tuple(f"{name} {number}" for number in range(60))

    def capacity(self, kind: str) -> int:
        """Enough for the longest world."""
        return 30_000

    def name(self, kind: str, number: int) -> str:
        """Kind and number."""
        return f"{kind} {number}"

    def sibling(self, kind: str, number: int) -> str:
        """The name with a letter more."""
        return f"{kind} {number}b"
