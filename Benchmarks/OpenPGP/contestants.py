# SPDX-License-Identifier: Apache-2.0
"""The commands that are compared: what each makes beforehand, and how it is called. All write binary data and
none compresses; each verifies and decrypts what it made itself."""

import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON_OF_PEERS = os.path.join(HERE, "../../.build/peers/bin/python3")
USER = "Bench <bench@example.org>"


def made(path, command, source=None):
    """Runs a command once and keeps what it writes."""
    with open(path, "wb") as target, open(source or "/dev/null", "rb") as data:
        subprocess.run(command, stdin=data, stdout=target, stderr=subprocess.DEVNULL, check=True)
    return path


class Contestant:
    """`folder` is its own. A command is (arguments, input, output), as `measure.run` takes it."""

    name = "?"

    def __init__(self, folder):
        self.folder = os.path.join(folder, self.name.replace(" ", "-"))
        os.makedirs(self.folder, exist_ok=True)
        self.prepare()

    def path(self, name):
        return os.path.join(self.folder, name)

    def is_here(self):
        return shutil.which(self.name.split()[0]) is not None

    def prepare(self):
        """Keys."""

    def commands(self, data):
        """Operation -> command, over one file. What `verify` and `decrypt` read is made first."""
        tag = os.path.basename(data)
        signature, message = self.path(tag + ".sig"), self.path(tag + ".pgp")
        given = {"sign": (self.sign(data), data, signature), "encrypt": (self.encrypt(), data, message)}
        for arguments, source, target in given.values():
            made(target, arguments, source)
        return {
            "sign": (self.sign(data), data, signature),
            "verify": (self.verify(signature, data), data, "/dev/null"),
            "encrypt": (self.encrypt(), data, "/dev/null"),
            "encrypt to a file": (self.encrypt(), data, self.path("out")),
            "decrypt": (self.decrypt(), message, "/dev/null"),
            "decrypt to a file": (self.decrypt(), message, self.path("out")),
        }


class Stateless(Contestant):
    """A Stateless OpenPGP command."""

    def __init__(self, name, command, folder, key_options=()):
        self.name = name
        self.command = command
        self.key_options = list(key_options)
        super().__init__(folder)

    def prepare(self):
        key = made(self.path("key"), [self.command, "generate-key", *self.key_options, USER])
        made(self.path("certificate"), [self.command, "extract-cert"], key)

    def commands(self, data):
        """With armor, too, which is what it writes unless told otherwise."""
        armored = self.path(os.path.basename(data) + ".asc")
        encrypt = [self.command, "encrypt", self.path("certificate")]
        made(armored, encrypt, data)
        return super().commands(data) | {
            "encrypt, armored": (encrypt, data, "/dev/null"),
            "decrypt, armored": (self.decrypt(), armored, "/dev/null"),
        }

    @property
    def hash_name(self):
        """What its signatures hash with: sha256 or sha512."""
        micalg = self.path("micalg")
        if not os.path.exists(micalg):
            made(self.path("made"), [self.command, "sign", "--micalg-out=" + micalg, self.path("key")])
        with open(micalg, encoding="ascii") as file:
            return file.read().strip().removeprefix("pgp-")

    def sign(self, data):
        return [self.command, "sign", "--no-armor", self.path("key")]

    def verify(self, signature, data):
        return [self.command, "verify", signature, self.path("certificate")]

    def encrypt(self):
        return [self.command, "encrypt", "--no-armor", self.path("certificate")]

    def decrypt(self):
        return [self.command, "decrypt", self.path("key")]


class GnuPG(Contestant):
    """With its agent running."""

    name = "gpg"

    def prepare(self):
        self.home = self.path("h")
        os.makedirs(self.home, mode=0o700, exist_ok=True)
        self.gpg = ["gpg", "--homedir", self.home, "--batch", "--yes", "--quiet", "--trust-model", "always",
                    "--pinentry-mode", "loopback", "--passphrase", "", "--compress-algo", "none"]
        made(self.path("made"), [*self.gpg, "--quick-generate-key", USER, "future-default", "default", "never"])

    def sign(self, data):
        return [*self.gpg, "--detach-sign"]

    def verify(self, signature, data):
        return [*self.gpg, "--verify", signature, data]

    def encrypt(self):
        return [*self.gpg, "-r", USER, "--encrypt"]

    def decrypt(self):
        return [*self.gpg, "--decrypt"]

    def stop(self):
        subprocess.run(["gpgconf", "--homedir", self.home, "--kill", "all"], check=False)


