"""Pictures for the pages: small files, and the same one for the same figures."""

from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

COLOURS = 64  # in a palette: a third of the bytes, and nobody sees it


def save_png(figure: Figure, path: Path, dots: int, **how: Any) -> Path:
    """As a PNG of so many dots to the inch; ``how`` goes to savefig."""
    pixels = BytesIO()
    figure.savefig(pixels, format="png", dpi=dots, **how)
    Image.open(pixels).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    return path
