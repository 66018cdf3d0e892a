// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 3.7: how a password becomes a key. The specifier only; the derivation is in Cryptography.

internal import Primitives

/// A string-to-key specifier.
///
/// [RFC 9580, section 3.7](https://www.rfc-editor.org/rfc/rfc9580#section-3.7)
public enum StringToKey: Hashable, Sendable {
  /// The hash of the password.
  case simple(HashAlgorithm)
  /// The salt has eight octets.
  case salted(HashAlgorithm, salt: [UInt8])
  /// The salt has eight octets; the count of octets to hash is coded (section 3.7.1.3).
  case iterated(HashAlgorithm, salt: [UInt8], codedCount: UInt8)
  /// The salt has 16 octets; the memory is 2^`memoryExponent` KiB.
  case argon2(salt: [UInt8], passes: UInt8, lanes: UInt8, memoryExponent: UInt8)
  /// Another type, with all octets after it.
  case unknown(type: UInt8, [UInt8])

  static let saltByteCount = 8
  static let argon2SaltByteCount = 16

  /// - Parameter count: the octets of the specifier when the packet says so; else it ends by itself.
  init(_ cursor: inout PacketCursor, _ body: RawSpan, count: Int? = nil) throws(OpenPGPError) {
    let start = cursor.offset
    let type = try cursor.readByte(body)
    switch type {
    case 0: self = .simple(HashAlgorithm(rawValue: try cursor.readByte(body)))
    case 1:
      let hash = HashAlgorithm(rawValue: try cursor.readByte(body))
      self = .salted(hash, salt: try cursor.readBytes(body, count: Self.saltByteCount))
    case 3:
      let hash = HashAlgorithm(rawValue: try cursor.readByte(body))
      let salt = try cursor.readBytes(body, count: Self.saltByteCount)
      self = .iterated(hash, salt: salt, codedCount: try cursor.readByte(body))
    case 4:
      let salt = try cursor.readBytes(body, count: Self.argon2SaltByteCount)
      let passes = try cursor.readByte(body)
      let lanes = try cursor.readByte(body)
      self = .argon2(salt: salt, passes: passes, lanes: lanes, memoryExponent: try cursor.readByte(body))
    default:
      let rest = count.map { $0 - 1 } ?? body.byteCount - cursor.offset
      self = .unknown(type: type, try cursor.readBytes(body, count: rest))
    }
    if let count, cursor.offset - start != count { throw .malformed(.stringToKey) }
  }

  /// The octets that iterated hashing takes in (section 3.7.1.3).
  static func octetCount(coded: UInt8) -> Int { (16 + Int(coded & 15)) << (Int(coded >> 4) + 6) }

  var bytes: [UInt8] {
    switch self {
    case .simple(let hash): [0, hash.rawValue]
    case .salted(let hash, let salt): [1, hash.rawValue] + salt
    case .iterated(let hash, let salt, let coded): [3, hash.rawValue] + salt + [coded]
    case .argon2(let salt, let passes, let lanes, let exponent): [4] + salt + [passes, lanes, exponent]
    case .unknown(let type, let rest): [type] + rest
    }
  }
}
