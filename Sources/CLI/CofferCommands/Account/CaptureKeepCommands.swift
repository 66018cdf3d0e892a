// SPDX-License-Identifier: Apache-2.0
//
// Captures that are not here as a whole: got from the place of the account, or freed here because they are there.

internal import ArgumentParser
internal import Captures
internal import CofferKit
internal import Couriers
internal import Histories
internal import Primitives
internal import Remotes
internal import Syncing
internal import Texts

struct CaptureKeepCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "keep", abstract: "Get captures that are not here, and keep them here.")
  static let page = """
    coffer capture keep: get captures that other devices took, or that were released here, and keep them

    usage: coffer capture keep WHICH... | --all
                               \(OpeningOptions.usage)

    Without it, a capture of another device has its title, date and small parts here; the photo is got when
    it is exported. What comes is compared with the signed hashes before it counts as here. Control-C stops
    it; captures that are whole by then stay.

      --all  all that are not here; 'coffer sync --captures all' does so at each sync

    example: coffer capture keep @3
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The captures: id, the end of it, @N or title.", completion: Completions.captures)
  var which: [String] = []
  @Flag(help: "All that are not here.") var all = false

  func validate() throws {
    if which.isEmpty != all { throw ValidationError("which captures? Name some, or give --all") }
  }

  func execute(_ context: CommandContext) throws {
    let account = try OpenAccount(context.open(opening))
    let wanted =
      try all
      ? account.synchronizer.capturesElsewhere()
      : which.map { try CaptureChoice.id($0, account.coffer.captures, context) }
    let kept = try account.fetch(wanted, context)
    if context.isJSON { return JSON.print(["kept": kept.map(\.description)]) }
    context.remark(
      kept.isEmpty
        ? "All of it is here already."
        : "\(kept.count.counted("capture is", "captures are")) here now.")
  }
}

struct CaptureReleaseCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "release", abstract: "Free what captures take here; the place of the account has them.")
  static let page = """
    coffer capture release: free what captures take here, since the place of the account has them

    usage: coffer capture release WHICH... [--yes]
                                  \(OpeningOptions.usage)

    Syncs first. Then it reads every part back from the place, compares it, and looks for the segments that
    name it; only what is right there is freed here. Title, date and small parts stay. 'coffer capture keep'
    brings a capture back, 'coffer capture export' gets it for the time of the export.

      --yes  do not ask; needed without a terminal

    example: coffer capture release @3
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The captures: id, the end of it, @N or title.", completion: Completions.captures)
  var which: [String]
  @Flag(help: "Do not ask.") var yes = false

  struct Answer: Encodable {
    let released: [String]
    let byteCount: Int
  }

  func execute(_ context: CommandContext) throws {
    let account = try OpenAccount(context.open(opening))
    try account.checkRelease(context)
    let store = account.coffer.captures
    let captures = try which.map { try store.summary(of: CaptureChoice.id($0, store, context)) }
    if !yes {
      let size = ByteCount.text(captures.reduce(0) { $0 + $1.byteCount })
      try context.insist(
        "Free \(size) here? This device then has \(captures.count.counted("capture")) only at \(account.place).",
        otherwise: "nothing was released")
    }
    try account.release(context) {
      captures.map(\.id)
    } tell: { released, byteCount in
      if context.isJSON {
        return JSON.print(Answer(released: released.map(\.description), byteCount: byteCount))
      }
      context.remark(
        released.isEmpty
          ? "Nothing to free: these captures have small parts only, or are not here."
          : "\(released.count.counted("capture")) released, \(ByteCount.text(byteCount)) freed.")
    }
  }
}

extension OpenAccount {
  /// Gets what is not here of captures.
  /// - Returns: those of which something came.
  func fetch(
    _ captures: [CaptureID], _ context: CommandContext, limits: CourierRemote.Limits = CourierRemote.Limits()
  ) throws -> [CaptureID] {
    // Each once, also if it was named twice.
    var left = try Set(synchronizer.capturesElsewhere())
    let wanted = captures.filter { left.remove($0) != nil }
    guard !wanted.isEmpty else { return [] }
    let remote = try place.reached(limits: limits)
    let broken: [CaptureID]
    do {
      broken = try Self.watching("getting captures", context) { goesOn in
        try synchronizer.fetch(wanted, at: remote, progress: goesOn)
      }
    } catch SyncError.stopped {
      throw Failure.interrupted("captures that are whole are here", hint: "the same command goes on")
    }
    guard broken.isEmpty else {
      var failure = Failure(sync: .partMissing)
      failure.message =
        "of \(broken.count.counted("capture")) the place does not have every part, or has it damaged; "
        + "\((wanted.count - broken.count).counted("other")) came"
      failure.unreadable = broken.map(\.description)
      failure.unreadableKind = "capture"
      throw failure
    }
    return wanted
  }

  /// - Throws: a failure where releasing would free nothing, or would be undone by the next sync.
  func checkRelease(_ context: CommandContext) throws {
    if try synchronizer.getsCaptures() {
      throw Failure(
        .refused, "gets_all_captures", "this device gets all captures, and would get these again",
        hint: "'coffer sync --captures none' ends that")
    }
    if place.isInFileSystem(of: context.home) {
      throw Failure(
        .refused, "same_disk", "the place is on the disk of this coffer: that would free nothing",
        hint: "release captures when another disk or a service has them")
    }
  }

  /// Syncs, and frees captures here that the place surely has.
  /// - Parameters:
  ///   - captures: called after the sync.
  ///   - tell: is handed what was released, and its bytes, also when others could not be.
  func release(
    _ context: CommandContext, _ captures: () throws -> [CaptureID], tell: ([CaptureID], Int) -> Void
  ) throws {
    let report = try run("syncing", .sync, context)
    try SyncEnding(report, synchronizer).check(context)
    let remote = try place.reached()
    var (released, byteCount) = ([CaptureID](), 0)
    defer { if !released.isEmpty { coffer.noteAccountChange(.capturesReleased, count: released.count) } }
    let broken: [CaptureID]
    do {
      broken = try Self.watching("reading back", context) { goesOn in
        // Each once, also if it was named twice.
        var named: Set<CaptureID> = []
        return try synchronizer.release(
          captures().filter { named.insert($0).inserted }, at: remote, progress: goesOn
        ) {
          released.append($0)
          byteCount += $1
        }
      }
    } catch {
      if !released.isEmpty { tell(released, byteCount) }
      guard case SyncError.stopped = error else { throw error }
      throw Failure.interrupted("what was not read back yet is here", hint: "the same command goes on")
    }
    if broken.isEmpty || !released.isEmpty { tell(released, byteCount) }
    guard !broken.isEmpty else { return }
    var failure = Failure(
      .corrupt, "remote_incomplete",
      "of \(broken.count.counted("capture")) the place does not have every part, or has it damaged; "
        + "\(broken.count == 1 ? "it stays" : "they stay") here",
      hint: "'coffer remote verify --read 100' puts back what this device has")
    failure.unreadable = broken.map(\.description)
    failure.unreadableKind = "capture"
    throw failure
  }
}
