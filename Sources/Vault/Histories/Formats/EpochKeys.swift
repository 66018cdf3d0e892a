// SPDX-License-Identifier: Apache-2.0
//
// The keys of an epoch. The epoch key encrypts nothing itself: each kind of object has a key that is derived from it, and
// each object has one that is derived from that.

internal import Primitives
public import Secrets

/// An epoch key and what is derived from it, once.
public final class EpochKeys: Sendable {
  /// Bytes in an epoch key.
  public static let keyByteCount = 32
  /// Bytes in a commitment.
  public static let commitmentByteCount = 32

  /// Names the epoch in the head of objects.
  public let name: EpochName
  /// The epoch key, 32 random bytes.
  public let key: SharedSecretBytes
  /// 32 bytes, which the owner signs: no two keys have the same.
  public let commitment: [UInt8]
  /// For packs of messages.
  public let pack: SharedSecretBytes
  /// For segments.
  public let segment: SharedSecretBytes
  /// For control operations.
  public let control: SharedSecretBytes

  /// - Parameters:
  ///   - number: of the epoch, from 1.
  ///   - key: 32 bytes.
  public init(number: UInt32, key: SharedSecretBytes) {
    precondition(key.count == Self.keyByteCount, "an epoch key has 32 bytes")
    self.key = key
    let commitment = Self.derive(key, "coffer epoch v1 commitment").withBytes { [UInt8](copying: $0) }
    self.commitment = commitment
    name = EpochName(number: number, check: commitment[..<4].reduce(0) { $0 << 8 | UInt32($1) })
    pack = Self.derive(key, "coffer account v1 pack")
    segment = Self.derive(key, "coffer account v1 segment")
    control = Self.derive(key, "coffer account v1 control")
  }

  /// A new epoch's key from random bytes and from what its operation does: two copies of one device with one random state,
  /// which do different things, make different keys. One of the copies may be revoked by the other.
  static func newKey(_ random: SharedSecretBytes, for context: [UInt8]) -> SharedSecretBytes {
    let info = Array("coffer epoch v1 key".utf8) + context
    var hkdf = HKDF()
    let key = random.withBytes { hkdf.deriveKey(ikm: $0, salt: RawSpan(), info: info.rawSpan) }
    return SharedSecretBytes(key.withBytes { SecretBytes(copying: $0) })
  }

  private static func derive(_ key: SharedSecretBytes, _ label: StaticString) -> SharedSecretBytes {
    SharedSecretBytes(key.withBytes { HKDF.secret(from: $0, info: label) })
  }
}
