// SPDX-License-Identifier: Apache-2.0
//
// The large parts of captures: fetched when somebody asks for them, and released when the remote surely has them. Other
// commands write meanwhile.

public import Captures
internal import Histories
public import Primitives
public import Remotes
internal import Secrets

extension Synchronizer {
  /// Captures of which a part is not here, the oldest first.
  /// - Throws: `CaptureError.corrupt` when captures are missing or changed.
  public func capturesElsewhere() throws -> [CaptureID] {
    guard let here = try captures.captures() else { throw CaptureError.corrupt(nil) }
    return here.values.filter { !$0.isWhole && !$0.isHidden }.map(\.id).sorted()
  }

  /// Whether this device gets captures as a whole at each sync. Who runs it does that; at first it does not.
  public func getsCaptures() throws -> Bool { try items.getsCaptures() }

  public func setGetsCaptures(_ gets: Bool) throws { try items.saveGetsCaptures(gets) }

  /// Makes captures whole, in this order: gets their streams, compares every part with its hash, and stores it. One that is
  /// whole already is passed over.
  /// - Parameter progress: called after each request; false stops, and what is whole by then stays.
  /// - Returns: captures of which the remote does not have every part.
  /// - Throws: `CaptureError.notFound`, `.corrupt`; `SyncError.notUploaded`, `.refused` at a place of nobody's account,
  ///   `.stopped`, `.remote`; `StorageError`.
  public func fetch(
    _ captures: [CaptureID], at remote: any Remote, progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> [CaptureID] {
    let rows = try rows(of: captures).filter { !$0.isWhole }
    guard let store = self.captures.store else { throw CaptureError.notFound }
    return try withoutActuallyEscaping(progress) { progress in
      var reader = reader(of: rows, fromPart: 1, at: remote, progress)
      return try store.filling { filling in
        var broken: [CaptureID] = []
        var damage: CaptureError?
        for row in rows {
          do {
            if try fill(row.id, store, &filling, &reader) { continue }
          } catch CaptureError.corrupt(let part) {
            // The others are still got.
            damage = .corrupt(part)
            continue
          }
          // Of a place that is not the account's, nothing has parts.
          guard try !broken.isEmpty || isThere(at: remote) else { throw SyncError.refused(.empty) }
          broken.append(row.id)
        }
        if let damage { throw damage }
        return broken
      }
    }
  }

  /// - Returns: false when the remote does not have every part.
  private func fill(
    _ capture: CaptureID, _ store: CaptureStore, _ filling: inout CaptureFilling, _ reader: inout PackReader
  ) throws -> Bool {
    let sent: SentCapture
    // Another command may have removed it meanwhile.
    do { sent = SentCapture(capture: try store.shared(capture)) } catch CaptureError.notFound { return true }
    let versions = shownVersions(of: capture)
    guard !versions.isEmpty else { throw SyncError.notUploaded }
    // A bad member may have added it once more, with other further parts.
    for version in versions {
      do {
        try sent.add(to: &filling) { try reader.read(ContentName(version, part: $0)) }
      } catch SyncError.partMissing, CaptureError.corrupt { continue }
      try filling.nameIfDue()
      return true
    }
    return false
  }

  /// Frees what captures take here, in this order, each after every part of it was read back from the remote and found
  /// right, and every segment that names one was found there.
  /// - Parameters:
  ///   - progress: called after each request; false stops.
  ///   - freed: called for each of which something was freed, with the number of bytes.
  /// - Returns: captures of which the remote does not have every part, or has it damaged; they stay.
  /// - Throws: as ``fetch(_:at:progress:)``; `SyncError.notUploaded` when one waits; `SyncError.alarmed`, while something is
  ///   wrong at the remote. What was freed by then stays freed.
  public func release(
    _ captures: [CaptureID], at remote: any Remote, progress: (SyncReport) -> Bool = { _ in true },
    freed: (CaptureID, Int) -> Void
  ) throws -> [CaptureID] {
    let rows = try rows(of: captures).filter(\.isWhole)
    return try withoutActuallyEscaping(progress) { progress in
      var reader = reader(of: rows, fromPart: 0, at: remote, progress)
      var broken: [CaptureID] = []
      for row in rows {
        do {
          let byteCount = try release(row.id, &reader)
          if byteCount > 0 { freed(row.id, byteCount) }
        } catch SyncError.partMissing { broken.append(row.id) }
      }
      return broken
    }
  }

  /// - Returns: bytes that were freed; 0 when all parts of the capture are small.
  private func release(_ capture: CaptureID, _ reader: inout PackReader) throws -> Int {
    guard let store = captures.store else { throw CaptureError.notFound }
    let sent = SentCapture(capture: try store.shared(capture))
    guard sent.furtherCount > 0 else { return 0 }
    guard history.alarms.isEmpty else { throw SyncError.alarmed(history.alarms) }
    guard !history.waitingCaptures.contains(capture) else { throw SyncError.notUploaded }
    // The version with the very parts that are here.
    let own = try hashes(of: sent)
    guard let version = shownVersions(of: capture).first(where: { history.hashes(of: $0) == own }) else {
      throw SyncError.notUploaded
    }
    for part in 0...sent.furtherCount { _ = try reader.read(ContentName(version, part: UInt16(part))) }
    for segment in history.segments(naming: version) {
      guard case .found = try reader.ask(.stat(segment)) else { throw SyncError.notUploaded }
    }
    return try free(capture, store)
  }

  /// Frees again what ``fetch(_:at:progress:)`` got a moment ago, unless this device gets all captures.
  public func releaseFetched(_ capture: CaptureID) throws {
    guard let store = captures.store, try !getsCaptures() else { return }
    _ = try free(capture, store)
  }

  /// Only while no other process has carried the history on, and nothing waits that needs the bytes.
  private func free(_ capture: CaptureID, _ store: CaptureStore) throws -> Int {
    try alone {
      guard !history.waitingCaptures.contains(capture) else { throw SyncError.notUploaded }
      return try store.release(capture)
    }
  }

  /// The versions of a capture that this coffer knows, the highest first.
  private func shownVersions(of capture: CaptureID) -> [RecordVersion] {
    let known = captures.versions[capture] ?? []
    return history.shownVersions(of: capture).map(\.version).filter { known.contains($0) }.map {
      RecordVersion(record: capture, version: $0)
    }
  }

  /// - Throws: `CaptureError.notFound` if one of them is not here or hidden.
  private func rows(of captures: [CaptureID]) throws -> [SharedRow] {
    try captures.map { capture in
      let row = try self.captures.row(of: capture)
      guard !row.isHidden else { throw CaptureError.notFound }
      return row
    }
  }

  /// Reads the parts of captures. A version that turns out to be a bad one is not expected.
  private func reader(
    of rows: [SharedRow], fromPart first: Int, at remote: any Remote,
    _ progress: @escaping (SyncReport) -> Bool
  ) -> PackReader {
    let expected = rows.flatMap { row -> [ContentName] in
      guard let version = shownVersions(of: row.id).first,
        let count = history.hashes(of: version)?.count, count > 1
      else { return [] }
      return (first..<count).map { ContentName(version, part: UInt16($0)) }
    }
    return PackReader(
      history, remote, expecting: expected, byteCount: rows.reduce(0) { $0 + $1.byteCount }, progress)
  }
}
