// SPDX-License-Identifier: Apache-2.0
//
// Which capture, and which label of one, is which version of the account's history.

internal import Captures
internal import Histories
internal import Primitives
internal import Secrets
internal import Storage

/// What synchronisation knows of a version of a capture or of a label.
struct KnownCapture: Equatable, Sendable {
  /// The numbers are stored, beside those of `RowStanding`.
  enum Kind: Int64, Sendable {
    case capture = 16
    /// The label that the store has.
    case label = 17
    /// One that came and is not the one in force.
    case otherLabel = 18
  }

  let kind: Kind
  let capture: CaptureID
  let version: Version

  var record: RecordID { kind == .capture ? capture : SentLabel.record(of: capture) }
  var name: RecordVersion { RecordVersion(record: record, version: version) }
}

/// The captures of a coffer with their versions.
final class CaptureContents {
  /// Nil where contents are only compared and not stored.
  let store: CaptureStore?
  private(set) var known: [RecordVersion: KnownCapture] = [:]
  private(set) var versions: [RecordID: Set<Version>] = [:]
  /// Records whose entries differ from what is on the disk.
  private(set) var changed: Set<RecordID> = []
  /// Labels that came before their captures.
  var waitingLabels: [RecordID: (label: SentLabel, version: Version)] = [:]
  /// The store's rows, as long as its digest is the same.
  private var rows: (digest: [UInt8], byID: [CaptureID: SharedRow])?
  /// An error of the store in a step, which must not be stored then.
  private var failure: (any Error)?

  init(_ store: CaptureStore?) { self.store = store }

  // MARK: The store

  /// A digest of all records; of damaged ones always the same.
  func digest() throws -> [UInt8] { try soundDigest() ?? [0] }

  private func soundDigest() throws -> [UInt8]? {
    do { return try store?.recordsDigest() ?? [] } catch CaptureError.corrupt,
      CaptureError.encryptionKeyNotFound, StorageError.outdated
    { return nil }
  }

  /// All captures here, by their names; nil when captures are missing or changed: their absence means nothing then. Nothing
  /// is said of them, nor done with them, until they are whole again.
  func captures() throws -> [CaptureID: SharedRow]? {
    guard let store else { return [:] }
    guard let digest = try soundDigest() else { return nil }
    if let rows, rows.digest == digest { return rows.byID }
    do {
      let byID = Dictionary(uniqueKeysWithValues: try store.sharedRows().map { ($0.id, $0) })
      rows = (digest, byID)
      return byID
    } catch CaptureError.corrupt, CaptureError.encryptionKeyNotFound {
      return nil
    }
  }

  /// - Throws: `CaptureError.corrupt`, `.notFound`.
  func row(of capture: CaptureID) throws -> SharedRow {
    guard let captures = try captures() else { throw CaptureError.corrupt(nil) }
    guard let row = captures[capture] else { throw CaptureError.notFound }
    return row
  }

  /// The states of uploads changed, which no digest covers.
  func forgetRows() { rows = nil }

  // MARK: Contents

  /// Whether a content is here.
  func has(_ content: ContentName) -> Bool {
    guard let entry = known[content.version] else { return false }
    if content.part == 0 { return true }
    do { return try captures()?[entry.capture]?.isWhole == true } catch {
      failure = failure ?? error
      return false
    }
  }

  /// A content; nil if it is not here or does not open.
  func frame(of content: ContentName) -> SharedSecretBytes? {
    guard let store, let entry = known[content.version] else { return nil }
    do {
      switch entry.kind {
      case .otherLabel: return nil
      case .label:
        return SentLabel(entry.capture, try row(of: entry.capture).label).bytes
      case .capture:
        let capture = try store.shared(entry.capture)
        if content.part == 0 { return capture.bytes }
        let sent = SentCapture(capture: capture)
        guard sent.hasPart(Int(content.part)) else { return nil }
        return try store.stream(of: entry.capture, sent.range(ofPart: Int(content.part)))
      }
    } catch CaptureError.notFound, CaptureError.elsewhere, CaptureError.corrupt {
      return nil
    } catch {
      failure = failure ?? error
      return nil
    }
  }

  /// - Throws: what the store has thrown since the last call.
  func checkReading() throws {
    defer { failure = nil }
    if let failure { throw failure }
  }

  // MARK: Entries

  /// Enters what is on the disk.
  func restore(_ entry: KnownCapture) {
    known[entry.name] = entry
    versions[entry.record, default: []].insert(entry.version)
  }

  /// Of a label the store has one version: an earlier one is not here any more.
  func set(_ entry: KnownCapture) {
    if entry.kind == .label {
      for former in entries(of: entry.record) where former.kind == .label {
        restore(KnownCapture(kind: .otherLabel, capture: former.capture, version: former.version))
      }
    }
    restore(entry)
    changed.insert(entry.record)
  }

  /// The content of a version is that of another one as well.
  func carry(_ former: RecordVersion, to version: RecordVersion) {
    guard let entry = known[former] else { return }
    set(KnownCapture(kind: entry.kind, capture: entry.capture, version: version.version))
  }

  /// This version is not here any more, so that it is asked for again.
  func remove(_ entry: KnownCapture) {
    forget(entry)
    changed.insert(entry.record)
  }

  func remove(_ capture: CaptureID) {
    for record in [capture, SentLabel.record(of: capture)] { entries(of: record).forEach(remove) }
  }

  private func forget(_ entry: KnownCapture) {
    known[entry.name] = nil
    versions[entry.record]?.remove(entry.version)
    if versions[entry.record]?.isEmpty == true { versions[entry.record] = nil }
  }

  /// The label of a capture as the store has it.
  func label(of capture: CaptureID) -> KnownCapture? {
    entries(of: SentLabel.record(of: capture)).first { $0.kind == .label }
  }

  /// The entries of a record.
  func entries(of record: RecordID) -> [KnownCapture] {
    (versions[record] ?? []).compactMap { known[RecordVersion(record: record, version: $0)] }
  }

  /// The entries are on the disk.
  func noteStored() { changed = [] }
}
