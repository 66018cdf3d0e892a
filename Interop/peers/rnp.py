# SPDX-License-Identifier: Apache-2.0
"""RNP's command. Every call has a home of its own."""

from peers.peer import Peer, Refused, Workplace, first_line, only_version_4, run

EDDSA_AND_X25519 = b"22\n"


class Home(Workplace):
    """A home of RNP with the keys and certificates of one call."""

    def keys(self, *arguments, data=b"", password=""):
        return run(["rnpkeys", "--homedir", self.path, "--notty", "--password", password, *arguments], data)

    def rnp(self, *arguments, data=b"", password=""):
        return run(
            ["rnp", "--homedir", self.path, "--notty", "--password", password, "--output", "-", *arguments], data)

    def take(self, keys, password=""):
        """Imports keys or certificates; returns the fingerprint of the first."""
        said = self.keys("--import", self.file("import", keys), password=password).stdout
        for line in said.decode(errors="replace").splitlines():
            words = line.split()
            if words and len(words[0]) == 40:
                return words[0]
        raise Refused(first_line(said) or "nothing was imported")


class RNP(Peer):
    name = "rnp"
    cannot = only_version_4("RNP 0.16 has no version 6") + [
        ("sign_text *", "the command has no option for it"),
    ]

    def generate(self, profile, password=None):
        if profile != "universal":
            raise Refused("makes keys of version 4 only")
        with Home() as home:
            home.keys(
                "--generate-key", "--expert", "--userid", "interop@example.org", data=EDDSA_AND_X25519,
                password=password or "")
            return home.keys(
                "--export-key", "--secret", "interop@example.org", password=password or "").stdout

    def certificate(self, key):
        with Home() as home:
            return home.keys("--export-key", home.take(key)).stdout

    def encrypt(self, data, certificate, profile):
        with Home() as home:
            return home.rnp("--armor", "-r", home.take(certificate), "--encrypt", data=data).stdout

    def encrypt_signed(self, data, certificate, key, profile):
        with Home() as home:
            recipient, signer = home.take(certificate), home.take(key)
            return home.rnp("--armor", "-r", recipient, "-u", signer, "--sign", "--encrypt", data=data).stdout

    def encrypt_with_password(self, data, password, profile):
        with Home() as home:
            return home.rnp("--armor", "--symmetric", data=data, password=password).stdout

    def decrypt(self, message, key, password=None):
        with Home() as home:
            home.take(key, password or "")
            return home.rnp("--decrypt", data=message, password=password or "").stdout

    def decrypt_verified(self, message, key, signer):
        with Home() as home:
            home.take(key)
            home.take(signer)
            return expect_good(home.rnp("--decrypt", data=message))

    def decrypt_with_password(self, message, password):
        with Home() as home:
            return home.rnp("--decrypt", data=message, password=password).stdout

    def sign_detached(self, data, key, password=None):
        return self.sign(["--sign", "--detach"], data, key, password)

    def sign_text(self, data, key):
        raise Refused("signs binary data only")

    def sign_inline(self, data, key):
        return self.sign(["--sign"], data, key)

    def sign_cleartext(self, data, key):
        return self.sign(["--clearsign"], data, key)

    def sign(self, options, data, key, password=None):
        with Home() as home:
            signer = home.take(key, password or "")
            return home.rnp("--armor", "-u", signer, *options, data=data, password=password or "").stdout

    def verify_detached(self, data, signature, certificate):
        with Home() as home:
            home.take(certificate)
            source = home.file("data", data)
            expect_good(home.rnp("--verify", "--source", source, home.file("signature", signature)))

    def verify_inline(self, message, certificate):
        with Home() as home:
            home.take(certificate)
            return expect_good(home.rnp("--decrypt", data=message))

    verify_cleartext = verify_inline


def expect_good(result):
    if b"Signature(s) verified successfully" not in result.stderr + result.stdout:
        raise Refused(first_line(result.stderr) or "no good signature", result.stdout)
    return result.stdout
