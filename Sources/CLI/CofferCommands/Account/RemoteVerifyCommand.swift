// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Histories
internal import Primitives
internal import Syncing

struct RemoteVerifyCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Examine what is at the place, and put back what is missing.")
  static let page = """
    coffer remote verify: examine what is at the place, and put back what is missing there and is here

    usage: coffer remote verify [--read PERCENT] [--fill]
                                \(OpeningOptions.usage)

    Lists everything, compares it with what the devices have signed, and looks whether each part is there.
    With --read it also gets that share of the parts with messages, others each time, and compares each
    with its name: a disk that rots is found so. 'coffer recovery drill --remote' opens all of it. A place
    where nothing of the account is may be the wrong disk, or one that is not mounted; it is filled again
    with --fill alone.

      --read PERCENT  read so much of it, 1 to 100
      --fill          put everything back where nothing is

    example: coffer remote verify --read 10
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Read so much of it.") var read: Int?
  @Flag(help: "Put everything back where nothing is.") var fill = false

  struct Answer: Encodable {
    let packs: Int
    let readPacks: Int
    let damagedPacks: Int
    let absentPacks: Int
    let putBack: Int
    /// Captures of which a part is neither here nor there, by their identifiers.
    let lostCaptures: [String]
    let alarms: [String]
  }

  func validate() throws {
    if let read, !(1...100 ~= read) { throw ValidationError("--read takes a number from 1 to 100") }
  }

  func execute(_ context: CommandContext) throws {
    let account = try OpenAccount(context.open(opening))
    if !fill {
      guard try account.synchronizer.isThere(at: account.place.reached()) else {
        throw Failure.emptyRemote
      }
    }
    var report = try account.run("verifying", .verify, context)
    let remote = try account.place.reached()
    let isWhole = report.outcome == .complete
    let found = try OpenAccount.watching("reading", context) { goesOn in
      try account.synchronizer.examinePacks(percent: isWhole ? read ?? 0 : 0, at: remote, progress: goesOn)
    }
    let badCount = found.damagedCount + found.absentCount
    if badCount > 0 {
      let before = report.putBackCount
      report = try account.run("putting back", .verify, context)
      report.putBackCount += before
    }
    if context.isJSON {
      JSON.print(
        Answer(
          packs: found.packCount, readPacks: found.readCount, damagedPacks: found.damagedCount,
          absentPacks: found.absentCount, putBack: report.putBackCount,
          lostCaptures: report.lostCaptures.map(\.description), alarms: SyncEnding.codes(report.alarms)))
    } else if report.putBackCount > 0 {
      context.remark(
        "Put back, since the place had lost them: \(report.putBackCount.counted("message or part of a capture", "messages or parts of captures"))."
      )
    }
    let ending = SyncEnding(report, account.synchronizer)
    try ending.check(context)
    guard found.isComplete else { throw Failure.interrupted("nothing was found wrong until then") }
    if badCount > 0 {
      throw Failure(
        .corrupt, "remote_tampered",
        "\(badCount) of \(found.readCount.counted("pack")) damaged, missing or changed by somebody: what is here of "
          + "\(badCount == 1 ? "it" : "them") was put back",
        hint: "look at the disk; where other devices have more, run this on them, too")
    }
    let readWords = found.readCount > 0 ? "; read and compared: \(found.readCount)" : ""
    context.remark("All is there: \(found.packCount.counted("pack"))\(readWords).")
  }
}
