// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Texts
internal import Vaults

struct MessageRemoveCommand: SearchingCommand {
  static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove messages.")
  static let page = """
    coffer message remove: move messages to the trash

    usage: coffer message remove WHICH... | --tag T | --search WHAT... [--yes]
                                 \(OpeningOptions.usage)

    Names what it takes and asks. For \(Vault.trashDays) days 'coffer trash restore' puts them back; 'coffer trash empty'
    erases them for good. 'coffer help message' says what WHICH may be.

      --tag T            every message with this tag
      --search WHAT...   every message that 'coffer message search WHAT...' finds
      --yes              do not ask; needed without a terminal, unless WHICH are whole ids

    example: coffer message remove lease @3
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Every message with this tag.", completion: Completions.tags) var tag: String?
  @Flag(help: "Every message that a search finds.") var search = false
  @Flag(help: "Do not ask.") var yes = false
  @Argument(
    help: "Messages: ids, ends of them, @N or titles; or what to search for.",
    completion: Completions.messages)
  var which: [String] = []

  func validate() throws {
    if which.isEmpty == (tag == nil) || search && tag != nil {
      throw ValidationError("which messages? give their ids, --tag or --search")
    }
  }

  private struct Chosen {
    let id: MessageID
    /// What is named before the question.
    let line: ShownLine

    init(_ id: MessageID, _ metadata: MessageMetadata, _ content: RawSpan) {
      self.id = id
      let date = LocalTime.minute(metadata.date)
      let size = ByteCount.text(content.byteCount)
      line = "\(MessageChoice.shown(id))  \(date)  \(metadata.title), \(size)"
    }

    /// One that is damaged can still be removed.
    init(damaged id: MessageID) {
      self.id = id
      line = "\(MessageChoice.shown(id))  corrupted or tampered: it cannot be read"
    }
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let chosen = try chosen(coffer, context)
    guard !chosen.isEmpty else {
      throw Failure(
        .missing, "not_found", search ? "no message fits this search" : "no message has this tag")
    }
    try confirm(chosen, context)
    for message in chosen { try coffer.removeMessage(message.id) }
    if context.isJSON { JSON.print(["removed": chosen.map(\.id.description)]) }
    let moved: ShownLine = chosen.count == 1 ? "The message is" : "\(chosen.count) messages are"
    let back = chosen.count == 1 ? "restore \(MessageChoice.shown(chosen[0].id))" : "list"
    context.remark("\(moved) in the trash, for \(Vault.trashDays) days: coffer trash \(back)")
  }

  private func chosen(_ coffer: Coffer, _ context: CommandContext) throws -> [Chosen] {
    if search { return try searched(coffer) }
    var chosen: [Chosen] = []
    if let tag {
      let unreadable = try coffer.vault.forEachMessage(tag: tag) { id, metadata, content in
        chosen.append(Chosen(id, metadata, content))
        return true
      }
      try MessageList.report(unreadable)
    }
    for word in which {
      let id = try MessageChoice.id(word, coffer, context)
      guard !chosen.contains(where: { $0.id == id }) else { continue }
      do { chosen.append(try coffer.vault.withMessage(id) { Chosen(id, $0, $1) }) } catch VaultError
        .dataTampered,
        VaultError.decryptionFailed
      {
        chosen.append(Chosen(damaged: id))
      }
    }
    return chosen
  }

  private func searched(_ coffer: Coffer) throws -> [Chosen] {
    var query = SearchQuery(try SearchExpression(which, day: LocalTime.seconds(ofDay:_:_:)))
    var chosen: [Chosen] = []
    let unreadable = try coffer.vault.forEachMessage { id, metadata, content in
      if query.matches(metadata, content) { chosen.append(Chosen(id, metadata, content)) }
      return true
    }
    try MessageList.report(unreadable)
    return chosen
  }

  private func confirm(_ chosen: [Chosen], _ context: CommandContext) throws {
    if yes { return }
    guard context.hasTerminal, !context.isJSON else {
      if tag == nil, !search, which.allSatisfy({ MessageID($0) != nil }) { return }
      throw Failure(
        .locked, "no_prompt", "there is no terminal to ask on", hint: "add --yes, or give whole ids")
    }
    for message in chosen.prefix(Self.namedLimit) { Terminal.remark(message.line) }
    if chosen.count > Self.namedLimit { Terminal.remark("... and \(chosen.count - Self.namedLimit) more") }
    guard try context.confirm("Move \(chosen.count.counted("message")) to the trash?") else {
      throw Failure(.refused, "not_confirmed", "nothing was removed")
    }
  }

  /// At most this many are named before the question.
  private static let namedLimit = 10
}
