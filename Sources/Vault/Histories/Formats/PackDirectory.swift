// SPDX-License-Identifier: Apache-2.0
//
// The directory of a pack (Pack.swift says how it is written). Entries follow one another without gaps up to the end of
// the object; the last one, and no other, is padding.

internal import Primitives
internal import Secrets

extension Pack {
  /// What an entry is.
  public enum EntryKind: UInt8, Sendable {
    /// The content of a message, or a part of it; the first part of a capture.
    case frame = 1
    /// A further part of a capture.
    case chunk = 2
    /// A list of places.
    case page = 3
    /// Zeros.
    case padding = 4

    /// Of the directory itself, which is not an entry.
    static let directoryNumber: UInt8 = 0
  }

  /// What a pack holds, and where.
  public struct Directory: Equatable, Sendable {
    /// One content.
    public struct Entry: Equatable, Sendable {
      public let kind: EntryKind
      /// In the object.
      public let offset: Int
      /// Bytes in the object, with the tag.
      public let sealedByteCount: Int
      /// SHA-256 of the content, 32 bytes.
      public let hash: [UInt8]
    }

    /// Entry 1 first.
    public let entries: [Entry]

    private static let entryByteCount = 1 + 4 + 4 + SHA256.byteCount
    private static let countByteCount = 4
    /// Few entries and some more look the same.
    private static let leastByteCount = 1 << 10

    /// Bytes before sealing: a power of two.
    static func byteCount(entryCount: Int) -> Int {
      var count = leastByteCount
      while count < countByteCount + entryCount * entryByteCount { count *= 2 }
      return count
    }

    static func isSealedByteCount(_ sealed: Int) -> Bool {
      let count = sealed - AES256GCM.tagByteCount
      return count >= leastByteCount && count.nonzeroBitCount == 1
        && count <= byteCount(entryCount: entryCountLimit)
    }

    static func bytes(_ entries: [Entry]) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(byteCount(entryCount: entries.count))
      bytes.append(bigEndian: UInt32(entries.count))
      for entry in entries {
        bytes.append(entry.kind.rawValue)
        bytes.append(bigEndian: UInt32(entry.offset))
        bytes.append(bigEndian: UInt32(entry.sealedByteCount))
        bytes += entry.hash
      }
      return bytes + [UInt8](repeating: 0, count: byteCount(entryCount: entries.count) - bytes.count)
    }

    init(_ bytes: [UInt8], entriesAt start: Int, objectByteCount: Int) throws(FormatError) {
      var fields = FieldReader(bytes)
      let count = Int(try fields.integer() as UInt32)
      guard count <= entryCountLimit else { throw .tooLarge }
      guard count > 1, bytes.count == Self.byteCount(entryCount: count) else { throw .malformed }
      var entries: [Entry] = []
      entries.reserveCapacity(count)
      var end = start
      for number in 1...count {
        guard let kind = EntryKind(rawValue: try fields.byte()) else { throw .malformed }
        let entry = Entry(
          kind: kind, offset: Int(try fields.integer() as UInt32),
          sealedByteCount: Int(try fields.integer() as UInt32), hash: try fields.bytes(SHA256.byteCount))
        guard entry.offset == end, entry.sealedByteCount >= AES256GCM.tagByteCount,
          entry.sealedByteCount <= objectByteCount - end, (kind == .padding) == (number == count)
        else { throw .malformed }
        end += entry.sealedByteCount
        entries.append(entry)
      }
      try fields.padding()
      guard let padding = entries.last, end == objectByteCount,
        Padme.size(padding.offset + AES256GCM.tagByteCount) == objectByteCount
      else { throw .malformed }
      self.entries = entries
    }
  }
}
