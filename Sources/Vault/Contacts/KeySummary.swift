// SPDX-License-Identifier: Apache-2.0
//
// What a certificate says now, in the words of a list: whose it is, until when, and whether messages can go to it.

internal import Foundation
public import OpenPGP

/// What a certificate says now.
public struct KeySummary: Equatable, Sendable {
  /// Whether messages can go to a key.
  public enum Status: Equatable, Sendable {
    /// They can.
    case good
    /// It has expired.
    case expired
    /// Its holder, or who may, has revoked it.
    case revoked
    /// It has no key for encryption that this engine can use.
    case cannotReceive
    /// The policy refuses it.
    case tooWeak
  }

  /// Of the primary key.
  public let fingerprint: Fingerprint
  /// Seconds since 1970, UTC.
  public let created: UInt32
  /// Seconds since 1970, UTC; nil is never.
  public let expires: UInt32?
  /// Whether messages can go to it.
  public let status: Status
  /// The user IDs that the holder claims now, the main one first. Others chose them: they are not sanitized.
  public let userIDs: [String]
  /// User IDs that the holder has given up.
  public let revokedUserIDs: [String]
  /// The addresses in ``userIDs``, in their order, each once.
  public let addresses: [String]
  /// Whether the holder's programs read the format of 2024.
  public let readsSEIPD2: Bool
  /// Whether messages to it are encrypted to a key that stands up to quantum computers.
  public let isQuantumSafe: Bool
  /// What the holder says about the replacement of the key.
  public let statement: ReplacementStatement
  /// The keys that messages go to.
  let encryptionKeys: [Fingerprint]
  /// Keys other than these that the holder has revoked.
  let revokedKeys: [Fingerprint]
  /// The primary key, then the subkeys, in whatever state.
  public let parts: [CertificatePart]
  var subkeys: [Fingerprint] { parts.dropFirst().map(\.fingerprint) }

  /// Judges a certificate.
  /// - Parameter isVerifiedBefore: whether all its signatures were, before it was stored; see `ValidCertificate`.
  init(_ certificate: Certificate, at now: Timestamp, isVerifiedBefore: Bool = false) {
    let valid =
      isVerifiedBefore
      ? ValidCertificate(verifiedBefore: certificate, at: now, policy: .standard)
      : ValidCertificate(certificate, at: now, now: now, policy: .standard)
    fingerprint = certificate.fingerprint
    created = certificate.primaryKey.creationTime.secondsSince1970
    let usable = (try? valid.encryptionKeys(for: [.encryptCommunications, .encryptStorage])) ?? []
    encryptionKeys = usable.map(\.fingerprint)
    status = Self.status(valid, isUsable: !usable.isEmpty)
    expires = Self.expirationTime(valid, usable)?.secondsSince1970
    let claimed = valid.userIDs.filter { $0.problem == nil }
    let ordered = claimed.filter(\.isPrimary) + claimed.filter { !$0.isPrimary }
    userIDs = ordered.map { $0.userID.text }
    var seen: Set<String> = []
    addresses = ordered.compactMap(\.userID.address).filter { seen.insert($0).inserted }
    revokedUserIDs = valid.userIDs.filter { $0.problem?.isRevocation == true }.map(\.userID.text)
    revokedKeys = valid.keys.filter { !$0.isPrimary && $0.problem?.isRevocation == true }
      .map(\.publicKey.fingerprint)
    parts = valid.parts
    statement = valid.replacementStatement
    isQuantumSafe = valid.isQuantumSafe(for: [.encryptCommunications, .encryptStorage])
    readsSEIPD2 = valid.features.contains(.seipdVersion2)
  }

  /// Whether the key is of version 6, which only newer programs read.
  public var isAdvanced: Bool { fingerprint.version == 6 }

  /// A name to store a contact under: that of the main user ID, else its address, else the key ID.
  public var suggestedName: String {
    guard let main = userIDs.first else { return fingerprint.keyID.text }
    let name = main.prefix { $0 != "<" }.trimmingCharacters(in: .whitespacesAndNewlines)
    return name.isEmpty ? addresses.first ?? fingerprint.keyID.text : name
  }

  private static func status(_ valid: ValidCertificate, isUsable: Bool) -> Status {
    if isUsable { return .good }
    let receiving = valid.keys.filter { $0.publicKey.algorithm.encrypts && !$0.isPrimary }.map(\.problem)
    for problem in [valid.problem] + receiving {
      switch problem {
      case .expired: return .expired
      case .revoked where valid.problem == problem: return .revoked
      case .refused: return .tooWeak
      default: continue
      }
    }
    return .cannotReceive
  }

  /// When the last key for encryption ends; without one, when the primary key does.
  private static func expirationTime(_ valid: ValidCertificate, _ usable: [PublicKey]) -> Timestamp? {
    let ends = usable.map { valid.key($0.fingerprint)?.expirationTime }
    if ends.contains(nil) { return nil }
    return ends.compactMap(\.self).max() ?? valid.primaryKey.expirationTime
  }
}

extension ValidCertificate.Problem {
  fileprivate var isRevocation: Bool { if case .revoked = self { true } else { false } }
}

extension UserID {
  /// The octets as UTF-8; what is not becomes U+FFFD.
  var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension KeyID {
  var text: String { bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}
