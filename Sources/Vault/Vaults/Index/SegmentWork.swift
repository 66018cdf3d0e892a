// SPDX-License-Identifier: Apache-2.0

internal import Primitives

/// A segment that another thread makes.
// Unchecked: the thread alone uses it until it has ended.
final class SegmentWork: @unchecked Sendable {
  private var making: SegmentMaking?
  /// Where further rows are copied from; nil for a segment of those that were copied before.
  private let vault: Vault?
  /// Rows that were copied before.
  let copiedCount: Int
  private var result: Result<BuiltSegment, any Error>?
  private var worker: WorkerThread?

  /// Makes a segment of the rows that were copied. The thread does not touch the database.
  convenience init(_ making: consuming SegmentMaking) { self.init(making, nil) }

  /// Makes a segment of the rows with these numbers that are shown, from the first, as many as fit.
  convenience init(of numbers: ClosedRange<Int64>, _ vault: Vault) throws {
    self.init(try SegmentMaking(of: numbers, vault), vault)
  }

  private init(_ making: consuming SegmentMaking, _ vault: Vault?) {
    copiedCount = making.copiedCount
    self.making = consume making
    self.vault = vault
    worker = WorkerThread { [self] in work() }
  }

  private func work() {
    guard var making = making.take() else { return }
    do {
      if let vault {
        while try making.copyRows(vault) { try making.openRows() }
      } else {
        try making.openRows()
      }
      result = .success(try making.finish())
    } catch {
      result = .failure(error)
    }
  }

  /// Waits for the thread; without one, the work is done now. To be called once.
  func end() throws -> BuiltSegment {
    if let worker { worker.join() } else { work() }
    guard let result else { preconditionFailure("work that has ended has a result") }
    return try result.get()
  }
}
