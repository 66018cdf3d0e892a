// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 6.2.1: what the header line of an armored block says is in it. The label is a hint for
// people: packets are judged by what they are.

/// The kinds of armored blocks.
public enum ArmorKind: String, Sendable, CaseIterable {
  case message = "MESSAGE"
  case publicKey = "PUBLIC KEY BLOCK"
  case privateKey = "PRIVATE KEY BLOCK"
  case signature = "SIGNATURE"
  /// What GnuPG's `--enarmor` and Sequoia put around packets of any kind. Not of the standard: it is read, and
  /// nothing writes it.
  case file = "ARMORED FILE"

  /// What a block that begins with this packet is called; nil for a packet that begins nothing.
  public init?(firstPacket type: PacketType) {
    switch type {
    case .publicKey: self = .publicKey
    case .secretKey: self = .privateKey
    case .signature: self = .signature
    case .pkesk, .skesk, .onePassSignature,
      .symmetricallyEncryptedData, .seipd, .ocbEncryptedData, .compressedData, .literalData,
      .marker, .padding:
      self = .message
    default: return nil
    }
  }

  var headerLine: String { "-----BEGIN PGP \(rawValue)-----" }
  var tailLine: String { "-----END PGP \(rawValue)-----" }
}
