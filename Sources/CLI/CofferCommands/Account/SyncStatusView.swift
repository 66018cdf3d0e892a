// SPDX-License-Identifier: Apache-2.0
//
// How a coffer stands to its account, as `coffer sync status` shows it.

internal import Histories
internal import Syncing
internal import Texts

struct SyncStatusView {
  private let place: String
  private let status: SyncStatus

  struct Answer: Encodable {
    struct Device: Encodable {
      let name: String
      let isThisDevice: Bool
      let isRevoked: Bool
      /// Whether its keys are in a chip.
      let hasChip: Bool
      let lastNews: String?
      let held: Int
    }
    let place: String
    let waiting: Int
    let missing: Int
    let onlyHere: Int
    let lastComplete: String?
    let devices: [Device]
    let alarms: [String]
    /// The error code of why this device may not write.
    let stopped: String?
    let needsSlot: Bool
    let words: String
  }

  init(_ account: OpenAccount) throws {
    place = "\(account.place)"
    status = try account.synchronizer.status()
  }

  func tell(_ context: CommandContext) throws {
    context.isJSON ? JSON.print(answer) : show(context)
  }

  private var answer: Answer {
    Answer(
      place: place, waiting: status.waitingCount, missing: status.missingCount,
      onlyHere: status.onlyHereCount, lastComplete: status.lastComplete.map { RFC3339.format($0) },
      devices: status.devices.map { device in
        Answer.Device(
          name: device.name, isThisDevice: device.isThisDevice, isRevoked: device.isRevoked,
          hasChip: device.level == 1, lastNews: device.lastNews.map { RFC3339.format(Int64(clamping: $0)) },
          held: device.heldCount)
      }, alarms: SyncEnding.codes(status.alarms), stopped: status.stop.map { Failure(outcome: $0, nil).code },
      needsSlot: status.needsSlot, words: status.words.joined(separator: " "))
  }

  private func show(_ context: CommandContext) {
    Terminal.print("place      \(place)")
    let waiting =
      status.waitingCount == 0
      ? "nothing" : "\(status.waitingCount.counted("change")): 'coffer sync' sends them"
    Terminal.print("waiting    \(waiting)")
    Terminal.print(
      "last sync  \(status.lastComplete.map { LocalTime.shown($0) } ?? "never complete: run 'coffer sync'")")
    for (index, device) in status.devices.enumerated() {
      Terminal.print("\(index == 0 ? "devices    " : "           ")\(Self.words(device))")
    }
    if status.missingCount > 0 {
      let failure = Failure.missingContents(status.missingCount)
      Terminal.print("missing    \(failure.message)")
      if let hint = failure.hint { Terminal.print("           \(hint)") }
    }
    if status.onlyHereCount > 0 {
      Terminal.print(
        "only here  \(status.onlyHereCount.counted("version")) damaged, and not sent: 'coffer doctor'")
    }
    if let stop = status.stop {
      let failure = Failure(outcome: stop, nil)
      Terminal.print("stopped    \(failure.message)")
      if let hint = failure.hint { Terminal.print("           \(hint)") }
    }
    for (index, alarm) in Failure.alarms(status.alarms).enumerated() {
      Terminal.print("\(index == 0 ? "wrong      " : "           ")\(alarm.message)")
      if let hint = alarm.hint { Terminal.print("           \(hint)") }
    }
    if status.needsSlot {
      Terminal.print("keys       not every device has the newest ones: join once more with the card")
    }
    Terminal.print("history    \(status.words.joined(separator: " "))")
    Terminal.print("           (the same eight words on every device that has the same; they open nothing)")
  }

  static func words(_ device: DeviceView) -> String {
    var parts = [device.name]
    if device.isThisDevice {
      parts[0] += " (this one)"
    } else if device.isRevoked {
      parts.append("revoked")
    } else {
      parts.append(
        device.lastNews.map { "last news \(LocalTime.shown(Int64(clamping: $0)))" } ?? "no news yet")
    }
    if device.heldCount > 0 { parts.append("\(device.heldCount.counted("change")) of it held back") }
    return parts.joined(separator: ", ")
  }
}
