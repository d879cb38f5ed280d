"""Where a study may lie: its folder of side files, and the places where SQLite would lose labels.

WAL needs shared memory between all processes that write, which network file systems do not give; a sync client
copies the file and its log at different moments and 'resolves' conflicts by keeping one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from db.faults import ReadOnlyStudy, UnsafePlace

_NETWORK = (
    "nfs nfs3 nfs4 cifs smb smb2 smb3 smbfs afpfs afs ncpfs ceph glusterfs lustre gpfs beegfs pvfs2 orangefs davfs"
    " vboxsf prl_fs"
)
_FUSE = "sshfs davfs davfs2 rclone gvfsd-fuse glusterfs ceph s3fs gcsfuse juicefs google-drive-ocamlfuse onedriver"
NETWORK_TYPES = frozenset(_NETWORK.split()) | {f"fuse.{name}" for name in _FUSE.split()}
SYNC_FOLDERS = (
    "onedrive",
    "dropbox",
    "google drive",
    "googledrive",
    "my drive",
    "icloud drive",
    "iclouddrive",
    "com~apple~clouddocs",
    "mobile documents",
    "cloudstorage",
    "nextcloud",
    "owncloud",
    "box sync",
    "pcloud drive",
    "synologydrive",
    "syncthing",
)
INSTEAD = (
    "Keep it on a local disk. For coders on other machines, 'annotate pack' makes a file for each, to be copied to a "
    "local disk there; 'annotate merge' brings their labels together."
)


def side_folder(path: Path, *, create: bool = True) -> Path:
    """``STUDY.d`` beside the study: locks, unsent notes, backups and crash logs. Only its owner may read it."""
    folder = path.with_name(path.name.removesuffix(".db") + ".d")
    if create:
        private_folder(folder)
    return folder


def private_folder(folder: Path) -> Path:
    """Make a folder that only its owner may read, unless it is there. Raises ReadOnlyStudy."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ReadOnlyStudy(f"{folder}: cannot be made ({error.strerror}).", "Make its folder writable.") from error
    return folder


def check_place(path: Path, mounts: str | None = None) -> None:
    """Raise UnsafePlace where ``path`` lies on a network file system or in a sync folder. ``mounts``: a mount table."""
    sync = sync_folder(path)
    if sync is not None:
        raise UnsafePlace(f"{path}: lies in a sync folder ({sync}), which can lose labels.", INSTEAD)
    network = network_type(path, mounts)
    if network is not None:
        raise UnsafePlace(f"{path}: lies on a network file system ({network}), which can lose labels.", INSTEAD)


def sync_folder(path: Path) -> str | None:
    """The folder on the way to ``path`` whose name is that of a sync service, or None."""
    for part in path.parent.parts:
        name = part.lower()
        if any(name == known or name.startswith((f"{known} -", f"{known}-", f"{known} (")) for known in SYNC_FOLDERS):
            return part
    return None


def network_type(path: Path, mounts: str | None = None) -> str | None:
    """The type of the network file system that holds ``path``; None for a local disk, or where it cannot be told."""
    if os.name == "nt":
        return _windows_share(path)
    table = _mount_table() if mounts is None else mounts
    best, kind = "", ""
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = _unescape(fields[1])
        if len(point) >= len(best) and path.is_relative_to(point):
            best, kind = point, fields[2]
    return kind if kind in NETWORK_TYPES else None


def _unescape(text: str) -> str:
    """/proc/mounts writes space, tab, newline and backslash as octal."""
    for code, character in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        text = text.replace(code, character)
    return text


def _mount_table() -> str:
    if sys.platform == "darwin":
        return _darwin_mounts()
    try:
        return Path("/proc/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _darwin_mounts() -> str:
    """``mount`` on macOS prints 'DEVICE on POINT (TYPE, options)'; give it the shape of /proc/mounts."""
    import subprocess

    try:
        told = subprocess.run(["/sbin/mount"], capture_output=True, text=True, timeout=5, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    rows = []
    for line in told.splitlines():
        device, _, rest = line.partition(" on ")
        point, _, options = rest.rpartition(" (")
        kind = options.split(",")[0].rstrip(")")
        rows.append(" ".join((device.replace(" ", "_"), point.replace(" ", "\\040"), kind)))
    return "\n".join(rows)


def _windows_share(path: Path) -> str | None:
    if str(path).startswith("\\\\"):
        return "network share"
    import ctypes

    remote = 4  # DRIVE_REMOTE
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 (there only on Windows)
    return "network drive" if kernel.GetDriveTypeW(path.anchor) == remote else None
