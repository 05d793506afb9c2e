"""A Spark cluster of this machine for tests: a master and two workers, each a process of its own, and an object store."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from pagekin.store import Progress

JAVA_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Quick to start."""
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false",
    "spark.driver.memory": "512m", "spark.executor.memory": "512m", "spark.executor.cores": "1", "spark.cores.max": "2",
    "spark.driver.extraJavaOptions": JAVA_OPTIONS, "spark.executor.extraJavaOptions": JAVA_OPTIONS,
    "spark.ui.showConsoleProgress": "false", "spark.locality.wait": "0", "spark.log.level": "ERROR",
    # Nothing is generated and compiled for stages that run once.
    "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}  # fmt: skip


def require_java() -> None:
    """Skip tests where there is no Java; where all that tests need is required, that is a failure."""
    home = os.environ.get("JAVA_HOME", "")
    if not shutil.which("java") and not (home and (Path(home) / "bin" / "java").exists()):
        pytest.skip("no Java runtime: the tests of the Spark engine need Java 17 or newer")


class _Daemon:
    """A master or a worker."""

    def __init__(self, arguments: list[str], environment: dict[str, str], ready: str) -> None:
        import pyspark

        spark = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self.process = subprocess.Popen(
            [str(spark), *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        assert self.process.stderr is not None
        said: list[str] = []
        found = None
        for line in self.process.stderr:
            said.append(line)
            if found := re.search(ready, line):
                break
        assert found, "".join(said)
        self.ready = found[0]
        self._drain = threading.Thread(target=self.process.stderr.read, daemon=True)
        self._drain.start()

    def kill(self) -> None:
        """Kill it as kill -9 does, with the executors that it started."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._drain.join()
        assert self.process.stderr is not None
        self.process.stderr.close()


class SparkCluster:
    """A master, two workers and a session."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None, start_session: bool = True) -> None:
        self.folder, self._settings, self._start_session = folder, {**SETTINGS, **(settings or {})}, start_session
        self._environment = {
            **os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost", "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": JAVA_OPTIONS, "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
            "SPARK_LOCAL_DIRS": str(folder / "local"), "PYSPARK_PYTHON": sys.executable,
        }  # fmt: skip
        self._ends = ExitStack()
        self._workers: list[_Daemon] = []

    def __enter__(self) -> Self:
        with self._ends:
            for name in ("SPARK_LOCAL_IP", "SPARK_LOCAL_HOSTNAME", "PYSPARK_PYTHON"):
                os.environ[name] = self._environment[name]
            arguments = [
                "org.apache.spark.deploy.master.Master",
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--webui-port",
                "0",
            ]
            master = _Daemon(arguments, self._environment, r"spark://127\.0\.0\.1:\d+")
            self._ends.callback(master.kill)
            self.master = master.ready
            self.start_worker()
            self.start_worker()
            self._ends.callback(self._kill_workers)
            if self._start_session:
                self._ends.callback(self._begin_session().stop)
            self._ends = self._ends.pop_all()
        return self

    def _begin_session(self) -> Any:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(self.master).appName("tests")
        for name, value in self._settings.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()

    def start_worker(self) -> None:
        """Start a worker, which joins the cluster."""
        arguments = [
            "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0",
            "--work-dir", str(self.folder / "work"), self.master,
        ]  # fmt: skip
        self._workers.append(_Daemon(arguments, self._environment, "Successfully registered with master"))

    def worker_processes(self) -> list[int]:
        """Return the processes of the workers."""
        return [worker.process.pid for worker in self._workers]

    def _kill_workers(self) -> None:
        while self._workers:
            self.kill_worker()

    def kill_worker(self) -> None:
        """Kill the worker that was started first, with all that it does."""
        self._workers.pop(0).kill()

    def kill_workers_at(self, *stages: str) -> tuple[Progress, list[str]]:
        """Return a progress that replaces a worker by another in each of these stages, and the stages in which it did."""
        killed: list[str] = []

        def kill(stage: str, _share: float) -> None:
            if stage in stages and stage not in killed:
                killed.append(stage)
                self.kill_worker()
                self.start_worker()

        return kill, killed

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.close()


@contextmanager
def object_store() -> Iterator[str]:
    """Run an object store; the environment says where it is. Give the address of a bucket in it."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patched:
        for name, value in settings.items():
            patched.setenv(name, value)
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="crawl")
        yield "s3://crawl"
    server.stop()
