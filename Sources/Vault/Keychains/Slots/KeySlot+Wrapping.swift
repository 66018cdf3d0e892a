// SPDX-License-Identifier: Apache-2.0
//
// Wrapping the two class keys and the owner key under a slot's secret. Labels of Specs/keybag.md: "coffer keybag v1 check",
// "coffer keybag v1 wrap".

internal import Foundation
internal import Primitives
internal import Secrets

extension KeySlot {
  /// A new slot that wraps `keys`, all three.
  ///
  /// - Parameter label: the owner's name for the slot; nil for none.
  /// - Throws: `KeybagError.wrongSecret` when one is missing; `.derivation` when the KDF is refused: its costs are out of
  ///   bounds, it is not one for this kind of credential, or there is not enough memory; `.invalidLabel`.
  static func wrap(
    _ keys: ClassKeys, credential: borrowing SlotCredential, label: String? = nil, kdf: SlotKDF,
    created: Int64
  ) throws(KeybagError) -> KeySlot {
    guard let whenUnlocked = keys.whenUnlocked, let afterFirstUnlock = keys.afterFirstUnlock,
      let owner = keys.owner
    else { throw .wrongSecret }
    guard let method = SlotMethods.method(of: credential.kind), method.allows(kdf) else {
      throw .derivation(.parameters)
    }
    // Of the methods only that of security keys refuses an attachment of its own: one without a label.
    guard let attachment = SlotAttachment(label: label, details: credential.details),
      method.accepts(attachment)
    else { throw .invalidLabel }
    let salt = SystemRandom.publicBytes(count: saltByteCount)
    let secret = try credential.secret(kdf, salt: salt)
    var all = SecretBytes(zeroed: keysByteCount)
    all.withMutableBytes { all in
      whenUnlocked.withBytes { all.copy($0, to: 0) }
      afterFirstUnlock.withBytes { all.copy($0, to: SymmetricKey.byteCount) }
      owner.withBytes { all.copy($0, to: 2 * SymmetricKey.byteCount) }
    }
    let open = KeySlot(
      id: UUID(), kind: credential.kind, kdf: kdf, created: created, salt: salt,
      check: derivedCheck(secret, salt: salt),
      nonce: SystemRandom.publicBytes(count: AES256GCM.nonceByteCount), wrapped: [], attachment: attachment)
    var wrapped = [UInt8](repeating: 0, count: wrappedByteCount)
    var span = wrapped.mutableSpan
    var output = unsafe span.mutableBytes
    var cipher = AES256GCM()
    let aad = open.publicBytes()
    do {
      try wrappingKey(secret, salt: salt).withBytes { key throws(CryptoError) in
        try all.withBytes { all throws(CryptoError) in
          try cipher.seal(
            all, key: key, nonce: open.nonce.rawSpan, authenticating: aad.rawSpan, into: &output)
        }
      }
    } catch { preconditionFailure("96 bytes can be sealed") }
    return KeySlot(
      id: open.id, kind: open.kind, kdf: kdf, created: created, salt: salt, check: open.check,
      nonce: open.nonce, wrapped: wrapped, attachment: attachment)
  }

  /// All three keys, when `credential` is this slot's.
  ///
  /// - Returns: nil when the key-check value does not match.
  /// - Throws: `KeybagError.corrupt` when the secret is right and the wrapped keys are not.
  func unwrap(_ credential: borrowing SlotCredential) throws(KeybagError) -> ClassKeys? {
    let secret = try credential.secret(kdf, salt: salt)
    let expected = Self.derivedCheck(secret, salt: salt)
    guard constantTimeEqual(expected.rawSpan, check.rawSpan) else { return nil }
    var all = SecretBytes(zeroed: Self.keysByteCount)
    var cipher = AES256GCM()
    let aad = publicBytes()
    do {
      try Self.wrappingKey(secret, salt: salt).withBytes { key throws(CryptoError) in
        try all.withMutableBytes { all throws(CryptoError) in
          try cipher.open(
            wrapped.rawSpan, key: key, nonce: nonce.rawSpan, authenticating: aad.rawSpan,
            into: &all)
        }
      }
    } catch { throw .corrupt }
    let count = SymmetricKey.byteCount
    return all.withBytes { all in
      ClassKeys(
        whenUnlocked: SharedSecretBytes(SecretBytes(copying: all.extracting(first: count))),
        afterFirstUnlock: SharedSecretBytes(SecretBytes(copying: all.extracting(count..<2 * count))),
        owner: SharedSecretBytes(SecretBytes(copying: all.extracting(last: count))))
    }
  }

  private static func wrappingKey(_ secret: borrowing SecretBytes, salt: [UInt8]) -> SymmetricKey {
    var hkdf = HKDF()
    return secret.withBytes {
      hkdf.deriveKey(ikm: $0, salt: salt.rawSpan, info: "coffer keybag v1 wrap")
    }
  }

  private static func derivedCheck(_ secret: borrowing SecretBytes, salt: [UInt8]) -> [UInt8] {
    var hkdf = HKDF()
    var check = [UInt8](repeating: 0, count: checkByteCount)
    var span = check.mutableSpan
    var output = unsafe span.mutableBytes
    let info: StaticString = "coffer keybag v1 check"
    secret.withBytes { secret in
      info.withRawSpan { hkdf.derive(ikm: secret, salt: salt.rawSpan, info: $0, into: &output) }
    }
    return check
  }
}
