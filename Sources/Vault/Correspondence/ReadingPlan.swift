// SPDX-License-Identifier: Apache-2.0
//
// Which of the user's keys may open a message, before any of them is opened: a message that is for nobody here asks
// for nothing.

public import Identities
public import OpenPGP

/// How a message can be opened here.
public struct ReadingPlan: Sendable {
  /// A key that may open it.
  public struct Attempt: Sendable {
    /// Whose key it is.
    public let identity: Identity
    /// The key.
    public let publicKey: PublicKey
  }

  /// What the message says.
  public let recipients: MessageRecipients
  /// Keys that the message names.
  public let named: [Attempt]
  /// Keys that may be those of readers whom it does not name.
  public let hidden: [Attempt]
  /// Identities that the message names, and whose private part is lost.
  public let lost: [Identity]

  /// Compares what the message says with the user's public parts.
  public init(_ recipients: MessageRecipients, _ identities: [Identity]) {
    self.recipients = recipients
    var (named, hidden, lost): ([Attempt], [Attempt], [Identity]) = ([], [], [])
    for identity in identities {
      // Also keys that have expired or are revoked: old messages need them.
      for key in identity.certificate.publicKeys where key.algorithm.encrypts {
        if recipients.names(key) {
          if identity.hasPrivatePart {
            named.append(Attempt(identity: identity, publicKey: key))
          } else {
            lost.append(identity)
          }
        } else if recipients.mayHide(key), identity.hasPrivatePart {
          hidden.append(Attempt(identity: identity, publicKey: key))
        }
      }
    }
    (self.named, self.hidden, self.lost) = (named, hidden, lost)
  }

  /// The identities that may read it: those that it names, or all that it may hide if it names none.
  public var identities: [Identity] {
    var seen: Set<String> = []
    return (named.isEmpty ? hidden : named).map(\.identity).filter { seen.insert($0.fingerprint).inserted }
  }

  /// Whether a password opens it.
  public var hasPassword: Bool { recipients.passwordCount > 0 }

  /// Whether neither a key that is here nor a password can open it.
  public var isForNobodyHere: Bool { named.isEmpty && hidden.isEmpty && !hasPassword }

  /// The keys that are tried: those that the message names, else those that it may hide.
  public func keys(_ lend: @escaping PrivatePartLender) -> [BorrowedKey] {
    (named.isEmpty ? hidden : named).map { attempt in
      BorrowedKey(attempt.publicKey, of: attempt.identity.certificate.fingerprint, lend: lend)
    }
  }
}
