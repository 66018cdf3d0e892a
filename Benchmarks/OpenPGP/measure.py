# SPDX-License-Identifier: Apache-2.0
"""Whole processes: wall time from start to end, processor time, and the largest resident set, as the kernel counts
them."""

import dataclasses
import os
import resource
import statistics
import time


@dataclasses.dataclass
class Figure:
    """Several runs of one command."""

    seconds: list
    peak_kib: int
    # The least processor time of a run.
    processor: float

    @property
    def best(self):
        return min(self.seconds)

    @property
    def median(self):
        return statistics.median(self.seconds)


class Failed(Exception):
    """A command did not end well."""


def run(arguments, source="/dev/null", target="/dev/null"):
    """Runs a command with files as input and output; returns (seconds, peak in KiB)."""
    return measured(arguments, source, target)[:2]


def measured(arguments, source="/dev/null", target="/dev/null"):
    """The same, and the processor time."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, source, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
    ]
    start = time.perf_counter()
    child = os.posix_spawnp(arguments[0], arguments, os.environ, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    if status:
        raise Failed(f"{' '.join(arguments[:3])}: exit {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_maxrss, usage.ru_utime + usage.ru_stime


def in_turn(commands, rounds):
    """Runs all of `commands` (name, then arguments of `run`) once a round, so that a change in the machine's
    load meets all alike. A command that fails is left out, and named."""
    seconds, peaks, processor, failed = {}, {}, {}, {}
    for _ in range(rounds):
        for name, arguments in commands.items():
            if name in failed:
                continue
            try:
                took, peak, busy = measured(*arguments)
            except (Failed, OSError) as error:
                failed[name] = str(error)
                continue
            seconds.setdefault(name, []).append(took)
            peaks[name] = max(peaks.get(name, 0), peak)
            processor[name] = min(processor.get(name, busy), busy)
    figures = {name: Figure(runs, peaks[name], processor[name]) for name, runs in seconds.items() if name not in failed}
    return figures, failed


def floor_mib():
    """A child's peak is counted from its parent's size: smaller ones cannot be told."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def text(seconds):
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds:.3f} s"
