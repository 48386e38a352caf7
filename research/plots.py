"""Pictures for the pages: small files, the same for the same figures."""

from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

COLOURS = 64  # of the palette, which saves two thirds of the bytes without visible loss


def save_png(figure: Figure, path: Path, dots: int, **how: Any) -> Path:
    """Write a PNG of this many dots per inch, and return its path; ``how`` goes to savefig."""
    pixels = BytesIO()
    figure.savefig(pixels, format="png", dpi=dots, **how)
    Image.open(pixels).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    return path
