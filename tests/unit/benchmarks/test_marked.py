"""What a command measures goes between two markers of a page, and nowhere else."""

import pytest
from benchmarks.marked import between

PAGE = "# Title\n\n<!-- a -->\nold\n<!-- /a -->\n\nprose\n\n<!-- b -->\n<!-- /b -->\n"


@pytest.fixture
def page(tmp_path):
    """A page with two pairs of markers."""
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


def test_what_stands_between_is_replaced_and_the_rest_stays(page):
    """Twice gives the same as once."""
    between(page, "a", "new\n")
    between(page, "a", "new\n")
    assert page.read_text() == PAGE.replace("\nold\n", "\n\nnew\n\n")
    assert list(page.parent.iterdir()) == [page]


@pytest.mark.parametrize("text", ["", "<!-- a -->", "<!-- /a --> <!-- a -->", PAGE + PAGE])
def test_a_page_without_exactly_its_markers_is_left_alone(page, text):
    """A table is never lost in a page that was put together wrongly."""
    page.write_text(text)
    with pytest.raises(ValueError, match="<!-- a -->"):
        between(page, "a", "new")
    assert page.read_text() == text
