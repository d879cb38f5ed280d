"""Where the sample data lie: beside the package in a checkout, inside it when installed. Found by path, not import."""

from __future__ import annotations

from pathlib import Path

from db.errors import AnnotateError

_PACKAGE = Path(__file__).resolve().parent
SAMPLES = ("ehq-run", "openqa-nq301", "xstest", "nas-simulated", "wikiprofile-simulated")
"""The data sets that ship; each is a folder with its data, SOURCE.txt and licence."""


def samples_folder() -> Path:
    """The folder with the sample data; raises AnnotateError where it was not installed."""
    for folder in (_PACKAGE / "samples", _PACKAGE.parent / "samples"):
        if (folder / "ehq-run").is_dir():
            return folder
    raise AnnotateError("The sample data are not installed.", "Reinstall the program, or run it from a checkout.")


def sample(name: str, *parts: str) -> Path:
    """A sample's folder, or a file in it; raises AnnotateError where there is no such sample."""
    if name not in SAMPLES:
        raise AnnotateError(f"There is no sample {name!r}.", f"Samples: {', '.join(SAMPLES)}.")
    return samples_folder().joinpath(name, *parts)
