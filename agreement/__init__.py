"""Inter-coder agreement: coefficients, intervals, comparisons. Arrays and DataFrames in, frozen dataclasses out.

Names load on first use, so that importing the package costs no more than numpy. To add a public name: one row in
`_MODULES`, one import under `TYPE_CHECKING` and one entry in `__all__`. A public name must differ from every module
name in this package (the import system overwrites an attribute of the package with the module of the same name).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agreement.against_people import JudgeAgreement as JudgeAgreement
    from agreement.against_people import Measure as Measure
    from agreement.against_people import judge_agreement as judge_agreement
    from agreement.allocation import allocate as allocate
    from agreement.allocation import allocate_for_many as allocate_for_many
    from agreement.allocation import binary_deviations as binary_deviations
    from agreement.alpha import krippendorff_alpha as krippendorff_alpha
    from agreement.alternative_annotator import AltTest as AltTest
    from agreement.alternative_annotator import CoderComparison as CoderComparison
    from agreement.alternative_annotator import alt_test as alt_test
    from agreement.alternative_annotator import alt_test_domains as alt_test_domains
    from agreement.alternative_annotator import benjamini_yekutieli as benjamini_yekutieli
    from agreement.breakdown import by_label as by_label
    from agreement.breakdown import by_pair as by_pair
    from agreement.breakdown import by_stratum as by_stratum
    from agreement.ceiling import Ceiling as Ceiling
    from agreement.ceiling import CeilingComparison as CeilingComparison
    from agreement.ceiling import human_ceiling as human_ceiling
    from agreement.ceiling import rating_ceiling as rating_ceiling
    from agreement.cells import Cells as Cells
    from agreement.cells import label_shares as label_shares
    from agreement.cells import tabulate as tabulate
    from agreement.comparison import Comparison as Comparison
    from agreement.comparison import compare_agreement as compare_agreement
    from agreement.confusion_matrix import Confusion as Confusion
    from agreement.confusion_matrix import confusion as confusion
    from agreement.confusion_matrix import corpus_confusion as corpus_confusion
    from agreement.consensus import DawidSkene as DawidSkene
    from agreement.consensus import MajorityVote as MajorityVote
    from agreement.consensus import dawid_skene as dawid_skene
    from agreement.consensus import majority_vote as majority_vote
    from agreement.continuous import BlandAltman as BlandAltman
    from agreement.continuous import bland_altman as bland_altman
    from agreement.continuous import icc as icc
    from agreement.continuous import lin_concordance as lin_concordance
    from agreement.curves import Curve as Curve
    from agreement.curves import precision_recall_curve as precision_recall_curve
    from agreement.curves import roc_curve as roc_curve
    from agreement.design import DesignWeights as DesignWeights
    from agreement.design import design_weights as design_weights
    from agreement.error_inversion import InvertedShares as InvertedShares
    from agreement.error_inversion import adjusted_rate_interval as adjusted_rate_interval
    from agreement.error_inversion import invert_confusion as invert_confusion
    from agreement.error_inversion import rogan_gladen as rogan_gladen
    from agreement.error_inversion import youden_differences as youden_differences
    from agreement.errors import AgreementError as AgreementError
    from agreement.expected_precision import Precision as Precision
    from agreement.expected_precision import present_precision as present_precision
    from agreement.expected_precision import spread_plan as spread_plan
    from agreement.gwet import brennan_prediger as brennan_prediger
    from agreement.gwet import gwet_ac as gwet_ac
    from agreement.impact.engine import judge_scores as judge_scores
    from agreement.impact.engine import score_impact as score_impact
    from agreement.impact.result import ImpactResult as ImpactResult
    from agreement.indices import Indices as Indices
    from agreement.indices import MaximumKappa as MaximumKappa
    from agreement.indices import maximum_kappa as maximum_kappa
    from agreement.indices import prevalence_bias as prevalence_bias
    from agreement.intervals import Interval as Interval
    from agreement.intervals import bootstrap_interval as bootstrap_interval
    from agreement.intervals import posterior_interval as posterior_interval
    from agreement.judge_checks import judge_warnings as judge_warnings
    from agreement.kappas import cohen_kappa as cohen_kappa
    from agreement.kappas import conger_kappa as conger_kappa
    from agreement.kappas import fleiss_kappa as fleiss_kappa
    from agreement.kappas import light_kappa as light_kappa
    from agreement.kappas import scott_pi as scott_pi
    from agreement.measure_intervals import point_measures as point_measures
    from agreement.percent import percent_agreement as percent_agreement
    from agreement.percent import specific_agreement as specific_agreement
    from agreement.post_stratification import post_stratified_rates as post_stratified_rates
    from agreement.posterior import Completion as Completion
    from agreement.posterior import complete as complete
    from agreement.posterior import expected_counts as expected_counts
    from agreement.ppi import difference_rate as difference_rate
    from agreement.ppi import ppi_rate as ppi_rate
    from agreement.pseudo_outcomes import pseudo_outcome_rate as pseudo_outcome_rate
    from agreement.rate import Rate as Rate
    from agreement.ratings import Ratings as Ratings
    from agreement.ratings import read_ratings as read_ratings
    from agreement.reference import HumanReference as HumanReference
    from agreement.reference import coder_reference as coder_reference
    from agreement.reference import human_reference as human_reference
    from agreement.reference import reference_treatments as reference_treatments
    from agreement.reliability import Calibration as Calibration
    from agreement.reliability import calibration as calibration
    from agreement.repeats import SelfAgreement as SelfAgreement
    from agreement.repeats import self_agreement as self_agreement
    from agreement.repeats import self_agreements as self_agreements
    from agreement.result import Coefficient as Coefficient
    from agreement.sample_size import SampleSize as SampleSize
    from agreement.sample_size import difference_sample_size as difference_sample_size
    from agreement.sample_size import kappa_sample_size as kappa_sample_size
    from agreement.sample_size import pilot_sample_size as pilot_sample_size
    from agreement.sample_size import rate_sample_size as rate_sample_size
    from agreement.small_counts import jeffreys_interval as jeffreys_interval
    from agreement.small_counts import wilson_interval as wilson_interval
    from agreement.stratified_ppi import stratified_ppi_rate as stratified_ppi_rate
    from agreement.tables import from_counts as from_counts
    from agreement.tables import from_long as from_long
    from agreement.tables import from_table as from_table

_MODULES: dict[str, str] = {
    "adjusted_rate_interval": "error_inversion",
    "AgreementError": "errors",
    "allocate": "allocation",
    "allocate_for_many": "allocation",
    "AltTest": "alternative_annotator",
    "alt_test": "alternative_annotator",
    "alt_test_domains": "alternative_annotator",
    "benjamini_yekutieli": "alternative_annotator",
    "binary_deviations": "allocation",
    "bland_altman": "continuous",
    "BlandAltman": "continuous",
    "bootstrap_interval": "intervals",
    "brennan_prediger": "gwet",
    "by_label": "breakdown",
    "by_pair": "breakdown",
    "by_stratum": "breakdown",
    "Calibration": "reliability",
    "calibration": "reliability",
    "Ceiling": "ceiling",
    "CeilingComparison": "ceiling",
    "Cells": "cells",
    "CoderComparison": "alternative_annotator",
    "coder_reference": "reference",
    "Coefficient": "result",
    "cohen_kappa": "kappas",
    "compare_agreement": "comparison",
    "Comparison": "comparison",
    "complete": "posterior",
    "Completion": "posterior",
    "Confusion": "confusion_matrix",
    "confusion": "confusion_matrix",
    "conger_kappa": "kappas",
    "corpus_confusion": "confusion_matrix",
    "Curve": "curves",
    "DawidSkene": "consensus",
    "dawid_skene": "consensus",
    "DesignWeights": "design",
    "design_weights": "design",
    "difference_rate": "ppi",
    "difference_sample_size": "sample_size",
    "expected_counts": "posterior",
    "fleiss_kappa": "kappas",
    "from_counts": "tables",
    "from_long": "tables",
    "from_table": "tables",
    "gwet_ac": "gwet",
    "human_ceiling": "ceiling",
    "HumanReference": "reference",
    "human_reference": "reference",
    "icc": "continuous",
    "ImpactResult": "impact.result",
    "Indices": "indices",
    "judge_scores": "impact.engine",
    "Interval": "intervals",
    "invert_confusion": "error_inversion",
    "InvertedShares": "error_inversion",
    "jeffreys_interval": "small_counts",
    "JudgeAgreement": "against_people",
    "judge_agreement": "against_people",
    "judge_warnings": "judge_checks",
    "kappa_sample_size": "sample_size",
    "krippendorff_alpha": "alpha",
    "label_shares": "cells",
    "light_kappa": "kappas",
    "lin_concordance": "continuous",
    "MajorityVote": "consensus",
    "majority_vote": "consensus",
    "maximum_kappa": "indices",
    "MaximumKappa": "indices",
    "Measure": "against_people",
    "percent_agreement": "percent",
    "pilot_sample_size": "sample_size",
    "point_measures": "measure_intervals",
    "posterior_interval": "intervals",
    "post_stratified_rates": "post_stratification",
    "ppi_rate": "ppi",
    "Precision": "expected_precision",
    "precision_recall_curve": "curves",
    "present_precision": "expected_precision",
    "prevalence_bias": "indices",
    "pseudo_outcome_rate": "pseudo_outcomes",
    "Rate": "rate",
    "rate_sample_size": "sample_size",
    "rating_ceiling": "ceiling",
    "Ratings": "ratings",
    "read_ratings": "ratings",
    "reference_treatments": "reference",
    "roc_curve": "curves",
    "rogan_gladen": "error_inversion",
    "SampleSize": "sample_size",
    "score_impact": "impact.engine",
    "scott_pi": "kappas",
    "self_agreement": "repeats",
    "SelfAgreement": "repeats",
    "self_agreements": "repeats",
    "specific_agreement": "percent",
    "spread_plan": "expected_precision",
    "stratified_ppi_rate": "stratified_ppi",
    "tabulate": "cells",
    "wilson_interval": "small_counts",
    "youden_differences": "error_inversion",
}

__all__ = [
    "AgreementError",
    "AltTest",
    "BlandAltman",
    "Calibration",
    "Ceiling",
    "CeilingComparison",
    "Cells",
    "CoderComparison",
    "Coefficient",
    "Comparison",
    "Completion",
    "Confusion",
    "Curve",
    "DawidSkene",
    "DesignWeights",
    "HumanReference",
    "ImpactResult",
    "Indices",
    "Interval",
    "InvertedShares",
    "JudgeAgreement",
    "MajorityVote",
    "MaximumKappa",
    "Measure",
    "Precision",
    "Rate",
    "Ratings",
    "SampleSize",
    "SelfAgreement",
    "adjusted_rate_interval",
    "allocate",
    "allocate_for_many",
    "alt_test",
    "alt_test_domains",
    "benjamini_yekutieli",
    "binary_deviations",
    "bland_altman",
    "bootstrap_interval",
    "brennan_prediger",
    "by_label",
    "by_pair",
    "by_stratum",
    "calibration",
    "coder_reference",
    "cohen_kappa",
    "compare_agreement",
    "complete",
    "confusion",
    "conger_kappa",
    "corpus_confusion",
    "dawid_skene",
    "design_weights",
    "difference_rate",
    "difference_sample_size",
    "expected_counts",
    "fleiss_kappa",
    "from_counts",
    "from_long",
    "from_table",
    "gwet_ac",
    "human_ceiling",
    "human_reference",
    "icc",
    "invert_confusion",
    "jeffreys_interval",
    "judge_agreement",
    "judge_scores",
    "judge_warnings",
    "kappa_sample_size",
    "krippendorff_alpha",
    "label_shares",
    "light_kappa",
    "lin_concordance",
    "majority_vote",
    "maximum_kappa",
    "percent_agreement",
    "pilot_sample_size",
    "point_measures",
    "post_stratified_rates",
    "posterior_interval",
    "ppi_rate",
    "precision_recall_curve",
    "present_precision",
    "prevalence_bias",
    "pseudo_outcome_rate",
    "rate_sample_size",
    "rating_ceiling",
    "read_ratings",
    "reference_treatments",
    "roc_curve",
    "rogan_gladen",
    "score_impact",
    "scott_pi",
    "self_agreement",
    "self_agreements",
    "specific_agreement",
    "spread_plan",
    "stratified_ppi_rate",
    "tabulate",
    "wilson_interval",
    "youden_differences",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
