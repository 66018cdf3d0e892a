# SPDX-License-Identifier: Apache-2.0
"""What every peer can be asked, and how a program is run. A peer's own file says how it is asked."""

import fnmatch
import os
import re
import shutil
import subprocess
import tempfile

# A call that takes longer hangs: the slowest peer starts a virtual machine and needs two seconds.
CALL_SECONDS = 60

# What is another in each run: the time in front of a line, our own folder.
# gpg's remark on armor without a checksum, and its status lines; RNP's remark on the same.
REMARKS = ("invalid radix64 character 2D skipped", "[GNUPG:]", "Warning: missing or malformed CRC line")
PASSING = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d |/tmp/io\w+/?")


class Refused(Exception):
    """A peer did not do what it was asked; `line` is what it said, `output` what it wrote all the same."""

    def __init__(self, line, output=b""):
        super().__init__(line)
        self.line = line
        self.output = output
        self.peer = None
        self.action = None
        self.profile = None


def only_version_4(why):
    """The lines of `cannot` for a peer that knows no keys of version 6."""
    return [(f"* {profile}", why) for profile in ("advanced", "v6-25519", "pqc*", "slh-dsa*")]


def only_classical(why):
    """The lines of `cannot` for a peer that knows nothing of RFC 9980."""
    return [(f"* {profile}", why) for profile in ("pqc*", "slh-dsa*")]


class Peer:
    """One program or library. Keys, certificates, messages and signatures are bytes, armored or not."""

    name = "?"
    # What it cannot do: a pattern of "ACTION PROFILE", and why. A failure that no line names is a failure.
    cannot = []
    # The profiles that it works with, but makes no keys of: it is given some of ours. Patterns.
    borrows = []

    def is_here(self):
        return shutil.which(self.name) is not None

    def version(self):
        return first_line(run([self.name, "--version"]).stdout)

    def do(self, action, profile, *arguments, **options):
        """Calls a method, and writes who was asked for what into the error."""
        try:
            return getattr(self, action)(*arguments, **options)
        except Refused as refusal:
            if refusal.peer is None:
                refusal.peer, refusal.action, refusal.profile = self, action, profile
            raise

    def reason(self, action, profile):
        """Why it cannot do this, if that is known."""
        for pattern, why in self.cannot:
            if fnmatch.fnmatch(f"{action} {profile}", pattern):
                return why
        return None

    def is_given_keys(self, profile):
        return any(fnmatch.fnmatch(profile, pattern) for pattern in self.borrows)

    # The actions. `profile` is one of run-matrix's PROFILES; passwords are text.

    def generate(self, profile, password=None):
        raise Refused("makes no keys")

    def generate_locked(self, profile, password):
        return self.generate(profile, password)

    def certificate(self, key):
        raise Refused("extracts no certificate")

    def encrypt(self, data, certificate, profile):
        raise Refused("does not encrypt")

    def encrypt_to_all(self, data, certificates, profile):
        raise Refused("does not encrypt to several")

    def encrypt_to_old(self, data, certificates, profile):
        """As `encrypt_to_all`, but one of them reads SEIPD 1 alone."""
        return self.encrypt_to_all(data, certificates, profile)

    def encrypt_signed(self, data, certificate, key, profile):
        raise Refused("does not sign and encrypt")

    def encrypt_with_password(self, data, password, profile):
        raise Refused("does not encrypt with a password")

    def decrypt(self, message, key, password=None):
        raise Refused("does not decrypt")

    def decrypt_locked(self, message, key, password):
        return self.decrypt(message, key, password)

    def decrypt_verified(self, message, key, signer):
        raise Refused("does not decrypt and verify")

    def decrypt_with_password(self, message, password):
        raise Refused("does not decrypt with a password")

    def sign_detached(self, data, key, password=None):
        raise Refused("makes no detached signatures")

    def sign_locked(self, data, key, password):
        return self.sign_detached(data, key, password)

    def sign_text(self, data, key):
        raise Refused("makes no signatures over text")

    def sign_inline(self, data, key):
        raise Refused("makes no inline-signed messages")

    def sign_cleartext(self, data, key):
        raise Refused("makes no cleartext signatures")

    def verify_detached(self, data, signature, certificate):
        raise Refused("verifies no detached signatures")

    def verify_inline(self, message, certificate):
        raise Refused("verifies no inline-signed messages")

    def verify_cleartext(self, message, certificate):
        raise Refused("verifies no cleartext signatures")


class Workplace:
    """A folder of its own for one call; its path is short, since agents put sockets into it."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="io", dir="/tmp")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name, content=None):
        path = os.path.join(self.path, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self, name):
        try:
            with open(os.path.join(self.path, name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""


def run(command, data=b"", environment=None):
    """Runs a program without a terminal. Returns what it wrote; raises `Refused` when it fails."""
    try:
        result = subprocess.run(
            command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=CALL_SECONDS,
            env={**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})}, start_new_session=True)
    except FileNotFoundError:
        raise Refused(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise Refused(f"no answer within {CALL_SECONDS} s") from None
    if result.returncode:
        said = first_line(result.stderr) or first_line(result.stdout)
        raise Refused(f"{said or 'no word'} (exit {result.returncode})", result.stdout)
    return result


def first_line(text):
    """The first line that says something."""
    for line in text.decode(errors="replace").splitlines():
        if line.strip() and not any(remark in line for remark in REMARKS):
            return PASSING.sub("", line.strip())
    return ""
