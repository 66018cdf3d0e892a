# SPDX-License-Identifier: Apache-2.0
"""PGPy, the library in Python alone, of the system's own Python."""

from peers.library import Library


class PGPy(Library):
    name = "pgpy"
    program = "with_pgpy.py"
    cannot = [
        ("* advanced", "PGPy 0.6 has no version 6"),
        ("* v6-25519", "PGPy 0.6 has no version 6"),
        ("verify_cleartext *", "PGPy 0.6 reads cleartext signatures over ASCII only"),
    ]
