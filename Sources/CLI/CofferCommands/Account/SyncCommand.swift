// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Histories
internal import Syncing

struct SyncCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Get what is new from the other devices, and send what waits here.")
  static let page = """
    coffer sync: get what is new from the other devices, and send what waits here

    usage: coffer sync [--limit-up SPEED] [--limit-down SPEED]
                       \(OpeningOptions.usage)
           coffer sync status
           coffer sync quarantine [take ID...]

    Says nothing if there was nothing to do. It ends with 0 only when all that waited is at the place, and
    was looked for there. Control-C stops it between two requests; the next run goes on.

      status  what waits, when it was complete last, the devices and their last news, what is wrong at the
              place, and eight words: devices that show the same words have the same history. Asks the place
              nothing.
      quarantine
              what a revocation cut off and has no effect: messages of the device that was revoked, and what
              it removed. 'take' makes the messages with these identifiers, or their last digits, messages of
              this device, in the last version that was cut off. What is not here is got from the place.

      --limit-up, --limit-down
              bytes a second to a service and from it, at most: 500k, 2M. A folder has no limit.

    Removed and edited on two devices at once, a message keeps what both did: 'coffer message history' has
    the versions.

    example: coffer sync
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Bytes a second to a service, at most.") var limitUp: Speed?
  @Option(help: "Bytes a second from a service, at most.") var limitDown: Speed?
  @Argument(help: "status or quarantine") var what: Request?
  @Argument(help: "take, and which messages") var which: [String] = []

  enum Request: String, ExpressibleByArgument, CaseIterable {
    case status, quarantine
  }

  struct Answer: Encodable {
    let new: Int
    let changed: Int
    let sent: Int
    let waiting: Int
    let missing: Int
    let onlyHere: Int
    /// Error codes of what is wrong at the place.
    let alarms: [String]
  }

  func validate() throws {
    guard what == nil || (limitUp == nil && limitDown == nil) else {
      throw ValidationError("only 'coffer sync' alone has limits of speed")
    }
    guard !which.isEmpty else { return }
    guard what == .quarantine, which[0] == "take" else {
      throw ValidationError("'\(which[0])' is none of its words")
    }
    if which.count == 1 { throw ValidationError("take what? 'coffer sync quarantine' lists identifiers") }
  }

  func execute(_ context: CommandContext) throws {
    let account = try OpenAccount(context.open(opening))
    if what == .status { return try SyncStatusView(account).tell(context) }
    if what == .quarantine {
      let quarantine = try SyncQuarantine(account)
      return try which.isEmpty
        ? quarantine.list(context) : quarantine.take(Array(which.dropFirst()), context)
    }
    let start = ContinuousClock.now
    var limits = CourierRemote.Limits()
    limits.bytesPerSecondUp = limitUp?.bytesPerSecond
    limits.bytesPerSecondDown = limitDown?.bytesPerSecond
    let report = try account.run("syncing", .sync, context, limits: limits)
    let ending = SyncEnding(report, account.synchronizer)
    if context.isJSON {
      JSON.print(
        Answer(
          new: report.newCount, changed: report.changedCount, sent: report.sentCount,
          waiting: report.waitingCount, missing: report.missingCount, onlyHere: report.onlyHereCount,
          alarms: SyncEnding.codes(report.alarms)))
    } else if ending.isQuiet {
      if context.hasTerminal, report.outcome == .complete { context.remark("Nothing to do.") }
    } else {
      let tenths = Int((ContinuousClock.now - start) / .milliseconds(100))
      context.remark("\(ending.counts), \(tenths / 10).\(tenths % 10) s")
    }
    try ending.check(context)
  }
}
