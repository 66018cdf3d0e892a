// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.13: which of the two forms a message is encrypted in.

/// How a message is encrypted: known to the sender before anything is written (D27), and to the recipient
/// with the plaintext.
public enum EncryptionFormat: Hashable, Sendable {
  /// Integrity protected data of version 1: CFB and a modification detection code.
  case version1(SymmetricAlgorithm)
  /// Integrity protected data of version 2: AEAD in chunks.
  case version2(AEADCiphersuite)

  /// The cipher of the session key.
  public var cipher: SymmetricAlgorithm {
    switch self {
    case .version1(let cipher): cipher
    case .version2(let suite): suite.cipher
    }
  }

  /// The version of the packets that carry the session key to a public key.
  var publicKeyPacketVersion: UInt8 {
    switch self {
    case .version1: 3
    case .version2: 6
    }
  }
}
