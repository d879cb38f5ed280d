"""The `annotate` command: start, top-level errors, exit codes. Nothing else writes a diagnostic to stderr.

Exit codes: 0 done, 1 the answer is no, 2 bad input, 70 a fault of ours, 130 interrupted.
"""

from __future__ import annotations

import errno
import gc
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path

PACKAGES = ("annotate", "agreement", "db", "tui")
FAULT = 70
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line in this process and exit with its code."""
    gc.disable()  # loading makes much and frees little; a command turns it on when it is loaded
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; every error becomes one line, never a traceback."""
    clash = foreign_package()
    if clash:  # said without the packages that it is about
        print(f"annotate: {clash}", file=sys.stderr)
        return 2
    try:
        import click

        from annotate.cli import cli
        from db.errors import AnnotateError
    except ImportError as error:
        return _damaged(error)
    try:
        result = cli.main(args=list(arguments), prog_name="annotate", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _say("Stopped. What was saved is saved.", code=INTERRUPTED)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "annotate"
        return _say(error.format_message(), f"See '{where} --help'.", code=2)
    except click.ClickException as error:
        return _say(error.format_message(), code=2)
    except AnnotateError as error:
        return _say(error.message, error.hint, code=error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ImportError as error:
        return _damaged(error) if (error.name or "").partition(".")[0] in PACKAGES else _other(error, arguments)
    except Exception as error:
        return _other(error, arguments)


def foreign_package() -> str:
    """Say which of our packages another distribution has put in front of ours, or return ''."""
    home = Path(__file__).resolve().parent.parent
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        found = Path(spec.origin).resolve().parent if spec and spec.origin else None
        if found is None or found.parent != home:
            where = found or "nowhere"
            return (
                f"The package '{name}' comes from {where}, not from annotate ({home}): another distribution has the "
                "same package name. Install annotate-judge in an environment of its own (pipx install does that)."
            )
    return ""


def _damaged(error: ImportError) -> int:
    """A package of ours, or one that every command needs, lacks a part: said with nothing but the standard library."""
    print(
        f"annotate: This installation is not whole: {error}. Another distribution may have written over a "
        "package of the same name. Install annotate-judge anew, in an environment of its own (pipx does).",
        file=sys.stderr,
    )
    return 2


def _other(error: Exception, arguments: Sequence[str]) -> int:
    """Errors of the numbers, of a missing extra, and faults of ours."""
    from annotate.extras import missing_extra
    from annotate.faults import crash_log, study_fault

    agreement_errors = sys.modules.get("agreement.errors")
    if agreement_errors is not None and isinstance(error, agreement_errors.AgreementError):
        return _say(str(error), code=2)
    if isinstance(error, ModuleNotFoundError) and (extra := missing_extra(error.name or "")):
        return _say(extra, code=2)
    if told := study_fault(error, arguments):
        return _say(told.message, told.hint, code=told.exit_code)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left in the buffer would fail again at exit
        return _say(f"{error.filename or 'Writing'}: {error.strerror}.", "Make room, then run it again.", code=2)
    if isinstance(error, OSError) and error.filename:
        return _say(f"{error.filename}: {error.strerror or type(error).__name__}.", code=2)
    if os.environ.get("ANNOTATE_DEBUG"):
        raise error
    return _say(
        f"A fault in annotate ({type(error).__name__}).",
        f"Nothing that was saved is lost. Details: {crash_log(error, arguments)}",
        code=FAULT,
    )


def _say(message: str, hint: str = "", *, code: int) -> int:
    from annotate.console import visible

    print(visible(f"annotate: {message} {hint}".rstrip()), file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
