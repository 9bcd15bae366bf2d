"""Objects as notebooks show them: tables of names and values."""

from __future__ import annotations

from html import escape
from typing import Iterable, Sequence


def rows(title: str, pairs: Iterable[tuple[str, object]]) -> str:
    """A table of two columns below a title: what is said, by its name; nothing of what is None or empty."""
    shown = (f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{_cell(value)}</td></tr>" for name, value in pairs if value not in (None, "", (), {}))
    return f"<b>{escape(title)}</b><table>{''.join(shown)}</table>"


def table(title: str, heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A table with a line of heads below a title."""
    head = "".join(f"<th style='text-align:left'>{escape(one)}</th>" for one in heads)
    body = ("<tr>" + "".join(f"<td style='text-align:left'>{_cell(one)}</td>" for one in line) + "</tr>" for line in lines)
    return f"<b>{escape(title)}</b><table><tr>{head}</tr>{''.join(body)}</table>"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, tuple):
        return "<br>".join(_cell(one) for one in value)
    return escape(str(value))
