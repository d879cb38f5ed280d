"""A Spark standalone cluster on the loopback: one master and two workers, processes of their own, as in a lab."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Cluster:
    """``workers`` lead process groups of their own, in which their executors run too."""

    address: str
    master: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def kill_worker(self) -> None:
        """SIGKILL to a worker and all that it has started."""
        os.killpg(self.workers[0].pid, signal.SIGKILL)
        self.workers[0].wait()

    def stop(self) -> None:
        for process in (*self.workers, self.master):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def start_cluster(folder: Path, workers: int = 2) -> Cluster:
    """Start it and wait until the master takes connections and every worker is registered."""
    import pyspark

    home = Path(pyspark.__file__).parent
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    environment = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOG_DIR": str(folder),
        "SPARK_LOCAL_DIRS": str(folder),  # what a killed worker leaves goes with the folder
    }

    def spawn(name: str, *words: str) -> subprocess.Popen[bytes]:
        with (folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [str(home / "bin" / "spark-class"), *words],
                env=environment, stdout=log, stderr=log, cwd=folder, start_new_session=True,
            )  # fmt: skip

    master = spawn(
        "master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port),
        "--webui-port", str(free_port()),
    )  # fmt: skip
    cluster = Cluster(address, master)
    _wait(lambda: "Starting Spark master" in _log(folder, "master"), "master", folder)
    for number in range(workers):
        name = f"worker-{number}"
        more = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", str(free_port())]
        where = ["-d", str(folder / name), address]
        cluster.workers.append(spawn(name, "org.apache.spark.deploy.worker.Worker", *more, *where))
    for number in range(workers):
        name = f"worker-{number}"
        _wait(lambda name=name: "Successfully registered" in _log(folder, name), name, folder)  # type: ignore[misc]
    return cluster


def _log(folder: Path, name: str) -> str:
    return (folder / f"{name}.log").read_text("utf-8", "replace")


def _wait(ready, name: str, folder: Path, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(f"{name} did not start:\n{_log(folder, name)[-2000:]}")
        time.sleep(0.1)
