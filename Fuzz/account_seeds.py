# SPDX-License-Identifier: Apache-2.0
#
# Makes inputs for fuzz-accounts: one value of each format, written as its page in Specs says and by no code of ours.
"""seeds() gives them, each with the first octet that fuzz-accounts expects."""

import hashlib
import json
import re
import struct
import uuid

# The first octet of an input, as FuzzAccounts.swift has it.
(SLOT, OPERATION, SEGMENT, FRAME, ANSWER, PLACE, ADDRESS, ENVELOPES, KEYS, DIRECTORY, NAME, STATE, CONTENT, FIRST_PART,
 MANIFEST) = range(15)
PLACES = [
    b"folder:///media/stick/a%20b",
    b"folder:///" + 1_363 * b"!",
    b"s3://key:se%2Fcret@host:81/bucket/prefix?region=x&pin=sha256//" + 43 * b"A" + b"=",
    b"s3://key:secret@[::1]:81/bucket?tls=off",
    b"postgresql://user:pass%3Aword@db.example:5433/coffer/ada?pin=sha256//" + 43 * b"A" + b"=",
    b"postgresql://user:word@127.0.0.1/coffer?tls=off",
]
ACCOUNT, DEVICE, OTHER, HASH, RECORD = (bytes([octet]) * size for octet, size in ((1, 16), (2, 16), (3, 16), (4, 32), (5, 16)))
POINT = b"\4" + 64 * b"\6"
# A key of P-256, and its signature of the manifest below.
SIGNER = bytes.fromhex(
    "046541334c430d75322f9f4d4a80f57977c0951f50512a0fc3d47d2ebb8790fed5"
    "6da450e050156851669947a0af620825e199d02229ad8eff6772ddafc8989df3")
SIGNATURE = bytes.fromhex(
    "304402201f3ea2645b6a9ae3399b562453bcdcf26d7205518d259642970966255f1767"
    "d802203504bdec72b93241bc292a8b3a3ed9df526e2c73f2affd609bdcea4b0c3c2b36")
VERSION = struct.pack(">Q", 9) + 16 * b"\7"
SEGMENT_NAME = DEVICE + struct.pack(">Q", 4) + HASH
NAMES = [
    "format",
    "slots/" + HASH.hex(),
    f"control/{7:016x}-{HASH.hex()}",
    f"chain/{DEVICE.hex()}/{1:016x}/{513:016x}-{HASH.hex()}",
    f"pack/{DEVICE.hex()}/04/{HASH.hex()}",
    "request/" + RECORD.hex(),
]


def number(value, size):
    return value.to_bytes(size, "big")


def items(count_size, *entries):
    """A count, and the entries."""
    return number(len(entries), count_size) + b"".join(entries)


def long(body, size=4):
    """Bytes after their length."""
    return number(len(body), size) + body


def seeds():
    """All inputs."""
    found = []
    for make in (slots, operations, segments, frames, answers, addresses, envelopes, directories, states, contents, captures):
        found += make()
    return found + [bytes([NAME]) + name.encode() for name in NAMES]


def slots():
    """Of a passphrase and of words; what is sealed in them is any bytes."""
    rest = number(1_760_000_000, 8) + 32 * b"s" + 32 * b"k" + 12 * b"n" + 242 * b"c"
    return [bytes([SLOT]) + b"COFACC01" + RECORD + kind + rest
            for kind in (b"\1\1" + struct.pack(">III", 65_536, 3, 4), b"\2\2" + bytes(12))]


def device(replaces=None):
    """A device as a control operation has it."""
    return DEVICE + 2 * POINT + b"\2" + long("Küche".encode(), 1) + (b"\1" + replaces if replaces else b"\0")


def slot(octet=b"\5"):
    """A slot as a control operation has it."""
    return 16 * octet + b"\2" + POINT + HASH


def operation(kind, body, signatures=1):
    """A control operation that is not genesis."""
    return (b"\1" + ACCOUNT + 16 * b"r" + number(2, 4) + number(6, 8) + items(1, HASH, 32 * b"\5")
            + items(2, SEGMENT_NAME) + HASH + items(2, b"\0\0\0\1abcd") + bytes([kind]) + long(body) + signatures * 64 * b"g")


