// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.5.3: what AEAD binds the protected fields to: the kind of packet and the public key.

internal import Primitives
internal import Secrets

/// The key and the associated data of a secret key's AEAD.
struct ProtectionBinding {
  /// The packet's type as it stands in a header of OpenPGP's format, and the fields of the public key.
  let associatedData: [UInt8]
  private let version: UInt8

  init(_ key: PublicKey, isSubkey: Bool) {
    let type: PacketType = isSubkey ? .secretSubkey : .secretKey
    associatedData = [0xC0 | type.rawValue] + key.body
    version = key.version
  }

  /// The key of the AEAD: HKDF of the password's.
  func key(
    _ cipher: SymmetricAlgorithm, _ aead: AEADAlgorithm, _ s2k: StringToKey, password: RawSpan
  ) throws(OpenPGPError) -> SecretBytes {
    guard let keyByteCount = cipher.keyByteCount else {
      throw .unsupported(.symmetricAlgorithm(cipher.rawValue))
    }
    let derived = try s2k.deriveKey(password: password, byteCount: keyByteCount)
    let info = [associatedData[0], version, cipher.rawValue, aead.rawValue]
    return derived.withBytes {
      HKDF.derive(.sha256, ikm: $0, salt: RawSpan(), info: info, byteCount: keyByteCount)
    }
  }
}
