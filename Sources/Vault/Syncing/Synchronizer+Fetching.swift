// SPDX-License-Identifier: Apache-2.0
//
// The large parts of captures: fetched when somebody asks for them, and released when the remote surely has them. Unlike a
// run, a fetch holds the writer's lock over its requests: a writer that came between would sweep the blobs that no row names.

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

  /// Makes a capture whole: gets its stream, compares every part with its hash, and stores it. Does nothing when it is
  /// whole already.
  /// - Parameter progress: called after each request; false stops.
  /// - Throws: `CaptureError.notFound`, `.corrupt`; `SyncError.partMissing`, `.stopped`, `.remote`; `StorageError`.
  public func fetch(
    _ capture: CaptureID, at remote: any Remote, progress: (SyncReport) -> Bool = { _ in true }
  ) throws {
    let row = try captures.row(of: capture)
    guard let store = captures.store, !row.isHidden else { throw CaptureError.notFound }
    guard !row.isWhole else { return }
    let sent = SentCapture(capture: try store.shared(capture))
    try withoutActuallyEscaping(progress) { progress in
      var reader = PackReader(self, remote, progress)
      var failure = SyncError.notUploaded
      // A bad member may have added it once more, with other further parts.
      for version in shownVersions(of: capture) {
        do {
          return try sent.fill(store) { try reader.read(ContentName(version, part: $0)) }
        } catch SyncError.partMissing, CaptureError.corrupt { failure = .partMissing }
      }
      throw failure
    }
  }

  /// Frees what a capture takes here, after every part of it was read back from the remote and found right, and every
  /// segment that names one was found there.
  /// - Parameter progress: called after each request; false stops.
  /// - Returns: bytes that were freed; 0 when nothing of it could be.
  /// - Throws: as ``fetch(_:at:progress:)``; `SyncError.notUploaded` when it waits; `SyncError.alarmed`, while something is
  ///   wrong at the remote.
  public func release(
    _ capture: CaptureID, at remote: any Remote, progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> Int {
    let row = try captures.row(of: capture)
    guard let store = captures.store, !row.isHidden else { throw CaptureError.notFound }
    let sent = SentCapture(capture: try store.shared(capture))
    guard row.isWhole, sent.furtherCount > 0 else { return 0 }
    guard history.alarms.isEmpty else { throw SyncError.alarmed(history.alarms) }
    guard !history.waitingCaptures.contains(capture) else { throw SyncError.notUploaded }
    // The version with the very parts that are here.
    let own = try hashes(of: sent)
    guard let version = shownVersions(of: capture).first(where: { history.hashes(of: $0) == own }) else {
      throw SyncError.notUploaded
    }
    try withoutActuallyEscaping(progress) { progress in
      var reader = PackReader(self, remote, progress)
      for part in 0...sent.furtherCount { _ = try reader.read(ContentName(version, part: UInt16(part))) }
      for segment in history.segments(naming: version) {
        guard case .found = try reader.ask(.stat(segment)) else { throw SyncError.notUploaded }
      }
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
}

/// Reads contents out of packs. Parts that follow each other are in one pack, which is got once.
private struct PackReader {
  private let synchronizer: Synchronizer
  private var requests: RemoteRequests
  private var report = SyncReport(outcome: .unreachable)
  private let progress: (SyncReport) -> Bool
  private var last: (name: ObjectName, object: [UInt8])?

  init(_ synchronizer: Synchronizer, _ remote: any Remote, _ progress: @escaping (SyncReport) -> Bool) {
    self.synchronizer = synchronizer
    self.progress = progress
    requests = RemoteRequests(remote, account: synchronizer.history.account, isReadOnly: true)
  }

  mutating func ask(_ request: Request) throws -> Answer {
    let answer = requests.answer(request)
    report.requestCount = requests.count
    report.byteCount = requests.byteCount
    if case .failed = answer { throw SyncError.remote(requests.lastError ?? .unreachable) }
    guard progress(report) else { throw SyncError.stopped }
    return answer
  }

  /// - Throws: `SyncError.partMissing` when no pack has it.
  mutating func read(_ content: ContentName) throws -> SharedSecretBytes {
    for name in synchronizer.history.packs(holding: content) {
      if last?.name != name {
        guard case .got(let object) = try ask(.get(name)) else { continue }
        last = (name, object)
      }
      if let last, let frame = synchronizer.history.content(content, in: last.object, of: name) {
        return frame
      }
    }
    throw SyncError.partMissing
  }
}
