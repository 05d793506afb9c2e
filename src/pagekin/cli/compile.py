"""`pagekin compile`: compile all code now instead of at first use."""

from typing import Annotated

import typer

from pagekin import store
from pagekin.cli.app import app, say


@app.command("compile")
def compile_code(
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 means one per core.")] = 0,
) -> None:
    """Compile all code for this machine now. Otherwise the first build does; platform wheels contain compiled code."""
    compiled = store.compile_kernels(workers)
    missing = len(store.missing_kernels())
    if missing:
        say(f"{missing} kernels could not be compiled or cached; they will be compiled when they are needed.")
    else:
        say(f"Compiled {compiled} kernels." if compiled else "All kernels are compiled.")
