// SPDX-License-Identifier: Apache-2.0
//
// What `sync status` tells, without asking the remote.

internal import Captures
public import Histories
internal import Keychains
public import Vaults

/// How a coffer stands to its account.
public struct SyncStatus: Sendable {
  /// Changes that no run has sent.
  public let waitingCount: Int
  /// Contents that other devices have named and that are not here; 0 on a device that has stopped, and asks for none.
  public let missingCount: Int
  /// Versions of messages that cannot be sent, since they do not open here.
  public let onlyHereCount: Int
  /// Captures of which a part is not on this device.
  public let capturesElsewhereCount: Int
  /// When everything was sent and verified last, in seconds since 1970; nil for never.
  public let lastComplete: Int64?
  /// The devices of the account, this one first.
  public let devices: [DeviceView]
  /// What is wrong at the remote.
  public let alarms: Set<Alarm>
  /// Why this device may not write; nil if it may.
  public let stop: Outcome?
  /// Whether a slot has to be opened before everybody can read and write everything.
  public let needsSlot: Bool
  /// Changes that a revocation cut off and that would change something.
  public let quarantinedCount: Int
  /// Messages that devices changed at once: one version is shown, the others are in its history; with the titles that are
  /// shown, nil where there is none.
  public let changedTwice: [(message: MessageID, title: String?)]
  /// Whether the account opens with another passphrase than this coffer, as far as this device knows.
  public let passphraseDiffers: Bool
  /// Twelve words that the approving device shows too, while this one asks to be enrolled.
  public let enrolmentWords: [String]?
  /// Eight words: equal on two devices that have the same history.
  public let words: [String]
}

extension Synchronizer {
  /// Eight words: equal on two devices that have the same history.
  public var historyWords: [String] { WordList.words(of: history.positionDigest, count: 8) }

  /// How this coffer stands to its account, with what the user changed since the last run.
  public func status() throws -> SyncStatus {
    let waiting = try countWaiting()
    return SyncStatus(
      waitingCount: waiting, missingCount: history.stop == nil ? history.missingContentCount : 0,
      onlyHereCount: try onlyHereCount(),
      capturesElsewhereCount: try (captures.captures() ?? [:]).values.count { !$0.isWhole && !$0.isHidden },
      lastComplete: state.lastComplete == 0 ? nil : state.lastComplete, devices: devices,
      alarms: history.alarms, stop: history.stop, needsSlot: history.needsSlot,
      quarantinedCount: quarantinedCount, changedTwice: try changedTwice(),
      passphraseDiffers: try passphraseDiffers(),
      enrolmentWords: awaitsApproval ? enrolmentWords : nil, words: historyWords)
  }

  private func changedTwice() throws -> [(message: MessageID, title: String?)] {
    let rows = history.messagesChangedTwice.map { (message: $0, row: shownRow(of: $0)) }
    let titles = try titles(of: rows.compactMap(\.row))
    return rows.map { message, row in (message, row.flatMap { titles[$0] }) }
  }
}
