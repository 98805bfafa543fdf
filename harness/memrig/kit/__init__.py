"""What a vendor begins with: a folder that is an adapter already, and a badge for what it keeps."""

from memrig.kit.badge import Tally, badge_svg
from memrig.kit.project import LANGUAGES, Language, NewAdapter, new_adapter

__all__ = ["LANGUAGES", "Language", "NewAdapter", "Tally", "badge_svg", "new_adapter"]
