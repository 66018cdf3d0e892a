// SPDX-License-Identifier: Apache-2.0
//
// Changing the vault key. A rotation creates version n+1 and encrypts every message with it, in batches. Each batch is
// one transaction that also records the progress. Then every message is read back; only then is the old version
// retired, and deleted 30 days later. A rollback does the same with the retired version. An interrupted rotation can be
// resumed, and every message stays readable.

internal import MessageFormats
public import Primitives
internal import SearchIndex
internal import Storage

extension Vault {
  /// How far a rotation is.
  public struct RotationProgress: Sendable, Equatable {
    /// A rotation encrypts every message, then reads every message back.
    public enum Phase: Sendable { case resealing, readingBack }
    /// What it is doing now.
    public let phase: Phase
    /// Messages done in this phase since the call began.
    public let done: Int
    /// Messages in the vault, earlier versions and the trash too.
    public let total: Int
  }

  /// What a rotation did.
  public struct RotationReport: Sendable, Equatable {
    /// The version of the key for new messages.
    public let version: Int
    /// Messages in the vault, earlier versions and the trash too.
    public let messageCount: Int
    /// Messages that do not open; they stay under their old key, which then stays in use.
    public let unreadable: [MessageID]

    /// Messages that are encrypted with the new key.
    public var readableCount: Int { messageCount - unreadable.count }
  }

  /// Creates a new key and encrypts every message with it, or continues a rotation that was interrupted.
  ///
  /// - Parameter progress: false stops after the batch; what is done stays done.
  /// - Returns: nil when it was stopped.
  public func rotate(progress: (RotationProgress) throws -> Bool) throws -> RotationReport? {
    // From here no other process rotates, so the next number stays free.
    try file.claimWriting()
    try deleteExpiredKeys()
    let state = try read { _, state, _ in state }
    if state.rotation == nil {
      let version = state.highestVersion + 1
      // The key is stored first: a key that no state names is harmless, a state that names a missing key is not.
      try saveNewVaultKey(version)
      let now = clock.now()
      try write { _, state, _ in
        state.keys.append(VaultState.Key(version: version, created: now, retired: nil))
        state.highestVersion = version
        Self.begin(version, &state)
      }
    }
    return try resumeRotation(progress: progress)
  }

  /// Goes back to the key that was retired last.
  ///
  /// - Returns: nil when it was stopped.
  /// - Throws: `VaultError.nothingToRollBack` when no former key is kept.
  public func rollBack(progress: (RotationProgress) throws -> Bool) throws -> RotationReport? {
    try deleteExpiredKeys()
    try write { _, state, _ in
      // A rollback is already under way, and continues.
      if let rotation = state.rotation, rotation.target != state.highestVersion { return }
      let former = state.keys.filter { $0.version != state.currentVersion }
        .max { ($0.retired ?? Int64.max, $0.version) < ($1.retired ?? Int64.max, $1.version) }
      guard let former else { throw VaultError.nothingToRollBack }
      state.setRetired(former.version, at: nil)
      Self.begin(former.version, &state)
    }
    return try resumeRotation(progress: progress)
  }

  /// Continues a rotation or rollback that was interrupted.
  /// - Throws: `VaultError.noRotationUnderWay`.
  public func resumeRotation(progress: (RotationProgress) throws -> Bool) throws -> RotationReport? {
    var done = 0
    var unreadable: [MessageID] = []
    while true {
      let batch = try rotateBatch(&unreadable)
      done += batch.count
      if batch.phase == .resealing, batch.isLast { done = 0 }
      for segment in batch.segments { try rotate(segment) }
      if batch.phase == .readingBack, batch.isLast { break }
      let shown: RotationProgress.Phase = batch.phase == .resealing ? .resealing : .readingBack
      guard try progress(RotationProgress(phase: shown, done: done, total: batch.total)) else {
        try recordFailures(Array(Set(unreadable)))
        return nil
      }
    }
    _ = try? file.truncateLog()
    let failed = Array(Set(unreadable))
    let report = try read { _, state, _ in
      RotationReport(
        version: state.currentVersion, messageCount: state.rows.identifiers.count, unreadable: failed)
    }
    // Done last, because too many failures lock the vault.
    try recordFailures(failed)
    return report
  }

