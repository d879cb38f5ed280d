"""annotate demo: open a sample study."""

from __future__ import annotations

from pathlib import Path

import click

from annotate.commands.options import example, json_option


@click.command(epilog=example("annotate demo", "annotate demo --lead", "annotate demo --dir . --json"))
@click.option("--lead", is_flag=True, help="The other side: a study with its real coders and judges, and its report.")
@click.option(
    "--dir", "folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Where to keep it."
)
@click.option("--fresh", is_flag=True, help="Start anew; the study that is there is put aside.")
@click.option("--plain", is_flag=True, help="Line by line instead of a full screen.")
@json_option
def demo(lead: bool, folder: Path | None, fresh: bool, plain: bool, as_json: bool) -> None:
    """Open a sample study.

    Makes a private copy of the EHQ sample study (real responses of a small model; nothing is sent anywhere) and opens
    it in the coding screen. Run it again to go on where you stopped. With --json nothing is opened: the study is made,
    and its path printed.
    """
    from annotate.console import emit_json, notice
    from annotate.demonstration import CODER, analysis_study, coding_study, demo_folder

    place = demo_folder() if folder is None else folder
    place.mkdir(parents=True, exist_ok=True)
    if as_json:
        path, made = (analysis_study if lead else coding_study)(place, fresh=fresh)
        emit_json({"study": str(path), "made": made, "coder": None if lead else CODER})
        return
    if lead:
        from annotate.tour import lead_tour

        lead_tour(*analysis_study(place, fresh=fresh))
        return
    from annotate.coding import run_session

    path, made = coding_study(place, fresh=fresh)
    notice(f"{'Made' if made else 'Going on with'} the sample study {path}")
    run_session(path, CODER, plain=plain)
    click.echo(f"Your labels are in {path}. See them with: annotate status {path}")
