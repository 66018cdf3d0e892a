// SPDX-License-Identifier: Apache-2.0
//
// The history as it is here: what commands tell of it, and what a drill is compared with.

public import Histories
internal import Primitives

extension Synchronizer {
  /// The account's name, as it is in an address.
  public var accountName: String { Hexadecimal.text(account.bytes) }

  /// How many messages and captures are shown.
  public var shownCounts: (messages: Int, captures: Int) { history.shownCounts }

  /// The digest of all records that count here, and how many messages and captures are shown.
  public func summary() -> (digest: StateDigest, messageCount: Int, captureCount: Int) {
    // The digest is brought up to date in a copy: what is stored stays as it is.
    var history = history
    let (messages, captures) = shownCounts
    return (history.stateDigest(), messages, captures)
  }
}
