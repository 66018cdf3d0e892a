// SPDX-License-Identifier: Apache-2.0
//
// What captures are called: changed, and searched.

internal import ArgumentParser
internal import Captures
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Texts

struct CaptureSetCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Change title, note or tags of captures.")
  static let page = """
    coffer capture set: change the title, the note or the tags of captures

    usage: coffer capture set WHICH... [--title T] [--note N] [--tag T]... [--untag T]...
                              \(OpeningOptions.usage)

    What was captured stays as it was signed. 'coffer help capture' says what WHICH may be.

      --title T  another title; '' for none
      --note N   another note; '' for none
      --tag T    one more tag; may be repeated
      --untag T  one tag less; may be repeated

    example: coffer capture set a6c0e1f2 --title 'Water meter' --note '1204 m3' --tag home
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Another title.") var title: String?
  @Option(help: "Another note.") var note: String?
  @Option(help: "One more tag; may be repeated.") var tag: [String] = []
  @Option(help: "One tag less; may be repeated.") var untag: [String] = []
  @Argument(help: "Captures: ids, ends of them or titles.", completion: Completions.captures)
  var which: [String] = []

  func validate() throws {
    guard !which.isEmpty else { throw ValidationError("which captures? give their ids or titles") }
    guard title != nil || note != nil || !tag.isEmpty || !untag.isEmpty else {
      throw ValidationError("nothing to change: give --title, --note, --tag or --untag")
    }
    if which.count > 1, title != nil { throw ValidationError("--title is for one capture") }
    if let both = tag.first(where: untag.contains) {
      throw ValidationError("'\(both)' cannot be added and taken away")
    }
  }

  private struct Answer: Encodable {
    let changed: [String]
    let unchanged: [String]
  }

  func execute(_ context: CommandContext) throws {
    let captures = try context.captures(opening)
    var ids: [CaptureID] = []
    for word in which {
      let id = try CaptureChoice.id(word, captures.store, context)
      if !ids.contains(id) { ids.append(id) }
    }
    let changed = try ids.filter { try captures.changeLabel(of: $0, change) }
    if context.isJSON {
      let unchanged = ids.filter { !changed.contains($0) }
      JSON.print(Answer(changed: changed.map(\.description), unchanged: unchanged.map(\.description)))
    }
    switch (changed.count, ids.count) {
    case (1, 1): context.remark("The capture is changed.")
    case (0, _): context.remark("Nothing is changed: it was so already.")
    default: context.remark("\(changed.count) of \(ids.count.counted("capture")) are changed.")
    }
  }

  private func change(_ label: inout CaptureLabel) {
    if let title { label.title = title }
    if let note { label.note = note }
    label.tags.removeAll(where: untag.contains)
    for tag in tag where !label.tags.contains(tag) { label.tags.append(tag) }
  }
}

struct CaptureSearchCommand: SearchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Find captures by title, note and tags.")
  static let page = """
    coffer capture search: find captures by their titles, notes and tags

    usage: coffer capture search WHAT... [--any] [--limit N] [--no-pager]
                                 \(OpeningOptions.usage)

    WHAT is as for 'coffer message search': words, beginnings such as met*, '"whole words"', title:meter,
    tag:home, date:2024-03, after:2024, before:2025-06, and -word for what must not occur. Lists what it
    finds as 'coffer capture list' does, the newest first. The exit code is 6 when nothing is found.

      --any      one of the words, titles and tags is enough
      --limit N  at most this many

    example: coffer capture search meter tag:home after:2024
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(name: .customLong("any"), help: "One of the words is enough.") var isAny = false
  @Option(help: "At most this many.") var limit: Int?
  @Argument(help: "What must occur.") var what: [String] = []

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
  }

  func execute(_ context: CommandContext) throws {
    let expression = try SearchExpression(what, isAny: isAny, day: LocalTime.seconds(ofDay:_:_:))
    if let field = expression.parts.lazy.compactMap(Self.fieldOfMessages).first {
      throw Failure.usage(
        "captures have no '\(field):'", hint: "they have words, title:, tag:, date:, after: and before:")
    }
    let listing = try context.captures(opening).store.listing()
    var query = SearchQuery(expression)
    var found: [CaptureStore.Summary] = []
    for capture in listing.captures {
      let metadata = MessageMetadata(
        title: capture.label.title, tags: capture.label.tags, contentType: MessageMetadata.noteType,
        date: capture.created)
      let note = Array(capture.label.note.utf8)
      if query.matches(metadata, note.rawSpan) { found.append(capture) }
    }
    CaptureList.show(found, limit: limit, context)
    try CaptureList.requireComplete(listing)
    if found.isEmpty { throw Failure(.missing, "not_found", "no capture fits this search") }
  }

  /// The field of a part that only messages have.
  private static func fieldOfMessages(_ part: SearchExpression.Part) -> String? {
    switch part.condition {
    case .phrase(_, .sender): "from"
    case .phrase(_, .recipients): "to"
    case .fact(.hasAttachment): "has"
    case .fact(.isMail): "is"
    case .fact(.type): "type"
    case .phrase, .tag, .date: nil
    }
  }
}
