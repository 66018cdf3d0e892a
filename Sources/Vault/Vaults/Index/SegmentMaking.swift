// SPDX-License-Identifier: Apache-2.0
//
// A segment while it is made of rows. Rows are copied out of the file, then opened: only the first needs the file, so
// another thread can do the second.

internal import MessageFormats
internal import Primitives
internal import SearchIndex
internal import Secrets
internal import Storage
internal import Texts

/// A segment that no record names yet.
struct BuiltSegment: Sendable {
  /// Nil when no row of the range is shown.
  var description: SegmentDescription?
  /// The rows that were looked at.
  var numbers: ClosedRange<Int64>
  /// Those that are in it.
  var indexed: [Int64] = []
}

/// Makes a segment. Dropped before ``finish()``, its file is removed.
struct SegmentMaking: ~Copyable {
  /// The rows that it may be made of, from the first.
  private let numbers: ClosedRange<Int64>
  private let documentCount: Int
  private var opener: MessageOpener
  private var builder: SegmentBuilder
  private var sealed: SealedRows
  private var indexed: [Int64] = []
  /// The last row that was looked at.
  private var last: Int64
  private var isAtEnd = false
  private var hasRoom = true

  /// Creates the file.
  /// - Parameter byteCount: bytes of boxes that are copied at once, after which there is no room for another.
  init(
    of numbers: ClosedRange<Int64>, copying byteCount: Int = SealedRows.usualByteCount, _ vault: Vault
  ) throws {
    let (version, keys) = try vault.read { _, state, keys in (state.currentVersion, keys) }
    builder = try Self.builder(vault, version, keys)
    opener = MessageOpener(keys)
    documentCount = vault.index.documentCount
    sealed = SealedRows(countLimit: documentCount, byteCountLimit: byteCount)
    self.numbers = numbers
    last = numbers.lowerBound - 1
  }

  private static func builder(_ vault: Vault, _ version: Int, _ keys: VaultKeys) throws -> SegmentBuilder {
    let key = try keys.key(version)
    do {
      return try key.withBytes { key throws(SegmentError) in
        try SegmentBuilder(files: vault.file.searchFiles, keyVersion: version, vaultKey: key)
      }
    } catch {
      throw Vault.sorted(error)
    }
  }

  /// Rows that were copied last.
  var copiedCount: Int { sealed.count }

  /// Copies the next rows.
  /// - Returns: false when there are none, or no room for them.
  mutating func copyRows(_ vault: Vault) throws -> Bool {
    guard hasRoom, !isAtEnd, last < numbers.upperBound else { return false }
    sealed.removeAll()
    let rest = last + 1...numbers.upperBound
    isAtEnd = try vault.read { transaction, _, keys in
      opener.keys = keys
      return try sealed.append(rest, transaction)
    }
    return true
  }

  /// Takes in the rows that were copied, as many as fit.
  mutating func openRows() throws {
    do {
      hasRoom = try sealed.forEach { row, box in
        if row.standing == .shown {
          guard !builder.isFull, builder.documentCount < documentCount else { return false }
          do {
            try opener.open(row, box) { metadata, _, content in
              try builder.append(
                number: row.number, id: row.message, timestamp: row.timestamp, metadata: metadata,
                content: content)
            }
          } catch VaultError.dataTampered, VaultError.decryptionFailed {
            // Its time may be what makes it unreadable.
            let isPossible = CivilTime.representable.contains(row.timestamp)
            try builder.appendUnreadable(
              number: row.number, id: row.message, timestamp: isPossible ? row.timestamp : 0)
          }
          indexed.append(row.number)
        }
        last = row.number
        return true
      }
    } catch let error as SegmentError {
      throw Vault.sorted(error)
    }
  }

  /// Writes the file to its end.
  consuming func finish() throws -> BuiltSegment {
    let covered = numbers.lowerBound...(hasRoom && isAtEnd ? numbers.upperBound : last)
    // A builder without documents removes its file.
    guard builder.documentCount > 0 else { return BuiltSegment(numbers: covered) }
    do {
      let description = try builder.finish(numbers: covered)
      return BuiltSegment(description: description, numbers: covered, indexed: indexed)
    } catch {
      throw Vault.sorted(error)
    }
  }
}
