// SPDX-License-Identifier: Apache-2.0
//
// One way to open the coffer, as it stands in the keybag (Specs/keybag.md, «Slot»).

public import Foundation
internal import Primitives

/// A slot: public facts, and the keys of the keybag wrapped under its secret.
public struct KeySlot: Equatable, Sendable {
  /// Names the slot; means nothing.
  public let id: UUID
  public let kind: SlotKind
  public let kdf: SlotKDF
  /// Seconds since 1970, UTC.
  public let created: Int64

  /// 32 public random bytes.
  package let salt: [UInt8]
  /// Commits to the slot's secret: tells a wrong passphrase from a damaged slot.
  let check: [UInt8]
  let nonce: [UInt8]
  /// Both class keys and the owner key, encrypted, and the tag.
  let wrapped: [UInt8]
  /// What else opening needs; nothing for most methods.
  let attachment: [UInt8]

  /// Whether a slot of `kind` can have this derivation.
  static func allows(_ kdf: SlotKDF, for kind: SlotKind) -> Bool {
    SlotMethods.method(of: kind)?.allows(kdf) ?? false
  }

  /// A TPM handle takes some 400 bytes.
  static let attachmentByteCountLimit = 4096
  static let saltByteCount = 32
  static let checkByteCount = 32
  static let wrappedByteCount = keysByteCount + AES256GCM.tagByteCount
  /// when unlocked (32) ‖ after first unlock (32) ‖ owner (32)
  static let keysByteCount = 3 * SymmetricKey.byteCount
}
