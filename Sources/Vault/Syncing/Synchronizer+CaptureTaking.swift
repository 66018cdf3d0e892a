// SPDX-License-Identifier: Apache-2.0
//
// A capture that a revocation cut off, taken in: it becomes one of this device, with all of its parts.

internal import Captures
internal import Histories
internal import Primitives
internal import Remotes
internal import Secrets

extension Synchronizer {
  /// Takes a capture in that was cut off. The next run sends it.
  /// - Returns: false when a part of it is nowhere, or it is nothing that a store keeps.
  func takeCapture(_ version: RecordVersion, from source: ContentSource) throws -> Bool {
    guard let store = captures.store, let first = try content(ContentName(version), from: source),
      let capture = first.withBytes({ SharedCapture($0) }), capture.id == version.record
    else { return false }
    guard let here = try captures.captures() else { throw CaptureError.corrupt(nil) }
    let isNew = here[capture.id] == nil
    if !isNew, FrameHash(hashing: try store.shared(capture.id).bytes) != FrameHash(hashing: first) {
      return false
    }
    let label = try label(of: capture.id, from: source)
    // It is shown when all of it is here: a process that is killed before that leaves nothing that the account lacks.
    if isNew {
      try alone { _ = try apply([], [.insert(capture, label), .setHidden(capture.id, true)]) { _, _ in } }
    }
    let sent = SentCapture(capture: capture)
    do {
      try store.filling { filling in
        try sent.add(to: &filling) { part in
          guard let piece = try content(ContentName(version, part: part), from: source) else {
            throw SyncError.partMissing
          }
          return piece
        }
      }
    } catch {
      if isNew { try alone { _ = try apply([], [.erase(capture.id)]) { _, _ in } } }
      switch error {
      case SyncError.partMissing, CaptureError.corrupt: return false
      default: throw error
      }
    }
    try alone {
      // It counts as new even though a version with this content is known.
      try add(sent)
      if label != CaptureLabel() { try addLabel(SentLabel(capture.id, label), replacing: []) }
      try machine.checkStep()
      try save([], [.setHidden(capture.id, false), .setLabel(capture.id, label)])
    }
    return true
  }

  /// The highest label of a capture that came, whether it counts or not.
  private func label(of capture: CaptureID, from source: ContentSource) throws -> CaptureLabel {
    let record = SentLabel.record(of: capture)
    for version in history.versions(of: record).sorted().reversed() {
      let name = ContentName(record: record, version: version)
      if let found = try content(name, from: source)?.withBytes({ SentLabel($0) }), found.capture == capture {
        return found.label
      }
    }
    return CaptureLabel()
  }
}
