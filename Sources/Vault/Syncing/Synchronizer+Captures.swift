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
  func localDigest() throws -> [UInt8] { try vault.rowsDigest() + captures.digest() }

  /// Changes rows of the vault and captures in one transaction.
  /// - Returns: ``localDigest()`` after it.
  func apply(
    _ rows: [RowChange], _ changes: [SharedChange],
    alongside: (borrowing Transaction, _ digest: [UInt8]) throws -> Void
  ) throws -> [UInt8] {
    guard let store = captures.store, !changes.isEmpty else {
      let other = try captures.digest()
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
      var versions = Set(history.shownVersions(of: record).map(\.version))
      // A label is nothing without its capture; another content of the capture, nobody has seen here.
      if record == capture { versions.formIntersection(captures.versions[record] ?? []) }
      if !versions.isEmpty {
        _ = history.step(.remove(record: record, versions: versions, at: now), on: &machine)
      }
    }
    captures.remove(capture)
  }

  /// Brings a capture into the history. One that does not open, or is not here as a whole, stays only here.
  /// - Returns: bytes that were read.
  func takeFresh(_ capture: CaptureID) throws -> Int {
    do {
      guard let store = captures.store else { return 0 }
      let sent = SentCapture(capture: try store.shared(capture))
      let first = FrameHash(hashing: sent.capture.bytes)
      // A coffer that joins, or joins again, has what the account has.
      if let version = history.version(of: capture, withFirst: first) {
        guard try captures.row(of: capture).isWhole else {
          note(capture, as: version)
          return 0
        }
        // A bad member may have added it with other further parts.
        if let same = history.version(of: capture, with: try hashes(of: sent)) {
          note(capture, as: same)
          return sent.capture.streamByteCount
        }
      }
      try add(sent)
      return sent.capture.streamByteCount
    } catch CaptureError.corrupt, CaptureError.elsewhere, CaptureError.notFound {
      noteOnlyHere()
      return 0
    }
  }

  private func note(_ capture: CaptureID, as version: Version) {
    captures.set(KnownCapture(kind: .capture, capture: capture, version: version))
    matched.insert(capture)
  }

  /// Of all parts of a capture that is here as a whole. One part is in memory at a time.
  func hashes(of sent: SentCapture) throws -> [FrameHash] {
    guard let store = captures.store else { throw CaptureError.notFound }
    let further = try (0..<sent.furtherCount).map {
      FrameHash(hashing: try store.stream(of: sent.capture.id, sent.range(ofPart: $0 + 1)))
    }
    return [FrameHash(hashing: sent.capture.bytes)] + further
  }

  /// Makes a capture a version of this device.
  func add(_ sent: SentCapture) throws {
    let id = sent.capture.id
    let further = Array(try hashes(of: sent).dropFirst())
    let effects = history.step(
      .add(
        kind: .capture, record: id, frame: sent.capture.bytes, further: further, replacing: [],
        at: UInt64(clamping: sent.capture.created)), on: &machine)
    guard case .keep(let content, _)? = effects.first else { return noteOnlyHere() }
    captures.set(KnownCapture(kind: .capture, capture: id, version: content.version.version))
  }

  /// Brings the label of a capture into the history.
  func takeLabel(of capture: CaptureID) throws {
    guard let row = try captures.captures()?[capture] else { return }
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

  /// Bytes of the captures that a run has to send; nil for none.
  func byteCountOfUploads() throws -> Int? {
    let rows = try captures.captures() ?? [:]
    let byteCount = rows.values.reduce(0) { $0 + ($1.upload.isSynced || !$1.isWhole ? 0 : $1.byteCount) }
    return byteCount > 0 ? byteCount : nil
  }

  /// Captures that wait are being uploaded from now on.
  func noteUploadsBegin() throws {
    let waiting = history.waitingCaptures
    guard let store = captures.store, !waiting.isEmpty else { return }
    try file.withWriting(tries: 60) { try store.noteUploads(.uploading, of: waiting) }
    // One that came from another device, and is sent by this one now, had been uploaded.
    captures.forgetRows()
  }

  /// Captures whose parts and segments were all acknowledged are uploaded; the attempt of the others has failed.
  func noteUploadsEnd(isComplete: Bool) throws {
    guard let store = captures.store else { return }
    let waiting = history.waitingCaptures
    let open = Set(
      try (captures.captures() ?? [:]).values.filter {
        !$0.upload.isSynced && captures.versions[$0.id] != nil
      }.map(\.id))
    let done = isComplete ? open.subtracting(waiting) : []
    // What came while a run ended well was not tried.
    let failed = isComplete ? [] : open
    guard !open.isEmpty else { return }
    try file.withWriting(tries: 60) {
      if !done.isEmpty { try store.noteUploads(.uploaded, of: done) }
      if !failed.isEmpty { try store.noteUploads(.failed, of: failed) }
    }
    captures.forgetRows()
  }
}
