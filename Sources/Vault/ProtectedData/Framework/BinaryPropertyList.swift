// SPDX-License-Identifier: Apache-2.0
//
// The subset of binary property lists that the root secret's envelope uses (Specs/protected-data.md,
// "Envelope"): a dictionary of ASCII strings, small integers and data. A dictionary has exactly one
// encoding, and the reader accepts no other.

internal import Primitives
internal import Secrets

enum PropertyListValue: Equatable {
  /// ASCII.
  case string(String)
  case integer(UInt8)
  /// At most 255 bytes.
  case data([UInt8])
}

enum BinaryPropertyList {
  /// The bytes of a dictionary of up to 14 keys, which are ASCII and at most 255 bytes long. Its objects are
  /// in this order: the dictionary, the keys by their bytes, the values in the order of their keys.
  static func bytes(of dictionary: [String: PropertyListValue]) -> [UInt8] {
    let keys = dictionary.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let count = UInt8(keys.count)
    precondition(count < 15, "a longer dictionary has another head")
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt16] = [UInt16(bytes.count)]
    bytes.append(0xD0 | count)
    // References to objects by their numbers: keys, then values.
    bytes += (0..<2 * count).map { $0 + 1 }
    for key in keys {
      offsets.append(UInt16(bytes.count))
      bytes += object(.string(key))
    }
    for key in keys {
      offsets.append(UInt16(bytes.count))
      bytes += dictionary[key].map(object) ?? []
    }
    let table = UInt64(bytes.count)
    for offset in offsets { bytes.append(bigEndian: offset) }
    // Trailer: unused (5), sort version (1), bytes of an offset (1), bytes of a reference (1), objects (8),
    // the top object (8), where the offsets are (8).
    bytes += [0, 0, 0, 0, 0, 0, 2, 1]
    bytes.append(bigEndian: UInt64(offsets.count))
    bytes.append(bigEndian: UInt64(0))
    bytes.append(bigEndian: table)
    return bytes
  }

  /// The dictionary with exactly this encoding; nil for any other bytes.
  static func dictionary(_ bytes: [UInt8]) -> [String: PropertyListValue]? {
    let span = bytes.rawSpan
    var cursor = ByteCursor()
    var found: [String: PropertyListValue] = [:]
    do {
      _ = try cursor.readBytes(span, count: 8)
      let count = try Int(cursor.readByte(span) & 0x0F)
      _ = try cursor.readBytes(span, count: 2 * count)
      var keys: [String] = []
      for _ in 0..<count {
        guard case .string(let key) = try object(span, &cursor) else { return nil }
        keys.append(key)
      }
      for key in keys { found[key] = try object(span, &cursor) }
    } catch { return nil }
    // Head, references, offsets and trailer follow from the objects.
    return found.count < 15 && self.bytes(of: found) == bytes ? found : nil
  }

  /// Reads one object; nil for a kind that does not occur.
  private static func object(
    _ bytes: RawSpan, _ cursor: inout ByteCursor
  ) throws(TruncatedField) -> PropertyListValue? {
    let marker = try cursor.readByte(bytes)
    if marker == 0x10 { return .integer(try cursor.readByte(bytes)) }
    var count = Int(marker & 0x0F)
    if count == 15 {
      guard try cursor.readByte(bytes) == 0x10 else { return nil }
      count = Int(try cursor.readByte(bytes))
    }
    let content = try cursor.readBytes(bytes, count: count)
    switch marker & 0xF0 {
    case 0x40: return .data(content)
    case 0x50 where content.allSatisfy { $0 < 0x80 }: return .string(String(decoding: content, as: UTF8.self))
    default: return nil
    }
  }

  private static func object(_ value: PropertyListValue) -> [UInt8] {
    switch value {
    case .string(let text): marker(0x50, count: text.utf8.count) + text.utf8
    case .integer(let value): [0x10, value]
    case .data(let data): marker(0x40, count: data.count) + data
    }
  }

  /// The kind, with the length in its low half, or in an integer after it for lengths from 15 on.
  private static func marker(_ kind: UInt8, count: Int) -> [UInt8] {
    precondition(count <= 255, "a longer value has another head")
    return count < 15 ? [kind | UInt8(count)] : [kind | 0x0F, 0x10, UInt8(count)]
  }
}
