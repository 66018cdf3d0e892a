// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Captures
internal import CofferKit
internal import Couriers
internal import Histories
internal import Syncing

struct SyncCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Get what is new from the other devices, and send what waits here.")
  static let page = """
    coffer sync: get what is new from the other devices, and send what waits here

    usage: coffer sync [--captures all|none] [--limit-up SPEED] [--limit-down SPEED]
                       \(OpeningOptions.usage)
           coffer sync status
           coffer sync quarantine [take ID...]

    Says so, on a terminal alone, if there was nothing to do. It ends with 0 only when all that waited is at
    the place, and was looked for there. Control-C stops it between two requests; the next run goes on.

      status  what waits, when it was complete last, the devices and their last news, what is wrong at the
              place, and eight words: devices that show the same words have the same history. Asks the place
              nothing.
      quarantine
              what a revocation cut off and has no effect: messages of the device that was revoked, and what
              it removed. 'take' makes the messages with these identifiers, or their last digits, messages of
              this device, in the last version that was cut off; 'take all' does so with what nobody else
              has. What is not here is got from the place.

      --captures
              all: from now on, each sync on this device also gets the captures of the others as a whole.
              none: it gets their titles and small parts, and the rest when it is asked for; so it is at
              first
      --limit-up, --limit-down
              bytes a second to a service that speaks S3 and from it, at most: 500k, 2M. A folder and a
              database have no limit.

    Removed and edited on two devices at once, a message keeps what both did: 'coffer message history' has
    the versions.

    example: coffer sync
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Whether this device gets captures as a whole: all or none.") var captures: CapturePolicy?
  @Option(help: "Bytes a second to a service, at most.") var limitUp: Speed?
  @Option(help: "Bytes a second from a service, at most.") var limitDown: Speed?
  @Argument(help: "status or quarantine") var what: Request?
  @Argument(help: "take, and which messages") var which: [String] = []

  enum Request: String, ExpressibleByArgument, CaseIterable {
    case status, quarantine
  }

  enum CapturePolicy: String, ExpressibleByArgument, CaseIterable {
    case all, none
  }

  struct Answer: Encodable {
    let new: Int
    let newCaptures: Int
    /// Captures that are here as a whole now, and were not.
    let keptCaptures: Int
    let changed: Int
    /// Of these, those that another device removed.
    let removed: Int
    let sent: Int
    let waiting: Int
    let missing: Int
    let onlyHere: Int
    /// Error codes of what is wrong at the place.
    let alarms: [String]
  }

  func validate() throws {
    guard what == nil || (captures == nil && limitUp == nil && limitDown == nil) else {
      throw ValidationError("only 'coffer sync' alone has --captures and limits of speed")
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
    if let captures { try account.synchronizer.setGetsCaptures(captures == .all) }
    let start = ContinuousClock.now
    var limits = CourierRemote.Limits()
    limits.bytesPerSecondUp = limitUp?.bytesPerSecond
    limits.bytesPerSecondDown = limitDown?.bytesPerSecond
    let asked = account.synchronizer.awaitsApproval
    let report = try account.run("syncing", .sync, context, limits: limits)
    if asked, account.synchronizer.isMember { account.coffer.noteAccountChange(.accountJoined) }
    let ending = SyncEnding(report, account.synchronizer)
    var (kept, failure) = ([CaptureID](), (any Error)?.none)
    if report.outcome == .complete, try account.synchronizer.getsCaptures() {
      do {
        kept = try account.fetch(account.synchronizer.capturesElsewhere(), context, limits: limits)
      } catch { failure = error }
    }
    if context.isJSON {
      JSON.print(
        Answer(
          new: report.newCount, newCaptures: report.newCaptureCount, keptCaptures: kept.count,
          changed: report.changedCount, removed: report.removed.count, sent: report.sentCount,
          waiting: report.waitingCount, missing: report.missingCount, onlyHere: report.onlyHereCount,
          alarms: SyncEnding.codes(report.alarms)))
    } else if !ending.isQuiet || !kept.isEmpty {
      let tenths = Int((ContinuousClock.now - start) / .milliseconds(100))
      let whole = kept.isEmpty ? nil : "\(kept.count.counted("capture")) here as a whole now"
      let counts = [ending.counts, whole].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ", ")
      context.remark("\(counts), \(tenths / 10).\(tenths % 10) s")
    }
    let hasWarned = try ending.check(context)
    if let failure { throw failure }
    if ending.isQuiet, kept.isEmpty, !hasWarned, context.hasTerminal { context.remark("Nothing to do.") }
  }
}
