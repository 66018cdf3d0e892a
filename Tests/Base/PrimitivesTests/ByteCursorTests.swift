// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@Suite("Fields of bytes")
struct ByteCursorTests {
  @Test("What was appended is read back, big-endian, to the last byte")
  func roundTrip() throws {
    var bytes: [UInt8] = []
    bytes.append(0x01)
    bytes.append(bigEndian: UInt16(0x0203))
    bytes.append(bigEndian: UInt32(0xF405_0607))
    bytes.append(bigEndian: Int64(-2))
    bytes.append(([9, 8, 7] as [UInt8]).span.bytes)
    #expect(
      bytes == [1, 2, 3, 0xF4, 5, 6, 7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE, 9, 8, 7])

    var cursor = ByteCursor()
    let raw = bytes.span.bytes
    #expect(try cursor.readByte(raw) == 1)
    #expect(try cursor.readUInt16(raw) == 0x0203)
    #expect(try cursor.readUInt32(raw) == 0xF405_0607)
    #expect(try cursor.readInt64(raw) == -2)
    #expect(try cursor.readRange(raw, count: 1) == 15..<16)
    let isEarly = cursor.isAtEnd(of: raw)
    #expect(!isEarly)
    #expect(try cursor.readBytes(raw, count: 2) == [8, 7])
    let isAtEnd = cursor.isAtEnd(of: raw)
    #expect(isAtEnd)
    #expect(try cursor.readBytes(raw, count: 0) == [])
  }

  @Test("A field that is not all there is TruncatedField, and the cursor stays where it was")
  func truncated() {
    let bytes: [UInt8] = [1, 2, 3]
    let raw = bytes.span.bytes
    var cursor = ByteCursor()
    #expect(throws: TruncatedField.self) { try cursor.readUInt32(raw) }
    #expect(throws: TruncatedField.self) { try cursor.readInt64(raw) }
    #expect(throws: TruncatedField.self) { try cursor.readBytes(raw, count: 4) }
    #expect(throws: TruncatedField.self) { try cursor.readRange(raw, count: -1) }
    #expect(throws: TruncatedField.self) { try cursor.readRange(raw, count: .max) }
    #expect(cursor.offset == 0)
    #expect(throws: Never.self) { try cursor.readUInt16(raw) }
    #expect(throws: TruncatedField.self) { try cursor.readUInt16(raw) }
    #expect(throws: Never.self) { try cursor.readByte(raw) }
    #expect(throws: TruncatedField.self) { try cursor.readByte(raw) }
    #expect(cursor.offset == 3)
  }

  @Test("A label is lent as its UTF-8")
  func labels() {
    let label: StaticString = "message-encryption"
    let bytes = label.withRawSpan { span in span.withUnsafeBytes { Array($0) } }
    #expect(bytes == Array("message-encryption".utf8))
  }
}
