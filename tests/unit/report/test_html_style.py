"""The design system keeps its promise of contrast, in both schemes."""

import re
from importlib.resources import files

import pytest

#: Text on what it stands on. Badges stand on soft grounds of their own.
PAIRS = [
    *((text, ground) for text in ("text", "muted", "accent") for ground in ("ground", "surface")),
    *((name, f"{name}-soft") for name in ("good", "warn", "bad")),
    *(("text", f"{name}-soft") for name in ("good", "warn")),
    ("text", "sunken"),
]


def schemes() -> dict[str, dict[str, str]]:
    css = files("memrig.report").joinpath("templates", "style.css").read_text("utf-8")
    blocks = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block)) for block in blocks)
    return {"light": light, "dark": light | dark}


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_text_has_contrast(scheme: str, text: str, ground: str) -> None:
    """Every text stands out at 4.5 to 1 or better (WCAG 2.2 AA, 1.4.3)."""
    colours = schemes()[scheme]
    one, other = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
    assert (one + 0.05) / (other + 0.05) >= 4.5


def test_dark_names_no_colour_that_light_lacks() -> None:
    """A variable exists in both schemes, or another page that uses it breaks in one."""
    both = schemes()
    assert both["light"].keys() == both["dark"].keys()
