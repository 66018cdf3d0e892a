# SPDX-License-Identifier: Apache-2.0
"""PGPy, the library in Python alone, of the system's own Python."""

from peers.library import Library
from peers.peer import only_version_4


class PGPy(Library):
    name = "pgpy"
    program = "with_pgpy.py"
    cannot = only_version_4("PGPy 0.6 has no version 6") + [
        ("verify_cleartext *", "PGPy 0.6 reads cleartext signatures over ASCII only"),
    ]
