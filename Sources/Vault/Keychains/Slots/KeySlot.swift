// SPDX-License-Identifier: Apache-2.0
//
// One way to open the coffer, as the keybag stores it (Specs/keybag.md, "Slot").

public import Foundation
internal import Primitives

/// A slot: public facts, and the keys of the keybag wrapped under its secret.
public struct KeySlot: Equatable, Sendable {
  /// Identifies the slot; random.
  public let id: UUID
  /// The kind of secret that opens the slot.
  public let kind: SlotKind
  /// How the slot's secret is derived.
  public let kdf: SlotKDF
  /// Seconds since 1970, UTC.
  public let created: Int64

  /// 32 public random bytes.
  package let salt: [UInt8]
  /// Commits to the slot's secret, and so tells a wrong passphrase from a damaged slot.
  let check: [UInt8]
  let nonce: [UInt8]
  /// Both class keys and the owner key, encrypted, and the tag.
  let wrapped: [UInt8]
  /// The owner's name for the slot, and further data that its method needs.
  let attachment: SlotAttachment

  /// The owner's name for the slot, no other's in the keybag; nil without one.
  public var label: String? { attachment.label }

  /// A TPM handle takes some 400 bytes.
  static let attachmentByteCountLimit = 4096
  static let saltByteCount = 32
  static let checkByteCount = 32
  static let wrappedByteCount = keysByteCount + AES256GCM.tagByteCount
  /// when unlocked (32) ‖ after first unlock (32) ‖ owner (32)
  static let keysByteCount = 3 * SymmetricKey.byteCount
}

// A slot as bytes (Specs/keybag.md, "Slot"), integers big-endian:
//
//   id (16) ‖ kind (1) ‖ kdf (1) ‖ cost 1 (4) ‖ cost 2 (4) ‖ cost 3 (4) ‖ created (8) ‖ salt (32)
//   ‖ check (32) ‖ nonce (12) ‖ wrapped keys (112) ‖ attachment count (2) ‖ attachment

extension KeySlot {
  /// Everything before the nonce.
  private func facts() -> [UInt8] {
    var bytes: [UInt8] = []
    unsafe withUnsafeBytes(of: id.uuid) { unsafe bytes.append(contentsOf: $0) }
    bytes.append(kind.rawValue)
    bytes.append(kdf.code)
    let costs = kdf.costs
    for cost in [costs.first, costs.second, costs.third] { bytes.append(bigEndian: UInt32(cost)) }
    bytes.append(bigEndian: created)
    return bytes + salt + check
  }

  /// Everything but nonce and wrapped keys: the associated data of the wrapping.
  func publicBytes() -> [UInt8] { facts() + attachmentBytes() }

  func bytes() -> [UInt8] { facts() + nonce + wrapped + attachmentBytes() }

  private func attachmentBytes() -> [UInt8] {
    let attachment = attachment.bytes
    var bytes: [UInt8] = []
    bytes.append(bigEndian: UInt16(attachment.count))
    return bytes + attachment
  }

  init(_ bytes: RawSpan, at cursor: inout ByteCursor) throws(KeybagError) {
    do {
      let id = try cursor.readBytes(bytes, count: 16)
      guard let method = SlotMethods.method(of: SlotKind(rawValue: try cursor.readByte(bytes))) else {
        throw KeybagError.corrupt
      }
      let code = try cursor.readByte(bytes)
      let costs = SlotCosts(
        try cursor.readUInt32(bytes), try cursor.readUInt32(bytes), try cursor.readUInt32(bytes))
      guard let kdf = method.derivation(code: code, costs: costs), method.allows(kdf) else {
        throw KeybagError.corrupt
      }
      self.id = unsafe NSUUID(uuidBytes: id) as UUID
      kind = method.kind
      self.kdf = kdf
      created = try cursor.readInt64(bytes)
      salt = try cursor.readBytes(bytes, count: Self.saltByteCount)
      check = try cursor.readBytes(bytes, count: Self.checkByteCount)
      nonce = try cursor.readBytes(bytes, count: AES256GCM.nonceByteCount)
      wrapped = try cursor.readBytes(bytes, count: Self.wrappedByteCount)
      let count = Int(try cursor.readUInt16(bytes))
      guard count <= Self.attachmentByteCountLimit else { throw KeybagError.corrupt }
      guard let attachment = SlotAttachment(try cursor.readBytes(bytes, count: count)),
        method.accepts(attachment)
      else { throw KeybagError.corrupt }
      self.attachment = attachment
    } catch {
      throw .corrupt
    }
  }
}
