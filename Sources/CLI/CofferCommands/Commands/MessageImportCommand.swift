// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Storage
internal import Vaults

struct MessageImportCommand: CofferCommand {
  enum Kind: String, ExpressibleByArgument, CaseIterable { case mbox, maildir, jsonl, directory }

  static let configuration = CommandConfiguration(commandName: "import", abstract: "Store many messages.")
  static let page = """
    coffer message import: store many messages

    usage: coffer message import mbox|maildir|jsonl|directory PATH [--tag T]... [--type MIME] [--skip N]
                                 [--print-ids]
                                 \(OpeningOptions.usage)

    For mbox and jsonl, PATH may be - for standard input. Messages are stored in batches. If you interrupt
    the import, the stored batches stay, and --skip continues after them. Entries that cannot be read are
    counted, named and left out, and the exit code is then 7: unreadable files and folders, messages above
    64 MiB, folders more than 64 deep.

    Hidden files and folders, links, FIFOs, sockets and devices are not read, but counted and named; in a
    Maildir also tmp and entries that do not belong to it. Titles and tags in an mbox are used only if this
    coffer exported it; jsonl and directory carry them to another coffer.

      --tag        add this tag to every message
      --type       the media type of the files of a directory (default: found for each file)
      --skip       skip the first N entries, which an earlier import has stored or left out
      --print-ids  print the id of each message once it is on the disk

    example: coffer message import mbox ~/Mail/archive.mbox --tag archive
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "A tag for every message; may be repeated.") var tag: [String] = []
  @Option(help: "The media type of the files of a directory.") var type: String?
  @Option(help: "Skip the first N entries.") var skip = 0
  @Flag(help: "Print the id of each message once it is on the disk.") var printIds = false
  @Argument(help: "mbox, maildir, jsonl or directory.") var kind: Kind
  @Argument(help: "What to read.", completion: .file()) var path: String

  func validate() throws {
    if type != nil, kind != .directory {
      throw ValidationError("--type is for a directory; the other kinds say what each entry is")
    }
    if skip < 0 { throw ValidationError("--skip must not be negative") }
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    do { try run(coffer, context) } catch let error as MessageFormatError {
      throw Failure(error, naming: path)
    }
  }

  private func run(_ coffer: Coffer, _ context: CommandContext) throws {
    let stop = Interruption.catchOnce()
    switch kind {
    case .mbox:
      var source = try MboxSource(path: path, seal: coffer.vault.exportSeal(), stop: stop)
      try importAll(&source, coffer, context)
    case .maildir:
      var source = try MaildirSource(path: path)
      try importAll(&source, coffer, context)
    case .jsonl:
      var source = try JSONLinesSource(path: path, stop: stop)
      try importAll(&source, coffer, context)
    case .directory:
      var source = try DirectorySource(path: path, contentType: type)
      try importAll(&source, coffer, context)
    }
  }

  private func importAll<Source: MessageSource & ~Copyable>(
    _ source: inout Source, _ coffer: Coffer, _ context: CommandContext
  ) throws {
    var bar = ProgressBar("importing", isQuiet: context.isQuiet || context.isJSON)
    defer { bar.finish() }
    var report = ImportReport(printsIDs: printIds, passedOver: skip)
    var end: (any Error)?
    do {
      try passOver(&source)
      try coffer.importMessages(from: &source, tags: tag) { batch, progress in
        report.progress = progress
        if printIds {
          let lines = batch.map(\.description)
          if context.isJSON {
            report.ids += lines
          } else if !lines.isEmpty {
            for line in lines { Terminal.print("\(line)") }
            // Printed ids are an acknowledgement, so they are written now.
            Terminal.flush()
          }
        }
        bar.update(bytes: progress.source.bytesRead, of: progress.source.bytesTotal)
        return !Interruption.isRequested
      }
    } catch { end = error }
    bar.finish()
    if let end, !isInterruption(end) {
      guard report.hasContent else { throw end }
      report.tell(context)
      throw report.failure(told(end, context))
    }
    report.tell(context)
    if Interruption.isRequested { throw report.interruption }
    if report.skippedCount > 0 {
      throw Failure(
        .refused, "entries_skipped", "\(report.skippedCount.counted("entry was", "entries were")) left out",
        hint: "'coffer message import --help' says what each kind reads")
    }
  }

  /// Skips the entries that an earlier import has handled.
  private func passOver<Source: MessageSource & ~Copyable>(_ source: inout Source) throws {
    for _ in 0..<skip {
      if Interruption.isRequested { throw MessageFormatError.interrupted }
      do {
        guard try source.next({ _, _ in }) else { return }
      } catch let error as MessageFormatError where error.concernsOneEntry {
        // The earlier import has reported it.
      }
    }
  }

  private func isInterruption(_ error: any Error) -> Bool {
    error as? MessageFormatError == .interrupted
  }

  private func told(_ error: any Error, _ context: CommandContext) -> Failure {
    switch error {
    case let error as MessageFormatError: Failure(error, naming: path)
    case let error as StorageError: Failure(error, home: context.home)
    default: Failure(error)
    }
  }
}
