// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Couriers
internal import Foundation
internal import Remotes
internal import Syncing

struct RemoteCheckCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Try whether a place will do, and how fast it is.")
  static let page = """
    coffer remote check: try whether a place will do, and how fast it is

    usage: coffer remote check \(NewPlaceOptions.usage)
                               \(OpeningOptions.usage)

    Writes a few objects of its own, reads, lists, writes over and deletes them, and says what the place did.
    With a place it needs no coffer: try it before 'coffer remote add'. Without one, it tries the place of
    this coffer's account. At most 8 MiB go there and come back.

      folder:///PATH, --url-file, --url-fd
             the place, as of 'coffer remote add'

    example: coffer remote check folder:///media/stick/coffer
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var place: NewPlaceOptions

  struct Answer: Encodable {
    let place: String
    let faults: [String]
    let listDelaySeconds: Double?
    let mayDelete: Bool
    let clockLeadSeconds: Int64?
    let answerMilliseconds: Double
    let bytesPerSecondUp: Int
    let bytesPerSecondDown: Int
    let leftByteCount: Int
  }

  func execute(_ context: CommandContext) throws {
    let tried = try tried(context)
    let (place, remote) = (tried.place, tried.remote)
    let check: RemoteCheck?
    do {
      check = try OpenAccount.showing("checking", context) {
        try RemoteCheck.run(
          on: remote, now: { UInt64(max(0, Date().timeIntervalSince1970)) },
          pause: { Interruption.wait(milliseconds: Int32($0 / .milliseconds(1))) },
          goesOn: { OpenAccount.goesOn(bytes: 0, of: nil) }
        )
      }
    } catch is RemoteError where Interruption.isRequested {
      throw Failure.interrupted("objects in '\(RemoteCheck.folder)/' may be left there")
    }
    guard let check else { throw Failure.interrupted("what it wrote was deleted, as far as that is allowed") }
    if context.isJSON {
      JSON.print(
        Answer(
          place: "\(place)", faults: check.faults.map(\.rawValue).sorted(),
          listDelaySeconds: check.listDelay.map { $0 / .seconds(1) }, mayDelete: check.mayDelete,
          clockLeadSeconds: check.clockLead, answerMilliseconds: check.answerTime / .milliseconds(1),
          bytesPerSecondUp: Int(check.bytesPerSecondUp), bytesPerSecondDown: Int(check.bytesPerSecondDown),
          leftByteCount: check.leftByteCount))
    } else {
      Terminal.print("place     \(place)", textAt: 10)
      let isFolder = if case .folder = place { true } else { false }
      for (name, words) in Self.rows(check, isFolder: isFolder) {
        Terminal.print("\(name.padded(to: 10))\(words)", textAt: 10)
      }
    }
    guard check.faults.isEmpty else {
      throw Failure(
        .remote, "remote_unfit", "the place does not keep what is written there as it was",
        hint: "do not rely on it; use another place")
    }
    if let address = tried.account { try Self.checkIsThere(address, remote) }
    context.remark("The place will do.")
  }

  /// The place that is tried; with the account that should be there, unless another place was given.
  private func tried(
    _ context: CommandContext
  ) throws -> (place: RemotePlace, remote: any Remote, account: AccountAddress?) {
    if place.isGiven {
      let (place, remote) = try place.open(context)
      return (place, remote, nil)
    }
    let account = try OpenAccount(context.open(opening))
    return (account.place, try account.place.reached(), try account.synchronizer.address())
  }

  private static func checkIsThere(_ address: AccountAddress, _ remote: any Remote) throws {
    do { try AccountLink.checkIsThere(at: remote, address) } catch SyncError.notThere {
      throw Failure.emptyRemote
    }
  }

  /// What was found, for people.
  static func rows(_ check: RemoteCheck, isFolder: Bool) -> [(name: String, words: String)] {
    [
      ("objects", objects(check.faults)), ("lists", lists(check.listDelay)),
      ("deleting", deleting(check, isFolder: isFolder)), ("clock", clock(check.clockLead)),
      ("speed", speed(check, isFolder: isFolder)),
    ]
  }

  private static func objects(_ faults: Set<RemoteCheck.Fault>) -> String {
    guard !faults.isEmpty else { return "read as they were written, whole, in part, and when written over" }
    let words = faults.map { fault in
      switch fault {
      case .reading: "did not read as they were written"
      case .ranges: "did not read right in part"
      case .overwriting: "did not change when they were written over"
      case .deleting: "were there after they were deleted"
      }
    }
    return words.sorted().joined(separator: "; ")
  }

  private static func lists(_ delay: Swift.Duration?) -> String {
    guard let delay else {
      return
        "lack after \(Int(RemoteCheck.listLimit / .seconds(1))) s what was written: devices get what is new later"
    }
    guard delay > .zero else { return "have at once what was written" }
    return "have what was written after \(tenths(delay / .seconds(1))) s: devices get what is new later"
  }

  private static func deleting(_ check: RemoteCheck, isFolder: Bool) -> String {
    guard check.mayDelete else {
      return
        "refused, as it should be in daily use; at most \(ByteCount.text(check.leftByteCount)) are left in '\(RemoteCheck.folder)/'"
    }
    guard !isFolder else { return "allowed" }
    return "allowed: who steals these credentials can delete everything; see 'coffer remote policy'"
  }

  private static func clock(_ lead: Int64?) -> String {
    guard let lead else { return "the place has none of its own" }
    let (seconds, side) = (lead.magnitude, lead > 0 ? "ahead of" : "behind")
    guard seconds > 4 else { return "as this machine's" }
    let difference = "\(Duration.text(Int(clamping: seconds))) \(side) this machine's"
    return seconds > 300 ? "\(difference): set the wrong one right" : difference
  }

  private static func speed(_ check: RemoteCheck, isFolder: Bool) -> String {
    let answer = "answers after \(tenths(check.answerTime / .milliseconds(1))) ms"
    let up = "sending \(ByteCount.text(Int(check.bytesPerSecondUp)))/s"
    // What a folder just got comes from the memory of this machine.
    guard !isFolder else { return "\(answer), \(up)" }
    return "\(answer), \(up), getting \(ByteCount.text(Int(check.bytesPerSecondDown)))/s"
  }

  private static func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
}
