// SPDX-License-Identifier: Apache-2.0
//
// What keys say about their replacement, in words and in JSON. It counts when both say it, so that the other key has
// to be here too.

internal import Contacts
internal import OpenPGP

struct ReplacementWords {
  /// The other key of a statement, and whether it is here and says so too.
  struct Other: Encodable {
    let fingerprint: String
    let confirmed: Bool
    private let isHere: Bool

    enum CodingKeys: CodingKey { case fingerprint, confirmed }

    fileprivate init(_ target: KeyReplacement.Target, _ relation: ReplacementStatement.Relation?) {
      fingerprint = FingerprintText.plain(target.fingerprint)
      confirmed = relation == .confirmed
      isHere = relation != nil
    }

    /// - Parameters:
    ///   - fact: what both say.
    ///   - claim: the same as what one says.
    fileprivate func line(fact: String, claim: String) -> String {
      confirmed ? "\(fact), as both say" : "\(claim); that key \(isHere ? "does not say so" : "is not here")"
    }
  }

  /// The key that replaces this one.
  let replacedBy: Other?
  /// The keys that this one replaces; nil for none.
  let replaces: [Other]?

  /// - Parameter all: of the keys that are here.
  init(_ statement: ReplacementStatement, among all: [ReplacementStatement]) {
    func found(_ target: KeyReplacement.Target) -> ReplacementStatement? {
      all.first { $0.fingerprint == target.fingerprint }
    }
    switch statement.replacement {
    case .successor(let target):
      replacedBy = Other(target, found(target).map { statement.relation(toSuccessor: $0) })
      replaces = nil
    case .predecessors(let targets):
      replacedBy = nil
      replaces = targets.map { Other($0, found($0)?.relation(toSuccessor: statement)) }
    case nil: (replacedBy, replaces) = (nil, nil)
    }
  }

  /// One for each key, up to a few: anybody can name very many.
  var lines: [String] {
    let successor = replacedBy.map {
      $0.line(fact: "replaced by \($0.fingerprint)", claim: "says that \($0.fingerprint) replaces it")
    }
    let predecessors = (replaces ?? []).map {
      $0.line(fact: "replaces \($0.fingerprint)", claim: "says that it replaces \($0.fingerprint)")
    }
    let left = predecessors.count - Self.limit
    return [successor].compactMap(\.self) + predecessors.prefix(Self.limit)
      + (left > 0 ? ["and \(left) more"] : [])
  }

  private static let limit = 4
}
