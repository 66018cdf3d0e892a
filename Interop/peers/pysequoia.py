# SPDX-License-Identifier: Apache-2.0
"""Sequoia 2 through its Python library: the judge of the advanced profile."""

import os

from peers.library import Library


class PySequoia(Library):
    name = "pysequoia"
    program = "with_pysequoia.py"
    python = os.path.join(os.path.dirname(__file__), "../../.build/peers/bin/python3")
    cannot = [
        ("generate_locked *", "the library has no function that locks a key"),
        ("sign_text *", "the library signs binary data only"),
        ("encrypt_to_old pqc-high", "Sequoia writes no PKESK of version 3 for ML-KEM-1024+X448; it reads them"),
    ]
