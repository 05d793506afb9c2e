"""Run the command as users do, in a process of its own, without paying for its imports each time.

A process that has imported Pagekin and loaded its commonest kernels waits for commands and forks a child for each: the child
has its own folder, files, exit code and memory, as if it had been started anew. What looks at how the command starts (its
environment, signals, limits) starts it anew.
"""

import gc
import json
import os
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from pagekin.cli.verbs import VERBS, module_of
from pagekin.store.compiling import listed_kernels
from pagekin.store.kernel_types import read_signature

HERE = Path(__file__).resolve().parent.parent
PREPARED = ("engines", "collection", "similarity", "clusters", "labels", "text", "bags", "hypertext")
SECONDS = 300


def pagekin(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command; `cwd`, `input` and the width of a terminal reach the waiting process, all else starts Python anew."""
    environment = dict(options.get("env") or os.environ)
    changed = {name for name, _value in environment.items() ^ os.environ.items()}
    if options.keys() - {"cwd", "input", "env"} or changed - {"COLUMNS"}:
        return subprocess.run(
            [sys.executable, "-c", "from pagekin.cli import main; main()", *map(str, arguments)],
            **{"capture_output": True, "text": True, "timeout": SECONDS, "check": False, **options},
        )
    folder = Path(options.get("cwd") or Path.cwd())
    with tempfile.TemporaryDirectory() as said:
        files = [Path(said, name) for name in ("in", "out", "err")]
        files[0].write_text(options.get("input") or "", encoding="utf-8")
        code = _waiting_process().ask({
            "arguments": [*map(str, arguments)], "folder": str(folder), "files": [*map(str, files)],
            "environment": {name: environment[name] for name in environment.keys() - {"PYTEST_CURRENT_TEST"}},
        })  # fmt: skip
        out, err = (file.read_text(encoding="utf-8") for file in files[1:])
    return subprocess.CompletedProcess([*map(str, arguments)], code, out, err)


class _WaitingProcess:
    """A process that forks a child for each command, and ends with this one, as its input does."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from tests.command import serve; serve()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE,
        )  # fmt: skip

    def ask(self, request: dict[str, Any]) -> int:
        """Return the exit code of a command."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@cache
def _waiting_process() -> _WaitingProcess:
    return _WaitingProcess()


def serve() -> None:
    """Fork a child for each line of standard input; print its exit code."""
    for module in ("jinja2", "rich.console", "rich.progress", *map(module_of, VERBS)):
        import_module(module)
    for room in PREPARED:
        door = import_module(f"pagekin.{room}")
        for name in door.__all__:
            getattr(door, name)
    for kernel in listed_kernels():
        getattr(import_module(kernel.module), kernel.function).compile(read_signature(kernel.signature))
    os.fsync = lambda _file: None  # as in all tests
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if not child:
            _become_the_command(request)
        _child, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become_the_command(request: dict[str, Any]) -> None:
    """Run the command in this process, and end it."""
    code = 70
    try:
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        for target, (file, mode) in enumerate(zip(request["files"], ("r", "w", "w"), strict=True)):
            with Path(file).open(mode) as stream:
                os.dup2(stream.fileno(), target)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(number, "w" if number else "r", encoding="utf-8") for number in range(3)
        )
        sys.argv = ["pagekin", *request["arguments"]]
        from pagekin.cli import main

        main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
