// SPDX-License-Identifier: Apache-2.0
//
// Puts what is in a backup into a new coffer's file.

internal import Foundation
internal import Primitives
public import Secrets
public import Storage

/// The parts of a backup that are not rows or blobs.
public struct BackupContents: Sendable {
  /// The content of a domain of protected data.
  public struct Domain: Sendable {
    /// Its number.
    public let number: UInt8
    /// The version of the payload's schema.
    public let schemaVersion: UInt16
    /// As the domain seals it.
    public let payload: SharedSecretBytes
  }

  /// What the backup says of itself.
  public internal(set) var about = BackupAbout(made: 0, byteCount: 0, hasPrivateParts: false)
  /// In the order of their numbers.
  public internal(set) var domains: [Domain] = []
  /// In the order in which they were written.
  public internal(set) var privateParts: [BackupReader.PrivatePart] = []
}

extension BackupReader {
  /// Writes all rows and blobs into the file of a coffer that is being made, and reads everything else. The file is
  /// not bound yet, and must not get its name if this throws.
  ///
  /// - Parameter isStopped: asked after each piece, with the bytes of the file so far; true stops.
  /// - Throws: `BackupError`; `StorageError`.
  public mutating func restore(to file: DatabaseFile, isStopped: (Int) -> Bool) throws -> BackupContents {
    var contents = BackupContents()
    var record = try next()
    while let (kind, _) = record {
      switch kind {
      case .about:
        let about = try bytes(BackupAbout.byteCount)
        contents.about = try BackupAbout(about.rawSpan)
        if let home = file.home { try Self.requireRoom(contents.about.byteCount, home: home) }
        record = try next()
      case .row: record = try restoreRows(to: file, isStopped)
      case .blob: record = try restoreBlobs(to: file, isStopped)
      case .domain:
        contents.domains.append(try domain())
        record = try next()
      case .privatePart:
        contents.privateParts.append(try privatePart())
        record = try next()
      case .end: throw BackupError.damaged
      }
    }
    guard contents.about.hasPrivateParts || contents.privateParts.isEmpty else { throw BackupError.damaged }
    return contents
  }

  /// Rows of a table, as many in a transaction as keep the log small.
  /// - Returns: the first record of another kind.
  private mutating func restoreRows(
    to file: DatabaseFile, _ isStopped: (Int) -> Bool
  ) throws -> (kind: BackupRecordKind, byteCount: Int)? {
    var record: (kind: BackupRecordKind, byteCount: Int)? = (.row, missingByteCount)
    while record?.kind == .row {
      try file.write { transaction in
        var written = 0
        while let present = record, present.kind == .row, written < Self.batchByteCount {
          try restoreRow(transaction)
          written += present.byteCount
          record = try next()
        }
      }
      guard !isStopped(position) else { throw BackupError.stopped }
    }
    return record
  }

  private mutating func restoreRow(_ transaction: borrowing Transaction) throws {
    guard let table = BackupTable(rawValue: try bytes(1)[0]) else { throw BackupError.damaged }
    var values: [StorageValue] = []
    for column in table.columns {
      switch column {
      case .integer: values.append(.integer(Int64(bitPattern: try number(8))))
      case .text:
        let text = try bytes(try length(4))
        guard let text = String(validating: text, as: UTF8.self) else { throw BackupError.damaged }
        values.append(.text(text))
      case .blob: values.append(.bytes(Data(try bytes(try length(8)))))
      }
    }
    guard missingByteCount == 0 else { throw BackupError.damaged }
    try transaction.execute(table.insertion, values: values)
  }

  private mutating func number(_ count: Int) throws(BackupError) -> UInt64 {
    try bytes(count).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// A length within the record.
  private mutating func length(_ count: Int) throws(BackupError) -> Int {
    let length = try number(count)
    guard length <= UInt64(missingByteCount) else { throw .damaged }
    return Int(length)
  }

  private mutating func restoreBlobs(
    to file: DatabaseFile, _ isStopped: (Int) -> Bool
  ) throws -> (kind: BackupRecordKind, byteCount: Int)? {
    try file.claimBlobs()
    var record: (kind: BackupRecordKind, byteCount: Int)? = (.blob, missingByteCount)
    while record?.kind == .blob {
      guard let name = BlobName(bytes: try bytes(BlobName.byteCount)) else { throw BackupError.damaged }
      var writer = try file.blobs.create(name: name)
      // In pieces, so that a large blob can be stopped.
      while missingByteCount > 0 {
        try pieces(min(missingByteCount, Self.batchByteCount)) { try writer.write($0) }
        guard !isStopped(position) else { throw BackupError.stopped }
      }
      try writer.finish()
      record = try next()
    }
    try file.blobs.synchronise()
    return record
  }

  private mutating func domain() throws(BackupError) -> BackupContents.Domain {
    let head = try bytes(3)
    return BackupContents.Domain(
      number: head[0], schemaVersion: UInt16(head[1]) << 8 | UInt16(head[2]),
      payload: SharedSecretBytes(try secret()))
  }

  /// - Throws: `BackupError.noRoom`.
  private static func requireRoom(_ byteCount: Int, home: String) throws {
    guard let free = DiskRoom.free(at: home), free < byteCount else { return }
    throw BackupError.noRoom(needed: byteCount, free: free)
  }

  /// The log of a coffer that is being made stays about so small.
  private static let batchByteCount = 4 << 20
}
