// SPDX-License-Identifier: Apache-2.0
//
// What the user changed of captures since the last run: found by comparing the store's captures with the versions that the
// history knows.

internal import Captures
internal import Histories
internal import Primitives

/// The captures that a history does not know as they are.
struct LocalCaptureChanges {
  /// Captures to send, the oldest first.
  private var fresh: ArraySlice<CaptureID> = []
  /// Captures that the history knows and that are gone here.
  private(set) var removed: [CaptureID] = []
  /// Captures whose label is another one than that of the history.
  private var relabelled: ArraySlice<CaptureID> = []

  init() {}

  /// Compares all captures.
  /// - Parameter history: without one, nothing is said of labels.
  init(_ history: History?, _ contents: CaptureContents) throws {
    // While they are damaged, nothing can be said of any.
    guard let here = try contents.captures() else { return }
    for row in here.values.sorted(by: { $0.id < $1.id }) where !row.isHidden {
      if contents.versions[row.id] == nil { fresh.append(row.id) }
      if let history, Self.hasNewLabel(row, history, contents) { relabelled.append(row.id) }
    }
    removed = Set(contents.known.values.filter { $0.kind == .capture }.map(\.capture)).filter {
      here[$0] == nil
    }.sorted()
  }

  /// How many changes a run would send.
  var count: Int { freshCount + removed.count }

  var freshCount: Int { fresh.count + relabelled.count }

  mutating func takeFresh() -> CaptureID? { fresh.popFirst() }

  /// After the captures themselves.
  mutating func takeRelabelled() -> CaptureID? { relabelled.popFirst() }

  /// Whether a label is another one than the history knows.
  static func hasNewLabel(_ row: SharedRow, _ history: History, _ contents: CaptureContents) -> Bool {
    guard let known = contents.label(of: row.id), let hashes = history.hashes(of: known.name) else {
      return row.label != CaptureLabel()
    }
    return hashes != [FrameHash(hashing: SentLabel(row.id, row.label).bytes)]
  }
}
