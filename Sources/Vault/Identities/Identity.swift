// SPDX-License-Identifier: Apache-2.0
//
// An identity as a user sees it. Only what is public is in it: nothing of the private part is opened to show one.

public import KeyCustody
public import OpenPGP
internal import Primitives
internal import ProtectedData

/// One of the user's own OpenPGP keys, with its names.
public struct Identity: Sendable {
  /// What can be done with it now.
  public enum State: String, Sendable, CaseIterable {
    /// It can be used.
    case good
    /// Its end has passed.
    case expired
    /// Its owner has revoked it.
    case revoked
    /// Its public part does not say enough, or the policy refuses it.
    case unusable
  }

  /// The suite of the key.
  public enum Profile: String, Sendable, CaseIterable {
    /// Version 4, Curve25519: GnuPG reads it too.
    case universal
    /// Version 6, Ed448 and X448, or ML-DSA-87 and ML-KEM-1024 beside them.
    case advanced
    /// Another suite, of an imported key.
    case other
  }

  /// Lower-case hexadecimal: 40 digits of version 4, 64 of version 6.
  public let fingerprint: String
  /// Of the key: 4 or 6.
  public let version: Int
  /// The suite of the key.
  public let profile: Profile
  /// Seconds since 1970, UTC.
  public let created: Int64
  /// Seconds since 1970, UTC; nil for never.
  public let expires: Int64?
  /// The first one speaks for the identity.
  public let userIDs: [UserIDText]
  /// When the last backup of the private part was made and read back: seconds since 1970, UTC; nil for none.
  public let backedUp: Int64?
  /// Whether it came from a file, which may still exist and be a backup.
  public let isImported: Bool
  /// Whether a revocation certificate is kept.
  public let hasRevocation: Bool
  /// Where the private part is, as its own envelope says; nil if custody has none.
  public let place: PrivateKeyPlace?
  /// Whether custody has the private part; false after a loss.
  public var hasPrivatePart: Bool { place.map { !$0.isLost } ?? false }
  /// Whether that has the primary key, without which nothing of the identity can be changed.
  public let hasPrimaryKey: Bool
  /// Whether it is the first of the list, which signs unless another one is named.
  public let isDefault: Bool
  /// At the time when the identity was looked up.
  public let state: State
  /// The primary key, then the subkeys.
  public let parts: [CertificatePart]
  /// Whether messages to it are encrypted to a key that stands up to quantum computers.
  public let isQuantumSafe: Bool
  /// What it says about its replacement.
  public let statement: ReplacementStatement

  /// The public part.
  public internal(set) var certificate: Certificate
  let key: Fingerprint

  /// Judges the public part at a time.
  init(
    _ stored: PGPKeyIdentity, _ certificate: Certificate, isDefault: Bool, place: PrivateKeyPlace?,
    at now: Timestamp
  ) {
    let valid = ValidCertificate(certificate, at: now, now: now, policy: .standard)
    self.certificate = certificate
    key = stored.fingerprint
    fingerprint = stored.fingerprint.text
    version = Int(stored.fingerprint.version)
    profile = Profile(stored.profile)
    created = Int64(stored.created)
    expires = stored.expires.map(Int64.init)
    userIDs = stored.userIDs.map { UserIDText($0) }
    backedUp = stored.backedUpAt.map(Int64.init)
    isImported = stored.isImported
    hasRevocation = !stored.revocationCertificate.isEmpty
    self.place = place
    hasPrimaryKey = stored.hasPrimaryKey
    self.isDefault = isDefault
    state = State(valid.problem)
    parts = valid.parts
    isQuantumSafe = valid.isQuantumSafe(for: [.encryptCommunications, .encryptStorage])
    statement = valid.replacementStatement
  }
}

extension PGPKeyIdentity {
  /// - Throws: ``IdentityError/corrupt`` when it is not the certificate of this key.
  func publicPart() throws(IdentityError) -> Certificate {
    let found: [Certificate]
    do { found = try Certificate.readAll(MemorySource(certificate)) } catch { throw .corrupt }
    guard found.count == 1, found[0].fingerprint == fingerprint else { throw .corrupt }
    return found[0]
  }
}

extension Identity {
  /// Whether the profile is the one that GnuPG reads too.
  public var isUniversal: Bool { profile == .universal }

  /// Whether there is a backup of the private part.
  public var isBackedUp: Bool { backedUp != nil }
}

extension Identity.Profile {
  fileprivate init(_ stored: PGPKeyIdentity.Profile) {
    self =
      switch stored {
      case .a: .universal
      case .b: .advanced
      case .other: .other
      }
  }
}

extension Identity.State {
  init(_ problem: ValidCertificate.Problem?) {
    self =
      switch problem {
      case nil: .good
      case .expired: .expired
      case .revoked: .revoked
      case .notBound, .notYetValid, .refused, .malformed: .unusable
      }
  }
}

extension Fingerprint {
  /// Lower-case hexadecimal.
  var text: String { Hexadecimal.text(bytes) }
}
