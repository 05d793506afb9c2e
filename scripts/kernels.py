"""Makes src/pagekin/store/kernel_list.txt: the kernels that programs call, by which they can be compiled beforehand.

    python scripts/kernels.py [SOURCE...]

It runs commands on the demo web, on 200 pages of it, and on a site of three pages, which have narrower numbers, and builds the
sources besides. They are run until nothing is compiled any more; then only those kernels are loaded that a command calls by
itself: these are listed.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "src/pagekin/store/kernel_list.txt"
HEAD = """# Kernels that programs call: seconds to compile, module, function, types of the arguments. Made by scripts/kernels.py.
"""
RUN = r"""
import json, os, sys
from contextlib import redirect_stdout
from pathlib import Path
from pagekin.cli.app import app, load_verbs
from pagekin.sources import demo_pages
from pagekin.store import kernel_cache
from pagekin.store.kernel_types import signature_text

work, sources = Path(sys.argv[1]), sys.argv[3:]
compiled = []
kernel_cache.watchers.append(compiled.append)
load_verbs()


def run(*args):
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        try:
            app([str(arg) for arg in args], standalone_mode=False)
        except SystemExit as stop:
            assert not stop.code, args


(work / "site").mkdir()
for name, others in {"oak": "elm ash", "elm": "oak", "ash": "oak elm"}.items():
    links = " ".join(f"<a href={other}.html>the {other} tree</a>" for other in others.split())
    (work / "site" / f"{name}.html").write_text(f"<title>{name}</title><p>The {name} is a tree. See {links}.")
page = {"demo": "http://elements.example/carbon.html", "small": "http://localhost/oak.html"}
kins = {name: work / f"{name}.kin" for name in page}
for name, source in {"demo": "demo", "small": work / "site"}.items():
    kin = kins[name]
    run("build", source, "-o", kin, "-q", "--workers", 1)
    run("related", kin, page[name], "--json")
    run("related", kin, page[name], "--json", "--exact")
    run("neighbours", kin, "-o", work / "near.jsonl", "-q", "--workers", 1)
    run("duplicates", kin)
    run("search", kin, "tree", "--json")
# A site of a few hundred pages has long pages and few of them: numbers of both widths.
(work / "few").mkdir()
for number, one in zip(range(200), demo_pages()):
    (work / "few" / f"{number}.html").write_bytes(one.html)
run("build", work / "few", "-o", work / "few.kin", "-q", "--workers", 1)
run("related", work / "few.kin", "http://localhost/0.html", "--json")
run("search", work / "few.kin", "tree", "--json")
for number, source in enumerate(sources):
    run("build", source, "-o", work / f"{number}.kin", "-q", "--workers", 1)
(work / "more").mkdir()
(work / "more" / "yew.html").write_text("<title>yew</title><p>The yew is a tree. See <a href=oak.html>the oak tree</a>.")
for name, source in {"demo": "demo", "small": work / "site"}.items():
    living = work / f"{name}-living.kin"
    run("build", source, "-o", living, "-q", "--workers", 1, "--updatable")
    run("update", living, work / "more", "--base-url", page[name].rpartition("/")[0] + "/", "--delta", "-q", "--workers", 1)
    run("update", living, "--remove", page[name], "--delta", "-q", "--workers", 1)
run("index", kins["small"], "--preset", "haveliwala2002", "-q")
run("index", kins["demo"], "--preset", "haveliwala2002", "-q")
run("neighbours", kins["demo"], "-o", work / "near.jsonl", "-q", "--workers", 1)
run("cluster", kins["demo"], "--preset", "hypursuit1996", "--json")
run("build", "demo", "-o", work / "shards.kin", "-q", "--workers", 1, "--shards", 3)

run("evaluate", kins["demo"], "--directory", "url-path", "--json", "--no-cache", "--workers", 1)

from pagekin import web
from pagekin.routers import open_collection
from pagekin.routers.warm import warm
from pagekin.routers.router import Router

for kin in (*kins.values(), work / "shards.kin"):
    leaf = open_collection("demo", kin)
    warm([Router("top", {}), leaf])
    web.warm_pages(leaf)

called = {
    "\t".join((found.py_func.__module__, found.py_func.__name__, text)): found._cache.seconds.get(text, 0.0)
    for module in list(sys.modules) if "._kernels." in module
    for found in vars(sys.modules[module]).values() if hasattr(found, "overloads")
    for text in map(signature_text, found.overloads) if "Literal[" not in text  # such are called by kernels alone
}
Path(sys.argv[2]).write_text(json.dumps([len(compiled), called]))
"""


def main() -> None:
    """Write the list."""
    LIST.write_text(HEAD, encoding="utf-8")
    compiled, called = 1, {}
    while compiled:
        with tempfile.TemporaryDirectory() as folder:
            answer = Path(folder) / "answer.json"
            command = [sys.executable, "-c", RUN, folder, str(answer), *sys.argv[1:]]
            subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, check=True)
            compiled, called = json.loads(answer.read_text())
        sys.stdout.write(f"compiled {compiled} kernels\n")
    lines = [f"{seconds:.1f}\t{kernel}" for kernel, seconds in sorted(called.items())]
    LIST.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write(f"{LIST}: {len(lines)} kernels, {sum(called.values()):.0f} s\n")


if __name__ == "__main__":
    main()
