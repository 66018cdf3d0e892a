// SPDX-License-Identifier: Apache-2.0
//
// How a run ended, in words: warnings about what is to be done, and a failure for what went wrong.

internal import Histories
internal import Primitives
internal import Syncing
internal import Texts

struct SyncEnding {
  private let report: SyncReport
  private let devices: [DeviceView]
  private let synchronizer: Synchronizer
  private let needsSlot: Bool
  private let awaitsApproval: Bool

  init(_ report: SyncReport, _ synchronizer: Synchronizer) {
    self.report = report
    devices = synchronizer.devices
    self.synchronizer = synchronizer
    needsSlot = synchronizer.needsSlot
    awaitsApproval = synchronizer.awaitsApproval
  }

  /// Whether nothing came, nothing was sent, and nothing is wrong.
  var isQuiet: Bool {
    report.newCount == 0 && report.newCaptureCount == 0 && report.changedCount == 0 && report.sentCount == 0
  }

  /// Such as "12 new here, 1 changed, 3 sent".
  var counts: String {
    var parts: [String] = []
    if report.newCount > 0 { parts.append("\(report.newCount.grouped) new here") }
    if report.newCaptureCount > 0 { parts.append("\(report.newCaptureCount.counted("capture")) new here") }
    let changedCount = report.changedCount - report.removed.count
    if changedCount > 0 { parts.append("\(changedCount.grouped) changed here") }
    if report.removed.count > 0 { parts.append("\(report.removed.count.grouped) removed elsewhere") }
    if report.sentCount > 0 { parts.append("\(report.sentCount.grouped) sent") }
    return parts.joined(separator: ", ")
  }

  /// The codes of what is wrong at the remote.
  static func codes(_ alarms: Set<Alarm>) -> [String] { Failure.alarms(alarms).map(\.code) }

  /// Says what is to be done.
  /// - Returns: whether it warned of something.
  /// - Throws: a failure for a run that did not end well, or for an alarm.
  @discardableResult
  func check(_ context: CommandContext) throws -> Bool {
    let news = try synchronizer.takeDeviceNews()
    for news in news { Warning(news).tell(isJSON: context.isJSON) }
    let surprises = tellSurprises(context)
    if report.isStopped || (report.outcome == .unreachable && Interruption.isRequested) {
      throw Failure.interrupted("what was sent is safe", hint: "'coffer sync' goes on")
    }
    if awaitsApproval, report.outcome == .notMember { throw SyncError.notApproved }
    guard report.outcome == .complete else {
      throw Failure(outcome: report.outcome, report.remoteError)
    }
    let warnings = warnings
    for warning in warnings { warning.tell(isJSON: context.isJSON) }
    let alarms = Failure.alarms(report.alarms)
    for other in alarms.dropFirst() {
      Warning(code: other.code, message: other.message, hint: other.hint ?? "").tell(isJSON: context.isJSON)
    }
    if let first = alarms.first { throw first }
    if report.missingCount > 0 { throw Failure.missingContents(report.missingCount) }
    guard report.lostCaptures.isEmpty else {
      if !context.isJSON {
        for capture in report.lostCaptures { Terminal.print("lost  \(capture.description)") }
      }
      throw Failure.lostCaptures(report.lostCaptures.count)
    }
    return !news.isEmpty || !surprises.isEmpty || !warnings.isEmpty
  }

  /// - Returns: what it said.
  @discardableResult
  func tellSurprises(_ context: CommandContext) -> [Warning] {
    let surprises = surprises
    for warning in surprises { warning.tell(isJSON: context.isJSON) }
    return surprises
  }

  /// What came and may surprise: said also of a run that did not end well, since the next one says nothing of it.
  private var surprises: [Warning] {
    var warnings = [
      warning("changed_twice", of: report.parallel) { count in
        "\(count.counted("message was", "messages were")) changed on two devices at once: one version is shown, all are kept"
      } hint: { first in
        "'coffer message history \(first)' has them, 'coffer message restore' chooses another one"
      },
      warning("changed_and_removed", of: report.returned) { count in
        "\(count.counted("message that was removed was", "messages that were removed were")) changed on another device at the same time: \(count == 1 ? "it is" : "they are") shown again"
      } hint: { first in
        "'coffer message show \(first)', or 'coffer message remove \(first)'"
      },
    ].compactMap(\.self)
    // Of several runs: a thief may take little in each.
    let removers = Set(synchronizer.removals(in: report).map(\.device))
    for removals in removers.isEmpty ? [] : synchronizer.recentRemovals
    where removals.isMuch && removers.contains(removals.device) {
      warnings.append(
        Warning(
          code: "much_removed", message: "removed: \(removals.words)", hint: removals.hint,
          count: removals.recordCount))
    }
    return warnings
  }

