"""Which optional package comes with which extra, and what it is for."""

from __future__ import annotations

from typing import Final, NamedTuple


class Extra(NamedTuple):
    """One package that the base install leaves out."""

    distribution: str
    module: str
    name: str
    purpose: str

    @property
    def how(self) -> str:
        """The command that brings it."""
        from annotate.installing import how_to_add

        return how_to_add(self.name)


OPTIONAL: Final = (
    Extra("numpy", "numpy", "analysis", "agreement, impact and reports"),
    Extra("pandas", "pandas", "analysis", "agreement, impact and reports"),
    Extra("scipy", "scipy", "analysis", "intervals"),
    Extra("scikit-learn", "sklearn", "analysis", "the second source of kappa, confusion and F1"),
    Extra("krippendorff", "krippendorff", "analysis", "the second source of alpha"),
    Extra("threadpoolctl", "threadpoolctl", "analysis", "one thread a computation"),
    Extra("pyarrow", "pyarrow", "parquet", "Parquet in and out"),
    Extra("matplotlib", "matplotlib", "figures", "figures for print"),
    Extra("typst", "typst", "pdf", "the report as PDF"),
    Extra("openai", "openai", "judge", "asking an LLM judge"),
    Extra("ehq", "ehq", "ehq", "the judge by rules of the EHQ benchmark"),
    Extra("pyrage", "pyrage", "passphrase", "packs under a passphrase"),
    Extra("aiohttp", "aiohttp", "web", "coding in a browser"),
    Extra("jinja2", "jinja2", "web", "coding in a browser"),
    Extra("textual-serve", "textual_serve", "web", "coding in a browser"),
    Extra("ibis-framework", "ibis", "duckdb", "counting a corpus that is not imported"),
    Extra("duckdb", "duckdb", "duckdb", "counting a corpus on one machine"),
    Extra("pyspark", "pyspark", "spark", "counting a corpus on a cluster"),
)


def missing_extra(module: str) -> str:
    """One line that names the extra which brings ``module`` (a dotted name), or '' where none of ours does."""
    top = module.partition(".")[0]
    for each in OPTIONAL:
        if each.module == top:
            return f"This needs {top}, which is not installed. Install it with: {each.how}"
    return ""
