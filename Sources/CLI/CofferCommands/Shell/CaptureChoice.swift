// SPDX-License-Identifier: Apache-2.0
//
// Which capture is meant (Specs/cli.md, "Which capture"): its id, the last digits of it, a line of
// the last list, or its title.

internal import Agent
internal import Captures
internal import Primitives

enum CaptureChoice {
  /// The one capture that `word` means.
  /// - Throws: `ambiguous_capture`, `capture_not_found`, `no_list`; damage, if the one that is meant may be damaged.
  static func id(_ word: String, _ store: CaptureStore, _ context: CommandContext) throws -> CaptureID {
    if let id = RecordID(word) { return id }
    if word.hasPrefix("@") { return try MessageChoice.line(word, of: .captures, context) }
    let listing = try store.listing()
    let byEnd = byEnd(word, listing.captures)
    // Earlier titles may have been put back, and the one that is meant may be damaged.
    if byEnd.isEmpty { try CaptureList.requireComplete(listing) }
    let fitting = byEnd.isEmpty ? byTitle(word, listing.captures) : byEnd
    guard let first = fitting.first else {
      throw Failure(
        .missing, "capture_not_found", "no capture is called '\(word)', and no id ends so",
        hint: "'coffer capture list' shows what there is")
    }
    guard fitting.count > 1 else { return first.id }
    let (message, hint) = MessageChoice.ambiguity(
      word, "captures", fitting.map { ($0.id, $0.label.title) })
    throw Failure(.usage, "ambiguous_capture", message, hint: hint)
  }

  private static func byEnd(_ word: String, _ captures: [CaptureStore.Summary]) -> [CaptureStore.Summary] {
    let wanted = word.lowercased().filter { $0 != "-" }
    guard wanted.count >= MessageChoice.leastCount else { return [] }
    return captures.filter { $0.id.description.filter { $0 != "-" }.hasSuffix(wanted) }
  }

  /// Those with this title, whatever the case; else those with it in their title.
  private static func byTitle(_ word: String, _ captures: [CaptureStore.Summary]) -> [CaptureStore.Summary] {
    let wanted = word.lowercased()
    guard !wanted.isEmpty else { return [] }
    let exact = captures.filter { $0.label.title.lowercased() == wanted }
    return exact.isEmpty ? captures.filter { $0.label.title.lowercased().contains(wanted) } : exact
  }
}
