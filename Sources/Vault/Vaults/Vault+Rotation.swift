// SPDX-License-Identifier: Apache-2.0
//
// Changing the vault key. A rotation makes version n+1 and puts every message under it in
// batches, each one transaction that also notes how far it came; then it reads every message back; only
// then is the former version retired, and 30 days later deleted. A rollback is the same way back to the
// version that is kept. What is interrupted is resumed, and in between every message is readable.

internal import MessageFormats
public import Primitives
internal import Storage

extension Vault {
  /// How far a rotation is.
  public struct RotationProgress: Sendable, Equatable {
    public enum Phase: Sendable { case resealing, readingBack }
    public let phase: Phase
    /// Messages done in this phase since the call began, and messages in the vault.
    public let done: Int
    public let total: Int
  }

  /// What a rotation did.
  public struct RotationReport: Sendable, Equatable {
    /// The version that new messages are sealed under.
    public let version: Int
    public let messageCount: Int
    /// Messages that do not open; they stay under their old key, which then stays in use.
    public let unreadable: [MessageID]

    /// Messages that are under the new key.
    public var readableCount: Int { messageCount - unreadable.count }
  }

  /// Makes a new key and puts every message under it. A rotation that was interrupted goes on instead.
  ///
  /// - Parameter progress: false stops after the batch; what is done stays done.
  /// - Returns: nil when it was stopped.
  public func rotate(progress: (RotationProgress) throws -> Bool) throws -> RotationReport? {
    // From here no other process rotates: the number that is chosen next stays free.
    try file.claimWriting()
    try deleteExpiredKeys()
    let state = try read { _, state, _ in state }
    if state.rotation == nil {
      let version = state.highestVersion + 1
      // A key that no state names yet is harmless; a state that names a key that is not there is not.
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
      // The way back has been begun already, and goes on.
      if let rotation = state.rotation, rotation.target != state.highestVersion { return }
      let former = state.keys.filter { $0.version != state.currentVersion }
        .max { ($0.retired ?? Int64.max, $0.version) < ($1.retired ?? Int64.max, $1.version) }
      guard let former else { throw VaultError.nothingToRollBack }
      state.setRetired(former.version, at: nil)
      Self.begin(former.version, &state)
    }
    return try resumeRotation(progress: progress)
  }

  /// Goes on with a rotation or rollback that was interrupted.
  /// - Throws: `VaultError.noRotationUnderWay`.
  public func resumeRotation(progress: (RotationProgress) throws -> Bool) throws -> RotationReport? {
    var done = 0
    var unreadable: [MessageID] = []
    while true {
      let batch = try rotateBatch(&unreadable)
      done += batch.count
      if batch.phase == .resealing, batch.isLast { done = 0 }
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
        version: state.currentVersion, messageCount: state.messages.count, unreadable: failed)
    }
    // Last: too many failures lock the vault.
    try recordFailures(failed)
    return report
  }

  /// Deletes keys that were retired more than 30 days ago: from the state first, then from the keychain.
  /// Keys in the keychain that no state names are what an interruption left, and go too.
  func deleteExpiredKeys() throws {
    let now = clock.now()
    let limit = Int64(Self.retiredKeyDays) * Self.secondsPerDay
    func isExpired(_ key: VaultState.Key) -> Bool { key.retired.map { now - $0 >= limit } ?? false }
    try file.claimWriting()
    let named = try write { transaction, state, _ -> Set<Int>? in
      let used = try Self.usedVersions(transaction)
      // A state that does not know a version that rows are under may be an older one: nothing is deleted.
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
  }

  /// Does one batch of the phase that the state names, and moves the state on.
  private func rotateBatch(_ unreadable: inout [MessageID]) throws -> Batch {
    let now = clock.now()
    let limits = self.batch
    return try write { transaction, state, keys in
      guard var rotation = state.rotation else { throw VaultError.noRotationUnderWay }
      var batch = Batch(phase: rotation.phase, total: state.messages.count)
      var opener = MessageOpener(keys)
      var sealer = MessageSealer()
      let target = rotation.target
      let key = try keys.key(target)
      var byteCount = 0
      try MessageRow.forEach(in: (rotation.lastRow + 1)...Int64.max, transaction) { row, box in
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
        } catch VaultError.dataTampered(let id) {
          unreadable.append(id)
        }
        batch.count += 1
        rotation.lastRow = row.number
        return true
      }
      switch (batch.phase, batch.isLast) {
      case (_, false): state.rotation = rotation
      case (.resealing, true):
        state.rotation = VaultState.Rotation(target: target, phase: .readingBack, lastRow: 0)
      case (.readingBack, true):
        try Self.finish(&state, now, transaction, keys)
      }
      return batch
    }
  }

  /// Ends a rotation: retires every version that no row uses any more.
  private static func finish(
    _ state: inout VaultState, _ now: Int64, _ transaction: borrowing Transaction, _ keys: VaultKeys
  ) throws {
    guard try isComplete(transaction, state, keys) else { throw VaultError.corrupt }
    let used = try usedVersions(transaction)
    for key in state.keys where key.version != state.currentVersion && key.retired == nil {
      if !used.contains(key.version) { state.setRetired(key.version, at: now) }
    }
    state.rotation = nil
  }

  /// The key versions that rows are under.
  static func usedVersions(_ transaction: borrowing Transaction) throws -> Set<Int> {
    var used: Set<Int> = []
    try transaction.forEachRow("SELECT DISTINCT keyVersion FROM messages") {
      used.insert(Int(truncatingIfNeeded: try $0.integer(0)))
      return true
    }
    return used
  }
}
