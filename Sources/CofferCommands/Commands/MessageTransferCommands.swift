// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Vaults

struct MessageImportCommand: CofferCommand {
  enum Kind: String, ExpressibleByArgument, CaseIterable { case mbox, maildir, jsonl, directory }

  static let configuration = CommandConfiguration(commandName: "import", abstract: "Store many messages.")
  static let page = """
    coffer message import: store many messages

    usage: coffer message import mbox|maildir|jsonl|directory PATH [--tag T]... [--type MIME] [--print-ids]
                                 [--passphrase-fd N | --passphrase-file PATH]

    PATH may be - for mbox and jsonl. Messages are stored in batches; interrupted at any moment, the
    batches that were acknowledged are there. Entries that cannot be read are counted and left out, and
    the exit code is then 7.

      --tag        give every message this tag besides its own
      --type       the media type of the files of a directory, where it should not be told from each
      --print-ids  print the id of each message once it is on the disk

    example: coffer message import mbox ~/Mail/archive.mbox --tag archive
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "A tag for every message; may be repeated.") var tag: [String] = []
  @Option(help: "The media type of the files of a directory.") var type: String?
  @Flag(help: "Print the id of each message once it is on the disk.") var printIds = false
  @Argument(help: "mbox, maildir, jsonl or directory.") var kind: Kind
  @Argument(help: "What to read.", completion: .file()) var path: String

  /// Reasons that are told one by one; a file of the wrong format would give one for each line.
  private static let problemLimit = 10

  struct Answer: Encodable {
    let imported: Int
    let skipped: Int
    /// Why the first of those that were left out were.
    let problems: [String]
    let ids: [String]?
  }

  func validate() throws {
    if type != nil, kind != .directory {
      throw ValidationError("--type is for a directory; the other kinds say what each entry is")
    }
  }

  func execute(_ session: Session) throws {
    let coffer = try session.open(opening)
    do { try run(coffer, session) } catch let error as MessageFormatError {
      throw Failure(error, naming: path)
    }
  }

  private func run(_ coffer: Coffer, _ session: Session) throws {
    switch kind {
    case .mbox:
      var source = try MboxSource(path: path)
      try importAll(&source, coffer, session)
    case .maildir:
      var source = try MaildirSource(path: path)
      try importAll(&source, coffer, session)
    case .jsonl:
      var source = try JSONLinesSource(path: path)
      try importAll(&source, coffer, session)
    case .directory:
      var source = try DirectorySource(path: path, contentType: type)
      try importAll(&source, coffer, session)
    }
  }

  private func importAll<Source: MessageSource & ~Copyable>(
    _ source: inout Source, _ coffer: Coffer, _ session: Session
  ) throws {
    var bar = ProgressBar("importing", isQuiet: session.isQuiet || session.isJSON)
    var ids: [String] = []
    Interruption.catchOnce()
    let done = try coffer.vault.importMessages(from: &source, tags: tag) { batch, progress in
      if printIds {
        let lines = batch.map(\.description)
        if session.isJSON {
          ids += lines
        } else if !lines.isEmpty {
          for line in lines { Terminal.print("\(line)") }
          // What is printed is acknowledged, now.
          Terminal.flush()
        }
      }
      bar.update(
        progress.source.bytesRead >> 10, of: progress.source.bytesTotal.map { $0 >> 10 }, unit: "KiB")
      return !Interruption.isRequested
    }
    bar.finish()
    let problems = done.skipped.prefix(Self.problemLimit).map(\.sentence)
    if done.importedCount > 0 { coffer.note(.messagesAdded, count: done.importedCount) }
    if session.isJSON {
      JSON.print(
        Answer(
          imported: done.importedCount, skipped: done.skipped.count, problems: problems,
          ids: printIds ? ids : nil))
    } else if !printIds {
      session.note("\(done.importedCount.counted("message")) imported")
    }
    for problem in problems { session.note("left out: \(problem)") }
    if done.skipped.count > problems.count {
      session.note("left out: \(done.skipped.count - problems.count) more")
    }
    if Interruption.isRequested {
      throw Failure(
        .interrupted, "interrupted",
        "interrupted; \(done.importedCount.counted("message")) imported so far, and safe")
    }
    if !done.skipped.isEmpty {
      throw Failure(
        .refused, "entries_skipped", "\(done.skipped.count.counted("entry was", "entries were")) left out",
        hint: "«coffer message import --help» tells what each kind reads")
    }
  }
}

extension MessageFormatError {
  /// Why one entry was left out, for people.
  var sentence: String {
    switch self {
    case .messageTooLarge(let byteCount, let limit):
      "a message of \(ByteCount.text(byteCount)); the limit is \(limit >> 20) MiB"
    case .malformed(let entry, let what): "entry \(entry): \(what)"
    case .metadataOutOfBounds(let what): "\(what) too long"
    default: "not readable"
    }
  }
}

struct MessageExportCommand: CofferCommand {
  enum Kind: String, ExpressibleByArgument, CaseIterable { case jsonl, mbox, directory }

  static let configuration = CommandConfiguration(commandName: "export", abstract: "Write all messages.")
  static let page = """
    coffer message export: write all messages, decrypted

    usage: coffer message export jsonl|mbox|directory PATH [--tag T] [--force]
                                 [--passphrase-fd N | --passphrase-file PATH]

    PATH may be - for jsonl and mbox, where standard output is no terminal, which would obey what stands
    in the messages (--force writes all the same).

    Nothing is overwritten; the file appears when it is complete, with
    mode 0600. What was exported imports again to the same content. Messages that do not open are left
    out and named, and the exit code is then 5.

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

  func execute(_ session: Session) throws {
    guard path != "-" || force || !Terminal.isOutputTerminal else {
      throw Failure.notForTerminal("messages are exported as they are, and a terminal may obey them")
    }
    let coffer = try session.open(opening)
    do { try run(coffer, session) } catch let error as MessageFormatError {
      throw Failure(error, naming: path)
    }
  }

  private func run(_ coffer: Coffer, _ session: Session) throws {
    switch kind {
    case .jsonl:
      var sink = try JSONLinesSink(path: path)
      try exportAll(&sink, coffer, session)
    case .mbox:
      var sink = try MboxSink(path: path)
      try exportAll(&sink, coffer, session)
    case .directory:
      var sink = try DirectorySink(path: path)
      try exportAll(&sink, coffer, session)
    }
  }

  private func exportAll<Sink: MessageSink & ~Copyable>(
    _ sink: inout Sink, _ coffer: Coffer, _ session: Session
  ) throws {
    var bar = ProgressBar("exporting", isQuiet: session.isQuiet || session.isJSON)
    let total = try coffer.vault.status().messageCount
    var count = 0
    let unreadable = try coffer.vault.forEachMessage(.init(tag: tag, isNewestFirst: false)) {
      id, metadata, content in
      try sink.append(id: id.description, metadata, content)
      count += 1
      if count % 1_000 == 0 { bar.update(count, of: total, unit: "messages") }
      return true
    }
    try sink.finish()
    bar.finish()
    coffer.note(.messagesExported, count: count)
    if session.isJSON, path != "-" {
      JSON.print(Answer(exported: count))
    } else {
      session.note("\(count.counted("message")) exported")
    }
    try MessageLine.report(unreadable)
  }
}
