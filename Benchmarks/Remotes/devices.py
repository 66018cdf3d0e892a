# SPDX-License-Identifier: Apache-2.0
"""What has no peer: several devices that each have messages of their own, and the restore of a large account."""

import os
import sys

import engines
import mails

HEAD = "| | coffer | requests | target |\n|---|---|---|---|"
SECONDS = 60
LARGE_SECONDS = 120
# Above what the import of the same messages takes.
LARGE_BYTES = 64 << 20


def shown(coffer, home):
    """How many messages a device shows."""
    return coffer.said("--home", home, "message", "list", *coffer.opening).count("\n")


def exchange(place, folder, command, count, each, missed):
    """Devices with messages of their own, until all of them show all."""
    coffer = engines.Coffer(command, folder, place)
    try:
        requests = engines.Requests(place.engine)
        homes = [coffer.env["COFFER_HOME"]]
        for device in range(1, count):
            homes.append(os.path.join(folder, f"device{device}"))
            coffer.restore(home=homes[-1])
        for device, home in enumerate(homes):
            mbox = os.path.join(folder, "mbox")
            mails.write_mbox(mbox, each, device)
            coffer.run("--home", home, "message", "import", "mbox", mbox, *coffer.opening)
        requests.take()
        seconds, rounds, lost = 0.0, 0, 1
        while lost and rounds < 5:
            rounds += 1
            seconds += sum(coffer.run("--home", home, "sync", *coffer.opening) for home in homes)
            lost = sum(count * each - shown(coffer, home) for home in homes)
        if lost:
            sys.exit(f"bench: {lost} messages are missing on {count} devices")
        verdict = f"{SECONDS} s" + (", MISSED" if seconds > SECONDS else "")
        name = f"{count} devices of {each:,} messages each, all to all in {rounds} rounds"
        if seconds > SECONDS:
            missed.append(f"{place.engine}: {name}")
        print(f"| {name} | {seconds:,.1f} s | {requests.take()} | {verdict} |", flush=True)
    finally:
        coffer.lock()


def large(place, folder, command, count, missed):
    """The restore of many messages from a folder."""
    coffer = engines.Coffer(command, folder, place)
    try:
        mbox = os.path.join(folder, "mbox")
        mails.write_mbox(mbox, count, 0)
        _, import_bytes = coffer.measured("message", "import", "mbox", mbox)
        os.unlink(mbox)
        sent_seconds, sent_bytes = coffer.measured("sync")
        seconds, restored_bytes = coffer.measured(*coffer.restoring(coffer.second))
        if shown(coffer, coffer.second) != count:
            sys.exit("bench: not all messages came back")
        limits = f"{LARGE_SECONDS} s, {LARGE_BYTES >> 20} MiB above the import"
        is_missed = seconds > LARGE_SECONDS or restored_bytes > import_bytes + LARGE_BYTES
        if is_missed:
            missed.append(f"restore of {count:,}")
        memory = f"{restored_bytes >> 20} MiB (import {import_bytes >> 20} MiB)"
        print(f"| {count:,} messages, first upload | {sent_seconds:,.1f} s, {sent_bytes >> 20} MiB | | |")
        print(f"| restore of {count:,} | {seconds:,.1f} s, {memory} | | {limits}{', MISSED' if is_missed else ''} |")
    finally:
        coffer.lock()
