// SPDX-License-Identifier: Apache-2.0
//
// What a copy of the user's own key, changed with another program, brings: in words, and taken over.

internal import CofferKit
internal import Contacts
internal import Identities
internal import OpenPGP

/// What a copy of an identity's key has that the identity has not.
struct OwnKeyNews {
  let identity: Identity
  let news: IdentityNews
  /// What is taken over without a private part.
  let changes: [KeyChange]

  init(_ identity: Identity, _ news: IdentityNews, _ coffer: Coffer) {
    self.identity = identity
    self.news = news
    changes =
      news.certificate.map {
        KeyChange.changes(from: identity.certificate, to: $0, at: coffer.openPGPTime)
      } ?? []
  }

  /// Whether there is anything to take without a private part.
  var isNew: Bool { news.certificate != nil }

  /// A line for each change; one where nothing that is shown has changed.
  var lines: [String] {
    guard isNew else { return [] }
    return changes.isEmpty ? ["newer statements of yours"] : changes.map(ContactWords.words)
  }

  /// What cannot be taken without the private part; nil for nothing.
  var missing: String? {
    guard !news.newSubkeys.isEmpty else { return nil }
    return
      "it has \(news.newSubkeys.count.counted("new part")) whose private part is not here: 'coffer identity import' takes it from a file that has it"
  }

  /// Takes over what is new.
  func take(_ coffer: Coffer) throws {
    guard isNew else { return }
    _ = try coffer.updateIdentity(identity, with: news, coffer.openIdentities())
  }
}
