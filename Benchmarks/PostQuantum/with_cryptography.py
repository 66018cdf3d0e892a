#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""with_cryptography.py OPERATION SECONDS | --version

Does OPERATION ("ML-KEM-768 encapsulate") for so long with PyPI's cryptography and prints its mean processor time in
seconds. Keys are expanded before; "key" makes one from its seed. --version prints that of OpenSSL in it."""

import os
import sys
import time

from cryptography.hazmat.backends.openssl import backend
from cryptography.hazmat.primitives.asymmetric import mldsa, mlkem

MESSAGE = bytes([7]) * 64


def operation(name):
    algorithm, what = name.split(" ")
    if algorithm.startswith("ML-KEM"):
        private = getattr(mlkem, algorithm.replace("-", "") + "PrivateKey")
        seed = os.urandom(64)
    else:
        private = getattr(mldsa, algorithm.replace("-", "") + "PrivateKey")
        seed = os.urandom(32)
    key = private.from_seed_bytes(seed)
    public = key.public_key()
    if what == "key":
        return lambda: private.from_seed_bytes(seed).public_key().public_bytes_raw()
    if what == "encapsulate":
        return public.encapsulate
    if what == "decapsulate":
        ciphertext = public.encapsulate()[1]
        assert key.decapsulate(ciphertext)
        return lambda: key.decapsulate(ciphertext)
    if what == "sign":
        return lambda: key.sign(MESSAGE)
    signature = key.sign(MESSAGE)
    return lambda: public.verify(signature, MESSAGE)


def main():
    if sys.argv[1] == "--version":
        print(backend.openssl_version_text())
        return
    body, duration = operation(sys.argv[1]), float(sys.argv[2])
    body()
    count, start = 0, time.process_time()
    while time.process_time() - start < duration:
        for _ in range(10):
            body()
        count += 10
    print((time.process_time() - start) / count)


main()
