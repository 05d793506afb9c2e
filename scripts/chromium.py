"""Finds a Chromium for the tests that need a browser, and installs one where that may be done.

`python scripts/chromium.py` prints where it is; with `--install` it first gets one if there is none.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

# The headless shell is the same browser without windows. It takes a third less of the processor.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = ("Google Chrome.app/Contents/MacOS/Google Chrome", "Chromium.app/Contents/MacOS/Chromium")
HINT = (
    "No Chromium was found, so the tests in a browser will be skipped. Install one (Debian: sudo apt-get install chromium; "
    "macOS: .venv/bin/python -m playwright install chromium), or name one: PAGEKIN_CHROMIUM=/path/to/chrome"
)


def find_chromium() -> str:
    """The path of a Chromium: as PAGEKIN_CHROMIUM says, on the PATH, among macOS' applications, or playwright's own."""
    if named := os.environ.get("PAGEKIN_CHROMIUM", ""):
        return shutil.which(named) or ""
    found = next((path for name in NAMES if (path := shutil.which(name))), "")
    if not found:
        folders = (Path("/Applications"), Path.home() / "Applications")
        found = next((str(folder / app) for folder in folders for app in MAC if (folder / app).exists()), "")
    return found or _downloaded()


def _downloaded() -> str:
    """The browser that playwright has downloaded, if it has."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        return ""
    try:
        with sync_playwright() as playwright:
            path = playwright.chromium.executable_path
    except Error:
        return ""
    return path if Path(path).exists() else ""


def install() -> bool:
    """Install a Chromium, if this user may without being asked for a password."""
    ways: list[list[str]] = []
    if shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
        install = ["apt-get", "install", "-y", "-q", "--no-install-recommends"]
        ways = [[*install, "chromium-headless-shell"], [*install, "chromium"]]  # older releases have only the second
    elif sys.platform == "darwin":
        ways = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if ways:
        _say("Installing Chromium, for the tests in a browser")
    failures = []
    for command in ways:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not done.returncode:
            return True
        failures.append(f"{' '.join(command)} failed: {done.stderr.strip()[-500:]}")
    for failure in failures:
        _say(failure)
    return False


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> int:
    """Print where a Chromium is, or say what to do."""
    found = find_chromium()
    if not found and "--install" in sys.argv[1:] and install():
        found = find_chromium()
    if not found:
        _say(HINT)
        return 1
    sys.stdout.write(f"{found}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
