// SPDX-License-Identifier: Apache-2.0
//
// Questions about a fingerprint that only somebody who hears it from its owner can answer: people press "matches"
// without looking, so they type instead.

public import Foundation
internal import OpenPGP
internal import Primitives

/// Questions about the fingerprint of a contact, which it does not reveal.
public struct FingerprintChallenge: Sendable {
  /// Groups to ask for: somebody with a key that agrees in five of ten passes with 2.4 % probability.
  public static let groupCount = 4

  /// Whose fingerprint it is.
  public let contact: UUID
  let fingerprint: Fingerprint
  /// The numbers of the groups to ask for, from 1, chosen at random without repetition.
  public let groups: [Int]

  init(contact: UUID, fingerprint: Fingerprint) {
    self.contact = contact
    self.fingerprint = fingerprint
    var random = SystemRandomSource()
    let all = 1...FingerprintText.groups(fingerprint).count
    groups = Array(all.shuffled(using: &random).prefix(Self.groupCount))
  }

  /// Whether this is the group of that number, in any case, with blanks or without.
  public func isRight(_ text: String, group: Int) -> Bool {
    FingerprintText.digits(text)?.uppercased() == FingerprintText.groups(fingerprint)[group - 1]
  }

  /// Whether this could be a group.
  public static func isGroup(_ text: String) -> Bool { FingerprintText.digits(text)?.count == 4 }

  /// Whether this is a whole fingerprint, of whomever; an `OPENPGP4FPR` URL is one too.
  public static func isWhole(_ text: String) -> Bool { whole(text) != nil }

  /// Whether this is the whole fingerprint.
  public func isWholeFingerprint(_ text: String) -> Bool { Self.whole(text) == fingerprint }

  /// Whether this is the public part of the key with that fingerprint.
  public func isPublicPart(_ parts: PublicParts) -> Bool {
    parts.incoming.map(\.reduced.fingerprint) == [fingerprint]
  }

  private static func whole(_ text: String) -> Fingerprint? {
    FingerprintText.fingerprint(text) ?? FingerprintText.fingerprint(url: text)
  }
}

/// The random numbers of `SystemRandom`.
private struct SystemRandomSource: RandomNumberGenerator {
  mutating func next() -> UInt64 {
    SystemRandom.publicBytes(count: 8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
