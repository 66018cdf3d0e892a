// SPDX-License-Identifier: Apache-2.0
//
// What other devices said of captures, as changes of the store.

internal import Captures
internal import Histories
internal import Primitives
internal import Secrets

/// Changes of captures that follow from a step.
struct CaptureArrivals {
  private(set) var changes: [SharedChange] = []
  private(set) var newCount = 0
  private(set) var changedCount = 0
  private var inserted: [CaptureID: (capture: SharedCapture, version: Version)] = [:]
  /// Of labels that came.
  private var labelled: Set<CaptureID> = []
  /// Labels whose captures have not come are few, unless a bad member made them.
  private static let waitingLimit = 10_000
  /// Whether a content is nothing that a store can keep. It is not asked for again.
  private(set) var unusable: [RecordVersion] = []

  /// The first part of a capture came.
  mutating func takeCapture(
    _ frame: SharedSecretBytes, of version: RecordVersion, _ contents: CaptureContents
  ) throws {
    guard let store = contents.store, let capture = frame.withBytes({ SharedCapture($0) }),
      capture.id == version.record
    else { return unusable.append(version) }
    if try contents.captures()[capture.id] != nil {
      // A capture of another content has this name by no accident: a bad member made it.
      guard FrameHash(hashing: try store.shared(capture.id).bytes) == FrameHash(hashing: frame) else {
        return unusable.append(version)
      }
    } else if let other = inserted[capture.id] {
      guard FrameHash(hashing: other.capture.bytes) == FrameHash(hashing: frame) else {
        return unusable.append(version)
      }
    } else {
      inserted[capture.id] = (capture, version.version)
    }
    contents.set(KnownCapture(kind: .capture, capture: capture.id, version: version.version))
  }

  /// A label came.
  mutating func takeLabel(
    _ frame: SharedSecretBytes, of version: RecordVersion, _ contents: CaptureContents
  ) {
    guard let label = frame.withBytes({ SentLabel($0) }), label.record == version.record else {
      return unusable.append(version)
    }
    let waiting = contents.waitingLabels[version.record]
    guard waiting.map({ $0.version < version.version }) ?? true,
      contents.waitingLabels.count < Self.waitingLimit
    else { return }
    contents.waitingLabels[version.record] = (label, version.version)
    labelled.insert(label.capture)
  }

  /// Shows and hides captures, and gives them their labels, as the history says.
  mutating func settle(
    _ records: Set<RecordID>, _ history: History, _ contents: CaptureContents
  ) throws {
    guard contents.store != nil else { return }
    let here = try contents.captures()
    for record in records.union(inserted.keys).sorted() {
      let isShown = !history.shownVersions(of: record).isEmpty
      if let new = inserted[record] {
        let label = takeTopLabel(of: record, history, contents)
        changes.append(.insert(new.capture, label ?? CaptureLabel()))
        if !isShown { changes.append(.setHidden(record, true)) }
        newCount += 1
      } else if let row = here[record], contents.versions[record] != nil, row.isHidden == isShown {
        changes.append(.setHidden(record, !isShown))
        changedCount += 1
      }
    }
    for capture in labelled.sorted() where here[capture] != nil {
      guard let label = takeTopLabel(of: capture, history, contents) else { continue }
      changes.append(.setLabel(capture, label))
      changedCount += 1
    }
    for record in records { settleFormerLabels(record, history, contents) }
  }

  /// A label that was cut off goes, and one that came into force again is asked for again.
  private mutating func settleFormerLabels(
    _ record: RecordID, _ history: History, _ contents: CaptureContents
  ) {
    let shown = history.shownVersions(of: record).map(\.version)
    for entry in contents.entries(of: record) {
      switch entry.kind {
      case .capture: continue
      case .otherLabel:
        if shown.first == entry.version || !shown.contains(entry.version) { contents.remove(entry) }
      case .label:
        guard shown.isEmpty, !history.counts(entry.name) else { continue }
        contents.remove(entry)
        changes.append(.setLabel(entry.capture, CaptureLabel()))
      }
    }
  }

  /// The label that came for a capture, if it is the highest.
  private func takeTopLabel(
    of capture: CaptureID, _ history: History, _ contents: CaptureContents
  ) -> CaptureLabel? {
    let record = SentLabel.record(of: capture)
    guard let (label, version) = contents.waitingLabels.removeValue(forKey: record) else { return nil }
    let isTop = history.shownVersions(of: record).first?.version == version
    contents.set(KnownCapture(kind: isTop ? .label : .otherLabel, capture: capture, version: version))
    return isTop ? label.label : nil
  }

  /// A capture whose content is dead goes.
  mutating func erase(_ capture: CaptureID, _ contents: CaptureContents) throws {
    guard try contents.captures()[capture]?.isHidden == true else { return }
    changes.append(.erase(capture))
    contents.remove(capture)
  }
}
