# SPDX-License-Identifier: Apache-2.0
"""Sequoia's own command. It asks for passwords on a terminal only, so they are left to sqop."""

from peers.peer import Peer, Refused, Workplace, only_version_4, run

NO_TERMINAL = "it asks for passwords on a terminal only; sqop stands for its library"
NO_VERSION_6 = "Sequoia 1.12 has no version 6"


class Sequoia(Peer):
    name = "sq"
    cannot = only_version_4(NO_VERSION_6) + [
        ("encrypt_with_password *", NO_TERMINAL),
        ("decrypt_with_password *", NO_TERMINAL),
        ("generate_locked *", NO_TERMINAL),
        ("decrypt_locked *", NO_TERMINAL),
        ("sign_locked *", NO_TERMINAL),
        ("sign_text *", "this version has no option for it"),
    ]

    def generate(self, profile, password=None):
        if profile != "universal":
            raise Refused("makes keys of version 4 only")
        if password is not None:
            raise Refused("takes a password from a terminal only")
        with Workplace() as place:
            run(["sq", "key", "generate", "-u", "Interop <interop@example.org>", "--export", place.file("key")])
            return place.read("key")

    def certificate(self, key):
        with Workplace() as place:
            return run(["sq", "key", "extract-cert", place.file("key", key)]).stdout

    def encrypt(self, data, certificate, profile):
        with Workplace() as place:
            certificate = place.file("certificate", certificate)
            return run(["sq", "encrypt", "--recipient-cert", certificate], data).stdout

    def encrypt_signed(self, data, certificate, key, profile):
        with Workplace() as place:
            return run(
                ["sq", "encrypt", "--recipient-cert", place.file("certificate", certificate), "--signer-key",
                 place.file("key", key)], data).stdout

    def encrypt_with_password(self, data, password, profile):
        return run(["sq", "encrypt", "--symmetric"], data).stdout

    def decrypt(self, message, key, password=None):
        with Workplace() as place:
            return run(["sq", "decrypt", "--recipient-key", place.file("key", key)], message).stdout

    def decrypt_verified(self, message, key, signer):
        with Workplace() as place:
            return run(
                ["sq", "decrypt", "--recipient-key", place.file("key", key), "--signatures", "1",
                 "--signer-cert", place.file("signer", signer)], message).stdout

    def decrypt_with_password(self, message, password):
        return run(["sq", "decrypt"], message).stdout

    def sign_detached(self, data, key, password=None):
        return self.sign(["--detached"], data, key)

    def sign_text(self, data, key):
        raise Refused("signs binary data only")

    def sign_inline(self, data, key):
        return self.sign([], data, key)

    def sign_cleartext(self, data, key):
        return self.sign(["--cleartext-signature"], data, key)

    def sign(self, options, data, key):
        with Workplace() as place:
            return run(["sq", "sign", *options, "--signer-key", place.file("key", key)], data).stdout

    def verify_detached(self, data, signature, certificate):
        with Workplace() as place:
            run(
                ["sq", "verify", "--signer-cert", place.file("certificate", certificate), "--detached",
                 place.file("signature", signature)], data)

    def verify_inline(self, message, certificate):
        with Workplace() as place:
            return run(["sq", "verify", "--signer-cert", place.file("certificate", certificate)], message).stdout

    verify_cleartext = verify_inline
