# SPDX-License-Identifier: Apache-2.0
"""Programs with the Stateless OpenPGP command line: ours, and peers of several drafts."""

import functools
import os

from peers.peer import Peer, Refused, Workplace, first_line, only_version_4, run


class Stateless(Peer):
    """A Stateless OpenPGP command."""

    # By profile, for `generate-key` and `encrypt`; a peer without profiles makes what it makes.
    key_profiles = {}
    message_profiles = {}
    verifications_option = "--verifications-out"

    def __init__(self, command=None):
        self.command = [command or self.name]

    def is_here(self):
        try:
            self.call("version")
            return True
        except Refused:
            return False

    def version(self):
        return first_line(self.call("version"))

    def call(self, *arguments, data=b""):
        return run(self.command + list(arguments), data).stdout

    def profile_option(self, subcommand, table, profile):
        """Nothing for a command that has no profiles: an older one may stand in for ours."""
        wanted = table.get(profile)
        return [f"--profile={wanted}"] if wanted in self.profiles(subcommand) else []

    @functools.cache
    def profiles(self, subcommand):
        try:
            lines = self.call("list-profiles", subcommand).decode().splitlines()
        except Refused:
            return set()
        return {word.strip(" ,()") for line in lines for word in line.replace(":", " ").split()}

    def generate(self, profile, password=None):
        options = self.profile_option("generate-key", self.key_profiles, profile)
        if profile != "universal" and not options:
            raise Refused("makes keys of version 4 only")
        with Workplace() as place:
            if password is not None:
                options.append("--with-key-password=" + place.file("password", password))
            return self.call("generate-key", *options, "--", "Interop <interop@example.org>")

    def certificate(self, key):
        return self.call("extract-cert", data=key)

    def encrypt(self, data, certificate, profile):
        return self.encrypt_to_all(data, [certificate], profile)

    def encrypt_to_all(self, data, certificates, profile):
        with Workplace() as place:
            files = [place.file(f"certificate{index}", one) for index, one in enumerate(certificates)]
            return self.call("encrypt", "--", *files, data=data)

    def encrypt_signed(self, data, certificate, key, profile):
        with Workplace() as place:
            return self.call(
                "encrypt", "--sign-with=" + place.file("key", key), "--",
                place.file("certificate", certificate), data=data)

    def encrypt_with_password(self, data, password, profile):
        with Workplace() as place:
            options = self.profile_option("encrypt", self.message_profiles, profile)
            return self.call(
                "encrypt", *options, "--with-password=" + place.file("password", password), data=data)

    def decrypt(self, message, key, password=None):
        with Workplace() as place:
            options = []
            if password is not None:
                options.append("--with-key-password=" + place.file("password", password))
            return self.call("decrypt", *options, "--", place.file("key", key), data=message)

    def decrypt_verified(self, message, key, signer):
        with Workplace() as place:
            data = self.call(
                "decrypt", f"{self.verifications_option}={place.path}/verifications",
                "--verify-with=" + place.file("signer", signer), "--", place.file("key", key), data=message)
            if not place.read("verifications").strip():
                raise Refused("decrypted, but no signature is good")
            return data

    def decrypt_with_password(self, message, password):
        with Workplace() as place:
            return self.call("decrypt", "--with-password=" + place.file("password", password), data=message)

    def sign_detached(self, data, key, password=None):
        with Workplace() as place:
            options = []
            if password is not None:
                options.append("--with-key-password=" + place.file("password", password))
            return self.call("sign", *options, "--", place.file("key", key), data=data)

    def sign_text(self, data, key):
        with Workplace() as place:
            return self.call("sign", "--as=text", "--", place.file("key", key), data=data)

    def sign_inline(self, data, key):
        with Workplace() as place:
            return self.call("inline-sign", "--", place.file("key", key), data=data)

    def sign_cleartext(self, data, key):
        with Workplace() as place:
            return self.call("inline-sign", "--as=clearsigned", "--", place.file("key", key), data=data)

    def verify_detached(self, data, signature, certificate):
        with Workplace() as place:
            self.call(
                "verify", "--", place.file("signature", signature), place.file("certificate", certificate),
                data=data)

    def verify_inline(self, message, certificate):
        with Workplace() as place:
            return self.call("inline-verify", "--", place.file("certificate", certificate), data=message)

    verify_cleartext = verify_inline


class Ours(Stateless):
    """coffer-sop, or any command with the same options that stands in for it."""

    name = "ours"
    key_profiles = {"universal": "compatibility", "advanced": "security", "v6-25519": "rfc9580"}
    message_profiles = {"universal": "compatibility", "advanced": "security", "v6-25519": "security"}

    def profile_option(self, subcommand, table, profile):
        # Those of RFC 9980 have the names that they have here; a list may have four lines only.
        if profile.startswith(("pqc", "slh-dsa")):
            return [f"--profile={profile if subcommand == 'generate-key' else 'security'}"]
        return super().profile_option(subcommand, table, profile)


class Sqop(Stateless):
    name = "sqop"
    cannot = only_version_4("Sequoia 1.12 has no version 6")


class Gosop(Stateless):
    name = "gosop"
    verifications_option = "--verify-out"
    cannot = only_version_4("GopenPGP of 2022 has no version 6") + [
        ("*_locked *", "this version takes no passwords of keys"),
        ("*_inline *", "this version has detached signatures only"),
        ("*_cleartext *", "this version has detached signatures only"),
        ("encrypt_with_password *", "this version turns data into text with CRLF when it takes a password"),
    ]


class GopenPGP(Stateless):
    """The gosop of Debian's next release: GopenPGP 3."""

    name = "gopenpgp"
    key_profiles = {"universal": "default", "advanced": "security", "v6-25519": "performance"}
    message_profiles = {"universal": "compatibility", "advanced": "security", "v6-25519": "security"}
    # The command has no profiles of RFC 9980, but uses such keys.
    borrows = ["pqc*", "slh-dsa*"]
    cannot = [
        ("generate_locked pqc*", "it makes no such keys"),
        ("generate_locked slh-dsa*", "it makes no such keys"),
    ]

    def __init__(self):
        super().__init__(os.path.join(os.path.dirname(__file__), "../../.build/peers-debian/usr/bin/gosop"))


class PGPainless(Stateless):
    name = "pgpainless-cli"
    cannot = only_version_4("PGPainless 1.3 has no version 6")