def operations():
    """One of each kind."""
    genesis = (b"\1" + bytes(16) + 16 * b"r" + number(1, 4) + number(0, 8) + items(1) + items(2)
               + hashlib.sha256().digest() + items(2) + b"\1" + long(POINT + device() + HASH) + 64 * b"g")
    revoked = items(2, DEVICE + items(2, number(3, 8) + HASH, number(4, 8) + HASH), OTHER + items(2))
    slots_changed = items(1, RECORD, 16 * b"\6") + items(1, slot(), slot(b"\6"))
    found = [genesis, operation(2, device()), operation(2, device(OTHER)), operation(3, slot()),
             operation(4, revoked + slots_changed + b"\1" + POINT + HASH, 2),
             operation(4, items(2) + items(1) + items(1) + b"\0" + HASH)]
    return [bytes([OPERATION]) + one for one in found]


def padded(body):
    """Zeros that bring a length with a signature to a Padmé size, then the signature."""
    length = len(body) + 64
    exponent = length.bit_length() - 1
    mask = (1 << (exponent - exponent.bit_length())) - 1
    return body + bytes((length + mask & ~mask) - length) + 64 * b"g"


def segments():
    """That of the page, and one with an operation of each kind."""
    with open("Specs/remote.md", encoding="utf-8") as file:
        body = re.search(r"```hex body\n(.*?)```", file.read(), re.S)
    addition = RECORD + number(1_760_000_000, 8) + VERSION + items(2, VERSION) + b"\0\0" + number(1, 4) + HASH
    said = [
        (1, 1, addition), (3, 1, addition + 2 * HASH), (4, 1, addition), (2, 1, RECORD + items(2, VERSION)),
        (5, 0, RECORD + VERSION + number(1, 2) + HASH + b"\0\1" + number(2, 4)), (200, 0, b"later"),
    ]
    all_kinds = (b"\1" + ACCOUNT + DEVICE + number(5, 8) + HASH + number(1_760_000_000, 8) + number(9, 8) + b"\0\1\1"
                 + items(2, SEGMENT_NAME) + items(1, HASH) + HASH
                 + items(2, HASH + number(4096, 4), 32 * b"\5" + number(1 << 24, 4))
                 + items(2, *(bytes([kind, flags]) + long(text) for kind, flags, text in said)))
    return [bytes([SEGMENT]) + bytes.fromhex(body.group(1)) + bytes(64), bytes([SEGMENT]) + padded(all_kinds)]


def frames():
    """The frames of Specs/courier.md, and some that it has in words only."""
    with open("Specs/courier.md", encoding="utf-8") as file:
        found = [bytes.fromhex(text) for text in re.findall(r"```hex [a-z ]+\n(.*?)```", file.read(), re.S)]
    name = long(b"chain/1", 2)
    bodies = [
        (2, long(b"chain", 2) + long(b"next", 2)), (3, name + b"\0"), (5, name), (6, name), (129, b""),
        (130, number(4, 4) + number(1, 4)), (131, b"\0" + items(4, name + number(9, 8)) + long(b"next", 2)),
        (133, number(9, 8)), (136, b"\12" + number(5, 4)),
    ]
    found += [bytes([kind]) + number(1, 4) + long(body) for kind, body in bodies]
    return [bytes([FRAME]) + frame for frame in found]


def answers():
    """A list, an error, and a part of an object."""
    entry = (b"<Contents><Key>a\xc3\xa9/b/chain/%d</Key><Size>9</Size><ETag>&quot;e&quot;</ETag>"
             b"<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>")
    listing = (b'<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/"><IsTruncated>true</IsTruncated>'
               b"<NextContinuationToken>a&amp;&#x62;&#99;</NextContinuationToken>" + entry % 1 + entry % 2
               + b"<CommonPrefixes/></ListBucketResult>")
    date = b"date:Sun, 06 Nov 1994 08:49:37 GMT\n"
    error = b"<Error><Code>%s</Code><Message>no &lt;text&gt;</Message></Error>"
    found = [(b"", listing), (date, listing), (b"status:206\ncontent-range:bytes 2-3/9\ncontent-length:9\n", b"ab"),
             (b"status:416\n", b"")]
    found += [(b"status:%d\n" % status, error % code) for status, code in
              ((404, b"NoSuchKey"), (404, b"NoSuchBucket"), (403, b"QuotaExceeded"), (503, b"SlowDown"))]
    return [bytes([ANSWER]) + headers + b"\0" + body for headers, body in found]


def addresses():
    """URLs of places, and cards of an account there."""
    secret = 16 * b"\x55"
    check = hashlib.sha256(b"coffer account card v1" + ACCOUNT + secret).digest()[:2]
    end = b"account=" + ACCOUNT.hex().encode() + b"#" + (secret + check).hex().encode()
    cards = [place + (b"&" if b"?" in place else b"?") + end for place in PLACES]
    return [bytes([PLACE]) + place for place in PLACES] + [bytes([ADDRESS]) + card for card in cards]


