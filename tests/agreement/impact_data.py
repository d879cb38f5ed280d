"""Made-up corpora with a known truth, for the tests of score impact."""

from __future__ import annotations

import numpy as np

from agreement.impact.records import Records, Sample

LABELS = ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")


def binary(
    models: dict[str, tuple[float, float, float]], records: int, labelled: int, seed: int
) -> tuple[Records, Sample, dict[str, float]]:
    """Models with (true rate of YES, judge's sensitivity, specificity); simple random sample per model; true rates."""
    rng = np.random.default_rng(seed)
    truth, judge, names = [], [], []
    for name, (rate, sensitivity, specificity) in models.items():
        yes = rng.random(records) < rate
        says = np.where(yes, rng.random(records) < sensitivity, rng.random(records) >= specificity)
        truth.append(yes)
        judge.append(says)
        names += [name] * records
    yes, says = np.concatenate(truth), np.concatenate(judge)
    item = np.tile([f"q{i:05}" for i in range(records)], len(models))
    corpus = Records.from_columns(
        ("YES", "NO"), names, judges={"judge": np.where(says, "YES", "NO").tolist()}, item=item.tolist()
    )
    chosen = np.concatenate([m * records + rng.choice(records, labelled, replace=False) for m in range(len(models))])
    chosen.sort()
    shares = np.stack([yes[chosen], ~yes[chosen]], axis=1).astype(np.float64)
    rates = {name: float(t.mean()) for name, t in zip(models, truth, strict=True)}
    return corpus, Sample.of(corpus.take(chosen), shares, inclusion=labelled / records), rates


def ehq_corpus(
    models: int, records: int, labelled: int, seed: int, error: float = 0.12
) -> tuple[Records, Sample, np.ndarray]:
    """EHQ records of four categories; the sample is stratified by judge label with allocation by square root.

    Third: (models * records,) codes of the true labels in LABELS.
    """
    rng = np.random.default_rng(seed)
    total = models * records
    category = np.tile(np.array(["FEQ", "PCQ", "HNQ", "CCQ"])[np.arange(records) % 4], models)
    impossible = np.isin(category, ["FEQ", "CCQ"])
    truth = rng.choice(4, total, p=[0.3, 0.1, 0.3, 0.3])
    truth[impossible & (truth == 2)] = 3
    judge = np.where(rng.random(total) < error, rng.choice(4, total), truth)
    judge[impossible & (judge == 2)] = 3
    confidence = np.where(truth == 2, rng.integers(60, 101, total), rng.integers(30, 101, total))
    names = np.array(LABELS)[judge].tolist()
    corpus = Records.from_columns(
        LABELS,
        np.repeat([f"model-{m}" for m in range(models)], records).tolist(),
        judges={"judge": names},
        by={"category": category.tolist()},
        stratum=names,
        confidence=confidence.tolist(),
        item=np.tile([f"q{i:05}" for i in range(records)], models).tolist(),
        impossible={"CORRECT": {"category": ["FEQ", "CCQ"]}},
    )
    chosen, inclusion = [], np.zeros(total)
    for m in range(models):
        own = np.arange(m * records, (m + 1) * records)
        sizes = np.array([(judge[own] == k).sum() for k in range(4)])
        wanted = np.minimum(np.rint(labelled * np.sqrt(sizes) / np.sqrt(sizes).sum()).astype(int), sizes)
        for k in range(4):
            drawn = rng.choice(own[judge[own] == k], wanted[k], replace=False)
            inclusion[drawn] = wanted[k] / sizes[k]
            chosen.append(drawn)
    units = np.sort(np.concatenate(chosen))
    return corpus, Sample.of(corpus.take(units), np.eye(4)[truth[units]], inclusion=inclusion[units]), truth
