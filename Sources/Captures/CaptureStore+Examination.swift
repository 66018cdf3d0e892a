// SPDX-License-Identifier: Apache-2.0
//
// The examination of all captures. It repairs nothing.

public import Primitives
internal import Storage

extension CaptureStore {
  /// What an examination found.
  public struct Findings: Equatable, Sendable {
    public var captureCount = 0
    /// Captures of which something is not what was captured.
    public var damaged: [CaptureID] = []
    /// Blobs that no row names: what a crash left; the next capture sweeps them.
    public var strayBlobCount = 0
  }

  /// Opens every row; with `isDeep` every part too.
  ///
  /// - Parameter progress: sees how many captures are done, and how many there are.
  /// - Throws: `CaptureError.corrupt(nil)` when rows are not those that were stored.
  public func examine(isDeep: Bool, progress: (Int, Int) -> Void = { _, _ in }) throws -> Findings {
    var findings = Findings()
    guard let keys = try keysIfAny() else { return findings }
    let isBegun = try file.read { try $0.firstRow("SELECT 1 FROM captureState") { try $0.integer(0) } } != nil
    guard isBegun else { return findings }
    let rows = try file.read { try Self.rows($0, keys: keys) }
    findings.captureCount = rows.count
    let stored = Set(try file.blobs.names())
    findings.strayBlobCount = stored.subtracting(rows.flatMap(\.record.blobs)).count
    for (index, row) in rows.enumerated() {
      do {
        guard stored.isSuperset(of: row.record.blobs) else { throw CaptureError.corrupt(nil) }
        if isDeep { _ = try verify(row.id) }
      } catch let error as CaptureError {
        switch error {
        case .corrupt, .badSignature: findings.damaged.append(row.id)
        default: throw error
        }
      }
      progress(index + 1, rows.count)
    }
    return findings
  }
}
