# SPDX-License-Identifier: Apache-2.0
"""What a peer made, spoilt in many ways: the reader (we) must refuse each variant and write no plaintext.
A refusal counts only since the whole thing is accepted first."""

import base64
import re

from checks import PASSWORD, SHORT_TEXT, TEXT, expect_same
from peers.peer import Refused

ENCRYPTED_TYPES = (9, 18, 20)
ONE_PASS, SIGNATURE, LITERAL, COMPRESSED = 4, 2, 11, 8


def dearmored(data):
    """The octets of an armored block; binary data as they are."""
    if data[:1] and data[0] & 0x80:
        return data
    block = re.search(rb"-----BEGIN PGP [^\n]*-----\r?\n(.*?)-----END", data, re.S)
    lines = [line.strip() for line in block.group(1).split(b"\n")]
    body = lines[lines.index(b"") + 1:]
    return base64.b64decode(b"".join(line for line in body if not re.fullmatch(rb"=[A-Za-z0-9+/]{4}", line)))


def armored(kind, data):
    lines = base64.encodebytes(data)
    return b"-----BEGIN PGP " + kind + b"-----\n\n" + lines + b"-----END PGP " + kind + b"-----\n"


def packets(data):
    """(type, start, body start, end) of each packet; a body in parts counts with the octets between them."""
    found, at = [], 0
    while at < len(data):
        start, first = at, data[at]
        if first & 0x40:
            kind, at = first & 0x3F, at + 1
            body, end = None, None
            while end is None:
                length, at, is_part = new_length(data, at)
                body = at if body is None else body
                at += length
                end = None if is_part else at
        else:
            kind, count = first >> 2 & 0x0F, (1, 2, 4, 0)[first & 3]
            body = start + 1 + count
            end = body + int.from_bytes(data[start + 1:body], "big") if count else len(data)
        at = end
        found.append((kind, start, body, end))
    return found


def new_length(data, at):
    """(length, where the body begins, whether another part follows)."""
    first = data[at]
    if first < 192:
        return first, at + 1, False
    if first < 224:
        return (first - 192 << 8) + data[at + 1] + 192, at + 2, False
    if first < 255:
        return 1 << (first & 31), at + 1, True
    return int.from_bytes(data[at + 1:at + 5], "big"), at + 5, False


def joined(data, body, end):
    """The octets of a body without the lengths of its parts."""
    start = max(header for header in range(max(0, body - 6), body) if begins(data, header, body))
    if not data[start] & 0x40:
        return data[body:end]
    output, at, is_part = b"", start + 1, True
    while is_part:
        length, at, is_part = new_length(data, at)
        output += data[at:at + length]
        at += length
    return output


def begins(data, header, body):
    return data[header] & 0xC0 == 0xC0 and new_length(data, header + 1)[1] == body or (
        data[header] & 0xC0 == 0x80 and header + 1 + (1, 2, 4, 0)[data[header] & 3] == body)


def packet(kind, body):
    return bytes([0xC0 | kind, 255]) + len(body).to_bytes(4, "big") + body


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 0x01]) + data[at + 1:]


