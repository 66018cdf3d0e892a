// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Vaults

struct MessageImportCommand: CofferCommand {
  enum Kind: String, ExpressibleByArgument, CaseIterable { case mbox, maildir, jsonl, directory }

  static let configuration = CommandConfiguration(commandName: "import", abstract: "Store many messages.")
  static let page = """
    coffer message import: store many messages

    usage: coffer message import mbox|maildir|jsonl|directory PATH [--tag T]... [--print-ids]
                                 [--passphrase-fd N | --passphrase-file PATH]

    PATH may be - for mbox and jsonl. Messages are stored in batches; interrupted at any moment, the
    batches that were acknowledged are there. Entries that cannot be read are counted and left out, and
    the exit code is then 7.

      --tag        give every message this tag besides its own
      --print-ids  print the id of each message once it is on the disk

    example: coffer message import mbox ~/Mail/archive.mbox --tag archive
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions
  @Option(help: "A tag for every message; may be repeated.") var tag: [String] = []
  @Flag(help: "Print the id of each message once it is on the disk.") var printIds = false
  @Argument(help: "mbox, maildir, jsonl or directory.") var kind: Kind
  @Argument(help: "What to read.") var path: String

  struct Answer: Encodable {
    let imported: Int
    let skipped: Int
    let ids: [String]?
  }

  func execute(_ session: Session) throws {
    let coffer = try session.open(passphrase)
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
      var source = try DirectorySource(path: path)
      try importAll(&source, coffer, session)
    }
  }

  private func importAll<Source: MessageSource & ~Copyable>(
    _ source: inout Source, _ coffer: Coffer, _ session: Session
  ) throws {
    var bar = ProgressBar("importing", isQuiet: session.isQuiet)
    var ids: [String] = []
    Interruption.catchOnce()
    let done = try coffer.vault.importMessages(from: &source, tags: tag) { batch, progress in
      if printIds {
        let lines = batch.map(\.description)
        if session.isJSON {
          ids += lines
        } else if !lines.isEmpty {
          Terminal.print(lines.joined(separator: "\n"))
          // What is printed is acknowledged, now.
          Terminal.flush()
        }
      }
      bar.update(
        progress.source.bytesRead >> 10, of: progress.source.bytesTotal.map { $0 >> 10 }, unit: "KiB")
      return !Interruption.isRequested
    }
    bar.finish()
    if done.importedCount > 0 { try coffer.note(.messagesAdded, count: done.importedCount) }
    if session.isJSON {
      JSON.print(
        Answer(imported: done.importedCount, skipped: done.skipped.count, ids: printIds ? ids : nil))
    } else if !printIds {
      Terminal.print("\(done.importedCount) messages imported")
    }
    for error in done.skipped.prefix(10) { session.note("left out: \(error.sentence)") }
    if Interruption.isRequested {
      throw Failure(
        .interrupted, "interrupted",
        "interrupted; the \(done.importedCount) messages imported so far are safe")
    }
    if !done.skipped.isEmpty {
      throw Failure(.refused, "entries_skipped", "\(done.skipped.count) entries were left out")
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

    usage: coffer message export jsonl|mbox|directory PATH [--tag T]
                                 [--passphrase-fd N | --passphrase-file PATH]

    PATH may be - for jsonl and mbox. Nothing is overwritten; the file appears when it is complete, with
    mode 0600. What was exported imports again to the same content. Messages that do not open are left
    out and named, and the exit code is then 5.

    example: coffer message export mbox ~/mail-2026.mbox
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions
  @Option(help: "Only messages with this tag.") var tag: String?
  @Argument(help: "jsonl, mbox or directory.") var kind: Kind
  @Argument(help: "What to write.") var path: String

  struct Answer: Encodable {
    let exported: Int
  }

  func execute(_ session: Session) throws {
    let coffer = try session.open(passphrase)
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
    var bar = ProgressBar("exporting", isQuiet: session.isQuiet)
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
    try coffer.note(.messagesExported, count: count)
    if session.isJSON, path != "-" {
      JSON.print(Answer(exported: count))
    } else {
      session.note("\(count) messages exported")
    }
    try MessageLine.report(unreadable)
  }
}
