// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.13: what stands before the ciphertext.

/// The fields of a symmetrically encrypted and integrity protected data packet before the ciphertext.
public enum SEIPDHeader: Hashable, Sendable {
  /// CFB and a modification detection code (section 5.13.1).
  case version1
  /// AEAD in chunks of 2^(`chunkOctet` + 6) octets (section 5.13.2); the salt has 32.
  case version2(SymmetricAlgorithm, AEADAlgorithm, chunkOctet: UInt8, salt: [UInt8])

  static let saltByteCount = 32
  /// Chunks of 4 MiB at most (section 5.13.2).
  static let chunkOctetLimit: UInt8 = 16

  init(_ source: any ByteSource) throws(OpenPGPError) {
    switch try source.readByte() {
    case 1: self = .version1
    case 2:
      let cipher = SymmetricAlgorithm(rawValue: try source.readByte())
      let aead = AEADAlgorithm(rawValue: try source.readByte())
      let chunkOctet = try source.readByte()
      guard chunkOctet <= Self.chunkOctetLimit else { throw .malformed(.encryptedData) }
      var salt: [UInt8] = []
      for _ in 0..<Self.saltByteCount { salt.append(try source.readByte()) }
      self = .version2(cipher, aead, chunkOctet: chunkOctet, salt: salt)
    case let version: throw .unsupported(.packetVersion(.seipd, version))
    }
  }

  /// The octets before the ciphertext.
  public var bytes: [UInt8] {
    switch self {
    case .version1: [1]
    case .version2(let cipher, let aead, let chunkOctet, let salt):
      [2, cipher.rawValue, aead.rawValue, chunkOctet] + salt
    }
  }
}
