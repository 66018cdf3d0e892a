// SPDX-License-Identifier: Apache-2.0
//
// A security key as records store it: in the keybag (Specs/keybag.md, "Attachment") and in the guard record
// (Specs/envelopes.md, "Guard record"). Nothing in it is secret.
//
//   length (1) ‖ label ‖ salt (32) ‖ model (16) ‖ public key (65) ‖ length (2) ‖ credential id

package import Primitives
internal import Secrets

/// A credential, what its secret belongs to, and the owner's name for the key.
public struct StoredSecurityKey: Equatable, Sendable {
  /// The owner's name for the key: 1 to 40 bytes.
  public let label: String
  /// What the key's secret belongs to: 32 bytes, the same for all keys of a record.
  public let salt: [UInt8]
  /// What the key made.
  public let credential: SecurityKeyCredential

  /// The most bytes of a label.
  public static let labelByteCountLimit = 40
  /// Bytes of a salt.
  public static let saltByteCount = 32

  /// Nil for a label or a salt that cannot be stored.
  public init?(label: String, salt: [UInt8], credential: SecurityKeyCredential) {
    guard Self.isLabel(label), salt.count == Self.saltByteCount else { return nil }
    self.label = label
    self.salt = salt
    self.credential = credential
  }

  /// Whether a label can be stored: short, not empty, and without control characters.
  public static func isLabel(_ label: String) -> Bool {
    (1...labelByteCountLimit).contains(label.utf8.count)
      && label.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
      && label.first != " " && label.last != " "
  }

  /// A salt for the keys of a new record.
  public static func newSalt() -> [UInt8] { SystemRandom.publicBytes(count: saltByteCount) }

  /// Whether these can be keys of one record: one salt, and each label and credential once.
  public static func areOneRecord(_ keys: [StoredSecurityKey]) -> Bool {
    Set(keys.map(\.salt)).count <= 1 && Set(keys.map(\.label)).count == keys.count
      && Set(keys.map(\.credential.id)).count == keys.count
  }

  // MARK: Bytes

  /// The key as it is stored.
  package var bytes: [UInt8] {
    var bytes = [UInt8(label.utf8.count)] + Array(label.utf8) + salt + credential.model
    bytes += credential.publicKey
    bytes.append(bigEndian: UInt16(credential.id.count))
    return bytes + credential.id
  }

  /// Reads ``bytes``; nil for anything else, such as a public key that is not on the curve.
  package init?(_ bytes: RawSpan, at cursor: inout ByteCursor) {
    do {
      let name = try cursor.readBytes(bytes, count: Int(try cursor.readByte(bytes)))
      let salt = try cursor.readBytes(bytes, count: Self.saltByteCount)
      let model = try cursor.readBytes(bytes, count: SecurityKeyCredential.modelByteCount)
      let publicKey = try cursor.readBytes(bytes, count: P256.publicKeyByteCount)
      let id = try cursor.readBytes(bytes, count: try cursor.readUInt16(bytes))
      guard let label = String(validating: name, as: UTF8.self), P256.isPublicKey(publicKey),
        let credential = SecurityKeyCredential(id: id, publicKey: publicKey, model: model)
      else { return nil }
      self.init(label: label, salt: salt, credential: credential)
    } catch { return nil }
  }

  /// Reads ``bytes`` with nothing after them.
  package init?(_ bytes: [UInt8]) {
    var cursor = ByteCursor()
    self.init(bytes.rawSpan, at: &cursor)
    guard cursor.offset == bytes.count else { return nil }
  }
}
