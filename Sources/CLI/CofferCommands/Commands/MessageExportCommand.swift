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

    For jsonl and mbox, PATH may be - for standard output. That is refused on a terminal, which messages
    could control; --force writes them anyway.

    Overwrites nothing. The file (mode 0600) or directory (mode 0700) appears once it is complete; if you
    interrupt the export, nothing is left. Importing an export gives the same content: jsonl and directory in
    any coffer; mbox keeps titles and tags in this coffer only. Messages that do not open are left out and
    named, and the exit code is then 5.

    example: coffer message export mbox ~/mail-2026.mbox
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Only messages with this tag.") var tag: String?
  @Flag(help: "Write even to a terminal.") var force = false
  @Argument(help: "jsonl, mbox or directory.") var kind: Kind
  @Argument(help: "What to write.", completion: .file()) var path: String

  struct Answer: Encodable {
    let exported: Int
  }

  func execute(_ context: CommandContext) throws {
    guard path != "-" || force || !Terminal.isOutputTerminal else {
      throw Failure.notForTerminal("messages are exported unchanged and could control your terminal")
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
    let output = CommandRun.current.environment.streams.output
    switch kind {
    case .jsonl:
      var sink = try JSONLinesSink(path: path, record: record, standardOutput: output)
      try exportAll(&sink, coffer, context)
    case .mbox:
      var sink = try MboxSink(
        path: path, seal: coffer.vault.exportSeal(), record: record, standardOutput: output)
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
    try MessageList.report(export.unreadable)
  }

  /// The reader has closed the pipe: end as SIGPIPE would, even if our parent ignored it.
  private static func endOnClosedPipe() {
    guard CommandRun.current.environment.ownsProcess else { return }
    signal(SIGPIPE, SIG_DFL)
    raise(SIGPIPE)
  }
}

extension CommandContext {
  /// The coffer's notes of exports; first removes files that killed exports have left.
  func unfinishedExports() -> UnfinishedExports? {
    guard let exports = CommandSurroundings.current.unfinishedExports(home: home) else { return nil }
    for path in exports.removeLeftovers() {
      remark("removed what a killed export had left: '\(path)'")
    }
    return exports
  }
}
