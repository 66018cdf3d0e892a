// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 3.7.2.1: every secret key of a certificate is locked by itself; several passwords may be
// about, and the first that opens a key is its own.

public import Secrets

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