  /// A warning about messages; nil if there are none. The hint is about the first of them, and names a few others.
  private func warning(
    _ code: String, of messages: Set<RecordID>, _ message: (Int) -> String, hint: (String) -> String
  ) -> Warning? {
    let ids = messages.sorted().map { MessageChoice.shown($0) }
    guard let first = ids.first else { return nil }
    let others = ids.dropFirst().prefix(5).joined(separator: ", ")
    return Warning(
      code: code, message: message(ids.count), hint: hint(first) + (others.isEmpty ? "" : "; also \(others)"),
      count: ids.count)
  }

  private var warnings: [Warning] {
    var warnings: [Warning] = []
    if report.onlyHereCount > 0 {
      warnings.append(
        Warning(
          code: "stays_here",
          message: report.onlyHereCount == 1
            ? "1 message, earlier version or capture is damaged here, and cannot be sent"
            : "\(report.onlyHereCount.grouped) messages, earlier versions or captures are damaged here, and cannot be sent",
          hint: "'coffer doctor' names what is damaged", count: report.onlyHereCount))
    }
    if report.awaitedCount > 0, report.alarms.isEmpty {
      warnings.append(
        Warning(
          code: "objects_awaited",
          message:
            "\(report.awaitedCount.counted("object")) of other devices damaged at the place, or not there yet: what is in \(report.awaitedCount == 1 ? "it" : "them") is not here",
          hint: "'coffer remote verify' on the other devices, then 'coffer sync' here",
          count: report.awaitedCount))
    }
    if report.waitingCount > 0 {
      warnings.append(
        Warning(
          code: "changes_wait", message: "\(report.waitingCount.counted("change")) came meanwhile and wait",
          hint: "'coffer sync' sends them", count: report.waitingCount))
    }
    for device in devices where device.heldCount > 0 && !device.isRevoked {
      warnings.append(
        Warning(
          code: "changes_held",
          message:
            "the device '\(device.name)' removed or replaced unusually much at once; here all of it stays",
          hint:
            "if you did that: 'coffer device confirm \(device.id.short)'; if it is lost: 'coffer device revoke \(device.id.short)'",
          count: device.heldCount))
    }
    if needsSlot, !report.alarms.contains(.ownerForked) {
      warnings.append(
        Warning(
          code: "slot_needed",
          message: "the account has new keys that not every device has yet",
          hint: "'coffer account settle' hands them out"))
    }
    return warnings
  }
}

extension DeviceRemovals {
  /// Such as "12 messages and captures by 'desk', the first at 2026-11-27 10:14 UTC".
  var words: String { "\(count) by '\(name)', \(beginning)" }

  /// Such as "12 messages and captures".
  var count: String { recordCount.counted("message or capture", "messages and captures") }

  /// Such as "the first at 2026-11-27 10:14 UTC".
  var beginning: String { "the first at \(LocalTime.shown(Int64(clamping: since)))" }

  /// When the first of them came, as `--since` takes it.
  var sinceText: String { RFC3339.format(Int64(clamping: since)) }

  /// What undoes it.
  var hint: String {
    "if that was not you: 'coffer device revoke \(Hexadecimal.text(device.bytes)) --since \(sinceText)' brings them back"
  }
}

extension Warning {
  /// What became of another device, and not by this one's doing.
  fileprivate init(_ news: DeviceNews) {
    let (name, short) = ("the device '\(news.name)' (\(news.device.short))", news.device.short)
    let unasked =
      "if that was not you: 'coffer device revoke \(short)', then 'coffer account passphrase'"
    switch news.kind {
    case .added:
      self.init(code: "device_added", message: "\(name) belongs to the account now", hint: unasked)
    case .rejoined:
      self.init(
        code: "device_rejoined", message: "\(name) goes on under this new identifier", hint: unasked)
    case .revoked, .passed:
      let deed = news.kind == .revoked ? "was revoked" : "was let in and revoked again"
      self.init(
        code: "device_revoked", message: "\(name) \(deed) on another device",
        hint: "if that was not you, somebody has a passphrase of the account: 'coffer account passphrase'")
    case .dropped:
      self.init(
        code: "device_dropped",
        message: "\(name) was let in while the account was changed elsewhere, and does not belong to it",
        hint: "'coffer device rejoin' there brings it back")
    }
  }
}
