"""Writes what was measured into a page, between two markers; the words around them stay."""

from pathlib import Path


def between(page: Path, name: str, text: str) -> None:
    """Replaces what stands between ``<!-- name -->`` and ``<!-- /name -->`` in a page.

    Raises:
        ValueError: the page does not have each of the two markers once, in this order.
    """
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    whole = page.read_text("utf-8")
    head, found, rest = whole.partition(start)
    _, closed, tail = rest.partition(end)
    if not found or not closed or start in rest or end in tail:
        raise ValueError(f"{page} needs the lines {start} and {end}, each of them once")
    aside = page.with_name(f".{page.name}.new")
    aside.write_text(f"{head}{start}\n\n{text.strip()}\n\n{end}{tail}", "utf-8")
    aside.replace(page)
