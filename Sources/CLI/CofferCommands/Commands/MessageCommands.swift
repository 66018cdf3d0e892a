// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Foundation
internal import Glibc
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Storage
internal import Vaults

struct MessageCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "message", abstract: "Messages and notes.",
    subcommands: [
      MessageAddCommand.self, MessageShowCommand.self, MessageListCommand.self, MessageSearchCommand.self,
      MessageCopyCommand.self, MessageSaveCommand.self, MessageEditCommand.self, MessageSetCommand.self,
      MessageHistoryCommand.self, MessageRestoreCommand.self, MessageRemoveCommand.self,
      MessageImportCommand.self, MessageExportCommand.self,
    ])
  static let page = """
    coffer message: messages and notes

    usage: coffer message add [FILE]         store one
           coffer message show WHICH         read one; with --thread, its conversation
           coffer message save WHICH [DIR]   its attachments as files
           coffer message list               what there is
           coffer message search WORDS...    find some
           coffer message copy WHICH         its text to the clipboard, for 45 seconds
           coffer message edit WHICH         change its text in your editor
           coffer message set WHICH...       change title, tags, type or date
           coffer message history WHICH      its versions; 'restore' makes an earlier one the present one
           coffer message remove WHICH...    move some to the trash; 'coffer trash' has them for 30 days
           coffer message import KIND PATH   store many: mbox, maildir, jsonl, directory
           coffer message export KIND PATH   write all: jsonl, mbox, directory

    WHICH is an id, its last digits (four are enough while no other id ends so), @N for line N of the last
    list on this terminal, or a title or a piece of one. If several fit, they are named and none is taken.
    'coffer' is enough for 'coffer message' before add, show, list, search, copy, edit, set, history, remove.

    example: echo 'the key is under the mat' | coffer message add --title Key
    """
}

struct MessageAddCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "add", abstract: "Store a message.")
  static let page = """
    coffer message add: store a message, a note or a file

    usage: coffer message add [--title T] [--tag T]... [--type MIME] [FILE|-]
                              \(OpeningOptions.usage)

    Reads FILE, or standard input. Prints only the id of the message, once the message is on the disk. UTF-8
    content is stored as text; for other content the file name's extension gives the type.

    example: coffer message add --title 'Lease' --tag home lease.pdf
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "A title.") var title: String?
  @Option(help: "A label; may be repeated.", completion: Completions.tags) var tag: [String] = []
  @Option(help: "A media type.") var type: String?
  @Argument(help: "A file; - for standard input.", completion: .file()) var file = "-"

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    context.remarkTyping(file, "the message")
    let content: SecretBytes
    do {
      content = try Interruption.endingAtOnce(
        .interrupted("nothing was stored"), isJSON: context.isJSON, read)
    } catch let error as MessageFormatError {
      var failure = Failure(error, naming: file)
      if error == .notFound { failure.hint = "without a file, it takes what you type or pipe" }
      throw failure
    }
    let name = file == "-" ? "" : (file as NSString).lastPathComponent
    let found = content.withBytes { MessageMetadata.contentType(ofFileNamed: name, $0) }
    var metadata = MessageMetadata(
      title: title ?? name, tags: tag, contentType: type ?? found,
      date: Int64(Date().timeIntervalSince1970))
    if metadata.isMail, title == nil {
      let own = content.withBytes { MessageMetadata.ofMail($0) }
      metadata.title = own.title
      if own.date != 0 { metadata.date = own.date }
    }
    let id = try coffer.addMessage(content, metadata: metadata)
    if content.count == 0 { context.remark("The message is empty.") }
    if context.isJSON { JSON.print(["id": id.description]) } else { Terminal.print("\(id)") }
  }

  private func read() throws -> SecretBytes {
    let limit = MessageLimits.messageByteCount
    do throws(SecretReadError) {
      return try InputFile.read(file, byteCountLimit: limit)
    } catch {
      switch error {
      case .tooLong: throw VaultError.messageTooLarge(limit: limit)
      case .cannotOpen(ENOENT): throw MessageFormatError.notFound
      case .readFailed(EISDIR):
        throw Failure(
          .usage, "wrong_kind", "'\(file)' is a directory",
          hint: "'coffer message import directory' stores the files in it")
      case .cannotOpen(let code), .readFailed(let code): throw MessageFormatError.cannotRead(errno: code)
      }
    }
  }
}

struct MessageShowCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Read a message.")
  static let page = """
    coffer message show: read a message

    usage: coffer message show WHICH [--raw [--force] | --thread] [--no-pager]
                               \(OpeningOptions.usage)

    Shows title, date, tags and the text; for a mail, the text of its parts, and the names of its
    attachments, which 'coffer message save' writes to files. Nothing is shown before the whole message has
    been authenticated. 'coffer help message' says what WHICH may be.

      --raw    write only the content, byte for byte
      --force  write it to a terminal even if it is not plain text and could control the terminal
      --thread show the conversation of a mail instead: the mails before and after it, each below the one
               that it answers, with sender, date and first line. What belongs together is what the mails
               say of each other (Message-ID, References, In-Reply-To), whatever their subjects.

    example: coffer message show --raw lease > lease.pdf
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(help: "Write only the content, byte for byte.") var raw = false
  @Flag(help: "Write to a terminal even if it is not plain text.") var force = false
  @Flag(help: "Show the conversation of a mail.") var thread = false
  @Argument(help: "The message: its id, the end of it, @N or its title.", completion: Completions.messages)
  var which: String

  func validate() throws {
    if thread, raw || force { throw ValidationError("--thread goes with neither --raw nor --force") }
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let id = try MessageChoice.id(which, coffer, context)
    if thread { return try MessageThread(coffer, context).show(id) }
    if !raw { Terminal.beginPaging(context) }
    defer { Terminal.endPaging() }
    try coffer.vault.withMessage(id) { metadata, content in
      try MessageView.show(id, metadata, content, isRaw: raw, isForced: force, isJSON: context.isJSON)
    }
  }
}
