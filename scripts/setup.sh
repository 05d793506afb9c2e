#!/bin/sh
# Makes .venv and installs Pagekin into it: `setup.sh core`, `setup.sh dev` or `setup.sh bench`.
# Does nothing, and needs no network, when pyproject.toml has not changed since the last time.
set -eu
cd "$(dirname "$0")/.."
want="${1:-core}"

# A stamp names what was installed and for which pyproject.toml; dev includes core, bench includes dev.
sum=$(cksum < pyproject.toml | tr ' ' '-')
satisfied() {
    case "$want" in
        core) [ -e ".venv/.core-$sum" ] || [ -e ".venv/.dev-$sum" ] || [ -e ".venv/.bench-$sum" ] ;;
        dev) [ -e ".venv/.dev-$sum" ] || [ -e ".venv/.bench-$sum" ] ;;
        bench) [ -e ".venv/.bench-$sum" ] ;;
        *) echo "setup.sh: unknown set '$want'; one of core, dev, bench" >&2; exit 2 ;;
    esac
}
# The tests visit pages in a browser: one that is there, or one that may be installed. It is looked for once; where
# there was none, what to do is said again each time.
browser() {
    if [ "$want" = core ] || [ -e .venv/.browser ]; then return; fi
    if [ -e .venv/.no-browser ]; then found=$(.venv/bin/python scripts/chromium.py) || return 0
    else found=$(.venv/bin/python scripts/chromium.py --install) || { touch .venv/.no-browser; return 0; }
    fi
    rm -f .venv/.no-browser
    echo "$found" > .venv/.browser
}
# The tests of the Spark engine need a Java runtime: the one that there is, or one that may be installed.
java_runtime() {
    if [ "$want" = core ] || [ -n "${JAVA_HOME:-}" ] || java -version >/dev/null 2>&1; then return; fi
    if [ ! -e .venv/.no-java ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "Installing a Java runtime, for the tests of the Spark engine"
        if apt-get update -q >/dev/null && apt-get install -y -q --no-install-recommends default-jre-headless >/dev/null
        then return; fi
        touch .venv/.no-java
    fi
    echo "No Java runtime was found, so the tests of the Spark engine will be skipped. Install Java 17 or newer" >&2
    echo "(Debian: sudo apt-get install default-jre-headless; macOS: brew install openjdk), or set JAVA_HOME." >&2
}
programs() { browser; java_runtime; }
if satisfied && [ -x .venv/bin/pagekin ]; then programs; exit 0; fi

python=""
for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python; do
    if command -v "$candidate" >/dev/null 2>&1 &&
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        python="$candidate"
        break
    fi
done
if [ -z "$python" ]; then
    echo "Pagekin needs Python 3.11 or newer, and found none. Install one (Debian: apt-get install python3" >&2
    echo "python3-venv; macOS: brew install python), or name one: make setup PYTHON=/path/to/python3.12" >&2
    exit 1
fi

if [ ! -x .venv/bin/python ] || ! .venv/bin/python -c 'import pip' >/dev/null 2>&1; then
    echo "Making .venv with $($python --version)"
    rm -rf .venv
    if ! $python -m venv .venv >/tmp/pagekin-venv.$$ 2>&1; then
        rm -rf .venv
        # Debian keeps venv in a package of its own.
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
            echo "This Python lacks venv: installing Debian's python3-venv"
            apt-get update -q >/dev/null && apt-get install -y -q python3-venv >/dev/null
            $python -m venv .venv
        else
            cat /tmp/pagekin-venv.$$ >&2
            rm -f /tmp/pagekin-venv.$$
            echo "Could not make a virtual environment. On Debian: sudo apt-get install python3-venv" >&2
            exit 1
        fi
    fi
    rm -f /tmp/pagekin-venv.$$
fi

# Where the system installs programs, it does so while Python packages arrive. Elsewhere one of these packages may install them.
programs_process=""
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then programs & programs_process=$!; fi
echo "Installing Pagekin ($want) into .venv"
case "$want" in core) extras="" ;; dev) extras="[dev]" ;; bench) extras="[dev,bench]" ;; esac
# uv installs several times faster than pip; where it cannot be had, pip does the same.
if .venv/bin/python -m uv --version >/dev/null 2>&1 || .venv/bin/python -m pip install -q uv >/dev/null 2>&1; then
    .venv/bin/python -m uv pip install -q --compile-bytecode --python .venv/bin/python -e ".$extras" ||
        .venv/bin/python -m pip install -q -e ".$extras"
else
    .venv/bin/python -m pip install -q -e ".$extras"
fi
# A command answers twice as fast when nothing has to be compiled first, also where Python may not write bytecode.
.venv/bin/python -m compileall -q src >/dev/null 2>&1 || true
rm -f .venv/.core-* .venv/.dev-* .venv/.bench-*
touch ".venv/.$want-$sum"
if [ -n "$programs_process" ]; then wait "$programs_process"; else programs; fi
if [ "$want" = core ]; then
    echo "Done. Run .venv/bin/pagekin --help, or add related pages and search to a site: .venv/bin/pagekin site FOLDER"
    echo "The first command that builds compiles Pagekin's code for about a minute, only once; '.venv/bin/pagekin compile'"
    echo "does that now."
fi