def spoilt_messages(message):
    """(what was done, the message) for an encrypted one."""
    data = dearmored(message)
    kind, start, body, end = next(p for p in packets(data) if p[0] in ENCRYPTED_TYPES)
    content = joined(data, body, end)
    before = data[:start]
    yield "a bit of the beginning", before + packet(kind, flipped(content, min(60, len(content) // 2)))
    yield "a bit in the middle", before + packet(kind, flipped(content, len(content) // 2))
    yield "a bit of the last octet", before + packet(kind, flipped(content, len(content) - 1))
    yield "the last octet is missing", before + packet(kind, content[:-1])
    yield "the last 16 octets are missing", before + packet(kind, content[:-16])
    yield "the last 22 octets are missing", before + packet(kind, content[:-22])
    yield "the second half is missing", before + packet(kind, content[:len(content) // 2])
    yield "the second half is missing, lengths and all", data[:start + (end - start) // 2]
    yield "an octet more", before + packet(kind, content + b"\0")
    yield "the encrypted data twice", data + packet(kind, content)
    yield "the other version", before + packet(kind, bytes([content[0] ^ 3]) + content[1:])
    yield "without protection of integrity", before + packet(9, content[1:])
    yield "a bit of the session key", flipped(data, start - 1)
    if content[0] == 2:
        yield "another cipher", before + packet(kind, content[:1] + bytes([content[1] ^ 14]) + content[2:])
        yield "other chunks", before + packet(kind, content[:3] + bytes([content[3] ^ 1]) + content[4:])
        size = (1 << content[3] + 6) + 16
        first, second = content[36:36 + size], content[36 + size:36 + 2 * size]
        if len(second) == size:
            rest = content[36 + 2 * size:]
            yield "chunks in another order", before + packet(kind, content[:36] + second + first + rest)
            yield "a chunk twice", before + packet(kind, content[:36] + first + content[36:])
            yield "a chunk left out", before + packet(kind, content[:36] + second + rest)


def expect_refusal(done, action):
    """Runs what must fail, and looks at what it wrote."""
    try:
        action()
    except Refused as refusal:
        if refusal.output:
            raise Refused(f"{done}: refused, but {len(refusal.output)} octets were written") from None
        return 1
    raise Refused(f"{done}: accepted")


def message(maker, reader):
    whole = maker.do("encrypt", TEXT, reader.certificate(), maker.profile)
    expect_same(maker, "encrypt", reader.do("decrypt", whole, reader.key()))
    refused = 0
    for done, spoilt in spoilt_messages(whole):
        refused += expect_refusal(done, lambda: reader.do("decrypt", spoilt, reader.key()))
    return f"{refused} refused"


def short_message(maker, reader):
    whole = maker.do("encrypt_with_password", SHORT_TEXT, PASSWORD, maker.profile)
    expect_same(maker, "encrypt_with_password", reader.do("decrypt_with_password", whole, PASSWORD), SHORT_TEXT)
    wrong = expect_refusal("another password", lambda: reader.do("decrypt_with_password", whole, PASSWORD + "r"))
    data = dearmored(whole)
    spoilt = flipped(data, len(data) - 1)
    return f"{wrong + expect_refusal('the last bit', lambda: reader.do('decrypt_with_password', spoilt, PASSWORD))} refused"


def detached_signature(maker, reader):
    signature = dearmored(maker.do("sign_detached", TEXT, maker.key()))
    certificate, other = maker.certificate(), reader.do("certificate", reader.do("generate", reader.profile))
    reader.do("verify_detached", TEXT, signature, certificate)
    _, _, body, end = packets(signature)[0]
    variants = [
        ("a bit of the data", flipped(TEXT, 100), signature, certificate),
        ("an octet more", TEXT + b"\n", signature, certificate),
        ("an octet less", TEXT[:-1], signature, certificate),
        ("a bit of the signature", TEXT, flipped(signature, end - 1), certificate),
        ("a bit of a hashed subpacket", TEXT, flipped(signature, body + 8), certificate),
        ("another type", TEXT, flipped(signature, body + 1), certificate),
        ("another hash", TEXT, flipped(signature, body + 3), certificate),
        ("without its end", TEXT, signature[:-1], certificate),
        ("an octet more in the packet", TEXT, packet(SIGNATURE, signature[body:end] + b"\0"), certificate),
        ("another certificate", TEXT, signature, other),
    ]
    refused = 0
    for done, data, spoilt, of in variants:
        refused += expect_refusal(done, lambda: reader.do("verify_detached", data, spoilt, of))
    return f"{refused} refused"


def inline_signature(maker, reader):
    whole = dearmored(maker.do("sign_inline", TEXT, maker.key()))
    certificate = maker.certificate()
    expect_same(maker, "sign_inline", reader.do("verify_inline", whole, certificate))
    variants = [
        ("a bit in the middle", flipped(whole, len(whole) // 2)),
        ("a bit of the last octet", flipped(whole, len(whole) - 1)),
        ("the end is missing", whole[:-10]),
        ("the second half is missing", whole[:len(whole) // 2]),
        ("twice", whole + whole),
    ]
    found = packets(whole)
    if [kind for kind, *_ in found] == [ONE_PASS, LITERAL, SIGNATURE]:
        literal, last = found[1], found[2]
        variants.append(("without its signature", whole[:last[1]]))
        variants.append(("two texts", whole[:literal[3]] + whole[literal[1]:literal[3]] + whole[last[1]:]))
    refused = 0
    for done, spoilt in variants:
        refused += expect_refusal(done, lambda: reader.do("verify_inline", spoilt, certificate))
    return f"{refused} refused"


def cleartext_signature(maker, reader):
    whole = maker.do("sign_cleartext", TEXT, maker.key())
    certificate = maker.certificate()
    expect_same(maker, "sign_cleartext", reader.do("verify_cleartext", whole, certificate), is_text=True)
    begin = whole.index(b"-----BEGIN PGP SIGNED")
    headers = whole.index(b"\n", begin) + 1
    variants = [
        ("a bit of the text", flipped(whole, whole.index(b"here on"))),
        ("a line more", whole.replace(b"-----BEGIN PGP SIGNATURE", b"More\n-----BEGIN PGP SIGNATURE")),
        ("a header of one's own", whole[:headers] + b"Comment: pay at once\n" + whole[headers:]),
        ("a hash header of one's own", whole[:headers] + b"Hash: pay at once\n" + whole[headers:]),
        ("the end is missing", whole[:-60]),
        ("without signature", whole[:whole.index(b"-----BEGIN PGP SIGNATURE")]),
    ]
    refused = 0
    for done, spoilt in variants:
        if spoilt == whole:
            continue
        refused += expect_refusal(done, lambda: reader.do("verify_cleartext", spoilt, certificate))
    return f"{refused} refused"


ALL = [
    ("spoilt: message", message),
    ("spoilt: message with a password", short_message),
    ("spoilt: detached signature", detached_signature),
    ("spoilt: inline-signed message", inline_signature),
    ("spoilt: cleartext signature", cleartext_signature),
]
