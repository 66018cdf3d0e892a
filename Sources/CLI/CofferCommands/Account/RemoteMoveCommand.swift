// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Histories
internal import Remotes
internal import Syncing

struct RemoteMoveCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Go on at another place, or with other credentials.")
  static let page = """
    coffer remote move: go on at another place, or with other credentials of the same one

    usage: coffer remote move \(NewPlaceOptions.usage) [--yes]
                              \(OpeningOptions.usage)

    Where the account is already, as after its folder was copied, this device goes on there. Where it is not,
    everything that this device has is sent there, after a question. What is at the old place stays there.
    The card changes, and the other devices go on at the old place until you run this on them.

      folder:///PATH, --url-file, --url-fd
             the place, as of 'coffer remote add'
      --yes  do not ask

    example: coffer remote move folder:///media/disk/coffer
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var place: NewPlaceOptions
  @Flag(help: "Do not ask.") var yes = false

  struct Answer: Encodable {
    let place: String
    /// Whether the account was at the place already.
    let wasThere: Bool
    let new: Int
    let sent: Int
    let putBack: Int
  }

  func execute(_ context: CommandContext) throws {
    let (place, remote) = try place.open(context)
    let coffer = try context.open(opening)
    let synchronizer = try coffer.account.open()
    guard !synchronizer.awaitsApproval else { throw SyncError.notApproved }
    if let stop = try synchronizer.status().stop { throw Failure(outcome: stop, nil) }
    let wasThere = try synchronizer.isThere(at: remote)
    let last = try OpenAccount(coffer, synchronizer).run("getting what is new", .sync, context)
    guard !Interruption.isRequested else { throw Failure.interrupted("nothing was moved") }
    if !wasThere { try checkMayFill(synchronizer, place, context) }
    try synchronizer.move(to: place)
    coffer.noteAccountChange(.accountMoved)
    let account = try OpenAccount(coffer, synchronizer)
    let ending: SyncEnding
    do {
      let report = try account.run("moving", .verify, context)
      if context.isJSON {
        JSON.print(
          Answer(
            place: "\(place)", wasThere: wasThere, new: report.newCount, sent: report.sentCount,
            putBack: report.putBackCount))
      }
      ending = SyncEnding(report, synchronizer)
      try ending.check(context)
    } catch {
      var failure = Failure(error)
      failure.message = "at the new place: \(failure.message)"
      failure.hint =
        "this device goes on at the new place with 'coffer sync'; 'coffer remote move' also leads back"
      throw failure
    }
    context.remark(
      wasThere
        ? "The account was at \(place) already\(ending.counts.isEmpty ? "" : ": \(ending.counts)")."
        : "At \(place) now: everything that this device has.")
    if last.outcome != .complete {
      context.remark("What may be new at the old place did not come; a device that has it brings it along.")
    }
    context.remark(
      "The card has changed: 'coffer remote card' prints it. On the other devices run this, too.")
  }

  /// Nobody but the old place may have what this device lacks.
  private func checkMayFill(
    _ synchronizer: Synchronizer, _ place: RemotePlace, _ context: CommandContext
  ) throws {
    let awayCount = try synchronizer.capturesElsewhere().count
    guard awayCount == 0 else {
      throw Failure(
        .refused, "captures_elsewhere",
        "\(awayCount.counted("capture is", "captures are")) at the old place and not on this device, so it cannot fill another one",
        hint: "'coffer capture keep --all' gets them; or copy the old place with its own tools first"
      )
    }
    let missingCount = try synchronizer.status().missingCount
    guard missingCount == 0 else { throw Failure.missingContents(missingCount) }
    guard !yes else { return }
    let (count, captureCount) = synchronizer.shownCounts
    let captures = captureCount == 0 ? "" : " and \(captureCount.counted("capture"))"
    try context.insist(
      "The account is not at \(place). Send \(count.counted("message"))\(captures) there, and go on there?",
      otherwise: "nothing was moved")
  }
}