def envelopes():
    """The object of a control operation with two envelopes, and the keys in one."""
    sealed = 8 * b"t" + POINT + 32 * b"s" + 32 * b"c" + 12 * b"n" + 60 * b"x"
    found = items(2, b"\1" + long(sealed), b"\2" + long(b"later"))
    objects = [magic + b"\0\0\0\1abcd" + 32 * b"s" + found + 200 * b"o" for magic in (b"COFCTL01", b"COFSEG01", b"COFPAK01")]
    keys = items(2, *(number(epoch, 4) + 32 * bytes([epoch]) for epoch in (3, 1, 2)))
    return ([bytes([ENVELOPES]) + one for one in objects]
            + [bytes([KEYS]) + keys + b"\0\0", bytes([KEYS]) + keys + b"\1" + 16 * b"u" + b"\1" + 32 * b"p" + POINT])


def directories():
    """Of a pack with a message, a part of a capture, and padding."""
    start = 52 + 1024 + 16
    entries, offset = [], start
    for kind, size in ((1, 100), (2, 200), (4, 0)):
        if kind == 4:
            size = len(padded(bytes(offset + 16 - 64))) - offset
        entries.append(bytes([kind]) + number(offset, 4) + number(size, 4) + HASH)
        offset += size
    return [bytes([DIRECTORY]) + number(offset, 4) + items(4, *entries).ljust(1024, b"\0")]


def states():
    """A local state with something in each field."""
    def name(path):
        return long(path.encode(), 1)

    alarms = [bytes([kind]) + name(NAMES[4]) for kind in (1, 2, 3, 8)] + [b"\4", b"\5" + DEVICE, b"\6", b"\7" + SEGMENT_NAME]
    waiting = [b"\1\3" + RECORD + number(19, 8) + VERSION + items(4, VERSION) + HASH + items(4, HASH, HASH),
               b"\2" + RECORD + items(4, VERSION), b"\3\3" + RECORD + VERSION + number(2, 2) + HASH]
    fields = [
        ACCOUNT, long(device(), 2), b"\1", items(4, OTHER), items(4, SEGMENT_NAME),
        items(4, HASH + b"\1" + HASH, 32 * b"\5" + b"\2" + items(4, HASH)), items(4, *alarms),
        items(4, SEGMENT_NAME + b"\1"), items(4, SEGMENT_NAME), items(4, HASH),
        items(4, *(SEGMENT_NAME + b"\0\1" + number(2, 4) + number(lamport, 8) + number(4, 8) for lamport in range(8, 0, -1))), items(4, *map(name, NAMES[1:])),
        items(4, name(NAMES[2])), items(4, name(NAMES[1])), b"\1" + number(16, 8), items(4, name(NAMES[4]) + number(17, 8)),
        items(4, *waiting),
    ]
    local = b"COFHST01" + b"".join(fields)
    row = b"COFSYN01" + 2 * (number(3, 8) + HASH) + number(3, 8) + long(40 * b"v", 1) + number(9, 8) + number(0, 8)
    return [bytes([STATE]) + local, bytes([STATE]) + row + local]


def contents():
    """A message with the name of its row, and a label."""
    label = long(b"title", 2) + long("Notiz\nä".encode()) + items(1, long(b"tag", 2), long(b"", 2))
    return [bytes([CONTENT]) + b"\1" + RECORD + body for body in (b"a frame", label)]


def captures():
    """The first part of a capture, its manifest, and metadata."""
    parts = [(1, b"\xff\xd8\xff\xd9"), (3, b'{"a":[1.5e3,"\\u00e9",null]}'), (4, b"\xff\xd8")]
    described = [{"bytes": len(body), "name": ("photo", "depth", "metadata", "thumbnail")[kind - 1],
                  "sha256": hashlib.sha256(body).hexdigest()} for kind, body in parts]
    manifest = json.dumps({
        "capture": str(uuid.UUID(bytes=RECORD)), "created": "2026-01-01T00:00:00Z", "device": "d", "keyId": hashlib.sha256(SIGNER).hexdigest(),
        "level": "unverified", "parts": described, "version": 1,
    }, separators=(",", ":")).encode()
    parts += [(5, manifest), (6, SIGNER + SIGNATURE)]
    created = 1_767_225_600
    first = b"\1" + RECORD + number(created, 8) + items(
        1, *(bytes([kind]) + number(len(body), 8) + hashlib.sha256(body).digest() + body for kind, body in parts))
    return [bytes([FIRST_PART]) + first, bytes([MANIFEST]) + manifest, bytes([MANIFEST]) + parts[1][1]]
