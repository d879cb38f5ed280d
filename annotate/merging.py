"""Merging several files: each on its own, so that one that is refused does not hold up the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from db.connection import is_pack
from db.errors import AnnotateError
from db.merge import Merged, merge_copy
from db.study import Study, open_study


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """A file of which nothing was taken in, and why."""

    source: str
    error: AnnotateError

    @property
    def code(self) -> int:
        return self.error.exit_code

    def as_json(self) -> dict[str, Any]:
        conflicts = [
            {"assignment": each.assignment, "item": each.item, "why": each.why}
            for each in getattr(self.error, "conflicts", ())
        ]
        return {
            "source": self.source,
            "reason": self.error.message,
            "hint": self.error.hint,
            "conflicts": conflicts,
        }

    def tell(self) -> None:
        """Say it to the side, with every conflict on a line of its own."""
        from annotate.console import notice

        notice(f"annotate: {self.error}")
        for each in getattr(self.error, "conflicts", ()):
            notice(f"  conflict: item {each.item}, assignment {each.assignment}: {each.why}")


@dataclass(slots=True)
class Merging:
    """What came of each file, in the order in which they were named."""

    merged: list[Merged] = field(default_factory=list)
    refused: list[RefusedFile] = field(default_factory=list)


def merge_files(study: Study, files: Sequence[Path], coders: Sequence[str], passphrase_file: Path | None) -> Merging:
    """Take in packs and copies of a study. Each comes in whole or is refused; nothing is raised for one of them."""
    found = Merging()
    done: dict[int, Merged] = {}
    wrong: dict[int, AnnotateError] = {}
    packs = {number for number, path in enumerate(files) if is_pack(path)}
    for number, path in enumerate(files):
        if number not in packs:
            try:
                with open_study(path, read_only=True) as copy:
                    done[number] = merge_copy(study, copy, coders=coders or None)
            except AnnotateError as error:
                wrong[number] = error
    _merge_packs(study, {number: files[number] for number in sorted(packs)}, coders, passphrase_file, done, wrong)
    found.merged = [done[number] for number in sorted(done)]
    found.refused = [RefusedFile(str(files[number]), wrong[number]) for number in sorted(wrong)]
    return found


def _merge_packs(
    study: Study,
    packs: dict[int, Path],
    coders: Sequence[str],
    passphrase_file: Path | None,
    done: dict[int, Merged],
    wrong: dict[int, AnnotateError],
) -> None:
    """Of several states of one pack the shortest comes first: then none of them is an older one."""
    if not packs:
        return
    from annotate.packing import passphrases
    from annotate.protocols import parse_protocol
    from db.coders import find_coder
    from db.pack_merge import merge_pack
    from db.pack_read import ReadPack, read_pack

    wanted = {find_coder(study.connection, name).uid for name in coders}
    ask = passphrases(passphrase_file)
    read: dict[int, ReadPack] = {}
    for number, path in packs.items():
        try:
            read[number] = read_pack(path, ask)
        except AnnotateError as error:
            wrong[number] = error
    for number in sorted(read, key=lambda each: (len(read[each].rows), each)):
        if wanted and read[number].content["coder"] not in wanted:
            continue
        try:
            done[number] = merge_pack(study, read[number], parse_protocol)
        except AnnotateError as error:
            wrong[number] = error
