// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.1.3 and 5.1.5: what RSA and ECDH encrypt. Version 3 has the cipher's number before the
// key, version 6 leaves it out; both have a checksum behind it.

internal import Primitives
internal import Secrets

/// The octets that a session key is encrypted as.
enum SessionKeyPayload {
  /// Octets of the keys that are read: those of all ciphers in the registry.
  static let keyByteCounts = [16, 24, 32]
  static let checksumByteCount = 2

  /// The ciphers of the registry with keys of so many octets.
  static func ciphers(keyByteCount: Int) -> [SymmetricAlgorithm] {
    (1...13).map { SymmetricAlgorithm(rawValue: $0) }.filter { $0.keyByteCount == keyByteCount }
  }

  static func make(_ key: SessionKey, version: UInt8) throws(OpenPGPError) -> SecretBytes {
    let cipher = try checkedCipher(key, version: version)
    return key.bytes.withBytes { bytes in
      var writer = SecretWriter(byteCount: 1 + bytes.byteCount + checksumByteCount)
      if version == 3 { writer.append([cipher.rawValue]) }
      writer.append(bytes)
      let checksum = SecretMaterial.checksum(bytes)
      writer.append([UInt8(checksum >> 8), UInt8(checksum & 255)])
      return writer.finish()
    }
  }

  /// The cipher of a key that is to be encrypted; the caller must have made it fit.
  static func checkedCipher(_ key: SessionKey, version: UInt8) throws(OpenPGPError) -> SymmetricAlgorithm {
    guard keyByteCounts.contains(key.bytes.count) else { throw .malformed(.sessionKey) }
    guard version == 3 else { return key.cipher ?? .plaintext }
    guard let cipher = key.cipher, cipher.keyByteCount == key.bytes.count else {
      throw .malformed(.sessionKey)
    }
    return cipher
  }

  /// The session key in octets whose integrity has been checked.
  /// - Throws: ``OpenPGPError/notAuthentic``.
  static func read(_ payload: RawSpan, version: UInt8) throws(OpenPGPError) -> SessionKey {
    let headByteCount = version == 3 ? 1 : 0
    let keyByteCount = payload.byteCount - headByteCount - checksumByteCount
    guard keyByteCounts.contains(keyByteCount) else { throw .notAuthentic }
    func octet(_ offset: Int) -> UInt8 { unsafe payload.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
    let key = payload.extracting(headByteCount..<headByteCount + keyByteCount)
    let end = headByteCount + keyByteCount
    let expected = UInt16(octet(end)) << 8 | UInt16(octet(end + 1))
    var cipher: SymmetricAlgorithm?
    if version == 3 { cipher = SymmetricAlgorithm(rawValue: octet(0)) }
    guard cipher == nil || cipher?.keyByteCount == keyByteCount, SecretMaterial.checksum(key) == expected
    else { throw .notAuthentic }
    return SessionKey(cipher: cipher, bytes: SharedSecretBytes(SecretBytes(copying: key)))
  }
}
