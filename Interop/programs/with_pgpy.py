# SPDX-License-Identifier: Apache-2.0
"""Does one thing with PGPy; run by peers/pgpy.py with the Python that has the library.

PGPy reads no armor without a checksum, which RFC 9580, section 6.1 asks writers to leave out: it is added."""

import base64
import importlib.metadata
import re
import warnings

import pgpy
from pgpy.constants import (
    EllipticCurveOID, HashAlgorithm, KeyFlags, PubKeyAlgorithm, SymmetricKeyAlgorithm)

from request import answer

warnings.simplefilter("ignore")


BLOCK = re.compile(rb"(-----BEGIN PGP (?!SIGNED)[^\n]*-----\r?\n(?:[^\n]*:[^\n]*\n)*\r?\n)([^-]*)(-----END PGP)")


def with_checksum(blob):
    """The same with a checksum in each armored block that has none."""
    def completed(match):
        head, body, tail = match.groups()
        if re.search(rb"^=[A-Za-z0-9+/]{4}\s*$", body, re.M):
            return match.group()
        checksum = pgpy.types.Armorable.crc24(base64.b64decode(body)).to_bytes(3, "big")
        return head + body + b"=" + base64.b64encode(checksum) + b"\n" + tail
    return BLOCK.sub(completed, blob)


def version():
    return "PGPy " + importlib.metadata.version("PGPy")


def generate(profile, password=None):
    if profile != b"universal":
        raise ValueError("makes keys of version 4 only")
    key = pgpy.PGPKey.new(PubKeyAlgorithm.EdDSA, EllipticCurveOID.Ed25519)
    key.add_uid(
        pgpy.PGPUID.new("Interop", email="interop@example.org"), usage={KeyFlags.Sign, KeyFlags.Certify},
        hashes=[HashAlgorithm.SHA512], ciphers=[SymmetricKeyAlgorithm.AES256])
    subkey = pgpy.PGPKey.new(PubKeyAlgorithm.ECDH, EllipticCurveOID.Curve25519)
    key.add_subkey(subkey, usage={KeyFlags.EncryptCommunications, KeyFlags.EncryptStorage})
    if password is not None:
        key.protect(password.decode(), SymmetricKeyAlgorithm.AES256, HashAlgorithm.SHA512)
    return str(key)


def certificate(key):
    return str(read_key(key).pubkey)


def encrypt(data, certificate, key=None):
    message = pgpy.PGPMessage.new(data)
    if key:
        message |= read_key(key).sign(message)
    return str(read_key(certificate).encrypt(message, cipher=SymmetricKeyAlgorithm.AES256))


def encrypt_with_password(data, password):
    return str(pgpy.PGPMessage.new(data).encrypt(password.decode(), cipher=SymmetricKeyAlgorithm.AES256))


def decrypt(message, key, password=None, signer=None):
    key = read_key(key)
    message = pgpy.PGPMessage.from_blob(with_checksum(message))
    if password is not None:
        with key.unlock(password.decode()):
            opened = key.decrypt(message)
    else:
        opened = key.decrypt(message)
    if signer is not None:
        good(read_key(signer).verify(opened))
    return content(opened)


def decrypt_with_password(message, password):
    return content(pgpy.PGPMessage.from_blob(with_checksum(message)).decrypt(password.decode()))


def sign(data, key, mode, password=None):
    key = read_key(key)
    if password is not None:
        with key.unlock(password.decode()):
            return str(key.sign(data))
    if mode == b"detached":
        return str(key.sign(data))
    if mode == b"text":
        message = pgpy.PGPMessage.new(data.decode(), cleartext=True)
        return str(key.sign(message))
    message = pgpy.PGPMessage.new(data.decode() if mode == b"cleartext" else data, cleartext=mode == b"cleartext")
    message |= key.sign(message)
    return str(message)


def verify_detached(data, signature, certificate):
    good(read_key(certificate).verify(data, pgpy.PGPSignature.from_blob(with_checksum(signature))))


def verify_inline(message, certificate):
    message = pgpy.PGPMessage.from_blob(with_checksum(message))
    good(read_key(certificate).verify(message))
    return content(message)


def read_key(blob):
    return pgpy.PGPKey.from_blob(with_checksum(blob))[0]


def content(message):
    data = message.message
    return data.encode() if isinstance(data, str) else bytes(data)


def good(verification):
    if not verification:
        raise ValueError("no good signature")


answer({**globals(), "verify_cleartext": verify_inline})
