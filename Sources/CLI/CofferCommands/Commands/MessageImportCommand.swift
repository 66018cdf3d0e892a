// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Storage
internal import Vaults

struct MessageImportCommand: CofferCommand {
  enum Kind: String, ExpressibleByArgument, CaseIterable { case mbox, maildir, jsonl, directory, eml }

  static let configuration = CommandConfiguration(commandName: "import", abstract: "Store many messages.")
  static let page = """
    coffer message import: store many messages

    usage: coffer message import mbox|maildir|jsonl|directory PATH [--tag T]... [--type MIME] [--skip N]
                                 [--allow-duplicates] [--print-ids]
                                 \(OpeningOptions.usage)
           coffer message import eml FILE... [--tag T]... [--skip N] [--allow-duplicates] [--print-ids]
                                 \(OpeningOptions.usage)

    An eml is a file with one mail. For mbox, jsonl and eml, PATH may be - for standard input, and a file
    may be compressed with gzip; for a pipe, use zcat. Messages are stored in batches. If you interrupt
    the import, the stored batches stay; run it again to go on. Entries that cannot be read are counted,
    named and left out, and the exit code is then 7: unreadable files and folders, messages above 64 MiB,
    folders more than 64 deep.

    What the coffer has already is counted and not stored again: a mail with the same bytes, another message
    with the same content, title, type and date. Tags do not count, nor does the trash.

    Hidden files and folders, links, FIFOs, sockets and devices are not read, but counted and named; in a
    Maildir also tmp and entries that do not belong to it. Titles and tags in an mbox are used only if this
    coffer exported it; jsonl and directory carry them to another coffer.

      --tag               add this tag to every message
      --type              the media type of the files of a directory (default: found for each file)
      --skip              skip the first N entries
      --allow-duplicates  store also what the coffer has already
      --print-ids         print the id of each message once it is on the disk

    example: coffer message import mbox ~/Mail/archive.mbox --tag archive
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "A tag for every message; may be repeated.") var tag: [String] = []
  @Option(help: "The media type of the files of a directory.") var type: String?
  @Option(help: "Skip the first N entries.") var skip = 0
  @Flag(help: "Store also what the coffer has already.") var allowDuplicates = false
  @Flag(help: "Print the id of each message once it is on the disk.") var printIds = false
  @Argument(help: "mbox, maildir, jsonl, directory or eml.") var kind: Kind
  @Argument(help: "What to read.", completion: .file()) var path: [String]

  func validate() throws {
    if type != nil, kind != .directory {
      throw ValidationError("--type is for a directory; the other kinds say what each entry is")
    }
    if path.count > 1, kind != .eml { throw ValidationError("give one path; only eml takes several") }
    if skip < 0 { throw ValidationError("--skip must not be negative") }
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    do { try run(coffer, context) } catch MessageFormatError.wrongKind {
      throw ImportAdvice.wrongKind(kind.rawValue, path[0])
    } catch let error as MessageFormatError {
      throw Failure(error, naming: path[0])
    }
  }

  private func run(_ coffer: Coffer, _ context: CommandContext) throws {
    let stop = Interruption.catchOnce()
    let input = CommandRun.current.environment.streams.input
    switch kind {
    case .mbox:
      var source = try MboxSource(
        path: path[0], seal: coffer.vault.exportSeal(), stop: stop, standardInput: input)
      try importAll(&source, coffer, context)
    case .maildir:
      var source = try MaildirSource(path: path[0])
      try importAll(&source, coffer, context)
    case .jsonl:
      var source = try JSONLinesSource(path: path[0], stop: stop, standardInput: input)
      try importAll(&source, coffer, context)
    case .directory:
      var source = try DirectorySource(path: path[0], contentType: type)
      try importAll(&source, coffer, context)
    case .eml:
      var source = MailFilesSource(paths: path, stop: stop, standardInput: input)
      try importAll(&source, coffer, context)
    }
  }

  private func importAll<Source: MessageSource & ~Copyable>(
    _ source: inout Source, _ coffer: Coffer, _ context: CommandContext
  ) throws {
    var bar = ProgressBar("importing", isQuiet: context.isQuiet || context.isJSON)
    defer { bar.finish() }
    var report = ImportReport(
      printsIDs: printIds, passedOver: skip, allowsDuplicates: allowDuplicates)
    var end: (any Error)?
    do {
      try passOver(&source)
      try coffer.importMessages(from: &source, tags: tag, allowsDuplicates: allowDuplicates) {
        batch, progress in
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
        hint: report.isFruitless ? ImportAdvice.hint(kind.rawValue, path[0]) : ImportAdvice.help)
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
    case let error as MessageFormatError: Failure(error, naming: path[0])
    case let error as StorageError: Failure(error, home: context.home, isChosen: context.isHomeChosen)
    default: Failure(error)
    }
  }
}
