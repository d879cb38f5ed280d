"""The pictures of a report, taken from an example by chromium: ``python docs/_generators/pictures.py``, with Pillow."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
REPORT = DOCS / "examples" / "xstest" / "report.html"
WIDTH, TALL = 960, 1900
CUTS = {"report.png": (0, 690), "report-changed.png": (1190, 1860)}
"""File name, and the part of the page that it shows, in pixels from the top."""


def main() -> None:
    """Write both pictures, with as few colours as they need."""
    from PIL import Image, ImageOps

    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.png"
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--window-size={WIDTH},{TALL}", f"--screenshot={page}", REPORT.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
        with Image.open(page) as whole:
            for name, (top, bottom) in CUTS.items():
                part = ImageOps.expand(whole.convert("RGB").crop((0, top, WIDTH, bottom)), 1, "#b0b0b0")
                part.quantize(64, dither=Image.Dither.NONE).save(DOCS / "images" / name, optimize=True)


if __name__ == "__main__":
    main()
