# SPDX-License-Identifier: Apache-2.0
"""What grows: many recipients, a certificate that many have signed, a long stream. Each is measured in three
sizes, and is linear when the largest takes no more than its share and a fifth."""

import os
import secrets
import subprocess
import time

import contestants
import measure

SLACK = 1.2


def is_linear(sizes, seconds):
    """By the cost of what was added: a fixed start is taken off."""
    first = (seconds[1] - seconds[0]) / (sizes[1] - sizes[0])
    second = (seconds[2] - seconds[1]) / (sizes[2] - sizes[1])
    return second <= SLACK * max(first, 0) or seconds[2] / sizes[2] <= SLACK * seconds[0] / sizes[0]


def recipients(command, profile, small, folder, report, sizes=(250, 500, 1000)):
    """10 KiB to many; a certificate each."""
    path = os.path.join(folder, f"recipients-{profile}")
    blocks = []
    key = None
    for _ in range(sizes[-1]):
        key = contestants.made(path + ".key", [command, "generate-key", f"--profile={profile}", "--no-armor"])
        made = subprocess.run([command, "extract-cert", "--no-armor"], stdin=open(key, "rb"),
                              stdout=subprocess.PIPE, check=True).stdout
        blocks.append(made)
    seconds, peak = [], 0
    for size in sizes:
        with open(path, "wb") as file:
            file.write(b"".join(blocks[:size]))
        runs = [measure.run([command, "encrypt", "--no-armor", path], small, path + ".pgp") for _ in range(3)]
        seconds.append(min(took for took, _ in runs))
        peak = max(peak, *(most for _, most in runs))
    took, most = measure.run([command, "decrypt", key], path + ".pgp")
    report(f"encrypt to {'/'.join(map(str, sizes))} recipients, {profile}", sizes, seconds, max(peak, most),
           f"decrypt as the last: {measure.text(took)}")


def new_packet(kind, body):
    return bytes([0xC0 | kind, 255]) + len(body).to_bytes(4, "big") + body


def stranger(issuer):
    """A certification by a key that nobody knows: it is kept, and cannot be verified."""
    hashed = b"\x05\x02" + int(time.time() - 9).to_bytes(4, "big")
    unhashed = b"\x09\x10" + issuer
    body = b"\x04\x10\x16\x0a" + len(hashed).to_bytes(2, "big") + hashed + len(unhashed).to_bytes(2, "big") + unhashed
    body += secrets.token_bytes(2) + 2 * (b"\x01\x00\x80" + secrets.token_bytes(31))
    return new_packet(2, body)


def certifications(command, small, folder, report, sizes=(2_500, 5_000, 10_000)):
    """A certificate whose user ID strangers have signed."""
    path = os.path.join(folder, "signed")
    key = contestants.made(path + ".key", [command, "generate-key", "--profile=compatibility", "--no-armor", "A <a@b>"])
    certificate = subprocess.run(
        [command, "extract-cert", "--no-armor"], stdin=open(key, "rb"), stdout=subprocess.PIPE, check=True).stdout
    end = user_id_end(certificate)
    for name, arguments, source in (
            ("encrypt to", ["encrypt", "--no-armor", path], small),
            ("merge", ["merge-certs", "--no-armor", path], path)):
        seconds, peak = [], 0
        for size in sizes:
            signatures = b"".join(stranger(secrets.token_bytes(8)) for _ in range(size))
            with open(path, "wb") as file:
                file.write(certificate[:end] + signatures + certificate[end:])
            runs = [measure.run([command, *arguments], source) for _ in range(3)]
            seconds.append(min(took for took, _ in runs))
            peak = max(peak, *(most for _, most in runs))
        report(f"{name} a certificate with {'/'.join(map(str, sizes))} strangers' signatures", sizes, seconds, peak, "")


def user_id_end(certificate):
    """Where the first signature behind the user ID ends. Lengths are those of one, two or five octets."""
    at, has_user_id = 0, False
    while at < len(certificate):
        kind, first = certificate[at] & 0x3F, certificate[at + 1]
        if first < 192:
            count, start = first, at + 2
        elif first < 255:
            count, start = (first - 192 << 8) + certificate[at + 2] + 192, at + 3
        else:
            count, start = int.from_bytes(certificate[at + 2:at + 6], "big"), at + 6
        at = start + count
        if kind == 2 and has_user_id:
            return at
        has_user_id = has_user_id or kind == 13
    raise ValueError("no signature behind a user ID")


def streams(ours, gibibytes, folder, report):
    """Zeros through pipes, and their ciphertext from a file."""
    sizes = [gibibytes / 4, gibibytes / 2, gibibytes]
    named = "/".join(f"{size:g}" for size in sizes)
    message = os.path.join(folder, "stream")
    encrypt = " ".join(ours.encrypt())
    lines = {"sign {} GiB from a pipe": [" ".join(ours.sign(None))], "encrypt {} GiB from a pipe": [encrypt],
             "decrypt {} GiB from a file": []}
    for name, rest in lines.items():
        seconds, peak = [], 0
        for size in sizes:
            zeros = f"set -o pipefail; head -c {int(size * (1 << 30))} /dev/zero"
            if rest:
                runs = [measure.run(["bash", "-c", " | ".join([zeros, *rest])]) for _ in range(2)]
            else:
                measure.run(["bash", "-c", f"{zeros} | {encrypt}"], target=message)
                runs = [measure.run(ours.decrypt(), message) for _ in range(2)]
                os.unlink(message)
            seconds.append(min(took for took, _ in runs))
            peak = max(peak, *(most for _, most in runs))
        report(f"{name.format(named)}, {ours.name}", sizes, seconds, peak, "")


def spooled(ours, gibibytes, folder):
    """What of a message comes through a pipe is written to a temporary file before it is read again: how long
    that takes is the disk's affair, so the same octets are also copied there and read. One line a size."""
    copy = f'cat >"{folder}/copy"; cat "{folder}/copy"; rm "{folder}/copy"'
    for size in (gibibytes / 4, gibibytes / 2, gibibytes):
        zeros = f"set -o pipefail; head -c {int(size * (1 << 30))} /dev/zero"
        copied, _ = measure.run(["bash", "-c", f"{zeros} | ({copy})"])
        line = " | ".join([zeros, " ".join(ours.encrypt()), " ".join(ours.decrypt())])
        took, peak = measure.run(["bash", "-c", line])
        yield (f"- encrypt and decrypt {size:g} GiB through pipes, {ours.name}: {measure.text(took)}, "
               f"{peak / 1024:.0f} MiB; copying as much to a file and reading it: {measure.text(copied)}")
