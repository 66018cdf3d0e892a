// SPDX-License-Identifier: Apache-2.0
//
// Security keys as the rest of Coffer sees them: a device that gives a secret after it has verified its user.

public import Secrets

/// A FIDO2 security key that is plugged in.
///
/// Every call waits for a touch for at most 30 seconds, and can be ended with its ``SecurityKeyAttempt``.
public protocol SecurityKey: Sendable {
  /// The maker's name for the product, for users. The device chooses it: escape it before showing it.
  var product: String { get }

  /// What the key can do. Nobody has to touch it.
  /// - Throws: ``SecurityKeyError`` `.gone`, `.notPermitted`, `.failed`.
  func facts() throws(SecurityKeyError) -> SecurityKeyFacts

  /// Makes a credential for Coffer, and gets its secret twice before anything depends on it: three touches.
  ///
  /// - Parameters:
  ///   - verification: shows the key that its user is there.
  ///   - others: credentials whose keys are refused, so that one key is not enrolled twice.
  ///   - salt: 32 bytes that the secret belongs to.
  ///   - attempt: ends the wait.
  /// - Throws: ``SecurityKeyError``, with `.alreadyEnrolled` for the key of one of `others`, and `.untrustworthy`
  ///   when the two secrets differ.
  func enrol(
    _ verification: SecurityKeyVerification, besides others: [SecurityKeyCredential], salt: [UInt8],
    _ attempt: SecurityKeyAttempt
  ) throws(SecurityKeyError) -> EnrolledSecurityKey

  /// Gets the secret of whichever of `credentials` the key has: one touch.
  ///
  /// - Parameter salt: 32 bytes, as at enrolment.
  /// - Throws: ``SecurityKeyError``, with `.otherKey` when the key has none of them.
  func secret(
    of credentials: [SecurityKeyCredential], salt: [UInt8], _ verification: SecurityKeyVerification,
    _ attempt: SecurityKeyAttempt
  ) throws(SecurityKeyError) -> SecurityKeyAnswer
}

/// How a security key verifies its user.
public enum SecurityKeyVerification: Sendable {
  /// The key's own PIN, UTF-8; the key counts wrong ones.
  case pin(SharedSecretBytes)
  /// A finger on the key's own reader.
  case finger
}

/// What a security key can do.
public struct SecurityKeyFacts: Equatable, Sendable {
  /// Whether it keeps secrets of the extension *hmac-secret*.
  public let hasSecrets: Bool
  /// Whether it has a PIN, which its user has set.
  public let hasPIN: Bool
  /// Whether it has a reader, and a finger is enrolled.
  public let hasFinger: Bool

  /// - Parameters: what the key told.
  public init(hasSecrets: Bool, hasPIN: Bool, hasFinger: Bool) {
    self.hasSecrets = hasSecrets
    self.hasPIN = hasPIN
    self.hasFinger = hasFinger
  }

  /// What is missing for Coffer; nil when the key can be enrolled.
  public var shortcoming: SecurityKeyError.Shortcoming? {
    guard hasSecrets else { return .secrets }
    return hasPIN || hasFinger ? nil : .verification
  }
}

/// A credential that a security key made for Coffer. Nothing in it is secret.
public struct SecurityKeyCredential: Equatable, Sendable {
  /// 1 to 1023 bytes, chosen by the key.
  public let id: [UInt8]
  /// The public key on P-256, 65 bytes (SEC 1, 2.3.3).
  public let publicKey: [UInt8]
  /// Names the key's model: 16 bytes.
  public let model: [UInt8]

  /// The limit of CTAP 2.1 for what one message carries, less what else is in it.
  public static let idByteCountLimit = 1_023
  /// Bytes in ``model``.
  public static let modelByteCount = 16

  /// Nil for a length that cannot be.
  public init?(id: [UInt8], publicKey: [UInt8], model: [UInt8]) {
    guard (1...Self.idByteCountLimit).contains(id.count), publicKey.count == 65, publicKey[0] == 4,
      model.count == Self.modelByteCount
    else { return nil }
    self.id = id
    self.publicKey = publicKey
    self.model = model
  }
}

/// A credential that was made and used.
public struct EnrolledSecurityKey: Sendable {
  /// To be stored.
  public let credential: SecurityKeyCredential
  /// 32 bytes; the same at every use with the same salt.
  public let secret: SharedSecretBytes

  /// - Parameters: what the key gave.
  public init(credential: SecurityKeyCredential, secret: SharedSecretBytes) {
    self.credential = credential
    self.secret = secret
  }
}

/// The answer of a security key.
public struct SecurityKeyAnswer: Sendable {
  /// Which of the credentials answered.
  public let credential: SecurityKeyCredential
  /// 32 bytes.
  public let secret: SharedSecretBytes

  /// - Parameters: what the key gave.
  public init(credential: SecurityKeyCredential, secret: SharedSecretBytes) {
    self.credential = credential
    self.secret = secret
  }
}

/// Finds the security keys that are plugged in now.
public protocol SecurityKeyFinder: Sendable {
  /// The keys, in the system's order; empty without any.
  /// - Throws: `SecurityKeyError.notPermitted` when there is a key that this user may not open, and no other;
  ///   `.failed`.
  func keys() throws(SecurityKeyError) -> [any SecurityKey]
}

extension SecurityKeyFinder {
  /// The one key that can be used.
  ///
  /// Keys are not tried in turn: a PIN of one would be a wrong PIN of the other.
  /// - Throws: `SecurityKeyError.noKey`, `.several`, `.unsuitable` when no key can be used; as ``keys()``.
  public func onlyKey() throws(SecurityKeyError) -> (key: any SecurityKey, facts: SecurityKeyFacts) {
    var found: [(any SecurityKey, SecurityKeyFacts)] = []
    var shortcoming: SecurityKeyError.Shortcoming?
    for key in try keys() {
      let facts = try key.facts()
      if let missing = facts.shortcoming { shortcoming = missing } else { found.append((key, facts)) }
    }
    guard let first = found.first else { throw shortcoming.map { .unsuitable($0) } ?? .noKey }
    guard found.count == 1 else { throw .several }
    return first
  }
}

/// The security keys of this machine.
public enum SecurityKeyFinders {
  /// USB keys, through libfido2; nil in a build without it. Nothing is contacted yet.
  public static var system: (any SecurityKeyFinder)? {
    #if SecurityKeys
      FidoSecurityKeyFinder()
    #else
      nil
    #endif
  }
}
