// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Glibc
internal import MessageFormats
internal import Primitives
internal import Vaults

struct MessageExportCommand: CofferCommand {
  enum Kind: String, ExpressibleByArgument, CaseIterable { case jsonl, mbox, directory }

  static let configuration = CommandConfiguration(commandName: "export", abstract: "Write all messages.")
  static let page = """
    coffer message export: write all messages, decrypted

    usage: coffer message export jsonl|mbox|directory PATH [--tag T] [--force]
                                 \(OpeningOptions.usage)

    PATH may be - for jsonl and mbox, where standard output is no terminal, which would obey what stands
    in the messages (--force writes all the same).

    Nothing is overwritten; file or directory appear when they are
    complete, with mode 0600 and 0700, and interrupted nothing is left. What was exported imports again to
    the same content: jsonl and directory into any coffer, mbox with titles and tags into this one. Messages
    that do not open are left out and named, and the exit code is then 5.

    example: coffer message export mbox ~/mail-2026.mbox
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Only messages with this tag.") var tag: String?
  @Flag(help: "Write to a terminal too.") var force = false
  @Argument(help: "jsonl, mbox or directory.") var kind: Kind
  @Argument(help: "What to write.", completion: .file()) var path: String

  struct Answer: Encodable {
    let exported: Int
  }

  func execute(_ context: CommandContext) throws {
    guard path != "-" || force || !Terminal.isOutputTerminal else {
      throw Failure.notForTerminal("messages are exported as they are, and a terminal may obey them")
    }
    let coffer = try context.open(opening)
    do { try run(coffer, context) } catch let error as MessageFormatError {
      if path == "-", error == .cannotWrite(errno: EPIPE) { Self.endOnClosedPipe() }
      throw Failure(error, naming: path)
    }
  }

  private func run(_ coffer: Coffer, _ context: CommandContext) throws {
    let record = context.unfinishedExports()
    Interruption.catchOnce()
    switch kind {
    case .jsonl:
      var sink = try JSONLinesSink(path: path, record: record)
      try exportAll(&sink, coffer, context)
    case .mbox:
      var sink = try MboxSink(path: path, seal: coffer.vault.exportSeal(), record: record)
      try exportAll(&sink, coffer, context)
    case .directory:
      var sink = try DirectorySink(path: path, record: record)
      try exportAll(&sink, coffer, context)
    }
  }

  private func exportAll<Sink: MessageSink & ~Copyable>(
    _ sink: inout Sink, _ coffer: Coffer, _ context: CommandContext
  ) throws {
    var bar = ProgressBar("exporting", isQuiet: context.isQuiet || context.isJSON)
    defer { bar.finish() }
    let total = coffer.vault.lastStatus?.messageCount ?? 0
    let export = try coffer.exportMessages(to: &sink, tag: tag) { count in
      if count > 0, count % 1_000 == 0 { bar.update(count, of: total, unit: "messages") }
      return !Interruption.isRequested
    }
    guard let export else {
      throw Failure.interrupted(path == "-" ? "the output is not complete" : "nothing was written")
    }
    bar.finish()
    if context.isJSON, path != "-" {
      JSON.print(Answer(exported: export.count))
    } else {
      context.remark("\(export.count.counted("message")) exported")
    }
    try MessageLine.report(export.unreadable)
  }

  /// Nobody reads on: as if the signal had not been ignored by whoever started us.
  private static func endOnClosedPipe() {
    signal(SIGPIPE, SIG_DFL)
    raise(SIGPIPE)
  }
}

extension CommandContext {
  /// The coffer's notes of exports; what killed ones have left is removed first.
  func unfinishedExports() -> UnfinishedExports {
    let exports = UnfinishedExports(home: home)
    for path in exports.removeLeftovers() {
      remark("removed what an export that was killed had left: '\(path)'")
    }
    return exports
  }
}
