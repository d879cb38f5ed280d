"""Other estimators of a corpus score, by name, for means of per-record values.

"ppi++": prediction-powered inference with power tuning (Angelopoulos, Duchi and Zrnic 2023), for the population, from
    samples whose units all have the same inclusion probability.
"difference": regression (generalised difference) estimator for this corpus, design-weighted by stratum
    (Saerndal, Swensson and Wretman 1992, ch. 6).
"pseudo-outcomes": design-based supervised learning (Egami et al. 2023), f + (R / pi)(Y - f), for any known pi.
"""