  /// Deletes keys that were retired more than 30 days ago: from the state first, then from the keychain.
  /// Also deletes keys that no state names, which an interruption has left in the keychain.
  func deleteExpiredKeys() throws {
    let now = clock.now()
    let limit = Int64(Self.retiredKeyDays) * Self.secondsPerDay
    func isExpired(_ key: VaultState.Key) -> Bool { key.retired.map { now - $0 >= limit } ?? false }
    try file.claimWriting()
    let named = try write { transaction, state, keys -> Set<Int>? in
      let used = try Self.usedVersions(transaction)
        .union(segments(transaction, state, keys).map(\.keyVersion))
      // If rows use a version that the state does not name, the state may be an older one: nothing is deleted.
      guard used.isSubset(of: state.keys.map(\.version)) else { return nil }
      state.keys.removeAll { isExpired($0) && !used.contains($0.version) }
      return Set(state.keys.map(\.version))
    }
    guard let named else { return }
    let unnamed = try storedKeyVersions().filter { !named.contains($0) }
    if unnamed.isEmpty { return }
    for version in unnamed { try deleteVaultKey(version) }
    try file.truncateLog()
  }

  // MARK: Steps

  private static func begin(_ version: Int, _ state: inout VaultState) {
    state.currentVersion = version
    state.rotation = VaultState.Rotation(target: version, phase: .resealing, lastRow: 0)
  }

  private struct Batch {
    var phase: VaultState.Rotation.Phase
    var count = 0
    var isLast = true
    var total: Int
    /// Segments of the search index that have to be sealed with the new key before the phase ends.
    var segments: [SegmentDescription] = []
  }

  /// Seals a segment with the current key. One that is damaged is made again from its rows; if that is not possible,
  /// the record is given up, because a key that something uses is not retired.
  private func rotate(_ segment: SegmentDescription) throws {
    let version = try read { _, state, _ in state.currentVersion }
    do {
      try copySegment(segment, keyVersion: version)
    } catch is SegmentError {
      if try !remake([segment]) { try write { _, state, _ in state.searchRevision += 1 } }
    }
  }

  /// Does one batch of the state's phase, and updates the state.
  private func rotateBatch(_ unreadable: inout [MessageID]) throws -> Batch {
    let now = clock.now()
    let limits = self.batch
    return try write { transaction, state, keys in
      guard var rotation = state.rotation else { throw VaultError.noRotationUnderWay }
      var batch = Batch(phase: rotation.phase, total: state.rows.identifiers.count)
      var opener = MessageOpener(keys)
      var sealer = MessageSealer(pause: clock.pause)
      let target = rotation.target
      let key = try keys.key(target)
      var byteCount = 0
      // The last row that there can be is not the vault's, but it may be in the table.
      let rest = rotation.lastRow < .max ? rotation.lastRow + 1 : .max
      try MessageRow.forEach(in: rest...Int64.max, transaction) { row, box in
        guard batch.count < limits.messageCount, byteCount < limits.byteCount else {
          batch.isLast = false
          return false
        }
        do {
          try opener.openFrame(row, box) { frame in
            byteCount += frame.byteCount
            guard batch.phase == .resealing, row.keyVersion != target else { return }
            try sealer.reseal(row, frame: frame, keyVersion: target, key: key, transaction)
          }
        } catch VaultError.dataTampered(let id), VaultError.decryptionFailed(let id, _) {
          unreadable.append(id)
        }
        batch.count += 1
        rotation.lastRow = row.number
        return true
      }
      switch (batch.phase, batch.isLast) {
      case (_, false): state.rotation = rotation
      case (.resealing, true):
        batch.segments = try segments(transaction, state, keys).filter { $0.keyVersion != target }
        if batch.segments.isEmpty {
          rotation = VaultState.Rotation(target: target, phase: .readingBack, lastRow: 0)
        } else {
          batch.isLast = false
        }
        state.rotation = rotation
      case (.readingBack, true):
        try finish(&state, now, transaction, keys)
      }
      return batch
    }
  }

  /// The segments of the search index; none of an index that is not to be believed.
  private func segments(
    _ transaction: borrowing Transaction, _ state: VaultState, _ keys: VaultKeys
  ) throws -> [SegmentDescription] {
    guard case .record(let record) = try searchRecord(transaction, state, keys) else { return [] }
    return record.segments.map(\.description)
  }

  /// Ends a rotation: retires every version that no row and no segment uses any more.
  private func finish(
    _ state: inout VaultState, _ now: Int64, _ transaction: borrowing Transaction, _ keys: VaultKeys
  ) throws {
    guard try Self.isComplete(transaction, state, keys) else { throw VaultError.corrupt }
    let used = try Self.usedVersions(transaction).union(segments(transaction, state, keys).map(\.keyVersion))
    for key in state.keys where key.version != state.currentVersion && key.retired == nil {
      if !used.contains(key.version) { state.setRetired(key.version, at: now) }
    }
    state.rotation = nil
  }

  /// The key versions that rows use.
  static func usedVersions(_ transaction: borrowing Transaction) throws -> Set<Int> {
    var used: Set<Int> = []
    try transaction.forEachRow("SELECT DISTINCT keyVersion FROM messages") {
      used.insert(Int(truncatingIfNeeded: try $0.integer(0)))
      return true
    }
    return used
  }
}
