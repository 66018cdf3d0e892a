// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Editing
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Vaults

struct MessageEditCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Change the text of a message in your editor.")
  static let page = """
    coffer message edit: change the text of a message in your editor

    usage: coffer message edit WHICH
                               \(OpeningOptions.usage)

    Runs VISUAL, else EDITOR, on a file that is in memory alone. While it runs, the editor can write nothing
    to a disk, so it keeps no copy, history or swap file. What you save becomes a new version;
    'coffer message history' has the former ones. If the editor fails, nothing is changed.
    'coffer message set' changes title, tags, type and date. 'coffer help message' says what WHICH may be.

    example: coffer message edit lease
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The message: its id, the end of it, @N or its title.", completion: Completions.messages)
  var which: String

  private struct Answer: Encodable {
    let id: String
    let changed: Bool
    /// The number of the version that is shown now.
    let version: Int
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    try Self.edit(try MessageChoice.id(which, coffer, context), coffer, context)
  }

  /// Has the text of a message edited, and stores it.
  static func edit(_ id: MessageID, _ coffer: Coffer, _ context: CommandContext) throws {
    try coffer.vault.withVersion(id) { version, content in
      guard MessageMetadata.isText(content) else {
        throw Failure(
          .refused, "not_text", "the content is not text",
          hint: "'coffer message show --raw' writes it to a file")
      }
      let environment = CommandRun.current.environment
      let editor = try TextEditor(
        executable: environment.executable, environment: environment.variables)
      let edited: SecretBytes
      switch try editor.edit(
        content, ending: ending(version.metadata), byteCountLimit: MessageLimits.messageByteCount)
      {
      case .changed(let text): edited = text
      case .unchanged:
        tell(id, version.number, isChanged: false, context)
        return context.remark("Nothing is changed.")
      }
      guard let edit = try store(edited, version, id, coffer, context) else {
        return try storeAsNew(edited, version.metadata, coffer, context)
      }
      tell(id, edit.number, isChanged: true, context)
      context.remark("The message is changed; this is version \(edit.number).")
      if edit.isBeside {
        context.remark(
          "It was changed meanwhile as well, and that version is kept: coffer message history")
      }
    }
  }

  /// Stores the edited text. Where that fails, the user decides whether to try again: the text is nowhere else.
  /// - Returns: nil when the message is not there any more.
  private static func store(
    _ text: borrowing SecretBytes, _ version: MessageVersion, _ id: MessageID, _ coffer: Coffer,
    _ context: CommandContext
  ) throws -> Vault.Edit? {
    while true {
      do {
        return try coffer.editMessage(id, from: version.id, to: text, metadata: version.metadata)
      } catch VaultError.messageNotFound, VaultError.messageInTrash { return nil } catch {
        guard context.hasTerminal, !context.isJSON else { throw error }
        Terminal.remark("What you wrote is not stored yet: \(Failure(error).message)")
        guard try context.confirm("Try again? Else it is lost.") else { throw error }
      }
    }
  }

  /// Somebody removed the message while it was edited. Whatever was meant, what was written is kept.
  private static func storeAsNew(
    _ text: borrowing SecretBytes, _ metadata: MessageMetadata, _ coffer: Coffer, _ context: CommandContext
  ) throws {
    let id = try coffer.addMessage(text, metadata: metadata)
    tell(id, 1, isChanged: true, context)
    context.remark("The message was removed meanwhile, so what you wrote is a new one: \(id)")
  }

  private static func tell(_ id: MessageID, _ number: Int, isChanged: Bool, _ context: CommandContext) {
    guard context.isJSON else { return }
    JSON.print(Answer(id: id.description, changed: isChanged, version: number))
  }

  private static func ending(_ metadata: MessageMetadata) -> String {
    if metadata.isMail { return "eml" }
    return metadata.contentType.hasPrefix("text/markdown") ? "md" : "txt"
  }
}
