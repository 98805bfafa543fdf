"""The folder of real archives that several tests build sites from."""

from support.boards import archives

__all__ = ["archives"]
