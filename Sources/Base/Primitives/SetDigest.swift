// SPDX-License-Identifier: Apache-2.0
//
// An authenticated count: how many members a set has, and the sum (exclusive or) of a keyed hash of each. It
// is stored sealed beside the rows that it covers, and changed with them in one transaction. It no longer
// matches after anybody else has removed, added or exchanged a row. Adding and removing cost one MAC, however
// large the set. (MSet-XOR-Hash of Clarke et al., ASIACRYPT 2003, with the sum kept secret.)

public import Secrets

/// The digest of a set: equal for equal sets, whatever the order of insertion.
public struct SetDigest: Equatable, Sendable {
  /// Bytes of ``sum``.
  public static let sumByteCount = HMACSHA256.byteCount

  /// The number of members.
  public var count: Int
  /// The exclusive or of the keyed hashes of all members.
  public var sum: [UInt8]

  /// The empty set.
  public init() {
    count = 0
    sum = [UInt8](repeating: 0, count: Self.sumByteCount)
  }

  /// A digest that was stored.
  public init(count: Int, sum: [UInt8]) {
    precondition(sum.count == Self.sumByteCount, "a sum has 32 bytes")
    self.count = count
    self.sum = sum
  }
}

/// Computes set digests under a key.
public struct SetHash: ~Copyable {
  private let key: SecretBytes
  private var hmac = HMACSHA256()
  private var code = SecretBytes(zeroed: HMACSHA256.byteCount)

  /// - Parameter key: 32 secret bytes, used for this set alone.
  public init(key: consuming SecretBytes) { self.key = key }

  /// Adds a member that is not in the set.
  public mutating func add(_ member: RawSpan, to digest: inout SetDigest) {
    toggle(member, &digest.sum)
    digest.count += 1
  }

  /// Removes a member of the set.
  public mutating func remove(_ member: RawSpan, from digest: inout SetDigest) {
    toggle(member, &digest.sum)
    digest.count -= 1
  }

  private mutating func toggle(_ member: RawSpan, _ sum: inout [UInt8]) {
    code.withMutableBytes { code in
      key.withBytes { hmac.authenticate(member, key: $0, into: &code) }
    }
    code.withBytes { code in
      for offset in 0..<SetDigest.sumByteCount { sum[offset] ^= code.unsafeLoadByte(offset) }
    }
  }
}
