// SPDX-License-Identifier: Apache-2.0
//
// The queue of captures that are to be uploaded: by `coffer sync`, or by a program that asks what is due, and reports what
// became of it.

public import ArgumentParser
public import Captures
internal import CofferKit
internal import Primitives
internal import Syncing
internal import Texts

struct CaptureQueueCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "queue", abstract: "List captures with the state of their upload.")
  static let page = """
    coffer capture queue: list captures with the state of their upload, oldest first

    usage: coffer capture queue [--due]
                                \(OpeningOptions.usage)

    With several devices, 'coffer sync' uploads them. Without, a program of yours does, and reports with
    'coffer capture mark'. The state is pending, uploading, uploaded or failed. On a pipe: id, state, tries,
    last try and next try, separated by tabs, with '-' for none.

      --due  only captures to upload now

    example: coffer capture queue --due | cut -f1
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(help: "Only captures to upload now.") var due = false

  struct Answer: Encodable {
    let id: String
    let state: String
    let due: Bool
    let attempts: Int
    let lastAttempt: String?
    let nextAttempt: String?
    let removable: String?
    let byteCount: Int
  }

  func execute(_ context: CommandContext) throws {
    let store = try context.captures(opening).store
    let listing = try store.listing()
    for capture in listing.captures.reversed() where !due || store.isDue(capture.upload) {
      let upload = capture.upload
      let answer = Answer(
        id: capture.id.description, state: upload.state.name, due: store.isDue(upload),
        attempts: upload.attempts, lastAttempt: upload.lastAttempt.map(RFC3339.format),
        nextAttempt: upload.nextAttempt.map(RFC3339.format),
        removable: upload.removalTime.map(RFC3339.format), byteCount: capture.byteCount)
      context.isJSON ? JSON.print(answer) : answer.show()
    }
    let byteCount = listing.captures.reduce(0) { $0 + $1.storedByteCount }
    if byteCount >= CaptureStore.warningByteCount {
      context.remark("Captures take up \(ByteCount.text(byteCount)); remove those you have a copy of.")
    }
    try CaptureList.requireComplete(listing)
  }
}

extension CaptureQueueCommand.Answer {
  fileprivate func show() {
    guard Terminal.isOutputTerminal else {
      return Terminal.print("\(id)\t\(state)\t\(attempts)\t\(lastAttempt ?? "-")\t\(nextAttempt ?? "-")")
    }
    let next = nextAttempt.map { state == "uploading" ? "cut off at \($0)" : "next at \($0)" }
    let last = lastAttempt.map { "last \($0)" }
    let removal = removable.map { "removable from \($0)" }
    let details = [attempts.counted("try", "tries"), last, next, removal].compactMap(\.self)
    Terminal.print("\(id)  \(state.padded(to: 9))  \(details.joined(separator: ", "))")
  }
}

struct CaptureMarkCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "mark", abstract: "Report the upload of a capture.")
  static let page = """
    coffer capture mark: report that an upload begins, and how it ended

    usage: coffer capture mark ID uploading|uploaded|failed|pending
           \(OpeningOptions.usage)

      uploading  it begins, and counts as a try; refused if it is not due. If nothing is reported within six
                 hours, it was cut off
      uploaded   it succeeded; 'coffer capture sweep' removes the capture seven days after this try
      failed     it failed; due again after 1, 2, 4 and 8 seconds and up to half of that more. After the
                 fifth try it waits for you
      pending    it waits again, with no tries

    example: coffer capture mark 0192f0c1-7c1e-7cc3-98a7-8a8b8b6f3a5d uploaded
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The capture's id.") var id: String
  @Argument(help: "What is reported.") var state: UploadStatus.State

  struct Answer: Encodable {
    let id: String
    let state: String
    let attempts: Int
    let nextAttempt: String?
  }

  func execute(_ context: CommandContext) throws {
    let id = try CaptureID(capture: id)
    let store = try context.captures(opening).store
    let before = try store.listing().captures.first { $0.id == id }?.upload
    let upload = try store.report(state, of: id)
    let answer = Answer(
      id: id.description, state: upload.state.name, attempts: upload.attempts,
      nextAttempt: upload.nextAttempt.map(RFC3339.format))
    if context.isJSON { return JSON.print(answer) }
    let isResult = state == .uploaded || state == .failed
    if isResult, before?.state == .pending, before?.attempts != upload.attempts {
      context.remark("No upload had begun here; this result counts as a try.")
    }
    if let removal = upload.removalTime {
      context.remark("Uploaded. 'coffer capture sweep' removes it from \(RFC3339.format(removal)) on.")
    }
    if upload.state == .failed {
      context.remark(
        "The upload has failed \(upload.attempts.counted("time")); 'coffer capture mark ID pending' lets it wait again."
      )
    }
  }
}

extension UploadStatus.State: ExpressibleByArgument {
  public init?(argument: String) {
    guard let state = Self.allCases.first(where: { $0.name == argument }) else { return nil }
    self = state
  }

  public var defaultValueDescription: String { name }
  public static var allValueStrings: [String] { allCases.map(\.name) }
}

struct CaptureSweepCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "sweep", abstract: "Remove captures that were uploaded seven days ago.")
  static let page = """
    coffer capture sweep: remove captures that were uploaded seven days ago or earlier

    usage: coffer capture sweep \(OpeningOptions.usage)

    Only captures that were marked 'uploaded' are removed. Prints their ids. With several devices nothing is
    removed: they are released here, as 'coffer capture release' does.

    example: coffer capture sweep
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let captures = coffer.captureAccess
    if try coffer.account.exists() {
      let account = try OpenAccount(coffer)
      try account.checkRelease(context)
      return try account.release(context) {
        try captures.store.releasableCaptures()
      } tell: { released, byteCount in
        if context.isJSON { return JSON.print(["released": released.map(\.description)]) }
        for id in released { Terminal.print("\(id)") }
        context.remark("\(released.count.counted("capture")) released, \(ByteCount.text(byteCount)) freed.")
      }
    }
    let removed = try captures.removeUploaded().map(\.description)
    if context.isJSON { return JSON.print(["removed": removed]) }
    for id in removed { Terminal.print("\(id)") }
    let left = try captures.store.listing().captures.compactMap(\.upload.removalTime)
    let next = left.min().map {
      "the next of \(left.count.counted("uploaded one")) from \(RFC3339.format($0)) on"
    }
    context.remark("\(removed.count.counted("capture")) removed; \(next ?? "no other one is uploaded").")
  }
}
