// SPDX-License-Identifier: Apache-2.0
//
// The examination of all captures. It repairs nothing.

public import Primitives
internal import Storage

extension CaptureStore {
  /// What an examination found.
  public struct Findings: Equatable, Sendable {
    /// All captures, hidden and damaged ones included.
    public var captureCount = 0
    /// Captures with a damaged or missing part.
    public var damaged: [CaptureID] = []
    /// Blobs that no row names, left by a crash. The next capture removes them, unless something is damaged.
    public var strayBlobCount = 0
    /// Parts in rows that belong to no capture.
    public var strayPartCount = 0
  }

  /// Opens every row.
  ///
  /// - Parameters:
  ///   - isDeep: whether every part that is on this device is opened too.
  ///   - progress: sees how many captures are done, and how many there are.
  /// - Throws: `CaptureError.corrupt(nil)` when captures are gone or were added, or it cannot be told which are
  ///   damaged.
  public func examine(isDeep: Bool, progress: (Int, Int) -> Void = { _, _ in }) throws -> Findings {
    var findings = Findings()
    guard let keys = try keysIfAny() else { return findings }
    let (scan, strays) = try file.read(.captures) { transaction in
      let strays = try transaction.firstRow(
        "SELECT count(*) FROM captureParts WHERE capture NOT IN (SELECT number FROM captures)"
      ) { try $0.integer(0) }
      return (try Self.scan(transaction, keys: keys), strays ?? 0)
    }
    guard scan.isComplete || !scan.damaged.isEmpty else { throw CaptureError.corrupt(nil) }
    let rows = scan.rows
    findings.captureCount = rows.count + scan.damaged.count
    findings.damaged = scan.damaged
    findings.strayPartCount = Int(strays)
    let stored = Set(try file.blobs.names())
    let strayBlobs = stored.subtracting(rows.flatMap(\.record.blobs))
    findings.strayBlobCount = try strayBlobs.count { try !file.blobs.isClaimed($0) }
    for (index, row) in rows.enumerated() {
      do {
        guard stored.isSuperset(of: row.record.blobs), try partsInRows(row) == row.record.partsInRows else {
          throw CaptureError.corrupt(nil)
        }
        if isDeep { _ = try verify(row, keys: keys, isStopped: { false }) }
      } catch let error as CaptureError {
        switch error {
        // Released while it was read.
        case .elsewhere: break
        case .corrupt, .badSignature: findings.damaged.append(row.id)
        default: throw error
        }
      }
      progress(index + 1, rows.count)
    }
    return findings
  }

  private func partsInRows(_ row: Row) throws -> [CapturePart] {
    try file.read(.captures) { transaction in
      var parts: [CapturePart] = []
      try transaction.forEachRow(
        "SELECT part FROM captureParts WHERE capture = ? ORDER BY part", .integer(row.number)
      ) {
        guard let number = UInt8(exactly: try $0.integer(0)), let part = CapturePart(rawValue: number) else {
          throw CaptureError.corrupt(nil)
        }
        parts.append(part)
        return true
      }
      return parts
    }
  }
}
