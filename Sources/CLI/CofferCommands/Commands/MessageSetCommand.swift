// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Vaults

struct MessageSetCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Change title, tags, type or date.")
  static let page = """
    coffer message set: change the title, the tags, the type or the date of messages

    usage: coffer message set WHICH... [--title T] [--tag T]... [--untag T]... [--type MIME] [--date DATE]
                              \(OpeningOptions.usage)

    The text stays as it is. Every change is a new version: 'coffer message history' shows them.
    'coffer help message' says what WHICH may be.

      --title T    another title
      --tag T      one more tag; may be repeated
      --untag T    one tag less; may be repeated
      --type MIME  another media type
      --date DATE  another date: 2026-11-22, '2026-11-22 04:58' here, or RFC 3339

    example: coffer message set lease --title 'Lease 2026' --tag home --untag draft
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Another title.") var title: String?
  @Option(help: "One more tag; may be repeated.") var tag: [String] = []
  @Option(help: "One tag less; may be repeated.") var untag: [String] = []
  @Option(help: "Another media type.") var type: String?
  @Option(help: "Another date.") var date: String?
  @Argument(help: "Messages: ids, ends of them, @N or titles.", completion: Completions.messages)
  var which: [String] = []

  func validate() throws {
    guard !which.isEmpty else { throw ValidationError("which messages? give their ids or titles") }
    guard title != nil || !tag.isEmpty || !untag.isEmpty || type != nil || date != nil else {
      throw ValidationError("nothing to change: give --title, --tag, --untag, --type or --date")
    }
    if which.count > 1, title != nil { throw ValidationError("--title is for one message") }
    if let both = tag.first(where: untag.contains) {
      throw ValidationError("'\(both)' cannot be added and taken away")
    }
    if let date, LocalTime.parse(date) == nil {
      throw ValidationError("'\(date)' is not a date such as 2026-11-22 or '2026-11-22 04:58'")
    }
  }

  private struct Answer: Encodable {
    let changed: [String]
    let unchanged: [String]
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    var ids: [MessageID] = []
    for word in which {
      let id = try MessageChoice.id(word, coffer, context)
      if !ids.contains(id) { ids.append(id) }
    }
    var changed: [MessageID] = []
    for id in ids {
      let isChanged = try coffer.vault.withVersion(id) { version, content in
        var metadata = version.metadata
        change(&metadata)
        if metadata == version.metadata { return false }
        _ = try coffer.editMessage(
          id, from: version.id, to: SecretBytes(copying: content), metadata: metadata)
        return true
      }
      if isChanged { changed.append(id) }
    }
    if context.isJSON {
      let unchanged = ids.filter { !changed.contains($0) }
      JSON.print(
        Answer(changed: changed.map(\.description), unchanged: unchanged.map(\.description)))
    }
    context.remark(Self.outcome(changed: changed.count, of: ids.count))
  }

  private func change(_ metadata: inout MessageMetadata) {
    if let title { metadata.title = title }
    if let type { metadata.contentType = type }
    if let date, let seconds = LocalTime.parse(date) { metadata.date = seconds }
    metadata.tags.removeAll(where: untag.contains)
    for tag in tag where !metadata.tags.contains(tag) { metadata.tags.append(tag) }
  }

  private static func outcome(changed: Int, of count: Int) -> ShownLine {
    switch (changed, count) {
    case (1, 1): "The message is changed."
    case (0, _): "Nothing is changed: it was so already."
    default: "\(changed) of \(count.counted("message")) are changed."
    }
  }
}
