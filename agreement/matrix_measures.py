"""Numbers that a confusion matrix determines, for one matrix or for thousands of draws at once.

A matrix M is (..., J, q): J judge rows, the q labels first and then outputs that are no label; q human columns. Every
function returns NaN where its number is 0/0; `why_undefined` says so in words. An output that is no label is a miss for
the human label of its record, so it lowers recall and agreement; "labels only" numbers leave such records out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from agreement.cells import BoolArray, FloatArray

Matrix = npt.NDArray[np.float64]


def ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """top / bottom, NaN where bottom is 0."""
    top, bottom = np.broadcast_arrays(top, bottom)
    result: FloatArray = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom != 0)
    return result


def hits(m: Matrix) -> FloatArray:
    """(..., q) judge and people both say the label."""
    return np.diagonal(m[..., : m.shape[-1], :], axis1=-2, axis2=-1)


def judged(m: Matrix) -> FloatArray:
    """(..., q) the judge says the label."""
    return _sum(m[..., : m.shape[-1], :], -1)


def people(m: Matrix) -> FloatArray:
    """(..., q) people say the label, whatever the judge put out."""
    return _sum(m, -2)


def size(m: Matrix) -> FloatArray:
    """(...) all records of the matrix."""
    return _sum(m, (-2, -1))


def labels_only(m: Matrix) -> Matrix:
    """The matrix without the rows of outputs that are no label."""
    return m[..., : m.shape[-1], :]


def agreement(m: Matrix) -> FloatArray:
    """Share of records with the same label (accuracy)."""
    return ratio(_sum(hits(m), -1), size(m))


def kappa(m: Matrix) -> FloatArray:
    """Cohen (1960). An output that is no label is a category that people never use."""
    total = size(m)
    chance = ratio(_sum(judged(m) * people(m), -1), total**2)
    return ratio(agreement(m) - chance, _no_dust(1 - chance))


def mcc(m: Matrix) -> FloatArray:
    """Matthews correlation for several labels, R_K (Gorodkin 2004)."""
    total = size(m)
    said, true = ratio(_sum(m, -1), total[..., None]), ratio(people(m), total[..., None])
    chance = _sum(said[..., : m.shape[-1]] * true, -1)
    spread = _no_dust(1 - _sum(said**2, -1)) * _no_dust(1 - _sum(true**2, -1))
    return ratio(agreement(m) - chance, np.sqrt(spread))


def precision(m: Matrix) -> FloatArray:
    """(..., q) of the records to which the judge gives the label, the share to which people give it."""
    return ratio(hits(m), judged(m))


def recall(m: Matrix) -> FloatArray:
    """(..., q) of the records to which people give the label, the share to which the judge gives it (sensitivity)."""
    return ratio(hits(m), people(m))


def f1(m: Matrix) -> FloatArray:
    """(..., q) harmonic mean of precision and recall, 2 hits / (judged + people); 0 where the two never meet."""
    return ratio(2 * hits(m), judged(m) + people(m))


def specificity(m: Matrix) -> FloatArray:
    """(..., q) of the records to which people do not give the label, the share to which the judge does not either."""
    others = _no_dust(1 - human_share(m))
    return ratio(others - (judge_share(m) - ratio(hits(m), size(m)[..., None])), others)


def label_balanced_accuracy(m: Matrix) -> FloatArray:
    """(..., q) mean of recall and specificity of the label."""
    return (recall(m) + specificity(m)) / 2


def label_kappa(m: Matrix) -> FloatArray:
    """(..., q) Cohen's kappa of the label against all others."""
    return kappa(one_against_rest(m))


def label_mcc(m: Matrix) -> FloatArray:
    """(..., q) Matthews correlation of the label against all others."""
    return mcc(one_against_rest(m))


def human_share(m: Matrix) -> FloatArray:
    """(..., q) share of the records to which people give the label."""
    return ratio(people(m), size(m)[..., None])


def judge_share(m: Matrix) -> FloatArray:
    """(..., q) share of the records to which the judge gives the label."""
    return ratio(judged(m), size(m)[..., None])


def one_against_rest(m: Matrix) -> Matrix:
    """(..., q, 2, 2): per label the matrix of (label, anything else)."""
    both, said, true = hits(m), judged(m), people(m)
    rest = size(m)[..., None] - said - true + both
    return np.stack([np.stack([both, said - both], -1), np.stack([true - both, rest], -1)], -2)


