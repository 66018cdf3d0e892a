# SPDX-License-Identifier: Apache-2.0
"""Does one thing with pysequoia; run by peers/pysequoia.py with the Python that has the library."""

import importlib.metadata

import pysequoia

from request import answer

SUITES = {
    b"universal": (pysequoia.Profile.RFC4880, pysequoia.CipherSuite.Cv25519),
    b"v6-25519": (pysequoia.Profile.RFC9580, pysequoia.CipherSuite.Cv25519),
    b"advanced": (pysequoia.Profile.RFC9580, pysequoia.CipherSuite.Cv448),
}
COMPOSITES = {
    b"pqc": (pysequoia.CipherSuite.MLDSA65_Ed25519, None),
    b"pqc-high": (pysequoia.CipherSuite.MLDSA87_Ed448, None),
    b"slh-dsa-128s": (pysequoia.CipherSuite.MLDSA65_Ed25519, pysequoia.SigningAlgorithm.SLHDSA128s),
    b"slh-dsa-128f": (pysequoia.CipherSuite.MLDSA65_Ed25519, pysequoia.SigningAlgorithm.SLHDSA128f),
    b"slh-dsa-256s": (pysequoia.CipherSuite.MLDSA87_Ed448, pysequoia.SigningAlgorithm.SLHDSA256s),
}
MODES = {
    b"detached": pysequoia.SignatureMode.DETACHED,
    b"inline": pysequoia.SignatureMode.INLINE,
    b"cleartext": pysequoia.SignatureMode.CLEAR,
}


def version():
    return "pysequoia " + importlib.metadata.version("pysequoia")


def generate(profile, password=None):
    if password is not None:
        raise ValueError("keys cannot be locked")
    if profile in COMPOSITES:
        suite, signing = COMPOSITES[profile]
        options = {"signing_algorithm": signing} if signing else {}
        return bytes(pysequoia.Tsk.generate(
            "Interop <interop@example.org>", profile=pysequoia.Profile.RFC9580, cipher_suite=suite, **options))
    profile, suite = SUITES[profile]
    return bytes(pysequoia.Tsk.generate("Interop <interop@example.org>", profile=profile, cipher_suite=suite))


def certificate(key):
    return bytes(pysequoia.Tsk.from_bytes(key).extract_certificate())


def encrypt(data, certificate, key=None):
    signer = pysequoia.Tsk.from_bytes(key).signer() if key else None
    return pysequoia.encrypt(bytes=data, recipients=[pysequoia.Cert.from_bytes(certificate)], signer=signer)


def encrypt_to_all(data, certificates):
    return pysequoia.encrypt(bytes=data, recipients=[pysequoia.Cert.from_bytes(one) for one in certificates])


def encrypt_with_password(data, password):
    return pysequoia.encrypt(bytes=data, passwords=[password.decode()])


def decrypt(message, key, password=None, signer=None):
    decryptor = pysequoia.Tsk.from_bytes(key).decryptor(password.decode() if password else None)
    if signer is None:
        return pysequoia.decrypt(message, decryptor=decryptor).bytes
    store = [pysequoia.Cert.from_bytes(signer)]
    return good(pysequoia.decrypt(message, decryptor=decryptor, store=lambda _: store))


def decrypt_with_password(message, password):
    return pysequoia.decrypt(message, passwords=[password.decode()]).bytes


def sign(data, key, mode, password=None):
    if mode not in MODES:
        raise ValueError("there is no signature mode for text")
    signer = pysequoia.Tsk.from_bytes(key).signer(password.decode() if password else None)
    return pysequoia.sign(signer, data, mode=MODES[mode])


def verify_detached(data, signature, certificate):
    store = [pysequoia.Cert.from_bytes(certificate)]
    good(pysequoia.verify(bytes=data, store=lambda _: store, signature=pysequoia.Sig.from_bytes(signature)))


def verify_inline(message, certificate):
    store = [pysequoia.Cert.from_bytes(certificate)]
    return good(pysequoia.verify(bytes=message, store=lambda _: store))


def good(result):
    if not result.valid_sigs:
        raise ValueError("no good signature")
    return result.bytes


answer({**globals(), "verify_cleartext": verify_inline})
