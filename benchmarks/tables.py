"""Print figures in columns."""

from collections.abc import Sequence


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    cells = [list(map(str, columns)), *[list(map(_text, row)) for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    print(f"\n{title}")
    for row in cells:
        print("  ".join(value.rjust(width) for value, width in zip(row, widths, strict=True)))


def _text(value: object) -> str:
    return f"{value:,.1f}" if isinstance(value, float) else f"{value}"
