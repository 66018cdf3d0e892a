// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Histories
internal import Remotes
internal import Syncing

struct RemoteSweepCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "sweep", abstract: "Delete at the place what nobody needs.")
  static let page = """
    coffer remote sweep: delete at the place what was removed on all devices long ago

    usage: coffer remote sweep [--yes] \(PlaceOptions.usage)
                               \(OpeningOptions.usage)

    What was removed or replaced stays at the place, sealed, until a sweep. It deletes only what has been
    removed for 30 days, by this device and by the clock of the place. A folder has no clock of its own:
    there, this device must also have written in four weeks since; sync once a week. Nothing is deleted
    while anything is wrong at the place. What is deleted is gone for every device. It can be stopped,
    and run again.

      --url-file, --url-fd
             the same place with credentials that may delete; those of daily use should not
      --yes  do not ask

    example: coffer remote sweep
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var place: PlaceOptions
  @Flag(help: "Do not ask.") var yes = false

  struct Answer: Encodable {
    let deleted: Int
    /// Bytes of all packs that were to be deleted.
    let byteCount: Int
  }

  func execute(_ context: CommandContext) throws {
    let account = try OpenAccount(context.open(opening))
    let remote = try place.samePlace(as: account.place, context).reached()
    guard try account.synchronizer.isThere(at: remote) else { throw Failure.emptyRemote }
    var dead: DeadPacks?
    let report = try OpenAccount.watching("sweeping", context) { goesOn in
      try account.synchronizer.sweep(
        at: remote,
        allows: {
          dead = $0
          if !yes { try ask($0, context) }
          return true
        }, progress: goesOn)
    }
    if report.outcome == .sweepRefused {
      throw Failure(sweepRefused: report, account.synchronizer.devices)
    }
    if report.deletedCount > 0 {
      account.coffer.noteAccountChange(.packsDeleted, count: report.deletedCount)
    }
    try SyncEnding(report, account.synchronizer).check(context)
    let byteCount = dead?.byteCount ?? 0
    if context.isJSON { return JSON.print(Answer(deleted: report.deletedCount, byteCount: byteCount)) }
    guard report.deletedCount > 0 else {
      return context.remark("Nothing to delete: somebody may still need each part of it.")
    }
    context.remark("Deleted: \(report.deletedCount.counted("pack")), \(ByteCount.text(byteCount)).")
  }

  private func ask(_ dead: DeadPacks, _ context: CommandContext) throws {
    try context.insist(
      "Delete \(dead.count.counted("pack")) of removed messages, \(ByteCount.text(dead.byteCount)), for all devices?",
      otherwise: "nothing was deleted")
  }
}

extension Failure {
  /// Why nothing was deleted.
  init(sweepRefused report: SyncReport, _ devices: [DeviceView]) {
    let reason: (message: String, hint: String?)
    if let alarm = Failure.alarms(report.alarms).first {
      reason = (alarm.message, alarm.hint)
    } else if let device = devices.first(where: { $0.heldCount > 0 }) {
      reason = (
        "what the device '\(device.name)' removed is held here",
        "if you did that: 'coffer device confirm \(device.id.short)'"
      )
    } else {
      reason = (
        "the clocks of this machine and of the place differ by more than five minutes",
        "set the wrong one right"
      )
    }
    self.init(.refused, "sweep_refused", "nothing was deleted: \(reason.message)", hint: reason.hint)
  }
}