class Sequoia(Contestant):
    name = "sq"

    def prepare(self):
        if not os.path.exists(self.path("key")):
            made(self.path("made"), ["sq", "key", "generate", "-u", USER, "--export", self.path("key")])
        made(self.path("certificate"), ["sq", "key", "extract-cert", self.path("key")])

    def sign(self, data):
        return ["sq", "sign", "-B", "--detached", "--signer-key", self.path("key")]

    def verify(self, signature, data):
        return ["sq", "verify", "--signer-cert", self.path("certificate"), "--detached", signature]

    def encrypt(self):
        return ["sq", "encrypt", "-B", "--compression", "none", "--recipient-cert", self.path("certificate")]

    def decrypt(self):
        return ["sq", "decrypt", "--recipient-key", self.path("key")]


class RNP(Contestant):
    name = "rnp"

    def prepare(self):
        self.home = self.path("h")
        os.makedirs(self.home, mode=0o700, exist_ok=True)
        subprocess.run(
            ["rnpkeys", "--homedir", self.home, "--notty", "--password", "", "--generate-key", "--expert", "--userid",
             "bench"], input=b"22\n", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        self.rnp = ["rnp", "--homedir", self.home, "--notty", "--password", "", "--output", "-"]

    def sign(self, data):
        return [*self.rnp, "--sign", "--detach", "-u", "bench"]

    def verify(self, signature, data):
        return [*self.rnp, "--verify", "--source", data, signature]

    def encrypt(self):
        return [*self.rnp, "--encrypt", "-z", "0", "-r", "bench"]

    def decrypt(self):
        return [*self.rnp, "--decrypt"]


class PySequoia(Contestant):
    """The library in Python's process; its start is 40 ms of each figure. It takes and makes files."""

    name = "pysequoia"

    def is_here(self):
        return os.path.exists(PYTHON_OF_PEERS)

    def call(self, *arguments):
        return [PYTHON_OF_PEERS, os.path.join(HERE, "with_pysequoia.py"), *arguments]

    def prepare(self):
        made(self.path("key"), self.call("generate"))

    def sign(self, data):
        return self.call("sign", self.path("key"), data)

    def verify(self, signature, data):
        return self.call("verify", self.path("key"), data, signature)

    def encrypt(self):
        return self.call("encrypt", self.path("key"))

    def decrypt(self):
        return self.call("decrypt", self.path("key"))


class Age(Contestant):
    """No OpenPGP: what a newer format costs."""

    name = "age"

    def prepare(self):
        if not os.path.exists(self.path("key")):
            made(self.path("made"), ["age-keygen", "-o", self.path("key")])
        made(self.path("recipient"), ["age-keygen", "-y", self.path("key")])

    def commands(self, data):
        message = self.path(os.path.basename(data) + ".age")
        encrypt = ["age", "-R", self.path("recipient")]
        decrypt = ["age", "-d", "-i", self.path("key")]
        made(message, encrypt, data)
        return {
            "encrypt": (encrypt, data, "/dev/null"),
            "encrypt to a file": (encrypt, data, self.path("out")),
            "decrypt": (decrypt, message, "/dev/null"),
            "decrypt to a file": (decrypt, message, self.path("out")),
        }


class Digest(Contestant):
    """`openssl dgst`: what hashing alone costs."""

    def __init__(self, hash_name, folder):
        self.name = f"openssl dgst -{hash_name}"
        self.hash_name = hash_name
        super().__init__(folder)

    def commands(self, data):
        command = (["openssl", "dgst", f"-{self.hash_name}", data], "/dev/null", "/dev/null")
        return {"sign": command, "verify": command}
