// SPDX-License-Identifier: Apache-2.0
//
// Whether a message can go to somebody now. A certificate that is used is judged from its packets, whatever a list
// said about it before.

internal import Contacts
internal import Identities
public import OpenPGP
internal import ProtectedData

/// Why a message does not go to somebody.
public struct RecipientProblem: Error, Equatable, Sendable {
  /// The kind of the problem.
  public enum Reason: Equatable, Sendable {
    /// It has expired; seconds since 1970, UTC. `storedSince` is the time of the copy, if it is a stored one.
    case expired(since: UInt32?, storedSince: UInt32?)
    /// Its holder has revoked it; seconds since 1970, UTC.
    case revoked(RevocationReason?, since: UInt32?)
    /// It has no key that can be used for encryption.
    case cannotReceive
    /// The policy refuses it.
    case refused(Policy.Rule)
    /// Another key waits for the user's decision: the message could go to a lost one.
    case keyChangePending
  }

  /// The words of the user; nil for the user's own identity.
  public let who: String?
  /// What they are called.
  public let name: String
  /// Of the primary key; nil when no key is in use.
  public let fingerprint: Fingerprint?
  /// What is wrong.
  public let reason: Reason

  /// Whether it is the user's own identity.
  public var isOwn: Bool { who == nil }
}

/// All problems of the recipients of one message.
public struct RecipientProblems: Error, Equatable, Sendable {
  /// One at least.
  public let problems: [RecipientProblem]
}

extension Correspondent {
  /// What keeps messages from going there; nil for nothing.
  func problem(who: String?, at now: Timestamp) -> RecipientProblem? {
    var storedSince: UInt32?
    if case .contact(let contact) = self {
      storedSince = contact.entry.keyInUse?.firstSeen
      if contact.entry.hasWaitingKey || contact.certificateInUse == nil {
        return RecipientProblem(
          who: who, name: name, fingerprint: certificate?.fingerprint, reason: .keyChangePending)
      }
    }
    guard let certificate, let reason = certificate.reasonNotToReceive(at: now, storedSince: storedSince)
    else { return nil }
    return RecipientProblem(who: who, name: name, fingerprint: certificate.fingerprint, reason: reason)
  }
}

extension Certificate {
  /// What a key must be flagged for: either is enough.
  static var encryptionPurpose: KeyFlags { [.encryptCommunications, .encryptStorage] }

  /// Why nothing can be encrypted to it now; nil if something can.
  func reasonNotToReceive(at now: Timestamp, storedSince: UInt32?) -> RecipientProblem.Reason? {
    let valid = ValidCertificate(self, at: now, now: now, policy: .standard)
    let refusal: Policy.Rule?
    do {
      _ = try valid.encryptionKeys(for: Self.encryptionPurpose)
      return nil
    } catch .refused(let rule) {
      refusal = rule
    } catch {
      refusal = nil
    }
    let receiving = valid.keys.filter { $0.publicKey.algorithm.encrypts && !$0.isPrimary }
    for problem in [valid.problem] + receiving.map(\.problem) {
      switch problem {
      case .expired:
        let end = ([valid.primaryKey] + receiving).compactMap(\.expirationTime).filter { $0 <= now }.max()
        return .expired(since: end?.secondsSince1970, storedSince: storedSince)
      case .revoked(let reason) where valid.problem == problem:
        return .revoked(reason, since: revocationTime?.secondsSince1970)
      case .refused(let rule): return .refused(rule)
      default: continue
      }
    }
    return refusal.map { .refused($0) } ?? .cannotReceive
  }

  /// When the newest revocation of the primary key was made. Ask only for a certificate that is revoked.
  var revocationTime: Timestamp? {
    signatures.filter { $0.type == .keyRevocation }.compactMap(\.creationTime).max()
  }
}
