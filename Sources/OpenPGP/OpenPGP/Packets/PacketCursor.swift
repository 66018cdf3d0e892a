// SPDX-License-Identifier: Apache-2.0
//
// Reads the fields of a packet's body one after the other. The span is given with every call, since the body
// may lie in memory for secrets and is not to be copied as a whole.

internal import Primitives

/// A place in the body of a packet.
struct PacketCursor {
  private(set) var offset = 0

  mutating func readByte(_ body: RawSpan) throws(OpenPGPError) -> UInt8 {
    guard offset < body.byteCount else { throw .malformed(.truncated) }
    defer { offset += 1 }
    return unsafe body.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  mutating func readUInt16(_ body: RawSpan) throws(OpenPGPError) -> Int {
    let high = Int(try readByte(body))
    return high << 8 | Int(try readByte(body))
  }

  mutating func readUInt32(_ body: RawSpan) throws(OpenPGPError) -> UInt32 {
    let high = UInt32(try readUInt16(body))
    return high << 16 | UInt32(try readUInt16(body))
  }

  /// A time in seconds since 1970 (section 3.5).
  mutating func readTime(_ body: RawSpan) throws(OpenPGPError) -> Timestamp {
    Timestamp(secondsSince1970: try readUInt32(body))
  }

  mutating func readRange(_ body: RawSpan, count: Int) throws(OpenPGPError) -> Range<Int> {
    guard count >= 0, count <= body.byteCount - offset else { throw .malformed(.truncated) }
    defer { offset += count }
    return offset..<offset + count
  }

  mutating func readBytes(_ body: RawSpan, count: Int) throws(OpenPGPError) -> [UInt8] {
    let range = try readRange(body, count: count)
    return [UInt8](copying: body.extracting(range))
  }

  mutating func readRest(_ body: RawSpan) -> [UInt8] {
    defer { offset = body.byteCount }
    return [UInt8](copying: body.extracting(offset..<body.byteCount))
  }

  /// A key version and as many octets as its fingerprint has (sections 5.1.2, 5.2.3.35, 5.2.3.36).
  mutating func readFingerprint(_ body: RawSpan, version: UInt8) throws(OpenPGPError) -> Fingerprint {
    let count = version == 6 ? Fingerprint.version6ByteCount : Fingerprint.version4ByteCount
    return Fingerprint(version: version, bytes: try readBytes(body, count: count))
  }

  func isAtEnd(_ body: RawSpan) -> Bool { offset == body.byteCount }

  /// - Throws: ``OpenPGPError/malformed(_:)`` with `trailingOctets` when anything is left.
  func expectEnd(_ body: RawSpan) throws(OpenPGPError) {
    guard isAtEnd(body) else { throw .malformed(.trailingOctets) }
  }
}
