// SPDX-License-Identifier: Apache-2.0
//
// What a drill is compared with: the history as it is here.

public import Histories
internal import Primitives

extension Synchronizer {
  /// The account's name, as it is in an address.
  public var accountName: String { Hexadecimal.text(account.bytes) }

  /// The digest of all records that count here, and how many messages and captures are shown.
  public func summary() -> (digest: StateDigest, messageCount: Int, captureCount: Int) {
    // The digest is brought up to date in a copy: what is stored stays as it is.
    var history = history
    let counts = history.shownCounts
    return (history.stateDigest(), counts[.message] ?? 0, counts[.capture] ?? 0)
  }
}
