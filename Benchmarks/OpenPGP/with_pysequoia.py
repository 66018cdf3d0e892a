# SPDX-License-Identifier: Apache-2.0
"""Does one thing with pysequoia over files, in the advanced profile: generate | sign | verify | encrypt |
decrypt, with the key's file and what else it takes."""

import sys

import pysequoia


def generate():
    key = pysequoia.Tsk.generate(
        "Bench <bench@example.org>", profile=pysequoia.Profile.RFC9580, cipher_suite=pysequoia.CipherSuite.Cv448)
    sys.stdout.buffer.write(bytes(key))


def sign(key, data):
    signer = pysequoia.Tsk.from_file(key).signer()
    pysequoia.sign_file(signer, data, "/dev/stdout", mode=pysequoia.SignatureMode.DETACHED, armor=False)


def verify(key, data, signature):
    certificate = pysequoia.Cert.from_file(key)
    result = pysequoia.verify(file=data, store=lambda _: [certificate], signature=pysequoia.Sig.from_file(signature))
    assert result.valid_sigs


def encrypt(key):
    certificate = pysequoia.Tsk.from_file(key).extract_certificate()
    pysequoia.encrypt_file("/dev/stdin", "/dev/stdout", recipients=[certificate], armor=False)


def decrypt(key):
    pysequoia.decrypt_file("/dev/stdin", "/dev/stdout", decryptor=pysequoia.Tsk.from_file(key).decryptor())


globals()[sys.argv[1]](*sys.argv[2:])
