// SPDX-License-Identifier: Apache-2.0
//
// Security keys as the guard of high security. Each of them opens the guard; every change makes a new guard secret, so
// that every key that stays is needed once.

public import Keychains
internal import Primitives
internal import Secrets
public import SecurityKeys

/// A security key that a new guard takes, with its secret.
public struct GuardKey: Sendable {
  /// The owner's name for the key: 1 to 40 bytes.
  public let label: String
  let credential: SecurityKeyCredential
  let secret: SharedSecretBytes

  /// A key that was enrolled just now.
  /// - Throws: `CustodyError.invalidInput` for a label that cannot be.
  public init(_ label: String, _ key: EnrolledSecurityKey) throws(CustodyError) {
    try self.init(label, key.credential, key.secret)
  }

  /// A key of the present guard that answered just now.
  /// - Throws: `CustodyError.invalidInput` for a label that cannot be.
  public init(_ label: String, _ answer: SecurityKeyAnswer) throws(CustodyError) {
    try self.init(label, answer.credential, answer.secret)
  }

  private init(
    _ label: String, _ credential: SecurityKeyCredential, _ secret: SharedSecretBytes
  ) throws(CustodyError) {
    guard StoredSecurityKey.isLabel(label) else { throw .invalidInput }
    self.label = label
    self.credential = credential
    self.secret = secret
  }
}

/// The security keys of a guard. Nothing in it is secret.
public struct GuardKeys: Sendable {
  /// One security key.
  public struct Key: Sendable {
    /// The owner's name for it.
    public let label: String
    /// What it made.
    public let credential: SecurityKeyCredential
  }

  /// In the order in which they were added.
  public let keys: [Key]
  /// 32 bytes for all of them.
  public let salt: [UInt8]
}

extension PrivateKeyCustody {
  /// The security keys that open the guard; nil when it has none.
  /// - Throws: `CustodyError.locked`, `.corrupt`, `.keychain`.
  public func guardKeys() throws(CustodyError) -> GuardKeys? { try Self.guardKeys(keychain) }

  /// The same, without opening protected data.
  public static func guardKeys(_ keychain: KeychainService) throws(CustodyError) -> GuardKeys? {
    let items = try CustodyItems(keychain)
    guard items.manifest.guardDigest != nil else { return nil }
    let ways = try items.guardRecord().securityKeyWays
    guard let salt = ways.first?.salt else { return nil }
    return GuardKeys(keys: ways.map { .init(label: $0.label, credential: $0.credential) }, salt: salt)
  }

  /// A salt for the keys of a first guard, 32 bytes.
  public static func newGuardSalt() -> [UInt8] { StoredSecurityKey.newSalt() }

  /// Opens the guard with the answer of a security key to ``guardKeys()``.
  /// - Throws: `CustodyError.guardRequired` when the key is not one of the guard's; `.corrupt` when the record is not
  ///   what was stored.
  public func openGuard(_ answer: SecurityKeyAnswer) throws(CustodyError) -> OpenGuard {
    try CustodyItems(keychain).guardRecord().open(answer.secret, of: answer.credential)
  }

  /// Makes a guard that each of these keys opens, and opens it once with each. Nothing is written.
  ///
  /// - Parameters:
  ///   - keys: 1 to 16, each label and each key once.
  ///   - salt: that the secrets of all keys belong to.
  /// - Throws: `CustodyError.invalidInput` for too many keys, or a label or key that is there twice.
  public func newGuard(keys: [GuardKey], salt: [UInt8]) throws(CustodyError) -> NewGuard {
    let record = try GuardRecord.make(keys: keys, salt: salt)
    let secrets = keys.map { ($0.credential, $0.secret) }
    guard let open = try record.openAll(secrets).first else { throw .invalidInput }
    return NewGuard(record: record, open: open, opening: .securityKeys(secrets))
  }
}

extension GuardRecord {
  /// A record with a new G that each of these keys opens.
  /// - Throws: `CustodyError.invalidInput`.
  static func make(keys: [GuardKey], salt: [UInt8]) throws(CustodyError) -> GuardRecord {
    guard (1...wayCountLimit).contains(keys.count) else { throw .invalidInput }
    let secret = SystemRandom.secretBytes(count: secretByteCount)
    let check = secret.withBytes { Self.check($0) }
    var ways: [SecurityKeyWay] = []
    for key in keys { ways.append(try SecurityKeyWay(key, salt: salt, check: check, sealing: secret)) }
    guard SecurityKeyWay.areOneGuard(ways) else { throw .invalidInput }
    return GuardRecord(check: check, ways: ways.map { .securityKey($0) })
  }

  /// Opens G with the secret of a security key.
  /// - Throws: `CustodyError.guardRequired` for another key; `.corrupt`.
  func open(
    _ secret: SharedSecretBytes, of credential: SecurityKeyCredential
  ) throws(CustodyError) -> OpenGuard {
    guard let way = securityKeyWays.first(where: { $0.credential == credential }) else {
      throw .guardRequired
    }
    return try opened(way.open(secret, check: check))
  }

  /// Opens G with each key: the same guard.
  /// - Throws: `CustodyError.corrupt`.
  func openAll(
    _ secrets: [(SecurityKeyCredential, SharedSecretBytes)]
  ) throws(CustodyError) -> [OpenGuard] {
    var opened: [OpenGuard] = []
    for (credential, secret) in secrets { opened.append(try open(secret, of: credential)) }
    return opened
  }
}
