"""SIMULATED graded responses of WikiProfile: ``python samples/simulate_wikiprofile.py``.

The graded responses behind "Empty Shelves or Lost Keys" are not to be had. What the paper reports is reproduced:
the profile shares of two models in Table 2 (default treatment: a fact is dropped only if a whole pair of questions
cannot be graded), to the nearest of FACTS facts; and on 4,159 of the responses the confusion of two graders in Figure
14, whose percentages of 4,160 responses round to that many. Every text is made up. Each name says that it is
simulated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seeded import apportion, gzipped_lines, pick, shuffled, uniform, write

OUT = Path(__file__).resolve().parent / "wikiprofile-simulated" / "responses.jsonl.gz"
SEED = "wikiprofile-1"
FACTS, REPEATS = 250, 8
LABELS = ("CORRECT", "INCORRECT", "PARTIALLY", "OTHER")
ENCODING = ("completion", "contextual")
KNOWING = ("direct", "direct natural", "reverse", "reverse natural")
PAIRS = (ENCODING, KNOWING[:2], KNOWING[2:])
GRADES = tuple((kind, False) for kind in (*ENCODING, *KNOWING)) + tuple((kind, True) for kind in KNOWING)

# Table 2, default treatment: percentages of the facts kept, then of all facts.
SHARES: Mapping[str, Mapping[str, float]] = {
    "GPT-5-mini (simulated)": {
        "direct recall": 43.5,
        "recall with thinking": 20.3,
        "recall failure": 19.0,
        "inference without encoding": 3.2,
        "encoding failure": 14.0,
    },
    "Gemma3-12b (simulated)": {
        "direct recall": 23.6,
        "recall with thinking": 7.4,
        "recall failure": 32.8,
        "inference without encoding": 0.9,
        "encoding failure": 35.3,
    },
}
DROPPED: Mapping[str, Mapping[str, float]] = {
    "GPT-5-mini (simulated)": {"not gradable": 1.5, "direct inference": 0.3},
    "Gemma3-12b (simulated)": {"not gradable": 3.6, "direct inference": 0.1},
}
# Figure 14: rows grader-1 (the paper's gemini_2_5_pro), columns grader-2, in counts of 4,160 responses.
CONFUSION = ((3269, 2, 8, 0), (2, 697, 0, 3), (15, 13, 52, 0), (0, 23, 4, 71))
# Profile: encoded, known without thinking, known with thinking.
PATTERNS: Mapping[str, tuple[bool, bool, bool]] = {
    "direct recall": (True, True, True),
    "recall with thinking": (True, False, True),
    "recall failure": (True, False, False),
    "inference without encoding": (False, False, True),
    "encoding failure": (False, False, False),
    "direct inference": (False, True, True),
    "not gradable": (True, True, True),
}
HARBOURS = ("Lindmoor", "Veskar", "Orrin", "Tallow", "Mereth", "Calder", "Usk", "Brannoch")


def profile_counts(model: str) -> dict[str, int]:
    """How many facts have each profile: the dropped ones first, the rest in proportion to the shares."""
    dropped = {name: round(share / 100 * FACTS) for name, share in DROPPED[model].items()}
    return dropped | apportion(SHARES[model], FACTS - sum(dropped.values()))


def above(*key: object) -> dict[str, int]:
    """Counts of eight labels whose grade is above one half."""
    other = pick((0, 0, 0, 0, 1), *key, "other")
    partial = pick((0, 0, 0, 0, 0, 1), *key, "partial")
    correct = pick((5, 6, 6), *key, "correct") + pick((0, 0, 2), *key, "sure")
    correct = min(correct, REPEATS - other - partial)
    return {"CORRECT": correct, "PARTIALLY": partial, "OTHER": other, "INCORRECT": REPEATS - correct - other - partial}


def below(*key: object) -> dict[str, int]:
    """Counts of eight labels whose grade is one half at most."""
    other = pick((0, 0, 0, 1, 2), *key, "other")
    partial = pick((0, 0, 0, 0, 1), *key, "partial")
    correct = pick((0, 0, 0, 1, 2), *key, "correct")
    return {"CORRECT": correct, "PARTIALLY": partial, "OTHER": other, "INCORRECT": REPEATS - correct - other - partial}


def ungradable(*key: object) -> dict[str, int]:
    """Counts of eight labels with neither CORRECT nor INCORRECT."""
    partial = pick((0, 2, 5, 8), *key, "partial")
    return {"PARTIALLY": partial, "OTHER": REPEATS - partial}


def fact_counts(model: str, fact: int, profile: str) -> dict[tuple[str, bool], dict[str, int]]:
    """The label counts of a fact's ten grades, so that its profile comes out."""
    key = (SEED, model, fact)
    encoded, off, on = PATTERNS[profile]
    good = dict.fromkeys(GRADES, False)
    good |= some(ENCODING, False, encoded, at_least=1, key=key)
    good |= some(KNOWING, False, off, at_least=len(KNOWING), key=key)
    good |= some(KNOWING, True, on, at_least=len(KNOWING), key=key)
    counts = {grade: (above if good[grade] else below)(*key, *grade) for grade in GRADES}
    if profile == "not gradable":
        pair = pick(PAIRS, *key, "pair")
        counts |= {(kind, False): ungradable(*key, kind) for kind in pair}
    return counts


