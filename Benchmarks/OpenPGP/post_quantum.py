# SPDX-License-Identifier: Apache-2.0
"""What post-quantum keys cost beside classical ones of ours: time of whole commands, and octets.

The commands of a pair run in turn, and their least processor time counts: other work on the machine changes that
least."""

import os

import contestants
import measure

CLASSICAL, POST_QUANTUM = "security", ["pqc", "pqc-high"]
ALL = ["compatibility", CLASSICAL, *POST_QUANTUM, "slh-dsa-128s", "slh-dsa-128f", "slh-dsa-256s"]
LARGE_FACTOR = 1.03
SMALL_SECONDS = 0.002


class Binary(contestants.Stateless):
    """Without armor, whose time and size grow with what it wraps."""

    def __init__(self, command, folder, profile):
        super().__init__(profile, command, folder, ["--no-armor", f"--profile={profile}"])

    def certificate(self):
        return contestants.made(
            self.path("certificate"), [self.command, "extract-cert", "--no-armor"], self.path("key"))


def compare(command, folder, big, small, rounds, report):
    """Both tables; misses go to the report."""
    classical = Binary(command, folder, CLASSICAL)
    for profile in POST_QUANTUM:
        pair = [classical, Binary(command, folder, profile)]
        report.line(f"\n### {profile} beside {CLASSICAL}: least processor time, peak\n")
        report.line(f"| | {CLASSICAL} | {profile} | |\n|---|---|---|---|")
        for data, operations, count in (
                (big, ["encrypt", "decrypt"], rounds),
                (small, ["sign", "verify", "encrypt", "decrypt"], 10 * rounds)):
            commands = {one.name: one.commands(data) for one in pair}
            size = f"{os.path.getsize(data) >> 10} KiB" if data == small else f"{os.path.getsize(data) >> 20} MiB"
            for operation in operations:
                figures, _ = measure.in_turn({name: made[operation] for name, made in commands.items()}, count)
                ours, theirs = figures[profile], figures[CLASSICAL]
                limit = theirs.processor + SMALL_SECONDS if data == small else LARGE_FACTOR * theirs.processor
                name = f"{operation}, {size}"
                verdict = report.verdict(f"{profile}: {name}", ours.processor, limit, measure.text)
                report.line(f"| {name} | {cell(theirs)} | {cell(ours)} | {verdict} |")
    sizes(command, folder, small, report)


def cell(figure):
    return f"{measure.text(figure.processor)}, {figure.peak_kib / 1024:.0f} MiB"


def sizes(command, folder, data, report):
    """Octets. The certificate has one user ID and one subkey; a detached signature is one packet."""
    report.line("\n### Octets\n\n| profile | secret key | certificate | signature | PKESK |\n|---|---|---|---|---|")
    for profile in ALL:
        one = Binary(command, folder, profile)
        signature = contestants.made(one.path("signature"), one.sign(data), data)
        message = contestants.made(one.path("message"), one.encrypt(), data)
        with open(message, "rb") as file:
            pkesk = first_packet_byte_count(file.read(6))
        octets = [os.path.getsize(path) for path in (one.path("key"), one.certificate(), signature)]
        report.line(f"| {profile} | " + " | ".join(f"{count:,}" for count in [*octets, pkesk]) + " |")


def first_packet_byte_count(header):
    """Of a packet in the OpenPGP format (RFC 9580, section 4.2.1), with its header."""
    first = header[1]
    if first < 192:
        return 2 + first
    if first < 224:
        return 3 + (first - 192 << 8) + header[2] + 192
    return 6 + int.from_bytes(header[2:6], "big")
