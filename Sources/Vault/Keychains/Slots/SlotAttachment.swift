// SPDX-License-Identifier: Apache-2.0
//
// The end of a slot (Specs/keybag.md, "Attachment"), the same for all kinds:
//
//   length (1) ‖ label ‖ details of the kind
//
// Anybody can read it, and the wrapped keys authenticate it.

internal import Primitives
internal import Secrets
internal import SecurityKeys

/// The owner's name for a slot, and further data that the slot's method needs.
public struct SlotAttachment: Equatable, Sendable {
  /// The owner's name for the slot, 1 to 40 bytes; nil without one.
  let label: String?
  /// Whatever follows the label; empty for most methods.
  let details: [UInt8]

  /// Nil for a label that cannot be stored.
  init?(label: String?, details: [UInt8]) {
    if let label, !StoredSecurityKey.isLabel(label) { return nil }
    self.label = label
    self.details = details
  }

  /// Reads ``bytes``; nil for anything else.
  init?(_ bytes: [UInt8]) {
    var cursor = ByteCursor()
    let span = bytes.rawSpan
    do {
      let name = try cursor.readBytes(span, count: Int(try cursor.readByte(span)))
      guard let label = String(validating: name, as: UTF8.self) else { return nil }
      self.init(label: label.isEmpty ? nil : label, details: Array(bytes[(1 + name.count)...]))
    } catch { return nil }
  }

  /// The attachment as it is stored.
  var bytes: [UInt8] {
    let name = Array((label ?? "").utf8)
    return [UInt8(name.count)] + name + details
  }
}

extension Keybag {
  /// Whether no label is there twice. Swift compares texts as if both were in Normalization Form C.
  static func areLabelledApart(_ slots: [KeySlot]) -> Bool {
    let labels = slots.compactMap(\.label)
    return Set(labels).count == labels.count
  }

  /// Whether a new slot can have this label.
  ///
  /// Also worth asking before the owner types a secret: the labels can be read while the coffer is locked.
  /// - Throws: `KeybagError.invalidLabel`, `.labelTaken`.
  public func checkLabel(_ label: String) throws(KeybagError) {
    guard StoredSecurityKey.isLabel(label) else { throw .invalidLabel }
    guard !slots.contains(where: { $0.label == label }) else { throw .labelTaken }
  }
}
