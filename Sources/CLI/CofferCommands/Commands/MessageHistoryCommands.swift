// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Texts
internal import Vaults

struct MessageHistoryCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "The versions of a message.")
  static let page = """
    coffer message history: the versions of a message

    usage: coffer message history WHICH [--show N [--raw [--force]]]
                                  \(OpeningOptions.usage)

    One line for each version, the first one first: number, when it was stored, size, title, tags.
    'coffer message restore' makes an earlier one the present one. 'coffer help message' says what WHICH
    may be.

      --show N  show version N as 'coffer message show' does
      --raw     write only its content, byte for byte
      --force   write it to a terminal even if it is not plain text and could control the terminal

    example: coffer message history lease --show 1
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Show version N.") var show: Int?
  @Flag(help: "Write only its content, byte for byte.") var raw = false
  @Flag(help: "Write to a terminal even if it is not plain text.") var force = false
  @Argument(help: "The message: its id, the end of it, @N or its title.", completion: Completions.messages)
  var which: String

  func validate() throws {
    if raw, show == nil { throw ValidationError("--raw needs --show N") }
  }

  private struct Answer: Encodable {
    let version: Int
    let stored: String
    let shown: Bool
    let title: String
    let tags: [String]
    let type: String
    let date: String
    let byteCount: Int
    /// Numbers of the versions that its author had seen.
    let replaces: [Int]
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let id = try MessageChoice.id(which, coffer, context)
    if let show {
      return try coffer.vault.withVersion(id, number: show) { version, content in
        try MessageView.show(
          id, version.metadata, content, isRaw: raw, isForced: force, isJSON: context.isJSON)
      }
    }
    let (versions, unreadableCount) = try coffer.vault.history(id)
    Terminal.beginPaging(context)
    for (index, version) in versions.enumerated() {
      if context.isJSON {
        JSON.print(answer(version, among: versions))
      } else {
        Terminal.print(line(version, after: index > 0 ? versions[index - 1] : nil), textAt: 3)
      }
    }
    Terminal.endPaging()
    if unreadableCount > 0 {
      throw Failure(
        .corrupt, "data_tampered", "\(unreadableCount.counted("version")) corrupted or tampered",
        hint: "'coffer message restore' makes one of the others the present one")
    }
  }

  private func answer(_ version: MessageVersion, among versions: [MessageVersion]) -> Answer {
    let metadata = version.metadata
    return Answer(
      version: version.number, stored: RFC3339.format(version.stored), shown: version.isShown,
      title: metadata.title, tags: metadata.tags, type: metadata.contentType,
      date: RFC3339.format(metadata.date), byteCount: version.byteCount,
      replaces: versions.filter { version.replaces($0) }.map(\.number))
  }

  private func line(_ version: MessageVersion, after former: MessageVersion?) -> ShownLine {
    let isTable = Terminal.isOutputTerminal
    let stored = isTable ? LocalTime.minute(version.stored) : RFC3339.format(version.stored)
    let title = TerminalText.line(version.metadata.title)
    let tags = TerminalText.line(version.metadata.tags.joined(separator: " "))
    guard isTable else {
      return "\(version.number)\t\(stored)\t\(version.byteCount)\t\(title)\t\(tags)"
    }
    var line: ShownLine = "\(version.number)  \(stored)  \(ByteCount.text(version.byteCount))  \(title)"
    if !tags.isEmpty { line += "  \(Terminal.dim(tags))" }
    if let former, version.isBeside(former) { line += "  beside version \(former.number)" }
    if version.isShown { line += "  (shown)" }
    return line
  }
}

struct MessageRestoreCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Make an earlier version the present one.")
  static let page = """
    coffer message restore: make an earlier version of a message the present one

    usage: coffer message restore WHICH VERSION
                                  \(OpeningOptions.usage)

    It becomes a new version, so the one before it can be restored as well. VERSION is a number of
    'coffer message history'. A message that was removed comes back with 'coffer trash restore'.

    example: coffer message restore lease 1
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The message: its id, the end of it, @N or its title.", completion: Completions.messages)
  var which: String
  @Argument(help: "The number of the version.") var version: Int

  private struct Answer: Encodable {
    let id: String
    let version: Int
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let id = try MessageChoice.id(which, coffer, context)
    let edit = try coffer.restoreMessage(id, number: version)
    if context.isJSON { JSON.print(Answer(id: id.description, version: edit.number)) }
    context.remark("The message is as in version \(version) again; this is version \(edit.number).")
  }
}
