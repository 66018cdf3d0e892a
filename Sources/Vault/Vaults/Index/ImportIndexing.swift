// SPDX-License-Identifier: Apache-2.0
//
// The search index while an import runs: while the next messages are stored, a thread of its own makes a segment of
// those before. It is at most one segment behind; then the import waits for it. The thread does not touch the database.

internal import Storage

/// Makes segments beside an import. What goes wrong with the index does not concern the import: the messages are read one
/// by one until ``Vault/updateIndex(progress:)`` has succeeded, which says what is wrong.
struct ImportIndexing: ~Copyable {
  private let vault: Vault
  /// Messages that are stored and not in the segments that are made or in the making.
  private var waitingCount = 0
  private var hasBegun = false
  private var hasFailed = false
  private var running: SegmentWork?

  /// Bytes of boxes that are copied for a segment: of as many messages as it can have, if they are not long.
  private static let byteCount = 16 << 20

  init(_ vault: Vault) { self.vault = vault }

  /// Counts messages that are on the disk, and begins a segment when they are as many as it can have.
  mutating func add(_ count: Int) {
    waitingCount += count
    guard !hasFailed, vault.file.home != nil, waitingCount >= vault.index.documentCount else { return }
    do {
      try name()
      try begin()
    } catch {
      hasFailed = true
    }
  }

  private mutating func begin() throws {
    guard let record = try vault.currentRecord(), let numbers = try vault.tailNumbers(record) else { return }
    var making = try SegmentMaking(of: numbers, copying: Self.byteCount, vault)
    guard try making.copyRows(vault) else { return }
    waitingCount -= making.copiedCount
    hasBegun = true
    running = SegmentWork(making)
    try vault.mergeIfMany(record)
  }

  /// Waits for the segment that is in the making, and names it in the record.
  mutating func name() throws {
    guard let work = running.take() else { return }
    let built = try work.end()
    // Long messages fill a segment before all are in it.
    waitingCount += max(0, work.copiedCount - built.numbers.count)
    _ = try vault.add(built)
  }

  /// After many messages, there are as few segments as possible.
  mutating func finish() {
    guard hasBegun, !hasFailed else { return }
    try? name()
    try? vault.tend(.everything) { _ in true }
  }
}
