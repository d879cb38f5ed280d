"""One side of the speed comparison: runs in the environment of one library and times what it is told to.

Reads one JSON request a line ({"task", "coders", "n"} or {"memory": ...}), answers with one. Needs numpy, and pandas
where the library takes frames. Inputs are made here from the seed, so that both sides get the same values in the
same form.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LABELS = (1, 2, 3, 4)
DRAWS = 2000


def ratings(n: int, coders: int, *, gaps: float) -> Any:
    """Units x coders of labels 1..4 as floats, NaN where missing; coders right in 80 % of units."""
    rng = np.random.default_rng(n + coders)
    truth = rng.choice(LABELS, n, p=(0.55, 0.2, 0.15, 0.1)).astype(np.int8)
    table = np.where(
        rng.random((n, coders), np.float32) < 0.8, truth[:, None], rng.integers(1, 5, (n, coders), np.int8)
    )
    values = table.astype(np.float64)
    if gaps:
        values[rng.random((n, coders), np.float32) < gaps] = np.nan
    return values


def pair(n: int) -> tuple[Any, Any]:
    """Two coders' integer labels of the units that both rated (no gaps: most libraries take none)."""
    values = ratings(n, 2, gaps=0.0).astype(np.int64)
    return values[:, 0].copy(), values[:, 1].copy()


def long_frame(n: int, coders: int, *, gaps: float) -> Any:
    import pandas as pd

    values = ratings(n, coders, gaps=gaps)
    unit, coder = np.nonzero(~np.isnan(values))
    return pd.DataFrame({"item_id": unit, "rater_id": coder, "rating": values[unit, coder].astype(np.int64)})


def scale(n: int, coders: int) -> Any:
    """Whole ratings from 0 to 100, two coders of one some 8 apart."""
    rng = np.random.default_rng(n)
    return np.rint(np.clip(rng.uniform(0, 100, n)[:, None] + rng.normal(0, 8, (n, coders)), 0, 100))


Case = Callable[[int, int], Callable[[], Any]]


def ours() -> dict[str, Case]:
    import agreement as ag

    bare: Any = {"interval": "none"}

    def array(function: Callable[..., Any], gaps: float = 0.2, **options: Any) -> Case:
        def case(n: int, coders: int) -> Callable[[], Any]:
            values = ratings(n, coders, gaps=gaps)
            return lambda: function(values, **options).value

        return case

    def whole(n: int, coders: int) -> Callable[[], Any]:
        values = ratings(n, coders, gaps=0.0).astype(np.int64)
        return lambda: ag.fleiss_kappa(values, **bare).value

    def frame(n: int, coders: int) -> Callable[[], Any]:
        import pandas as pd

        values = pd.DataFrame(ratings(n, coders, gaps=0.2))
        return lambda: ag.fleiss_kappa(values, **bare).value

    def vectors(**options: Any) -> Case:
        def case(n: int, coders: int) -> Callable[[], Any]:
            a, b = pair(n)
            return lambda: ag.cohen_kappa(a, b, **options).value

        return case

    def lists(n: int, coders: int) -> Callable[[], Any]:
        a, b = (side.tolist() for side in pair(n))
        return lambda: ag.cohen_kappa(a, b, **bare).value

    def pairs(n: int, coders: int) -> Callable[[], Any]:
        values = ratings(n, coders, gaps=0.2)
        return lambda: np.mean([k.value for k in ag.by_pair(ag.cohen_kappa, values, **bare).values()])

    def long(**options: Any) -> Case:
        def case(n: int, coders: int) -> Callable[[], Any]:
            table = long_frame(n, coders, gaps=0.2)

            def run() -> Any:
                return ag.krippendorff_alpha(ag.from_long(table.item_id, table.rater_id, table.rating), **options).value

            return run

        return case

    def numbers(n: int, coders: int) -> Callable[[], Any]:
        values = scale(n, coders)
        return lambda: ag.krippendorff_alpha(values, level="interval").value

    boot: Any = {"interval": "percentile", "draws": DRAWS}
    return {
        "alpha": array(ag.krippendorff_alpha, **bare),
        "alpha with se and interval": array(ag.krippendorff_alpha),
        "alpha, long frame": long(**bare),
        "fleiss": array(ag.fleiss_kappa, convention="pooled", **bare),
        "fleiss with se and interval": array(ag.fleiss_kappa),
        "fleiss, complete": whole,
        "fleiss, frame": frame,
        "cohen": vectors(**bare),
        "cohen with se and interval": vectors(),
        "cohen, lists": lists,
        "cohen, all pairs": pairs,
        "bootstrap kappa": vectors(**boot),
        "bootstrap alpha, long frame": long(**boot),
        "interval alpha": numbers,
    }


def krippendorff_cases() -> dict[str, Case]:
    import krippendorff

    def alpha(n: int, coders: int) -> Callable[[], Any]:
        values = ratings(n, coders, gaps=0.2)
        return lambda: krippendorff.alpha(reliability_data=values.T, level_of_measurement="nominal")

    def numbers(n: int, coders: int) -> Callable[[], Any]:
        values = scale(n, coders)
        return lambda: krippendorff.alpha(reliability_data=values.T, level_of_measurement="interval")

    return {"alpha": alpha, "interval alpha": numbers}


