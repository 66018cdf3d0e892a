// SPDX-License-Identifier: Apache-2.0
//
// Captures in a run: what the user changed of them goes into the history, and the queue tells how far their upload is.

internal import Captures
internal import Histories
internal import Primitives
internal import Storage
internal import Vaults

extension Synchronizer {
  var captures: CaptureContents { contents.captures }

  // MARK: Rows

  /// A digest of all that the user can change.
  func localDigest() throws -> [UInt8] { try vault.rowsDigest() + (captures.store?.recordsDigest() ?? []) }

  /// Changes rows of the vault and captures in one transaction.
  /// - Returns: ``localDigest()`` after it.
  func apply(
    _ rows: [RowChange], _ changes: [SharedChange],
    alongside: (borrowing Transaction, _ digest: [UInt8]) throws -> Void
  ) throws -> [UInt8] {
    guard let store = captures.store, !changes.isEmpty else {
      let other = try captures.store?.recordsDigest() ?? []
      return try vault.apply(rows) { try alongside($0, $1 + other) } + other
    }
    try store.prepareSharing()
    var applied: (digest: [UInt8], blobs: [BlobName]) = ([], [])
    let digest: [UInt8]
    do {
      digest = try vault.apply(rows) { transaction, digest in
        applied = try store.apply(changes, joining: transaction)
        try alongside(transaction, digest + applied.digest)
      }
    } catch {
      store.settleAfterFailure()
      throw error
    }
    store.removeBlobs(applied.blobs)
    return digest + applied.digest
  }

  // MARK: What the user changed

  /// Tells the history of a capture that is gone here.
  func removeFromHistory(_ capture: CaptureID) {
    for record in [capture, SentLabel.record(of: capture)] {
      let seen = captures.versions[record] ?? []
      let versions = Set(history.shownVersions(of: record).map(\.version)).intersection(seen)
      if !versions.isEmpty {
        _ = history.step(.remove(record: record, versions: versions, at: now), on: &machine)
      }
    }
    captures.remove(capture)
  }

  /// Brings a capture into the history. One that does not open, or is not here as a whole, stays only here.
  func takeFresh(_ capture: CaptureID) throws {
    guard let store = captures.store else { return }
    do {
      let sent = SentCapture(capture: try store.shared(capture))
      let first = sent.capture.bytes
      // A coffer that joins, or joins again, has what the account has.
      if let version = history.version(of: capture, withFirst: FrameHash(hashing: first)) {
        captures.set(KnownCapture(kind: .capture, capture: capture, version: version))
        matched.insert(capture)
        return
      }
      try add(sent)
    } catch CaptureError.corrupt, CaptureError.elsewhere, CaptureError.notFound {
      noteOnlyHere()
    }
  }

  /// Makes a capture a version of this device.
  func add(_ sent: SentCapture) throws {
    guard let store = captures.store else { return }
    let id = sent.capture.id
    // One part is in memory at a time.
    let further = try (0..<sent.furtherCount).map {
      FrameHash(hashing: try store.stream(of: id, sent.range(ofPart: $0 + 1)))
    }
    let effects = history.step(
      .add(
        kind: .capture, record: id, frame: sent.capture.bytes, further: further, replacing: [],
        at: UInt64(clamping: sent.capture.created)), on: &machine)
    guard case .keep(let content, _)? = effects.first else { return noteOnlyHere() }
    captures.set(KnownCapture(kind: .capture, capture: id, version: content.version.version))
  }

  /// Brings the label of a capture into the history.
  func takeLabel(of capture: CaptureID) throws {
    guard let row = try captures.captures()[capture] else { return }
    let sent = SentLabel(capture, row.label)
    let frame = sent.bytes
    let shown = history.shownVersions(of: sent.record)
    if captures.label(of: capture) == nil, let same = shown.first, same.hashes == [FrameHash(hashing: frame)]
    {
      return captures.set(KnownCapture(kind: .label, capture: capture, version: same.version))
    }
    // What this user has seen is the label that was here; another one that came stays beside it.
    let seen = captures.label(of: capture).map { [$0.version] } ?? []
    try addLabel(sent, replacing: seen)
  }

  /// Makes a label a version of this device.
  func addLabel(_ sent: SentLabel, replacing seen: [Version]) throws {
    let effects = history.step(
      .add(kind: .label, record: sent.record, frame: sent.bytes, replacing: seen, at: now), on: &machine)
    guard case .keep(let content, _)? = effects.first else { return noteOnlyHere() }
    captures.set(KnownCapture(kind: .label, capture: sent.capture, version: content.version.version))
  }

  // MARK: The queue

  /// Captures that wait are being uploaded from now on.
  func noteUploadsBegin() throws {
    let waiting = history.waitingCaptures
    guard let store = captures.store, !waiting.isEmpty else { return }
    try file.withWriting(tries: 60) { try store.noteUploads(.uploading, of: waiting) }
  }

  /// Captures whose parts and segments were all acknowledged are uploaded; the attempt of the others has failed.
  func noteUploadsEnd(isComplete: Bool) throws {
    guard let store = captures.store else { return }
    let waiting = history.waitingCaptures
    let open = try captures.captures().values.filter {
      $0.upload.state != .uploaded && captures.versions[$0.id] != nil
    }.map(\.id)
    let done = isComplete ? Set(open).subtracting(waiting) : []
    let failed = Set(open).subtracting(done)
    guard !open.isEmpty else { return }
    try file.withWriting(tries: 60) {
      if !done.isEmpty { try store.noteUploads(.uploaded, of: done) }
      if !failed.isEmpty { try store.noteUploads(.failed, of: failed) }
    }
    captures.forgetRows()
  }
}
