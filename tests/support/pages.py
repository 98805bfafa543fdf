"""Reads a page as a browser's parser would, for tests to ask questions of."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

#: Elements that never have an end tag.
_VOID = frozenset({"meta", "link", "img", "br", "hr", "input", "base"})


@dataclass
class Element:
    """A start tag, and the text inside it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A parsed page: its elements in order."""

    source: str
    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def all(self, *tags: str) -> list[Element]:
        """Every element of these tags."""
        return [element for element in self.elements if element.tag in tags]

    def first(self, tag: str) -> Element:
        """The first element of a tag."""
        return next(element for element in self.elements if element.tag == tag)

    def text_of(self, tag: str) -> str:
        """The text of the first element of a tag, white space made single."""
        return " ".join(self.first(tag).text.split())


def words(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def table(page: Page, caption: str) -> str:
    """The words of the one table that begins with a caption."""
    (text,) = (e.text for e in page.all("table") if words(e.text).startswith(caption))
    return words(text)
