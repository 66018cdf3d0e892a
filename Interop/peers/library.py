# SPDX-License-Identifier: Apache-2.0
"""Peers that are Python libraries. Each call starts the library's own Python with a small program, which
reads one line of JSON (the action, its arguments in base64) and writes the answer."""

import base64
import json
import os

from peers.peer import Peer, Refused, first_line, run

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../programs")


class Library(Peer):
    """A library behind a program of ../programs, whose functions have the names of the actions."""

    program = "?"
    python = "/usr/bin/python3"

    def is_here(self):
        try:
            self.version()
            return True
        except Refused:
            return False

    def call(self, action, **arguments):
        request = {name: encode(value) for name, value in arguments.items() if value is not None}
        line = json.dumps({"action": action, **request}).encode()
        return run([self.python, "-W", "ignore", os.path.join(PROGRAMS, self.program)], line).stdout

    def version(self):
        return first_line(self.call("version"))

    def generate(self, profile, password=None):
        return self.call("generate", profile=profile, password=password)

    def certificate(self, key):
        return self.call("certificate", key=key)

    def encrypt(self, data, certificate, profile):
        return self.call("encrypt", data=data, certificate=certificate)

    def encrypt_to_all(self, data, certificates, profile):
        return self.call("encrypt_to_all", data=data, certificates=certificates)

    def encrypt_signed(self, data, certificate, key, profile):
        return self.call("encrypt", data=data, certificate=certificate, key=key)

    def encrypt_with_password(self, data, password, profile):
        return self.call("encrypt_with_password", data=data, password=password)

    def decrypt(self, message, key, password=None):
        return self.call("decrypt", message=message, key=key, password=password)

    def decrypt_verified(self, message, key, signer):
        return self.call("decrypt", message=message, key=key, signer=signer)

    def decrypt_with_password(self, message, password):
        return self.call("decrypt_with_password", message=message, password=password)

    def sign_detached(self, data, key, password=None):
        return self.call("sign", data=data, key=key, password=password, mode="detached")

    def sign_text(self, data, key):
        return self.call("sign", data=data, key=key, mode="text")

    def sign_inline(self, data, key):
        return self.call("sign", data=data, key=key, mode="inline")

    def sign_cleartext(self, data, key):
        return self.call("sign", data=data, key=key, mode="cleartext")

    def verify_detached(self, data, signature, certificate):
        return self.call("verify_detached", data=data, signature=signature, certificate=certificate)

    def verify_inline(self, message, certificate):
        return self.call("verify_inline", message=message, certificate=certificate)

    def verify_cleartext(self, message, certificate):
        return self.call("verify_cleartext", message=message, certificate=certificate)


def encode(value):
    if isinstance(value, list):
        return [encode(one) for one in value]
    return base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()
