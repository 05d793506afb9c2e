"""Ctrl-C is for this process alone while it starts others."""

import subprocess
import sys

# The tracker that multiprocessing starts with the first process unblocks the signal in this one.
STARTS_A_PROCESS = """
import multiprocessing, signal, subprocess, sys
from pagekin.store import hold_interrupts

def blocked():
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    with hold_interrupts():
        process = context.Process(target=print)
        process.start()
        assert blocked(), "while a process starts"
        child = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
        print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout.strip())
    assert not blocked(), "afterwards"
    process.join()
"""


def test_a_process_that_starts_does_not_hear_ctrl_c_and_this_one_does_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", STARTS_A_PROCESS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["True"]), done.stderr
