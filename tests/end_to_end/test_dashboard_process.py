"""The live numbers that another process computes for the dashboard's screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotate.board_process import DashboardApart
from annotate.dashboard import StudyDashboard
from db.errors import AnnotateError
from db.study import open_study


def test_another_process_says_the_same_and_close_ends_it(coded_study: Path) -> None:
    with open_study(coded_study) as study:
        apart = DashboardApart(study)
        here, there = StudyDashboard(study).live(), apart.live()
        assert there.facts == here.facts and there.sections == here.sections
        assert any("percent" in line.name for line in there.sections[0].lines)
        process = apart._process
        apart.close()
        assert process is not None and not process.is_alive()

        assert apart.live().facts == here.facts  # a new one is begun
        assert apart._process is not None
        apart._process.kill()
        apart._process.join()
        with pytest.raises(AnnotateError, match="has ended"):
            apart.live()
        apart.close()


def test_nobody_has_looked_where_nothing_is_to_be_looked_at(coded_study: Path) -> None:
    with open_study(coded_study) as study:
        apart = DashboardApart(study, blind=True)
        assert apart.live().sections[0].note == "Not looked at." and apart._process is None
        apart.close()