def some(
    kinds: tuple[str, ...], thinking: bool, wanted: bool, *, at_least: int, key: tuple[object, ...]
) -> dict[tuple[str, bool], bool]:
    """Which questions are answered well: at least so many where that is wanted, fewer where it is not."""
    order = shuffled(kinds, *key, thinking, "order")
    if wanted:
        number = at_least + int(uniform(*key, thinking, "more") * (len(kinds) - at_least + 1))
    else:
        number = int(uniform(*key, thinking, "fewer") * at_least)
    return {(kind, thinking): kind in order[:number] for kind in kinds}


def text_of(fact: int) -> tuple[str, str]:
    """The made-up place and year of a fact."""
    return f"{pick(HARBOURS, SEED, fact, 'place')} {fact}", str(1700 + int(uniform(SEED, fact, "year") * 250))


def question(fact: int, kind: str) -> tuple[str, str]:
    """Question and gold answer."""
    place, year = text_of(fact)
    texts = {
        "completion": (f"The harbour of {place} was opened in", year),
        "contextual": (f"Of the harbours on that coast, the one of {place} was opened in which year?", year),
        "direct": (f"In which year was the harbour of {place} opened?", year),
        "direct natural": (f"hey when did the {place} harbour open", year),
        "reverse": (f"Which harbour near no. {fact} was opened in {year}?", place),
        "reverse natural": (f"what harbour opened in {year} again, the one by no. {fact}", place),
    }
    return texts[kind]


def response(fact: int, gold: str, label: str, *key: object) -> str:
    """A made-up response that the label fits."""
    _, year = text_of(fact)
    if label == "CORRECT":
        return pick((gold, f"It was {gold}.", f"{gold}, as far as the records say."), *key)
    if label == "PARTIALLY":
        return f"In the {year[:3]}0s." if gold == year else "One of the harbours on that coast."
    if label == "OTHER":
        return str(pick(("I do not know.", "Harbours have a long history.", ""), *key))
    return f"It was {int(year) + 11}." if gold == year else f"{pick(HARBOURS, *key)} Sound"


def graded() -> Iterator[dict[str, Any]]:
    """Every response with the label of the first grader."""
    for model in SHARES:
        profiles = [name for name, count in profile_counts(model).items() for _ in range(count)]
        for fact, profile in enumerate(shuffled(profiles, SEED, model, "profiles"), start=1):
            for (kind, thinking), counts in fact_counts(model, fact, profile).items():
                asked, gold = question(fact, kind)
                labels = [label for label in LABELS for _ in range(counts.get(label, 0))]
                for repeat, label in enumerate(shuffled(labels, SEED, model, fact, kind, thinking), start=1):
                    key = (SEED, model, fact, kind, thinking, repeat)
                    yield {
                        "fact": f"F{fact:03d}",
                        "question_type": kind,
                        "question": f"[simulated] {asked}",
                        "gold": gold,
                        "model": model,
                        "thinking": thinking,
                        "repeat": repeat,
                        "response": response(fact, gold, label, *key),
                        "grader_1": label,
                    }


def simulated() -> Iterator[dict[str, Any]]:
    """Every response; on 4,159 of them a second grader, so that the two together give Figure 14."""
    second = _second_labels()
    for number, record in enumerate(graded()):
        yield record | ({"grader_2": second[number]} if number in second else {})


def _second_labels() -> dict[int, str]:
    """Position of a response to the second grader's label: drawn at random among those with the first one's label."""
    by_label: dict[str, list[int]] = {label: [] for label in LABELS}
    for number, record in enumerate(graded()):
        by_label[record["grader_1"]].append(number)
    second: dict[int, str] = {}
    for label, row in zip(LABELS, CONFUSION, strict=True):
        drawn = shuffled(by_label[label], SEED, "second grader", label)[: sum(row)]
        given = [name for name, count in zip(LABELS, row, strict=True) for _ in range(count)]
        second |= dict(zip(drawn, given, strict=True))
    return second


def grader_confusion(records: Iterator[Mapping[str, Any]]) -> Counter[tuple[str, str]]:
    """Pairs of labels where both graders spoke."""
    return Counter((record["grader_1"], record["grader_2"]) for record in records if "grader_2" in record)


if __name__ == "__main__":
    write(OUT, gzipped_lines(simulated()))
