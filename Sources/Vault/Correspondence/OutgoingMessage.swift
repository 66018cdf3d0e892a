// SPDX-License-Identifier: Apache-2.0
//
// A message before it is written: everybody who can read it, who signs, and the format. All of that is decided, and
// everything that can be refused is refused, before anybody is asked for anything.

internal import Contacts
public import Identities
public import OpenPGP
internal import ProtectedData
public import Secrets

/// A message to be written.
public struct OutgoingMessage: Sendable {
  /// Somebody who will be able to read it.
  public struct Recipient: Sendable {
    /// Who it is.
    public let correspondent: Correspondent
    /// The certificate that it is encrypted to.
    public let certificate: Certificate
    /// Whether it is the user's own, added by the settings and not named.
    public let isSelf: Bool
    /// Whether the certificate says that its holder reads the format of 2024.
    public let readsVersion2: Bool
    /// Whether the message is encrypted to a key of the certificate that stands up to quantum computers.
    public let isQuantumSafe: Bool
    /// The one whose key replaces this key, as both keys say, and who could be named instead.
    public let successor: Correspondent?
  }

  /// Those who were named, in their order, then the user's own identity; each once.
  public let recipients: [Recipient]
  /// The identity that signs; nil for none.
  public let signer: Identity?
  /// When it is written.
  public let time: Timestamp

  /// Judges everybody who is named.
  /// - Parameters:
  ///   - named: with the words that the user typed.
  ///   - signer: the identity that signs; nil for none.
  ///   - own: the identity that the message is encrypted to besides; nil for none.
  ///   - book: everybody who is here, to find successors.
  /// - Throws: ``RecipientProblems``: those of the user's own identity alone, if it has one, else all others at once;
  ///   ``CorrespondenceError/noPrivatePart``.
  public init(
    to named: [(who: String, correspondent: Correspondent)], signer: Identity?, own: Identity?,
    at time: Timestamp, in book: AddressBook? = nil
  ) throws {
    let ownProblems = Self.ownProblems(signer: signer, own: own, at: time)
    guard ownProblems.isEmpty else { throw RecipientProblems(problems: ownProblems) }
    if let signer, !signer.hasPrivatePart { throw CorrespondenceError.noPrivatePart }
    let named = Self.merged(named)
    let problems = named.compactMap { $0.correspondent.problem(who: $0.who, at: time) }
    guard problems.isEmpty else { throw RecipientProblems(problems: problems) }
    var recipients: [Recipient] = []
    for (correspondent, isSelf) in named.map({ ($0.correspondent, false) })
      + [own].compactMap(\.self).map({ (.identity($0), true) })
    {
      guard let certificate = correspondent.certificate,
        !recipients.contains(where: { $0.certificate.fingerprint == certificate.fingerprint })
      else { continue }
      let valid = ValidCertificate(certificate, at: time, now: time, policy: .standard)
      recipients.append(
        Recipient(
          correspondent: correspondent, certificate: certificate, isSelf: isSelf,
          readsVersion2: valid.features.contains(.seipdVersion2),
          isQuantumSafe: valid.isQuantumSafe(for: Certificate.encryptionPurpose),
          successor: book?.successor(of: certificate)))
    }
    self.recipients = recipients
    self.signer = signer
    self.time = time
  }

  /// Everybody once, with all copies of their certificate that were named.
  private static func merged(
    _ named: [(who: String, correspondent: Correspondent)]
  ) -> [(who: String, correspondent: Correspondent)] {
    var merged: [(who: String, correspondent: Correspondent)] = []
    for next in named {
      guard let copy = next.correspondent.certificate,
        let index = merged.firstIndex(where: { $0.correspondent.certificate?.fingerprint == copy.fingerprint }
        )
      else {
        merged.append(next)
        continue
      }
      merged[index].correspondent = merged[index].correspondent.merging(copy)
    }
    return merged
  }

  /// Whether the recipients read different formats, so that the older one is taken because of some.
  public var isDowngraded: Bool {
    recipients.contains(where: \.readsVersion2) && !recipients.allSatisfy(\.readsVersion2)
  }

  /// Those because of whom the older format is taken; none if nobody reads the newer one.
  public var downgradedFor: [Recipient] { isDowngraded ? recipients.filter { !$0.readsVersion2 } : [] }

  /// Those because of whom somebody who keeps the message could open it with a quantum computer.
  public var quantumUnsafeFor: [Recipient] { recipients.filter { !$0.isQuantumSafe } }

  /// Those whose key is replaced by one that the message does not go to.
  public var replaced: [Recipient] {
    recipients.filter { recipient in
      guard let new = recipient.successor?.certificate?.fingerprint else { return false }
      return !recipients.contains { $0.certificate.fingerprint == new }
    }
  }

  /// Whether the user will be able to read it.
  public var isForSelf: Bool {
    recipients.contains { if case .identity = $0.correspondent { true } else { false } }
  }

  /// The engine's message, with a new session key. Its signer is still to be set.
  /// - Throws: `OpenPGPError`.
  public func encryption(passwords: [SharedSecretBytes]) throws(OpenPGPError) -> MessageEncryption {
    let isNew = !recipients.isEmpty && recipients.allSatisfy(\.readsVersion2)
    return try MessageEncryption(
      to: recipients.map(\.certificate), passwords: passwords,
      passwordProfile: isNew ? .advanced : .universal, purpose: Certificate.encryptionPurpose, time: time)
  }

  /// What keeps the user's own identities from being used.
  private static func ownProblems(
    signer: Identity?, own: Identity?, at time: Timestamp
  ) -> [RecipientProblem] {
    var problems: [RecipientProblem] = []
    if let own, let problem = Correspondent.identity(own).problem(who: nil, at: time) {
      problems.append(problem)
    }
    if let signer, signer.certificate.fingerprint != own?.certificate.fingerprint || problems.isEmpty,
      let problem = signer.problemWithSigning(at: time)
    {
      problems.append(problem)
    }
    return problems
  }
}

extension Identity {
  /// The key that signs now.
  /// - Throws: ``RecipientProblems`` when none may.
  public func signingKey(at time: Timestamp) throws -> PublicKey {
    if let problem = problemWithSigning(at: time) { throw RecipientProblems(problems: [problem]) }
    return try ValidCertificate(certificate, at: time, now: time, policy: .standard).signingKeys()[0]
  }

  fileprivate func problemWithSigning(at time: Timestamp) -> RecipientProblem? {
    let valid = ValidCertificate(certificate, at: time, now: time, policy: .standard)
    if (try? valid.signingKeys())?.isEmpty == false { return nil }
    let reason: RecipientProblem.Reason =
      switch valid.problem {
      case .expired:
        .expired(since: valid.primaryKey.expirationTime?.secondsSince1970, storedSince: nil)
      case .revoked(let reason): .revoked(reason, since: certificate.revocationTime?.secondsSince1970)
      case .refused(let rule): .refused(rule)
      default: .cannotReceive
      }
    return RecipientProblem(
      who: nil, name: Correspondent.identity(self).name, fingerprint: certificate.fingerprint, reason: reason)
  }
}
