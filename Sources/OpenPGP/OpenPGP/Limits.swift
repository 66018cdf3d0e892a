// SPDX-License-Identifier: Apache-2.0
//
// Every limit of the engine, with its reason. Input comes from strangers: nothing it says may make this
// process take more memory or time than these allow.

/// The limits of input.
public enum Limits {
  /// Which limit was met.
  @nonexhaustive
  public enum Name: Sendable {
    /// ``Limits/packetByteCount``.
    case packetByteCount
    /// ``Limits/certificatePacketCount``.
    case certificatePacketCount
    /// ``Limits/certificateByteCount``.
    case certificateByteCount
    /// ``Limits/subpacketByteCount``, or the size of a signature's area.
    case subpacketByteCount
    /// ``Limits/integerBitCount``.
    case integerBitCount
    /// ``Limits/nestingDepth``.
    case nestingDepth
    /// ``Limits/recipientCount``.
    case recipientCount
    /// ``Limits/signatureCount``.
    case signatureCount
    /// ``Limits/saltedHashCount``.
    case saltedHashCount
    /// ``Limits/argon2MemoryExponent``, ``Limits/argon2PassedKiB`` or ``Limits/argon2PassedKiBOfMessage``.
    case argon2Memory
    /// ``Limits/compressionRatio`` beyond ``Limits/compressionAllowance``.
    case compressionRatio
    /// ``Limits/armorLineByteCount``, ``Limits/armorPreambleByteCount`` or ``Limits/armorHeaderCount``.
    case armorLine
    /// ``Limits/cleartextByteCount``.
    case cleartext
  }

  /// Octets in a packet that is held in memory: all but the data packets. Photographs in user attributes and
  /// signatures of post-quantum algorithms stay far below; embedded certificates fit.
  public static let packetByteCount = 1 << 20
  /// Packets in one certificate: the most certified keys of the public servers hold some ten thousand
  /// signatures.
  public static let certificatePacketCount = 200_000
  /// Octets of the packets of one certificate: the keys that the public servers were flooded with have some
  /// ten million; nothing honest comes near.
  public static let certificateByteCount = 64 << 20
  /// Attempts to find the subkeys that revocations are about, since they may be misplaced, after another one: each costs a
  /// hash. All the revocations that fit into a certificate are tried on twenty subkeys.
  public static let subkeyRevocationAttemptCount = 20 * certificatePacketCount
  /// Octets of the subpackets of all signatures on one document. The number of subpackets is not limited by
  /// itself, since areas end; but each takes some thirty times the memory of its shortest form. This is room
  /// for a thousand signatures of 4 KiB each, or for thirty-two whose areas are as full as version 4 allows.
  public static let subpacketByteCount = 4 << 20
  /// Signatures of one component that cannot be verified, and are kept when a certificate is reduced to its
  /// holder's statements: the holder may have made some, a stranger any number.
  public static let unverifiedSignatureCount = 16
  /// Bits of a multiprecision integer: RSA keys of 16,384 bits are the largest that anybody has made; a
  /// longer one only costs time.
  public static let integerBitCount = 16_384
  /// Compressed or encrypted data within another: a message of a mail program has one of each.
  public static let nestingDepth = 8
  /// Recipients of one message. A mailing list of ten thousand is imaginable, a million is an attack.
  public static let recipientCount = 20_000
  /// Packets with a session key for a public key that are kept, and pairs of such a packet with a private key
  /// that are tried: for anonymous recipients there is one for each of a group, and each costs a private-key
  /// operation.
  public static let privateKeyAttemptCount = 1024
  /// Packets with a session key for a password that are kept, and pairs of such a packet with a password that
  /// are tried: each costs a string-to-key derivation, which is meant to take time.
  public static let passwordAttemptCount = 64
  /// Octets of a packet with a session key: RSA with 16,384 bits needs 2 KiB.
  public static let sessionKeyPacketByteCount = 8 << 10
  /// Signatures on one message.
  public static let signatureCount = 1024
  /// Hashes with a salt that are made of one document when it is verified: signatures of version 6 share none, and
  /// anybody can write signatures that name a known key, each of which costs a hash of all the data. This is as
  /// many people as sign one thing in earnest, and about eighty seconds a GiB.
  public static let saltedHashCount = 64
  /// Keys that are tried for one signature: several may share an ID, and a signature may name many. Each
  /// costs a public-key operation.
  public static let issuerAttemptCount = 64
  /// Argon2: RFC 9580 A.12 needs 2 GiB (2^21 KiB); the memory guard decides below this.
  public static let argon2MemoryExponent: UInt8 = 22
  /// Argon2: KiB in all passes together. The standard's recommendations are one pass over 2 GiB and three over
  /// 64 MiB; a device with little memory makes up for it with passes. This is sixteen passes over the most
  /// memory, about a minute.
  public static let argon2PassedKiB = 16 << 22
  /// Argon2: the same for all passwords that are tried on one message: a few minutes. Sixty-four of the costliest
  /// that the standard recommends take half of it.
  public static let argon2PassedKiBOfMessage = 4 * argon2PassedKiB
  /// How many times larger than its compressed form data may become, beyond ``compressionAllowance``. Deflate
  /// cannot exceed 1,032; honest text stays below 100, a file of zeros does not.
  public static let compressionRatio = 1032
  /// Decompressed octets without regard to the ratio.
  public static let compressionAllowance = 64 << 20
  /// Octets in a header line or after the data of an armored block: what people write there is shorter. Lines of
  /// data may have any length, since they are decoded as they come.
  public static let armorLineByteCount = 64 << 10
  /// Octets that may come before the first armor header.
  public static let armorPreambleByteCount = 1 << 20
  /// Header lines of an armored block, which are read and not kept.
  public static let armorHeaderCount = 1024
  /// Octets of the text of a cleartext signed message, which is held in memory: it is meant to be read by
  /// people (section 7.3), and 16 MiB are more than all of Shakespeare.
  public static let cleartextByteCount = 16 << 20
}