def sklearn_cases() -> dict[str, Case]:
    from sklearn.metrics import cohen_kappa_score

    def cohen(n: int, coders: int) -> Callable[[], Any]:
        a, b = pair(n)
        return lambda: cohen_kappa_score(a, b)

    def bootstrap(n: int, coders: int) -> Callable[[], Any]:
        a, b = pair(n)

        def run() -> Any:
            rng = np.random.default_rng(0)
            for _ in range(DRAWS):
                rows = rng.integers(0, n, n)
                cohen_kappa_score(a[rows], b[rows])
            return cohen_kappa_score(a, b)

        return run

    return {"cohen": cohen, "bootstrap kappa": bootstrap}


def statsmodels_cases() -> dict[str, Case]:
    from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa, to_table

    def cohen(n: int, coders: int) -> Callable[[], Any]:
        a, b = pair(n)
        return lambda: cohens_kappa(to_table(np.column_stack([a, b]))[0]).kappa

    def fleiss(n: int, coders: int) -> Callable[[], Any]:
        values = ratings(n, coders, gaps=0.0).astype(np.int64)
        return lambda: fleiss_kappa(aggregate_raters(values)[0])

    return {"cohen with se and interval": cohen, "fleiss, complete": fleiss}


def judgepanel_cases() -> dict[str, Case]:
    from judgepanel.agreement import cohen_kappa, fleiss_kappa
    from judgepanel.panel import MISSING, Panel

    def fleiss(n: int, coders: int) -> Callable[[], Any]:
        values = ratings(n, coders, gaps=0.2)
        items, judges = tuple(map(str, range(n))), tuple(map(str, range(coders)))

        def run() -> Any:
            codes = np.where(np.isnan(values), MISSING, values - 1).astype(np.int64)
            return fleiss_kappa(Panel(codes, items, judges, ("1", "2", "3", "4")))

        return run

    def cohen(n: int, coders: int) -> Callable[[], Any]:
        a, b = (side.tolist() for side in pair(n))
        return lambda: cohen_kappa(a, b)

    return {"fleiss": fleiss, "cohen, lists": cohen}


def truescore_cases() -> dict[str, Case]:
    from truescore.agreement import cohen_kappa, krippendorff_alpha

    def cohen(n: int, coders: int) -> Callable[[], Any]:
        a, b = pair(n)
        return lambda: cohen_kappa(a, b)

    def pairs(n: int, coders: int) -> Callable[[], Any]:
        values = ratings(n, coders, gaps=0.2)

        def run() -> Any:
            found = []
            for i in range(coders):
                for j in range(i + 1, coders):
                    both = ~np.isnan(values[:, i]) & ~np.isnan(values[:, j])
                    found.append(cohen_kappa(values[both, i], values[both, j]))
            return np.mean(found)

        return run

    def alpha(n: int, coders: int) -> Callable[[], Any]:
        values = ratings(n, coders, gaps=0.2)
        return lambda: krippendorff_alpha(values.T)

    return {"cohen": cohen, "cohen, all pairs": pairs, "alpha": alpha}


def evalaudit_cases() -> dict[str, Case]:
    from evalaudit.agreement import cohens_kappa, rater_agreement

    def cohen(n: int, coders: int) -> Callable[[], Any]:
        a, b = (side.tolist() for side in pair(n))
        return lambda: cohens_kappa(a, b).kappa

    def long(**options: Any) -> Case:
        def case(n: int, coders: int) -> Callable[[], Any]:
            table = long_frame(n, coders, gaps=0.2)
            return lambda: rater_agreement(table, level="nominal", **options).alpha

        return case

    return {
        "cohen, lists": cohen,
        "alpha, long frame": long(bootstrap_ci=False),
        "bootstrap alpha, long frame": long(n_boot=DRAWS, seed=0),
    }


def irrcac_cases() -> dict[str, Case]:
    import pandas as pd
    from irrCAC.raw import CAC

    def method(name: str) -> Case:
        def case(n: int, coders: int) -> Callable[[], Any]:
            table = pd.DataFrame(ratings(n, coders, gaps=0.2))
            return lambda: getattr(CAC(table), name)()["est"]["coefficient_value"]

        return case

    return {"fleiss, frame": method("fleiss")}


SIDES = {
    "ours": ours,
    "krippendorff": krippendorff_cases,
    "scikit-learn": sklearn_cases,
    "statsmodels": statsmodels_cases,
    "judgepanel": judgepanel_cases,
    "truescore": truescore_cases,
    "evalaudit": evalaudit_cases,
    "irrCAC": irrcac_cases,
}


def megabytes(field: str) -> float:
    """VmRSS, resident memory now, or VmHWM, its peak since it was last reset (Linux)."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"no {field} in /proc/self/status")


def answer(cases: dict[str, Case], ready: dict[tuple[str, int, int], Callable[[], Any]], request: Any) -> Any:
    key = (request["task"], request["n"], request["coders"])
    if key not in ready:
        ready.clear()
        ready[key] = cases[key[0]](key[1], key[2])
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # making the input must not count as peak
    loaded = megabytes("VmRSS")
    start = time.perf_counter()
    value = ready[key]()
    for _ in range(request.get("repeat", 1) - 1):
        ready[key]()
    seconds = (time.perf_counter() - start) / request.get("repeat", 1)
    return {"seconds": seconds, "value": float(value), "loaded": loaded, "peak": megabytes("VmHWM")}


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side", choices=SIDES)
    cases, ready = SIDES[parser.parse_args().side](), {}
    print(json.dumps({"tasks": sorted(cases)}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(cases, ready, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
