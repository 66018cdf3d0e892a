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
  /// Of these, captures that are not shown any more.
  private(set) var removed: Set<CaptureID> = []
  private var inserted: [CaptureID: SharedCapture] = [:]
  /// Of labels that came.
  private var labelled: Set<CaptureID> = []
  /// Labels whose captures have not come are few, unless a bad member made them.
  private static let waitingLimit = 10_000
  /// Whether a content is nothing that a store can keep. It is not asked for again.
  private(set) var unusable: [RecordVersion] = []

  /// The first part of a capture came.
  /// - Parameter partCount: how many parts its version has.
  mutating func takeCapture(
    _ frame: SharedSecretBytes, of version: RecordVersion, partCount: Int, _ contents: CaptureContents
  ) throws {
    guard let store = contents.store, let capture = frame.withBytes({ SharedCapture($0) }),
      capture.id == version.record, SentCapture(capture: capture).furtherCount + 1 == partCount
    else { return unusable.append(version) }
    guard let here = try contents.captures() else { return }
    if here[capture.id] != nil {
      let own: SharedCapture
      // One that is damaged here stays as it is.
      do { own = try store.shared(capture.id) } catch CaptureError.corrupt { return }
      // A capture of another content has this name by no accident: a bad member made it.
      guard FrameHash(hashing: own.bytes) == FrameHash(hashing: frame) else {
        return unusable.append(version)
      }
    } else if let other = inserted[capture.id] {
      guard FrameHash(hashing: other.bytes) == FrameHash(hashing: frame) else {
        return unusable.append(version)
      }
    } else {
      inserted[capture.id] = capture
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
    guard contents.store != nil, let here = try contents.captures() else { return }
    // Most records are messages.
    for record in records.filter({ here[$0] != nil }).union(inserted.keys).sorted() {
      let isShown = !history.shownVersions(of: record).isEmpty
      if let new = inserted[record] {
        let label = takeTopLabel(of: record, nil, history, contents)
        changes.append(.insert(new, label ?? CaptureLabel()))
        if !isShown { changes.append(.setHidden(record, true)) }
        settleFormerLabels(SentLabel.record(of: record), isOf: { _ in true }, history, contents)
        newCount += 1
      } else if let row = here[record], contents.versions[record] != nil, row.isHidden == isShown {
        changes.append(.setHidden(record, !isShown))
        changedCount += 1
        if !isShown { removed.insert(record) }
      }
    }
    for capture in labelled.sorted() where inserted[capture] == nil {
      guard let row = here[capture] else {
        // The label of a capture that is gone need not be asked for again.
        if history.shownVersions(of: capture).isEmpty {
          _ = takeTopLabel(of: capture, nil, history, contents, isWanted: false)
        }
        continue
      }
      guard let label = takeTopLabel(of: capture, row, history, contents) else { continue }
      changes.append(.setLabel(capture, label))
      changedCount += 1
    }
    for record in records {
      settleFormerLabels(
        record, isOf: { here[$0] != nil || !history.shownVersions(of: $0).isEmpty }, history, contents)
    }
  }

  /// A label that was cut off goes, and one that came into force again is asked for again.
  /// - Parameter isOf: whether there is a capture that a label may be of.
  private mutating func settleFormerLabels(
    _ record: RecordID, isOf: (CaptureID) -> Bool, _ history: History, _ contents: CaptureContents
  ) {
    let entries = contents.entries(of: record)
    guard !entries.isEmpty else { return }
    let shown = history.shownVersions(of: record).map(\.version)
    for entry in entries {
      switch entry.kind {
      case .capture: continue
      case .otherLabel:
        let isInForce = shown.first == entry.version && isOf(entry.capture)
        if isInForce || !shown.contains(entry.version) { contents.remove(entry) }
      case .label:
        guard shown.isEmpty, !history.counts(entry.name) else { continue }
        contents.remove(entry)
        changes.append(.setLabel(entry.capture, CaptureLabel()))
      }
    }
  }

  /// The label that came for a capture, if it is the highest, and if the user has not changed the one here since.
  private func takeTopLabel(
    of capture: CaptureID, _ row: SharedRow?, _ history: History, _ contents: CaptureContents,
    isWanted: Bool = true
  ) -> CaptureLabel? {
    let record = SentLabel.record(of: capture)
    guard let (label, version) = contents.waitingLabels.removeValue(forKey: record) else { return nil }
    let isUnchanged =
      row.map { $0.label == label.label || !LocalCaptureChanges.hasNewLabel($0, history, contents) } ?? true
    let isTop = isWanted && isUnchanged && history.shownVersions(of: record).first?.version == version
    contents.set(KnownCapture(kind: isTop ? .label : .otherLabel, capture: capture, version: version))
    return isTop ? label.label : nil
  }

  /// A capture whose content is dead goes.
  mutating func erase(_ capture: CaptureID, _ history: History, _ contents: CaptureContents) throws {
    guard try contents.captures()?[capture]?.isHidden == true else { return }
    changes.append(.erase(capture))
    // A label that nobody removed, since its author had not seen that the capture goes, need not be asked for again.
    let labels = contents.entries(of: SentLabel.record(of: capture))
    contents.remove(capture)
    for label in labels where !history.shownVersions(of: label.record).isEmpty {
      contents.set(KnownCapture(kind: .otherLabel, capture: capture, version: label.version))
    }
  }
}
