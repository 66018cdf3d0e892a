// SPDX-License-Identifier: Apache-2.0
//
// Slots that a security key opens: kind 4. The attachment is the stored key (Specs/keybag.md, "Attachment"). The key is
// asked once for all slots, because each touch is the user's; its answer names the slot.

internal import Primitives
internal import Secrets
public import SecurityKeys

extension SlotKind {
  /// A security key, which verifies its user.
  public static let securityKey = SlotKind(rawValue: 4)
}

extension SlotKDF {
  /// `kdf = 5`: the secret of a security key. The key counts wrong PINs, so nothing is stretched.
  public static let hmacSecret = SlotKDF.expansion(
    Expansion(code: 5, name: "hmac-secret", info: "coffer keybag v1 fido2"))
}

/// A security key, and its PIN or a finger on it.
public enum SecurityKeySlot: SlotMethod {
  /// ``SlotKind/securityKey``.
  public static let kind = SlotKind.securityKey
  /// The word for lists and programs.
  public static let name = "security-key"
  /// A security key can be plugged into any machine.
  public static let isPortable = true
  /// It can be lost.
  public static let isEnough = false

  /// The expansion of a security key's secret (code 5), which has no costs.
  public static func derivation(code: UInt8, costs: SlotCosts) -> SlotKDF? {
    code == SlotKDF.hmacSecret.code && costs == .none ? .hmacSecret : nil
  }

  /// Whether the derivation is the expansion of a security key's secret.
  public static func allows(_ kdf: SlotKDF) -> Bool { kdf == .hmacSecret }

  /// Whether the attachment is a stored key, which has a label.
  public static func accepts(_ attachment: SlotAttachment) -> Bool {
    StoredSecurityKey(attachment.bytes) != nil
  }
}

extension KeySlot {
  /// The security key that opens the slot; nil for other kinds.
  public var securityKey: StoredSecurityKey? {
    kind == .securityKey ? StoredSecurityKey(attachment.bytes) : nil
  }
}

/// What a security key is asked for, to open a coffer.
public struct SecurityKeyQuestion: Sendable {
  /// Of every slot for a security key; empty without any.
  public let credentials: [SecurityKeyCredential]
  /// 32 bytes; new if there is no such slot yet.
  public let salt: [UInt8]
}

extension Keybag {
  /// The question to a security key, for opening and for a new slot.
  public var securityKeyQuestion: SecurityKeyQuestion {
    let keys = slots.compactMap(\.securityKey)
    return SecurityKeyQuestion(
      credentials: keys.map(\.credential), salt: keys.first?.salt ?? StoredSecurityKey.newSalt())
  }

  /// Opens the slot of the security key that answered ``securityKeyQuestion``.
  /// - Throws: `KeybagError.noSuchSlot`; `.corrupt` also when the slot does not open with the secret.
  public func unlock(_ answer: SecurityKeyAnswer) throws(KeybagError) -> Unlocked {
    let slot = slots.first { $0.securityKey?.credential == answer.credential }
    guard let slot else { throw .noSuchSlot }
    let credential = SlotCredential(
      SecurityKeySlot.self, input: answer.secret.withBytes { SecretBytes(copying: $0) })
    do { return try unlock([slot], credential) } catch {
      // The key was right, and gave its secret: the slot is not what was stored.
      throw error == .wrongSecret ? .corrupt : error
    }
  }

  /// Adds a slot for a security key that was enrolled just now.
  ///
  /// - Parameters:
  ///   - key: enrolled besides the credentials of ``securityKeyQuestion``, with its salt.
  ///   - label: one that can be stored (`StoredSecurityKey.isLabel`).
  ///   - salt: that of the question.
  /// - Throws: as ``addSlot(_:label:kdf:keys:now:)``; `KeybagError.changedMeanwhile` when the question is another one by
  ///   now.
  @discardableResult
  public mutating func addSlot(
    _ key: EnrolledSecurityKey, label: String, salt: [UInt8], keys: ClassKeys, now: Int64
  ) throws(KeybagError) -> KeySlot {
    try checkOwner(keys)
    try checkLabel(label)
    guard let new = StoredSecurityKey(label: label, salt: salt, credential: key.credential),
      StoredSecurityKey.areOneRecord(slots.compactMap(\.securityKey) + [new])
    else { throw .changedMeanwhile }
    let credential = SlotCredential(
      SecurityKeySlot.self, input: key.secret.withBytes { SecretBytes(copying: $0) },
      details: Array(new.bytes.dropFirst(1 + label.utf8.count)))
    return try addSlot(credential, label: label, kdf: .hmacSecret, keys: keys, now: now)
  }
}
