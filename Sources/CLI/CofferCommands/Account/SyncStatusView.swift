// SPDX-License-Identifier: Apache-2.0
//
// How a coffer stands to its account, as `coffer sync status` shows it.

internal import Histories
internal import Primitives
internal import Syncing
internal import Texts

struct SyncStatusView {
  private let place: String
  private let status: SyncStatus
  private let removals: [DeviceRemovals]

  struct Answer: Encodable {
    let place: String
    let waiting: Int
    let missing: Int
    let onlyHere: Int
    /// Captures of which a part is not on this device.
    let capturesElsewhere: Int
    let lastComplete: String?
    let devices: [DeviceAnswer]
    let alarms: [String]
    /// The error code of why this device may not write.
    let stopped: String?
    let needsSlot: Bool
    /// Changes that a revocation cut off.
    let quarantined: Int
    /// Messages that were changed on two devices at once.
    let changedTwice: [String]
    /// What other devices removed in the last 30 days.
    let removals: [RemovalsAnswer]
    /// Whether the account opens with another passphrase than this coffer.
    let passphraseDiffers: Bool
    /// Twelve words, while this device asks to be let in.
    let fingerprint: String?
    let words: String
  }

  struct RemovalsAnswer: Encodable {
    let device: String
    let removed: Int
    let since: String
  }

  init(_ account: OpenAccount) throws {
    place = "\(account.place)"
    status = try account.synchronizer.status()
    removals = account.synchronizer.recentRemovals
  }

  func tell(_ context: CommandContext) throws {
    context.isJSON ? JSON.print(answer) : show(context)
  }

  private var answer: Answer {
    Answer(
      place: place, waiting: status.waitingCount, missing: status.missingCount,
      onlyHere: status.onlyHereCount, capturesElsewhere: status.capturesElsewhereCount,
      lastComplete: status.lastComplete.map { RFC3339.format($0) },
      devices: status.devices.map(DeviceAnswer.init), alarms: SyncEnding.codes(status.alarms),
      stopped: status.stop.map { Failure(outcome: $0, nil).code },
      needsSlot: status.needsSlot, quarantined: status.quarantinedCount,
      changedTwice: status.changedTwice.map(\.message.description),
      removals: removals.map { removals in
        RemovalsAnswer(
          device: Hexadecimal.text(removals.device.bytes), removed: removals.recordCount,
          since: removals.sinceText)
      },
      passphraseDiffers: status.passphraseDiffers,
      fingerprint: status.enrolmentWords?.joined(separator: " "), words: status.words.joined(separator: " "))
  }

  private func show(_ context: CommandContext) {
    Self.row("place      \(place)")
    if let words = status.enrolmentWords {
      Self.row("joining    this device waits to be let in: 'coffer device approve' on another one")
      Self.row("           its twelve words: \(words.joined(separator: " "))")
      return
    }
    let waiting =
      status.waitingCount == 0
      ? "nothing"
      : status.waitingCount.counted("change")
        + (status.stop == nil ? ": 'coffer sync' sends them" : ", not sent")
    Self.row("waiting    \(waiting)")
    Self.row(
      "last sync  \(status.lastComplete.map { LocalTime.shown($0) } ?? "never complete: run 'coffer sync'")")
    for (index, device) in status.devices.enumerated() {
      Self.row("\(index == 0 ? "devices    " : "           ")\(Self.words(device))")
    }
    if status.missingCount > 0 { Self.rows("missing", Failure.missingContents(status.missingCount)) }
    if status.onlyHereCount > 0 {
      Self.row("only here  \(status.onlyHereCount.counted("version")) damaged, and not sent: 'coffer doctor'")
    }
    if status.capturesElsewhereCount > 0 {
      Self.row(
        "captures   \(status.capturesElsewhereCount.grouped) not on this device: 'coffer capture keep --all' gets them"
      )
    }
    if let stop = status.stop { Self.rows("stopped", Failure(outcome: stop, nil)) }
    for (index, alarm) in Failure.alarms(status.alarms).enumerated() {
      Self.rows(index == 0 ? "wrong" : "", alarm)
    }
    for removals in removals where removals.isMuch {
      Self.row("removed    \(removals.words)")
      Self.row("           \(removals.hint)")
    }
    for (index, changed) in status.changedTwice.prefix(Self.listed).enumerated() {
      let title = changed.title.map { "'\($0)'" } ?? MessageChoice.shown(changed.message)
      Self.row("\(index == 0 ? "two ways   " : "           ")\(title) was changed on two devices at once")
    }
    if status.changedTwice.count > Self.listed {
      Self.row("           and \((status.changedTwice.count - Self.listed).counted("other"))")
    }
    if !status.changedTwice.isEmpty {
      Self.row("           'coffer message history' has what is not shown; a new edit settles it")
    }
    if status.quarantinedCount > 0 {
      Self.row(
        "cut off    \(status.quarantinedCount.counted("change")) of a revoked device: 'coffer sync quarantine'"
      )
    }
    if status.needsSlot, !status.alarms.contains(.ownerForked) {
      Self.row("keys       not every device has the newest ones: 'coffer account settle'")
    }
    if status.passphraseDiffers {
      Self.row(
        "passphrase the account has another one than this coffer: 'coffer passphrase change' takes it here, 'coffer account passphrase' gives the account this one"
      )
    }
    for (index, words) in Self.grid(status.words).enumerated() {
      Terminal.print("\(index == 0 ? "history    " : "           ")\(words)")
    }
    Self.row("           (the same eight words on every device that has the same; they open nothing)")
  }

  private static func row(_ line: ShownLine) { Terminal.print(line, textAt: nameWidth) }

  private static func rows(_ name: String, _ failure: Failure) {
    row("\(name.padded(to: nameWidth))\(failure.message)")
    if let hint = failure.hint { row("           \(hint)") }
  }

  /// Messages that are named one by one.
  private static let listed = 5
  private static let nameWidth = "history    ".count
  /// The longest word of the list, and a blank.
  private static let wordWidth = 9

  /// The words in columns on a terminal, so that two screens can be compared; else in one line.
  private static func grid(_ words: [String]) -> [String] {
    guard Terminal.isOutputTerminal else { return [words.joined(separator: " ")] }
    let room = (Terminal.columns - nameWidth + 1) / wordWidth
    let count = room >= words.count ? words.count : room >= 4 ? 4 : 2
    return stride(from: 0, to: words.count, by: count).map { start in
      let row = words[start..<min(start + count, words.count)]
      return row.dropLast().map { $0.padded(to: wordWidth) }.joined() + (row.last ?? "")
    }
  }

  static func words(_ device: DeviceView) -> String {
    var parts = [device.name]
    if device.isThisDevice { parts[0] += " (this one)" }
    if device.isRevoked {
      parts.append("revoked")
    } else if !device.isThisDevice {
      parts.append(
        device.lastNews.map { "last news \(LocalTime.shown(Int64(clamping: $0)))" } ?? "no news yet")
    }
    if device.heldCount > 0 { parts.append("\(device.heldCount.counted("removal")) of it held back") }
    return parts.joined(separator: ", ")
  }
}
