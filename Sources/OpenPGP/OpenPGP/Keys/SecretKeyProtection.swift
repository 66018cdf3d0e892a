// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 3.7.2 and 5.5.3: how the secret part of a key is protected, the key and the associated
// data of its AEAD, and the packets of a private key with and without protection. AEAD binds the secret
// fields to the kind of packet and to the public key.

internal import Primitives
internal import Secrets

/// The protection of a secret key's material.
///
/// [RFC 9580, section 3.7.2.1](https://www.rfc-editor.org/rfc/rfc9580#section-3.7.2.1)
public enum SecretKeyProtection: Hashable, Sendable {
  /// None; version 4 has a checksum of two octets after the material.
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

extension SecretKeyProtection {
  /// How keys are protected when they are written.
  public enum Profile: Sendable {
    /// AES-256 in CFB, iterated and salted S2K with SHA-256, the highest count: what GnuPG reads.
    case universal
    /// AES-256 in OCB, Argon2id with 2^19 KiB, 4 lanes, 3 passes (PG-15).
    case advanced
  }
}

extension SecretKeyProtection.Profile {
  /// Whether this machine has the memory to lock a key of this version now, as its profile does (PG-16). Ask before
  /// you ask a user for anything.
  /// - Throws: ``OpenPGPError/notEnoughMemory(neededByteCount:availableByteCount:)``.
  public static func checkMemory(version: UInt8) throws(OpenPGPError) {
    if case .advanced = forKey(version: version) { try StringToKey.newArgon2().checkMemory() }
  }
}

extension TransferableSecretKey {
  /// Whether this machine has the memory to unlock these secret keys now (PG-16).
  /// - Throws: ``OpenPGPError/notEnoughMemory(neededByteCount:availableByteCount:)``.
  public func checkMemory() throws(OpenPGPError) {
    for secret in secrets.values {
      switch secret.protection {
      case .cfb(_, let s2k, _), .aead(_, _, let s2k, _), .cfbChecksum(_, let s2k?, _): try s2k.checkMemory()
      case .cfbChecksum(_, nil, _), .none, .unknown: continue
      }
    }
  }
}

/// The key and the associated data of a secret key's AEAD.
struct SecretKeyAEAD {
  /// The packet's type as in a header of OpenPGP's format, and the fields of the public key.
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

extension UnlockedKey {
  /// The packet of this key without protection.
  public func withoutProtection() -> SecretKey {
    let packet = material.withBytes { material in
      var writer = SecretWriter(byteCount: material.byteCount + 2)
      writer.append(material)
      if publicKey.version == 4 {
        let sum = SecretMaterial.checksum(material)
        writer.append([UInt8(sum >> 8), UInt8(sum & 255)])
      }
      return writer.finish()
    }
    return SecretKey(publicKey: publicKey, protection: .none, protectedMaterial: SharedSecretBytes(packet))
  }

  /// The packet of this key, protected by a password. `isSubkey` is bound by AEAD (section 5.5.3).
  /// - Throws: ``OpenPGPError/notEnoughMemory(neededByteCount:availableByteCount:)`` for `advanced`.
  public func locked(
    password: RawSpan, with protection: SecretKeyProtection.Profile, isSubkey: Bool
  ) throws(OpenPGPError) -> SecretKey {
    switch protection {
    case .universal: try lockedByCFB(password)
    case .advanced:
      try lockedByAEAD(password, .newArgon2(), isSubkey: isSubkey)
    }
  }

  private func lockedByCFB(_ password: RawSpan) throws(OpenPGPError) -> SecretKey {
    let cipher = SymmetricAlgorithm.aes256
    let salt = SystemRandom.publicBytes(count: StringToKey.saltByteCount)
    let s2k = StringToKey.iterated(.sha256, salt: salt, codedCount: Self.highestCodedCount)
    let iv = SystemRandom.publicBytes(count: 16)
    let key = try s2k.deriveKey(password: password, byteCount: 32)
    var packet = material.withBytes { material in
      var writer = SecretWriter(byteCount: material.byteCount + Self.digestByteCount)
      writer.append(material)
      Self.digest(material).withBytes { writer.append($0) }
      return writer.finish()
    }
    var stream = try key.withBytes { key throws(OpenPGPError) in
      try CFBCipher(cipher, .encrypt, key: key, iv: iv.rawSpan)
    }
    packet.withMutableBytes { stream.process(&$0) }
    return SecretKey(
      publicKey: publicKey, protection: .cfb(cipher, s2k, iv: iv),
      protectedMaterial: SharedSecretBytes(packet))
  }

  /// The packet protected as in `advanced`, but with the derivation that is given.
  func lockedByAEAD(
    _ password: RawSpan, _ s2k: StringToKey, isSubkey: Bool
  ) throws(OpenPGPError) -> SecretKey {
    let (cipher, aead) = (SymmetricAlgorithm.aes256, AEADAlgorithm.ocb)
    let nonce = SystemRandom.publicBytes(count: aead.nonceByteCount ?? 0)
    let binding = SecretKeyAEAD(publicKey, isSubkey: isSubkey)
    let key = try binding.key(cipher, aead, s2k, password: password)
    var packet = SecretBytes(zeroed: material.count + AEADAlgorithm.tagByteCount)
    material.withBytes { material in packet.withMutableBytes { $0.copy(material, to: 0) } }
    var sealer = try key.withBytes { key throws(OpenPGPError) in
      try AEADCipher(cipher, aead, .seal, key: key)
    }
    packet.withMutableBytes {
      sealer.seal(
        &$0, nonce: nonce.rawSpan, authenticating: binding.associatedData.rawSpan)
    }
    return SecretKey(
      publicKey: publicKey, protection: .aead(cipher, aead, s2k, nonce: nonce),
      protectedMaterial: SharedSecretBytes(packet))
  }

  /// 65,011,712 octets: 40 ms here, and the most that the format has.
  private static let highestCodedCount: UInt8 = 255

  // MARK: The digest in CFB

  static let digestByteCount = 20

  /// SHA-1 of the secret fields, which is itself a secret: it confirms a guess.
  static func digest(_ material: RawSpan) -> SecretBytes {
    var digest = SecretBytes(zeroed: digestByteCount)
    digest.withMutableBytes { digest in hash(material, into: &digest) }
    return digest
  }

  private static func hash(_ material: RawSpan, into digest: inout MutableRawSpan) {
    var context = HashContext(.sha1)
    context.update(material)
    context.finish(into: &digest)
  }
}
