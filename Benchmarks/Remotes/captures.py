# SPDX-License-Identifier: Apache-2.0
"""Captures of 8 MiB: their first upload, and all of them on a second device, beside restic and rclone with the same files.

restic encrypts as Coffer does; rclone copies the files as they are. Captures are signed and sealed when they are added, before
anything is measured."""

import json
import os
import random
import shutil
import subprocess
import sys

import engines

BYTE_COUNT = 8 << 20
# Of the faster peer's speed.
TARGET = 0.9
HEAD = "| | coffer | requests | restic | requests | rclone | requests | target |\n|---|---|---|---|---|---|---|---|"


def write(folder, count):
    """Writes pictures of 8 MiB that differ, of noise behind a small one: nothing can be compressed or found twice."""
    os.makedirs(folder)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "sample-photo")
    picture = os.path.join(folder, "0.png")
    subprocess.run([script, picture], check=True)
    with open(picture, "rb") as file:
        head = file.read()
    draws = random.Random(1)
    for number in range(count):
        with open(os.path.join(folder, f"{number}.png"), "wb") as file:
            file.write(head + draws.randbytes(BYTE_COUNT - len(head)))


def sizes(folder):
    """The lengths of all files below a folder, in order."""
    return sorted(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names)


def measure(place, folder, command, count, missed):
    """Both rows of one place. What is missed is added to `missed`."""
    files, back = os.path.join(folder, "files"), os.path.join(folder, "back")
    write(files, count)
    coffer = engines.Coffer(command, folder, place)
    try:
        for name in os.listdir(files):
            coffer.run("capture", "add", os.path.join(files, name))
        restic = engines.Restic(folder, place, coffer.env)
        rclone = Rclone(folder, place, coffer.env)
        requests = engines.Requests(place.engine)

        def row(name, ours, restics, rclones):
            # What the one before has left to be written is not for the next one to wait for.
            cells = []
            for action in (ours, restics, rclones):
                os.sync()
                cells.append(requests.of(action))
            best = min(seconds for seconds, _ in cells[1:])
            is_missed = cells[0][0] * TARGET > best
            if is_missed:
                missed.append(f"{place.engine}: {name}")
            speed = f"{best / cells[0][0]:.2f} of the faster, at least {TARGET}" + (", MISSED" if is_missed else "")
            shown = " | ".join(f"{1000 * seconds:,.0f} ms | {made}" for seconds, made in cells)
            print(f"| {name} | {shown} | {speed} |", flush=True)

        def taken_back(action):
            """An action after which the files are in `back`."""
            def act():
                seconds = action(back)
                if sizes(back) != sizes(files):
                    sys.exit("bench: not all files came back")
                shutil.rmtree(back)
                return seconds
            return act

        what = f"{count * BYTE_COUNT >> 20:,} MiB of captures of 8 MiB"
        row(f"{what}, first upload", lambda: coffer.run("sync"), lambda: restic.back_up(files), lambda: rclone.copy(files))
        row("all of them on a second device", lambda: coffer.restore("--captures", "all"), taken_back(restic.restore),
            taken_back(rclone.copy_back))
        listed = coffer.said("--home", os.path.join(folder, "second"), "capture", "list", "--json", *coffer.opening)
        here = [line for line in listed.splitlines() if json.loads(line)["here"]]
        if len(here) != count:
            sys.exit(f"bench: the second device has {len(here)} of {count} captures")
        rclone.purge()
    finally:
        coffer.lock()


class Rclone:
    """rclone with a folder of its own at the same place."""

    def __init__(self, folder, place, env):
        self.target = place.rclone
        self.env = dict(env, RCLONE_CONFIG=os.path.join(folder, "rclone.conf"), **place.env)
        # It ends when this names further authorities; nothing here needs any.
        self.env.pop("AWS_CA_BUNDLE", None)
        with open(self.env["RCLONE_CONFIG"], "w", encoding="utf-8"):
            pass

    def copy(self, files):
        return engines.run(["rclone", "copy", files, self.target], self.env)

    def copy_back(self, target):
        return engines.run(["rclone", "copy", self.target, target], self.env)

    def purge(self):
        """Removes what it copied."""
        engines.run(["rclone", "purge", self.target], self.env)
