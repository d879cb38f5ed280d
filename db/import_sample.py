"""The design that imported labels bring: a census where nothing is known, or the probabilities that the rows give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from db.canonical import canonical_json
from db.faults import Refused
from db.import_run import Run
from db.samples import SampledUnit, SampleKind, Stratum, sample_in_force, store_sample

NO_NUMBER = "0" * 16


def store_census(run: Run, units: Mapping[int, float | None]) -> int | None:
    """Make the labelled units the sample in force, or add them to one that an import made; return its number.

    Without probabilities it is a census: the labelled responses are all that the numbers speak of (pi = 1). A sample
    that was drawn here stays as it is, and units outside it are named in the notes: they have no probability.
    """
    present = sample_in_force(run.connection)
    known = _known(run, present.id) if present is not None else {}
    new = {unit: pi for unit, pi in units.items() if unit not in known}
    if not new:
        return None
    if present is not None and present.kind == "draw":
        run.notes.append(
            f"{len(new):,} labelled responses are not in the drawn sample: they have no inclusion probability and are "
            "left out of weighted numbers"
        )
        return None
    given = {pi is not None for pi in new.values()}
    if len(given) > 1:
        missing = sum(pi is None for pi in new.values())
        raise Refused(
            f"{missing:,} of {len(new):,} labelled responses have no inclusion probability; nothing was imported.",
            "Give every row one, or none (a census).",
        )
    pis = known | {unit: 1.0 if pi is None else pi for unit, pi in new.items()}
    kind: SampleKind = "imported" if True in given or any(pi < 1 for pi in known.values()) else "census"
    strata = _strata(pis, kind)
    return store_sample(
        run.connection,
        kind=kind,
        strata=list(strata.values()),
        units=[SampledUnit(unit, canonical_json(strata[pi].values), NO_NUMBER, pi) for unit, pi in sorted(pis.items())],
        allocation="all" if kind == "census" else "given",
        n=len(pis),
        population=sum(stratum.population for stratum in strata.values()),
        supersedes=None if present is None else present.id,
        parameters={"import": run.batch},
    )


def _known(run: Run, sample: int) -> dict[int, float]:
    rows = run.connection.execute("SELECT unit_id, pi FROM sample_units WHERE sample_id = ?", (sample,))
    return dict(rows.fetchall())


def _strata(pis: Mapping[int, float], kind: SampleKind) -> dict[float, Stratum]:
    """One stratum a probability: units with different ones must not be pooled."""
    counts = sorted(Counter(pis.values()).items())
    if kind == "census":
        return {pi: Stratum({}, number, number) for pi, number in counts}
    return {pi: Stratum({"pi": repr(pi)}, max(number, round(number / pi)), number) for pi, number in counts}
