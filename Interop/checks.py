# SPDX-License-Identifier: Apache-2.0
"""What one peer makes and another must accept. Each check takes the parties (see exchange.py): `maker`,
`reader` and the profile of the keys; it raises `Refused` when one of them does not do its part."""

from peers.peer import Refused

PASSWORD = "correct horse battery staple"

# Long enough for several parts and chunks, with lines that the cleartext framework must escape.
TEXT = ("Grüße an alle\n- a line with a dash\nFrom here on\n\n" + "0123456789abcdef\n" * 20_000).encode()
SHORT_TEXT = TEXT[:60]


def expect_same(maker, action, got, wanted=TEXT, is_text=False):
    """What came out must be what `maker` put in by `action`. Cleartext signatures are over lines; how those
    end is the reader's choice."""
    if is_text:
        got, wanted = (text.replace(b"\r\n", b"\n").rstrip(b"\n") for text in (got, wanted))
    if got != wanted:
        refusal = Refused("another text came out")
        refusal.peer, refusal.action, refusal.profile = maker.peer, action, maker.profile
        raise refusal


def certificate(maker, reader):
    message = reader.do("encrypt", TEXT, maker.certificate(), reader.profile)
    expect_same(reader, "encrypt", maker.do("decrypt", message, maker.key()))


def signed_message(maker, reader):
    message = maker.do("encrypt_signed", TEXT, reader.certificate(), maker.key(), maker.profile)
    expect_same(maker, "encrypt_signed", reader.do("decrypt_verified", message, reader.key(), maker.certificate()))


def password_message(maker, reader):
    message = maker.do("encrypt_with_password", TEXT, PASSWORD, maker.profile)
    expect_same(maker, "encrypt_with_password", reader.do("decrypt_with_password", message, PASSWORD))


def detached_signature(maker, reader):
    signature = maker.do("sign_detached", TEXT, maker.key())
    reader.do("verify_detached", TEXT, signature, maker.certificate())


def text_signature(maker, reader):
    signature = maker.do("sign_text", TEXT, maker.key())
    reader.do("verify_detached", TEXT.replace(b"\n", b"\r\n"), signature, maker.certificate())


def inline_signature(maker, reader):
    message = maker.do("sign_inline", TEXT, maker.key())
    expect_same(maker, "sign_inline", reader.do("verify_inline", message, maker.certificate()))


def cleartext_signature(maker, reader):
    message = maker.do("sign_cleartext", TEXT, maker.key())
    expect_same(maker, "sign_cleartext", reader.do("verify_cleartext", message, maker.certificate()), is_text=True)


def key_that_decrypts(maker, reader):
    message = maker.do("encrypt", TEXT, maker.certificate(), maker.profile)
    expect_same(maker, "encrypt", reader.do("decrypt", message, maker.key()))


def key_that_signs(maker, reader):
    signature = reader.do("sign_detached", TEXT, maker.key())
    maker.do("verify_detached", TEXT, signature, maker.certificate())


def locked_key_that_decrypts(maker, reader):
    message = maker.do("encrypt", TEXT, maker.locked_certificate(), maker.profile)
    expect_same(maker, "encrypt", reader.do("decrypt_locked", message, maker.locked_key(), PASSWORD))


def locked_key_that_signs(maker, reader):
    signature = reader.do("sign_locked", TEXT, maker.locked_key(), PASSWORD)
    maker.do("verify_detached", TEXT, signature, maker.locked_certificate())


def shared_message(maker, reader):
    """To both: each opens it."""
    expect_opened(maker, [(maker, maker), (reader, reader)])


def beside_version_6(maker, reader):
    """To a key of the reader's profile and to a classical one: the reader opens it with each."""
    expect_opened(maker, [(reader, reader), (reader, reader.beside("v6-25519"))])


def beside_version_4(maker, reader):
    """The same with a key of version 4, so that the message has SEIPD 1."""
    expect_opened(maker, [(reader, reader), (reader, reader.beside("universal"))], "encrypt_to_old")


def version_4_alone(maker, reader):
    """To the sample key of RFC 9980 of version 4, whose second subkey is post-quantum, and to one that has none."""
    expect_opened(
        maker, [(reader, reader.with_sample("v4-eddsa-sample")), (reader, reader.beside("universal"))],
        "encrypt_to_old")


def expect_opened(maker, readers, action="encrypt_to_all"):
    """One message to all, which each reader opens with the key of its owner alone."""
    message = maker.do(action, TEXT, [owner.certificate() for _, owner in readers], maker.profile)
    for reader, owner in readers:
        expect_same(maker, action, reader.do("decrypt", message, owner.key()))


# In the order of the table.
ALL = [
    ("certificate: the other encrypts to it", certificate),
    ("message, signed and encrypted", signed_message),
    ("message with a password", password_message),
    ("detached signature", detached_signature),
    ("detached signature over text", text_signature),
    ("inline-signed message", inline_signature),
    ("cleartext signature", cleartext_signature),
    ("secret key: the other decrypts", key_that_decrypts),
    ("secret key: the other signs", key_that_signs),
    ("locked key: the other decrypts", locked_key_that_decrypts),
    ("locked key: the other signs", locked_key_that_signs),
]

# Messages to several recipients. The other post-quantum profiles encrypt as these do.
MIXED_PROFILES = ["pqc", "pqc-high"]
MIXED = [
    ("message to both", shared_message),
    ("message to it and to a classical key of version 6", beside_version_6),
    ("message to it and to a classical key of version 4", beside_version_4),
    ("message to a key of version 4 with a subkey of ML-KEM-768 and to one without", version_4_alone),
]
