# SPDX-License-Identifier: Apache-2.0
"""GnuPG. Every call has a home of its own, and no agent outlives it."""

import subprocess

from peers.peer import Peer, Refused, Workplace, first_line, only_version_4, run


class Home(Workplace):
    """A home of GnuPG with the keys and certificates of one call."""

    def gpg(self, *arguments, data=b"", password=""):
        return run(
            ["gpg", "--homedir", self.path, "--batch", "--yes", "--no-tty", "--quiet", "--trust-model", "always",
             "--pinentry-mode", "loopback", "--passphrase", password, "--status-fd", "2", *arguments], data)

    def take(self, keys, password=""):
        """Imports keys or certificates; returns the fingerprint of the first."""
        said = self.gpg("--import", data=keys, password=password).stderr
        for line in said.decode(errors="replace").splitlines():
            if line.startswith("[GNUPG:] IMPORT_OK "):
                return line.split()[3]
        raise Refused(first_line(said) or "nothing was imported")

    def __exit__(self, *rest):
        subprocess.run(
            ["gpgconf", "--homedir", self.path, "--kill", "all"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=False)
        super().__exit__(*rest)


def expect_good(result):
    """GnuPG's status lines say what was verified; its exit status alone does not."""
    if b"[GNUPG:] VALIDSIG " not in result.stderr or b"[GNUPG:] GOODSIG " not in result.stderr:
        raise Refused("no good signature: " + first_line(result.stderr), result.stdout)
    return result.stdout


class GnuPG(Peer):
    name = "gpg"
    cannot = only_version_4("GnuPG 2.2 has no version 6, and no AEAD")

    def generate(self, profile, password=None):
        if profile != "universal":
            raise Refused("makes keys of version 4 only")
        with Home() as home:
            made = home.gpg(
                "--quick-generate-key", "Interop <interop@example.org>", "future-default", "default", "never",
                password=password or "")
            fingerprint = made.stderr.decode().split("KEY_CREATED B ")[1].split()[0]
            return home.gpg("--armor", "--export-secret-keys", fingerprint, password=password or "").stdout

    def certificate(self, key):
        with Home() as home:
            return home.gpg("--armor", "--export", home.take(key)).stdout

    def encrypt(self, data, certificate, profile):
        with Home() as home:
            return home.gpg("--armor", "-r", home.take(certificate), "--encrypt", data=data).stdout

    def encrypt_signed(self, data, certificate, key, profile):
        with Home() as home:
            recipient, signer = home.take(certificate), home.take(key)
            return home.gpg("--armor", "-r", recipient, "-u", signer, "--sign", "--encrypt", data=data).stdout

    def encrypt_with_password(self, data, password, profile):
        with Home() as home:
            return home.gpg("--armor", "--symmetric", data=data, password=password).stdout

    def decrypt(self, message, key, password=None):
        with Home() as home:
            home.take(key, password or "")
            return home.gpg("--decrypt", data=message, password=password or "").stdout

    def decrypt_verified(self, message, key, signer):
        with Home() as home:
            home.take(key)
            home.take(signer)
            return expect_good(home.gpg("--decrypt", data=message))

    def decrypt_with_password(self, message, password):
        with Home() as home:
            return home.gpg("--decrypt", data=message, password=password).stdout

    def sign_detached(self, data, key, password=None):
        return self.sign(["--detach-sign"], data, key, password)

    def sign_text(self, data, key):
        return self.sign(["--textmode", "--detach-sign"], data, key)

    def sign_inline(self, data, key):
        return self.sign(["--sign"], data, key)

    def sign_cleartext(self, data, key):
        return self.sign(["--clear-sign"], data, key)

    def sign(self, options, data, key, password=None):
        with Home() as home:
            signer = home.take(key, password or "")
            return home.gpg("--armor", "-u", signer, *options, data=data, password=password or "").stdout

    def verify_detached(self, data, signature, certificate):
        with Home() as home:
            home.take(certificate)
            signed = home.file("data", data)
            expect_good(home.gpg("--verify", home.file("signature", signature), signed))

    def verify_inline(self, message, certificate):
        with Home() as home:
            home.take(certificate)
            return expect_good(home.gpg("--decrypt", data=message))

    verify_cleartext = verify_inline
