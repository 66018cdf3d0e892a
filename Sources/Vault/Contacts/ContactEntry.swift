// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import OpenPGP
public import ProtectedData

/// A contact as lists and questions show it, judged at one time.
public struct ContactEntry: Equatable, Sendable, Identifiable {
  /// One of its keys.
  public struct Key: Equatable, Sendable {
    /// What it is used for.
    public let state: Contact.Key.State
    /// Seconds since 1970, UTC.
    public let firstSeen: UInt32
    /// Where it came from first.
    public let source: Contact.Key.Source
    /// What it says now.
    public let summary: KeySummary
  }

  /// Names the contact for its whole life.
  public let id: UUID
  /// The name that the user gave.
  public let name: String
  /// In the order in which they came.
  public let keys: [Key]
  /// Nil when not verified.
  public let verification: Contact.Verification?
  /// When a verification failed last: seconds since 1970, UTC.
  public let failedVerification: UInt32?

  /// Judges a stored contact.
  /// - Parameter certificates: of its keys, in their order.
  init(_ contact: Contact, _ certificates: [Certificate], at now: Timestamp) {
    id = contact.id
    name = contact.displayName
    var keys: [Key] = []
    for (key, certificate) in zip(contact.keys, certificates) {
      let summary = KeySummary(certificate, at: now, isVerifiedBefore: true)
      keys.append(Key(state: key.state, firstSeen: key.firstSeen, source: key.source, summary: summary))
    }
    self.keys = keys
    verification = contact.verification
    failedVerification = contact.failedVerification
  }

  /// The key that new messages go to; nil while none is in use.
  public var keyInUse: Key? { keys.first { $0.state == .inUse } }

  /// Whether a new key waits for the user's decision.
  public var hasWaitingKey: Bool { keys.contains { $0.state == .waiting } }
}

/// A contact with the certificates of its keys, to encrypt to it or to verify its signatures.
public struct ContactCertificates: Sendable {
  /// The contact.
  public let entry: ContactEntry
  /// Of ``entry``'s keys, in their order. Judge the one that you use: that they are stored says nothing about today.
  public let certificates: [Certificate]

  /// - Parameter certificates: of the contact's keys, in their order.
  package init(entry: ContactEntry, certificates: [Certificate]) {
    self.entry = entry
    self.certificates = certificates
  }

  /// The certificate in use; nil while none is.
  public var certificateInUse: Certificate? {
    zip(entry.keys, certificates).first { $0.0.state == .inUse }?.1
  }
}

extension Contact {
  /// The certificates of its keys, in their order.
  /// - Parameter others: who may be their revokers.
  func certificates(knowing others: [Certificate] = []) throws(ContactError) -> [Certificate] {
    var certificates: [Certificate] = []
    for key in keys { certificates.append(try .stored(key).knowing(others)) }
    return certificates
  }
}