def occurring(m: Matrix) -> BoolArray:
    """(q,) labels that people or the judge use in this one matrix: the labels of the means below."""
    return np.asarray(judged(m) + people(m) > 0, np.bool_)


def mean_over(values: FloatArray, labels: BoolArray) -> FloatArray:
    """Plain mean of (..., q) over the given labels; NaN if one of them is undefined."""
    chosen = values[..., labels]
    return _sum(chosen, -1) / chosen.shape[-1] if labels.any() else np.full(values.shape[:-1], np.nan)


def mean_by_share(values: FloatArray, m: Matrix) -> FloatArray:
    """Mean of (..., q) weighted by the human label shares; labels that people do not use have no weight."""
    shares = human_share(m)
    return _sum(np.where(shares == 0, 0.0, values * shares), -1)


def used_by_people(m: Matrix) -> BoolArray:
    """(q,) labels that people use in this one matrix."""
    return np.asarray(people(m) > 0, np.bool_)


Overall = Callable[[Matrix, BoolArray, BoolArray], FloatArray]

OVERALL: dict[str, Overall] = {
    "agreement": lambda m, occur, used: agreement(m),
    "kappa": lambda m, occur, used: kappa(m),
    "agreement, labels only": lambda m, occur, used: agreement(labels_only(m)),
    "kappa, labels only": lambda m, occur, used: kappa(labels_only(m)),
    "MCC": lambda m, occur, used: mcc(m),
    "balanced accuracy": lambda m, occur, used: mean_over(recall(m), used),
    "macro precision": lambda m, occur, used: mean_over(precision(m), occur),
    "macro recall": lambda m, occur, used: mean_over(recall(m), occur),
    "macro F1": lambda m, occur, used: mean_over(f1(m), occur),
    "weighted precision": lambda m, occur, used: mean_by_share(precision(m), m),
    "weighted recall": lambda m, occur, used: mean_by_share(recall(m), m),
    "weighted F1": lambda m, occur, used: mean_by_share(f1(m), m),
}
"""Numbers of the whole matrix. `occur`: labels used by either side, `used`: by people, in the matrix of the estimate;
they stay the same in every draw, so that a mean is always over the same labels."""

PER_LABEL: dict[str, Callable[[Matrix], FloatArray]] = {
    "precision": precision,
    "recall": recall,
    "F1": f1,
    "specificity": specificity,
    "balanced accuracy": label_balanced_accuracy,
    "kappa": label_kappa,
    "MCC": label_mcc,
    "human share": human_share,
    "judge share": judge_share,
}

SIGNED = {"kappa", "kappa, labels only", "MCC"}
"""Numbers between -1 and 1; all others lie between 0 and 1."""


def why_undefined(name: str, labels: Sequence[str], m: Matrix, label: int | None = None) -> str:
    """In words, why a number of this one matrix is 0/0."""
    if size(m) == 0:
        return "no record has both a judge output and a human label"
    said, true = judged(m), people(m)
    silent = [labels[k] for k in range(len(labels)) if said[k] == 0 and true[k] > 0]
    unused = [labels[k] for k in range(len(labels)) if true[k] == 0 and said[k] > 0]
    if label is not None:
        return _label_reason(name, labels[label], said[label] == 0, true[label] == 0)
    if "precision" in name:
        return f"the judge never says {', '.join(silent)}: its precision cannot be computed"
    if "recall" in name:
        return f"people never say {', '.join(unused)}: its recall cannot be computed"
    if "labels only" in name and not said.any():
        return "no output of the judge is a label"
    return "no variation: chance-corrected agreement cannot be computed"


def _label_reason(name: str, label: str, silent: bool, unused: bool) -> str:
    if name == "precision" and silent:
        return f"the judge never says {label}"
    if unused and name in {"recall", "F1", "balanced accuracy"}:
        return f"people never say {label}"
    if name in {"specificity", "balanced accuracy"}:
        return f"people say {label} everywhere"
    return f"no variation in {label}: chance-corrected agreement cannot be computed"


def _no_dust(share: FloatArray) -> FloatArray:
    """A share that is 0 but for the rounding of weighted sums becomes 0, so that 0/0 is seen as undefined."""
    return np.where(share < 1e-12, 0.0, share)


def _sum(values: FloatArray, axis: int | tuple[int, ...]) -> FloatArray:
    total: FloatArray = np.sum(values, axis=axis)
    return total
