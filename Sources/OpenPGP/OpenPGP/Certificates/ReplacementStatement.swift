// SPDX-License-Identifier: Apache-2.0
//
// Whether one key replaces another. Anybody can name somebody else's key in their own certificate, so that only what
// both holders say counts: the old key names the new one, and the new one the old one. Neither key may be one that
// is to be believed nothing: whoever has stolen a key could name theirs.

/// What a certificate says about the replacement of its key, to be compared with what another one says.
public struct ReplacementStatement: Equatable, Sendable {
  /// What two certificates say about each other.
  public enum Relation: Sendable {
    /// Nothing that counts.
    case unrelated
    /// Only one of them says it, which proves nothing.
    case claimed
    /// Both say it.
    case confirmed
  }

  /// What the holder says; nil for nothing.
  public let replacement: KeyReplacement?
  private let key: PublicKey
  private let problem: ValidCertificate.Problem?

  fileprivate init(_ certificate: ValidCertificate) {
    replacement = certificate.replacement
    key = certificate.certificate.primaryKey
    problem = certificate.problem
  }

  /// Of the primary key.
  public var fingerprint: Fingerprint { key.fingerprint }

  /// Whether `other` replaces this key: judged now, good now.
  public func relation(toSuccessor other: ReplacementStatement) -> Relation {
    guard mayBeReplaced, other.problem == nil else { return .unrelated }
    var (namesOther, isNamed) = (false, false)
    if case .successor(let target) = replacement { namesOther = target.names(other.key) }
    if case .predecessors(let targets) = other.replacement { isNamed = targets.contains { $0.names(key) } }
    return namesOther && isNamed ? .confirmed : namesOther || isNamed ? .claimed : .unrelated
  }

  /// A key that has ended or was given up may have a successor; one that somebody else may have, or that is not
  /// bound, may say anything.
  private var mayBeReplaced: Bool {
    switch problem {
    case nil, .expired: true
    case .revoked(let reason): reason?.isSoft ?? false
    default: false
    }
  }
}

extension ValidCertificate {
  /// What it says about the replacement of its key.
  public var replacementStatement: ReplacementStatement { ReplacementStatement(self) }

  /// The certificate with another statement about the replacement of its key, in place of the former one.
  /// - Parameter signer: the primary key. The new signatures are made at ``ValidCertificate/time``.
  /// - Throws: as ``settingExpiration(to:by:)``.
  public func stating(
    _ replacement: KeyReplacement, by signer: any Signer
  ) throws(OpenPGPError) -> Certificate {
    guard signer.publicKey == certificate.primaryKey, problem == nil || problem == .expired else {
      throw .keyCannot(.certify)
    }
    return try reissuingPrimaryKeySignatures(by: signer) { subpackets in
      subpackets.filter { $0.type != .keyReplacement } + [Subpacket(.keyReplacement(replacement))]
    }
  }
}
