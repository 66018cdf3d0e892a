// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 3.7.2 and 5.5.3: how the secret part of a key is protected.

/// The protection of a secret key's material.
public enum SecretKeyProtection: Hashable, Sendable {
  /// None; version 4 has a checksum of two octets behind the material.
  case none
  /// Usage 254: CFB, with a SHA-1 of the material inside.
  case cfb(SymmetricAlgorithm, StringToKey, iv: [UInt8])
  /// Usage 255, and the cipher's number itself as usage (then the key is derived by simple S2K with MD5): CFB
  /// with a checksum of two octets. Read in version 4 only.
  case cfbChecksum(SymmetricAlgorithm, StringToKey?, iv: [UInt8])
  /// Usage 253: AEAD.
  case aead(SymmetricAlgorithm, AEADAlgorithm, StringToKey, nonce: [UInt8])
  /// Anything else, such as a key that is on a card: usage octet and the octets up to the material's place,
  /// which is empty.
  case unknown(usage: UInt8, [UInt8])
}
