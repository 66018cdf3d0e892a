// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.2: a certificate with the secret keys of its holder. Each secret key is protected by
// itself (section 3.7.2.1). There may be several passwords; the first that opens a key is that key's
// password.

public import Secrets

/// A certificate with its secret keys.
///
/// [RFC 9580, section 10.2](https://www.rfc-editor.org/rfc/rfc9580#section-10.2)
public struct TransferableSecretKey: Sendable {
  /// The certificate, which may be given away: the same without anything secret.
  public var certificate: Certificate
  /// By the fingerprint of the key or subkey; not every key of the certificate need be here.
  public var secrets: [Fingerprint: SecretKey]
  /// Secret subkeys that this engine cannot read, of a later version for example, each followed by its
  /// signatures: as they came. They may be in the clear, and no certificate has a place for them.
  private(set) var unreadableSubkeys: [Packet] = []

  /// A certificate with secret keys, each under its own fingerprint.
  public init(certificate: Certificate, secrets: [Fingerprint: SecretKey]) {
    self.certificate = certificate
    self.secrets = secrets
  }

  /// All secret keys in a sequence of packets; the same one twice becomes one. Certificates between them are
  /// passed over. If one is damaged, none is read: otherwise a damaged key
  /// would be used, or given away, without anybody noticing.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `certificateAsSecretKey` when there are certificates only,
  ///   with `certificateStructure` when the packets are not keys, with `secretKey` when a secret key in the clear
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
  /// read at the end.
  public func write(to sink: any ByteSink) throws(OpenPGPError) {
    try certificate.write(to: sink, secrets: secrets)
    for packet in unreadableSubkeys { try packet.write(to: sink) }
  }
}

extension TransferableSecretKey {
  /// The secret key of this fingerprint without its protection.
  /// - Parameter passwords: tried one after the other when the key is locked.
  /// - Throws: ``OpenPGPError/keyIsLocked`` when none of them opens it, ``OpenPGPError/keyCannot(_:)`` when
  ///   the secret part is not here.
  public func unlocked(
    _ fingerprint: Fingerprint, for use: OpenPGPError.KeyUse, passwords: [SharedSecretBytes]
  ) throws(OpenPGPError) -> UnlockedKey {
    try opened(fingerprint, for: use, passwords: passwords).key
  }

  /// Locks all secret keys with a new password, or leaves them in the clear without one. Keys whose secret
  /// part is elsewhere, on a card for example, stay as they are.
  /// - Throws: ``OpenPGPError/keyIsLocked`` when no old password opens one of them.
  public mutating func changePassword(
    from old: [SharedSecretBytes], to new: SharedSecretBytes?
  ) throws(OpenPGPError) {
    var changed = secrets
    for (fingerprint, secret) in secrets {
      if case .unknown = secret.protection { continue }
      let key = try unlocked(fingerprint, for: .sign, passwords: old)
      changed[fingerprint] = try key.secretKey(password: new, isSubkey: isSubkey(fingerprint))
    }
    secrets = changed
  }

  /// The same as ``unlocked(_:for:passwords:)``, with the password that did it.
  func opened(
    _ fingerprint: Fingerprint, for use: OpenPGPError.KeyUse, passwords: [SharedSecretBytes]
  ) throws(OpenPGPError) -> (key: UnlockedKey, password: SharedSecretBytes?) {
    guard let secret = secrets[fingerprint] else { throw .keyCannot(use) }
    if case .unknown = secret.protection { throw .keyCannot(use) }
    let isSubkey = isSubkey(fingerprint)
    guard secret.isLocked else { return (try secret.unlocked(password: nil, isSubkey: isSubkey), nil) }
    for password in passwords {
      if let key = try Self.key(secret, opensWith: password, isSubkey: isSubkey) { return (key, password) }
    }
    throw .keyIsLocked
  }

  private func isSubkey(_ fingerprint: Fingerprint) -> Bool { fingerprint != certificate.fingerprint }

  /// Nil when the password is another one; other errors would meet the next password too.
  private static func key(
    _ secret: SecretKey, opensWith password: SharedSecretBytes, isSubkey: Bool
  ) throws(OpenPGPError) -> UnlockedKey? {
    do {
      return try password.withBytes { (bytes) throws(OpenPGPError) -> UnlockedKey in
        try secret.unlocked(password: bytes, isSubkey: isSubkey)
      }
    } catch .wrongPassword {
      return nil
    }
  }
}
