// SPDX-License-Identifier: Apache-2.0

internal import CofferKit
internal import Storage
internal import Vaults

/// The state of the search index, for `status` and `vault status`.
struct IndexAnswer: Encodable {
  let segments: Int
  let byteCount: Int
  /// Messages that are in it; the others are read one by one.
  let indexed: Int
  /// Messages that were removed, whose words are still in it, sealed.
  let marked: Int
  /// `damaged` or `unreadable`, or missing.
  let state: String?
  private let messageCount: Int
  private let trouble: Vault.IndexTrouble?

  private enum CodingKeys: CodingKey { case segments, byteCount, indexed, marked, state }

  init(_ status: Vault.IndexStatus) {
    segments = status.segmentCount
    byteCount = status.byteCount
    indexed = status.indexedCount
    marked = status.markCount
    state = status.trouble?.name
    messageCount = status.messageCount
    trouble = status.trouble
  }

  /// For users.
  var words: String {
    let share = messageCount > 0 ? min(100, indexed * 100 / messageCount) : 100
    var words = "\(share) % of the messages, \(segments.counted("segment")), \(ByteCount.text(byteCount))"
    if marked > 0 { words += "; \(marked.counted("removed message")) still in it" }
    switch trouble {
    case nil: return words
    case .damaged: return words + "; damaged: 'coffer doctor --reindex' makes it again"
    case .disk(let error): return words + "; cannot be read: \(error.sentence)"
    }
  }
}

extension Vault.IndexTrouble {
  /// For programs.
  var name: String {
    switch self {
    case .damaged: "damaged"
    case .disk: "unreadable"
    }
  }
}
