// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.2: a certificate with the secret keys of its holder, locked or not.

/// A certificate with its secret keys.
public struct TransferableSecretKey: Sendable {
  /// What may be given away: the same without anything secret.
  public var certificate: Certificate
  /// By the fingerprint of the key or subkey; not every key of the certificate need be here.
  public var secrets: [Fingerprint: SecretKey]
  /// Secret subkeys that this engine cannot read, of a later version for example, each followed by its
  /// signatures: as they came. They may be in the clear, and no certificate has a place for them.
  private(set) var unreadableSubkeys: [Packet] = []

  public init(certificate: Certificate, secrets: [Fingerprint: SecretKey]) {
    self.certificate = certificate
    self.secrets = secrets
  }

  /// All secret keys in a sequence of packets; the same one twice becomes one. Certificates between them are
  /// passed over. What is damaged is none of them: a key that came out of such a file would be used, or given
  /// away, without anybody knowing.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `certificateAsSecretKey` when there are certificates only,
  ///   with `certificateStructure` when the packets are no keys, with `secretKey` when a secret key in the clear
  ///   does not have the fields of its algorithm; ``OpenPGPError/notAuthentic`` when its checksum is wrong;
  ///   ``OpenPGPError/unsupported(_:)``; ``OpenPGPError/overLimit(_:)``.
  public static func readAll(_ source: any ByteSource) throws(OpenPGPError) -> [TransferableSecretKey] {
    let keys = try TransferableKeyReader.readAll(source).filter(\.isSecret)
    guard !keys.isEmpty else { throw .malformed(.certificateAsSecretKey) }
    var read: [TransferableSecretKey] = []
    for entry in keys {
      for packet in entry.unreadableSubkeys {
        if case .unknownSecret(_, _, why: .malformed(let what)) = packet { throw .malformed(what) }
      }
      for secret in entry.secrets.values { try secret.checkUnprotected() }
      var key = TransferableSecretKey(certificate: entry.certificate, secrets: entry.secrets)
      key.unreadableSubkeys = entry.unreadableSubkeys
      read.append(key)
    }
    return read
  }

  /// Writes the packets in canonical order, secret keys in the place of public ones, and what could not be
  /// read behind all others.
  public func write(to sink: any ByteSink) throws(OpenPGPError) {
    try certificate.write(to: sink, secrets: secrets)
    for packet in unreadableSubkeys { try packet.write(to: sink) }
  }
}
